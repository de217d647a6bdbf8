/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-in (see zephyr/kernel.h): the usual output flags. */
#ifndef CORRAL_TESTS_ZEPHYR_LOG_BACKEND_STD_H
#define CORRAL_TESTS_ZEPHYR_LOG_BACKEND_STD_H

#include <zephyr/kernel.h>

static inline uint32_t log_backend_std_get_flags(void)
{
    return 3; /* level and timestamp */
}

#endif
