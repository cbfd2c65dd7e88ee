/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm.h - what is asked of Slurm, by its own programs. */
#ifndef NB_SLURM_H
#define NB_SLURM_H

#include "base/ctx.h"

#include <sys/types.h>

/* Submits with those options and that script; the job's number, as squeue has it. */
nb_status nb_slurm_submit(const char *const *options, const char *script, const char **job, nb_ctx *ctx);

/* The command by which it does, NULL-terminated. */
nb_status nb_slurm_command(const char *const *options, const char *script, char ***words, nb_ctx *ctx);

typedef struct {
    const char *job, *state; /* RUNNING, PENDING, ... */
    int index;               /* in its array; -1: it is no array's */
} nb_slurm_task;

/* What that user has in the queue. */
nb_status nb_slurm_queue(uid_t user, int *count, nb_slurm_task **tasks, nb_ctx *ctx);

#endif
