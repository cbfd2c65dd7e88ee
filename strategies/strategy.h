/* strategy.h - the one header that a strategy file includes.
 *
 * A strategy is one file, strategies/NAME.c, that defines
 *     const nb_strategy nb_strategy_NAME;
 * It picks m representatives of one set of n points; which points those are is
 * the pairing's business. */
#ifndef NB_STRATEGY_H
#define NB_STRATEGY_H

#include "base/component.h"
#include "base/ctx.h"
#include "measure/picks.h"
#include "measure/scene.h"

#include <gsl/gsl_rng.h>

enum { NB_STRATEGY_ABI = 1 };

/* Whose points a strategy looks at. */
typedef enum {
    NB_INDEPENDENT, /* Q for the query landmarks, K for the key landmarks */
    NB_QUERIES,     /* Q alone: the same tokens or groups give the key landmarks */
    NB_KEYS,        /* K alone */
    NB_JOINT,       /* the tokens' stacked [q; k] */
    NB_PAIRING_COUNT
} nb_pairing;

typedef enum { NB_SIDE_QUERIES, NB_SIDE_KEYS, NB_SIDE_JOINT } nb_side;

/* The points to pick from. Read only. */
typedef struct {
    int n, d;        /* tokens, dimension (of [q; k]: twice the head's) */
    const double *x; /* d x n */
    nb_side side;
    nb_scene *scene; /* for oracles: singular vectors of S and the like, measure/scene.h */
} nb_points;

enum {
    NB_RANDOM = 1 << 0, /* draws from nb_ctx_rng(ctx) */
    NB_NESTED = 1 << 1, /* the picks for m are the first m of the picks for more */
    NB_ORACLE = 1 << 2, /* asks the scene for what costs n^2 or more */
};

typedef struct {
    nb_component component;
    int abi;            /* NB_STRATEGY_ABI */
    unsigned traits;    /* NB_RANDOM | ... */
    nb_pairing pairing; /* where the experiment names none */

    /* Optional: the traits under these options, where they differ from `traits`. */
    unsigned (*traits_of)(const void *options);

    /* Picks m of the points, 1 <= m <= n, with nb_picks_tokens, nb_picks_groups
     * or nb_picks_points. Memory comes from ctx and is freed after the call but
     * for the picks. */
    nb_status (*pick)(const nb_points *points, int m, const void *options, nb_picks *picks, nb_ctx *ctx);
} nb_strategy;

#endif
