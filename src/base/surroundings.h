/* SPDX-License-Identifier: GPL-3.0-or-later */
/* surroundings.h - a snapshot of process-wide state (working folder, signal mask, floating-point mode, locale, ...)
 * that a plug-in must leave as it found it. */
#ifndef NB_SURROUNDINGS_H
#define NB_SURROUNDINGS_H

#include "base/ctx.h"

#include <stdint.h>

enum { NB_SURROUNDINGS = 17 };

typedef struct {
    uint64_t of[NB_SURROUNDINGS]; /* a checksum of each part */
} nb_surroundings;

/* Takes a snapshot; about 20 us. */
nb_surroundings nb_surroundings_now(void);

/* Returns the parts that have changed: bit i stands for nb_surroundings_names[i]. */
extern const char *const nb_surroundings_names[NB_SURROUNDINGS];
uint32_t nb_surroundings_changed(const nb_surroundings *before, const nb_surroundings *now);

/* Joins `count` names: "the working folder, the timers and Q"; "" if there are none, NULL when out of memory. */
const char *nb_list_names(int count, const char *const *names, nb_ctx *ctx);
const char *nb_surroundings_text(uint32_t changed, nb_ctx *ctx);

/* Returns a checksum that differs if one byte, or several adjacent ones, differ; some GB/s. `start` is the checksum of
 * the bytes before. */
uint64_t nb_checksum(const void *bytes, size_t count, uint64_t start);

#endif
