/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of corral.yml: any bytes as a file. What is taken keeps the promises of session/config.h and
 * becomes hints within their bounds; every mistake is told with its line.
 */
#include <string.h>

#include "fuzz_target.h"
#include "session/config.h"
#include "session/target_hints.h"

static bool is_ap(uint32_t ap)
{
    return ap <= 255 || (ap >= LINK_NESTED_FIRST && ap <= LINK_NESTED_LAST) || ap % 4096 == 0;
}

static void check_text(const char *text, size_t room)
{
    size_t size = strnlen(text, room);
    FUZZ_CHECK(size < room);
    for (size_t i = 0; i < size; i++)
        FUZZ_CHECK((unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
}

static void check_config(const struct config *c)
{
    FUZZ_CHECK(c->core_count <= CONFIG_MAX_CORES && c->log_count <= CONFIG_MAX_LOGS);
    FUZZ_CHECK(c->source_count <= CONFIG_MAX_SOURCES && c->ap_count <= CONFIG_MAX_APS);
    FUZZ_CHECK(c->patch_count <= CONFIG_MAX_PATCHES);
    FUZZ_CHECK(c->halt_channel >= -1 && c->halt_channel <= 31 && c->restart_channel >= -1 &&
               c->restart_channel <= 31);
    for (size_t i = 0; i < c->core_count; i++) {
        check_text(c->cores[i].name, sizeof(c->cores[i].name));
        FUZZ_CHECK(c->cores[i].name[0] && is_ap(c->cores[i].ap) && is_ap(c->cores[i].cti_ap));
        FUZZ_CHECK(c->cores[i].cti_address % 4096 == 0);
        FUZZ_CHECK(c->cores[i].cti_restart_output >= -1 && c->cores[i].cti_restart_output <= 31);
        FUZZ_CHECK(!c->cores[i].cti_ap_set || c->cores[i].cti_set);
    }
    for (size_t i = 0; i < c->ap_count; i++) {
        FUZZ_CHECK(is_ap(c->aps[i].ap) && is_ap(c->aps[i].parent) && c->aps[i].address % 4096 == 0);
        FUZZ_CHECK(c->aps[i].nested ==
                   (c->aps[i].ap >= LINK_NESTED_FIRST && c->aps[i].ap <= LINK_NESTED_LAST));
    }
    for (size_t i = 0; i < c->patch_count; i++)
        FUZZ_CHECK(is_ap(c->patches[i].ap) && c->patches[i].address % 4 == 0);
    for (size_t i = 0; i < c->log_count; i++)
        FUZZ_CHECK(c->logs[i].core < c->core_count);
    for (size_t i = 0; i < c->source_count; i++)
        FUZZ_CHECK(c->sources[i].core < c->core_count);
}

/* An SDF is not opened here: its path is the input's. */
static void check_hints(const struct config *c)
{
    struct diag d = DIAG_INIT;
    struct target_hints *h = c->sdf ? NULL : target_hints_new(c, NULL, &d);
    if (!h)
        return;
    const struct cs_hints *hints = target_hints_get(h);
    FUZZ_CHECK(hints->ap_count == c->ap_count && hints->core_count == c->core_count);
    FUZZ_CHECK(hints->patch_count == c->patch_count);
    target_hints_free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag d = DIAG_INIT;
    struct config *c = config_parse("dir/corral.yml", (const char *)data, size, &d);
    if (c) {
        check_config(c);
        check_hints(c);
    } else {
        FUZZ_CHECK(d.code == CORRAL_ERR_CONFIG || d.code == CORRAL_ERR_NO_MEMORY);
        FUZZ_CHECK(d.code != CORRAL_ERR_CONFIG || strncmp(d.message, "dir/corral.yml:", 15) == 0);
        check_text(d.message, sizeof(d.message));
    }
    config_free(c);
    return 0;
}
