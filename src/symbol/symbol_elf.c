/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF headers, segments and executable sections into the index (System V ABI chapter 4), and what is known
 * of the machine. Either class, either byte order. Must not accept a file of a known machine in a shape that
 * this machine does not have: whatever runs there was not built from it.
 */
#include <elfutils/libdwelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "symbol/symbol_index.h"

#define ELF32_HEADER 52u
#define ELF64_HEADER 64u

#define MIPS_COMPRESSED 0x06000000u /* e_flags: MIPS16 or microMIPS code may be inside */

struct machine {
    uint16_t number;
    uint8_t alignment; /* of instructions; 0: not known */
    uint8_t classes;   /* bit ELFCLASS32 and bit ELFCLASS64 */
    uint8_t orders;    /* bit ELFDATA2LSB and bit ELFDATA2MSB */
    const char *name;
};

#define ONLY_32  (1u << ELFCLASS32)
#define ONLY_64  (1u << ELFCLASS64)
#define ANY      6u
#define ONLY_LSB (1u << ELFDATA2LSB)
#define ONLY_MSB (1u << ELFDATA2MSB)

static const struct machine machines[] = {
    {SYMBOL_MACHINE_X86, 1, ONLY_32, ONLY_LSB, "x86"},
    {SYMBOL_MACHINE_MIPS, 4, ANY, ANY, "MIPS"},
    {SYMBOL_MACHINE_ARM, 2, ONLY_32, ANY, "Arm"},
    {SYMBOL_MACHINE_X86_64, 1, ANY, ONLY_LSB, "x86-64"},
    {SYMBOL_MACHINE_AARCH64, 4, ANY, ANY, "AArch64"},
    {SYMBOL_MACHINE_RISCV, 2, ANY, ANY, "RISC-V"},
    {SYMBOL_MACHINE_UBICOM32, 4, ONLY_32, ONLY_MSB, "Ubicom32"},
};

static uint64_t load(const struct symbol_index *s, size_t at, unsigned size)
{
    const uint8_t *p = s->data + at;
    if (size == 2)
        return s->big ? load_be16(p) : load_le16(p);
    if (size == 4)
        return s->big ? load_be32(p) : load_le32(p);
    return s->big ? (uint64_t)load_be32(p) << 32 | load_be32(p + 4)
                  : (uint64_t)load_le32(p + 4) << 32 | load_le32(p);
}

/* What is known of the machine; refuses what it cannot be. */
static enum corral_err check_machine(struct symbol_index *s, struct diag *d)
{
    s->machine = (uint16_t)load(s, 18, 2);
    s->alignment = 1;
    for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
        const struct machine *m = &machines[i];
        if (m->number != s->machine)
            continue;
        if (!(m->classes & (s->wide ? ONLY_64 : ONLY_32)))
            return diag_set(d, CORRAL_ERR_ELF, "%.150s: a %s-bit ELF file for %s, which has none such",
                            s->label, s->wide ? "64" : "32", m->name);
        if (!(m->orders & (s->big ? ONLY_MSB : ONLY_LSB)))
            return diag_set(d, CORRAL_ERR_ELF, "%.150s: a %s-endian ELF file for %s, which is %s-endian",
                            s->label, s->big ? "big" : "little", m->name, s->big ? "little" : "big");
        s->alignment = m->alignment;
        return CORRAL_OK;
    }
    symbol_add_note(s, "its machine is not known, so nothing but its symbols is used", NULL);
    return CORRAL_OK;
}

/* Header checks before libelf sees the file, each with its own sentence. */
static enum corral_err check_header(struct symbol_index *s, struct diag *d)
{
    const uint8_t *p = s->data;
    if (s->size < 4 || memcmp(p, ELFMAG, 4) != 0)
        return diag_set(d, CORRAL_ERR_ELF, "%.150s: not an ELF file", s->label);
    if (s->size < ELF32_HEADER || (p[EI_CLASS] == ELFCLASS64 && s->size < ELF64_HEADER))
        return diag_set(d, CORRAL_ERR_ELF, "%.150s: an ELF file cut inside its header", s->label);
    if ((p[EI_CLASS] != ELFCLASS32 && p[EI_CLASS] != ELFCLASS64) ||
        (p[EI_DATA] != ELFDATA2LSB && p[EI_DATA] != ELFDATA2MSB))
        return diag_set(d, CORRAL_ERR_ELF, "%.150s: an ELF header of no known class and byte order",
                        s->label);
    s->wide = p[EI_CLASS] == ELFCLASS64;
    s->big = p[EI_DATA] == ELFDATA2MSB;
    s->address_mask = s->wide ? UINT64_MAX : UINT32_MAX;
    unsigned type = (unsigned)load(s, 16, 2);
    if (type == ET_REL)
        return diag_set(d, CORRAL_ERR_ELF, "%.150s: an object file that is not linked yet", s->label);
    if (type != ET_EXEC && type != ET_DYN)
        return diag_set(d, CORRAL_ERR_ELF, "%.150s: an ELF file of type %u, not a program", s->label, type);
    enum corral_err err = check_machine(s, d);
    if (err != CORRAL_OK)
        return err;
    uint64_t at = s->wide ? load(s, 40, 8) : load(s, 32, 4);
    uint64_t table = load(s, s->wide ? 58 : 46, 2) * load(s, s->wide ? 60 : 48, 2);
    if (at > s->size || table > s->size - at)
        return diag_set(d, CORRAL_ERR_ELF,
                        "%.150s: cut: its section headers end at byte %" PRIu64 ", the file at byte %zu",
                        s->label, at > UINT64_MAX - table ? UINT64_MAX : at + table, s->size);
    return CORRAL_OK;
}

static enum corral_err libelf_says(const struct symbol_index *s, const char *what, struct diag *d)
{
    return diag_set(d, CORRAL_ERR_ELF, "%.150s: %s cannot be read: %.60s", s->label, what, elf_errmsg(-1));
}

static enum corral_err no_memory(const struct symbol_index *s, struct diag *d)
{
    return diag_set(d, CORRAL_ERR_NO_MEMORY, "%.150s: out of memory for its sections", s->label);
}

/* Those the original host tool leaves out (profiler sheet 9): gone when the program runs, or run once before
 * anything is sampled. */
static bool is_left_out(const struct symbol_index *s, const char *name)
{
    static const char *const names[] = {".debug", ".protect", ".flash_entry", ".codeloader", ".downloader"};
    static const char *const prefixes[] = {".init", ".exit", ".upgrade."};
    if (s->machine != SYMBOL_MACHINE_UBICOM32)
        return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

static int compare_sections(const void *a, const void *b)
{
    const struct symbol_section *x = a;
    const struct symbol_section *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->limit < y->limit ? -1 : x->limit > y->limit;
}

/* Finds the symbol table and notes the executable sections. */
static enum corral_err read_sections(struct symbol_index *s, Elf_Scn **symtab, struct diag *d)
{
    size_t strings = 0;
    if (elf_getshdrstrndx(s->elf, &strings) != 0)
        strings = 0;
    s->code = calloc(SYMBOL_MAX_CODE, sizeof(*s->code));
    s->code_reach = calloc(SYMBOL_MAX_CODE, sizeof(*s->code_reach));
    if (!s->code || !s->code_reach)
        return no_memory(s, d);
    *symtab = NULL;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(s->elf, section)) != NULL;) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            return libelf_says(s, "a section header", d);
        bool in_file = header.sh_type != SHT_NOBITS && header.sh_type != SHT_NULL;
        if (in_file && (header.sh_offset > s->size || header.sh_size > s->size - header.sh_offset))
            return diag_set(d, CORRAL_ERR_ELF, "%.150s: cut: section %zu ends behind the end of the file",
                            s->label, elf_ndxscn(section));
        if (header.sh_type == SHT_SYMTAB && !*symtab)
            *symtab = section;
        if (!(header.sh_flags & SHF_EXECINSTR) || !(header.sh_flags & SHF_ALLOC))
            continue;
        const char *raw = elf_strptr(s->elf, strings, header.sh_name);
        if (raw && is_left_out(s, raw))
            continue;
        if (s->code_count == SYMBOL_MAX_CODE)
            return diag_set(d, CORRAL_ERR_LIMIT, "%.150s: more than the %u executable sections that are read",
                            s->label, SYMBOL_MAX_CODE);
        /* Behind the last address there is none: a section that claims to go on is taken up to it. */
        uint64_t room = symbol_room(s, header.sh_addr);
        if (header.sh_size == 0 || room == 0)
            continue;
        s->code[s->code_count++] = (struct symbol_section){
            .name = raw ? symbol_clean(s, raw) : "",
            .start = header.sh_addr,
            .limit = header.sh_addr + (header.sh_size > room ? room : header.sh_size),
            .file_offset = in_file ? header.sh_offset : SYMBOL_NO_BYTES,
        };
    }
    qsort(s->code, s->code_count, sizeof(*s->code), compare_sections);
    for (size_t i = 0; i < s->code_count; i++)
        s->code_reach[i] =
            i > 0 && s->code_reach[i - 1] > s->code[i].limit ? s->code_reach[i - 1] : s->code[i].limit;
    return CORRAL_OK;
}

/* What the loader copies where; a damaged table only costs the look-up by file offset. */
static enum corral_err read_segments(struct symbol_index *s, struct diag *d)
{
    size_t count = 0;
    if (elf_getphdrnum(s->elf, &count) != 0)
        return CORRAL_OK;
    if (count > SYMBOL_MAX_SEGMENTS)
        count = SYMBOL_MAX_SEGMENTS;
    s->segments = calloc(count ? count : 1, sizeof(*s->segments));
    if (!s->segments)
        return no_memory(s, d);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(s->elf, (int)i, &header))
            return CORRAL_OK;
        if (header.p_type == PT_LOAD && header.p_filesz > 0)
            s->segments[s->segment_count++] =
                (struct symbol_segment){header.p_vaddr, header.p_offset, header.p_filesz};
    }
    return CORRAL_OK;
}

static void read_build_id(struct symbol_index *s)
{
    static const char digits[] = "0123456789abcdef";
    const void *bytes = NULL;
    ssize_t size = dwelf_elf_gnu_build_id(s->elf, &bytes);
    if (size <= 0 || (size_t)size > SYMBOL_MAX_BUILD_ID)
        return;
    for (size_t i = 0; i < (size_t)size; i++) {
        uint8_t byte = ((const uint8_t *)bytes)[i];
        s->build_id[2 * i] = digits[byte >> 4];
        s->build_id[2 * i + 1] = digits[byte & 15];
    }
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
    s->mode_bit = s->machine == SYMBOL_MACHINE_ARM;
    if (s->machine == SYMBOL_MACHINE_MIPS && (header.e_flags & MIPS_COMPRESSED)) {
        s->mode_bit = true;
        s->alignment = 2;
    }
    s->entry = header.e_entry;
    if (s->mode_bit)
        s->entry &= ~UINT64_C(1);
    Elf_Scn *symtab = NULL;
    err = read_sections(s, &symtab, d);
    if (err == CORRAL_OK)
        err = read_segments(s, d);
    if (err != CORRAL_OK)
        return err;
    read_build_id(s);
    if (!symtab) {
        diag_set(d, CORRAL_ERR_NO_SYMBOL, "%.150s: has no symbol table, so its code has no names", s->label);
        diag_hint(d, "give the file as the linker wrote it, not a stripped copy");
        return CORRAL_ERR_NO_SYMBOL;
    }
    return symbol_table_load(s, symtab, d);
}
