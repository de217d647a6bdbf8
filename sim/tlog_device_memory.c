/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's memory as the emulated firmware sees it: the file behind QEMU's RAM. Every store of the
 * firmware passes tlog_device_dma_write, which refuses what a correct firmware never does (firmware-log
 * sheet 3.5, 3.6).
 */
#include "sim/tlog_device_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bus_guard.h"
#include "base/text.h"

/* QEMU's q35: memory of 2.75 GiB and more is split, 2 GiB below the hole and the rest from 4 GiB on. */
#define RAM_SPLIT_FROM (UINT64_C(11) << 28)
#define RAM_LOW        (UINT64_C(2) << 30)
#define RAM_HIGH_BASE  (UINT64_C(4) << 30)

#define HEADER_OWNER 12u

enum corral_err tlog_device_ram_open(struct tlog_device *dev, struct diag *d)
{
    const char *path = dev->options.ram;
    char name[TEXT_CLEAN_MAX(60)];
    text_escape((const uint8_t *)path, strlen(path), name, sizeof(name));
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        enum corral_err err =
            diag_set(d, CORRAL_ERR_IO, "cannot open the guest's memory %s: %s", name, strerror(errno));
        if (fd >= 0)
            close(fd);
        return err;
    }
    uint64_t size = dev->options.ram_size ? dev->options.ram_size : (uint64_t)st.st_size;
    void *map = MAP_FAILED;
    if (S_ISREG(st.st_mode) && size > 0 && size <= (uint64_t)st.st_size && size <= SIZE_MAX)
        map = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) {
        enum corral_err err = diag_set(d, CORRAL_ERR_IO, "%s, a file of %lld bytes, is no guest's memory",
                                       name, (long long)st.st_size);
        close(fd);
        diag_hint(d, "give QEMU -object memory-backend-file,share=on,mem-path=FILE");
        return err;
    }
    bus_guard_install();
    dev->ram_fd = fd;
    dev->ram = map;
    dev->ram_size = size;
    return CORRAL_OK;
}

void tlog_device_ram_close(struct tlog_device *dev)
{
    if (dev->ram) {
        munmap(dev->ram, (size_t)dev->ram_size);
        close(dev->ram_fd);
    }
    dev->ram = NULL;
}

bool tlog_device_ram_whole(const struct tlog_device *dev)
{
    struct stat st;
    return fstat(dev->ram_fd, &st) == 0 && (uint64_t)st.st_size >= dev->ram_size;
}

struct ram_access {
    uint8_t *at;
    unsigned size;
    uint32_t value;
};

static void do_load(void *ctx)
{
    struct ram_access *a = ctx;
    a->value = a->size == 4   ? __atomic_load_n((const uint32_t *)(const void *)a->at, __ATOMIC_ACQUIRE)
               : a->size == 2 ? (uint32_t)a->at[0] | (uint32_t)a->at[1] << 8
                              : __atomic_load_n(a->at, __ATOMIC_ACQUIRE);
}

static void do_store(void *ctx)
{
    const struct ram_access *a = ctx;
    if (a->size == 4 && (uintptr_t)a->at % 4 == 0)
        __atomic_store_n((uint32_t *)(void *)a->at, a->value, __ATOMIC_RELEASE);
    else
        for (unsigned i = 0; i < a->size; i++)
            __atomic_store_n(a->at + i, (uint8_t)(a->value >> (8 * i)), __ATOMIC_RELEASE);
}

bool tlog_device_ram_load(const uint8_t *at, unsigned size, uint32_t *value)
{
    struct ram_access a = {.at = (uint8_t *)(uintptr_t)at, .size = size};
    if (!bus_guard_run(do_load, &a))
        return false;
    *value = a.value;
    return true;
}

bool tlog_device_ram_store(uint8_t *at, unsigned size, uint32_t value)
{
    struct ram_access a = {at, size, value};
    return bus_guard_run(do_store, &a);
}

uint8_t *tlog_device_ram_at(const struct tlog_device *dev, uint64_t address, uint64_t size)
{
    uint64_t offset = address, end = dev->ram_size;
    if (!dev->ram)
        return NULL;
    if (dev->ram_size >= RAM_SPLIT_FROM) {
        if (address < RAM_HIGH_BASE)
            end = RAM_LOW;
        else
            offset = address - RAM_HIGH_BASE + RAM_LOW;
    }
    if (offset >= end || size > end - offset)
        return NULL;
    return dev->ram + offset;
}

uint32_t tlog_device_ram_read(const struct tlog_device *dev, uint64_t address)
{
    const uint8_t *at = tlog_device_ram_at(dev, address, 4);
    uint32_t value = UINT32_MAX; /* what a read that nobody answers gives */
    if (at && address % 4 == 0)
        tlog_device_ram_load(at, 4, &value);
    return value;
}

static void note(const char **list, uint32_t *count, const char *what)
{
    if (*count < TLOG_DEVICE_NOTES)
        list[*count] = what;
    if (*count < UINT32_MAX)
        (*count)++;
}

void tlog_device_violation(struct tlog_device *dev, const char *what)
{
    note(dev->report.violation, &dev->report.violations, what);
}

void tlog_device_remark(struct tlog_device *dev, const char *what)
{
    note(dev->report.remark, &dev->report.remarks, what);
}

bool tlog_device_dma_write(struct tlog_device *dev, uint64_t address, uint32_t value)
{
    const struct tlog_device_firmware *fw = &dev->firmware;
    uint8_t *at = tlog_device_ram_at(dev, address, 4);
    if (!fw->active) {
        tlog_device_violation(dev, "a store after RELEASE was acknowledged, or before SETUP");
        return false;
    }
    if (!at || address % 4 != 0 || address < fw->address || address - fw->address > (uint64_t)fw->size - 4) {
        tlog_device_violation(dev, "a store outside the buffer that the guest gave");
        return false;
    }
    if (!fw->attaching && (tlog_device_ram_read(dev, fw->address + HEADER_OWNER) & 0xFFu) == 1u) {
        tlog_device_violation(dev, "a store into a batch that the host owns");
        return false;
    }
    return tlog_device_ram_store(at, 4, value);
}
