/* SPDX-License-Identifier: GPL-3.0-or-later */
/* channel.h - messages from a worker to its parent, in packets of a socket. Both are the same program on the same
 * machine, so numbers are sent as in memory. Any code that runs in a worker may write into the socket too, so every
 * message is checked. */
#ifndef NB_CHANNEL_H
#define NB_CHANNEL_H

#include "components/row.h"

#include <stdint.h>

/* A worker tells a row, by its index in the plan, its status and its reason; that an instance or a job is done; or the
 * nb_status and the message of an error. The parent also hears of nonsense and of the end. */
typedef enum {
    NB_HEARD_ROW,
    NB_HEARD_INSTANCE,
    NB_HEARD_JOB,
    NB_HEARD_ERROR,
    NB_HEARD_NONSENSE,
    NB_HEARD_END, /* nothing more will come */
    NB_HEARD_NOTHING
} nb_heard;

typedef struct {
    nb_heard kind;
    int number;
    const char *status, *text; /* NULL: none */
    const void *result;        /* the measured part of the study's row, as in memory */
    size_t result_bytes;
} nb_told;

enum { NB_MOST_REASON = 4096, NB_PACKET_BYTES = 16384 };

typedef struct { /* whole messages in first ... used - 1; {0}: none */
    size_t first, used;
    char bytes[NB_PACKET_BYTES];
} nb_packet;

/* Sends a message, behind the rows that wait in the packet; a row waits there while there is room. Its text is cut at
 * the longest length that is sent. False if the other side is gone. */
bool nb_channel_tell(int fd, nb_packet *packet, const nb_told *told);

typedef struct {
    uint32_t magic;
    int32_t kind, number, result_bytes, text_bytes;
    char status[16];
    char bytes[NB_MOST_ROW + NB_MOST_REASON]; /* the result, and the text */
} nb_message;

/* Takes the next message from the packet or, if none is left there, from the next packet, without waiting. Whatever
 * nb_channel_tell did not send is nonsense. */
nb_heard nb_channel_hear(int fd, nb_packet *packet, nb_message *message);

const char *nb_message_text(const nb_message *message);

/* The texts that measuring has set, in one text for a message, and back: columns that are `told`, and the reason. ctx
 * owns them. What a worker has made of such a text sets no more than these. */
nb_status nb_channel_join(const nb_column *columns, const nb_row *row, const char **text, nb_ctx *ctx);
nb_status nb_channel_split(const nb_column *columns, const char *text, nb_row *row, nb_ctx *ctx);

#endif
