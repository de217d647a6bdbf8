/* SPDX-License-Identifier: Apache-2.0 */
/* The debug port: power-up. Cross-trigger sheet 2.1; case B23 (sticky errors left by somebody else). */
#include <inttypes.h>

#include "coresight/rom_table.h"

enum { DP_DPIDR = 0x0, DP_ABORT = 0x0, DP_CTRL_STAT = 0x4, DP_SELECT = 0x8 };

#define ABORT_CLEAR_ALL 0x1Eu
#define POWER_REQUEST   0x50000000u
#define POWER_ACK       0xA0000000u
#define MASKLANE        0x00000F00u
#define POWER_WAIT_NS   NS_PER_S
#define POWER_POLL_NS   (200 * NS_PER_US)

enum corral_err dp_power_up(struct link *link, struct diag *d)
{
    uint32_t value = 0;
    enum corral_err err = link_read_dp(link, DP_DPIDR, &value, d);
    if (!err)
        err = link_write_dp(link, DP_ABORT, ABORT_CLEAR_ALL, d);
    if (!err)
        err = link_write_dp(link, DP_SELECT, 0, d);
    if (!err)
        err = link_write_dp(link, DP_CTRL_STAT, POWER_REQUEST, d);
    if (err)
        return err;

    struct deadline limit = deadline_in(link_clock(link), POWER_WAIT_NS);
    for (;;) {
        err = link_read_dp(link, DP_CTRL_STAT, &value, d);
        if (err)
            return err;
        if ((value & POWER_ACK) == POWER_ACK)
            break;
        if (deadline_passed(&limit)) {
            diag_set(d, CORRAL_ERR_NO_POWER,
                     "the target did not acknowledge debug power-up (CTRL/STAT 0x%08" PRIx32 ")", value);
            diag_hint(d, "is the target powered, and is debug access allowed?");
            return CORRAL_ERR_NO_POWER;
        }
        host_clock_sleep(link_clock(link), POWER_POLL_NS);
    }
    return link_write_dp(link, DP_CTRL_STAT, POWER_REQUEST | MASKLANE, d);
}
