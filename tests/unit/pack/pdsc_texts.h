/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the PDSC reader write and ask, in short. */
#ifndef CORRAL_TESTS_UNIT_PACK_PDSC_TEXTS_H
#define CORRAL_TESTS_UNIT_PACK_PDSC_TEXTS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pack/pack.h"

#define XML    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
#define PDSC   XML "<package schemaVersion=\"1.7.7\"><name>P</name><devices>\n"
#define END    "</devices></package>\n"
#define FAMILY PDSC "<family Dfamily=\"F\" Dvendor=\"Maker:99\">\n"
#define ENDF   "</family>" END
#define ONE    "<device Dname=\"D1\"/>\n"

static inline struct pack_file *try_parse(const char *text, size_t size, struct sequence_problems *p,
                                          struct diag *d)
{
    struct pack_file *file = pack_parse(PACK_PDSC, "dir/part.pdsc", text, size, NULL, p, d);
    if (!file && d->code == CORRAL_ERR_UNSUPPORTED)
        skip();
    return file;
}

static inline struct pack_file *parse(const char *text)
{
    struct diag d = DIAG_INIT;
    struct pack_file *file = try_parse(text, strlen(text), NULL, &d);
    if (!file)
        fail_msg("%s", d.message);
    return file;
}

static inline struct pack_device *describe(struct pack_file *file, const char *name)
{
    struct diag d = DIAG_INIT;
    struct sequence_problems p = {0};
    struct pack_device *device = pack_describe(file, name, &p, &d);
    if (!device)
        fail_msg("%s", d.message);
    if (p.count)
        fail_msg("%u:%u: %s", p.list[0].place.line, p.list[0].place.column, p.list[0].text);
    return device;
}

/* The sentence with which a file is refused, or the description of its device `name`; the code is checked. */
static inline void expect_refused(const char *text, size_t size, const char *name, enum corral_err code,
                                  const char *words)
{
    struct diag d = DIAG_INIT;
    struct pack_file *file = try_parse(text, size, NULL, &d);
    struct pack_device *device = file ? pack_describe(file, name, NULL, &d) : NULL;
    if (device)
        fail_msg("it is taken; expected is '%s'", words);
    if (d.code != code || !strstr(d.message, words))
        fail_msg("%d '%s'; expected is %d '%s'", (int)d.code, d.message, (int)code, words);
    pack_close(file);
}

static inline void free_both(struct pack_device *device, struct pack_file *file)
{
    pack_device_free(device);
    pack_close(file);
}

#endif
