/* SPDX-License-Identifier: GPL-3.0-or-later */
/* new_experiment.h - an experiment's file from a few answers: a template says which keys it has, in which order, what
 * they mean and what they are if nobody says otherwise. */
#ifndef NB_NEW_EXPERIMENT_H
#define NB_NEW_EXPERIMENT_H

#include "base/ctx.h"

/* What is known before anything is asked; NULL: nothing. Lists have commas between their items. */
typedef struct {
    const char *question, *landmarks, *strategies, *cores, *trials;
    const char *const *heads; /* FILE, FILE:H or a pattern with '*'; NULL-terminated */
} nb_new_answers;

/* Writes the file. With `ask`, what the answers lack is asked on the terminal, and each answer checked at once; else it
 * is as in the template. NB_EINVAL with the first mistake of the answers, or if the input ends; nothing is written
 * then. A file that is there is replaced. */
nb_status nb_new_experiment(const char *path, const nb_new_answers *answers, bool ask, nb_ctx *ctx);

#endif
