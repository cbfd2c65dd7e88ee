/* SPDX-License-Identifier: GPL-3.0-or-later */
/* limits.h - the number of workers of a run, and the limits of each. */
#ifndef NB_LIMITS_H
#define NB_LIMITS_H

typedef struct {
    int jobs;         /* worker processes; 0: this process computes */
    int blas_threads; /* BLAS threads of each */
    double timeout_s; /* time limit of one row; 0: none */
    double memory;    /* bytes for all workers together; 0: no limit */
    double share;     /* bytes that one may allocate beyond those held at its start; 0: no limit */
} nb_workers;

#endif
