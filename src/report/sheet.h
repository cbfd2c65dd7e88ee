/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sheet.h - figures of curves over any x: points of series, panels and figures, of
 * which those of one key are summed up. Drawn by plots/curves.gp. */
#ifndef NB_SHEET_H
#define NB_SHEET_H

#include "base/ctx.h"
#include "base/gnuplot.h"

/* A line with bars; one point; a level all across; points without a line; a dashed line
 * in the colour of the series before; a dashed line with bars; a line upright at x, whatever y is; rings around
 * points. */
typedef enum { NB_CURVE, NB_MARK, NB_LEVEL, NB_CLOUD, NB_SHADOW, NB_DASHED, NB_UPRIGHT, NB_RING } nb_series_style;

typedef struct {
    const char *label;
    nb_series_style style;
    int look; /* the number of its colour, from 0; NB_BLACK */
} nb_series;

enum { NB_BLACK = -1 };

typedef struct {
    int figure, panel, series, key;
    double x, y;
} nb_sheet_point;

typedef struct {
    const char *kind, *experiment;       /* the stem of the files; what the title begins with */
    const char *title, *x_name, *y_name; /* the title has one %s: the figure's name */
    int figure_count, panel_count, series_count;
    const char **figures, **panels; /* the caller's, with their counts */
    nb_series *series;              /* the caller's room */
    int columns;                    /* of panels; 0: as many as suit */
    bool log_x, log_x_2, level_1;   /* scale of x, with base 2; a line at y = 1 */
    const char *const *x_names;     /* of each figure; NULL: x_name of all */
    const char *shadow;             /* what a dashed line means; NULL: there is none */
    const char *upright;            /* what a line at x = 1 means; NULL: there is none */
    bool bare;                      /* each curve's points are one value, so that there are no bars */
    bool powers;                    /* thin lines y ~ x and y ~ x^2, where x is logarithmic */
    bool by_key;                    /* keys are m: lines go from key to key, not from left to right, and end large */
    bool intervals;                 /* bars are 95 % intervals of the median, not the quantiles 0.1 and 0.9 */

    /* Private. */
    nb_sheet_point *points;
    int point_count, capacity, entry_count, figure;
    struct nb_sheet_entry *entries;
} nb_sheet;

int nb_sheet_series(nb_sheet *s, const char *label, nb_series_style style, int look); /* the new one's number */

/* Room for so many points, so that adding them takes none of ctx's memory. */
nb_status nb_sheet_room(nb_sheet *s, size_t points, nb_ctx *ctx);

/* Points whose x or y is not finite are left out. */
nb_status nb_sheet_add(nb_sheet *s, nb_sheet_point point, nb_ctx *ctx);

/* Writes KIND.csv with all figures, data and a script for each, and starts to draw them unless `gnuplots` is NULL.
 * *figures: how many have points. */
nb_status nb_sheet_draw(const char *folder, nb_sheet *s, nb_gnuplots *gnuplots, int *figures, nb_ctx *ctx);

#endif
