/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blame.h - finds why a worker ended, and what to do with the rows that it was computing. */
#ifndef NB_BLAME_H
#define NB_BLAME_H

#include "run/pool.h"

typedef struct {                 /* how a worker ended */
    const char *status, *reason; /* status of its rows if they caused the end */
    bool outside;                /* it was a signal that may have come from outside */
    nb_position at;
} nb_death;

nb_position nb_death_position(const nb_worker *worker);

/* Return the study's record of a phase (NULL: the worker is in none), and the phase in words. */
const nb_phase *nb_pool_phase(const nb_pool *pool, int phase);
const char *nb_pool_doing(const nb_pool *pool, int phase);

/* Called on EOF from a worker: reaps it and records how it ended. */
nb_status nb_death_autopsy(const nb_pool *pool, nb_worker *worker, nb_death *death);

/* Handles the rows of a job whose worker is gone: queues them again, apart from those that may have caused it, or
 * records that they caused it. */
nb_status nb_death_take_up(nb_pool *pool, const nb_job *job, const nb_death *death);

#endif
