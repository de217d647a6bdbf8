/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral read and write: memory of a target, through a core or an access port, while it runs (INTERFACE.md
 * "Commands"). How memory is reached, and how far, is the session's (session/target_memory.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "cli/put_json.h"
#include "cli/view_session.h"

#define LINE_BYTES 16u

enum { OPT_SIZE = 256, OPT_OUT, OPT_VERIFY };

static const struct option read_options[] = {
    VIEW_OPTIONS,
    {"size", required_argument, NULL, OPT_SIZE},
    {"out", required_argument, NULL, OPT_OUT},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static const struct option write_options[] = {
    VIEW_OPTIONS,
    {"size", required_argument, NULL, OPT_SIZE},
    {"verify", no_argument, NULL, OPT_VERIFY},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct request {
    struct view_request view;
    uint64_t size; /* of an element */
    const char *address;
    uint64_t count;
    const char *out;
    uint32_t *values; /* write: count of them */
    bool verify;
};

static bool take(const struct cli *cli, const struct cli_command *command, int c, struct request *r)
{
    switch (c) {
    case OPT_SIZE:
        if (!cli_parse_u64(cli, command, "--size", optarg, 1, 4, &r->size))
            return false;
        if (r->size != 3)
            return true;
        cli_usage(cli, command, "--size: elements have 1, 2 or 4 bytes");
        return false;
    case OPT_OUT:
        r->out = optarg;
        return true;
    case OPT_VERIFY:
        r->verify = true;
        return true;
    default:
        return view_take(cli, command, c, &r->view);
    }
}

/* ---- what was read ---- */

static void show_line(uint64_t address, const uint8_t *bytes, unsigned n, unsigned size)
{
    printf("0x%08" PRIx64 " ", address);
    for (unsigned i = 0; i < LINE_BYTES; i += size) {
        if (i < n)
            printf(" %0*" PRIx32, (int)size * 2, load_le(bytes + i, size));
        else
            printf(" %*s", (int)size * 2, "");
    }
    fputs("  |", stdout);
    for (unsigned i = 0; i < n; i++)
        putchar(bytes[i] >= 0x20 && bytes[i] < 0x7F ? bytes[i] : '.');
    puts("|");
}

static void show_text(const struct session_memory *m, const uint8_t *bytes, uint32_t done)
{
    size_t size = (size_t)done * m->size;
    for (size_t at = 0; at < size; at += LINE_BYTES)
        show_line(m->address + at, bytes + at, size - at < LINE_BYTES ? (unsigned)(size - at) : LINE_BYTES,
                  m->size);
}

static enum corral_err show_json(const struct session_memory *m, const uint8_t *bytes, uint32_t done,
                                 struct diag *d)
{
    json_t *values = json_array();
    for (uint32_t i = 0; i < done; i++)
        json_array_append_new(values, json_integer(load_le(bytes + (size_t)i * m->size, m->size)));
    return cli_put_json(
        json_pack("{s:I,s:i,s:o}", "address", (json_int_t)m->address, "size", (int)m->size, "values", values),
        d);
}

/* "-" is standard output, which is then the bytes' alone. */
static enum corral_err save(const struct cli *cli, const struct session_memory *m, const char *path,
                            const uint8_t *bytes, uint32_t done, struct diag *d)
{
    size_t size = (size_t)done * m->size;
    if (strcmp(path, "-") == 0) {
        fwrite(bytes, 1, size, stdout); /* that it failed is said where standard output is closed */
        return CORRAL_OK;
    }
    char name[TEXT_CLEAN_MAX(200)];
    text_escape((const uint8_t *)path, strnlen(path, 200), name, sizeof(name));
    FILE *f = fopen(path, "wb");
    bool ok = f && fwrite(bytes, 1, size, f) == size;
    int e = errno;
    if (f && fclose(f) != 0) {
        e = errno;
        ok = false;
    }
    if (!ok)
        return diag_set(d, CORRAL_ERR_IO, "cannot write %s: %s", name, strerror(e));
    if (cli->json)
        return cli_put_json(json_pack("{s:I,s:i,s:I,s:s}", "address", (json_int_t)m->address, "size",
                                      (int)m->size, "count", (json_int_t)done, "file", name),
                            d);
    printf("%zu bytes from 0x%08" PRIx64 " are in %s\n", size, m->address, name);
    return CORRAL_OK;
}

static enum corral_err show(const struct cli *cli, const struct request *r, const struct session_memory *m,
                            const uint8_t *bytes, uint32_t done, struct diag *d)
{
    if (r->out)
        return save(cli, m, r->out, bytes, done, d);
    if (cli->json)
        return show_json(m, bytes, done, d);
    show_text(m, bytes, done);
    return CORRAL_OK;
}

static enum corral_err make_memory(const struct request *r, struct view_session *v, struct session_memory *m,
                                   struct diag *d)
{
    uint64_t size;
    *m = (struct session_memory){.view = v->view, .size = (unsigned)r->size, .count = (uint32_t)r->count};
    return session_address(v->s, &v->view, r->address, &m->address, &size, d);
}

static enum corral_err do_read(const struct cli *cli, const struct request *r, struct view_session *v,
                               struct diag *d)
{
    struct session_memory m;
    uint32_t done = 0;
    enum corral_err err = make_memory(r, v, &m, d);
    if (err)
        return err;
    uint8_t *bytes = malloc((size_t)m.count * m.size);
    if (!bytes)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    err = session_read_memory(v->s, &m, bytes, &done, cli_stop_flag(), d);
    if (!err || done) { /* what was read is shown, also where it ends early */
        struct diag late = DIAG_INIT;
        enum corral_err shown = show(cli, r, &m, bytes, done, &late);
        if (shown && !err) {
            err = shown;
            *d = late;
        }
    }
    free(bytes);
    return err;
}

static enum corral_err do_write(const struct cli *cli, const struct request *r, struct view_session *v,
                                struct diag *d)
{
    struct session_memory m;
    uint32_t done = 0;
    enum corral_err err = make_memory(r, v, &m, d);
    if (err)
        return err;
    uint8_t *bytes = malloc((size_t)m.count * m.size);
    if (!bytes)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < m.count; i++)
        store_le(bytes + (size_t)i * m.size, m.size, r->values[i]);
    err = session_write_memory(v->s, &m, bytes, r->verify, &done, cli_stop_flag(), d);
    free(bytes);
    if (err)
        return err;
    if (cli->json)
        return cli_put_json(json_pack("{s:I,s:i,s:I,s:b}", "address", (json_int_t)m.address, "size",
                                      (int)m.size, "count", (json_int_t)done, "verified", r->verify),
                            d);
    printf("%" PRIu32 " element%s of %u byte%s written at 0x%08" PRIx64 "%s\n", done, done == 1 ? "" : "s",
           m.size, m.size == 1 ? "" : "s", m.address, r->verify ? ", and read back" : "");
    return CORRAL_OK;
}

static int perform(const struct cli *cli, const struct request *r,
                   enum corral_err (*act)(const struct cli *, const struct request *, struct view_session *,
                                          struct diag *))
{
    struct diag d = DIAG_INIT, late = DIAG_INIT;
    struct view_session v;
    enum corral_err err = view_open(cli, &r->view, &v, &d);
    if (!err)
        err = act(cli, r, &v, &d);
    enum corral_err closing = view_close(&v, false, &late);
    if (!err && closing)
        d = late;
    return err || closing ? cli_fail(cli, &d) : 0;
}

static int run_read(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct request r = {.size = 4, .count = 1};
    int exit_code = 0;
    for (int c; (c = cli_getopt(cli, command, argc, argv, read_options, &exit_code)) != -1;) {
        if (c == CLI_DONE)
            return exit_code;
        if (!take(cli, command, c, &r))
            return 2;
    }
    if (optind >= argc)
        return cli_usage(cli, command, "read: which address?");
    r.address = argv[optind++];
    if (optind < argc &&
        !cli_parse_u64(cli, command, "COUNT", argv[optind++], 1, SESSION_MEMORY_MOST / r.size, &r.count))
        return 2;
    if (optind < argc)
        return cli_usage(cli, command, "read: '%s' is one word too many", argv[optind]);
    return perform(cli, &r, do_read);
}

static int run_write(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct request r = {.size = 4};
    int exit_code = 0;
    for (int c; (c = cli_getopt(cli, command, argc, argv, write_options, &exit_code)) != -1;) {
        if (c == CLI_DONE)
            return exit_code;
        if (!take(cli, command, c, &r))
            return 2;
    }
    if (optind + 1 >= argc)
        return cli_usage(cli, command, "write: %s", optind < argc ? "which value?" : "which address?");
    r.address = argv[optind++];
    r.values = calloc((size_t)(argc - optind), sizeof(*r.values));
    if (!r.values)
        return cli_fail(cli, &(struct diag){CORRAL_ERR_NO_MEMORY, "out of memory", "", ""});
    exit_code = 2;
    uint64_t value = 0, most = UINT64_MAX >> (64 - 8 * r.size);
    bool ok = true;
    for (; ok && optind < argc; optind++) {
        ok = cli_parse_u64(cli, command, "VALUE", argv[optind], 0, most, &value);
        r.values[r.count++] = (uint32_t)value;
    }
    if (ok)
        exit_code = perform(cli, &r, do_write);
    free(r.values);
    return exit_code;
}

const struct cli_command cmd_read = {
    .name = "read",
    .summary = "show memory, while the cores run",
    .help =
        "Usage: corral [--link LINK] [--json] read [--core NAME | --ap N] [--size 1|2|4] [--out FILE]\n"
        "                   ADDR [COUNT]\n"
        "\n"
        "Reads COUNT elements (default 1) from ADDR on and shows them as numbers and as text. Nothing is\n"
        "halted. Where memory ends earlier, what could be read is shown, and how far it went is said.\n"
        "ADDR is a number, or NAME or NAME+OFFSET of the core's program.\n"
        "\n"
        "  --core NAME  as this core sees it (default: the first)\n"
        "  --ap N       through this access port, no core being looked for\n"
        "  --size N     bytes an element: 1, 2 or 4 (default 4)\n"
        "  --out FILE   the bytes as they lie in memory, into FILE; - is standard output\n"
        "\n"
        "Example: corral --link sim read tlog_buffer 8\n",
    .run = run_read,
};

const struct cli_command cmd_write = {
    .name = "write",
    .summary = "write memory, while the cores run",
    .help = "Usage: corral [--link LINK] [--json] write [--core NAME | --ap N] [--size 1|2|4] [--verify]\n"
            "                   ADDR VALUE...\n"
            "\n"
            "Writes the values one behind the other, as elements of --size bytes. ADDR is as for 'corral\n"
            "read'. Flash is not programmed: a write there is refused or without effect, which --verify "
            "shows.\n"
            "\n"
            "  --core NAME  as this core sees it (default: the first)\n"
            "  --ap N       through this access port, no core being looked for\n"
            "  --size N     bytes an element: 1, 2 or 4 (default 4)\n"
            "  --verify     read back and compare: exit code 1 where it differs\n"
            "\n"
            "Example: corral --link sim write --verify 0x20060000 0xCAFE 0xF00D\n",
    .run = run_write,
};
