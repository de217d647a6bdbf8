/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ELF symbol table into the index: functions by address, names, mapping symbols (ELF for the Arm
 * Architecture 5.5: Thumb bit in function values, mapping symbols; profiler sheet 9 for Ubicom32). Must not
 * take data for code: a function lies in an executable section, whatever its symbol claims.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/symbol_index.h"

static enum corral_err no_memory(const struct symbol_index *s, struct diag *d)
{
    return diag_set(d, CORRAL_ERR_NO_MEMORY, "%.150s: out of memory for its symbols", s->label);
}

/* $a, $t, $d and $x, alone or with a suffix: marks for disassemblers, not names. */
static bool is_mapping_symbol(const char *name)
{
    return name[0] == '$' && name[1] && strchr("atdx", name[1]) && (name[2] == '\0' || name[2] == '.');
}

/* Labels of hand-written code have no type on Ubicom32; what the assembler made for itself begins with ".L".
 */
static bool is_function(const struct symbol_index *s, unsigned type, const char *name)
{
    if (type == STT_FUNC || type == STT_GNU_IFUNC)
        return true;
    return s->machine == SYMBOL_MACHINE_UBICOM32 && type == STT_NOTYPE && strncmp(name, ".L", 2) != 0;
}

static void add_symbol(struct symbol_index *s, const GElf_Sym *symbol, const char *raw, uint32_t order)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    unsigned bind = GELF_ST_BIND(symbol->st_info);
    if (type == STT_SECTION || type == STT_FILE || type == STT_TLS || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_shndx == SHN_COMMON || raw[0] == '\0')
        return;
    uint64_t address = symbol->st_value;
    if (is_mapping_symbol(raw)) {
        if (s->machine == SYMBOL_MACHINE_ARM || s->machine == SYMBOL_MACHINE_AARCH64)
            s->marks[s->mark_count++] = (struct symbol_mark){address, raw[1]};
        return;
    }
    bool function = is_function(s, type, raw);
    if (function && s->mode_bit && type != STT_NOTYPE)
        address &= ~UINT64_C(1);
    uint8_t rank = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
    const char *name = symbol_clean(s, raw);
    s->names[s->name_count++] =
        (struct symbol_name){.name = name, .address = address, .size = symbol->st_size, .rank = rank};
    /* Absolute functions are those of a ROM that was linked by name: real, if they have a size. */
    bool absolute = type != STT_NOTYPE && symbol->st_shndx == SHN_ABS && symbol->st_size > 0;
    if (!function || (!absolute && !symbol_code_at(s, address)))
        return;
    /* On Ubicom32 a function goes up to the next, whatever its symbol says (profiler sheet 9). */
    uint64_t size = s->machine == SYMBOL_MACHINE_UBICOM32 && !absolute ? 0 : symbol->st_size;
    s->functions[s->function_count++] =
        (struct symbol_body){{.name = name, .address = address, .size = size}, order, rank};
}

/* By address, the longest first, then the most public; of functions that a compiler found to be the same, the
 * last of the table, as other tools have it. */
static int compare_functions(const void *a, const void *b)
{
    const struct symbol_body *x = a;
    const struct symbol_body *y = b;
    if (x->function.address != y->function.address)
        return x->function.address < y->function.address ? -1 : 1;
    if (x->function.size != y->function.size)
        return x->function.size > y->function.size ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->order > y->order ? -1 : x->order < y->order;
}

/* Of the names of one piece of code the first stays; one without a size gives way to any that has one. */
static void drop_aliases(struct symbol_index *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->function_count; i++) {
        const struct symbol_function *f = &s->functions[i].function;
        const struct symbol_function *last = kept ? &s->functions[kept - 1].function : NULL;
        if (last && last->address == f->address && (last->size == f->size || f->size == 0))
            continue;
        s->functions[kept++] = s->functions[i];
    }
    s->function_count = kept;
}

static int compare_names(const void *a, const void *b)
{
    const struct symbol_name *x = a;
    const struct symbol_name *y = b;
    int order = strcmp(x->name, y->name);
    if (order != 0)
        return order;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

static int compare_marks(const void *a, const void *b)
{
    const struct symbol_mark *x = a;
    const struct symbol_mark *y = b;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Sizes: none past the section's end or the last address; where none is given, up to the next function or
 * the section's end. */
static void settle_sizes(struct symbol_index *s)
{
    uint64_t next = 0;
    bool has_next = false;
    for (size_t i = s->function_count; i-- > 0;) {
        struct symbol_function *f = &s->functions[i].function;
        const struct symbol_section *section = symbol_code_at(s, f->address);
        uint64_t most = section ? section->limit - f->address : symbol_room(s, f->address);
        if (f->size == 0 && has_next && next - f->address < most)
            most = next - f->address;
        if (f->size == 0 || f->size > most)
            f->size = most;
        if (i > 0 && s->functions[i - 1].function.address != f->address) {
            next = f->address;
            has_next = true;
        }
    }
}

static enum corral_err sort_functions(struct symbol_index *s, struct diag *d)
{
    qsort(s->functions, s->function_count, sizeof(*s->functions), compare_functions);
    drop_aliases(s);
    settle_sizes(s);
    s->reach = calloc(s->function_count ? s->function_count : 1, sizeof(*s->reach));
    if (!s->reach)
        return no_memory(s, d);
    uint64_t reach = 0;
    for (size_t i = 0; i < s->function_count; i++) {
        uint64_t end = s->functions[i].function.address + s->functions[i].function.size;
        reach = end > reach ? end : reach;
        s->reach[i] = reach;
    }
    return CORRAL_OK;
}

static enum corral_err cannot_read(const struct symbol_index *s, const char *what, struct diag *d)
{
    return diag_set(d, CORRAL_ERR_ELF, "%.150s: %s cannot be read: %.60s", s->label, what, elf_errmsg(-1));
}

enum corral_err symbol_table_load(struct symbol_index *s, Elf_Scn *section, struct diag *d)
{
    GElf_Shdr header;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !gelf_getshdr(section, &header))
        return cannot_read(s, "its symbol table", d);
    size_t count = data->d_size / gelf_fsize(s->elf, ELF_T_SYM, 1, EV_CURRENT);
    if (count > SYMBOL_MAX_SYMBOLS)
        return diag_set(d, CORRAL_ERR_LIMIT, "%.150s: %zu symbols, more than the %u that are read", s->label,
                        count, SYMBOL_MAX_SYMBOLS);
    s->names = calloc(count ? count : 1, sizeof(*s->names));
    s->functions = calloc(count ? count : 1, sizeof(*s->functions));
    s->marks = calloc(count ? count : 1, sizeof(*s->marks));
    if (!s->names || !s->functions || !s->marks)
        return no_memory(s, d);
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            return cannot_read(s, "a symbol", d);
        const char *raw = symbol.st_name ? elf_strptr(s->elf, header.sh_link, symbol.st_name) : "";
        if (!raw)
            return diag_set(d, CORRAL_ERR_ELF,
                            "%.150s: the name of symbol %zu lies outside of the table of names (offset %u)",
                            s->label, i, (unsigned)symbol.st_name);
        add_symbol(s, &symbol, raw, (uint32_t)i);
    }
    if (s->name_count == 0) {
        diag_set(d, CORRAL_ERR_NO_SYMBOL, "%.150s: its symbol table is empty, so its code has no names",
                 s->label);
        diag_hint(d, "give the file as the linker wrote it, not a stripped copy");
        return CORRAL_ERR_NO_SYMBOL;
    }
    if (s->function_count == 0)
        symbol_add_note(s, "no function among its symbols", NULL);
    qsort(s->names, s->name_count, sizeof(*s->names), compare_names);
    qsort(s->marks, s->mark_count, sizeof(*s->marks), compare_marks);
    return sort_functions(s, d);
}
