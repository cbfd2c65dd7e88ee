/* SPDX-License-Identifier: GPL-3.0-or-later */
/* limits.h - how many workers a run has, and what each may take. */
#ifndef NB_LIMITS_H
#define NB_LIMITS_H

typedef struct {
    int jobs;         /* processes that compute beside this one; 0: this one does it */
    int blas_threads; /* of each */
    double timeout_s; /* that one row may take; 0: no limit */
    double memory;    /* bytes, of all workers together; 0: not limited */
    double share;     /* bytes that one may take beside what it has at its start; 0: not limited */
} nb_workers;

#endif
