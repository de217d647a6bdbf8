/* SPDX-License-Identifier: Apache-2.0 */
/*
 * corral load: an ELF executable into RAM (INTERFACE.md "Commands"). What is checked before anything is
 * written, and how it is verified, is the session's (session/load.h).
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/put_json.h"
#include "cli/view_session.h"
#include "session/core_registers.h"
#include "session/load.h"

enum { OPT_RUN = 256, OPT_RAM };

static const struct option options[] = {
    VIEW_OPTIONS,
    {"run", no_argument, NULL, OPT_RUN},
    {"ram", required_argument, NULL, OPT_RAM},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct request {
    struct view_request view;
    bool run;
    size_t ranges;
    struct load_range ram[LOAD_RANGES_MOST];
    const char *path;
    char name[TEXT_CLEAN_MAX(200)]; /* the path, for people */
    uint8_t *file;
    size_t size;
    struct load_image image;
};

static enum corral_err read_file(struct request *r, struct diag *d)
{
    struct stat st;
    FILE *f = fopen(r->path, "rb");
    if (!f || fstat(fileno(f), &st) != 0) {
        diag_set(d, CORRAL_ERR_IO, "cannot read %s: %s", r->name, strerror(errno));
    } else if (!S_ISREG(st.st_mode) || st.st_size > (off_t)LOAD_BYTES_MOST) {
        diag_set(d, CORRAL_ERR_ELF, "%s is no file of at most %u bytes", r->name, LOAD_BYTES_MOST);
    } else if (!(r->file = malloc((size_t)st.st_size + 1))) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    } else {
        r->size = fread(r->file, 1, (size_t)st.st_size, f);
        if (ferror(f))
            diag_set(d, CORRAL_ERR_IO, "cannot read %s: %s", r->name, strerror(errno));
    }
    if (f)
        fclose(f);
    return d->code;
}

static enum corral_err put_json(const struct request *r, const char *core, const char *state, struct diag *d)
{
    json_t *segments = json_array();
    for (size_t i = 0; i < r->image.count; i++)
        json_array_append_new(segments,
                              json_pack("{s:I,s:I}", "address", (json_int_t)r->image.segments[i].address,
                                        "size", (json_int_t)r->image.segments[i].size));
    json_t *j = json_pack("{s:s,s:o,s:I,s:b,s:I,s:s?,s:s?}", "file", r->name, "segments", segments, "bytes",
                          (json_int_t)r->image.bytes, "verified", 1, "entry", (json_int_t)r->image.entry,
                          "core", core, "state", state);
    json_t *null = json_null();
    json_object_set_new(j, "stack", r->image.has_vectors ? json_integer(r->image.stack) : null);
    json_object_set_new(j, "vectors", r->image.has_vectors ? json_integer(r->image.vectors) : null);
    return cli_put_json(j, d);
}

static enum corral_err show(const struct cli *cli, const struct request *r, struct view_session *v,
                            struct diag *d)
{
    const char *core = v->view.by_ap ? NULL : session_core_name(v->s, v->view.core);
    const char *state = !core ? NULL : r->run ? "running" : "halted";
    if (cli->json)
        return put_json(r, core, state, d);
    for (size_t i = 0; i < r->image.count; i++)
        printf("0x%08" PRIx64 "  %" PRIu64 " bytes, verified\n", r->image.segments[i].address,
               r->image.segments[i].size);
    if (!core)
        return CORRAL_OK;
    if (r->run)
        printf("%s runs from 0x%08" PRIx32, core, r->image.entry & ~1u);
    else if (r->image.entry_loaded)
        printf("%s is halted at 0x%08" PRIx32, core, r->image.entry & ~1u);
    else
        printf("%s is halted where it was: the entry 0x%08" PRIx32 " is not in what was loaded", core,
               r->image.entry);
    if (r->image.has_vectors)
        printf(", stack 0x%08" PRIx32 ", vectors at 0x%08" PRIx32, r->image.stack, r->image.vectors);
    else if (r->image.entry_loaded)
        fputs("; no vector table was found, the stack pointer is as it was", stdout);
    putchar('\n');
    return CORRAL_OK;
}

/* Nothing is touched before the file has been found good. *stays: what was loaded is to be left as it is. */
static enum corral_err act(const struct cli *cli, struct request *r, struct view_session *v, bool *stays,
                           struct diag *d)
{
    bool ran = false, has_core = !v->view.by_ap;
    size_t core = v->view.core;
    if (!has_core && r->run)
        return diag_set(d, CORRAL_ERR_USAGE, "--run starts a core: an access port alone has none");
    enum corral_err err = has_core ? session_halt_core(v->s, core, &ran, d) : CORRAL_OK;
    if (!err)
        err = session_load(v->s, &v->view, r->file, &r->image, cli_stop_flag(), d);
    if (!err && has_core && r->image.entry_loaded)
        err = session_load_registers(v->s, core, &r->image, d);
    if (!err && r->run)
        err = session_run_core(v->s, core, d);
    *stays = !err;
    return err ? err : show(cli, r, v, d);
}

static int perform(const struct cli *cli, struct request *r)
{
    struct diag d = DIAG_INIT, late = DIAG_INIT;
    struct view_session v = {0};
    bool stays = false;
    enum corral_err err = read_file(r, &d);
    if (!err) {
        err = load_parse(r->file, r->size, r->ram, r->ranges, &r->image, &d);
        if (err)
            diag_prefix(&d, "%s", r->name);
    }
    if (!err && r->run && !r->image.entry_loaded)
        err = diag_set(&d, CORRAL_ERR_ELF, "%s: the entry 0x%08" PRIx32 " is not in what is loaded", r->name,
                       r->image.entry);
    if (!err) {
        err = view_open(cli, &r->view, &v, &d);
        if (!err)
            err = act(cli, r, &v, &stays, &d);
        enum corral_err closing = view_close(&v, stays && !r->run, &late);
        if (!err && closing) {
            d = late;
            err = closing;
        }
    }
    free(r->file);
    return err ? cli_fail(cli, &d) : 0;
}

/* "ADDR:SIZE" */
static bool take_range(const struct cli *cli, const struct cli_command *command, const char *text,
                       struct request *r)
{
    char address[32];
    const char *colon = strchr(text, ':');
    struct load_range *range = &r->ram[r->ranges];
    if (r->ranges >= LOAD_RANGES_MOST || !colon || (size_t)(colon - text) >= sizeof(address)) {
        cli_usage(cli, command, "--ram: '%s' is not ADDR:SIZE, of which %d may be given", text,
                  LOAD_RANGES_MOST);
        return false;
    }
    memcpy(address, text, (size_t)(colon - text));
    address[colon - text] = '\0';
    r->ranges++;
    return cli_parse_u64(cli, command, "--ram: address", address, 0, UINT32_MAX, &range->address) &&
           cli_parse_u64(cli, command, "--ram: size", colon + 1, 1, UINT64_C(1) << 32, &range->size);
}

static int run_load(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct request r = {0};
    int exit_code = 0;
    for (int c; (c = cli_getopt(cli, command, argc, argv, options, &exit_code)) != -1;) {
        if (c == CLI_DONE)
            return exit_code;
        if (c == OPT_RUN)
            r.run = true;
        else if (c == OPT_RAM ? !take_range(cli, command, optarg, &r) : !view_take(cli, command, c, &r.view))
            return 2;
    }
    if (optind + 1 != argc)
        return cli_usage(cli, command, optind < argc ? "load: one file at a time" : "load: which file?");
    r.path = argv[optind];
    text_escape((const uint8_t *)r.path, strnlen(r.path, 200), r.name, sizeof(r.name));
    return perform(cli, &r);
}

const struct cli_command cmd_load = {
    .name = "load",
    .summary = "an ELF executable into RAM, verified",
    .help =
        "Usage: corral [--link LINK] [--json] load [--core NAME | --ap N] [--run] [--ram ADDR:SIZE]... "
        "FILE.elf\n"
        "\n"
        "Halts the core, writes the segments (PT_LOAD, to their physical addresses) and reads them back.\n"
        "The core then stands at the entry: halted, or running with --run. Where the image begins with a\n"
        "vector table, the stack pointer and VTOR are set from it. Only RAM is written: an image for flash\n"
        "is refused before anything is touched. Other cores go on as they are. 'corral reset --halt' before\n"
        "it makes sure that no interrupt of the program before comes in between.\n"
        "\n"
        "  --core NAME      into this core's memory (default: the first)\n"
        "  --ap N           through this access port: bytes only, no core is halted or set up\n"
        "  --run            start the core at the entry\n"
        "  --ram ADDR:SIZE  this is RAM, too; the architecture's map has it at 0x20000000..0x3fffffff and\n"
        "                   0x60000000..0x9fffffff\n"
        "\n"
        "Example: corral --link jtag:localhost:9824 load --run build/program.elf\n",
    .run = run_load,
};
