/* SPDX-License-Identifier: Apache-2.0 */
/* Names and exit codes of enum corral_err (err.h), INTERFACE.md "General". */
#include "base/err.h"

#include <stddef.h>

struct err_entry {
    enum corral_err err;
    const char *name;
    int exit_code;
};

static const struct err_entry errors[] = {
    {CORRAL_OK, "ok", 0},
    {CORRAL_ERR_FAILED, "failed", 1},
    {CORRAL_ERR_NO_MEMORY, "no-memory", 1},
    {CORRAL_ERR_LIMIT, "limit", 1},
    {CORRAL_ERR_USAGE, "usage", 2},
    {CORRAL_ERR_IO, "io", 1},
    {CORRAL_ERR_INTERRUPTED, "interrupted", 130},
    {CORRAL_ERR_TIMEOUT, "timeout", 5},
    {CORRAL_ERR_UNSUPPORTED, "unsupported", 1},
    {CORRAL_ERR_FORMAT, "format", 1},
    {CORRAL_ERR_DATA_LOST, "data-lost", 4},
    {CORRAL_ERR_CONFIG, "config", 2},
    {CORRAL_ERR_LINK_DOWN, "link-down", 3},
    {CORRAL_ERR_LINK_FAULT, "link-fault", 1},
    {CORRAL_ERR_LINK_WAIT, "link-wait", 3},
    {CORRAL_ERR_LINK_PROTOCOL, "link-protocol", 3},
    {CORRAL_ERR_NO_POWER, "no-power", 3},
    {CORRAL_ERR_NO_AP, "no-ap", 3},
    {CORRAL_ERR_ROM_TABLE, "rom-table", 1},
    {CORRAL_ERR_CTI_UNUSABLE, "cti-unusable", 1},
    {CORRAL_ERR_CTI_STUCK, "cti-stuck", 1},
    {CORRAL_ERR_CTI_PARTIAL, "cti-partial", 1},
    {CORRAL_ERR_NO_CORE, "no-core", 3},
    {CORRAL_ERR_CORE_STATE, "core-state", 1},
    {CORRAL_ERR_CORE_NO_HALT, "core-no-halt", 5},
    {CORRAL_ERR_CORE_NO_RUN, "core-no-run", 5},
    {CORRAL_ERR_NO_CROSS_TRIGGER, "no-cross-trigger", 1},
    {CORRAL_ERR_TLOG_MAGIC, "tlog-magic", 1},
    {CORRAL_ERR_TLOG_QUEUE, "tlog-queue", 1},
    {CORRAL_ERR_TLOG_REFUSED, "tlog-refused", 1},
    {CORRAL_ERR_PROF_PORT, "prof-port", 1},
    {CORRAL_ERR_ELF, "elf", 1},
    {CORRAL_ERR_NO_SYMBOL, "no-symbol", 1},
    {CORRAL_ERR_CAPTURE, "capture", 1},
    {CORRAL_ERR_SEQUENCE, "sequence", 1},
};

static const struct err_entry *err_find(enum corral_err err)
{
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        if (errors[i].err == err)
            return &errors[i];
    return NULL;
}

const char *corral_err_name(enum corral_err err)
{
    const struct err_entry *e = err_find(err);
    return e ? e->name : "unknown";
}

int corral_err_exit_code(enum corral_err err)
{
    const struct err_entry *e = err_find(err);
    return e ? e->exit_code : 1;
}
