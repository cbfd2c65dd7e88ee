/* SPDX-License-Identifier: GPL-3.0-or-later */
/* new_experiment.h - writes an experiment's file from a few answers. A template gives its keys, their order, meaning
 * and defaults. */
#ifndef NB_NEW_EXPERIMENT_H
#define NB_NEW_EXPERIMENT_H

#include "base/ctx.h"

/* Answers known before anything is asked; NULL: none. Commas separate the items of lists. */
typedef struct {
    const char *question, *landmarks, *strategies, *cores, *trials;
    const char *const *heads; /* each FILE, FILE:H or a pattern with '*'; NULL-terminated */
} nb_new_answers;

/* Writes the file, replacing an existing one. With `ask`, missing answers are asked for on the terminal, and each is
 * checked at once; else they are the template's. NB_EINVAL with the first mistake in the answers, or if the input ends;
 * then nothing is written. */
nb_status nb_new_experiment(const char *path, const nb_new_answers *answers, bool ask, nb_ctx *ctx);

#endif
