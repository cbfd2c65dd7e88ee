/* SPDX-License-Identifier: GPL-3.0-or-later */
/* team.h - threads that share the tasks of one computation. What a task writes depends on its number alone, so results
 * are the same bits for any number of threads. */
#ifndef NB_TEAM_H
#define NB_TEAM_H

#include "base/ctx.h"

enum { NB_MOST_THREADS = 256 };

typedef struct nb_team nb_team;

/* A task, and which of the team's threads does it, from 0. Of contexts it may use that thread's. */
typedef void nb_task(void *self, int task, int thread);

/* So many threads, the calling one among them; they end with ctx's memory. NB_EHOST if the system gives no thread. */
nb_status nb_team_new(int threads, nb_team **team, nb_ctx *ctx);
int nb_team_threads(const nb_team *team);

/* A thread's own memory, error and random stream, for its tasks alone. */
nb_ctx *nb_team_ctx(const nb_team *team, int thread);

/* Does tasks 0 ... count - 1 and returns when all are done; their multiplications count as the caller's. For the thread
 * that made the team, and not within a task. */
void nb_team_run(nb_team *team, int count, nb_task *task, void *self);

/* A stage of work on several heads: task head * per_head + i is the head's i-th. */
typedef struct {
    int per_head;
    nb_task *task;
    double busy_s; /* is set: what its tasks took, summed over them */
} nb_stage;

/* Does all stages' tasks as nb_team_run does one list. A head's next stage begins as soon as its last one is done, so
 * that threads do not wait for each other where heads do not divide evenly among them. NB_ENOMEM. */
nb_status nb_team_run_stages(nb_team *team, int heads, int count, nb_stage *stages, void *self, nb_ctx *ctx);

#endif
