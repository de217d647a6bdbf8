/* SPDX-License-Identifier: Apache-2.0 */
/* Places of memory that are looked at while the cores run (target_memory.h): one batch a look. Writes
 * nothing. */
#include "session/target_memory.h"

#include "session/session_internal.h"

struct look {
    struct session *s;
    const struct session_view *view;
    struct session_watched *list;
    size_t count;
    int64_t host_ns;
};

static struct link_access access_to(const struct look *k, struct session_watched *w)
{
    return (struct link_access){.op = LINK_MEM_READ,
                                .size = (uint8_t)w->size,
                                .ap = k->view->by_ap ? k->view->ap : core_ap(k->s->cores[k->view->core]),
                                .address = w->address,
                                .count = 1,
                                .data = &w->value};
}

/* The link stores elements of their own size; all of them become numbers. */
static void take(struct session_watched *w)
{
    if (w->size == 1)
        w->value = *(const uint8_t *)&w->value;
    else if (w->size == 2)
        w->value = *(const uint16_t *)&w->value;
    w->known = true;
}

static enum corral_err look(struct link *link, void *ctx, struct diag *d)
{
    struct look *k = ctx;
    struct link_access batch[SESSION_WATCHED_MOST];
    size_t from = 0, known = 0;
    enum corral_err err = CORRAL_OK;
    k->host_ns = host_clock_now(link_clock(link));
    while (from < k->count) {
        size_t n = k->count - from, i = 0;
        struct diag why = DIAG_INIT;
        for (i = 0; i < n; i++)
            batch[i] = access_to(k, &k->list[from + i]);
        err = link_execute(link, batch, n, &why);
        for (i = 0; i < n && (!err || batch[i].status == CORRAL_OK); i++, known++)
            take(&k->list[from + i]);
        if (err && d)
            *d = why;
        if (err && (err != CORRAL_ERR_LINK_FAULT || i == n))
            return err;
        if (err) { /* this one; those behind it have not been tried */
            k->list[from + i].known = false;
            k->list[from + i].why = why;
            i++;
        }
        from += i;
    }
    return known ? CORRAL_OK : err;
}

enum corral_err session_read_watched(struct session *s, const struct session_view *view,
                                     struct session_watched *list, size_t count, int64_t *host_ns,
                                     struct diag *d)
{
    struct look k = {s, view, list, count, 0};
    if (count == 0 || count > SESSION_WATCHED_MOST)
        return diag_set(d, CORRAL_ERR_USAGE, "1 to %d places can be watched", SESSION_WATCHED_MOST);
    enum corral_err err = session_call(s, look, &k, d);
    *host_ns = k.host_ns;
    return err;
}
