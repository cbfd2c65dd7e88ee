/* SPDX-License-Identifier: GPL-3.0-or-later */
/* handle.h - what is behind a nysbench, how a call with it begins and ends, and what the program adds to calls. */
#ifndef NB_HANDLE_H
#define NB_HANDLE_H

#include "api/nysbench.h"
#include "base/ctx.h"
#include "problems/problem.h"
#include "studies/error/study.h"

#include <locale.h>

/* Landmarks that no strategy has picked, and what the column `strategy` of their rows says; NULL: there are none. */
typedef struct {
    nb_picks queries, keys;
    const char *name;
} nb_given;

/* The command line's: a program that has arguments calls the library like any other, and sets this first. Texts of
 * options stand for the request's numbers, since messages quote them. */
typedef struct {
    const char *prefix; /* of the names of arguments in messages, "--" */
    bool processes;     /* components may start some */
    const char *seed, *trial, *landmarks, *causal;
    /* Asked when the head's shape is known, before strategy and landmarks are looked at; NULL: nobody asks. Where
     * `given` is not NULL it may give landmarks in their place, with a name. */
    nb_status (*seen)(void *self, const nb_problem_shape *shape, nb_given *given, nb_ctx *ctx);
    void *self;
} nb_host;

struct nysbench {
    nb_ctx *ctx;     /* of the call: emptied when it ends */
    nb_ctx *results; /* its child */
    nb_mark base, kept;
    const nb_host *host;
    locale_t locale; /* the caller's */
    const char *warning;
    bool at_work; /* the request is right: what fails now has failed in the work */

    /* Of nysbench_select. */
    const char *strategy;
    nb_pairing pairing;
    long long seed;
    int trial;

    /* Of nysbench_measure. */
    int row_count;
    nb_error_row *rows;
};

/* Begins a call; the results of the one before are freed, or (keep) kept. */
void nb_call_begin(nysbench *handle, bool keep);

/* Ends it with its outcome. */
nysbench_status nb_call_end(nysbench *handle, nb_status status);

/* What the results hold from here on lives until the next call; what is before, until one that does not keep. */
void nb_call_keep(nysbench *handle);

/* An argument's name in messages: "--seed", or "seed"; ctx's. */
const char *nb_argument_name(const nb_host *host, const char *key, nb_ctx *ctx);

#endif
