/* SPDX-License-Identifier: GPL-3.0-or-later */
/* channel.c - see channel.h. */
#include "run/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { MAGIC = 0x6e797362 };

bool nb_channel_tell(int fd, const nb_told *told)
{
    nb_message m = {MAGIC, (int32_t)told->kind, told->number, (int32_t)told->result_bytes, "", ""};
    size_t length = told->text ? strnlen(told->text, NB_MOST_REASON - 1) : 0;
    ssize_t sent;
    if (told->status) strncpy(m.status, told->status, sizeof m.status - 1);
    if (told->result) memcpy(m.bytes, told->result, told->result_bytes);
    if (told->text) memcpy(m.bytes + told->result_bytes, told->text, length);
    do sent = send(fd, &m, offsetof(nb_message, bytes) + told->result_bytes + length + 1, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent >= 0;
}

const char *nb_message_text(const nb_message *m)
{
    return m->bytes + m->result_bytes;
}

nb_heard nb_channel_hear(int fd, nb_message *m)
{
    ssize_t count;
    do count = recv(fd, m, sizeof *m, MSG_DONTWAIT | MSG_TRUNC);
    while (count < 0 && (errno == EINTR || errno == ECONNRESET)); /* it ended and left something unread: go on here */
    if (count < 0) return errno == EAGAIN ? NB_HEARD_NOTHING : NB_HEARD_END;
    if (count == 0) return NB_HEARD_END;
    if ((size_t)count <= offsetof(nb_message, bytes) || (size_t)count > sizeof *m) return NB_HEARD_NONSENSE;
    size_t most = (size_t)count - offsetof(nb_message, bytes), result = (size_t)m->result_bytes;
    bool good = m->magic == MAGIC && m->kind >= 0 && m->kind < NB_HEARD_NONSENSE && result <= NB_MOST_ROW &&
                result < most && memchr(m->status, '\0', sizeof m->status) &&
                strnlen(m->bytes + result, most - result) + 1 == most - result;
    return good ? (nb_heard)m->kind : NB_HEARD_NONSENSE;
}
