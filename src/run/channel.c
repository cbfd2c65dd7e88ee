/* SPDX-License-Identifier: GPL-3.0-or-later */
/* channel.c - see channel.h. */
#include "run/channel.h"

#include "base/builder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static void move_message(void *self, nb_parcel *parcel)
{
    nb_message *m = self;
    nb_parcel_move(parcel, &m->number, sizeof m->number);
    m->status = nb_parcel_text(parcel, m->status);
    m->text = nb_parcel_text(parcel, m->text);
    nb_parcel_move(parcel, &m->result_bytes, sizeof m->result_bytes);
    m->result = nb_parcel_array(parcel, m->result, m->result_bytes, 1);
}

static void append(void *packet_, const void *bytes, size_t count)
{
    nb_packet *packet = packet_;
    memcpy(packet->bytes + packet->used, bytes, count);
    packet->used += count;
}

bool nb_channel_flush(int fd, nb_packet *packet)
{
    ssize_t sent = 0;
    while (packet->used > 0 && (sent = send(fd, packet->bytes, packet->used, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
    }
    packet->used = 0;
    return sent >= 0;
}

static const char *cut_text(const char *text, char *room, size_t size)
{
    if (text) snprintf(room, size, "%s", text);
    return text ? room : NULL;
}

bool nb_channel_send(int fd, nb_packet *packet, nb_message message)
{
    char status[16], text[NB_MOST_REASON];
    const nb_frame frame = {(int)message.kind, &message, move_message};
    message.status = cut_text(message.status, status, sizeof status);
    message.text = cut_text(message.text, text, sizeof text);
    size_t size = nb_frame_size(&frame);
    bool fits = packet->used + size <= sizeof packet->bytes;
    if (!fits && !nb_channel_flush(fd, packet)) return false;
    nb_frame_send(&frame, size, append, packet);
    return message.kind == NB_HEARD_ROW || nb_channel_flush(fd, packet);
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

nb_status nb_channel_read(int fd, nb_packet *packet, nb_message *m, nb_ctx *ctx)
{
    size_t size;
    nb_frame frame = {.self = m, .move = move_message};
    *m = (nb_message){.kind = packet->first == packet->used ? receive(fd, packet) : NB_HEARD_NOTHING};
    if (m->kind != NB_HEARD_NOTHING || packet->first == packet->used) return NB_OK;
    NB_TRY(ctx, nb_frame_read(&frame, packet->bytes + packet->first, packet->used - packet->first, &size, ctx));
    packet->first += size;
    m->kind = size > 0 && frame.kind >= 0 && frame.kind < NB_HEARD_NONSENSE ? (nb_heard)frame.kind : NB_HEARD_NONSENSE;
    return NB_OK;
}
