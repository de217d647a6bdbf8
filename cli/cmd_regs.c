/* SPDX-License-Identifier: Apache-2.0 */
/* corral regs: the registers of a halted core (INTERFACE.md "Commands"). Which there are is the core's. */
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/put_json.h"
#include "cli/view_session.h"
#include "session/core_registers.h"

enum { OPT_HALT = 256, OPT_CORE };

static const struct option options[] = {
    {"core", required_argument, NULL, OPT_CORE},
    {"halt", no_argument, NULL, OPT_HALT},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

struct request {
    const char *core;
    bool halt;
    size_t read_count, write_count; /* of names, and NAME=VALUE */
    const char *names[SESSION_REGISTERS_MOST];
    char *written[SESSION_REGISTERS_MOST]; /* the name; ours */
    uint32_t values[SESSION_REGISTERS_MOST];
};

static void show_text(const struct session_register *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int digits = list[i].bits > 8 ? 8 : list[i].bits > 1 ? 2 : 1;
        bool last = i + 1 == count || i % 4 == 3;
        printf("%-9s 0x%0*" PRIx32 "%*s", list[i].name, digits, list[i].value, last ? 0 : 10 - digits, "");
        if (last)
            putchar('\n');
    }
}

static enum corral_err show(const struct cli *cli, const char *core, const struct session_register *list,
                            size_t count, struct diag *d)
{
    if (!cli->json) {
        show_text(list, count);
        return CORRAL_OK;
    }
    json_t *registers = json_object();
    for (size_t i = 0; i < count; i++)
        json_object_set_new(registers, list[i].name, json_integer(list[i].value));
    json_t *j = json_pack("{s:s,s:o}", "core", core, "registers", registers);
    return cli_put_json(j, d);
}

/* What was asked for; after writing, what was written as the core has it now. */
static enum corral_err act(const struct cli *cli, struct request *r, struct view_session *v, struct diag *d)
{
    struct session_register list[SESSION_REGISTERS_MOST];
    size_t core = v->view.core, count = 0;
    bool ran = false;
    if (v->view.by_ap)
        return diag_set(d, CORRAL_ERR_NO_CORE, "this link reaches memory only: there is no core");
    enum corral_err err = r->halt ? session_halt_core(v->s, core, &ran, d) : CORRAL_OK;
    for (size_t i = 0; i < r->write_count && !err; i++) {
        err = session_write_register(v->s, core, r->written[i], r->values[i], d);
        r->names[r->read_count++] = r->written[i];
    }
    if (!err)
        err = session_read_registers(v->s, core, r->names, r->read_count, list, &count, d);
    struct diag late = DIAG_INIT;
    enum corral_err again = ran ? session_run_core(v->s, core, &late) : CORRAL_OK;
    if (again && !err) {
        *d = late;
        err = again;
    }
    return err ? err : show(cli, session_core_name(v->s, core), list, count, d);
}

static int perform(const struct cli *cli, struct request *r)
{
    struct diag d = DIAG_INIT, late = DIAG_INIT;
    struct view_session v;
    enum corral_err err = view_open(cli, &(struct view_request){.core = r->core}, &v, &d);
    if (!err)
        err = act(cli, r, &v, &d);
    enum corral_err closing = view_close(&v, false, &late);
    if (!err && closing)
        d = late;
    return err || closing ? cli_fail(cli, &d) : 0;
}

/* NAME or NAME=VALUE; false when the answer has been given. */
static bool take_word(const struct cli *cli, const struct cli_command *command, const char *word,
                      struct request *r)
{
    const char *equals = strchr(word, '=');
    uint64_t value;
    if (r->read_count + r->write_count >= SESSION_REGISTERS_MOST) {
        cli_usage(cli, command, "regs: at most %d registers", SESSION_REGISTERS_MOST);
        return false;
    }
    if (!equals) {
        r->names[r->read_count++] = word;
        return true;
    }
    if (!cli_parse_u64(cli, command, "VALUE", equals + 1, 0, UINT32_MAX, &value))
        return false;
    r->values[r->write_count] = (uint32_t)value;
    r->written[r->write_count] = strndup(word, (size_t)(equals - word));
    if (r->written[r->write_count])
        r->write_count++;
    return true;
}

static int run_regs(const struct cli *cli, const struct cli_command *command, int argc, char **argv)
{
    struct request *r = calloc(1, sizeof(*r));
    int exit_code = 0, c;
    if (!r)
        return cli_fail(cli, &(struct diag){CORRAL_ERR_NO_MEMORY, "out of memory", "", ""});
    while ((c = cli_getopt(cli, command, argc, argv, options, &exit_code)) != -1 && c != CLI_DONE) {
        if (c == OPT_CORE)
            r->core = optarg;
        r->halt |= c == OPT_HALT;
    }
    if (c != CLI_DONE) {
        bool ok = true;
        for (; ok && optind < argc; optind++)
            ok = take_word(cli, command, argv[optind], r);
        exit_code = ok ? perform(cli, r) : 2;
    }
    for (size_t i = 0; i < r->write_count; i++)
        free(r->written[i]);
    free(r);
    return exit_code;
}

const struct cli_command cmd_regs = {
    .name = "regs",
    .summary = "show or set the registers of a halted core",
    .help = "Usage: corral [--link LINK] [--json] regs [--core NAME] [--halt] [NAME...] [NAME=VALUE...]\n"
            "\n"
            "Without a name all registers that the core has. NAME=VALUE sets one first. Only a halted core\n"
            "gives its registers; of any other it is said what it does.\n"
            "\n"
            "  --core NAME  of this core (default: the first)\n"
            "  --halt       halt the core for as long as it takes if it runs, and let it go on\n"
            "\n"
            "Example: corral --link sim regs --halt pc sp xpsr\n",
    .run = run_regs,
};
