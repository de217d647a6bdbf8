/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs as makers ship them, from FOLDER (shared/packs, never copied): their devices, processors and access
 * ports, and that every sequence of every device checks without an error. usage: test_pdsc_real FOLDER
 */
#include "pdsc_texts.h"

#include <unistd.h>

struct real {
    const char *folder;
};

static struct pack_file *open_real(void **state, const char *name)
{
    const struct real *real = *state;
    char path[4096];
    struct diag d = DIAG_INIT;
    struct sequence_problems p = {0};
    snprintf(path, sizeof(path), "%s/%s", real->folder, name);
    if (access(path, R_OK) != 0) {
        print_message("# skipped: there is no %s\n", path);
        skip();
    }
    struct pack_file *file = pack_open(path, NULL, &p, &d);
    if (!file && d.code == CORRAL_ERR_UNSUPPORTED)
        skip();
    if (!file)
        fail_msg("%s", d.message);
    assert_int_equal(p.count, 0);
    return file;
}

static struct pack_device *describe_real(struct pack_file *file, const char *name)
{
    struct diag d = DIAG_INIT;
    struct sequence_problems p = {0};
    struct pack_device *device = pack_describe(file, name, &p, &d);
    if (!device)
        fail_msg("%s", d.message);
    assert_int_equal(p.errors, 0);
    sequence_problems_clear(&p);
    return device;
}

static void check_all(struct pack_file *file)
{
    for (size_t i = 0; i < pack_device_count(file); i++) {
        struct diag d = DIAG_INIT;
        struct sequence_problems p = {0};
        struct pack_device *device = describe_real(file, pack_device_name(file, i));
        struct sequence_program *program = pack_compile(device, &p, &d);
        if (!program)
            fail_msg("%s", d.message);
        if (p.errors)
            fail_msg("%s: %u:%u: %s", device->name, p.list[0].place.line, p.list[0].place.column,
                     p.list[0].text);
        sequence_program_free(program);
        sequence_problems_clear(&p);
        pack_device_free(device);
    }
}

static void test_stm32h7(void **state)
{
    struct pack_file *file = open_real(state, "Keil.STM32H7xx_DFP.pdsc");
    assert_int_equal(pack_device_count(file), 166);
    struct pack_device *device = describe_real(file, "STM32H747XIHx");
    assert_int_equal(device->processor_count, 2);
    const struct pack_processor *m7 = pack_processor_named(device, "CM7");
    const struct pack_processor *m4 = pack_processor_named(device, "CM4");
    assert_true(m7 && m4);
    assert_string_equal(m7->core, "Cortex-M7");
    assert_int_equal(m7->ap, 0);
    assert_string_equal(m4->core, "Cortex-M4");
    assert_int_equal(m4->ap, 3);
    assert_int_equal(device->protocol, PACK_PROTOCOL_SWD);
    assert_int_equal(device->clock_hz, 400000000);
    assert_true(device->swj);
    /* The description was taken out of its pack, and its SDF lies beside it. */
    assert_non_null(device->sdf);
    assert_true(device->sdf->core_count >= 2);
    pack_device_free(device);
    device = describe_real(file, "STMicroelectronics::stm32h743xihx");
    assert_int_equal(device->processor_count, 1);
    assert_string_equal(device->processors[0].pname, "");
    pack_device_free(device);
    check_all(file);
    pack_close(file);
}

static void test_stm32n6(void **state)
{
    struct pack_file *file = open_real(state, "Keil.STM32N6xx_DFP.pdsc");
    assert_int_equal(pack_device_count(file), 24);
    for (size_t i = 0; i < 24; i++) {
        struct pack_device *device = describe_real(file, pack_device_name(file, i));
        assert_int_equal(device->processor_count, 1);
        assert_string_equal(device->processors[0].core, "Cortex-M55");
        assert_int_equal(device->processors[0].ap, 1);
        pack_device_free(device);
    }
    check_all(file);
    pack_close(file);
}

static void test_stm32l5(void **state)
{
    struct pack_file *file = open_real(state, "Keil.STM32L5xx_DFP.pdsc");
    assert_int_equal(pack_device_count(file), 38);
    struct pack_device *device = describe_real(file, "STM32L552CCTx");
    assert_int_equal(device->processor_count, 1);
    assert_string_equal(device->processors[0].core, "Cortex-M33");
    assert_int_equal(device->processors[0].ap, 0);
    pack_device_free(device);
    check_all(file);
    pack_close(file);
}

static void test_rp2040(void **state)
{
    struct pack_file *file = open_real(state, "RaspberryPi.RP2xxx_DFP.pdsc");
    assert_int_equal(pack_device_count(file), 1);
    struct pack_device *device = describe_real(file, NULL);
    assert_string_equal(device->name, "RP2040");
    assert_int_equal(device->processor_count, 2);
    assert_string_equal(device->processors[0].pname, "Core0");
    assert_string_equal(device->processors[1].pname, "Core1");
    assert_string_equal(device->processors[1].core, "Cortex-M0+");
    pack_device_free(device);
    check_all(file);
    pack_close(file);
}

static void test_rtetest(void **state)
{
    struct pack_file *file = open_real(state, "ARM.RteTest_DFP.0.2.0.pdsc");
    assert_int_equal(pack_device_count(file), 8);
    struct pack_device *device = describe_real(file, "RteTest_ARMCM4_FP");
    assert_int_equal(device->ap_count, 3);
    assert_int_equal(device->port_count, 2);
    assert_int_equal(device->ports[0].tapindex, 7);
    assert_int_equal(device->ports[1].targetsel, 8);
    assert_true(pack_access_port_of(device, 3)->has_parent);
    assert_int_equal(device->protocol, PACK_PROTOCOL_JTAG);
    assert_true(device->dormant);
    assert_false(device->swj);
    pack_device_free(device);
    device = describe_real(file, "RteTest_ARMCM0_Dual");
    const struct pack_processor *core1 = pack_processor_named(device, "cm0_core1");
    assert_non_null(core1);
    assert_int_equal(core1->dp, 1);
    assert_string_equal(core1->reset_sequence, "ResetSystem1");
    pack_device_free(device);
    check_all(file);
    pack_close(file);
}

int main(int argc, char **argv)
{
    static struct real real;
    real.folder = argc > 1 ? argv[1] : "";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_stm32h7, &real), cmocka_unit_test_prestate(test_stm32n6, &real),
        cmocka_unit_test_prestate(test_stm32l5, &real), cmocka_unit_test_prestate(test_rp2040, &real),
        cmocka_unit_test_prestate(test_rtetest, &real),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
