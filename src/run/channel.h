/* SPDX-License-Identifier: GPL-3.0-or-later */
/* channel.h - what a worker tells its parent, over a stream socket. Both are the
 * same program on the same machine, so numbers travel as they lie in memory.
 * Whatever runs in a worker may write into the socket too, so what comes is
 * looked at before it is believed. */
#ifndef NB_CHANNEL_H
#define NB_CHANNEL_H

#include "base/ctx.h"

typedef enum { NB_TOLD_ROW, NB_TOLD_INSTANCE_DONE, NB_TOLD_JOB_DONE, NB_TOLD_FAILURE, NB_TOLD_COUNT } nb_told;

typedef struct {
    nb_told kind;
    int number;                  /* a row's index in the plan; a failure's nb_status */
    const char *status, *reason; /* a row's; a failure's message is the reason; NULL is allowed */
    const void *result;          /* a row's: what the study measures, as it lies in its struct */
    size_t result_bytes;
} nb_message;

/* All of the bytes, however often the call is interrupted; false where the other side is gone. */
bool nb_channel_send(int fd, const void *data, size_t bytes);
bool nb_channel_receive(int fd, void *data, size_t bytes);

enum { NB_INBOX_BYTES = 16384 };

typedef struct { /* rows that wait for company; {0}: none */
    size_t used;
    char bytes[NB_INBOX_BYTES];
} nb_outbox;

/* A row may wait in the outbox, at most until the next message that is none. Texts are
 * cut where they are longer than any that is written. False where the other side is gone. */
bool nb_channel_tell(int fd, nb_outbox *outbox, const nb_message *message);

typedef struct { /* what has come and is not read yet, bytes first ... used - 1; {0}: nothing */
    size_t first, used;
    char bytes[NB_INBOX_BYTES];
} nb_inbox;

/* Takes what is there, without waiting; false where nothing more will come. */
bool nb_channel_fill(int fd, nb_inbox *inbox);

typedef enum { NB_HEARD_NOTHING, NB_HEARD_MESSAGE, NB_HEARD_NONSENSE } nb_heard;

/* The next whole message, with texts owned by memory. Nonsense is what no
 * nb_channel_tell has written, and whatever follows it. */
nb_status nb_channel_hear(nb_inbox *inbox, nb_heard *heard, nb_message *message, nb_ctx *memory);

#endif
