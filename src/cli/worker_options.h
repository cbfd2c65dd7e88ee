/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker_options.h - the options for workers: their number and limits. */
#ifndef NB_WORKER_OPTIONS_H
#define NB_WORKER_OPTIONS_H

#include "cli/command.h"
#include "linalg/blas.h"
#include "run/workers.h"

typedef struct {
    nb_whole_value jobs, blas_threads;
    nb_real_value timeout;
    char *memory; /* NULL: not given */
} nb_worker_choices;

enum { NB_MOST_JOBS = 1024 };
#define NB_WORKER_DEFAULTS \
    { \
        .jobs = {.max = NB_MOST_JOBS}, .blas_threads = {.min = 1, .max = nb_blas_most_threads(), .value = 1}, \
        .timeout = { \
            .min = 1e-3, \
            .max = 1e7 \
        } \
    }

#define NB_WORKER_OPTIONS(c) \
    {"jobs", \
     'j', \
     POPT_ARG_STRING, \
     &(c).jobs.text, \
     NB_TAKES_WHOLE, \
     "Worker processes, 1 to 1024 (default: one for each CPU that may be used); 0: compute in this process, " \
     "for a debugger", \
     "N"}, \
        {"blas-threads", \
         '\0', \
         POPT_ARG_STRING, \
         &(c).blas_threads.text, \
         NB_TAKES_WHOLE, \
         "Threads of OpenBLAS in each worker (default: 1; with more, --jobs is 1 unless given)", \
         "N"}, \
        {"timeout", \
         '\0', \
         POPT_ARG_STRING, \
         &(c).timeout.text, \
         NB_TAKES_PATIENCE, \
         "Seconds that making the data, picking or a core may take, each (default: no limit)", \
         "SECONDS"}, \
    { \
        "memory", '\0', POPT_ARG_STRING, &(c).memory, 0, \
            "Memory for all workers together: a number and K, M, G or T (powers of 1024), such as 8G " \
            "(default: what is available)", \
            "SIZE" \
    }

/* Sets the workers that the options ask for. Returns NB_GO_ON, or the exit status after a usage error. */
int nb_worker_read(const nb_command *command, const nb_worker_choices *choices, nb_workers *workers);

#endif
