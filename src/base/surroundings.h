/* SPDX-License-Identifier: GPL-3.0-or-later */
/* surroundings.h - the state of a process on which all its code relies: a plug-in has to leave it as it was. */
#ifndef NB_SURROUNDINGS_H
#define NB_SURROUNDINGS_H

#include "base/ctx.h"

#include <stdint.h>

enum { NB_SURROUNDINGS = 17 };

typedef struct {
    uint64_t of[NB_SURROUNDINGS]; /* a number for each, equal as long as the state is */
} nb_surroundings;

/* Some 20 us. */
nb_surroundings nb_surroundings_now(void);

/* Which parts have changed: bit i stands for nb_surroundings_names[i]. */
extern const char *const nb_surroundings_names[NB_SURROUNDINGS];
uint32_t nb_surroundings_changed(const nb_surroundings *before, const nb_surroundings *now);

/* "the working folder, the timers and Q": `count` names; "" if there is none, NULL where memory is out. */
const char *nb_list_names(int count, const char *const *names, nb_ctx *ctx);
const char *nb_surroundings_text(uint32_t changed, nb_ctx *ctx);

/* A different number if any byte, or several adjacent ones, differ; some GB/s. `start` is the checksum of what comes
 * before. */
uint64_t nb_checksum(const void *bytes, size_t count, uint64_t start);

#endif
