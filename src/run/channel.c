/* SPDX-License-Identifier: GPL-3.0-or-later */
/* channel.c - see channel.h. */
#include "run/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { MAGIC = 0x6e797362, HEAD = offsetof(nb_message, bytes) };

bool nb_channel_tell(int fd, const nb_told *told)
{
    size_t length = told->text ? strnlen(told->text, NB_MOST_REASON - 1) : 0, bytes = told->result_bytes + length + 1;
    nb_message m = {.magic = MAGIC,
                    .kind = (int32_t)told->kind,
                    .number = told->number,
                    .result_bytes = (int32_t)told->result_bytes,
                    .text_bytes = (int32_t)length + 1};
    ssize_t sent;
    if (told->status) strncpy(m.status, told->status, sizeof m.status - 1);
    if (told->result_bytes > 0) memcpy(m.bytes, told->result, told->result_bytes);
    if (length > 0) memcpy(m.bytes + told->result_bytes, told->text, length);
    do sent = send(fd, &m, HEAD + bytes, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

const char *nb_message_text(const nb_message *m)
{
    return m->bytes + m->result_bytes;
}

/* Returns whether a packet of so many bytes is what nb_channel_tell sends. */
static bool is_whole(const nb_message *m, size_t count)
{
    if (count < HEAD || m->magic != MAGIC || m->kind < 0 || m->kind >= NB_HEARD_NONSENSE || m->result_bytes < 0 ||
        m->result_bytes > NB_MOST_ROW || m->text_bytes < 1 || m->text_bytes > NB_MOST_REASON ||
        !memchr(m->status, '\0', sizeof m->status))
        return false;
    size_t text_bytes = (size_t)m->text_bytes;
    return HEAD + (size_t)m->result_bytes + text_bytes == count &&
           strnlen(nb_message_text(m), text_bytes) + 1 == text_bytes;
}

nb_heard nb_channel_hear(int fd, nb_message *m)
{
    ssize_t count;
    do count = recv(fd, m, sizeof *m, MSG_DONTWAIT | MSG_TRUNC);
    while (count < 0 && (errno == EINTR || errno == ECONNRESET)); /* it ended and left something unread: go on here */
    if (count < 0 && errno == EAGAIN) return NB_HEARD_NOTHING;
    if (count <= 0) return NB_HEARD_END;
    return is_whole(m, (size_t)count) ? (nb_heard)m->kind : NB_HEARD_NONSENSE;
}
