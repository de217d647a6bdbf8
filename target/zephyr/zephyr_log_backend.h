/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The firmware log as a Zephyr log back end: what the rest of the firmware has to give it and to ask of it.
 * Options are in the Kconfig file beside this one; docs/target.md has an example.
 */
#ifndef CORRAL_TARGET_ZEPHYR_LOG_BACKEND_H
#define CORRAL_TARGET_ZEPHYR_LOG_BACKEND_H

#include "target/port.h"

/*
 * Defined by the firmware: fill in map_window, read32, write32, raise_irq and ctx. The back end puts its own
 * `now` there, for a record carries the time at which its message was logged. Called once, when the logging
 * subsystem starts.
 */
void zephyr_log_backend_port(struct target_port *port);

/*
 * A message with code 0xC7 from the host: SETUP or RELEASE (target/tlog_control.h). From a thread or a work
 * queue, not from an interrupt: it may wait 100 ms. `response` comes zeroed.
 */
void zephyr_log_backend_message(const uint32_t request[8], uint32_t response[8]);

#endif
