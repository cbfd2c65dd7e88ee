/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame.c - see frame.h. */
#include "base/frame.h"

#include <stdint.h>
#include <string.h>

enum { MAGIC = 0x6e797362 };

typedef struct {
    uint32_t magic;
    int32_t kind;
    uint64_t body_bytes;
} frame_head;

struct nb_parcel {
    enum { COUNTS, SENDS, READS } way;
    size_t counted;    /* bytes moved, or to be moved */
    size_t left;       /* bytes that may still be sent, or have come and were not taken */
    nb_put_bytes *put; /* SENDS */
    void *to;
    const char *next; /* READS: what comes next */
    nb_ctx *ctx;
    nb_status status; /* NB_EBUG if there are fewer bytes left than are moved; NB_ENOMEM */
};

void nb_parcel_move(nb_parcel *p, void *bytes, size_t count)
{
    p->counted += count;
    if (p->way == COUNTS || p->status != NB_OK || count == 0) return;
    if (count > p->left) {
        p->status = NB_EBUG;
        return;
    }
    p->left -= count;
    if (p->way == SENDS) {
        p->put(p->to, bytes, count);
    } else {
        memcpy(bytes, p->next, count);
        p->next += count;
    }
}

void *nb_parcel_array(nb_parcel *p, void *array, size_t count, size_t size)
{
    size_t bytes = 0;
    char there = array != NULL;
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = SIZE_MAX;
    nb_parcel_move(p, &there, sizeof there);
    if (p->way != READS && array) nb_parcel_move(p, array, bytes);
    if (p->way != READS) return array;
    if (there && bytes > p->left) p->status = NB_EBUG;
    if (!there || p->status != NB_OK) return NULL;
    void *copy = nb_alloc_unset(p->ctx, bytes, 1);
    if (copy)
        nb_parcel_move(p, copy, bytes);
    else
        p->status = NB_ENOMEM;
    return copy;
}

const char *nb_parcel_text(nb_parcel *p, const char *text)
{
    size_t bytes = p->way != READS && text ? strlen(text) + 1 : 0;
    union {
        const char *in;
        char *out;
    } moved = {.in = text};
    nb_parcel_move(p, &bytes, sizeof bytes);
    moved.out = nb_parcel_array(p, moved.out, bytes, 1);
    if (p->way == READS && moved.out && bytes > 0) moved.out[bytes - 1] = '\0';
    return bytes > 0 ? moved.in : NULL;
}

const char *const *nb_parcel_texts(nb_parcel *p, const char *const *texts)
{
    unsigned count = 0;
    union {
        const char *const *in;
        void *array;
        const char **out;
    } moved = {.in = texts};
    while (p->way != READS && texts && texts[count]) count++;
    nb_parcel_move(p, &count, sizeof count);
    moved.array = nb_parcel_array(p, moved.array, (size_t)count + 1, sizeof *texts);
    for (unsigned i = 0; moved.in && i < count; i++) {
        const char *text = nb_parcel_text(p, moved.in[i]);
        if (p->way == READS) moved.out[i] = text;
    }
    if (p->way == READS && moved.in) moved.out[count] = NULL;
    return moved.in;
}

size_t nb_frame_size(const nb_frame *frame)
{
    nb_parcel parcel = {.way = COUNTS};
    frame->move(frame->self, &parcel);
    return sizeof(frame_head) + parcel.counted;
}

void nb_frame_send(const nb_frame *frame, size_t size, nb_put_bytes *put, void *to)
{
    const frame_head head = {MAGIC, (int32_t)frame->kind, size - sizeof head};
    nb_parcel parcel = {.way = SENDS, .left = size - sizeof head, .put = put, .to = to};
    put(to, &head, sizeof head);
    frame->move(frame->self, &parcel);
}

nb_status nb_frame_read(nb_frame *frame, const char *bytes, size_t count, size_t *size, nb_ctx *ctx)
{
    frame_head head = {.magic = 0};
    *size = 0;
    if (count < sizeof head) return NB_OK;
    memcpy(&head, bytes, sizeof head);
    if (head.magic != MAGIC || head.body_bytes > count - sizeof head) return NB_OK;
    nb_parcel parcel = {.way = READS, .left = (size_t)head.body_bytes, .next = bytes + sizeof head, .ctx = ctx};
    frame->kind = head.kind;
    frame->move(frame->self, &parcel);
    if (parcel.status == NB_OK && parcel.left == 0) *size = sizeof head + (size_t)head.body_bytes;
    return parcel.status == NB_ENOMEM ? NB_ENOMEM : NB_OK;
}
