/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sink.h - receives a study's results. */
#ifndef NB_SINK_H
#define NB_SINK_H

#include "components/row.h"
#include "base/ctx.h"

typedef struct nb_sink nb_sink;

/* The receiver's functions. If one returns anything but NB_OK, the run ends with that. An instance is the rows of one
 * scene and trial. */
struct nb_sink {
    void *self;
    nb_status (*begin)(void *self, nb_ctx *ctx); /* an instance begins */
    /* Row `index` of the plan is done; `row` belongs to the study. */
    nb_status (*row)(void *self, int index, const nb_row *row, nb_ctx *ctx);
    nb_status (*end)(void *self, nb_ctx *ctx); /* the instance is done */
    bool (*stop)(void *self);                  /* asked between instances */
    /* Is told what begins now (NB_AT_START + 1 + index of the study's phase) for rows first ... end - 1; NULL: not
     * called. */
    void (*at)(void *self, int phase, int first, int end);
    void (*notice)(void *self, const char *text); /* prints a warning; NULL: none are printed */
    /* Called by nb_run_plan alone, once, before any row: does what can be done while workers work. NULL: nothing. */
    nb_status (*meanwhile)(void *self, nb_ctx *ctx);
    /* Called by nb_run_plan with workers about five times a second (once if the study measures times). NULL: not
     * called. */
    void (*watch)(void *self);
    /* Called by nb_run_plan with workers: makes all finished instances durable together, a tenth of a second after the
     * first of them. NULL: `end` commits each one. */
    nb_status (*commit)(void *self, nb_ctx *ctx);
};

/* Functions of a sink that needs nothing at the ends of instances, and never stops. */
static inline nb_status nb_sink_ignore(void *self, nb_ctx *ctx)
{
    (void)self, (void)ctx;
    return NB_OK;
}

static inline bool nb_sink_never_stop(void *self)
{
    (void)self;
    return false;
}

#endif
