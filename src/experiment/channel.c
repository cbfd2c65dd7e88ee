/* channel.c - a message is a head of fixed size and two texts. */
#include "experiment/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

typedef struct {
    int kind, number, status_bytes, reason_bytes; /* with the final zero; 0: NULL */
    nb_measures measures;
} head;

bool nb_channel_send(int fd, const void *data, size_t bytes)
{
    for (const char *at = data; bytes > 0;) {
        ssize_t count = send(fd, at, bytes, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        at += count;
        bytes -= (size_t)count;
    }
    return true;
}

bool nb_channel_receive(int fd, void *data, size_t bytes)
{
    for (char *at = data; bytes > 0;) {
        ssize_t count = recv(fd, at, bytes, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        at += count;
        bytes -= (size_t)count;
    }
    return true;
}

static int text_bytes(const char *text)
{
    return text ? (int)strlen(text) + 1 : 0;
}

bool nb_channel_tell(int fd, const nb_message *m)
{
    head h = {(int)m->kind, m->number, text_bytes(m->status), text_bytes(m->reason), m->measures};
    return nb_channel_send(fd, &h, sizeof h) && nb_channel_send(fd, m->status, (size_t)h.status_bytes) &&
           nb_channel_send(fd, m->reason, (size_t)h.reason_bytes);
}

static nb_status hear_text(int fd, int bytes, const char **text, bool *there, nb_ctx *memory)
{
    char *copy = NULL;
    if (bytes > 0) NB_NEED(copy, nb_alloc(memory, (size_t)bytes, 1));
    *there = *there && nb_channel_receive(fd, copy, (size_t)bytes);
    *text = copy;
    return NB_OK;
}

nb_status nb_channel_hear(int fd, nb_message *m, bool *there, nb_ctx *memory)
{
    head h;
    *there = nb_channel_receive(fd, &h, sizeof h);
    if (!*there) return NB_OK;
    *m = (nb_message){.kind = (nb_told)h.kind, .number = h.number, .measures = h.measures};
    NB_TRY(memory, hear_text(fd, h.status_bytes, &m->status, there, memory));
    return hear_text(fd, h.reason_bytes, &m->reason, there, memory);
}
