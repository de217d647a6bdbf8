/* SPDX-License-Identifier: Apache-2.0 */
/* See sim_board.h. Holds no logic: the board and its fronts are sim/'s. */
#include "cli/sim_board.h"

#include <inttypes.h>
#include <stdio.h>

#include "sim/board_file.h"

static void print_front_json(const struct front_server_report *r)
{
    fputs("{\"fronts\":[", stdout);
    for (unsigned i = 0; i < r->fronts; i++) {
        const struct front_report *f = &r->front[i];
        printf("%s{\"name\":\"%s\",\"clients\":%" PRIu64 ",\"put_off\":%" PRIu64 ",\"nonsense\":%" PRIu64
               ",\"transfers\":%" PRIu64 "}",
               i ? "," : "", f->name, f->clients, f->put_off, f->nonsense, f->transfers);
    }
    printf("],\"wire_clocks\":%" PRIu64 ",\"board_seconds\":%.6f,\"fell_behind_seconds\":%.6f}\n",
           r->wire_clocks, r->board_seconds, r->fell_behind_seconds);
}

static void print_front_report(const struct front_server_report *r)
{
    for (unsigned i = 0; i < r->fronts; i++) {
        const struct front_report *f = &r->front[i];
        printf("%s: %" PRIu64 " clients (%" PRIu64 " did not read, %" PRIu64
               " spoke something else), %" PRIu64 " transfers\n",
               f->name, f->clients, f->put_off, f->nonsense, f->transfers);
    }
    printf("%.3f s of the board, %" PRIu64 " wire clocks\n", r->board_seconds, r->wire_clocks);
    if (r->fell_behind_seconds > 0)
        printf("this machine was %.3f s too slow for the board\n", r->fell_behind_seconds);
}

/* The ports are said also with --quiet where one was left open: nobody could find it otherwise. */
static enum corral_err open_fronts(const struct cli *cli, const struct sim_board *o, struct front_server *s,
                                   struct diag *d)
{
    for (unsigned i = 0; i < o->count; i++) {
        uint16_t port = o->port[i];
        enum corral_err err = front_server_add(s, o->kind[i], &port, d);
        if (err != CORRAL_OK)
            return err;
        if (!cli->quiet || o->port[i] == 0)
            fprintf(stderr, "corral: %s listens on 127.0.0.1:%u\n", o->kind[i]->name, port);
    }
    return CORRAL_OK;
}

static int serve(const struct cli *cli, const struct sim_board *o, struct board *b, struct diag *d)
{
    const atomic_bool *stop = cli_stop_flag(); /* before there is a socket that a signal would leave behind */
    struct front_server_report report;
    struct front_server *s = front_server_new(b, o->pace, 0, d);
    if (!s || (o->control && front_server_control(s, o->control, d) != CORRAL_OK) ||
        open_fronts(cli, o, s, d) != CORRAL_OK) {
        front_server_free(s);
        return cli_fail(cli, d);
    }
    enum corral_err err = front_server_run(s, stop, d);
    front_server_get_report(s, &report);
    front_server_free(s);
    if (cli->json)
        print_front_json(&report);
    else
        print_front_report(&report);
    return err != CORRAL_OK ? cli_fail(cli, d) : 0;
}

int sim_board_serve(const struct cli *cli, struct sim_board *o)
{
    struct diag d = DIAG_INIT;
    uint8_t *sram = NULL;
    if (o->shm && board_map_sram(o->shm, &sram, &d) != CORRAL_OK)
        return cli_fail(cli, &d);
    o->board.config.sram = sram;
    struct board *b = board_new(&o->board.config, &d);
    int exit_code =
        b && board_load_words(b, o->board.elf, &d) == CORRAL_OK ? serve(cli, o, b, &d) : cli_fail(cli, &d);
    board_free(b);
    board_unmap_sram(sram);
    return exit_code;
}
