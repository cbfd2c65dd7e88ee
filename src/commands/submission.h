/* SPDX-License-Identifier: GPL-3.0-or-later */
/* submission.h - what was sent to Slurm for a run: RUN/submissions/NUMBER holds the config of that time, the scripts,
 * the logs, and submission.json. */
#ifndef NB_SUBMISSION_H
#define NB_SUBMISSION_H

#include "run/shard.h"
#include "base/ctx.h"

#include <sys/types.h>

#define NB_SUBMISSIONS_FOLDER "submissions"
#define NB_SUBMISSION_FILE "submission.json"
#define NB_SUBMISSION_CONFIG "experiment.yaml"

typedef struct {
    const char *folder;
    int shards, minutes;
    int sent_count, *sent;     /* shards in the array */
    const char *array, *merge; /* jobs; NULL: not submitted */
    uid_t user;                /* owner of the jobs */
} nb_submission;

/* Loads the submissions of a run, oldest first. */
nb_status nb_submissions_load(const char *run, int *count, nb_submission **submissions, nb_ctx *ctx);
/* Saves a submission; its folder must exist. */
nb_status nb_submission_save(const nb_submission *submission, nb_ctx *ctx);

typedef struct {
    int planned, done, failed; /* rows; done: with any outcome */
    bool other_build;          /* it has rows measured by another program */
    bool locked;               /* a process works on it, as far as this machine can see */
    const nb_submission *sent; /* the latest submission with it; NULL: none */
    const char *queue;         /* its state in the queue; NULL: not queued */
} nb_shard_state;

/* Finds how far the shards of a run are: `count` + 1 states, from index 1 on; `of` is their assignment. Does not ask
 * the queue. */
nb_status nb_shard_states(const char *run, const nb_plan *plan, const int *of, int count, nb_shard_state **states,
                          nb_ctx *ctx);

/* Fills in `sent` and `queue` from the submissions into `count` shards. Asks no one if there are none. NB_EIO if squeue
 * does not answer; `sent` is filled in even then. */
nb_status nb_shard_states_ask(int submission_count, const nb_submission *submissions, int count, nb_shard_state *states,
                              nb_ctx *ctx);

/* Asks Slurm by its own programs. */

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
