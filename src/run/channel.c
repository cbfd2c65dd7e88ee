/* SPDX-License-Identifier: GPL-3.0-or-later */
/* channel.c - a message is a head of fixed size, a result and two texts. */
#include "run/channel.h"

#include "components/row.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>

enum { MAGIC = 0x6e797362, MOST_TEXT = 4096 };

typedef struct {
    uint32_t magic;
    int32_t kind, number, result_bytes, status_bytes, reason_bytes; /* of texts with the final zero; 0: NULL */
} head;

enum { LARGEST = sizeof(head) + NB_MOST_ROW + 2 * MOST_TEXT };
_Static_assert((size_t)LARGEST <= NB_INBOX_BYTES, "the largest message fits into an inbox, and an outbox");

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

static int32_t text_bytes(const char *text)
{
    size_t length = text ? strnlen(text, MOST_TEXT - 1) : 0;
    return text ? (int32_t)length + 1 : 0;
}

/* Returns where the next one goes. */
static char *put_text(char *to, const char *text, int32_t bytes)
{
    if (bytes == 0) return to;
    memcpy(to, text, (size_t)bytes - 1);
    to[bytes - 1] = '\0';
    return to + bytes;
}

bool nb_channel_tell(int fd, nb_outbox *outbox, const nb_message *m)
{
    head h = {
        MAGIC, (int32_t)m->kind, m->number, (int32_t)m->result_bytes, text_bytes(m->status), text_bytes(m->reason)};
    char *end = outbox->bytes + outbox->used;
    memcpy(end, &h, sizeof h);
    end += sizeof h;
    if (h.result_bytes > 0) memcpy(end, m->result, m->result_bytes);
    end = put_text(end + h.result_bytes, m->status, h.status_bytes);
    end = put_text(end, m->reason, h.reason_bytes);
    size_t bytes = (size_t)(end - outbox->bytes);
    bool wait = m->kind == NB_TOLD_ROW && bytes + LARGEST <= sizeof outbox->bytes;
    outbox->used = wait ? bytes : 0;
    return wait || nb_channel_send(fd, outbox->bytes, bytes);
}

bool nb_channel_fill(int fd, nb_inbox *inbox)
{
    ssize_t count;
    inbox->used -= inbox->first;
    memmove(inbox->bytes, inbox->bytes + inbox->first, inbox->used);
    inbox->first = 0;
    if (inbox->used == sizeof inbox->bytes) return true;
    do count = recv(fd, inbox->bytes + inbox->used, sizeof inbox->bytes - inbox->used, MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count > 0) inbox->used += (size_t)count;
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}

static bool makes_sense(const head *h)
{
    return h->magic == MAGIC && h->kind >= 0 && h->kind < NB_TOLD_COUNT && h->result_bytes >= 0 &&
           h->result_bytes <= NB_MOST_ROW && h->status_bytes >= 0 && h->status_bytes <= MOST_TEXT &&
           h->reason_bytes >= 0 && h->reason_bytes <= MOST_TEXT;
}

/* False where the text does not end where it should. */
static nb_status copy_text(const char *from, int32_t bytes, const char **text, bool *good, nb_ctx *memory)
{
    *text = NULL;
    if (bytes == 0) return NB_OK;
    *good = *good && strnlen(from, (size_t)bytes) + 1 == (size_t)bytes;
    if (!*good) return NB_OK;
    NB_NEED(*text, nb_strdup(memory, from));
    NB_NEED(*text, nb_clean(memory, *text, ""));
    return NB_OK;
}

static nb_status copy_result(const char *from, nb_message *m, nb_ctx *memory)
{
    void *copy;
    if (m->result_bytes == 0) return NB_OK;
    NB_NEED(copy, nb_alloc(memory, m->result_bytes, 1));
    m->result = memcpy(copy, from, m->result_bytes);
    return NB_OK;
}

nb_status nb_channel_hear(nb_inbox *inbox, nb_heard *heard, nb_message *m, nb_ctx *memory)
{
    head h;
    bool good = true;
    *heard = NB_HEARD_NOTHING;
    const char *bytes = inbox->bytes + inbox->first;
    size_t there = inbox->used - inbox->first;
    if (there < sizeof h) return NB_OK;
    memcpy(&h, bytes, sizeof h);
    *heard = NB_HEARD_NONSENSE;
    if (!makes_sense(&h)) return NB_OK;
    size_t whole = sizeof h + (size_t)h.result_bytes + (size_t)h.status_bytes + (size_t)h.reason_bytes;
    *heard = NB_HEARD_NOTHING;
    if (there < whole) return NB_OK;
    const char *result = bytes + sizeof h, *texts = result + h.result_bytes;
    *m = (nb_message){.kind = (nb_told)h.kind, .number = h.number, .result_bytes = (size_t)h.result_bytes};
    NB_TRY(memory, copy_result(result, m, memory));
    NB_TRY(memory, copy_text(texts, h.status_bytes, &m->status, &good, memory));
    NB_TRY(memory, copy_text(texts + h.status_bytes, h.reason_bytes, &m->reason, &good, memory));
    *heard = good ? NB_HEARD_MESSAGE : NB_HEARD_NONSENSE;
    inbox->first += whole;
    return NB_OK;
}
