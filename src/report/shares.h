/* shares.h - how each strategy compares with the experiment's baseline: the ratio of
 * errors on the same instance, and its share of what there is to win. */
#ifndef NB_SHARES_H
#define NB_SHARES_H

#include "base/component.h"
#include "report/summary.h"

#include <stdio.h>

typedef struct { /* all NaN where there is no baseline to compare with */
    double error;    /* median, as in the summary */
    double relative; /* median of error / baseline's error on the same head and trial */
    double gain, gap; /* (baseline's median - its) / baseline's median, and the same of the least median */
    double share;    /* gain / gap; NaN where the baseline is the best; pooled: the sum of gains over the sum of gaps */
    int pairs;       /* that the ratio's median is of */
} nb_share;

typedef struct {
    nb_share whole, subspace; /* of error, of error_subspace */
    double select_s;          /* median */
    int cells, planned;       /* pooled: the cells with a ratio, all */
} nb_comparison;

typedef struct {
    const char *baseline;   /* its label */
    nb_comparison *cells;   /* nb_summary_cell */
    nb_comparison *pooled;  /* variant * core_count + core: medians over problems and landmarks */
} nb_shares;

/* A variant's baseline has its factors, and
 * its pairing where the baseline has that; the best is the least median with the same
 * problem, factors, core and landmarks. What is the same in all trials, and so stands
 * once, is compared with each trial of the other. */
nb_status nb_shares_make(int count, const nb_row *rows, const nb_summary *summary, const nb_choice *baseline, nb_shares *shares,
                         nb_ctx *ctx);

/* The pooled medians as a table for people; nothing where no strategy but the baseline
 * has any. */
void nb_shares_print(FILE *out, const nb_summary *summary, const nb_shares *shares);

/* Every cell, and the pooled ones as those of the problem `all`. */
void nb_shares_print_csv(FILE *out, const nb_summary *summary, const nb_shares *shares);

#endif
