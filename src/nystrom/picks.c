/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picks.c - picks, checked and turned into landmarks. */
#include "nystrom/picks.h"

#include "base/clock.h"
#include "base/random.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int *nb_picks_tokens(nb_picks *picks, int m)
{
    picks->kind = NB_TOKENS;
    picks->m = m;
    return picks->tokens = nb_alloc(picks->ctx, (size_t)m, sizeof *picks->tokens);
}

int *nb_picks_groups(nb_picks *picks, int m, int n)
{
    picks->kind = NB_GROUPS;
    picks->m = m;
    picks->n = n;
    return picks->groups = nb_alloc(picks->ctx, (size_t)n, sizeof *picks->groups);
}

double *nb_picks_points(nb_picks *picks, int d, int m)
{
    picks->kind = NB_POINTS;
    picks->m = m;
    picks->d = d;
    return picks->points = nb_alloc_reals(picks->ctx, (size_t)d, (size_t)m);
}

nb_status nb_picks_begin(nb_picks *picks, int m)
{
    nb_ctx *ctx = picks->ctx;
    NB_NEED(picks->added, nb_alloc(ctx, (size_t)m, sizeof *picks->added));
    NB_NEED(picks->tokens, nb_picks_tokens(picks, m));
    return NB_OK;
}

void nb_picks_add(nb_picks *picks, int token)
{
    if (picks->added) picks->added[picks->count] = (nb_picks_moment){nb_clock_s(), nb_multiplications()};
    picks->tokens[picks->count++] = token;
}

/* Returns the largest of those not taken, the lowest index among equals; now taken. */
static int take_largest(int n, const double *score, bool *taken)
{
    int largest = -1;
    for (int i = 0; i < n; i++)
        if (!taken[i] && (largest < 0 || score[i] > score[largest])) largest = i;
    taken[largest] = true;
    return largest;
}

nb_status nb_picks_by_score(nb_picks *picks, int n, int m, const double *score, bool sample, nb_ctx *ctx)
{
    int *tokens;
    bool *taken;
    NB_NEED(tokens, nb_picks_tokens(picks, m));
    if (sample) return nb_draw_distinct(nb_ctx_rng(ctx), n, score, m, tokens, ctx);
    NB_NEED(taken, nb_alloc(ctx, (size_t)n, sizeof *taken));
    for (int j = 0; j < m; j++) tokens[j] = take_largest(n, score, taken);
    return NB_OK;
}

/* The largest of score - log(-log(u)), u uniform, one after the other, are such a draw (Gumbel's trick: Yellott, J.
 * Math. Psychol. 15, 1977). */
nb_status nb_picks_by_log_score(nb_picks *picks, int n, int m, const double *score, bool sample, nb_ctx *ctx)
{
    double *key;
    bool *taken;
    NB_NEED(key, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_NEED(taken, nb_alloc(ctx, (size_t)n, sizeof *taken));
    NB_TRY(ctx, nb_picks_begin(picks, m));
    for (int i = 0; i < n; i++) key[i] = sample ? score[i] - log(-log(gsl_rng_uniform_pos(nb_ctx_rng(ctx)))) : score[i];
    for (int j = 0; j < m; j++) nb_picks_add(picks, take_largest(n, key, taken));
    return NB_OK;
}

nb_status nb_picks_note(nb_picks *picks, const char *format, ...)
{
    char text[256];
    va_list args;
    nb_ctx *ctx = picks->ctx;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    picks->note_from = picks->count;
    NB_NEED(picks->note, nb_strdup(ctx, text));
    return NB_OK;
}

nb_status nb_picks_rest(nb_picks *picks, int n, const char *what, gsl_rng *rng, nb_ctx *ctx)
{
    int *left, count = 0;
    bool *taken;
    if (picks->count >= picks->m) return NB_OK;
    NB_NEED(left, nb_alloc(ctx, (size_t)n, sizeof *left));
    NB_NEED(taken, nb_alloc(ctx, (size_t)n, sizeof *taken));
    NB_TRY(ctx, nb_picks_note(picks, "the numerical rank of %s is %d: further landmarks are %s", what, picks->count,
                              rng ? "drawn uniformly" : "the first tokens that are left"));
    for (int j = 0; j < picks->count; j++) taken[picks->tokens[j]] = true;
    for (int i = 0; i < n; i++)
        if (!taken[i]) left[count++] = i;
    if (rng) gsl_ran_shuffle(rng, left, (size_t)count, sizeof *left);
    for (int j = 0; picks->count < picks->m; j++) nb_picks_add(picks, left[j]);
    return NB_OK;
}

static nb_status check_tokens(const nb_picks *picks, int n, nb_ctx *ctx)
{
    int *seen; /* 1 + the landmark that took the token */
    NB_NEED(seen, nb_alloc(ctx, (size_t)n, sizeof *seen));
    for (int j = 0; j < picks->m; j++) {
        int token = picks->tokens[j];
        NB_REQUIRE(ctx, token >= 0 && token < n, NB_EINVAL, "landmark %d is token %d, allowed are 0 to %d", j, token,
                   n - 1);
        NB_REQUIRE(ctx, !seen[token], NB_EINVAL, "landmarks %d and %d are both token %d", seen[token] - 1, j, token);
        seen[token] = j + 1;
    }
    return NB_OK;
}

static nb_status check_groups(const nb_picks *picks, int n, nb_ctx *ctx)
{
    int *size;
    NB_REQUIRE(ctx, picks->n == n, NB_EINVAL, "groups of %d tokens, expected %d", picks->n, n);
    NB_NEED(size, nb_alloc(ctx, (size_t)picks->m, sizeof *size));
    for (int i = 0; i < n; i++) {
        int group = picks->groups[i];
        NB_REQUIRE(ctx, group >= 0 && group < picks->m, NB_EINVAL, "token %d is in group %d, allowed are 0 to %d", i,
                   group, picks->m - 1);
        size[group]++;
    }
    for (int j = 0; j < picks->m; j++) NB_REQUIRE(ctx, size[j] > 0, NB_EINVAL, "group %d is empty", j);
    return NB_OK;
}

nb_status nb_picks_check(const nb_picks *picks, int n, int m, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, picks->kind != NB_NO_PICKS, NB_EINVAL, "nothing was picked");
    NB_REQUIRE(ctx, picks->m == m, NB_EINVAL, "%d landmarks were picked, expected %d", picks->m, m);
    NB_REQUIRE(ctx, !picks->added || picks->count == m, NB_EINVAL, "%d landmarks were added, expected %d", picks->count,
               m);
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = NB_OK;
    if (picks->kind == NB_TOKENS) status = check_tokens(picks, n, ctx);
    if (picks->kind == NB_GROUPS) status = check_groups(picks, n, ctx);
    nb_ctx_release(ctx, mark);
    if (status != NB_OK) return status;
    if (picks->kind == NB_POINTS)
        NB_REQUIRE(ctx, nb_all_finite((size_t)picks->d * (size_t)m, picks->points), NB_EINVAL,
                   "NaN or Inf in the landmark points");
    return NB_OK;
}

nb_status nb_picks_landmarks(const nb_picks *picks, int d, int n, const double *x, double *landmarks, nb_ctx *ctx)
{
    size_t bytes = (size_t)d * sizeof *x;
    if (picks->kind == NB_TOKENS) {
        for (int j = 0; j < picks->m; j++)
            memcpy(landmarks + (size_t)j * (size_t)d, x + (size_t)picks->tokens[j] * (size_t)d, bytes);
    } else if (picks->kind == NB_POINTS) {
        NB_REQUIRE(ctx, picks->d == d, NB_EDIM, "landmark points of dimension %d, expected %d", picks->d, d);
        memcpy(landmarks, picks->points, (size_t)picks->m * bytes);
    } else {
        int *size;
        NB_NEED(size, nb_alloc(ctx, (size_t)picks->m, sizeof *size));
        for (int i = 0; i < n; i++) size[picks->groups[i]]++;
        memset(landmarks, 0, (size_t)picks->m * bytes);
        for (int i = 0; i < n; i++)
            nb_add((size_t)d, x + (size_t)i * (size_t)d, landmarks + (size_t)picks->groups[i] * (size_t)d);
        for (int j = 0; j < picks->m; j++)
            for (int l = 0; l < d; l++) landmarks[(size_t)j * (size_t)d + (size_t)l] /= size[j];
    }
    return NB_OK;
}
