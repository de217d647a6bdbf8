/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inlined functions (DW_TAG_inlined_subroutine, DWARF 5 section 3.3.8) flattened into spans of addresses,
 * each with the innermost function inlined there; what that one is inlined into is a chain of indices. The
 * tree of each unit is walked once. Must not let code that the linker threw away, or a tree that is no tree,
 * give a frame or an endless walk.
 */
#include <dwarf.h>
#include <stddef.h>
#include <stdlib.h>

#include "symbol/symbol_index.h"

/* A piece of code of one inlined function. A later one lies upon those before it, as a child upon its parent.
 */
struct interval {
    uint64_t start;
    uint64_t end;
    uint32_t inlined; /* index + 1; rising */
};

struct walk {
    struct symbol_index *s;
    struct symbol_files files; /* of the unit */
    size_t dies, ranges;       /* seen, against the limits */
    size_t inline_room;
    struct interval *intervals;
    size_t count, room;
    bool no_memory, limited;
};

static void *grown(void *array, size_t count, size_t *room, size_t each)
{
    if (count < *room)
        return array;
    size_t want = *room ? *room * 2 : 256;
    void *more = realloc(array, want * each);
    if (more)
        *room = want;
    return more;
}

/* The attribute of the DIE, or of what it is an instance of. */
static const char *name_of(struct symbol_index *s, Dwarf_Die *die)
{
    static const unsigned names[] = {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name};
    Dwarf_Attribute attribute;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *name = dwarf_formstring(dwarf_attr_integrate(die, names[i], &attribute));
        if (name && name[0])
            return symbol_clean(s, name);
    }
    return "?";
}

static uint32_t number_of(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    Dwarf_Word value = 0;
    if (dwarf_formudata(dwarf_attr(die, name, &attribute), &value) != 0 || value > UINT32_MAX)
        return 0;
    return (uint32_t)value;
}

static const char *call_file(struct walk *w, Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &number) != 0)
        return NULL;
    return symbol_file_name(w->s, &w->files, (size_t)number);
}

/* The live pieces of code of the DIE go to `inlined` (index + 1), unless that is 0. Returns whether there are
 * any; of a function that the linker threw away there are none. */
static bool add_ranges(struct walk *w, Dwarf_Die *die, uint32_t inlined)
{
    Dwarf_Addr base = 0;
    Dwarf_Addr start = 0;
    Dwarf_Addr end = 0;
    bool live = false;
    for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &start, &end)) > 0;) {
        if (++w->ranges > SYMBOL_MAX_ROWS) { /* hostile DIEs may all point at one long list */
            w->limited = true;
            break;
        }
        if (start >= end || !symbol_is_live(w->s, start))
            continue;
        live = true;
        if (inlined == 0)
            continue;
        struct interval *more = grown(w->intervals, w->count, &w->room, sizeof(*more));
        if (!more) {
            w->no_memory = true;
            break;
        }
        w->intervals = more;
        w->intervals[w->count++] = (struct interval){start, end, inlined};
    }
    return live;
}

/* Notes the function inlined at `die`; returns what its children are inlined into. */
static uint32_t add_inlined(struct walk *w, Dwarf_Die *die, uint32_t parent)
{
    struct symbol_index *s = w->s;
    if (s->inline_count >= SYMBOL_MAX_ROWS) {
        w->limited = true;
        return parent;
    }
    struct symbol_inline *more = grown(s->inlines, s->inline_count, &w->inline_room, sizeof(*more));
    if (!more) {
        w->no_memory = true;
        return parent;
    }
    s->inlines = more;
    s->inlines[s->inline_count++] = (struct symbol_inline){
        .name = name_of(s, die),
        .call_file = call_file(w, die),
        .call_line = number_of(die, DW_AT_call_line),
        .parent = parent,
    };
    add_ranges(w, die, (uint32_t)s->inline_count);
    return (uint32_t)s->inline_count;
}

/* DIEs that can have code below them; the others (types, variables) are passed over whole. */
static bool may_hold_code(int tag)
{
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block ||
           tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_module || tag == DW_TAG_try_block || tag == DW_TAG_catch_block ||
           tag == DW_TAG_entry_point;
}

/* The children of `unit`, and theirs, without recursion. */
static void walk_unit(struct walk *w, Dwarf_Die *unit)
{
    struct level {
        Dwarf_Die die;
        uint32_t parent;
        bool live; /* in a function that is part of the program */
    } *levels = calloc(SYMBOL_MAX_DEPTH, sizeof(*levels));
    if (!levels) {
        w->no_memory = true;
        return;
    }
    size_t depth = dwarf_child(unit, &levels[0].die) == 0 ? 1 : 0;
    while (depth > 0 && !w->no_memory && !w->limited) {
        struct level *level = &levels[depth - 1];
        int tag = dwarf_tag(&level->die);
        if (++w->dies > SYMBOL_MAX_DIES) {
            w->limited = true;
            break;
        }
        uint32_t parent = level->parent;
        bool live = level->live;
        if (tag == DW_TAG_subprogram) {
            parent = 0;
            live = add_ranges(w, &level->die, 0);
        } else if (tag == DW_TAG_inlined_subroutine && live) {
            parent = add_inlined(w, &level->die, parent);
        }
        if (may_hold_code(tag) && depth < SYMBOL_MAX_DEPTH &&
            dwarf_child(&level->die, &levels[depth].die) == 0) {
            levels[depth].parent = parent;
            levels[depth++].live = live;
            continue;
        }
        while (depth > 0) {
            level = &levels[depth - 1];
            Dwarf_Die next;
            if (dwarf_siblingof(&level->die, &next) == 0) {
                level->die = next;
                break;
            }
            depth--;
        }
    }
    free(levels);
}

static int compare_intervals(const void *a, const void *b)
{
    const struct interval *x = a;
    const struct interval *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->inlined < y->inlined ? -1 : x->inlined > y->inlined;
}

/* A heap of the intervals that are open, the one that lies upon the others on top. */
static void heap_push(struct interval *heap, size_t count, struct interval new)
{
    size_t at = count;
    while (at > 0 && heap[(at - 1) / 2].inlined < new.inlined) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = new;
}

/* `count` is what is left once the top is gone. */
static void heap_pop(struct interval *heap, size_t count)
{
    struct interval last = heap[count];
    size_t at = 0;
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1].inlined > heap[child].inlined)
            child++;
        if (heap[child].inlined <= last.inlined)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
}

static void add_span(struct symbol_index *s, uint64_t start, uint32_t inlined)
{
    if (s->span_count > 0 && s->spans[s->span_count - 1].start == start)
        s->span_count--;
    if (s->span_count > 0 ? s->spans[s->span_count - 1].inlined == inlined : inlined == 0)
        return;
    s->spans[s->span_count++] = (struct symbol_span){start, inlined};
}

/* From intervals that lie upon each other to spans beside each other. False when memory is out. */
static bool flatten(struct symbol_index *s, struct interval *intervals, size_t count)
{
    struct interval *heap = malloc((count ? count : 1) * sizeof(*heap));
    size_t open = 0;
    s->spans = calloc(2 * count + 1, sizeof(*s->spans));
    if (!heap || !s->spans) {
        free(heap);
        return false;
    }
    if (count > 0)
        qsort(intervals, count, sizeof(*intervals), compare_intervals);
    for (size_t i = 0; i < count || open > 0;) {
        /* Up to where the next begins, the open ones end one after another. */
        while (open > 0 && (i == count || heap[0].end <= intervals[i].start)) {
            uint64_t end = heap[0].end;
            while (open > 0 && heap[0].end <= end)
                heap_pop(heap, --open);
            add_span(s, end, open > 0 ? heap[0].inlined : 0);
        }
        if (i < count) {
            heap_push(heap, open++, intervals[i]);
            add_span(s, intervals[i].start, heap[0].inlined);
            i++;
        }
    }
    free(heap);
    return true;
}

enum corral_err symbol_inline_load(struct symbol_index *s, struct diag *d)
{
    if (!s->dwarf)
        return CORRAL_OK;
    struct walk w = {.s = s};
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    while (!w.no_memory && !w.limited &&
           dwarf_get_units(s->dwarf, unit, &unit, NULL, NULL, &die, NULL) == 0) {
        if (symbol_files_of(&w.files, &die))
            walk_unit(&w, &die);
        else
            w.no_memory = true;
    }
    if (w.limited)
        symbol_add_note(s, "more DWARF entries than are read; the rest of the inlined functions is left out",
                        NULL);
    bool done = !w.no_memory && flatten(s, w.intervals, w.count);
    free(w.intervals);
    free(w.files.names);
    if (!done)
        return diag_set(d, CORRAL_ERR_NO_MEMORY, "%.150s: out of memory for its inlined functions", s->label);
    return CORRAL_OK;
}
