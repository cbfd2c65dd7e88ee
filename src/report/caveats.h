/* SPDX-License-Identifier: GPL-3.0-or-later */
/* caveats.h - what the rows of a run say against themselves: a sentence for each reason to trust them less, with its
 * numbers. */
#ifndef NB_CAVEATS_H
#define NB_CAVEATS_H

#include "components/study.h"
#include "report/frame.h"
#include "run/store.h"

typedef struct {
    int count, room;
    const char **texts;
} nb_caveats;

/* Of all rows of the store, which `frame` has:
 *     rows that have not been measured yet, went wrong, ran out of memory, or came with a warning
 *     models with fewer than NB_LEAST_SOURCES sources
 *     draws of fewer than five trials
 *     an oracle that has the least of the study's first measure more often than any other method
 *     values of it that are not above their rounding noise
 *     methods that are no better than the trivial answer in more than half of their rows
 *     rows whose memory was not told, or took more than half of the machine's
 *     times that were predicted to be less than half or more than twice as long
 *     rows of several builds, machines, or, of a study that measures times, several sessions */
nb_status nb_caveats_find(const nb_frame *frame, const nb_study *study, nb_store *store, nb_caveats *found,
                          nb_ctx *ctx);

/* One more: a copy of the text, the ctx's; NB_ENOMEM if it is NULL. */
nb_status nb_caveats_add(nb_caveats *found, const char *text, nb_ctx *ctx);

#endif
