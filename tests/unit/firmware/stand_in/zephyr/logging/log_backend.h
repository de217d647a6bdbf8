/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in (see zephyr/kernel.h): messages and back ends. */
#ifndef CORRAL_TESTS_ZEPHYR_LOG_BACKEND_H
#define CORRAL_TESTS_ZEPHYR_LOG_BACKEND_H

#include <zephyr/kernel.h>

#define LOG_LEVEL_NONE 0

typedef uint64_t log_timestamp_t;

struct log_msg {
    uint8_t level;
    const void *source;
    log_timestamp_t timestamp;
    const char *text; /* formatted: this is no formatter */
};
union log_msg_generic {
    struct log_msg log;
};

static inline uint8_t log_msg_get_level(const struct log_msg *msg)
{
    return msg->level;
}
static inline const void *log_msg_get_source(struct log_msg *msg)
{
    return msg->source;
}
static inline log_timestamp_t log_msg_get_timestamp(const struct log_msg *msg)
{
    return msg->timestamp;
}

struct log_backend;
struct log_backend_api {
    void (*process)(const struct log_backend *const backend, union log_msg_generic *msg);
    void (*dropped)(const struct log_backend *const backend, uint32_t count);
    void (*panic)(const struct log_backend *const backend);
    void (*init)(const struct log_backend *const backend);
};
struct log_backend {
    const struct log_backend_api *api;
    bool autostart;
};
/* Zephyr puts it into a linker section; here it is a plain symbol. */
#define LOG_BACKEND_DEFINE(name, backend_api, start) \
    extern const struct log_backend name;            \
    const struct log_backend name = {.api = &backend_api, .autostart = start}

#endif
