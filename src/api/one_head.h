/* SPDX-License-Identifier: GPL-3.0-or-later */
/* one_head.h - one head, one strategy, one m, as a request names them: an experiment of one instance, read through the
 * same tables as an experiment's file, so that it gives what a run gives. */
#ifndef NB_ONE_HEAD_H
#define NB_ONE_HEAD_H

#include "api/handle.h"

typedef struct {
    nysbench_request request; /* whole, whatever its caller knows of it */
    nb_config config;
    nb_problem_shape shape;
    int head, trial;
} nb_one_head;

/* Head, kernel, pairing, seed and trial. NB_EINVAL names the argument. */
nb_status nb_one_head_begin(nysbench *handle, const nysbench_request *request, nb_one_head *one, nb_ctx *ctx);

/* Then strategy and landmarks. */
nb_status nb_one_head_strategy(const nysbench *handle, nb_one_head *one, nb_ctx *ctx);

const nb_choice *nb_one_head_choice(const nb_one_head *one, nb_error_axis axis); /* problem, kernel or strategy */

/* The choices of a spec or its lists, added to those of an axis; mistakes name the argument. */
nb_status nb_one_head_choose(nb_one_head *one, nb_error_axis axis, const char *argument, const char *text, nb_ctx *ctx);

/* A word of an axis; NULL: what an experiment has that names none. */
nb_status nb_one_head_word(nb_one_head *one, nb_error_axis axis, const char *argument, const char *text, nb_ctx *ctx);

/* The spec of the problem that a head file is: one head, or all (-1); causal: true, false or auto, or NULL, auto.
 * NB_EINVAL for another word. */
nb_status nb_head_spec(const char *file, int head, const char *causal, const char **spec, nb_ctx *ctx);

#endif
