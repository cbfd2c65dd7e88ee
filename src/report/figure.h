/* SPDX-License-Identifier: GPL-3.0-or-later */
/* figure.h - figures of the studies. Each is a file of SQL, src/studies/STUDY/figures/NAME.sql, of which the build
 * makes
 *     const nb_figure nb_figure_NAME;
 * nb_graph_draw (report/graph.h) draws it. */
#ifndef NB_FIGURE_H
#define NB_FIGURE_H

#include "base/gnuplot.h"
#include "components/output.h"
#include "components/registry.h"
#include "run/plan.h"

typedef struct nb_relation nb_relation; /* report/relation.h */

typedef struct {            /* what figures are made of besides the rows, and where they go */
    nb_relation *relation;  /* of the same rows */
    const char *run;        /* the folder of the run */
    const char *folder;     /* of its figures: made if it is not there */
    const char *experiment; /* its name */
    const char *baseline;   /* of the strategies, canonical; NULL: the first that is not an oracle */
    const nb_plan *plan;    /* NULL: not at hand; the run's folder has it */
    int m;                  /* of figures of one m; 0: the middle one */
    int most_panels;        /* of a picture; 0: any number */
    nb_gnuplots *gnuplots;  /* that draw; NULL: data and scripts alone */
} nb_drawing;

typedef nb_status nb_figure_prepare(const nb_drawing *drawing, nb_ctx *ctx);

typedef struct {
    NB_OUTPUT_FIRST             /* the name is the stem of its files */
        const char *sql;        /* the file's text */
    nb_figure_prepare *prepare; /* makes tables that it asks; NULL: there are none */
    bool of_one_m;              /* takes nb_drawing.m */
    bool again;                 /* makes something of the run again: only on request */
    bool whole;                 /* its panels are of one picture, however many: nb_drawing.most_panels does not count */
    const char *compares;       /* a column whose values it compares: of fewer than two only on request; NULL: none */
    int place;                  /* in a report: 1, 2 ... stand first; 0: behind those, by name */
} nb_figure;

/* The run has rows of m landmarks; 0 becomes the middle one of its numbers, where there are any. NB_EINVAL where it has
 * none of m. */
nb_status nb_figure_choose_m(const nb_relation *relation, int *m, nb_ctx *ctx);

/* Whether it is drawn where all figures are that the rows allow. */
nb_status nb_figure_is_offered(const nb_figure *figure, const nb_relation *relation, bool *offered, nb_ctx *ctx);

void nb_figure_warn(const char *name); /* reports that the run has no rows for it */

#endif
