/* SPDX-License-Identifier: GPL-3.0-or-later */
/* new_experiment.h - writes an experiment's file from a few answers. A template gives its keys, their order, meaning
 * and defaults. */
#ifndef NB_NEW_EXPERIMENT_H
#define NB_NEW_EXPERIMENT_H

#include "config/config.h"

/* Answers known before anything is asked. */
typedef struct {
    const nb_override *values; /* of keys; commas separate the items of lists; value NULL: none; ends with a NULL key */
    const char *const *heads;  /* each FILE, FILE:H or a pattern with '*'; NULL-terminated; NULL: none */
} nb_new_answers;

/* Writes the file, replacing an existing one. With `ask`, missing answers are asked for on the terminal, and each is
 * checked at once; else they are the template's. NB_EINVAL with the first mistake in the answers, or if the input ends;
 * then nothing is written. */
nb_status nb_new_experiment(const char *path, const nb_new_answers *answers, bool ask, nb_ctx *ctx);

#endif
