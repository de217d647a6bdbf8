/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DWARF line tables (libdw) flattened into one array of rows: address to file and line. A file without
 * DWARF, or with a damaged line table, still has its symbols; what is missing is said in the index's note.
 * Must not let the rows of code that the linker threw away cover live code.
 */
#include <stdio.h>
#include <stdlib.h>

#include "symbol/symbol_index.h"

static void note(struct symbol_index *s, const char *what, const char *why)
{
    snprintf(s->note, sizeof(s->note), "%.100s: %s%s%.40s", s->label, what, why ? ": " : "", why ? why : "");
}

/*
 * Linkers leave the rows of discarded sections behind at address 0 or close to it. They are outside all
 * executable sections, or, where flash begins at 0, among the vectors before the first function.
 */
static bool is_live(const struct symbol_index *s, Dwarf_Addr address, bool end)
{
    if (s->function_count > 0 && address < s->functions[0].function.address)
        return false;
    return symbol_code_at(s, end && address > 0 ? address - 1 : address) != NULL;
}

static bool grow(struct symbol_index *s, size_t *room, size_t more)
{
    if (more <= *room - s->row_count)
        return true;
    size_t want = (s->row_count + more) * 2;
    struct symbol_row *rows = realloc(s->rows, want * sizeof(*rows));
    if (!rows)
        return false;
    s->rows = rows;
    *room = want;
    return true;
}

static void add_row(struct symbol_index *s, Dwarf_Line *line, const char **raw, const char **cleaned)
{
    Dwarf_Addr address = 0;
    int number = 0;
    bool end = false;
    if (dwarf_lineaddr(line, &address) != 0 || dwarf_lineendsequence(line, &end) != 0 ||
        !is_live(s, address, end) || address > UINT32_MAX)
        return;
    struct symbol_row row = {.address = (uint32_t)address};
    if (!end) {
        const char *file = dwarf_linesrc(line, NULL, NULL);
        if (!file || dwarf_lineno(line, &number) != 0 || number < 0)
            return;
        if (file != *raw) { /* rows of one file come together */
            *raw = file;
            *cleaned = symbol_clean(s, file);
        }
        row.file = *cleaned;
        row.line = (uint32_t)number;
    }
    s->rows[s->row_count++] = row;
}

/* By address; an end before a beginning, since the end is that of the code before. The sort must be stable:
 * of several rows for one address the last one written counts, which is what look-up finds. */
static int compare_rows(const struct symbol_row *x, const struct symbol_row *y)
{
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->file != NULL) - (y->file != NULL);
}

static bool sort_rows(struct symbol_index *s)
{
    struct symbol_row *from = s->rows;
    struct symbol_row *to = malloc((s->row_count ? s->row_count : 1) * sizeof(*to));
    if (!to)
        return false;
    for (size_t width = 1; width < s->row_count; width *= 2) {
        for (size_t left = 0; left < s->row_count; left += 2 * width) {
            size_t middle = left + width < s->row_count ? left + width : s->row_count;
            size_t right = left + 2 * width < s->row_count ? left + 2 * width : s->row_count;
            size_t a = left;
            size_t b = middle;
            for (size_t i = left; i < right; i++)
                to[i] = a < middle && (b >= right || compare_rows(&from[a], &from[b]) <= 0) ? from[a++]
                                                                                            : from[b++];
        }
        struct symbol_row *swap = from;
        from = to;
        to = swap;
    }
    s->rows = from;
    free(to);
    return true;
}

enum corral_err symbol_dwarf_load(struct symbol_index *s, struct diag *d)
{
    s->dwarf = dwarf_begin_elf(s->elf, DWARF_C_READ, NULL);
    if (!s->dwarf) {
        note(s, "no DWARF, so functions have names but no files and lines", NULL);
        return CORRAL_OK;
    }
    size_t room = 0;
    Dwarf_Off offset = 0;
    Dwarf_CU *unit = NULL;
    const char *raw = NULL;
    const char *cleaned = NULL;
    for (;;) {
        Dwarf_Off next = 0;
        Dwarf_Lines *lines = NULL;
        size_t count = 0;
        int result = dwarf_next_lines(s->dwarf, offset, &next, &unit, NULL, NULL, &lines, &count);
        if (result > 0)
            break;
        /* One table that is damaged does not hide the others, as long as the next one can be found. */
        if (result < 0)
            note(s, "a DWARF line table cannot be read", dwarf_errmsg(-1));
        if (result < 0 && next <= offset)
            break;
        if (result == 0 && count > SYMBOL_MAX_ROWS - s->row_count) {
            note(s, "more DWARF lines than are read; the rest is left out", NULL);
            break;
        }
        if (result == 0 && !grow(s, &room, count))
            return diag_set(d, CORRAL_ERR_NO_MEMORY, "%.150s: out of memory for its DWARF lines", s->label);
        for (size_t i = 0; result == 0 && i < count; i++)
            add_row(s, dwarf_onesrcline(lines, i), &raw, &cleaned);
        if (next <= offset)
            break;
        offset = next;
    }
    if (!sort_rows(s))
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "%.150s: out of memory for its DWARF lines", s->label);
    return CORRAL_OK;
}
