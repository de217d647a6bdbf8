/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `make bench`: from addresses to functions, inlined functions, files and lines on a large ELF file, a second
 * and from a cold start, beside addr2line and llvm-symbolizer on the same file and addresses, all in seconds
 * of processor time. It writes and compiles that file with tests/peers/symbols/symbols_program.py, unless one
 * is given. Reports, asserts nothing. Usage: bench_symbol PYTHON PROGRAM.py | bench_symbol FILE.elf
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbol/symbol.h"

#define ADDRESSES 100000u
#define ROUNDS    20u
#define COLD      5u

/* Processor time, of this process or of those it ran: other load on the machine does not count. */
static double spent(int who)
{
    struct rusage u;
    getrusage(who, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

static bool run(const char *command)
{
    return system(command) == 0;
}

static bool build(const char *python, const char *program, const char *folder)
{
    char command[2048];
    snprintf(command, sizeof(command),
             "cd '%s' && '%s' '%s' . 4 250 1000 >names && for f in $(cat names); do clang-14 "
             "--target=thumbv7em-none-eabi -O2 -g -w -ffreestanding -c $f || exit 1; done && "
             "ld.lld-14 -Ttext=0x08000000 -e _start *.o -o big.elf",
             folder, python, program);
    return run(command);
}

/* Addresses all over the code, the same in each run. */
static void choose(const struct symbol_index *s, uint64_t *addresses)
{
    uint64_t seed = 1;
    size_t sections = symbol_section_count(s);
    for (size_t i = 0; i < ADDRESSES; i++) {
        struct symbol_section section;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        if (!symbol_section_get(s, (size_t)(seed >> 60) % sections, &section))
            return;
        addresses[i] = section.start + (seed >> 20) % (section.limit - section.start);
        addresses[i] -= addresses[i] % symbol_alignment(s);
    }
}

static void peer(const char *name, const char *command, const char *elf, const char *folder, double cold,
                 double rate)
{
    char line[1024];
    double best = -1;
    snprintf(line, sizeof(line), "command -v %s >/dev/null 2>&1", name);
    if (!run(line)) {
        printf("%s is not installed: left out\n", name);
        return;
    }
    snprintf(line, sizeof(line), "head -n 1 '%s/addresses' | %s '%s' >/dev/null 2>&1", folder, command, elf);
    for (unsigned i = 0; i < COLD; i++) {
        double start = spent(RUSAGE_CHILDREN);
        bool ok = run(line);
        double took = spent(RUSAGE_CHILDREN) - start;
        if (ok && (best < 0 || took < best))
            best = took;
    }
    snprintf(line, sizeof(line), "%s '%s' <'%s/addresses' >/dev/null 2>&1", command, elf, folder);
    double start = spent(RUSAGE_CHILDREN);
    run(line);
    double all = spent(RUSAGE_CHILDREN) - start;
    printf("%s: cold start %.0f ms (ours takes %.2f of that), then %.0f thousand addresses/s "
           "(ours: %.1f times as many)\n",
           name, best * 1e3, cold / best, ADDRESSES / all / 1e3, rate * all / ADDRESSES);
}

static int bench(const char *elf, const char *folder)
{
    static uint64_t addresses[ADDRESSES];
    char path[512];
    struct diag d = DIAG_INIT;
    struct stat st;
    double cold = -1;
    struct symbol_index *s = NULL;
    for (unsigned i = 0; i < COLD; i++) {
        symbol_close(s);
        double start = spent(RUSAGE_SELF);
        s = symbol_open(elf, &d);
        double took = spent(RUSAGE_SELF) - start;
        if (!s) {
            fprintf(stderr, "%s\n", d.message);
            return 1;
        }
        cold = cold < 0 || took < cold ? took : cold;
    }
    choose(s, addresses);
    uint64_t frames = 0, sum = 0;
    double start = spent(RUSAGE_SELF);
    for (unsigned round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < ADDRESSES; i++) {
            struct symbol_frame out[16];
            size_t n = symbol_frames(s, addresses[i], out, 16);
            frames += n;
            sum += n > 0 ? out[0].line : 0;
        }
    double rate = (double)ADDRESSES * ROUNDS / (spent(RUSAGE_SELF) - start);
    printf(
        "symbols: %.2f million addresses/s with inlines (target 1), %.1f frames each; cold start %.0f ms for "
        "%.1f MB and %zu functions (checksum %" PRIu64 ")\n",
        rate * 1e-6, (double)frames / ROUNDS / ADDRESSES, cold * 1e3,
        stat(elf, &st) == 0 ? (double)st.st_size * 1e-6 : 0.0, symbol_function_count(s), sum);
    snprintf(path, sizeof(path), "%s/addresses", folder);
    FILE *f = fopen(path, "w");
    for (size_t i = 0; f && i < ADDRESSES; i++)
        fprintf(f, "0x%" PRIx64 "\n", addresses[i]);
    symbol_close(s);
    if (!f || fclose(f) != 0)
        return 1;
    peer("arm-none-eabi-addr2line", "arm-none-eabi-addr2line -f -i -e", elf, folder, cold, rate);
    peer("llvm-symbolizer", "llvm-symbolizer --inlines -e", elf, folder, cold, rate);
    return 0;
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/bench-symbol-XXXXXX";
    char text[128];
    if (argc < 2 || argc > 3 || !mkdtemp(folder)) {
        fprintf(stderr, "usage: bench_symbol PYTHON PROGRAM.py | bench_symbol FILE.elf\n");
        return 2;
    }
    int code = 0;
    snprintf(text, sizeof(text), "%s/big.elf", folder);
    if (argc == 3 && !build(argv[1], argv[2], folder))
        printf("symbols: the program to look at cannot be built (clang-14, ld.lld-14): left out\n");
    else
        code = bench(argc == 3 ? text : argv[1], folder);
    snprintf(text, sizeof(text), "rm -r '%s'", folder);
    run(text);
    return code;
}
