/* SPDX-License-Identifier: GPL-3.0-or-later */
/* worker_options.h - the options for workers: their number and limits. */
#ifndef NB_WORKER_OPTIONS_H
#define NB_WORKER_OPTIONS_H

#include "cli/command.h"
#include "run/workers.h"

typedef struct {
    char *jobs, *blas_threads, *timeout, *memory; /* NULL: not given */
} nb_worker_choices;

#define NB_WORKER_OPTIONS(c) \
    {"jobs", \
     'j', \
     POPT_ARG_STRING, \
     &(c).jobs, \
     0, \
     "Worker processes, 1 to 1024 (default: one for each CPU that may be used); 0: compute in this process, " \
     "for a debugger", \
     "N"}, \
        {"blas-threads", \
         '\0', \
         POPT_ARG_STRING, \
         &(c).blas_threads, \
         0, \
         "Threads of OpenBLAS in each worker (default: 1; with more, --jobs is 1 unless given)", \
         "N"}, \
        {"timeout", \
         '\0', \
         POPT_ARG_STRING, \
         &(c).timeout, \
         0, \
         "Limit in seconds for each of a method's data, pick, core and share of the measurement (default: none)", \
         "SECONDS"}, \
    { \
        "memory", '\0', POPT_ARG_STRING, &(c).memory, 0, \
            "Memory for all workers together: a number and K, M, G or T (powers of 1024), such as 8G " \
            "(default: what is available)", \
            "SIZE" \
    }

/* Takes ownership of the texts. */
nb_status nb_worker_own(const nb_worker_choices *choices, nb_ctx *ctx);

/* Sets the context's patience with plug-ins before anything runs to --timeout, but at least a second. Returns NB_GO_ON,
 * or the exit status after a usage error. */
int nb_worker_patience(const nb_command *command, const nb_worker_choices *choices, nb_ctx *ctx);

/* Reads the options. Returns NB_GO_ON, or the exit status after a usage error. */
int nb_worker_read(const nb_command *command, const nb_worker_choices *choices, nb_workers *workers);

#endif
