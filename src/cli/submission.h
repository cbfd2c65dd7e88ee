/* SPDX-License-Identifier: GPL-3.0-or-later */
/* submission.h - what was sent to Slurm for a run: RUN/submissions/NUMBER holds the config
 * as it was then, the scripts, the logs, and submission.json. */
#ifndef NB_SUBMISSION_H
#define NB_SUBMISSION_H

#include "run/shard.h"

#include <sys/types.h>

#define NB_SUBMISSIONS_FOLDER "submissions"
#define NB_SUBMISSION_FILE "submission.json"
#define NB_SUBMISSION_CONFIG "experiment.yaml"

typedef struct {
    const char *folder;
    int shards, minutes;
    int sent_count, *sent;     /* shards of the array */
    const char *array, *merge; /* jobs; NULL: not submitted */
    uid_t user;                /* whose they are */
} nb_submission;

/* Of a run, the oldest first. */
nb_status nb_submissions_load(const char *run, int *count, nb_submission **submissions, nb_ctx *ctx);
/* Its folder is there. */
nb_status nb_submission_save(const nb_submission *submission, nb_ctx *ctx);

typedef struct {
    int planned, done, failed; /* rows; done: whatever came of them */
    bool other_build;          /* it has rows that another program has measured */
    bool locked;               /* a process works on it, as far as this machine sees */
    const nb_submission *sent; /* the latest that sent it; NULL: none did */
    const char *queue;         /* its state in the queue; NULL: not there */
} nb_shard_state;

/* How far the shards of a run are, `count` + 1 states from 1 on: `of` is their assignment.
 * The queue is not asked. */
nb_status nb_shard_states(const char *run, const nb_plan *plan, const int *of, int count, nb_shard_state **states,
                          nb_ctx *ctx);

/* Fills in sent and queue, from the submissions into `count` shards. Nobody is asked
 * where there are none. NB_EIO where squeue does not answer; sent is filled in even then. */
nb_status nb_shard_states_ask(int submission_count, const nb_submission *submissions, int count, nb_shard_state *states,
                              nb_ctx *ctx);

#endif
