/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiled program in the oracle's memory: a loader for what our own build made (ELF32, TIS 1.2).
 */
#include "oracle_program.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

static bool load_segment(struct oracle *o, FILE *f, const Elf32_Phdr *p)
{
    uint8_t *to = NULL;

    if (p->p_vaddr >= ORACLE_CODE && p->p_vaddr - ORACLE_CODE <= ORACLE_CODE_SIZE &&
        p->p_filesz <= ORACLE_CODE_SIZE - (p->p_vaddr - ORACLE_CODE))
        to = o->code + (p->p_vaddr - ORACLE_CODE);
    if (p->p_vaddr >= ORACLE_RAM && p->p_vaddr - ORACLE_RAM <= ORACLE_RAM_SIZE &&
        p->p_filesz <= ORACLE_RAM_SIZE - (p->p_vaddr - ORACLE_RAM))
        to = o->ram + (p->p_vaddr - ORACLE_RAM);
    return to && fseek(f, (long)p->p_offset, SEEK_SET) == 0 && fread(to, 1, p->p_filesz, f) == p->p_filesz;
}

static bool load(struct oracle *o, const char *path, uint32_t *entry)
{
    FILE *f = fopen(path, "rb");
    Elf32_Ehdr h;
    bool ok;

    if (!f)
        return false;
    ok = fread(&h, sizeof h, 1, f) == 1 && memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_machine == EM_ARM;
    for (unsigned k = 0; ok && k < h.e_phnum; k++) {
        Elf32_Phdr p;
        ok = fseek(f, (long)(h.e_phoff + k * sizeof p), SEEK_SET) == 0 && fread(&p, sizeof p, 1, f) == 1;
        if (ok && p.p_type == PT_LOAD)
            ok = load_segment(o, f, &p);
    }
    fclose(f);
    *entry = h.e_entry;
    return ok;
}

bool oracle_program_start(struct oracle *o, const char *path)
{
    uint32_t entry = 0;

    memset(o->ram, 0, ORACLE_RAM_SIZE);
    if (!load(o, path, &entry))
        return false;
    memcpy(o->uc_ram, o->ram, ORACLE_RAM_SIZE);
    cpu_reset(&o->cpu);
    cpu_set_xpsr(&o->cpu, 1u << 24);
    o->cpu.r[CPU_SP] = ORACLE_RAM + ORACLE_RAM_SIZE;
    o->cpu.r[CPU_PC] = entry & ~1u;
    o->cpu.instructions = 0;
    oracle_copy_registers(o);
    return true;
}
