/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `make bench`: how long a device of a pack takes to be loaded and checked, and all its devices. Milliseconds
 * of processor time, the best of some rounds. Reports, asserts nothing. Usage: bench_pack FILE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pack/pack.h"

#define ROUNDS 5u

static double spent(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-3;
}

/* The device of this number; its sequences, or 0 with its words said. */
static size_t check(struct pack_file *file, size_t number, size_t *errors)
{
    struct diag d = DIAG_INIT;
    struct sequence_problems p = {0};
    size_t count = 0;
    struct pack_device *device = pack_describe(file, pack_device_name(file, number), &p, &d);
    struct sequence_program *program = device ? pack_compile(device, &p, &d) : NULL;
    if (program)
        count = sequence_count(program);
    else
        fprintf(stderr, "%s\n", d.message);
    *errors += p.errors;
    sequence_program_free(program);
    sequence_problems_clear(&p);
    pack_device_free(device);
    return count;
}

static int bench(const char *path)
{
    const char *slash = strrchr(path, '/');
    double load = -1, one = -1, all = -1;
    size_t devices = 0, sequences = 0, errors = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct diag d = DIAG_INIT;
        double start = spent();
        struct pack_file *file = pack_open(path, NULL, NULL, &d);
        double loaded = spent();
        if (!file) {
            fprintf(stderr, "%s\n", d.message);
            return 1;
        }
        devices = pack_device_count(file);
        sequences = errors = 0;
        if (devices)
            sequences = check(file, 0, &errors);
        double first = spent();
        for (size_t i = 1; i < devices; i++)
            sequences += check(file, i, &errors);
        double last = spent();
        pack_close(file);
        load = load < 0 || loaded - start < load ? loaded - start : load;
        one = one < 0 || first - start < one ? first - start : one;
        all = all < 0 || last - start < all ? last - start : all;
    }
    printf("pack: %s: loaded in %.1f ms, with one device checked %.1f ms (target 100), with all %zu devices "
           "(%zu sequences, %zu errors) %.1f ms\n",
           slash ? slash + 1 : path, load, one, devices, sequences, errors, all);
    return 0;
}

int main(int argc, char **argv)
{
    int code = 0;
    for (int i = 1; i < argc; i++) {
        if (access(argv[i], R_OK) == 0)
            code |= bench(argv[i]);
        else
            printf("pack: there is no %s: left out\n", argv[i]);
    }
    return code;
}
