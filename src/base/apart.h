/* SPDX-License-Identifier: GPL-3.0-or-later */
/* apart.h - runs code that may crash, hang or change its surroundings in a child process first. */
#ifndef NB_APART_H
#define NB_APART_H

#include "base/ctx.h"

#include <stddef.h>

/* Calls act(self, ctx) in a child process for at most limit_s seconds. Returns its status and message, and copies the
 * `bytes` bytes of `answer` that it may fill, as if it had been called here. NB_EBUG if it did not return ("killed by
 * signal 6 (Aborted)") or changed its surroundings ("changed ..."). Its standard output is discarded. */
nb_status nb_apart(nb_status (*act)(void *self, nb_ctx *ctx), void *self, double limit_s, void *answer, size_t bytes,
                   nb_ctx *ctx);

/* The same with the context's patience as the limit. The message of an NB_EBUG names the component and the call: "mine:
 * calling its shape: killed by signal 6 (Aborted)". */
nb_status nb_apart_named(nb_status (*act)(void *self, nb_ctx *ctx), void *self, void *answer, size_t bytes,
                         const char *name, const char *what, nb_ctx *ctx);

#endif
