/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector table and reset of both images: copies data, clears bss, calls core_main. Handlers are weak: an
 * image defines those it uses. It must not call anything that needs data before the copy.
 */
#include "firmware/board.h"

extern uint32_t image_data_start[], image_data_end[], image_data_load[];
extern uint32_t image_bss_start[], image_bss_end[], image_stack_top[];

void core_main(void);
void reset_handler(void);
void fault_handler(void);
void systick_handler(void);
void mailbox_handler(void);
void timer_handler(void);

__attribute__((weak)) void fault_handler(void)
{
    for (;;)
        ;
}

__attribute__((weak)) void systick_handler(void) {}

__attribute__((weak)) void mailbox_handler(void) {}

__attribute__((weak)) void timer_handler(void) {}

__attribute__((noreturn)) void reset_handler(void)
{
    const uint32_t *from = image_data_load;
    for (uint32_t *to = image_data_start; to < image_data_end; to++)
        *to = *from++;
    for (uint32_t *to = image_bss_start; to < image_bss_end; to++)
        *to = 0;
    reg_write(SCS_VTOR, BOARD_FLASH_BASE);
    core_main();
    for (;;)
        ;
}

typedef void (*vector)(void);

__attribute__((section(".vectors"), used)) static const vector vectors[16 + 4] = {
    (vector)(uintptr_t)image_stack_top,
    reset_handler,
    fault_handler, /* NMI */
    fault_handler, /* HardFault */
    fault_handler, /* MemManage */
    fault_handler, /* BusFault */
    fault_handler, /* UsageFault */
    0,
    0,
    0,
    0,
    fault_handler, /* SVCall */
    fault_handler, /* DebugMonitor */
    0,
    fault_handler, /* PendSV */
    systick_handler,
    mailbox_handler, /* BOARD_IRQ_MAILBOX */
    timer_handler,   /* BOARD_IRQ_TIMER */
    fault_handler,   /* BOARD_IRQ_CTI0 */
    fault_handler,   /* BOARD_IRQ_CTI1 */
};
