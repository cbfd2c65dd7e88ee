/* SPDX-License-Identifier: GPL-3.0-or-later */
/* apart.h - runs code that may crash, hang or change its surroundings in a child process first. */
#ifndef NB_APART_H
#define NB_APART_H

#include "base/ctx.h"

#include <stddef.h>

/* act(self, ctx) in a child process, which has that many seconds: its status and message, and `bytes` bytes at
 * `answer`, which it may fill, as if it had been called here. NB_EBUG if it did not return ("killed by signal 6
 * (Aborted)"), and where it returned and has changed its surroundings ("changed ..."). What it prints on standard
 * output is lost. */
nb_status nb_apart(nb_status (*act)(void *self, nb_ctx *ctx), void *self, double limit_s, void *answer, size_t bytes,
                   nb_ctx *ctx);

/* The same within the context's patience, with the component's name and what is called in the message of an NB_EBUG:
 * "mine: calling its shape: killed by signal 6 (Aborted)". */
nb_status nb_apart_named(nb_status (*act)(void *self, nb_ctx *ctx), void *self, void *answer, size_t bytes,
                         const char *name, const char *what, nb_ctx *ctx);

#endif
