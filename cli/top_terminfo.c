/* SPDX-License-Identifier: Apache-2.0 */
/* Is there a terminal, and how is it given back? From its description (top_terminfo.h). */
#include "cli/top_terminfo.h"

#include <curses.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <term.h>

static bool is_string(const char *text)
{
    return text && text != (const char *)-1; /* -1: there is no such capability */
}

enum corral_err top_terminfo_check(struct diag *d)
{
    int result = 0;
    const char *name = getenv("TERM");
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        diag_set(d, CORRAL_ERR_USAGE, "top: standard input and output must be a terminal");
    else if (setupterm(NULL, STDOUT_FILENO, &result) != OK)
        diag_set(d, CORRAL_ERR_USAGE, "top: nothing is known of the terminal type '%.100s' (TERM)",
                 name ? name : "");
    else {
        bool good = is_string(tigetstr("cup"));
        del_curterm(cur_term);
        if (good)
            return CORRAL_OK;
        diag_set(d, CORRAL_ERR_USAGE, "top: the cursor of the terminal type '%.100s' (TERM) does not move",
                 name);
    }
    diag_hint(d, "'corral profile' collects without a screen, then reports");
    return CORRAL_ERR_USAGE;
}

/* A terminal string without its paddings $<...>, which a handler cannot wait for. */
static size_t add_reset(char out[TOP_TERMINFO_ROOM], size_t used, const char *text)
{
    if (!is_string(text))
        return used;
    for (; *text && used < TOP_TERMINFO_ROOM; text++) {
        const char *end = text[0] == '$' && text[1] == '<' ? strchr(text, '>') : NULL;
        if (end)
            text = end;
        else
            out[used++] = *text;
    }
    return used;
}

size_t top_terminfo_reset(char out[TOP_TERMINFO_ROOM])
{
    static const char *const capabilities[] = {"sgr0", "rmacs", "op", "rmkx", "cnorm", "rmcup"};
    size_t used = 0;
    for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
        used = add_reset(out, used, tigetstr(capabilities[i]));
    /* no screen of its own to go back to: at least a line of its own */
    return is_string(tigetstr("rmcup")) ? used : add_reset(out, used, "\r\n");
}
