/* SPDX-License-Identifier: GPL-3.0-or-later */
/* channel.h - messages from a worker to its parent: frames (base/frame.h) in the packets of a socket. */
#ifndef NB_CHANNEL_H
#define NB_CHANNEL_H

#include "base/frame.h"
#include "components/row.h"

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
    void *result;              /* the measured part of the study's row, as in memory */
    size_t result_bytes;
} nb_message;

enum { NB_MOST_REASON = 4096, NB_PACKET_BYTES = 16384 };

typedef struct { /* whole frames in first ... used - 1; {0}: none */
    size_t first, used;
    char bytes[NB_PACKET_BYTES];
} nb_packet;

/* Sends a message, behind the rows that wait in the packet; a row waits there while there is room. Its texts are cut
 * at the longest length that is sent. False if the other side is gone. */
bool nb_channel_send(int fd, nb_packet *packet, nb_message message);
bool nb_channel_flush(int fd, nb_packet *packet); /* sends the rows that wait; likewise */

/* Reads the next message from the packet or, if none is left there, from the next packet, without waiting. Whatever
 * nb_channel_send did not send is nonsense. ctx owns its texts and its result. NB_ENOMEM. */
nb_status nb_channel_read(int fd, nb_packet *packet, nb_message *message, nb_ctx *ctx);

/* The texts that measuring has set, in one text for a message, and back: columns that are `told`, and the reason. ctx
 * owns them. What a worker has made of such a text sets no more than these. */
nb_status nb_channel_join(const nb_column *columns, const nb_row *row, const char **text, nb_ctx *ctx);
nb_status nb_channel_split(const nb_column *columns, const char *text, nb_row *row, nb_ctx *ctx);

#endif
