/* SPDX-License-Identifier: GPL-3.0-or-later */
/* strategy.h - the one header that a strategy file includes.
 *
 * A strategy is one file, strategies/NAME.c, that defines
 *     const nb_strategy nb_strategy_NAME;
 * It picks m representatives of one set of n points; the pairing decides which points those are. */
#ifndef NB_STRATEGY_H
#define NB_STRATEGY_H

#include "base/ctx.h"
#include "base/random.h"
#include "components/component.h"
#include "components/plugin.h"
#include "components/registry.h"
#include "linalg/work.h"
#include "nystrom/passes.h"
#include "nystrom/picks.h"
#include "nystrom/row_sample.h"
#include "nystrom/spectrum.h"

#include <gsl/gsl_rng.h>

/* Whose points a strategy reads, and how its picks serve the other side: as the same tokens or groups, whose q and k
 * are the landmarks, or as the same points, used among queries and keys alike. */
typedef enum {
    NB_INDEPENDENT,    /* Q for the query landmarks, K for the key landmarks */
    NB_QUERIES,        /* Q alone: the same tokens or groups give the key landmarks */
    NB_KEYS,           /* K alone */
    NB_JOINT,          /* the tokens' stacked [q; k]; a free point is split into both halves */
    NB_SHARED,         /* all queries and all keys, 2n points: the same points serve both sides */
    NB_SHARED_QUERIES, /* Q alone: the same points serve both sides */
    NB_SHARED_KEYS,    /* K alone */
    NB_BOTH,           /* Q and K together, by the strategy's `pick_both` */
    NB_PAIRING_COUNT
} nb_pairing;
/* Names of the pairings, as entries of an array by nb_pairing. */
#define NB_PAIRING_NAMES \
    [NB_INDEPENDENT] = "independent", [NB_QUERIES] = "queries", [NB_KEYS] = "keys", [NB_JOINT] = "joint", \
    [NB_SHARED] = "shared", [NB_SHARED_QUERIES] = "shared_queries", [NB_SHARED_KEYS] = "shared_keys", \
    [NB_BOTH] = "both"
extern const char *const nb_pairing_names[]; /* by nb_pairing; NULL-terminated */

typedef enum { NB_SIDE_QUERIES, NB_SIDE_KEYS, NB_SIDE_JOINT, NB_SIDE_SHARED } nb_side;
extern const char *const nb_side_names[]; /* by nb_side */

/* The points to pick from, read-only. */
typedef struct nb_points nb_points;
struct nb_points {
    int n, d; /* points, the tokens or twice as many (shared: Q, then K); dimension (joint, [q; k]: twice the head's) */
    const double *x; /* d x n */
    nb_side side;
    nb_scene *scene; /* for oracles: singular vectors of S and the like (nystrom/scene.h) */

    /* Only for nb_strategy_start and the like: seed and trial, and the functions that call another strategy. */
    nb_stream stream;
    nb_status (*start)(const nb_choice *strategy, const nb_points *points, int m, nb_picks *of_queries,
                       nb_picks *of_keys, nb_ctx *ctx);
    nb_status (*pick)(const nb_choice *strategy, nb_points *a, nb_points *b, int m, nb_picks *of_a, nb_picks *of_b,
                      nb_ctx *ctx);
};

enum { NB_DENSE = 4096 }; /* most tokens for which a strategy may be cubic or hold n x n numbers; it refuses more */

enum {
    NB_RANDOM = 1 << 0, /* draws from nb_ctx_rng(ctx) */
    NB_NESTED = 1 << 1, /* the picks for m are the first m of the picks for more */
    NB_ORACLE = 1 << 2, /* asks the scene for results that cost n^2 or more */

    /* Traits only for predictions of memory and time: up to NB_DENSE tokens. */
    NB_SQUARE = 1 << 3, /* holds n x n numbers, or asks the scene for S whole */
    NB_EIGEN = 1 << 4, /* computes all eigenvectors of an n x n matrix; an oracle: asks for all singular vectors of S */

    /* Works in another process, or in a function of the calling program, where its multiplications are not counted;
     * called in the thread of the call, by one at a time. */
    NB_ELSEWHERE = 1 << 5,

    NB_BLIND = 1 << 6, /* reads neither the points nor the scene: points->x may be NULL */

    NB_STRATEGY_TRAITS = NB_RANDOM | NB_NESTED | NB_ORACLE | NB_SQUARE | NB_EIGEN | NB_ELSEWHERE | NB_BLIND,
};

typedef struct {
    const nb_choice *strategy;
    int tokens; /* most tokens among which it picks */
} nb_within;

typedef struct {
    nb_component component;
    unsigned traits;    /* NB_RANDOM | ... */
    nb_pairing pairing; /* its default pairing: NB_JOINT, so that only strategies differ, or NB_BOTH without `pick` */

    /* Optional: the traits under these options, if they differ from `traits`. */
    unsigned (*traits_of)(const void *options);

    /* Picks m of the points, 1 <= m <= n, with nb_picks_tokens, nb_picks_groups or nb_picks_points; a nested strategy
     * with nb_picks_begin and nb_picks_add. Memory from ctx, except the picks, is freed after the call. */
    nb_status (*pick)(const nb_points *points, int m, const void *options, nb_picks *picks, nb_ctx *ctx);

    /* For the pairing `both`, instead of `pick` or beside it: picks m queries and m keys together, of one kind. */
    nb_status (*pick_both)(const nb_points *queries, const nb_points *keys, int m, const void *options,
                           nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx);

    /* Optional: returns why these landmarks are impossible here, in one sentence (the row is `skipped`), or NULL. */
    const char *(*refusal)(const nb_points *points, int m, const void *options);

    /* Optional: finds errors in the options that their table cannot show (a missing file), before anything runs. */
    nb_status (*check)(const void *options, nb_ctx *ctx);

    /* Optional: finds what `pick` needs and lacks here (a program), before rows are measured. It is not called for
     * reading results. */
    nb_status (*ready)(const void *options, nb_ctx *ctx);

    /* Optional, for a strategy that lets another one pick among some of the tokens, by nb_scene_cut: returns this other
     * strategy, whose pairings it has. With more tokens than that it reads nothing else: points->x and the head's
     * points may be NULL. */
    nb_within (*within)(const void *options);

    const char *explanation; /* optional: a few sentences that `describe` prints, broken into lines */

    /* Optional, for predictions of time: how many multiplications of a large product take as long as a usual call for m
     * of n points of dimension d. NULL: it is guessed from the traits. */
    double (*multiplications)(const void *options, int n, int d, int m);
} nb_strategy;

unsigned nb_strategy_traits(const nb_choice *strategy); /* traits under its options */

/* Returns what its `multiplications` tells of such a call; NaN: it has none. */
double nb_strategy_multiplications(const nb_choice *strategy, int n, int d, int m);

/* Returns the power of n with which the work of a call for m of very many points grows, without that of strategies in
 * its options: by `multiplications`, else by the traits; 1 for what picks among so many tokens whatever n is. NaN:
 * nobody knows what it does. */
double nb_strategy_growth(const nb_choice *strategy, int d, int m);

/* True if the multiplications (linalg/work.h) of its calls are its cost. False for an oracle, which shares results on S
 * with others and costs more than attention; for a plug-in, whose own loops are not counted; for a strategy that works
 * elsewhere; and if a strategy within its options is one of these. An oracle that picks among some tokens shares
 * nothing, and so counts. */
bool nb_strategy_counts(const nb_choice *strategy);

/* Returns how many of n tokens it reads at most: all, or those that it lets another strategy pick among. */
int nb_strategy_tokens(const nb_choice *strategy, int n);

/* Returns whether the strategy has this pairing, and its default pairing. */
bool nb_strategy_has(const nb_choice *strategy, nb_pairing pairing);
nb_pairing nb_strategy_pairing(const nb_choice *strategy);

/* Returns the pairing under this kernel: `queries` for a kernel of one point set, except for strategies that only pick
 * for both sides at once. */
nb_pairing nb_pairing_under(const nb_choice *kernel, const nb_choice *strategy, nb_pairing pairing);

/* True if the same points serve both sides: then the picks are free points. */
bool nb_pairing_shares(nb_pairing pairing);

/* Returns the name of a missing kind-specific member of a plug-in's record, or NULL. */
const char *nb_strategy_lacks(const nb_component *component);
extern const size_t nb_strategy_texts[]; /* of its registry */

/* For a strategy that scores queries by one formula and keys by another: tells where in `score` (points->n, zero) to
 * add the scores of the head's n queries and n keys, and with what weight. joint: a token's score is the mean of
 * both. */
typedef struct {
    double weight;
    double *queries, *keys; /* n each; NULL: not wanted */
} nb_scores;
nb_scores nb_scores_of(const nb_points *points, double *score);

/* Which rows of S a strategy reads that does not read all: those of the centres of a k-means of the queries, which are
 * no tokens' rows, or those of tokens in the trial's random order. */
typedef enum { NB_CENTRES, NB_SAMPLED_TOKENS } nb_sampling;
extern const char *const nb_sampling_names[]; /* NULL-terminated */

/* The options for it: `rows` (auto, all or a number) and `sample` (an nb_sampling), with further members of nb_option.
 * NB_ORACLE_ROWS_OPTIONS are for an oracle, which reads all rows by default. */
#define NB_ROWS_OPTION(T, initial_, ...) \
    { \
        .key = "rows", .type = NB_OPTION_INT, .offset = NB_FIELD_(T, rows, int), .initial = initial_, .lo = 1, \
        .hi = 1 << 20, .word = "auto", .second = "all", \
        .help = \
            "exact rows of S that it looks at, at most n; auto: 4 m, and at least 64; all: every row, as an oracle", \
        __VA_ARGS__ \
    }
#define NB_SAMPLE_OPTION(T, initial_, ...) \
    { \
        .key = "sample", .type = NB_OPTION_ENUM, .offset = NB_FIELD_(T, sample, int), .initial = initial_, \
        .choices = nb_sampling_names, __VA_ARGS__, \
        .help = \
            "whose rows, where they are not all: the centres of a k-means of the queries, each with the weight of " \
            "its group, or tokens in random order, the first that cores look at too" \
    }
#define NB_ORACLE_ROWS_OPTIONS(T) NB_ROWS_OPTION(T, "all", .newer = true), NB_SAMPLE_OPTION(T, "tokens", .newer = true)

enum { NB_ALL_ROWS = NB_SECOND }; /* value of the field `rows` for `all` */

/* Returns how many rows the option's value means. */
int nb_rows_of(int rows, int m, int n);

/* Returns the traits under `rows` of a strategy that has `traits` if it reads all rows: with fewer it is no oracle, and
 * the rows are drawn; with auto they depend on m. */
unsigned nb_traits_with_rows(unsigned traits, int rows);

/* Returns why these rows are impossible, in one sentence, or NULL. */
const char *nb_rows_refusal(const nb_points *points, int rows, int sample, int m);

/* Returns k rows of S (all if k is n or more) with the weights of nb_row_sample. NB_EINVAL for centres under a mask. */
nb_status nb_strategy_sample(const nb_points *points, nb_sampling sampling, int k, nb_row_sample *sample, nb_ctx *ctx);

/* Returns k of the head's tokens (all if k is n or more), the first of the trial's random order, in ascending order. */
nb_status nb_strategy_sample_tokens(const nb_points *points, int k, const int **tokens, nb_ctx *ctx);

/* The part of S that an oracle reads: all of S, or k rows, by which it compares keys, and k columns, by which it
 * compares queries. */
typedef struct {
    int n, k;              /* tokens; rows and columns */
    const double *rows;    /* n x k: column i is a row of S, times the root of its weight */
    const double *columns; /* k x n: column i is query i's entries at k sampled keys (nb_scene_some_columns) */
} nb_sight;

/* Reads this part by the options `rows` and `sample`: the rows for picks of keys, the columns for picks of queries,
 * both for both; the rest is NULL. The scene owns S as a whole, ctx everything else. */
nb_status nb_strategy_look(const nb_points *points, int rows, int sample, int m, nb_sight *sight, nb_ctx *ctx);

/* Computes the k singular values of the rows, with vectors over keys, or of the columns, with vectors over queries (n x
 * k). */
nb_status nb_sight_vectors(const nb_sight *sight, bool of_keys, double **values, double **vectors, nb_ctx *ctx);

/* Lets another strategy, the value of an option, pick on the scene of `points` in this trial with its own pairing, bit
 * for bit. ctx owns the memory, so a strategy copies what it returns. NB_EREFUSED if it refuses. */
nb_status nb_strategy_start(const nb_choice *strategy, const nb_points *points, int m, nb_picks *of_queries,
                            nb_picks *of_keys, nb_ctx *ctx);

/* Lets another strategy, the value of an option, pick on the scene of `points`, which is a cut of the current one: on
 * the side that `points` names, or for both (pairing `both`), bit for bit as on a scene of that head alone. `points`
 * are set to those that it has read. If it refuses, there are no picks, and they say why. ctx owns the memory. */
nb_status nb_strategy_pick(const nb_choice *strategy, nb_points *points, int m, nb_picks *picks, nb_ctx *ctx);
nb_status nb_strategy_pick_both(const nb_choice *strategy, nb_points *queries, nb_points *keys, int m,
                                nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx);

#endif
