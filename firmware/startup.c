/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector table, reset and faults of both images. Reset copies data, clears bss and calls core_main; a fault
 * is logged with its registers, then the core stops in fault_stop. It must not call anything that needs data
 * before the copy.
 */
#include "firmware/journal.h"
#include "firmware/registers.h"

extern uint32_t image_data_start[], image_data_end[], image_data_load[];
extern uint32_t image_bss_start[], image_bss_end[], image_stack_top[];

void core_main(void);
void reset_handler(void);
void fault_handler(void);
void fault_report(const uint32_t *frame);
void fault_stop(void);
void systick_handler(void);
void mailbox_handler(void);
void prof_sampler_interrupt(void);
void doorbell_handler(void);

__attribute__((noreturn)) void reset_handler(void)
{
    const uint32_t *from = image_data_load;
    for (uint32_t *to = image_data_start; to < image_data_end; to++)
        *to = *from++;
    for (uint32_t *to = image_bss_start; to < image_bss_end; to++)
        *to = 0;
    reg_write(SCS_VTOR, BOARD_FLASH_BASE);
    core_main();
    fault_stop();
    for (;;)
        ;
}

/* A loop of its own, so that a debugger's stack trace says what happened. */
__attribute__((noinline)) void fault_stop(void)
{
    for (;;)
        __asm__ volatile("wfi");
}

__attribute__((used)) void fault_report(const uint32_t *frame)
{
    struct line l;
    line_start(&l, "fault: exception ");
    line_decimal(&l, (int64_t)(reg_read(SCS_ICSR) & 0x1FFu));
    uint32_t sp = (uint32_t)(uintptr_t)frame;
    /* A fault of the stacking itself leaves no frame to look at. */
    if (sp >= BOARD_SRAM_BASE && sp <= BOARD_SRAM_BASE + BOARD_SRAM_SIZE - 32) {
        line_text(&l, ", pc ");
        line_hex(&l, frame[6]);
        line_text(&l, ", lr ");
        line_hex(&l, frame[5]);
    }
    line_text(&l, ", CFSR ");
    line_hex(&l, reg_read(SCS_CFSR));
    line_text(&l, ", HFSR ");
    line_hex(&l, reg_read(SCS_HFSR));
    line_text(&l, "; core stopped");
    journal_fault(&l);
    fault_stop();
}

__attribute__((naked)) void fault_handler(void)
{
    __asm__ volatile("mov r0, sp\n" TAIL_CALL("fault_report"));
}

/* An image that does not use the doorbell never enables it. */
__attribute__((weak, alias("fault_handler"))) void doorbell_handler(void);

typedef void (*vector)(void);

__attribute__((section(".vectors"), used)) static const vector vectors[16 + 5] = {
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
    mailbox_handler,        /* BOARD_IRQ_MAILBOX */
    prof_sampler_interrupt, /* BOARD_IRQ_TIMER */
    fault_handler,          /* BOARD_IRQ_CTI0 */
    fault_handler,          /* BOARD_IRQ_CTI1 */
    doorbell_handler,
};
