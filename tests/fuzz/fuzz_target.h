/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fuzz target offers: libFuzzer calls it with inputs of its own, fuzz_replay.c with the files of
 * tests/fuzz/corpus/. A broken promise ends the process in both.
 */
#ifndef CORRAL_TESTS_FUZZ_TARGET_H
#define CORRAL_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Not assert: it must hold in release builds, too. */
#define FUZZ_CHECK(condition)                                                       \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                \
        }                                                                           \
    } while (0)

#endif
