/* SPDX-License-Identifier: GPL-3.0-or-later */
/* one_head.h - reads a request (one head, one strategy, one m) as an experiment of one instance, through the same
 * tables as an experiment's file, so that it gives what a run gives. */
#ifndef NB_ONE_HEAD_H
#define NB_ONE_HEAD_H

#include "api/handle.h"

typedef struct {
    nysbench *handle;
    nysbench_request request; /* of full size, whatever the caller's was */
    nb_config config;
    nb_problem_shape shape;
    int head, trial;
} nb_one_head;

/* Fails because of a field of the request, with which the message begins. Returns NB_EINVAL. */
nb_status nb_one_head_refuse(const nb_one_head *one, const char *field, nb_ctx *ctx, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads head, kernel, pairing, seed and trial. */
nb_status nb_one_head_begin(nysbench *handle, const nysbench_request *request, nb_one_head *one, nb_ctx *ctx);

/* Then reads strategy and landmarks. */
nb_status nb_one_head_strategy(nb_one_head *one, nb_ctx *ctx);

const nb_choice *nb_one_head_choice(const nb_one_head *one, nb_error_axis axis); /* problem, kernel or strategy */

/* Adds the choices of a spec, or of its lists, to those of an axis. */
nb_status nb_one_head_choose(nb_one_head *one, nb_error_axis axis, const char *field, const char *text, nb_ctx *ctx);

/* Sets an axis of words; NULL: to the default of an experiment without the key. */
nb_status nb_one_head_word(nb_one_head *one, nb_error_axis axis, const char *field, const char *text, nb_ctx *ctx);

/* Writes the problem spec of a head file: of one head, or of all (-1). causal: 1, 0 or -1, as in a request. */
nb_status nb_head_spec(const char *file, int head, int causal, const char **spec, nb_ctx *ctx);

#endif
