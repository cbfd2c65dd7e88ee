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

/* Whose points a strategy looks at, and what its picks are for the other side: the
 * same tokens or groups, whose q and k are the landmarks, or the same points, which
 * stand among the queries and among the keys alike. */
typedef enum {
    NB_INDEPENDENT,    /* Q for the query landmarks, K for the key landmarks */
    NB_QUERIES,        /* Q alone: the same tokens or groups give the key landmarks */
    NB_KEYS,           /* K alone */
    NB_JOINT,          /* the tokens' stacked [q; k]; of a free point, the one half and the other */
    NB_SHARED,         /* all queries and all keys, 2n points: the same points serve both sides */
    NB_SHARED_QUERIES, /* Q alone: the same points serve both sides */
    NB_SHARED_KEYS,    /* K alone */
    NB_BOTH,           /* Q and K together, by the strategy's second function */
    NB_PAIRING_COUNT
} nb_pairing;
/* The words for them, as entries of an array by nb_pairing. */
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
    nb_scene *scene; /* for oracles: singular vectors of S and the like, see nystrom/scene.h */

    /* For nb_strategy_start and the like alone: seed and trial, and who calls the other strategy. */
    nb_stream stream;
    nb_status (*start)(const nb_choice *strategy, const nb_points *points, int m, nb_picks *of_queries,
                       nb_picks *of_keys, nb_ctx *ctx);
    nb_status (*pick)(const nb_choice *strategy, nb_points *a, nb_points *b, int m, nb_picks *of_a, nb_picks *of_b,
                      nb_ctx *ctx);
};

enum { NB_DENSE = 4096 }; /* tokens up to which a strategy may be cubic or hold n x n numbers; it refuses more */

enum {
    NB_RANDOM = 1 << 0, /* draws from nb_ctx_rng(ctx) */
    NB_NESTED = 1 << 1, /* the picks for m are the first m of the picks for more */
    NB_ORACLE = 1 << 2, /* asks the scene for what costs n^2 or more */

    /* Traits for predictions of memory and time alone: up to NB_DENSE tokens. */
    NB_SQUARE = 1 << 3, /* holds n x n numbers, or asks the scene for S whole */
    NB_EIGEN = 1 << 4,  /* makes all eigenvectors of an n x n matrix; an oracle: asks for all singular vectors of S */

    NB_ELSEWHERE = 1 << 5, /* works outside of this process, where its multiplications are not counted */

    NB_BLIND = 1 << 6, /* looks at neither the points nor the scene: points->x may be NULL */

    NB_STRATEGY_TRAITS = NB_RANDOM | NB_NESTED | NB_ORACLE | NB_SQUARE | NB_EIGEN | NB_ELSEWHERE | NB_BLIND,
};

typedef struct {
    const nb_choice *strategy;
    int tokens; /* among which it picks, at most */
} nb_within;

typedef struct {
    nb_component component;
    unsigned traits;    /* NB_RANDOM | ... */
    nb_pairing pairing; /* its default pairing: NB_JOINT, so that only strategies differ, or NB_BOTH without `pick` */

    /* Optional: the traits under these options, if they differ from `traits`. */
    unsigned (*traits_of)(const void *options);

    /* Picks m of the points, 1 <= m <= n, with nb_picks_tokens, nb_picks_groups
     * or nb_picks_points; a nested one with nb_picks_begin and nb_picks_add. Memory comes from ctx and is freed after
     * the call but for the picks. */
    nb_status (*pick)(const nb_points *points, int m, const void *options, nb_picks *picks, nb_ctx *ctx);

    /* For the pairing `both`, instead of `pick` or beside it: m queries and m keys
     * that were chosen together, of one kind. */
    nb_status (*pick_both)(const nb_points *queries, const nb_points *keys, int m, const void *options,
                           nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx);

    /* Optional: why these landmarks are impossible here, in one sentence (the row is `skipped`), or NULL. */
    const char *(*refusal)(const nb_points *points, int m, const void *options);

    /* Optional: finds what is wrong with the options that their table cannot tell (a
     * missing file), before anything runs. */
    nb_status (*check)(const void *options, nb_ctx *ctx);

    /* Optional: finds what `pick` needs and lacks here (a program), before rows are measured. It is not called to
     * read results. */
    nb_status (*ready)(const void *options, nb_ctx *ctx);

    /* Optional, of one that lets another pick among some of the tokens, by nb_scene_cut: this other strategy, whose
     * pairings it has. Where there are more tokens it looks at nothing else: points->x and the head's points may be
     * NULL. */
    nb_within (*within)(const void *options);

    const char *explanation; /* optional: a few sentences that `describe` prints, broken into lines */
} nb_strategy;

unsigned nb_strategy_traits(const nb_choice *strategy); /* with its options */

/* Whether its multiplications (linalg/work.h) say what it takes: not those of an oracle, which shares what it asks of S
 * with others and costs more than attention; nor of a plug-in, whose own loops nobody counts, of what works elsewhere,
 * or where a strategy within its options is one of these. An oracle that picks among some tokens shares nothing with
 * others: it counts. */
bool nb_strategy_counts(const nb_choice *strategy);

/* How many of n tokens it looks at, at most: all, or those that it lets another strategy pick among. */
int nb_strategy_tokens(const nb_choice *strategy, int n);

/* Whether the strategy has this pairing, and the one that it has where none is asked for. */
bool nb_strategy_has(const nb_choice *strategy, nb_pairing pairing);
nb_pairing nb_strategy_pairing(const nb_choice *strategy);

/* The pairing under this kernel: `queries` if it is one of one point set, but for strategies that only pick for both
 * sides at once. */
nb_pairing nb_pairing_under(const nb_choice *kernel, const nb_choice *strategy, nb_pairing pairing);

/* Whether the same points serve both sides: then the picks are free points. */
bool nb_pairing_shares(nb_pairing pairing);

/* What a plug-in's record lacks, apart from what all components need, in a few words; NULL: nothing. */
const char *nb_strategy_lacks(const nb_component *component);

/* For a strategy that scores queries by one formula and keys by another: where in
 * `score` (points->n, zero) the head's n queries and n keys have theirs to be added,
 * and with what weight. joint: a token's is the mean of both. */
typedef struct {
    double weight;
    double *queries, *keys; /* n each; NULL: not asked for */
} nb_scores;
nb_scores nb_scores_of(const nb_points *points, double *score);

/* Which rows of S are seen by a strategy that does not see all: those of the centres of a k-means of the queries,
 * which are no tokens', or of tokens in the trial's random order. */
typedef enum { NB_CENTRES, NB_SAMPLED_TOKENS } nb_sampling;
extern const char *const nb_sampling_names[]; /* NULL-terminated */

/* Options for it: `rows`, auto, all or a number, and `sample`, an nb_sampling, with further members of nb_option.
 * NB_ORACLE_ROWS_OPTIONS are those of an oracle, which looks at all unless it is told otherwise. */
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

enum { NB_ALL_ROWS = NB_SECOND }; /* what the field `rows` holds for `all` */

/* How many rows the option's value stands for. */
int nb_rows_of(int rows, int m, int n);

/* Of what has `traits` if it looks at all rows, the traits with `rows`: with some it is no oracle, and the rows are
 * drawn; with auto they depend on m. */
unsigned nb_traits_with_rows(unsigned traits, int rows);

/* Why the options' rows are not to be had, in one sentence, or NULL. */
const char *nb_rows_refusal(const nb_points *points, int rows, int sample, int m);

/* k rows of S, n or more: all, with the weights of nb_row_sample. NB_EINVAL for centres under a mask. */
nb_status nb_strategy_sample(const nb_points *points, nb_sampling sampling, int k, nb_row_sample *sample, nb_ctx *ctx);

/* k of the head's tokens in ascending order, the first of the trial's random order; n or more: all. */
nb_status nb_strategy_sample_tokens(const nb_points *points, int k, const int **tokens, nb_ctx *ctx);

/* What an oracle looks at: S whole, or k of its rows, which tell keys apart, and k of its columns, which tell queries
 * apart. */
typedef struct {
    int n, k;              /* tokens; rows and columns */
    const double *rows;    /* n x k: column i is a row of S, times the root of its weight */
    const double *columns; /* k x n: column i is query i's entries at k sampled keys (nb_scene_some_columns) */
} nb_sight;

/* By the options `rows` and `sample`: for picks of keys the rows, of queries the columns, of both both; what is not
 * asked for is NULL. S whole is the scene's, all else ctx's. */
nb_status nb_strategy_look(const nb_points *points, int rows, int sample, int m, nb_sight *sight, nb_ctx *ctx);

/* The k singular values of the rows, with vectors over keys, or of the columns, with vectors over queries (n x k). */
nb_status nb_sight_vectors(const nb_sight *sight, bool of_keys, double **values, double **vectors, nb_ctx *ctx);

/* Picks of another strategy, the value of an option, on the scene of `points` in this trial with its own pairing,
 * bit for bit. Memory is ctx's, so a strategy copies what it returns. NB_EREFUSED if it refuses. */
nb_status nb_strategy_start(const nb_choice *strategy, const nb_points *points, int m, nb_picks *of_queries,
                            nb_picks *of_keys, nb_ctx *ctx);

/* Picks of another strategy, the value of an option, on the scene of `points`, which is a cut of that in hand: on the
 * side that `points` names, or of both (pairing `both`), bit for bit as on a scene of that head alone. `points` are
 * set to those that it has looked at. If it refuses, the picks say why, and are none. Memory is ctx's. */
nb_status nb_strategy_pick(const nb_choice *strategy, nb_points *points, int m, nb_picks *picks, nb_ctx *ctx);
nb_status nb_strategy_pick_both(const nb_choice *strategy, nb_points *queries, nb_points *keys, int m,
                                nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx);

#endif
