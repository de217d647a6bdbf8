/* SPDX-License-Identifier: Apache-2.0 */
/* See group_fake.h. */
#include "tests/unit/group/group_fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct group_fake group_fake_new(size_t count)
{
    struct group_fake b = {.t = fake_target_new(count), .count = count};
    assert_non_null(b.t);
    b.link = fake_target_link(b.t);
    assert_non_null(b.link);
    return b;
}

void group_fake_start(struct group_fake *b, const int *restart)
{
    static const char *const names[FAKE_CORES] = {"core0", "core1", "core2", "core3"};
    struct diag d = DIAG_INIT;
    for (size_t i = 0; i < b->count; i++) {
        struct cti *cti = NULL;
        if (!restart || restart[i] != GROUP_FAKE_NO_CTI)
            cti = cti_open(b->link, (uint32_t)i, FAKE_CTI_BASE, restart ? restart[i] : 7, &d);
        b->cores[i] = core_cortex_m_open(b->link, (uint32_t)i, names[i], 100000000, cti, &d);
        if (!b->cores[i])
            fail_msg("%s", d.message);
    }
    b->group = group_new(b->cores, b->count, NULL, "group");
    assert_non_null(b->group);
}

struct group_fake group_fake_synced(size_t count)
{
    struct group_fake b = group_fake_new(count);
    struct diag d = DIAG_INIT;
    group_fake_start(&b, NULL);
    if (group_enable_sync(b.group, &d))
        fail_msg("%s", d.message);
    return b;
}

void group_fake_close(struct group_fake *b)
{
    group_free(b->group);
    for (size_t i = 0; i < b->count; i++)
        core_close(b->cores[i]);
    link_close(b->link);
    fake_target_free(b->t);
}

bool group_fake_said(const struct group_fake *b, const char *words)
{
    const struct group_remark *list;
    size_t n = group_remarks(b->group, &list);
    for (size_t i = 0; i < n; i++)
        if (strstr(list[i].text, words))
            return true;
    return false;
}

size_t group_fake_writes(const struct group_fake *b, size_t from, uint32_t address)
{
    size_t n = 0;
    for (size_t i = from; i < b->t->log_count; i++)
        n += b->t->log[i].address == address;
    return n;
}

void group_fake_halt(struct group_fake *b, size_t leader, struct event *e)
{
    struct diag d = DIAG_INIT;
    if (group_halt(b->group, leader, e, &d))
        fail_msg("halt: %s", d.message);
}

void group_fake_run(struct group_fake *b, size_t leader, struct event *e)
{
    struct diag d = DIAG_INIT;
    if (group_run(b->group, leader, e, &d))
        fail_msg("run: %s", d.message);
}

void group_fake_assert_all(const struct event *e, enum core_state state)
{
    for (size_t i = 0; i < e->halt.core_count; i++)
        assert_int_equal(e->halt.cores[i].state, state);
}

void group_fake_assert_unlatched(const struct group_fake *b)
{
    for (size_t i = 0; i < b->count; i++)
        assert_int_equal(b->t->core[i].cti.out, 0);
}
