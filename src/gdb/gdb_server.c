/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sockets' thread. Each connection has an inbox (packets for the link's thread) and an outbox (frames for
 * the socket), both bounded, both under the server's one lock. Must not know what a packet says.
 */
#include "gdb/gdb_server.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "gdb/frame.h"

#define POLL_NS      (2 * NS_PER_MS)
#define INBOX_BYTES  (1u << 20)  /* then reading stops until the link's thread has caught up */
#define OUTBOX_BYTES (32u << 20) /* then the client does not read: it is put off */
#define JUNK_BYTES   4096        /* outside packets: this is not gdb */
#define ITEMS_A_TURN 16
#define TURN_NS      (2 * NS_PER_MS) /* and no more items once that long has passed */
#define LISTENERS    (EVENT_MAX_CORES + 1)
#define READ_BYTES   65536

struct item {
    struct item *next;
    bool interrupt;
    size_t size;
    char payload[]; /* ended by a NUL */
};

struct connection {
    uv_tcp_t tcp;
    struct gdb_server *server;
    struct connection *next;
    size_t core, port; /* core, or GDB_ALL_CORES; which listener */

    /* The loop's thread. */
    struct gdb_frame frame;
    bool closing, closed, paused;

    /* The link's thread. */
    struct gdb_client *client;

    /* Under the lock. */
    struct item *first, *last;
    size_t inbox_bytes; /* with what each item costs: an empty one, too */
    bool scheduled;     /* the link's thread has been asked to look at the inbox */
    bool leaving, left; /* the socket is gone; the client, too */
    uint8_t *out;       /* frames not given to the socket yet */
    size_t out_size, out_room;
    uint8_t *again; /* the last frame, for a '-' */
    size_t again_size;
    bool acks, acks_end; /* acknowledges are sent; they end once the outbox is out */
    bool close_after, too_slow;
};

struct gdb_server {
    struct gdb_server_options options;
    struct gdb_hub *hub; /* the link's thread */
    int poll_job;
    bool lost; /* the link: said to the clients. The link's thread */
    uv_loop_t loop;
    uv_async_t wake;
    pthread_t thread;
    bool loop_ready, started;
    uv_tcp_t listeners[LISTENERS];
    unsigned ports[LISTENERS];
    size_t listener_count;
    uint8_t bytes[READ_BYTES];

    pthread_mutex_t lock;
    struct connection *connections;
    size_t connection_count;
    bool stopping;
    struct gdb_server_report report;
};

/* ---- the outbox; the lock is held */

static bool reserve(struct connection *c, size_t more)
{
    size_t want = c->out_size + more;
    if (want > OUTBOX_BYTES) {
        c->too_slow = true;
        return false;
    }
    if (want <= c->out_room)
        return true;
    size_t room = c->out_room ? c->out_room : 4096;
    while (room < want)
        room *= 2;
    uint8_t *grown = realloc(c->out, room);
    if (!grown) {
        c->too_slow = true;
        return false;
    }
    c->out = grown;
    c->out_room = room;
    return true;
}

static void put_byte(struct connection *c, uint8_t byte)
{
    if (reserve(c, 1))
        c->out[c->out_size++] = byte;
}

static void put_frame(struct connection *c, const char *payload, size_t size)
{
    if (!reserve(c, GDB_FRAME_ROOM(size)))
        return;
    size_t n = gdb_frame_put(c->out + c->out_size, GDB_FRAME_ROOM(size), payload, size);
    if (c->acks) {
        uint8_t *copy = realloc(c->again, n);
        if (copy) {
            memcpy(copy, c->out + c->out_size, n);
            c->again = copy;
            c->again_size = n;
        }
    }
    c->out_size += n;
}

/* Called by the hub, on the link's thread. */
static void send_payload(void *ctx, const char *payload, size_t size, enum gdb_send how)
{
    struct connection *c = ctx;
    pthread_mutex_lock(&c->server->lock);
    if (payload)
        put_frame(c, payload, size);
    c->acks_end |= how == GDB_SEND_NO_ACK;
    c->close_after |= how == GDB_SEND_CLOSE;
    pthread_mutex_unlock(&c->server->lock);
    uv_async_send(&c->server->wake);
}

/* ---- the link's thread */

static size_t cost_of(const struct item *item)
{
    return sizeof(*item) + item->size + 1;
}

/* The lock is held. */
static void drop_items(struct connection *c)
{
    while (c->first) {
        struct item *item = c->first;
        c->first = item->next;
        free(item);
    }
    c->last = NULL;
    c->inbox_bytes = 0;
}

/* `over`: the turn is. What a client that has left asked for last is still done, as a kill, which has no
 * answer to wait for; but not all that it may have left behind, of which nobody is there to be told. */
static struct item *take_item(struct connection *c, bool over, bool *leaving)
{
    pthread_mutex_lock(&c->server->lock);
    if (c->leaving && (over || c->server->stopping))
        drop_items(c);
    struct item *item = over ? NULL : c->first;
    if (item) {
        c->first = item->next;
        if (!c->first)
            c->last = NULL;
        c->inbox_bytes -= cost_of(item);
    }
    *leaving = !item && c->leaving;
    if (!c->first && !item && !c->leaving)
        c->scheduled = false;
    pthread_mutex_unlock(&c->server->lock);
    return item;
}

static void connect_client(struct connection *c)
{
    struct diag d = DIAG_INIT;
    if (c->client)
        return;
    c->client = gdb_hub_connect(c->server->hub, c->core, send_payload, c, &d);
    if (!c->client) /* gdb would wait for answers: it is told by the end of the connection */
        send_payload(c, NULL, 0, GDB_SEND_CLOSE);
}

static enum corral_err serve(struct link *link, void *ctx, struct diag *d)
{
    struct connection *c = ctx;
    struct gdb_server *s = c->server;
    int64_t end = host_clock_now(link_clock(link)) + TURN_NS;
    connect_client(c);
    for (unsigned i = 0;; i++) {
        bool leaving, over = i >= ITEMS_A_TURN || (i > 0 && host_clock_now(link_clock(link)) >= end);
        struct item *item = take_item(c, over, &leaving);
        if (leaving) {
            if (c->client)
                gdb_client_leave(c->client);
            pthread_mutex_lock(&s->lock);
            c->left = true;
            pthread_mutex_unlock(&s->lock);
            uv_async_send(&s->wake);
            return CORRAL_OK; /* the loop frees it */
        }
        if (!item)
            break;
        if (c->client && item->interrupt)
            gdb_client_interrupt(c->client);
        else if (c->client)
            gdb_client_packet(c->client, item->payload, item->size);
        free(item);
    }
    uv_async_send(&s->wake); /* there is room in the inbox again */
    pthread_mutex_lock(&s->lock);
    if (c->scheduled && link_thread_post(s->options.thread, LINK_PRIO_GDB, serve, c, d) != CORRAL_OK)
        c->scheduled = false;
    pthread_mutex_unlock(&s->lock);
    return CORRAL_OK;
}

static enum corral_err poll_cores(struct link *link, void *ctx, struct diag *d)
{
    struct gdb_server *s = ctx;
    (void)link;
    enum corral_err err = s->hub ? gdb_hub_poll(s->hub, d) : CORRAL_OK;
    if (err == CORRAL_ERR_LINK_DOWN && !s->lost) {
        s->lost = true;
        gdb_hub_lost(s->hub, d->message);
    }
    return err;
}

/* ---- the inbox; the loop's thread */

/* The lock is held. */
static void schedule(struct connection *c)
{
    if (c->scheduled)
        return;
    c->scheduled = link_thread_post(c->server->options.thread, LINK_PRIO_GDB, serve, c, NULL) == CORRAL_OK;
    /* Each connection is posted once at most, and there are few: it fails only where the link is closing. */
    if (!c->scheduled && c->leaving)
        c->left = true;
}

static void give(struct connection *c, const char *payload, size_t size, bool interrupt)
{
    struct item *item = malloc(sizeof(*item) + size + 1);
    pthread_mutex_lock(&c->server->lock);
    if (!item) {
        c->too_slow = true;
    } else {
        *item = (struct item){.interrupt = interrupt, .size = size};
        memcpy(item->payload, payload, size);
        item->payload[size] = '\0';
        if (c->last)
            c->last->next = item;
        else
            c->first = item;
        c->last = item;
        c->inbox_bytes += cost_of(item);
        schedule(c);
    }
    pthread_mutex_unlock(&c->server->lock);
}

/* ---- connections; the loop's thread */

static void free_connection(struct connection *c)
{
    drop_items(c);
    free(c->out);
    free(c->again);
    free(c);
}

static void on_closed(uv_handle_t *handle)
{
    struct connection *c = handle->data;
    pthread_mutex_lock(&c->server->lock);
    c->closed = true;
    c->leaving = true;
    schedule(c);
    pthread_mutex_unlock(&c->server->lock);
    uv_async_send(&c->server->wake);
}

static void close_connection(struct connection *c)
{
    if (c->closing)
        return;
    c->closing = true;
    uv_close((uv_handle_t *)&c->tcp, on_closed);
}

static void put_off(struct connection *c)
{
    if (c->closing)
        return;
    pthread_mutex_lock(&c->server->lock);
    c->server->report.put_off++;
    pthread_mutex_unlock(&c->server->lock);
    close_connection(c);
}

struct writing {
    uv_write_t request;
    struct connection *connection;
    uint8_t *bytes;
};

static void on_written(uv_write_t *request, int status)
{
    struct writing *w = request->data;
    struct connection *c = w->connection;
    pthread_mutex_lock(&c->server->lock);
    bool end = c->close_after && !c->out_size;
    pthread_mutex_unlock(&c->server->lock);
    if ((status < 0 && status != UV_ECANCELED) ||
        (end && uv_stream_get_write_queue_size((uv_stream_t *)&c->tcp) == 0))
        close_connection(c);
    free(w->bytes);
    free(w);
}

/* Hand the outbox to the socket. */
static void flush(struct connection *c)
{
    struct gdb_server *s = c->server;
    pthread_mutex_lock(&s->lock);
    uint8_t *bytes = c->out;
    size_t size = c->out_size;
    bool end = c->close_after;
    bool slow = c->too_slow;
    c->out = NULL;
    c->out_size = c->out_room = 0;
    if (c->acks_end) {
        c->acks = c->acks_end = false;
        c->frame.checks = false;
    }
    pthread_mutex_unlock(&s->lock);
    struct writing *w = size ? malloc(sizeof(*w)) : NULL;
    if (w) {
        *w = (struct writing){.connection = c, .bytes = bytes};
        w->request.data = w;
        uv_buf_t buf = uv_buf_init((char *)bytes, (unsigned)size);
        if (uv_write(&w->request, (uv_stream_t *)&c->tcp, &buf, 1, on_written) < 0) {
            free(w);
            w = NULL;
        }
    }
    if (!w)
        free(bytes);
    if (slow || uv_stream_get_write_queue_size((uv_stream_t *)&c->tcp) > OUTBOX_BYTES || (size && !w))
        put_off(c);
    else if (end && uv_stream_get_write_queue_size((uv_stream_t *)&c->tcp) == 0)
        close_connection(c);
}

static void answer_item(struct connection *c, enum gdb_item item)
{
    struct gdb_server *s = c->server;
    static const char too_long[] = "E.the packet is longer than PacketSize";
    pthread_mutex_lock(&s->lock);
    switch (item) {
    case GDB_ITEM_PACKET:
        s->report.packets++;
        if (c->acks)
            put_byte(c, '+');
        break;
    case GDB_ITEM_DAMAGED:
        s->report.damaged++;
        if (c->acks)
            put_byte(c, '-');
        break;
    case GDB_ITEM_TOO_LONG:
        if (c->acks)
            put_byte(c, '+');
        put_frame(c, too_long, sizeof(too_long) - 1);
        break;
    case GDB_ITEM_NAK:
        if (c->acks && c->again_size && reserve(c, c->again_size)) {
            memcpy(c->out + c->out_size, c->again, c->again_size);
            c->out_size += c->again_size;
        }
        break;
    default:
        break;
    }
    pthread_mutex_unlock(&s->lock);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
    struct connection *c = stream->data;
    const uint8_t *bytes = (const uint8_t *)buf->base;
    if (n < 0) {
        close_connection(c);
        return;
    }
    uint64_t junk = c->frame.junk;
    while (n > 0 && !c->closing) {
        size_t used;
        enum gdb_item item = gdb_frame_take(&c->frame, bytes, (size_t)n, &used);
        answer_item(c, item);
        if (item == GDB_ITEM_PACKET)
            give(c, c->frame.payload, c->frame.size, false);
        else if (item == GDB_ITEM_INTERRUPT)
            give(c, "", 0, true);
        bytes += used;
        n -= (ssize_t)used;
    }
    pthread_mutex_lock(&c->server->lock);
    c->server->report.junk_bytes += c->frame.junk - junk;
    bool full = c->inbox_bytes > INBOX_BYTES;
    pthread_mutex_unlock(&c->server->lock);
    if (c->frame.junk > JUNK_BYTES) {
        put_off(c);
        return;
    }
    if (full && !c->closing) {
        c->paused = true;
        uv_read_stop(stream);
    }
    if (!c->closing)
        flush(c);
}

static void on_room(uv_handle_t *handle, size_t size, uv_buf_t *buf)
{
    struct connection *c = handle->data;
    (void)size;
    /* One buffer for all: it is used up before the next read. */
    *buf = uv_buf_init((char *)c->server->bytes, READ_BYTES);
}

/* Nothing is read from a connection that is paused, not even its end: that must be looked for. */
static bool has_hung_up(const struct connection *c)
{
    uv_os_fd_t fd;
    if (uv_fileno((const uv_handle_t *)&c->tcp, &fd) != 0)
        return false;
    struct pollfd p = {.fd = fd, .events = POLLRDHUP};
    return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

/* Something happened on the link's thread. */
static void on_wake(uv_async_t *wake)
{
    struct gdb_server *s = wake->data;
    for (struct connection **at = &s->connections; *at;) {
        struct connection *c = *at;
        pthread_mutex_lock(&s->lock);
        bool gone = c->closed && c->left;
        bool room = c->inbox_bytes <= INBOX_BYTES / 2;
        if (gone) {
            *at = c->next;
            s->connection_count--;
        }
        bool stopping = s->stopping;
        pthread_mutex_unlock(&s->lock);
        if (gone) {
            free_connection(c);
            continue;
        }
        if (stopping || (c->paused && has_hung_up(c)))
            close_connection(c);
        if (!c->closing && c->paused && room) {
            c->paused = false;
            uv_read_start((uv_stream_t *)&c->tcp, on_room, on_read);
        }
        if (!c->closing)
            flush(c);
        at = &c->next;
    }
    pthread_mutex_lock(&s->lock);
    bool end = s->stopping && !s->connections;
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; end && i < s->listener_count; i++)
        if (!uv_is_closing((uv_handle_t *)&s->listeners[i]))
            uv_close((uv_handle_t *)&s->listeners[i], NULL);
    if (end && !uv_is_closing((uv_handle_t *)&s->wake))
        uv_close((uv_handle_t *)&s->wake, NULL);
}

static size_t clients_of(const struct gdb_server *s, size_t port)
{
    size_t n = 0;
    for (const struct connection *c = s->connections; c; c = c->next)
        n += c->port == port && !c->closing;
    return n;
}

static void on_refused(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct gdb_server *s = listener->data;
    size_t port = (size_t)((uv_tcp_t *)listener - s->listeners);
    struct connection *c = status == 0 ? calloc(1, sizeof(*c)) : NULL;
    if (!c)
        return;
    c->server = s;
    c->port = port;
    c->core = port < s->options.hub.count ? port : GDB_ALL_CORES;
    c->acks = true;
    gdb_frame_start(&c->frame);
    uv_tcp_init(&s->loop, &c->tcp);
    c->tcp.data = c;
    bool taken = uv_accept(listener, (uv_stream_t *)&c->tcp) == 0;
    if (!taken || s->stopping || s->connection_count >= GDB_SERVER_CLIENTS ||
        clients_of(s, port) >= GDB_SERVER_PER_PORT) {
        pthread_mutex_lock(&s->lock);
        s->report.put_off++;
        pthread_mutex_unlock(&s->lock);
        uv_close((uv_handle_t *)&c->tcp, on_refused);
        return;
    }
    uv_tcp_nodelay(&c->tcp, 1);
    uv_tcp_keepalive(&c->tcp, 1, 60); /* a host that vanished is noticed, too */
    pthread_mutex_lock(&s->lock);
    s->report.clients++;
    c->next = s->connections;
    s->connections = c;
    s->connection_count++;
    schedule(c);
    pthread_mutex_unlock(&s->lock);
    uv_read_start((uv_stream_t *)&c->tcp, on_room, on_read);
}

static void *loop_main(void *arg)
{
    struct gdb_server *s = arg;
    uv_run(&s->loop, UV_RUN_DEFAULT);
    return NULL;
}

/* ---- starting and stopping */

static enum corral_err listen_on(struct gdb_server *s, unsigned port, struct diag *d)
{
    const char *address = s->options.address ? s->options.address : "127.0.0.1";
    size_t i = s->listener_count;
    struct sockaddr_storage name;
    int size = sizeof(name);
    uv_tcp_init(&s->loop, &s->listeners[i]);
    s->listeners[i].data = s;
    s->listener_count++;
    int err = port > 65535 ? UV_EINVAL : 0;
    if (!err && uv_ip4_addr(address, (int)port, (struct sockaddr_in *)&name) != 0)
        err = uv_ip6_addr(address, (int)port, (struct sockaddr_in6 *)&name);
    if (!err)
        err = uv_tcp_bind(&s->listeners[i], (struct sockaddr *)&name, 0);
    if (!err)
        err = uv_listen((uv_stream_t *)&s->listeners[i], 16, on_connection);
    if (!err)
        err = uv_tcp_getsockname(&s->listeners[i], (struct sockaddr *)&name, &size);
    if (err)
        return diag_set(d, CORRAL_ERR_IO, "port %u of %s cannot be listened on: %s", port, address,
                        uv_strerror(err));
    s->ports[i] = ntohs(name.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&name)->sin6_port
                                                   : ((struct sockaddr_in *)&name)->sin_port);
    return CORRAL_OK;
}

static enum corral_err make_hub(struct link *link, void *ctx, struct diag *d)
{
    struct gdb_server *s = ctx;
    (void)link;
    s->hub = gdb_hub_new(&s->options.hub, d);
    return s->hub ? CORRAL_OK : d->code;
}

static enum corral_err free_hub(struct link *link, void *ctx, struct diag *d)
{
    struct gdb_server *s = ctx;
    struct gdb_hub *hub = s->hub;
    (void)link;
    s->hub = NULL;
    return gdb_hub_free(hub, d);
}

static unsigned port_for(const struct gdb_server_options *o, size_t core)
{
    if (o->ports)
        return o->ports[core];
    return o->port ? o->port + (unsigned)core : 0;
}

struct gdb_server *gdb_server_start(const struct gdb_server_options *options, struct diag *d)
{
    struct diag own = DIAG_INIT;
    d = d ? d : &own;
    struct gdb_server *s = calloc(1, sizeof(*s));
    if (!s || uv_loop_init(&s->loop) < 0) {
        free(s);
        diag_set(d, CORRAL_ERR_NO_MEMORY, "out of memory");
        return NULL;
    }
    s->options = *options;
    s->options.hub.one_inferior = options->all;
    s->poll_job = -1;
    pthread_mutex_init(&s->lock, NULL);
    uv_async_init(&s->loop, &s->wake, on_wake);
    s->wake.data = s;
    enum corral_err err = CORRAL_OK;
    for (size_t i = 0; i < options->hub.count && !err; i++)
        err = listen_on(s, port_for(options, i), d);
    if (!err && options->all)
        err = listen_on(s, options->all_port, d);
    if (!err)
        err = link_thread_call(options->thread, LINK_PRIO_GDB, make_hub, s, d);
    if (!err) {
        s->poll_job = link_thread_every(options->thread, LINK_PRIO_HALT, POLL_NS, poll_cores, s);
        if (s->poll_job < 0)
            err = diag_set(d, CORRAL_ERR_LIMIT, "the link has too many jobs");
    }
    /* Signals belong to the program's main thread. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!err && pthread_create(&s->thread, NULL, loop_main, s) != 0)
        err = diag_set(d, CORRAL_ERR_FAILED, "the thread of the gdb ports cannot be started");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    s->started = !err;
    if (!err)
        return s;
    gdb_server_stop(s, NULL);
    return NULL;
}

unsigned gdb_server_port(const struct gdb_server *s, size_t core)
{
    if (core == GDB_ALL_CORES)
        return s->options.all ? s->ports[s->options.hub.count] : 0;
    return core < s->options.hub.count ? s->ports[core] : 0;
}

enum corral_err gdb_server_error(struct gdb_server *s, struct diag *d)
{
    return link_thread_job_error(s->options.thread, s->poll_job, d);
}

void gdb_server_get_report(struct gdb_server *s, struct gdb_server_report *report)
{
    pthread_mutex_lock(&s->lock);
    *report = s->report;
    pthread_mutex_unlock(&s->lock);
}

enum corral_err gdb_server_stop(struct gdb_server *s, struct diag *d)
{
    enum corral_err err = CORRAL_OK;
    if (!s)
        return CORRAL_OK;
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    pthread_mutex_unlock(&s->lock);
    uv_async_send(&s->wake);
    if (s->started)
        pthread_join(s->thread, NULL);
    else
        uv_run(&s->loop, UV_RUN_DEFAULT);
    if (s->poll_job >= 0)
        link_thread_end_job(s->options.thread, s->poll_job);
    if (s->hub)
        err = link_thread_call(s->options.thread, LINK_PRIO_GDB, free_hub, s, d);
    uv_loop_close(&s->loop);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return err;
}
