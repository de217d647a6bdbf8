/* SPDX-License-Identifier: Apache-2.0 */
/* A session that looks at one core or access port (view_session.h). */
#include "cli/view_session.h"

#include <string.h>

#include "base/host_clock.h"
#include "session/config.h"
#include "session/run_control.h"

#define WARM_UP_NS (5 * NS_PER_MS)

bool view_take(const struct cli *cli, const struct cli_command *command, int c, struct view_request *r)
{
    uint64_t ap;
    if (c == VIEW_OPT_CORE) {
        r->core = optarg;
    } else {
        if (!cli_parse_u64(cli, command, "--ap", optarg, 0, UINT32_MAX, &ap))
            return false;
        r->ap = (uint32_t)ap;
        r->ap_set = true;
    }
    if (r->core && r->ap_set) {
        cli_usage(cli, command, "%s: --core or --ap, not both", command->name);
        return false;
    }
    return true;
}

struct session_options cli_session_options(const struct cli *cli, const struct config *config,
                                           struct event_bus *bus)
{
    return (struct session_options){.link = cli->link,
                                    .clock_hz = cli->clock_hz,
                                    .wire = cli->wire,
                                    .config = config,
                                    .listen_port = -1,
                                    .timeout_ns = cli->timeout_ns,
                                    .bus = bus};
}

enum corral_err cli_leave(struct session *s, enum corral_err err, struct diag *d)
{
    struct diag late = DIAG_INIT;
    enum corral_err leaving = s ? session_detach(s, false, &late) : CORRAL_OK;
    session_close(s);
    if (err != CORRAL_OK || leaving == CORRAL_OK)
        return err;
    diag_prefix(&late, "the target could not be left as it was found");
    *d = late;
    return leaving;
}

enum corral_err cli_warm_up(struct session *s, struct diag *d)
{
    if (!host_clock_is_virtual(session_clock(s)))
        return CORRAL_OK;
    return session_run_for(s, WARM_UP_NS, cli_stop_flag(), d);
}

enum corral_err view_open(const struct cli *cli, const struct view_request *r, struct view_session *v,
                          struct diag *d)
{
    *v = (struct view_session){.names = {r->core}};
    cli_stop_flag(); /* from here on there is something to put back */
    v->bus = event_bus_new();
    enum corral_err err =
        v->bus ? cli_load_config(cli, &v->config, d) : diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
    if (!err)
        err = pack_options_open(cli, &r->pack, v->config, &v->target, d);
    if (err)
        return err;
    struct session_options how = cli_session_options(cli, v->config, v->bus);
    pack_options_apply(&v->target, false, &how);
    how.core_names = v->names;
    how.core_name_count = r->core ? 1 : 0;
    v->s = session_open(&how, d);
    if (!v->s)
        return d->code;
    v->view = (struct session_view){.by_ap = r->ap_set, .ap = r->ap};
    err = r->ap_set ? session_connect_port(v->s, d) : session_connect(v->s, d);
    if (!err && !r->ap_set)
        err = session_first_view(v->s, &v->view, d);
    return err ? err : cli_warm_up(v->s, d);
}

enum corral_err view_close(struct view_session *v, bool leave_halted, struct diag *d)
{
    enum corral_err err = v->s ? session_detach(v->s, leave_halted, d) : CORRAL_OK;
    session_close(v->s);
    event_bus_free(v->bus, NULL);
    pack_target_close(&v->target);
    config_free(v->config);
    return err;
}
