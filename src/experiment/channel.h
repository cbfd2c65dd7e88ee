/* channel.h - what a worker tells its parent, over a stream socket. Both are the
 * same program on the same machine, so numbers travel as they lie in memory. */
#ifndef NB_CHANNEL_H
#define NB_CHANNEL_H

#include "base/ctx.h"
#include "measure/measures.h"

typedef enum { NB_TOLD_ROW, NB_TOLD_INSTANCE_DONE, NB_TOLD_UNIT_DONE, NB_TOLD_FAILURE } nb_told;

typedef struct {
    nb_told kind;
    int number;                  /* a row's index in the plan; a failure's nb_status */
    const char *status, *reason; /* a row's; a failure's message is the reason; NULL is allowed */
    nb_measures measures;        /* a row's */
} nb_message;

/* All of the bytes, however often the call is interrupted; false where the other side is gone. */
bool nb_channel_send(int fd, const void *data, size_t bytes);
bool nb_channel_receive(int fd, void *data, size_t bytes);

bool nb_channel_tell(int fd, const nb_message *message);
/* The texts are owned by memory. *there is false, and nothing heard, where the other side is gone. */
nb_status nb_channel_hear(int fd, nb_message *message, bool *there, nb_ctx *memory);

#endif
