/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in (see zephyr/kernel.h): the formatter, which hands its text over in pieces. */
#ifndef CORRAL_TESTS_ZEPHYR_LOG_OUTPUT_H
#define CORRAL_TESTS_ZEPHYR_LOG_OUTPUT_H

#include <zephyr/logging/log_backend.h>

typedef int (*log_output_func_t)(uint8_t *buf, size_t size, void *ctx);

struct log_output {
    log_output_func_t func;
    uint8_t *buf;
    size_t size;
};
#define LOG_OUTPUT_DEFINE(name, out, buffer, length) \
    static const struct log_output name = {.func = out, .buf = buffer, .size = length}

void log_output_msg_process(const struct log_output *output, struct log_msg *msg, uint32_t flags);

#endif
