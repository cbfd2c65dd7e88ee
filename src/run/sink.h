/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sink.h - where a study's results go. */
#ifndef NB_SINK_H
#define NB_SINK_H

#include "components/row.h"
#include "base/ctx.h"

typedef struct nb_sink nb_sink;

/* Returning anything but NB_OK ends the run with that. An instance is the rows of one scene and trial. */
struct nb_sink {
    void *self;
    nb_status (*begin)(void *self, nb_ctx *ctx); /* an instance begins */
    nb_status (*row)(void *self, int index, const nb_row *row,
                     nb_ctx *ctx);             /* row `index` of the plan is done; it is the study's */
    nb_status (*end)(void *self, nb_ctx *ctx); /* the instance is done */
    bool (*stop)(void *self);                  /* asked between instances */
    void (*at)(
        void *self, int phase, int first,
        int end); /* what begins now (NB_AT_START + 1 + index of the study's phase), for rows first ... end - 1; NULL: nobody asks */
    void (*notice)(void *self, const char *text);    /* something a user should hear; NULL: nobody does */
    nb_status (*meanwhile)(void *self, nb_ctx *ctx); /* nb_run_plan alone: once, before any row if there are any, what
                                                        can be done while workers work; NULL: nothing */
};

#endif
