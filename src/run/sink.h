/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sink.h - receives a study's results. */
#ifndef NB_SINK_H
#define NB_SINK_H

#include "components/row.h"
#include "base/ctx.h"

typedef struct nb_sink nb_sink;

/* What a worker is at: see `at`. */
typedef struct {
    int phase, first, end; /* first == end: nothing */
    double since_s;        /* as nb_clock_s tells the time */
} nb_doing;

/* Returning anything but NB_OK ends the run with that. An instance is the rows of one scene and trial. */
struct nb_sink {
    void *self;
    nb_status (*begin)(void *self, nb_ctx *ctx); /* an instance begins */
    /* Row `index` of the plan is done; `row` belongs to the study. */
    nb_status (*row)(void *self, int index, const nb_row *row, nb_ctx *ctx);
    nb_status (*end)(void *self, nb_ctx *ctx); /* the instance is done */
    bool (*stop)(void *self);                  /* asked between instances */
    /* What begins now (NB_AT_START + 1 + index of the study's phase), for rows first ... end - 1; NULL: not asked. */
    void (*at)(void *self, int phase, int first, int end);
    void (*notice)(void *self, const char *text); /* prints a warning; NULL: none are printed */
    /* nb_run_plan alone: does once, before any row if there are any, what can be done while workers work. NULL:
     * nothing. */
    nb_status (*meanwhile)(void *self, nb_ctx *ctx);
    /* nb_run_plan alone, if there are workers: is told some five times a second (once, where the study measures times)
     * what each is doing. NULL: nobody is. */
    void (*watch)(void *self, const nb_doing *workers, int count);
    /* nb_run_plan alone, if there are workers: the instances that are done are to be kept, whatever happens from now
     * on. Asked a tenth of a second after the first of them, of all that have come by then. NULL: `end` keeps
     * each. */
    nb_status (*keep)(void *self, nb_ctx *ctx);
};

#endif
