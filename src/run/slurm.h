/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm.h - asks Slurm by its own programs. */
#ifndef NB_SLURM_H
#define NB_SLURM_H

#include "base/ctx.h"

#include <sys/types.h>

/* Submits a script with those options; *job is the job's number, as squeue shows it. */
nb_status nb_slurm_submit(const char *const *options, const char *script, const char **job, nb_ctx *ctx);

/* Makes the command that submits, NULL-terminated. */
nb_status nb_slurm_command(const char *const *options, const char *script, char ***words, nb_ctx *ctx);

typedef struct {
    const char *job, *state; /* RUNNING, PENDING, ... */
    int index;               /* index in its array; -1: no array */
} nb_slurm_task;

/* Lists that user's tasks in the queue. */
nb_status nb_slurm_queue(uid_t user, int *count, nb_slurm_task **tasks, nb_ctx *ctx);

#endif
