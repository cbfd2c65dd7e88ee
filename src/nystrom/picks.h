/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picks.h - the picks of a strategy: m tokens, m groups of tokens, or m points. */
#ifndef NB_PICKS_H
#define NB_PICKS_H

#include "base/ctx.h"

#include <stdint.h>

typedef enum { NB_NO_PICKS, NB_TOKENS, NB_GROUPS, NB_POINTS } nb_picks_kind;

typedef struct {
    double clock_s;           /* nb_clock_s() */
    uint64_t multiplications; /* nb_multiplications() */
} nb_picks_moment;

typedef struct {
    nb_ctx *ctx; /* owns the arrays; set by the library before the strategy is called */
    nb_picks_kind kind;
    int m, n, d;    /* d: dimension of the points */
    int *tokens;    /* TOKENS: m distinct indices from 0 */
    int *groups;    /* GROUPS: n numbers 0 ... m-1, the group of each token; none is empty */
    double *points; /* POINTS: d x m */

    int count;              /* tokens added one by one */
    nb_picks_moment *added; /* time and work when each was added, or NULL: all at once */
    const char *note;       /* a note for the row if more than note_from landmarks are taken; NULL: none */
    int note_from;

    const char *refusal; /* why these landmarks are impossible, if only picking shows it; NULL: they are possible */
} nb_picks;

/* Each sets the kind and returns the array to fill; NULL when out of memory. */
int *nb_picks_tokens(nb_picks *picks, int m);
int *nb_picks_groups(nb_picks *picks, int m, int n);
double *nb_picks_points(nb_picks *picks, int d, int m);

/* Begins to add tokens one by one, for a nested strategy, whose first picks do not depend on m: the time and
 * multiplications of m landmarks are those until the m-th was added. */
nb_status nb_picks_begin(nb_picks *picks, int m);
/* May also follow nb_picks_tokens, if times are not wanted. */
void nb_picks_add(nb_picks *picks, int token);

/* Picks m of n tokens by their scores (>= 0): the largest, the lowest token first among equals, or a draw in proportion
 * to them with nb_ctx_rng(ctx) (nb_draw_distinct). */
nb_status nb_picks_by_score(nb_picks *picks, int n, int m, const double *score, bool sample, nb_ctx *ctx);

/* The same, nested, by scores of either sign: the largest, or a draw in proportion to exp(score), whose terms may
 * under- and overflow. */
nb_status nb_picks_by_log_score(nb_picks *picks, int n, int m, const double *score, bool sample, nb_ctx *ctx);

/* Adds a note for rows with more landmarks than were added so far. */
nb_status nb_picks_note(nb_picks *picks, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds the missing landmarks among tokens not taken, after the numerical rank of `what` was reached: drawn uniformly,
 * by the same number of draws for every m, or without rng the lowest first. Adds a note with the rank, which is the
 * number of picks so far. */
nb_status nb_picks_rest(nb_picks *picks, int n, const char *what, gsl_rng *rng, nb_ctx *ctx);

/* Checks the picks against the rules of this file, for n tokens and m landmarks; NB_EINVAL with the place where they
 * break them. */
nb_status nb_picks_check(const nb_picks *picks, int n, int m, nb_ctx *ctx);

/* landmarks (d x m) <- the tokens' points in x (d x n), the means of the groups, or the free points. */
nb_status nb_picks_landmarks(const nb_picks *picks, int d, int n, const double *x, double *landmarks, nb_ctx *ctx);

#endif
