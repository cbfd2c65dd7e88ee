/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fit.c - nysbench fit: weights that predict a token's leverage from its point, for strategies that take such weights.
 *
 * The target of token i is log(n l_i), where l_i = |U_k(i,:)|^2 / k for queries and
 * |V_k(j,:)|^2 / k for keys are the leverage scores of S (softmax, with the head's
 * mask): they sum to 1, so a token of average leverage has target 0 whatever n
 * is. The regressors are the token's d coordinates as they are, and 1. The
 * regression of all heads' tokens together is linalg/ridge.h's. */
#include "commands/command.h"

#include "base/text.h"
#include "data/tensor.h"
#include "kernels/kernel.h"
#include "linalg/ridge.h"
#include "nystrom/make_scene.h"
#include "nystrom/scene.h"
#include "nystrom/spectrum.h"

#include <math.h>
#include <string.h>

/* n l_i below it counts as this: singular vectors of residual 1e-7 know squares to 1e-14, n / k of order 100. */
static const double least_score = 1e-12;

typedef struct {
    const char *path;
    int index;
} head_name;

typedef struct {
    char **heads, *out;
    int rank, count, room, d;
    double ridge;
    head_name *names;        /* count */
    nb_ridge_part *parts[2]; /* count each: queries, keys */
} request;

static bool has_heads_of(const request *r, const char *path)
{
    for (int i = 0; i < r->count; i++)
        if (nb_text_same(r->names[i].path, path)) return true;
    return false;
}

/* One --head: a head of the file, or all. */
static nb_status add_heads(request *r, const char *text, nb_ctx *ctx)
{
    const char *path, *doubt;
    int index;
    nb_head_shape shape;
    NB_TRY(ctx, nb_head_split(text, &path, &index, ctx));
    NB_TRY(ctx, nb_head_file_shape(path, &shape, ctx));
    NB_TRY(ctx, nb_head_doubt(path, &shape, &doubt, ctx));
    if (doubt && !has_heads_of(r, path)) nb_print_warning("%s", doubt);
    NB_REQUIRE(ctx, index < shape.heads, NB_EINVAL, "%s: head %d is not one of its heads 0 to %d", path, index,
               shape.heads - 1);
    NB_REQUIRE(ctx, r->count == 0 || shape.d == r->d, NB_EDIM, "%s: heads of dimension d = %d, but %s has d = %d", path,
               shape.d, r->names[0].path, r->d);
    NB_REQUIRE(ctx, shape.key_heads > 0, NB_EINVAL, "%s has no keys, and weights are fitted to queries and keys", path);
    NB_REQUIRE(ctx, r->rank < shape.n, NB_EINVAL, "--rank %d: expected less than the %d tokens of %s", r->rank, shape.n,
               path);
    int first = index < 0 ? 0 : index, end = index < 0 ? shape.heads : index + 1;
    for (int h = first; h < end; h++) {
        NB_GROW(ctx, r->names, r->count, r->room);
        r->names[r->count++] = (head_name){path, h};
    }
    r->d = shape.d;
    return NB_OK;
}

/* y (zeroed) <- log(n l_i) of each token, from the first k of the singular vectors u. */
static void targets(int n, int k, const double *u, double *y)
{
    for (int j = 0; j < k; j++)
        for (int i = 0; i < n; i++) y[i] += u[(size_t)j * (size_t)n + (size_t)i] * u[(size_t)j * (size_t)n + (size_t)i];
    for (int i = 0; i < n; i++) y[i] = log(fmax(n * y[i] / k, least_score));
}

/* The parts of one head; they are ctx's, all else is scratch's. */
static nb_status add_parts(request *r, int h, const nb_choice *kernel, nb_ctx *scratch, nb_ctx *ctx)
{
    nb_head head;
    nb_scene *scene;
    const nb_spectrum *spectrum;
    double *y;
    NB_TRY(scratch, nb_head_load(r->names[h].path, r->names[h].index, &head, scratch));
    NB_TRY(scratch, nb_scene_new(&head, kernel, &scene, scratch));
    NB_TRY(scratch, nb_scene_singular_vectors(scene, r->rank, &spectrum, scratch));
    for (int side = 0; side < 2; side++) {
        nb_ridge_part part;
        NB_NEED(y, nb_alloc_reals(scratch, (size_t)head.n, 1));
        targets(head.n, r->rank, side == 0 ? spectrum->left : spectrum->right, y);
        NB_TRY(scratch, nb_ridge_part_new(head.d, head.n, side == 0 ? head.q : head.k, y, &part, scratch));
        size_t size = (size_t)(head.d + 2) * (size_t)(head.d + 2);
        r->parts[side][h] = part;
        NB_NEED(r->parts[side][h].r, nb_alloc_reals(ctx, size, 1));
        memcpy(r->parts[side][h].r, part.r, size * sizeof *part.r);
    }
    return NB_OK;
}

static nb_status read_heads(request *r, nb_ctx *ctx)
{
    nb_choice kernel;
    NB_TRY(ctx, nb_choice_parse(&nb_kernels, nb_standard_kernel(), &kernel, ctx));
    for (int h = 0; h < r->count; h++) {
        nb_ctx *scratch;
        NB_NEED(scratch, nb_ctx_child(ctx));
        nb_status status = add_parts(r, h, &kernel, scratch, ctx);
        nb_ctx_release(scratch, 0);
        NB_TRY(ctx, status);
    }
    return NB_OK;
}

/* Weights from all heads but one (-1: from all), and their R^2 on that (on all). */
static nb_status fit(const request *r, int side, int without, double *w, double *r_squared, nb_ctx *ctx)
{
    nb_ridge_part joined;
    NB_TRY(ctx, nb_ridge_part_join(r->count, r->parts[side], without, &joined, ctx));
    NB_TRY(ctx, nb_ridge_fit(&joined, r->ridge, w, ctx));
    *r_squared = nb_r_squared(without < 0 ? &joined : &r->parts[side][without], w);
    return NB_OK;
}

/* One line of the table, and both sides' weights. */
static nb_status report(const request *r, int without, double *w, nb_ctx *ctx)
{
    double r_squared[2];
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = NB_OK;
    for (int side = 0; side < 2 && status == NB_OK; side++)
        status = fit(r, side, without, w + side * (r->d + 1), &r_squared[side], ctx);
    nb_ctx_release(ctx, mark);
    NB_TRY(ctx, status);
    printf("%10.4f %10.4f  ", r_squared[0], r_squared[1]);
    if (without < 0)
        printf("all heads, in sample\n");
    else
        printf("%s:%d, with weights fitted on the others\n", r->names[without].path, r->names[without].index);
    return NB_OK;
}

static nb_status fit_and_save(request *r, nb_ctx *ctx)
{
    double *w, *other;
    int64_t shape[2] = {2, r->d + 1};
    NB_TRY(ctx, read_heads(r, ctx));
    NB_NEED(w, nb_alloc_reals(ctx, (size_t)r->d + 1, 2));
    NB_NEED(other, nb_alloc_reals(ctx, (size_t)r->d + 1, 2));
    printf("R^2 of log leverage scores of rank %d, ridge %g\n   queries       keys\n", r->rank, r->ridge);
    NB_TRY(ctx, report(r, -1, w, ctx));
    for (int h = 0; r->count > 1 && h < r->count; h++) NB_TRY(ctx, report(r, h, other, ctx));
    return nb_npy_save_reals(r->out, 2, shape, w, ctx);
}

static nb_status run(nb_command_line *line, nb_ctx *ctx)
{
    nb_whole_value rank = {.min = 1, .max = 1 << 20, .value = 32};
    nb_real_value ridge = {.min = 0, .max = 1e300, .value = 1};
    request r = {.count = 0};
    const struct poptOption options[] = {
        NB_LIST_OPTION("head", '\0', r.heads, "Head H of a file, or all its heads; may be repeated", "FILE[:H]"),
        NB_OUTPUT_OPTION(r.out, "Where to write the weights, of shape (2, d+1): queries and keys, the intercept last"),
        NB_WHOLE_OPTION("rank", 0, rank, "Singular vectors of S in the leverage scores (default: 32)", "K"),
        NB_REAL_OPTION("ridge", 0, ridge,
                       "Weight of |w|^2 beside the mean squared error; coordinates are not scaled (default: 1)", "L"),
        POPT_TABLEEND};
    NB_TRY(ctx, nb_parse_command(line, options, 0, ctx));
    NB_REQUIRE(ctx, r.heads && r.out, NB_EINVAL, "fit: %s is missing", r.heads ? "--out FILE.npy" : "--head FILE");
    r.rank = (int)rank.value;
    r.ridge = ridge.value;
    for (int i = 0; r.heads[i]; i++) NB_TRY(ctx, add_heads(&r, r.heads[i], ctx));
    for (int side = 0; side < 2; side++) NB_NEED(r.parts[side], nb_alloc(ctx, (size_t)r.count, sizeof *r.parts[side]));
    line->stage = NB_WORKS;
    return fit_and_save(&r, ctx);
}

NB_COMMAND(fit, "--head FILE -o OUT", "Fit weights that predict leverage scores", true, NB_YOUR_OWN + 70);
