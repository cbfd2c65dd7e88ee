/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame.h - what a child process sends its parent, through a pipe or a socket: frames of values. A frame is a magic
 * number, its kind and the length of its body, and then the body. Both processes run the same program, so values are
 * sent as they are in memory. Any code in the child may write into the pipe too: the parent trusts nothing, gets no
 * more than came, and no pointer. */
#ifndef NB_FRAME_H
#define NB_FRAME_H

#include "base/ctx.h"

/* The body. The same function moves its values on both sides: in the child it sends what it is given, in the parent it
 * sets that to what was sent. In the child it is called twice, first for the length alone. */
typedef struct nb_parcel nb_parcel;
void nb_parcel_move(nb_parcel *parcel, void *bytes, size_t count);

/* Moves an array, which may be NULL, or a text. Each returns what it is given in the child, and a copy in the parent,
 * which the context of nb_frame_read owns. */
void *nb_parcel_array(nb_parcel *parcel, void *array, size_t count, size_t size);
const char *nb_parcel_text(nb_parcel *parcel, const char *text);

/* Moves texts behind which stands NULL, likewise; NULL: there are none. */
const char *const *nb_parcel_texts(nb_parcel *parcel, const char *const *texts);

typedef struct {
    int kind; /* which values the body holds; sender and reader agree on that */
    void *self;
    void (*move)(void *self, nb_parcel *parcel);
} nb_frame;

/* Returns the length of a frame, with its head. */
size_t nb_frame_size(const nb_frame *frame);

/* Hands a frame of that size to `put`, piece by piece: never more than `size` bytes in all. */
typedef void nb_put_bytes(void *to, const void *bytes, size_t count);
void nb_frame_send(const nb_frame *frame, size_t size, nb_put_bytes *put, void *to);

/* Reads the frame that the bytes begin with: its kind, and what `move` sets. *size: its length; 0: they do not begin
 * with a whole frame of the values that `move` expects. NB_ENOMEM. */
nb_status nb_frame_read(nb_frame *frame, const char *bytes, size_t count, size_t *size, nb_ctx *ctx);

#endif
