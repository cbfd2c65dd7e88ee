/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blame.h - why a worker ended, and what becomes of the rows that it was at. */
#ifndef NB_BLAME_H
#define NB_BLAME_H

#include "run/pool.h"

typedef struct {                 /* of a worker */
    const char *status, *reason; /* what its rows become if they are to blame */
    bool outside;                /* a signal that somebody else may have sent */
    nb_position at;
} nb_death;

nb_position nb_death_position(const nb_worker *worker);

/* What the study says of a phase; NULL: the worker is at none. And in words. */
const nb_phase *nb_pool_phase(const nb_pool *pool, int phase);
const char *nb_pool_doing(const nb_pool *pool, int phase);

/* The worker's channel has ended: ends it, and tells how it did. */
nb_status nb_death_autopsy(const nb_pool *pool, nb_worker *worker, nb_death *death);

/* The rows of a job whose worker is gone: they are tried again, apart from who is to blame, or it is they. */
nb_status nb_death_take_up(nb_pool *pool, const nb_job *job, const nb_death *death);

#endif
