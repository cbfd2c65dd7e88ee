/* SPDX-License-Identifier: GPL-3.0-or-later */
/* channel.c - see channel.h. */
#include "run/channel.h"

#include "base/builder.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { MAGIC = 0x6e797362 };

enum { HEAD = offsetof(nb_message, bytes) };

static void append(nb_packet *packet, const void *bytes, size_t count)
{
    if (count > 0) memcpy(packet->bytes + packet->used, bytes, count);
    packet->used += count;
}

bool nb_channel_tell(int fd, nb_packet *packet, const nb_told *told)
{
    size_t length = told->text ? strnlen(told->text, NB_MOST_REASON - 1) : 0;
    nb_message head = {MAGIC, (int32_t)told->kind, told->number, (int32_t)told->result_bytes, (int32_t)length + 1, "",
                       ""};
    ssize_t sent;
    if (told->status) strncpy(head.status, told->status, sizeof head.status - 1);
    append(packet, &head, HEAD);
    append(packet, told->result, told->result_bytes);
    append(packet, told->text, length);
    append(packet, "", 1);
    if (told->kind == NB_HEARD_ROW && packet->used + sizeof(nb_message) <= sizeof packet->bytes) return true;
    do sent = send(fd, packet->bytes, packet->used, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    packet->used = 0;
    return sent >= 0;
}

/* Each told column ends with this; the reason comes last. */
#define END '\x1f'

nb_status nb_channel_join(const nb_column *columns, const nb_row *row, const char **text, nb_ctx *ctx)
{
    nb_string all = NB_NO_TEXT;
    for (const nb_column *c = columns; c->name; c++) {
        if (!c->told) continue;
        const char *value = *(const char *const *)(const void *)((const char *)row + c->offset);
        if (value) NB_NEED(value, nb_clean(ctx, value, ""));
        NB_TRY(ctx, nb_append(&all, ctx, "%s%c", value ? value : "", END));
    }
    if (row->reason) NB_TRY(ctx, nb_append(&all, ctx, "%s", row->reason));
    *text = all.text;
    return NB_OK;
}

nb_status nb_channel_split(const nb_column *columns, const char *text, nb_row *row, nb_ctx *ctx)
{
    for (const nb_column *c = columns; c->name; c++) {
        const char *end = c->told ? strchr(text, END) : NULL, *value;
        if (!end) continue;
        NB_NEED(value, nb_format(ctx, "%.*s", (int)(end - text), text));
        NB_NEED(value, nb_clean(ctx, value, ""));
        if (*value) *(const char **)(void *)((char *)row + c->offset) = value;
        text = end + 1;
    }
    if (!*text) return NB_OK;
    NB_NEED(text, nb_strdup(ctx, text)); /* which nb_clean may leave as it is */
    NB_NEED(row->reason, nb_clean(ctx, text, ""));
    return NB_OK;
}

const char *nb_message_text(const nb_message *m)
{
    return m->bytes + m->result_bytes;
}

/* Receives the next packet; NB_HEARD_NOTHING also if there is one. */
static nb_heard receive(int fd, nb_packet *packet)
{
    ssize_t count;
    do count = recv(fd, packet->bytes, sizeof packet->bytes, MSG_DONTWAIT | MSG_TRUNC);
    while (count < 0 && (errno == EINTR || errno == ECONNRESET)); /* it ended and left something unread: go on here */
    if (count == 0 || (count < 0 && errno != EAGAIN)) return NB_HEARD_END;
    if (count > (ssize_t)sizeof packet->bytes) return NB_HEARD_NONSENSE;
    packet->first = 0;
    packet->used = count > 0 ? (size_t)count : 0;
    return NB_HEARD_NOTHING;
}

nb_heard nb_channel_hear(int fd, nb_packet *packet, nb_message *m)
{
    nb_heard heard = packet->first == packet->used ? receive(fd, packet) : NB_HEARD_NOTHING;
    size_t left = packet->used - packet->first;
    if (heard != NB_HEARD_NOTHING || left == 0) return heard;
    if (left < HEAD) return NB_HEARD_NONSENSE;
    memcpy(m, packet->bytes + packet->first, HEAD);
    if (m->magic != MAGIC || m->kind < 0 || m->kind >= NB_HEARD_NONSENSE || m->result_bytes < 0 ||
        m->result_bytes > NB_MOST_ROW || m->text_bytes < 1 || m->text_bytes > NB_MOST_REASON ||
        !memchr(m->status, '\0', sizeof m->status))
        return NB_HEARD_NONSENSE;
    size_t bytes = (size_t)m->result_bytes + (size_t)m->text_bytes;
    if (bytes > left - HEAD) return NB_HEARD_NONSENSE;
    memcpy(m->bytes, packet->bytes + packet->first + HEAD, bytes);
    packet->first += HEAD + bytes;
    return strnlen(nb_message_text(m), (size_t)m->text_bytes) + 1 == (size_t)m->text_bytes ? (nb_heard)m->kind
                                                                                           : NB_HEARD_NONSENSE;
}
