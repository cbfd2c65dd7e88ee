/* picks.h - what a strategy returns: m tokens, m groups of tokens, or m points. */
#ifndef NB_PICKS_H
#define NB_PICKS_H

#include "base/ctx.h"

typedef enum { NB_NO_PICKS, NB_TOKENS, NB_GROUPS, NB_POINTS } nb_picks_kind;

typedef struct {
    nb_ctx *ctx;     /* owns the arrays; set by the library before the strategy is called */
    nb_picks_kind kind;
    int m, n, d;     /* d: of the points */
    int *tokens;     /* TOKENS: m distinct indices from 0 */
    int *groups;     /* GROUPS: n numbers 0 ... m-1, the group of each token; none is empty */
    double *points;  /* POINTS: d x m */
} nb_picks;

/* Each sets the kind and gives the array to fill; NULL when out of memory. */
int *nb_picks_tokens(nb_picks *picks, int m);
int *nb_picks_groups(nb_picks *picks, int m, int n);
double *nb_picks_points(nb_picks *picks, int d, int m);

/* Whether the picks are what picks.h says they are, for n tokens and m
 * landmarks; NB_EINVAL with the place where they are not. */
nb_status nb_picks_check(const nb_picks *picks, int n, int m, nb_ctx *ctx);

/* landmarks (d x m) from x (d x n): the tokens' points, the groups' means, or
 * the free points themselves. */
nb_status nb_picks_landmarks(const nb_picks *picks, int d, int n, const double *x, double *landmarks, nb_ctx *ctx);

#endif
