/* SPDX-License-Identifier: GPL-3.0-or-later */
/* channel.h - messages from a worker to its parent over a stream socket. Both are the same program on the same machine,
 * so numbers are sent as in memory. Any code that runs in a worker may write into the socket too, so every message is
 * checked. */
#ifndef NB_CHANNEL_H
#define NB_CHANNEL_H

#include "base/ctx.h"

typedef enum { NB_TOLD_ROW, NB_TOLD_INSTANCE_DONE, NB_TOLD_JOB_DONE, NB_TOLD_FAILURE, NB_TOLD_COUNT } nb_told;

typedef struct {
    nb_told kind;
    int number;                  /* a row's index in the plan; a failure's nb_status */
    const char *status, *reason; /* a row's; for a failure the reason is its message; NULL is allowed */
    const void *result;          /* a row's: the measured part of the study's struct, as in memory */
    size_t result_bytes;
} nb_message;

/* Send or receive all bytes, however often the call is interrupted; false if the other side is gone. */
bool nb_channel_send(int fd, const void *data, size_t bytes);
bool nb_channel_receive(int fd, void *data, size_t bytes);

enum { NB_INBOX_BYTES = 16384 };

typedef struct { /* buffered rows; {0}: none */
    size_t used;
    char bytes[NB_INBOX_BYTES];
} nb_outbox;

/* Sends a message. A row may wait in the outbox until the next message that is not a row. Texts are cut at the longest
 * length that is written. False if the other side is gone. */
bool nb_channel_tell(int fd, nb_outbox *outbox, const nb_message *message);

typedef struct { /* received and unread bytes first ... used - 1; {0}: none */
    size_t first, used;
    char bytes[NB_INBOX_BYTES];
} nb_inbox;

/* Reads what is there without waiting; false if nothing more will come. */
bool nb_channel_fill(int fd, nb_inbox *inbox);

typedef enum { NB_HEARD_NOTHING, NB_HEARD_MESSAGE, NB_HEARD_NONSENSE } nb_heard;

/* Parses the next whole message; `memory` owns its texts. Anything that nb_channel_tell did not write is nonsense, and
 * so is whatever follows it. */
nb_status nb_channel_hear(nb_inbox *inbox, nb_heard *heard, nb_message *message, nb_ctx *memory);

#endif
