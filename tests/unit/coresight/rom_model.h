/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A debug port with one MEM-AP whose memory is a list of words, for tests of discovery: component registers
 * and ROM tables are put together word by word, faults and WAITs where wanted. What is not put reads 0.
 */
#ifndef CORRAL_TESTS_ROM_MODEL_H
#define CORRAL_TESTS_ROM_MODEL_H

#include "coresight/discovery.h"
#include "coresight/rom_table.h"

#define ROM_MODEL_WORDS 8192
#define TABLE           0xE00FF000u

struct memory {
    struct host_clock *clock;
    struct {
        uint32_t address, value;
    } words[ROM_MODEL_WORDS];
    size_t count;
    uint32_t base, cfg, idr;
    uint32_t aps;         /* bit n: AP n is there, all with the same memory; AP 0 alone by default */
    uint64_t asked;       /* bit n: the IDR of AP n < 64 was read */
    uint32_t asked_above; /* so many IDRs of others were read */
    uint32_t dead_ap;     /* everything behind this AP faults; 0 = none */
    uint32_t dead_idr;    /* this AP's own registers fault; 0 = none */
    uint32_t hang_from;   /* AP numbers from here on: WAIT without end; 0 = none */
    uint32_t fault_block; /* 4 KiB that fault; 0 = none */
    uint32_t wait_from;   /* from here on everything is WAIT without end; 0 = nothing */
    uint32_t fault_word;
    bool sticky_at_attach;
    bool no_power;
    bool random;
    uint32_t seed;
    uint32_t ctrl_stat;
    uint32_t highest_in_table; /* of the words read in TABLE's block below the ID registers */
    size_t reads, writes;
    bool may_write; /* else a write fails the test: discovery reads only */
    /* A power domain: words from `off_from` to `off_to` fault until the register is written with the bit. */
    uint32_t off_from, off_to, power_register, power_bit, ack_register, ack_value;
    bool power_is_refused;
};

struct memory *new_memory(void);
void free_memory(struct memory *m);
struct link *open_memory(struct memory *m);
void put(struct memory *m, uint32_t address, uint32_t value);
/* Identification registers; upper bytes are garbage that has to be masked (B7). */
void component(struct memory *m, uint32_t address, unsigned component_class, unsigned designer,
               unsigned part);
void arch(struct memory *m, uint32_t address, uint32_t devarch, uint32_t devid, uint32_t devtype);
uint32_t to(uint32_t table, uint32_t address); /* a present class 1 entry */
/* A Cortex-M7 with what its table usually lists. */
void usual(struct memory *m);

struct cs_topology *scan(struct memory *m);
struct cs_topology *scan_with(struct memory *m, const struct cs_hints *hints);
const struct cs_component *at(const struct cs_topology *t, uint64_t address); /* or NULL */
const char *error_at(const struct cs_topology *t, uint64_t address);          /* "" when it is not listed */
/* Is there a refusal with these words? */
bool is_refused(const struct cs_topology *t, const char *words);

#endif
