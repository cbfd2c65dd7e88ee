/* SPDX-License-Identifier: GPL-3.0-or-later */
/* picks_file.c - tokens and points in .npy files, all of them checked. */
#include "nystrom/picks_file.h"

#include "base/files.h"
#include "base/scratch.h"
#include "data/tensor.h"

#include <stdio.h>
#include <string.h>

nb_status nb_picks_save(const char *path, const nb_picks *picks, int d, int n, const double *x, nb_ctx *ctx)
{
    double *landmarks;
    int64_t shape[2] = {picks->m, d}, *tokens;
    if (picks->kind == NB_TOKENS) {
        NB_NEED(tokens, nb_alloc(ctx, (size_t)picks->m, sizeof *tokens));
        for (int j = 0; j < picks->m; j++) tokens[j] = picks->tokens[j];
        return nb_npy_save_integers(path, 1, shape, tokens, ctx);
    }
    NB_NEED(landmarks, nb_alloc_reals(ctx, (size_t)d, (size_t)picks->m));
    NB_TRY(ctx, nb_picks_landmarks(picks, d, n, x, landmarks, ctx));
    return nb_npy_save_reals(path, 2, shape, landmarks, ctx);
}

/* NB_EINVAL with the shape that came and those that are allowed. */
static nb_status check_shape(const char *path, const nb_tensor *t, int m, int d, int n, nb_ctx *ctx)
{
    bool integers = t->dtype >= NB_I8;
    const char *came, *rows = "m", *points = "";
    if (t->rank == (integers ? 1 : 2) && (m ? t->shape[0] == m : t->shape[0] >= 1 && t->shape[0] <= n) &&
        (integers || (d && t->shape[1] == d)))
        return NB_OK;
    NB_TRY(ctx, nb_tensor_shape(t, &came, ctx));
    if (m) NB_NEED(rows, nb_format(ctx, "%d", m));
    if (d) NB_NEED(points, nb_format(ctx, ", or floats of shape (%s, %d), points", rows, d));
    NB_FAIL(ctx, NB_EINVAL, "%s: %s of shape %s; allowed are integers of shape (%s,), tokens from 0 to %d%s%s%s", path,
            integers ? "integers" : "floats", came, rows, n - 1, points, m ? "" : ", with 1 <= m <= n",
            d ? "" : "; points need a file for each side");
}

static nb_status load_tokens(const char *path, const nb_tensor *t, int n, nb_picks *picks, nb_ctx *ctx)
{
    int64_t *wide;
    int *tokens;
    NB_NEED(wide, nb_alloc(ctx, (size_t)t->count, sizeof *wide));
    NB_NEED(tokens, nb_picks_tokens(picks, (int)t->count));
    NB_TRY(ctx, nb_tensor_read_integers(path, t, 0, t->count, wide, ctx));
    for (int j = 0; j < picks->m; j++) {
        NB_REQUIRE(ctx, wide[j] >= 0 && wide[j] < n, NB_EINVAL, "landmark %d is token %lld, allowed are 0 to %d", j,
                   (long long)wide[j], n - 1);
        tokens[j] = (int)wide[j];
    }
    return NB_OK;
}

static nb_status load_groups(const char *path, const nb_tensor *t, int m, int n, nb_picks *picks, nb_ctx *ctx)
{
    int64_t *wide;
    int *groups;
    NB_NEED(wide, nb_alloc(ctx, (size_t)n, sizeof *wide));
    NB_NEED(groups, nb_picks_groups(picks, m, n));
    NB_TRY(ctx, nb_tensor_read_integers(path, t, 0, n, wide, ctx));
    for (int i = 0; i < n; i++) {
        NB_REQUIRE(ctx, wide[i] >= 0 && wide[i] < m, NB_EINVAL, "token %d is of group %lld, allowed are 0 to %d", i,
                   (long long)wide[i], m - 1);
        groups[i] = (int)wide[i];
    }
    return nb_picks_check(picks, n, m, ctx);
}

static nb_status load_side(const char *path, const nb_tensor *t, int d, int n, nb_picks *picks, nb_ctx *ctx)
{
    double *points;
    if (t->dtype >= NB_I8) {
        NB_TRY(ctx, load_tokens(path, t, n, picks, ctx));
    } else {
        NB_NEED(points, nb_picks_points(picks, d, (int)t->shape[0]));
        NB_TRY(ctx, nb_tensor_read_reals(path, t, 0, t->count, points, ctx));
    }
    return nb_picks_check(picks, n, picks->m, ctx);
}

/* The same error, with the file if it does not begin with that. */
static nb_status name_file(const char *path, nb_status status, nb_ctx *ctx)
{
    const char *message = nb_error_message(ctx);
    size_t length = strlen(path);
    if (status != NB_EINVAL || (strncmp(message, path, length) == 0 && message[length] == ':')) return status;
    NB_NEED(message, nb_strdup(ctx, message));
    nb_error_clear(ctx);
    NB_FAIL(ctx, status, "%s: %s", path, message);
}

nb_status nb_picks_load(const char *path, int m, int d, int n, nb_picks *picks, nb_ctx *ctx)
{
    nb_tensor t;
    const char *folder;
    if (strcmp(path, "-") == 0) { /* a pipe cannot be read twice, so its contents are kept in a temporary file */
        NB_TRY(ctx, nb_temporary_folder(&folder, ctx));
        NB_NEED(path, nb_format(ctx, "%s/standard-input.npy", folder));
        NB_TRY(ctx, nb_copy_file("/dev/stdin", path, ctx));
    }
    NB_TRY(ctx, nb_npy_open(path, &t, ctx));
    NB_TRY(ctx, check_shape(path, &t, m, d, n, ctx));
    return name_file(path, load_side(path, &t, d, n, picks, ctx), ctx);
}

nb_status nb_picks_load_groups(const char *path, int m, int n, nb_picks *picks, nb_ctx *ctx)
{
    nb_tensor t;
    NB_TRY(ctx, nb_npy_open(path, &t, ctx));
    NB_REQUIRE(ctx, t.dtype >= NB_I8 && t.rank == 1 && t.shape[0] == n, NB_EINVAL,
               "%s: expected integers of shape (%d,), the group of each token", path, n);
    return name_file(path, load_groups(path, &t, m, n, picks, ctx), ctx);
}

static const char *kind_name(const nb_picks *picks)
{
    return picks->kind == NB_TOKENS ? "tokens" : "points";
}

nb_status nb_picks_load_sides(const char *first, const char *second, int m, int d, int n, nb_picks *of_queries,
                              nb_picks *of_keys, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_picks_load(first, m, second ? d : 0, n, of_queries, ctx));
    if (!second) {
        *of_keys = *of_queries;
        return NB_OK;
    }
    NB_TRY(ctx, nb_picks_load(second, m, d, n, of_keys, ctx));
    NB_REQUIRE(ctx, of_queries->m == of_keys->m, NB_EDIM, "%s: %d landmarks, %s: %d; expected the same number", first,
               of_queries->m, second, of_keys->m);
    NB_REQUIRE(ctx, of_queries->kind == of_keys->kind, NB_EINVAL,
               "%s: %s, %s: %s; allowed are tokens in both, or points in both", first, kind_name(of_queries), second,
               kind_name(of_keys));
    return NB_OK;
}
