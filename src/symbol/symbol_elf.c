/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF headers, sections and symbol table into the index (System V ABI chapter 4; ELF for the Arm
 * Architecture 5.5: Thumb bit in function values, mapping symbols). Any 32-bit machine, either byte order.
 * Must not take data for code: a function lies in an executable section, whatever its symbol claims.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "symbol/symbol_index.h"

#define ELF32_HEADER 52u

/* Header checks before libelf sees the file, each with its own sentence. */
static enum corral_err check_header(const struct symbol_index *s, struct diag *d)
{
    const uint8_t *p = s->data;
    if (s->size < 4 || memcmp(p, ELFMAG, 4) != 0)
        return diag_set(d, CORRAL_ERR_ELF, "%.150s: not an ELF file", s->label);
    if (s->size < ELF32_HEADER)
        return diag_set(d, CORRAL_ERR_ELF, "%.150s: an ELF file cut inside its header", s->label);
    if (p[EI_CLASS] == ELFCLASS64)
        return diag_set(d, CORRAL_ERR_ELF, "%.150s: a 64-bit ELF file; only 32-bit targets are known so far",
                        s->label);
    if (p[EI_CLASS] != ELFCLASS32 || (p[EI_DATA] != ELFDATA2LSB && p[EI_DATA] != ELFDATA2MSB))
        return diag_set(d, CORRAL_ERR_ELF, "%.150s: an ELF header of no known class and byte order",
                        s->label);
    bool big = p[EI_DATA] == ELFDATA2MSB;
    unsigned type = big ? load_be16(p + 16) : load_le16(p + 16);
    if (type == ET_REL)
        return diag_set(d, CORRAL_ERR_ELF, "%.150s: an object file that is not linked yet", s->label);
    if (type != ET_EXEC && type != ET_DYN)
        return diag_set(d, CORRAL_ERR_ELF, "%.150s: an ELF file of type %u, not a program", s->label, type);
    uint64_t at = big ? load_be32(p + 32) : load_le32(p + 32);
    uint64_t each = big ? load_be16(p + 46) : load_le16(p + 46);
    uint64_t count = big ? load_be16(p + 48) : load_le16(p + 48);
    if (at + each * count > s->size)
        return diag_set(d, CORRAL_ERR_ELF,
                        "%.150s: cut: its section headers end at byte %" PRIu64 ", the file at byte %zu",
                        s->label, at + each * count, s->size);
    return CORRAL_OK;
}

static enum corral_err libelf_says(const struct symbol_index *s, const char *what, struct diag *d)
{
    return diag_set(d, CORRAL_ERR_ELF, "%.150s: %s cannot be read: %.60s", s->label, what, elf_errmsg(-1));
}

static enum corral_err no_memory(const struct symbol_index *s, struct diag *d)
{
    return diag_set(d, CORRAL_ERR_NO_MEMORY, "%.150s: out of memory for its symbols", s->label);
}

/* Finds the symbol table and notes the executable sections. */
static enum corral_err read_sections(struct symbol_index *s, Elf_Scn **symtab, struct diag *d)
{
    s->code = calloc(SYMBOL_MAX_CODE, sizeof(*s->code));
    if (!s->code)
        return no_memory(s, d);
    *symtab = NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(s->elf, section)) != NULL;) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            return libelf_says(s, "a section header", d);
        if (header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL &&
            (header.sh_offset > s->size || header.sh_size > s->size - header.sh_offset))
            return diag_set(d, CORRAL_ERR_ELF, "%.150s: cut: section %zu ends behind the end of the file",
                            s->label, elf_ndxscn(section));
        if (header.sh_type == SHT_SYMTAB && !*symtab)
            *symtab = section;
        if (!(header.sh_flags & SHF_EXECINSTR) || !(header.sh_flags & SHF_ALLOC))
            continue;
        if (s->code_count == SYMBOL_MAX_CODE)
            return diag_set(d, CORRAL_ERR_LIMIT, "%.150s: more than the %u executable sections that are read",
                            s->label, SYMBOL_MAX_CODE);
        s->code[s->code_count++] = (struct symbol_range){header.sh_addr, header.sh_addr + header.sh_size};
    }
    return CORRAL_OK;
}

/* $a, $t, $d and $x, alone or with a suffix: marks for disassemblers, not names. */
static bool is_mapping_symbol(const char *name)
{
    return name[0] == '$' && name[1] && strchr("atdx", name[1]) && (name[2] == '\0' || name[2] == '.');
}

static void add_symbol(struct symbol_index *s, const GElf_Sym *symbol, const char *raw)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    unsigned bind = GELF_ST_BIND(symbol->st_info);
    if (type == STT_SECTION || type == STT_FILE || type == STT_TLS || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_shndx == SHN_COMMON || !raw || raw[0] == '\0' || is_mapping_symbol(raw))
        return;
    bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
    uint32_t address = (uint32_t)symbol->st_value;
    if (function && s->machine == EM_ARM)
        address &= ~UINT32_C(1);
    uint8_t rank = bind == STB_GLOBAL ? 0 : bind == STB_WEAK ? 1 : 2;
    const char *name = symbol_clean(s, raw);
    s->names[s->name_count++] = (struct symbol_name){
        .name = name,
        .address = address,
        .size = (uint32_t)symbol->st_size,
        .rank = bind == STB_GLOBAL ? 0
                : bind == STB_WEAK ? 1
                                   : 2,
    };
    /* Absolute functions are those of a ROM that was linked by name: real, if they have a size. */
    bool absolute = symbol->st_shndx == SHN_ABS && symbol->st_size > 0;
    if (function && (absolute || symbol_code_at(s, address)))
        s->functions[s->function_count++] =
            (struct symbol_body){{.name = name, .address = address, .size = (uint32_t)symbol->st_size}, rank};
}

/* By address, the longest first, then the most public, then by name so that the order is fixed. */
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
    return strcmp(x->function.name, y->function.name);
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

/* Sizes: none past the section's end; where none is given, up to the next function or the section's end. */
static void settle_sizes(struct symbol_index *s)
{
    uint32_t next = 0;
    bool has_next = false;
    for (size_t i = s->function_count; i-- > 0;) {
        struct symbol_function *f = &s->functions[i].function;
        const struct symbol_range *range = symbol_code_at(s, f->address);
        uint64_t end = range ? range->end : (uint64_t)f->address + f->size;
        if (end > (uint64_t)UINT32_MAX + 1)
            end = (uint64_t)UINT32_MAX + 1;
        uint64_t most = end - f->address;
        if (f->size == 0 && has_next && next - f->address < most)
            most = next - f->address;
        if (f->size == 0 || f->size > most)
            f->size = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
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
        uint64_t end = (uint64_t)s->functions[i].function.address + s->functions[i].function.size;
        reach = end > reach ? end : reach;
        s->reach[i] = reach;
    }
    return CORRAL_OK;
}

static enum corral_err read_symbols(struct symbol_index *s, Elf_Scn *section, struct diag *d)
{
    GElf_Shdr header;
    Elf_Data *data = elf_getdata(section, NULL);
    if (!data || !gelf_getshdr(section, &header))
        return libelf_says(s, "its symbol table", d);
    size_t count = data->d_size / gelf_fsize(s->elf, ELF_T_SYM, 1, EV_CURRENT);
    if (count > SYMBOL_MAX_SYMBOLS)
        return diag_set(d, CORRAL_ERR_LIMIT, "%.150s: %zu symbols, more than the %u that are read", s->label,
                        count, SYMBOL_MAX_SYMBOLS);
    s->names = calloc(count ? count : 1, sizeof(*s->names));
    s->functions = calloc(count ? count : 1, sizeof(*s->functions));
    if (!s->names || !s->functions)
        return no_memory(s, d);
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            return libelf_says(s, "a symbol", d);
        add_symbol(s, &symbol, symbol.st_name ? elf_strptr(s->elf, header.sh_link, symbol.st_name) : NULL);
    }
    qsort(s->names, s->name_count, sizeof(*s->names), compare_names);
    return sort_functions(s, d);
}

enum corral_err symbol_elf_load(struct symbol_index *s, struct diag *d)
{
    enum corral_err err = check_header(s, d);
    if (err != CORRAL_OK)
        return err;
    elf_version(EV_CURRENT);
    s->elf = elf_memory((char *)s->data, s->size);
    GElf_Ehdr header;
    if (!s->elf || elf_kind(s->elf) != ELF_K_ELF || !gelf_getehdr(s->elf, &header))
        return libelf_says(s, "its header", d);
    s->machine = header.e_machine;
    s->entry = (uint32_t)header.e_entry;
    if (s->machine == EM_ARM)
        s->entry &= ~UINT32_C(1);
    Elf_Scn *symtab = NULL;
    err = read_sections(s, &symtab, d);
    if (err != CORRAL_OK)
        return err;
    if (!symtab) {
        diag_set(d, CORRAL_ERR_NO_SYMBOL, "%.150s: has no symbol table, so its code has no names", s->label);
        diag_hint(d, "give the file as the linker wrote it, not a stripped copy");
        return CORRAL_ERR_NO_SYMBOL;
    }
    return read_symbols(s, symtab, d);
}
