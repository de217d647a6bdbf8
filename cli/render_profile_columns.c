/* SPDX-License-Identifier: Apache-2.0 */
/* Cells, bars and numbers of the profile's text views (render_profile.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/render_profile.h"

#define WIDTH_LEAST 60u
#define WIDTH_MOST  250u
#define CELL_MAX    512u /* bytes of a name that are looked at */

unsigned render_profile_width(FILE *out)
{
    struct winsize size;
    int fd = fileno(out);
    if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return 80;
    return size.ws_col < WIDTH_LEAST ? WIDTH_LEAST : size.ws_col > WIDTH_MOST ? WIDTH_MOST : size.ws_col;
}

/* Bytes of `text` that fill at most `columns` columns, a code point a column. */
static size_t fitting(const char *text, unsigned columns, unsigned *used)
{
    size_t length = strlen(text), at = 0;
    for (*used = 0; at < length && *used < columns; ++*used) {
        uint32_t code;
        size_t n = text_utf8_decode((const uint8_t *)text + at, length - at, &code);
        at += n ? n : 1;
    }
    return at;
}

void render_profile_cell(FILE *out, const char *text, unsigned columns, bool pad)
{
    char clean[TEXT_CLEAN_MAX(CELL_MAX)];
    unsigned used;
    text_escape((const uint8_t *)text, strnlen(text, CELL_MAX), clean, sizeof(clean));
    size_t whole = strlen(clean);
    size_t size = fitting(clean, columns, &used);
    if (size < whole && columns > 3) { /* what was cut must not look whole */
        size = fitting(clean, columns - 2, &used);
        fprintf(out, "%.*s..", (int)size, clean);
        used += 2;
    } else {
        fprintf(out, "%.*s", (int)size, clean);
    }
    if (pad)
        fprintf(out, "%*s", (int)(columns - used), "");
}

void render_profile_heading(const struct render_profile *r, const char *title)
{
    fprintf(r->out, r->colour ? "\n\x1b[1m== %s\x1b[0m\n" : "\n== %s\n", title);
}

void render_profile_place(char *out, size_t size, const char *file, uint32_t line)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    out[0] = '\0';
    if (file && line)
        snprintf(out, size, "%.200s:%u", slash ? slash + 1 : file, (unsigned)line);
    else if (file)
        snprintf(out, size, "%.200s", slash ? slash + 1 : file);
}

double render_profile_percent(double share)
{
    return isfinite(share) && share > 0 ? 100 * share : 0;
}

void render_profile_bar(FILE *out, double share, unsigned columns)
{
    double filled = isfinite(share) && share > 0 ? share * columns : 0;
    unsigned n = filled > columns ? columns : (unsigned)lround(filled);
    for (unsigned i = 0; i < columns; i++)
        putc(i < n ? '#' : '.', out);
}

const char *render_profile_si(double value, char *out, size_t size)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};
    size_t unit = 0;
    double v = isfinite(value) ? value : 0;
    while (fabs(v) >= 9999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        v /= 1000;
        unit++;
    }
    snprintf(out, size, unit && fabs(v) < 999.5 ? "%.4g%s" : "%.0f%s", v, units[unit]);
    return out;
}
