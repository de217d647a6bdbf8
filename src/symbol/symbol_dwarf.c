/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The DWARF line tables (libdw) flattened into one array of rows: address to file and line. A file without
 * DWARF, or with a damaged line table, still has its symbols; what is missing is said in the index's note.
 * Must not let the rows of code that the linker threw away cover live code.
 */
#include <dwarf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbol/symbol_index.h"

/* The code of one compilation unit that is in the program, as its DIE tells. */
struct unit_code {
    struct symbol_range *ranges; /* by start, none overlapping */
    size_t count;
    size_t room;
    bool known; /* the unit says where its code is */
};

static int compare_ranges(const void *a, const void *b)
{
    const struct symbol_range *x = a;
    const struct symbol_range *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

static bool add_range(struct unit_code *u, Dwarf_Addr start, Dwarf_Addr end)
{
    if (u->count == u->room) {
        size_t room = u->room ? u->room * 2 : 64;
        struct symbol_range *more = realloc(u->ranges, room * sizeof(*more));
        if (!more)
            return false;
        u->ranges = more;
        u->room = room;
    }
    u->ranges[u->count++] = (struct symbol_range){start, end};
    return true;
}

/*
 * Linkers leave the DWARF of code they discarded behind, at address 0 or 1. Such a range begins outside all
 * executable sections or, where flash begins at 0, before the first function.
 */
bool symbol_is_live(const struct symbol_index *s, uint64_t start)
{
    bool before = s->function_count > 0 && start < s->functions[0].function.address;
    return !before && symbol_code_at(s, start);
}

/* False when memory is out. */
static bool read_ranges(struct symbol_index *s, Dwarf_Die *unit, struct unit_code *u)
{
    Dwarf_Addr base = 0;
    Dwarf_Addr start = 0;
    Dwarf_Addr end = 0;
    u->count = 0;
    u->known = false;
    ptrdiff_t at = 0;
    while (s->rows_seen < SYMBOL_MAX_ROWS && (at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
        u->known = true;
        s->rows_seen++; /* hostile units may all point at one long list */
        if (u->count < SYMBOL_MAX_RANGES && start < end && symbol_is_live(s, start) &&
            !add_range(u, start, end))
            return false;
    }
    if (u->count == 0)
        return true;
    qsort(u->ranges, u->count, sizeof(*u->ranges), compare_ranges);
    size_t last = 0;
    for (size_t i = 1; i < u->count; i++) {
        if (u->ranges[i].start > u->ranges[last].end)
            u->ranges[++last] = u->ranges[i];
        else if (u->ranges[i].end > u->ranges[last].end)
            u->ranges[last].end = u->ranges[i].end;
    }
    u->count = last + 1;
    return true;
}

/* The end of a sequence belongs to the code before it. */
static bool is_live(const struct symbol_index *s, const struct unit_code *u, Dwarf_Addr address, bool end)
{
    Dwarf_Addr code = end && address > 0 ? address - 1 : address;
    if (!u->known)
        return symbol_code_at(s, code) != NULL;
    size_t low = 0;
    size_t high = u->count; /* the first that begins behind `code` */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u->ranges[middle].start <= code)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && code < u->ranges[low - 1].end;
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

static void add_row(struct symbol_index *s, const struct unit_code *u, struct symbol_files *files,
                    Dwarf_Line *line)
{
    Dwarf_Addr address = 0;
    int number = 0;
    bool end = false;
    if (dwarf_lineaddr(line, &address) != 0 || dwarf_lineendsequence(line, &end) != 0 ||
        !is_live(s, u, address, end))
        return;
    struct symbol_row row = {.address = address};
    if (!end) {
        Dwarf_Files *table = NULL;
        size_t file = 0;
        if (dwarf_line_file(line, &table, &file) != 0 || dwarf_lineno(line, &number) != 0 || number < 0)
            return;
        row.file = table == files->files ? symbol_file_name(s, files, file) : NULL;
        if (!row.file)
            return;
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
    size_t sorted = 1;
    while (sorted < s->row_count && compare_rows(&s->rows[sorted - 1], &s->rows[sorted]) <= 0)
        sorted++;
    if (sorted >= s->row_count)
        return true; /* as most linkers leave it */
    struct symbol_row *from = s->rows;
    struct symbol_row *to = malloc(s->row_count * sizeof(*to));
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

/* Keeps what look-up can find: the last row of an address, and none that says the same as the one before. */
static void thin_rows(struct symbol_index *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->row_count; i++) {
        const struct symbol_row *row = &s->rows[i];
        if (i + 1 < s->row_count && s->rows[i + 1].address == row->address)
            continue;
        const struct symbol_row *last = kept > 0 ? &s->rows[kept - 1] : NULL;
        if (last && last->file == row->file && last->line == row->line)
            continue;
        s->rows[kept++] = *row;
    }
    s->row_count = kept;
    struct symbol_row *fitted = kept > 0 ? realloc(s->rows, kept * sizeof(*fitted)) : NULL;
    s->rows = fitted ? fitted : s->rows;
}

/* The rows of one unit's line table. False when memory is out; everything else becomes a note. */
static bool read_unit(struct symbol_index *s, Dwarf_Die *unit, struct unit_code *code,
                      struct symbol_files *files, size_t *room)
{
    Dwarf_Lines *lines = NULL;
    size_t count = 0;
    if (!dwarf_hasattr(unit, DW_AT_stmt_list))
        return true;
    if (dwarf_getsrclines(unit, &lines, &count) != 0) {
        symbol_add_note(s, "a DWARF line table cannot be read", dwarf_errmsg(-1));
        return true;
    }
    if (count > SYMBOL_MAX_ROWS - s->rows_seen) {
        symbol_add_note(s, "more DWARF lines than are read; the rest is left out", NULL);
        s->rows_seen = SYMBOL_MAX_ROWS;
        return true;
    }
    /* Counted whether kept or not: hostile units may all point at one huge table. */
    s->rows_seen += count;
    if (!read_ranges(s, unit, code) || !grow(s, room, count) || !symbol_files_of(files, unit))
        return false;
    for (size_t i = 0; i < count; i++)
        add_row(s, code, files, dwarf_onesrcline(lines, i));
    return true;
}

enum corral_err symbol_dwarf_load(struct symbol_index *s, struct diag *d)
{
    s->dwarf = dwarf_begin_elf(s->elf, DWARF_C_READ, NULL);
    if (!s->dwarf) {
        symbol_add_note(s, "no DWARF, so functions have names but no files and lines", NULL);
        return CORRAL_OK;
    }
    size_t room = 0;
    struct unit_code code = {.ranges = NULL};
    struct symbol_files files = {.names = NULL};
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    int result = 0;
    bool memory = true;
    while (memory && s->rows_seen < SYMBOL_MAX_ROWS &&
           (result = dwarf_get_units(s->dwarf, unit, &unit, NULL, NULL, &die, NULL)) == 0)
        memory = read_unit(s, &die, &code, &files, &room);
    if (result < 0)
        symbol_add_note(s, "its DWARF units cannot all be read", dwarf_errmsg(-1));
    free(code.ranges);
    free(files.names);
    if (!memory || !sort_rows(s))
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "%.150s: out of memory for its DWARF lines", s->label);
    thin_rows(s);
    return CORRAL_OK;
}
