/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ncurses, and giving the terminal back (top_term.h). A handler may call none of ncurses: what it writes was
 * made ready when the screen was opened, and it uses functions that POSIX calls async-signal-safe only.
 */
#include "cli/top_term.h"

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cli/top_terminfo.h"
#include "cli/top_view.h"

#define ALT_STACK        65536
#define ESCAPE_MS        100         /* a lone Esc is one when nothing follows for so long */
#define STUCK_SECONDS    5           /* how long closing may take when asked to end */
#define SECOND_SIGNAL_NS 250000000LL /* who ends a process often sends the signal twice at once */
#define WRITE_WAIT_MS    500         /* a terminal that takes nothing must not hold up the end */

enum { PAIR_LOSS = 1, PAIR_WARNING };

/* Signal handlers can reach nothing but file scope: the one exception to the rule. */
static struct {
    atomic_bool stop;
    _Atomic int64_t stopped_at;
    atomic_bool suspend, resumed;
    atomic_bool shown; /* the terminal is in our modes */
    struct termios modes;
    char reset[TOP_TERMINFO_ROOM];
    size_t reset_size;
    struct sigaction before[64]; /* of the signals that end with a core */
} term;

/* Not a handler's business. */
static SCREEN *top_screen;
static void *alt_stack;
static bool coloured;

/* --- giving it back ------------------------------------------------------------------------------------- */

static void write_reset(void)
{
    size_t at = 0;
    while (at < term.reset_size) {
        struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};
        if (poll(&p, 1, WRITE_WAIT_MS) != 1 || !(p.revents & POLLOUT))
            return;
        ssize_t n = write(STDOUT_FILENO, term.reset + at, term.reset_size - at);
        if (n <= 0)
            return;
        at += (size_t)n;
    }
}

/* In a handler. Once; and not the terminal of somebody else, when we are in the background. */
static void give_back(void)
{
    if (!atomic_exchange(&term.shown, false) || tcgetpgrp(STDIN_FILENO) != getpgrp())
        return;
    tcsetattr(STDIN_FILENO, TCSANOW, &term.modes);
    write_reset();
}

static void on_end(int signal_number)
{
    struct timespec now;
    int kept = errno;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t ns = (int64_t)now.tv_sec * 1000000000LL + now.tv_nsec;
    if (!atomic_exchange(&term.stop, true)) {
        atomic_store(&term.stopped_at, ns);
        alarm(STUCK_SECONDS);
    } else if (signal_number == SIGALRM || ns - atomic_load(&term.stopped_at) > SECOND_SIGNAL_NS) {
        give_back();
        _exit(128 + signal_number);
    }
    errno = kept;
}

/* Whoever handled it before (a sanitizer, or the kernel with a core) gets it then: where the fault was the
 * processor's, by running into it again. */
static void on_crash(int signal_number, siginfo_t *info, void *context)
{
    (void)context;
    give_back();
    sigaction(signal_number, &term.before[signal_number], NULL);
    if (info->si_code <= 0 || signal_number == SIGABRT || signal_number == SIGQUIT)
        raise(signal_number);
}

static void on_suspend(int signal_number)
{
    (void)signal_number;
    atomic_store(&term.suspend, true);
}

static void on_resume(int signal_number)
{
    (void)signal_number;
    atomic_store(&term.resumed, true);
}

static void handle(int signal_number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigfillset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

const atomic_bool *top_term_signals(void)
{
    struct sigaction before;
    handle(SIGINT, on_end);
    handle(SIGTERM, on_end);
    handle(SIGALRM, on_end);
    /* The terminal is gone: as if asked to end, unless the user has said that it shall go on (nohup). */
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        handle(SIGHUP, on_end);
    return &term.stop;
}

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGQUIT};
#define CRASHES (sizeof(crashes) / sizeof(crashes[0]))

static void handle_crashes(void)
{
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    stack_t stack;
    sigfillset(&action.sa_mask);
    /* A handler needs a stack when the fault is that there is none left. */
    if (sigaltstack(NULL, &stack) == 0 && (stack.ss_flags & SS_DISABLE) && (alt_stack = malloc(ALT_STACK))) {
        stack = (stack_t){.ss_sp = alt_stack, .ss_size = ALT_STACK};
        sigaltstack(&stack, NULL);
    }
    for (size_t i = 0; i < CRASHES; i++)
        sigaction(crashes[i], &action, &term.before[crashes[i]]);
}

static void leave_crashes(void)
{
    for (size_t i = 0; i < CRASHES; i++)
        sigaction(crashes[i], &term.before[crashes[i]], NULL);
    if (!alt_stack)
        return;
    stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    free(alt_stack);
    alt_stack = NULL;
}

/* --- opening -------------------------------------------------------------------------------------------- */

static void set_modes(void)
{
    cbreak(); /* Ctrl-C and Ctrl-Z stay signals */
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(ESCAPE_MS);
    curs_set(0);
}

static void set_colours(bool colour)
{
    if (!colour || !has_colors() || start_color() != OK)
        return;
    coloured = true;
    short ground = use_default_colors() == OK ? -1 : COLOR_BLACK;
    init_pair(PAIR_LOSS, COLOR_RED, ground);
    init_pair(PAIR_WARNING, COLOR_YELLOW, ground);
}

enum corral_err top_term_open(bool colour, struct diag *d)
{
    setlocale(LC_CTYPE, "");
    unsetenv("LINES"); /* they would stay as they are when the window changes */
    unsetenv("COLUMNS");
    if (tcgetattr(STDIN_FILENO, &term.modes) != 0)
        return diag_set(d, CORRAL_ERR_IO, "cannot read the terminal's modes: %s", strerror(errno));
    top_screen = newterm(NULL, stdout, stdin);
    if (!top_screen)
        return diag_set(d, CORRAL_ERR_IO, "cannot set up the terminal");
    term.reset_size = top_terminfo_reset(term.reset);
    handle_crashes();
    atomic_store(&term.shown, true);
    handle(SIGTSTP, on_suspend);
    handle(SIGCONT, on_resume);
    set_modes();
    set_colours(colour);
    return CORRAL_OK;
}

void top_term_close(void)
{
    if (!top_screen)
        return;
    /* A handler has given it back already where this is false. */
    bool shown = atomic_load(&term.shown);
    if (shown)
        endwin();
    atomic_store(&term.shown, false);
    alarm(0);
    leave_crashes();
    signal(SIGTSTP, SIG_DFL);
    signal(SIGCONT, SIG_DFL);
    delscreen(top_screen);
    top_screen = NULL;
}

/* --- suspended and back --------------------------------------------------------------------------------- */

bool top_term_attend(void)
{
    bool anew = false;
    if (atomic_exchange(&term.suspend, false)) {
        endwin();
        atomic_store(&term.shown, false);
        signal(SIGTSTP, SIG_DFL);
        raise(SIGTSTP); /* stands here until it is continued */
        atomic_store(&term.resumed, true);
    }
    if (atomic_exchange(&term.resumed,
                        false)) { /* also behind a SIGSTOP: whoever had it may have changed it */
        atomic_store(&term.shown, true);
        reset_prog_mode();
        clearok(curscr, TRUE);
        refresh();
        curs_set(0);
        handle(SIGTSTP, on_suspend);
        anew = true;
    }
    return anew;
}

/* --- cells and keys ------------------------------------------------------------------------------------- */

void top_term_size(unsigned *rows, unsigned *columns)
{
    int y = getmaxy(stdscr), x = getmaxx(stdscr);
    *rows = y > 0 ? (unsigned)y : 0;
    *columns = x > 0 ? (unsigned)x : 0;
}

static attr_t attributes(uint8_t style, short *pair)
{
    *pair = 0;
    switch (style) {
    case TOP_BOLD:
        return A_BOLD;
    case TOP_DIM:
        return A_DIM;
    case TOP_HEADING:
        return A_UNDERLINE;
    case TOP_SELECTED:
        return A_REVERSE;
    case TOP_WARNING:
        *pair = PAIR_WARNING;
        return A_BOLD;
    case TOP_LOSS:
        *pair = PAIR_LOSS;
        return A_BOLD;
    default:
        return A_NORMAL;
    }
}

void top_term_show(const struct top_canvas *c)
{
    erase();
    for (unsigned row = 0; row < c->rows; row++) {
        for (unsigned column = 0; column < c->columns; column++) {
            const struct top_cell *cell = &c->cells[(size_t)row * c->columns + column];
            wchar_t text[2] = {(wchar_t)cell->code, 0};
            cchar_t complex;
            short pair;
            if (cell->code == 0 || (cell->code == ' ' && cell->style == TOP_PLAIN))
                continue;
            attr_t attr = attributes(cell->style, &pair);
            if (setcchar(&complex, text, attr, coloured ? pair : (short)0, NULL) == OK)
                mvadd_wch((int)row, (int)column, &complex);
        }
    }
    refresh();
}

void top_term_repaint(void)
{
    clearok(curscr, TRUE);
}

void top_term_wait(int ms)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&p, 1, ms) == 1 && (p.revents & (POLLHUP | POLLERR | POLLNVAL)))
        atomic_store(&term.stop, true); /* nobody is there any more */
}

static uint32_t translated(wint_t code)
{
    switch (code) {
    case KEY_UP:
        return TOP_KEY_UP;
    case KEY_DOWN:
        return TOP_KEY_DOWN;
    case KEY_LEFT:
        return TOP_KEY_LEFT;
    case KEY_RIGHT:
        return TOP_KEY_RIGHT;
    case KEY_PPAGE:
        return TOP_KEY_PAGE_UP;
    case KEY_NPAGE:
        return TOP_KEY_PAGE_DOWN;
    case KEY_HOME:
        return TOP_KEY_HOME;
    case KEY_END:
        return TOP_KEY_END;
    case KEY_BACKSPACE:
        return TOP_KEY_BACKSPACE;
    case KEY_BTAB:
        return TOP_KEY_BACKTAB;
    case KEY_ENTER:
        return '\r';
    default:
        return 0;
    }
}

bool top_term_key(uint32_t *key, bool *resized)
{
    wint_t code;
    int kind = get_wch(&code);
    if (kind == ERR)
        return false;
    if (kind == KEY_CODE_YES && code == KEY_RESIZE)
        *resized = true;
    *key = kind == KEY_CODE_YES ? translated(code) : (uint32_t)code;
    return true;
}
