/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mapped memory as a link (shm.h). Each element is one load (acquire) or one store (release) of its size, so
 * that an owner byte orders what was written before it; target memory is little-endian.
 *
 * The other side may be a process or a device that does what it likes: nothing here depends on the contents.
 * It must not look outside the mapping, nor touch a device that a driver owns.
 */
#include "link/shm.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bus_guard.h"
#include "base/text.h"
#include "link/link_backend.h"

#define SPACE_END (UINT64_C(1) << 32) /* of target addresses */

struct shm {
    int fd;
    uint8_t *memory;
    uint64_t base, size;
    bool regular; /* a file that somebody may cut while it is mapped */
    bool read_only;
};

static enum corral_err check_range(struct shm *s, const struct link_access *a, struct diag *d)
{
    uint64_t size = (uint64_t)a->count * a->size;
    struct stat st;
    if (a->address < s->base || a->address - s->base > s->size || size > s->size - (a->address - s->base))
        return diag_set(d, CORRAL_ERR_LINK_FAULT,
                        "0x%08" PRIx64 "..0x%08" PRIx64 " is outside the mapped 0x%08" PRIx64
                        "..0x%08" PRIx64,
                        a->address, a->address + size - 1, s->base, s->base + s->size - 1);
    if (s->regular && (fstat(s->fd, &st) != 0 || (uint64_t)st.st_size < s->size))
        return diag_set(d, CORRAL_ERR_LINK_DOWN, "the mapped file has become shorter");
    if (a->op == LINK_MEM_WRITE && s->read_only) {
        diag_set(d, CORRAL_ERR_LINK_FAULT, "the mapped file cannot be written: it may only be read");
        diag_hint(d, "a copy of a log buffer is read by corral decode tlog");
        return CORRAL_ERR_LINK_FAULT;
    }
    return CORRAL_OK;
}

static void load(const uint8_t *from, uint8_t size, uint8_t *to)
{
    if (size == 1) {
        *to = __atomic_load_n(from, __ATOMIC_ACQUIRE);
    } else if (size == 2) {
        uint16_t v = le16toh(__atomic_load_n((const uint16_t *)(const void *)from, __ATOMIC_ACQUIRE));
        memcpy(to, &v, sizeof(v));
    } else {
        uint32_t v = le32toh(__atomic_load_n((const uint32_t *)(const void *)from, __ATOMIC_ACQUIRE));
        memcpy(to, &v, sizeof(v));
    }
}

static void store(uint8_t *to, uint8_t size, const uint8_t *from)
{
    if (size == 1) {
        __atomic_store_n(to, *from, __ATOMIC_RELEASE);
    } else if (size == 2) {
        uint16_t v;
        memcpy(&v, from, sizeof(v));
        __atomic_store_n((uint16_t *)(void *)to, htole16(v), __ATOMIC_RELEASE);
    } else {
        uint32_t v;
        memcpy(&v, from, sizeof(v));
        __atomic_store_n((uint32_t *)(void *)to, htole32(v), __ATOMIC_RELEASE);
    }
}

/* One access, already checked. */
struct shm_move {
    uint8_t *at;
    const struct link_access *access;
};

static void shm_move(void *ctx)
{
    const struct shm_move *m = ctx;
    const struct link_access *a = m->access;
    uint8_t *at = m->at, *data = a->data;
    for (uint32_t n = 0; n < a->count; n++, at += a->size, data += a->size) {
        if (a->op == LINK_MEM_READ)
            load(at, a->size, data);
        else
            store(at, a->size, data);
    }
}

static enum corral_err shm_execute(void *ctx, struct link_access *accesses, size_t count, struct diag *d)
{
    struct shm *s = ctx;
    for (size_t i = 0; i < count; i++) {
        struct link_access *a = &accesses[i];
        a->status = check_range(s, a, d);
        if (a->status != CORRAL_OK)
            return a->status;
        struct shm_move m = {s->memory + (a->address - s->base), a};
        if (!bus_guard_run(shm_move, &m)) { /* after the check: it is cut at any moment */
            a->status = diag_set(d, CORRAL_ERR_LINK_DOWN,
                                 "the mapped memory is gone: its file was cut, or its disk is full");
            return a->status;
        }
        a->done = a->count;
    }
    return CORRAL_OK;
}

static void shm_close(void *ctx)
{
    struct shm *s = ctx;
    if (!s)
        return;
    if (s->memory)
        munmap(s->memory, s->size);
    if (s->fd >= 0)
        close(s->fd);
    free(s);
}

static const struct link_backend shm_backend = {
    .caps = LINK_CAP_MEM, .execute = shm_execute, .close = shm_close};

/* "resource2" or "resource2_wc" beside a link "driver": whoever that is owns the device. */
static enum corral_err check_driver(const char *path, const char *name, struct diag *d)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    char driver[PATH_MAX], target[PATH_MAX];
    if (strncmp(file, "resource", 8) != 0 || file[8] < '0' || file[8] > '9')
        return CORRAL_OK;
    int n = snprintf(driver, sizeof(driver), "%.*sdriver", (int)(file - path), path);
    if (n < 0 || (size_t)n >= sizeof(driver))
        return diag_set(d, CORRAL_ERR_USAGE, "--link shm: the path is too long");
    ssize_t length = readlink(driver, target, sizeof(target) - 1);
    if (length < 0)
        return CORRAL_OK;
    target[length] = '\0';
    slash = strrchr(target, '/');
    char owner[100];
    const char *base = slash ? slash + 1 : target;
    text_escape((const uint8_t *)base, strlen(base), owner, sizeof(owner));
    diag_set(d, CORRAL_ERR_LINK_DOWN,
             "%s belongs to a device that the driver '%s' owns: two readers would take each other's log",
             name, owner);
    diag_hint(d, "read the driver's log (corral log --device /dev/tlog0), or unbind the driver first");
    return CORRAL_ERR_LINK_DOWN;
}

static enum corral_err open_file(struct shm *s, const char *path, const char *name, struct diag *d)
{
    struct stat st;
    char *real = realpath(path, NULL); /* whatever name leads to the resource */
    enum corral_err err = check_driver(real ? real : path, name, d);
    free(real);
    if (err != CORRAL_OK)
        return err;
    s->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (s->fd < 0 && (errno == EACCES || errno == EROFS || errno == EPERM)) {
        s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        s->read_only = s->fd >= 0;
    }
    if (s->fd < 0)
        return diag_set(d, CORRAL_ERR_LINK_DOWN, "cannot open %s: %s", name, strerror(errno));
    if (fstat(s->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
        return diag_set(d, CORRAL_ERR_LINK_DOWN, "%s is not a file with contents", name);
    s->regular = true;
    s->size = (uint64_t)st.st_size;
    if (s->size > SPACE_END - s->base)
        s->size = SPACE_END - s->base;
    if (flock(s->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        diag_set(d, CORRAL_ERR_LINK_DOWN,
                 "%s is in use by another corral: two readers would take each other's log", name);
        diag_hint(d, "end the other one first");
        return CORRAL_ERR_LINK_DOWN;
    }
    void *memory =
        mmap(NULL, s->size, s->read_only ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
    if (memory == MAP_FAILED)
        return diag_set(d, CORRAL_ERR_LINK_DOWN, "cannot map %s: %s", name, strerror(errno));
    s->memory = memory;
    bus_guard_install();
    return CORRAL_OK;
}

/* "PATH[@BASE]": the part behind the last @ when it is a number, else all is the path. */
static bool split(const char *words, char *path, size_t room, uint64_t *base)
{
    const char *at = strrchr(words, '@');
    size_t length = strlen(words);
    *base = 0;
    if (at && at[1] >= '0' && at[1] <= '9') {
        char *end;
        errno = 0;
        unsigned long long v = strtoull(at + 1, &end, 0);
        if (*end == '\0') {
            if (errno || v >= SPACE_END)
                return false;
            *base = v;
            length = (size_t)(at - words);
        }
    }
    if (length == 0 || length >= room)
        return false;
    memcpy(path, words, length);
    path[length] = '\0';
    return *base % 4 == 0;
}

struct link *link_shm_open(const char *spec, struct host_clock *clock, struct diag *d)
{
    char path[PATH_MAX], name[160];
    uint64_t base = 0;
    struct diag own = DIAG_INIT;
    d = d ? d : &own;
    const char *words = strncmp(spec, "shm:", 4) == 0 ? spec + 4 : "";
    if (!split(words, path, sizeof(path), &base)) {
        diag_set(
            d, CORRAL_ERR_USAGE,
            "--link shm: a path and, behind @, a base address below 4 GiB and divisible by 4 are wanted");
        diag_hint(d, "for example --link shm:ram.bin@0x20000000");
        return NULL;
    }
    struct shm *s = calloc(1, sizeof(*s));
    if (!s) {
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    s->fd = -1;
    s->base = base;
    text_escape((const uint8_t *)path, strlen(path), name, sizeof(name));
    struct link *link =
        open_file(s, path, name, d) == CORRAL_OK ? link_new(&shm_backend, s, spec, clock) : NULL;
    if (!link) {
        if (s->memory)
            diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        diag_object(d, "%s", name);
        shm_close(s);
    }
    return link;
}

bool link_shm_range(struct link *link, uint64_t *base, uint64_t *size)
{
    const struct shm *s = link_backend_ctx(link, &shm_backend);
    if (!s)
        return false;
    *base = s->base;
    *size = s->size;
    return true;
}
