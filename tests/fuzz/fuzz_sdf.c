/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the SDF reader: any bytes as a file. What is taken keeps the promises of pack/sdf.h; what is
 * refused is told with its line, and with nothing in it that a terminal would obey.
 */
#include <string.h>

#include "fuzz_target.h"
#include "pack/sdf.h"

static void check_printable(const char *text, size_t room)
{
    size_t size = strnlen(text, room);
    FUZZ_CHECK(size < room);
    for (size_t i = 0; i < size; i++)
        FUZZ_CHECK(((unsigned char)text[i] >= 0x20 || text[i] == '\t') && text[i] != 0x7f);
}

static void check_sdf(const struct sdf *sdf)
{
    FUZZ_CHECK(sdf->core_count <= SDF_MAX_CORES && sdf->ap_count <= SDF_MAX_APS);
    for (size_t i = 0; i < sdf->ap_count; i++)
        for (size_t k = 0; k < i; k++)
            FUZZ_CHECK(sdf->aps[i] != sdf->aps[k]);
    for (size_t i = 0; i < sdf->core_count; i++) {
        const struct sdf_core *c = &sdf->cores[i];
        check_printable(c->name, sizeof(c->name));
        FUZZ_CHECK(c->restart_output >= -1 && c->restart_output <= 31);
        FUZZ_CHECK(!c->cti_set || c->cti_address % 4096 == 0);
        FUZZ_CHECK(c->line > 0);
    }
}

static bool same_core(const struct sdf_core *a, const struct sdf_core *b)
{
    return strcmp(a->name, b->name) == 0 && a->ap == b->ap && a->base_set == b->base_set &&
           a->base == b->base && a->cti_set == b->cti_set && a->cti_ap == b->cti_ap &&
           a->cti_address == b->cti_address && a->restart_output == b->restart_output && a->line == b->line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag d = DIAG_INIT;
    struct sdf *sdf = sdf_parse("dir/part.sdf", (const char *)data, size, &d);
    if (sdf) {
        struct sdf *again = sdf_parse("dir/part.sdf", (const char *)data, size, NULL);
        check_sdf(sdf);
        FUZZ_CHECK(again && again->core_count == sdf->core_count && again->ap_count == sdf->ap_count);
        for (size_t i = 0; i < sdf->core_count; i++)
            FUZZ_CHECK(same_core(&again->cores[i], &sdf->cores[i]));
        sdf_free(again);
    } else {
        FUZZ_CHECK(d.code == CORRAL_ERR_FORMAT || d.code == CORRAL_ERR_NO_MEMORY ||
                   d.code == CORRAL_ERR_UNSUPPORTED);
        FUZZ_CHECK(d.code != CORRAL_ERR_FORMAT || strncmp(d.message, "dir/part.sdf:", 13) == 0);
        check_printable(d.message, sizeof(d.message));
    }
    sdf_free(sdf);
    return 0;
}
