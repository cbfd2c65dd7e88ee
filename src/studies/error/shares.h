/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shares.h - how each strategy compares with the experiment's baseline: the ratio of
 * errors on the same instance, and its share of the possible gain. */
#ifndef NB_SHARES_H
#define NB_SHARES_H

#include "studies/error/summary.h"

typedef struct {     /* all NaN where there is no baseline to compare with */
    double error;    /* median, as in the summary */
    double relative; /* median of error / baseline's error on the same head and trial */
    double best;     /* the least `relative` of the strategies that this one is compared with, its own included */
    double share;    /* log(relative) / log(best) */
    int pairs;       /* that `relative` is of */
    int noise;       /* pairs that are left out, because both are rounding noise; pooled: cells of nothing else */
} nb_share;

typedef struct {
    nb_share whole, subspace; /* of error, of error_subspace */
    double select_s;          /* median */
    int base;                 /* the variant that it is compared with; -1: none */
    bool fixed;               /* which has its pairing */
    int cells, planned;       /* pooled: the cells with a ratio, all */
} nb_comparison;

typedef struct {
    const char *baseline;  /* its label */
    nb_comparison *cells;  /* nb_summary_cell */
    nb_comparison *pooled; /* variant * core_count + core: over problems and landmarks */
} nb_shares;

/* `baseline`: a strategy, canonical; NULL: the first that is not an oracle. Problem, core,
 * landmarks and factors of what is compared are the same, and so is the pairing where the
 * baseline has been planned with that; where it has not, the ratio is to the baseline with
 * another one, `fixed` is false, and there is no share. What is the same in all trials, and
 * so stands once, is compared with each trial of the other.
 *
 * The share of the gap is on the scale of ratios, so that a few errors far above 1 do not
 * outweigh all others: 0 the baseline, 1 the best, -1 as many times worse than the baseline
 * as the best is better. It is NaN where the best is less than 1 % below the baseline, and below -1.
 * Pooled, `relative` and `best` are medians over problems and landmarks, over the same cells,
 * and the share is of these two. */
nb_status nb_shares_make(const nb_summary *summary, const char *baseline, nb_shares *shares, nb_ctx *ctx);

#endif
