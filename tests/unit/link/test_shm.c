/* SPDX-License-Identifier: Apache-2.0 */
/* The link to mapped memory: words, bounds, a file that shrinks, a second user, a device with a driver. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "link/shm.h"

struct bench {
    struct host_clock *clock;
    char folder[32];
    char file[64];
    char spec[128];
};

static int set_up(void **state)
{
    struct bench *b = calloc(1, sizeof(*b));
    assert_non_null(b);
    b->clock = host_clock_new_real();
    strcpy(b->folder, "shm-XXXXXX");
    assert_non_null(mkdtemp(b->folder));
    snprintf(b->file, sizeof(b->file), "%s/memory@home", b->folder);
    snprintf(b->spec, sizeof(b->spec), "shm:%s@0x20000000", b->file);
    FILE *f = fopen(b->file, "wb");
    assert_non_null(f);
    for (int i = 0; i < 8192; i++)
        putc(i * 7, f);
    fclose(f);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    char command[64];
    snprintf(command, sizeof(command), "rm -r %s", b->folder);
    assert_int_equal(system(command), 0);
    host_clock_free(b->clock);
    free(b);
    return 0;
}

static struct link *opened(struct bench *b, const char *spec)
{
    struct diag d = DIAG_INIT;
    struct link *link = link_shm_open(spec, b->clock, &d);
    if (!link)
        fail_msg("%s", d.message);
    return link;
}

static void refused(struct bench *b, const char *spec, enum corral_err code, const char *word)
{
    struct diag d = DIAG_INIT;
    assert_null(link_shm_open(spec, b->clock, &d));
    assert_int_equal(d.code, code);
    assert_non_null(strstr(d.message, word));
}

static void reads_and_writes_the_file(void **state)
{
    struct bench *b = *state;
    struct link *link = opened(b, b->spec);
    uint8_t bytes[37], byte;
    uint32_t word;
    uint64_t base, size;
    assert_true(link_shm_range(link, &base, &size));
    assert_int_equal(base, 0x20000000);
    assert_int_equal(size, 8192);
    assert_int_equal(link_read_bytes(link, 0, 0x20000003, bytes, sizeof(bytes), NULL), CORRAL_OK);
    for (size_t i = 0; i < sizeof(bytes); i++)
        assert_int_equal(bytes[i], (uint8_t)((3 + i) * 7));
    assert_int_equal(link_write8(link, 5, 0x20000801, 0xA5, NULL), CORRAL_OK);
    assert_int_equal(link_read8(link, 0, 0x20000801, &byte, NULL), CORRAL_OK);
    assert_int_equal(byte, 0xA5);
    assert_int_equal(link_write32(link, 0, 0x20001ffc, 0x11223344, NULL), CORRAL_OK);
    assert_int_equal(link_read32(link, 0, 0x20001ffc, &word, NULL), CORRAL_OK);
    assert_int_equal(word, 0x11223344);
    link_close(link);
    int fd = open(b->file, O_RDONLY);
    assert_int_equal(pread(fd, bytes, 4, 0x1ffc), 4);
    assert_memory_equal(bytes, "\x44\x33\x22\x11", 4); /* little-endian in the file */
    assert_int_equal(pread(fd, bytes, 3, 0x800), 3);
    assert_int_equal(bytes[0], (uint8_t)(0x800 * 7)); /* a byte store is a byte store */
    assert_int_equal(bytes[1], 0xA5);
    assert_int_equal(bytes[2], (uint8_t)(0x802 * 7));
    close(fd);
}

static void bounds_are_kept(void **state)
{
    struct bench *b = *state;
    struct link *link = opened(b, b->spec);
    static const struct {
        uint64_t address;
        size_t size;
    } outside[] = {{0x1fffffff, 1}, {0x1ffffffc, 8}, {0x20002000, 1}, {0x20001fff, 2},
                   {0x20001ffc, 8}, {0, 4},          {0xfffffffc, 4}, {0x20000000, 8193}};
    uint8_t *buffer = malloc(16384);
    assert_non_null(buffer);
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        struct diag d = DIAG_INIT;
        assert_int_equal(link_read_bytes(link, 0, outside[i].address, buffer, outside[i].size, &d),
                         CORRAL_ERR_LINK_FAULT);
        assert_non_null(strstr(d.message, "outside the mapped"));
    }
    assert_int_equal(link_read_bytes(link, 0, 0x20000000, buffer, 8192, NULL), CORRAL_OK);
    free(buffer);
    uint32_t v;
    assert_int_equal(link_read_ap(link, 0, 0xFC, &v, NULL), CORRAL_ERR_UNSUPPORTED);
    link_close(link);
}

static void file_that_shrinks_is_an_error(void **state)
{
    struct bench *b = *state;
    struct link *link = opened(b, b->spec);
    uint32_t word;
    assert_int_equal(truncate(b->file, 4096), 0);
    assert_int_equal(link_read32(link, 0, 0x20001000, &word, NULL), CORRAL_ERR_LINK_DOWN);
    assert_int_equal(truncate(b->file, 0), 0);
    assert_int_equal(link_read32(link, 0, 0x20000000, &word, NULL), CORRAL_ERR_LINK_DOWN);
    link_close(link);
}

static void words_are_checked(void **state)
{
    struct bench *b = *state;
    refused(b, "shm:", CORRAL_ERR_USAGE, "a path");
    refused(b, "shm:@0x20000000", CORRAL_ERR_USAGE, "a path");
    refused(b, "shm:x@0x20000002", CORRAL_ERR_USAGE, "divisible by 4");
    refused(b, "shm:x@0x100000000", CORRAL_ERR_USAGE, "below 4 GiB");
    refused(b, "shm:x@99999999999999999999999", CORRAL_ERR_USAGE, "below 4 GiB");
    refused(b, "shm:no/such", CORRAL_ERR_LINK_DOWN, "no/such");
    refused(b, "shm:.", CORRAL_ERR_LINK_DOWN, ".");
    refused(b, "shm:/dev/null", CORRAL_ERR_LINK_DOWN, "not a file with contents");
    /* an @ that is part of the name */
    char spec[128];
    snprintf(spec, sizeof(spec), "shm:%s", b->file);
    struct link *link = opened(b, spec);
    uint64_t base, size;
    assert_true(link_shm_range(link, &base, &size));
    assert_int_equal(base, 0);
    link_close(link);
    assert_int_equal(truncate(b->file, 0), 0);
    refused(b, b->spec, CORRAL_ERR_LINK_DOWN, "not a file with contents");
}

static void case_40_second_user_is_refused(void **state)
{
    struct bench *b = *state;
    struct link *link = opened(b, b->spec);
    refused(b, b->spec, CORRAL_ERR_LINK_DOWN, "in use by another corral");
    link_close(link);
    link_close(opened(b, b->spec));
}

static void file_that_ends_above_4_gib_is_cut(void **state)
{
    struct bench *b = *state;
    char spec[128];
    uint64_t base, size;
    snprintf(spec, sizeof(spec), "shm:%s@0xfffff000", b->file);
    struct link *link = opened(b, spec);
    assert_true(link_shm_range(link, &base, &size));
    assert_int_equal(size, 4096);
    uint32_t word;
    assert_int_equal(link_read32(link, 0, 0xfffffffc, &word, NULL), CORRAL_OK);
    link_close(link);
}

static void device_with_a_driver_is_refused(void **state)
{
    struct bench *b = *state;
    char path[128], resource[128], spec[160];
    snprintf(resource, sizeof(resource), "%s/resource2", b->folder);
    assert_int_equal(rename(b->file, resource), 0);
    snprintf(spec, sizeof(spec), "shm:%s@0", resource);
    link_close(opened(b, spec)); /* nobody owns it */
    snprintf(path, sizeof(path), "%s/driver", b->folder);
    assert_int_equal(symlink("../../../bus/pci/drivers/tenstorrent", path), 0);
    struct diag d = DIAG_INIT;
    assert_null(link_shm_open(spec, b->clock, &d));
    assert_int_equal(d.code, CORRAL_ERR_LINK_DOWN);
    assert_non_null(strstr(d.message, "'tenstorrent'"));
    assert_non_null(strstr(d.hint, "--device"));
    /* whatever name leads to it */
    snprintf(path, sizeof(path), "%s/card", b->folder);
    assert_int_equal(symlink("resource2", path), 0);
    char other[160];
    snprintf(other, sizeof(other), "shm:%s@0", path);
    assert_null(link_shm_open(other, b->clock, &d));
    assert_int_equal(d.code, CORRAL_ERR_LINK_DOWN);
    unlink(path);
    /* only a resource file is a device's */
    snprintf(path, sizeof(path), "%s/dump.bin", b->folder);
    assert_int_equal(rename(resource, path), 0);
    snprintf(spec, sizeof(spec), "shm:%s", path);
    link_close(opened(b, spec));
}

/* A dump that belongs to somebody else: it can be looked at, and a store says what to do instead. */
static void file_that_may_only_be_read(void **state)
{
    struct bench *b = *state;
    struct diag d = DIAG_INIT;
    uint8_t byte = 0;
    assert_int_equal(chmod(b->folder, 0755), 0);
    assert_int_equal(chmod(b->file, 0444), 0);
    bool root = geteuid() == 0;
    if (root && seteuid(65534) != 0)
        skip();
    struct link *link = link_shm_open(b->spec, b->clock, &d);
    if (root)
        assert_int_equal(seteuid(0), 0);
    if (!link && root)
        skip(); /* nobody may not look into the folders above */
    assert_non_null(link);
    assert_int_equal(link_read_bytes(link, 0, 0x20000003, &byte, 1, &d), CORRAL_OK);
    assert_int_equal(byte, 21);
    assert_int_equal(link_write8(link, 0, 0x20000003, 0, &d), CORRAL_ERR_LINK_FAULT);
    assert_non_null(strstr(d.message, "only be read"));
    assert_non_null(strstr(d.hint, "decode tlog"));
    link_close(link);
}

#define BENCH_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BENCH_TEST(reads_and_writes_the_file),       BENCH_TEST(bounds_are_kept),
        BENCH_TEST(file_that_shrinks_is_an_error),   BENCH_TEST(words_are_checked),
        BENCH_TEST(case_40_second_user_is_refused),  BENCH_TEST(file_that_ends_above_4_gib_is_cut),
        BENCH_TEST(device_with_a_driver_is_refused), BENCH_TEST(file_that_may_only_be_read),
    };
    return cmocka_run_group_tests_name("shm", tests, NULL, NULL);
}
