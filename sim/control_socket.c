/* SPDX-License-Identifier: Apache-2.0 */
/* See control_socket.h. Must not wait for anybody: a controller that does nothing holds up nothing. */
#include "sim/control_socket.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/text.h"

/* A socket that nobody listens on any more: its owner was killed. Asked with a socket of the wrong type,
 * which one that lives refuses differently: connected, it would take us for its guest. */
static bool is_left_over(const struct sockaddr_un *address)
{
    struct stat st;
    if (lstat(address->sun_path, &st) != 0 || !S_ISSOCK(st.st_mode))
        return false;
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool refused = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 &&
                   errno == ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return refused;
}

int control_socket_listen(const char *path, struct diag *d)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char name[TEXT_CLEAN_MAX(sizeof(address.sun_path))];
    text_escape((const uint8_t *)path, strlen(path), name, sizeof(name));
    if (!path[0] || strlen(path) >= sizeof(address.sun_path)) { /* an empty one would be bound to any name */
        diag_set(d, CORRAL_ERR_USAGE, "a socket's path has 1 to %zu bytes, and '%s' has %zu",
                 sizeof(address.sun_path) - 1, name, strlen(path));
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct sockaddr *any = (const struct sockaddr *)&address;
    bool bound = fd >= 0 && bind(fd, any, sizeof(address)) == 0;
    int why = errno;
    if (fd >= 0 && !bound && why == EADDRINUSE && is_left_over(&address)) {
        bound = unlink(path) == 0 && bind(fd, any, sizeof(address)) == 0;
        why = errno;
    }
    bool listens = bound && listen(fd, 1) == 0;
    if (!listens) {
        why = bound ? errno : why;
        diag_set(d, CORRAL_ERR_IO, "cannot listen on the socket %s: %s", name, strerror(why));
        if (why == EADDRINUSE)
            diag_hint(d, "another emulator listens there, or it is another kind of file");
        if (bound)
            unlink(path);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

enum corral_err control_socket_open(struct control_socket *s, const char *path, struct diag *d)
{
    *s = (struct control_socket){.client = -1, .path = path};
    s->listener = control_socket_listen(path, d);
    return s->listener < 0 ? d ? d->code : CORRAL_ERR_IO : CORRAL_OK;
}

static void hang_up(struct control_socket *s)
{
    if (s->client >= 0)
        close(s->client);
    s->client = -1;
    s->used = 0;
}

void control_socket_close(struct control_socket *s)
{
    hang_up(s);
    if (s->listener >= 0) { /* in this order: another emulator that takes the name over keeps it */
        unlink(s->path);
        close(s->listener);
    }
    s->listener = -1;
}

void control_socket_accept(struct control_socket *s)
{
    int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return;
    hang_up(s);
    s->client = fd;
}

void control_socket_input(struct control_socket *s, const char *(*run)(void *ctx, const char *line),
                          void *ctx)
{
    ssize_t got = recv(s->client, s->line + s->used, sizeof(s->line) - s->used, MSG_DONTWAIT);
    char *end = NULL;
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    s->used += got > 0 ? (size_t)got : 0;
    while (got > 0 && s->client >= 0 && (end = memchr(s->line, '\n', s->used)) != NULL) {
        size_t taken = (size_t)(end - s->line) + 1;
        *end = '\0';
        if (end > s->line && end[-1] == '\r')
            end[-1] = '\0';
        const char *answer = run(ctx, s->line);
        size_t size = strlen(answer);
        if (send(s->client, answer, size, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)size) {
            hang_up(s);
            return;
        }
        memmove(s->line, s->line + taken, s->used - taken);
        s->used -= taken;
    }
    if (got <= 0 || s->used == sizeof(s->line))
        hang_up(s);
}
