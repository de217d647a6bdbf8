/* SPDX-License-Identifier: Apache-2.0 */
/* The exporters of finished profiles, by their names (export_profile.h). */
#include "export/export_profile.h"

#include <stddef.h>
#include <string.h>

typedef enum corral_err exporter(const struct export_profile *profile, const char *path, struct diag *d);

static const struct {
    const char *name;
    exporter *write;
} formats[] = {{"folded", export_folded},
               {"speedscope", export_speedscope},
               {"pprof", export_pprof},
               {"gmon", export_gmon},
               {"svg", export_svg}};

enum corral_err export_profile_as(const struct export_profile *profile, const char *format, const char *path,
                                  struct diag *d)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
        if (strcmp(formats[i].name, format) == 0)
            return formats[i].write(profile, path, d);
    diag_set(d, CORRAL_ERR_USAGE, "there is no export format \"%.60s\"", format);
    diag_hint(d, "the formats are folded, speedscope, pprof, gmon and svg");
    return CORRAL_ERR_USAGE;
}
