/* SPDX-License-Identifier: GPL-3.0-or-later */
/* apart.h - calls a function in a child process, where it may crash, hang or change whatever it likes: only what it
 * hands over comes back. */
#ifndef NB_APART_H
#define NB_APART_H

#include "base/frame.h"
#include "base/process.h"

typedef struct {
    void *self;
    nb_status (*act)(void *self, nb_ctx *ctx);   /* called in the child */
    void (*move)(void *self, nb_parcel *parcel); /* called on both sides once `act` has returned (frame.h); or NULL */
    double limit_s;
    void *answer; /* `bytes` bytes that `act` may fill, which are moved too */
    size_t bytes;
    bool quiet;  /* its standard output is discarded */
    size_t most; /* bytes of the frame; one with many more is garbled. 0: NB_MOST_HEARD */
} nb_errand;

typedef enum { NB_RETURNED, NB_CLOSED, NB_GARBLED, NB_ENDED } nb_homecoming;

typedef struct {
    /* `act` returned, and its frame came whole; or the child closed the pipe; or something else was written there; or
     * the child ended. */
    nb_homecoming how;
    nb_status status; /* of `act`; its error's message */
    char message[1024];
    nb_ending ending; /* of the child */
} nb_return;

/* Runs an errand in a child, whose only descriptors are the standard ones and the pipe, and waits for its end. Returns
 * an error only if this process lacks something: NB_EHOST or NB_ENOMEM. */
nb_status nb_errand_run(const nb_errand *errand, nb_return *back, nb_ctx *ctx);

/* Runs an errand and returns the status and message of its act, as if it had been called here. NB_EBUG if it did not
 * return ("killed by signal 6 (Aborted)"). */
nb_status nb_errand_do(const nb_errand *errand, nb_ctx *ctx);

/* Calls act(self, ctx) so, with its standard output discarded, and copies the `bytes` bytes of `answer` that it may
 * fill. */
nb_status nb_apart(nb_status (*act)(void *self, nb_ctx *ctx), void *self, double limit_s, void *answer, size_t bytes,
                   nb_ctx *ctx);

#endif
