/* SPDX-License-Identifier: GPL-3.0-or-later */
/* krylov.c - block Lanczos on S'S: V spans the Krylov space, Z = S V, T = V'S'S V. With T y = t y, the Ritz vector V y
 * misses S'S by r = |R y_last|, where R is the part of the last product outside V and y_last the last block of y: no
 * further product is needed. */
#include "linalg/krylov.h"

#include "base/random.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "linalg/thin_products.h"

#include <float.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

enum { START = 20251104 };
static const double ALIKE = 1e-3; /* a difference of squares of singular values, to these: far above their residuals */

typedef struct {
    int n, count, block, order, dim; /* dim: vectors in V so far */
    gsl_rng *rng;
    const double *deflated; /* n x deflated_count: kept out of V, or NULL */
    int deflated_count;
    double *v, *z;      /* n x order */
    double *t;          /* order x order, the upper triangle by blocks */
    double *r;          /* block x block, twice */
    double *w;          /* block x n, a row's numbers side by side: the next block */
    double *product;    /* block x n: S times it */
    double *inside;     /* block x n: what is taken out of it */
    double *projection; /* block x order */
    double *aside;      /* block x deflated_count */
    double *values;     /* count + 1 largest of T, descending, */
    double *vectors;    /* order x (count + 1), theirs */
    double *residuals;  /* count + 1 */
    bool invariant;     /* the space holds all that S does not map to 0 */
} space;

int nb_krylov_order(int n, int count)
{
    int order = 64 + 10 * (count > 32 ? count : 32);
    return order < 3 * n / 4 ? order : 3 * n / 4; /* the next block has to find room beside it */
}

static nb_status space_init(space *k, int n, int count, int block, int order_, nb_ctx *ctx)
{
    *k = (space){.n = n, .count = count, .block = block, .order = order_};
    size_t length = (size_t)n, order = (size_t)k->order, kept = (size_t)count + 1, b = (size_t)block;
    NB_NEED(k->v, nb_alloc_raw(ctx, length * order));
    NB_NEED(k->z, nb_alloc_raw(ctx, length * order));
    NB_NEED(k->t, nb_alloc_reals(ctx, order, order));
    NB_NEED(k->r, nb_alloc_reals(ctx, b, 2 * b));
    NB_NEED(k->w, nb_alloc_raw(ctx, 3 * length * b));
    k->product = k->w + length * b;
    k->inside = k->product + length * b;
    NB_NEED(k->projection, nb_alloc_reals(ctx, order, b));
    NB_NEED(k->values, nb_alloc_reals(ctx, order, 1));
    NB_NEED(k->vectors, nb_alloc_reals(ctx, order, kept));
    NB_NEED(k->residuals, nb_alloc_reals(ctx, kept, 1));
    NB_TRY(ctx, nb_random_new(&k->rng, ctx));
    gsl_rng_set(k->rng, START);
    return NB_OK;
}

/* w <- (I - X X') w and coefficients <- X'w for the columns x of X. */
static void subtract_projection(const space *k, int count, const double *x, double *coefficients)
{
    size_t size = (size_t)k->n * (size_t)k->block;
    memset(k->inside, 0, size * sizeof *k->inside);
    nb_multiply_thin(count, k->n, x, k->n, k->block, k->w, coefficients, k->inside);
    for (size_t i = 0; i < size; i++) k->w[i] -= k->inside[i];
}

/* First without what is deflated. */
static void project_out(const space *k)
{
    if (k->deflated) subtract_projection(k, k->deflated_count, k->deflated, k->aside);
    if (k->dim > 0) subtract_projection(k, k->dim, k->v, k->projection);
}

/* Vectors from number `first` on of the block w. */
static void fill_random(space *k, int first)
{
    for (int j = first; j < k->block; j++)
        for (size_t i = 0, b = (size_t)k->block; i < (size_t)k->n; i++)
            k->w[i * b + (size_t)j] = gsl_ran_ugaussian(k->rng);
}

static nb_status random_block(space *k, nb_ctx *ctx)
{
    int rank;
    fill_random(k, 0);
    project_out(k);
    NB_TRY(ctx, nb_orthonormalise(NB_ROWS, k->n, k->block, k->w, k->r, &rank, ctx));
    memset(k->r, 0, (size_t)k->block * (size_t)k->block * sizeof *k->r);
    return NB_OK;
}

/* w, whose coefficients in V are T's last block column, becomes orthonormal and orthogonal to V, and r what it was;
 * if it lacks directions, random ones come in. If it is only rounding of a product of norm `scale`, the space is
 * invariant; while that is too small, it goes on from a new random block. */
static nb_status next_block(space *k, double scale, nb_ctx *ctx)
{
    int rank;
    double *again = k->r + k->block * k->block;
    bool nothing = nb_frobenius((size_t)k->n * (size_t)k->block, k->w) <= 100 * DBL_EPSILON * scale;
    k->invariant = nothing && k->dim > k->count;
    if (nothing) return random_block(k, ctx);
    NB_TRY(ctx, nb_orthonormalise(NB_ROWS, k->n, k->block, k->w, k->r, &rank, ctx));
    fill_random(k, rank);
    project_out(k);
    return nb_orthonormalise(NB_ROWS, k->n, k->block, k->w, again, &rank, ctx);
}

/* V gets the block w, Z its product, T its coefficients; then w is what comes next. */
static nb_status extend(space *k, const nb_operator *s, nb_ctx *ctx)
{
    size_t n = (size_t)k->n, b = (size_t)k->block, order = (size_t)k->order, at = (size_t)k->dim;
    nb_transpose(k->block, k->n, k->w, k->v + n * at);
    memcpy(k->inside, k->w, n * b * sizeof *k->w);
    NB_TRY(ctx, s->product(s->self, k->block, k->inside, k->product, k->w, ctx));
    nb_transpose(k->block, k->n, k->product, k->z + n * at);
    double scale = nb_frobenius(n * b, k->w);
    NB_REQUIRE(ctx, isfinite(scale), NB_ENUMERIC, "NaN or Inf in the product with a matrix of order %d", k->n);
    k->dim += k->block;
    project_out(k);
    for (size_t j = 0; j < b; j++)
        for (size_t i = 0; i < (size_t)k->dim; i++) k->t[(at + j) * order + i] = k->projection[i * b + j];
    return next_block(k, scale, ctx);
}

/* The largest Ritz values with their vectors and residuals. */
static nb_status ritz(space *k, nb_ctx *ctx)
{
    int kept = k->count + 1;
    size_t dim = (size_t)k->dim;
    double *values, *vectors, *last;
    NB_NEED(values, nb_alloc_reals(ctx, dim, 1));
    NB_NEED(vectors, nb_alloc_reals(ctx, dim, dim));
    NB_NEED(last, nb_alloc_reals(ctx, (size_t)k->block, (size_t)kept));
    /* T, whose upper triangle is kept */
    for (size_t j = 0; j < dim; j++) memcpy(vectors + j * dim, k->t + j * (size_t)k->order, (j + 1) * sizeof *vectors);
    NB_TRY(ctx, nb_symmetric_eigen(k->dim, vectors, values, ctx));
    nb_gemm(NB_PLAIN, NB_PLAIN, k->block, kept, k->block, 1, k->r, k->block, vectors + k->dim - k->block, k->dim, 0,
            last, k->block);
    for (int j = 0; j < kept; j++) {
        k->values[j] = fmax(0, values[j]);
        k->residuals[j] = nb_frobenius((size_t)k->block, last + j * k->block);
        memcpy(k->vectors + (size_t)j * (size_t)k->order, vectors + (size_t)j * dim, dim * sizeof *vectors);
    }
    return NB_OK;
}

/* |S'u - s v| / s_1 is r / (s s_1); values below 1e-3 s_1 are taken as that. */
static double largest_residual(const space *k)
{
    double largest = 0, first = sqrt(k->values[0]);
    if (first == 0) return 0;
    for (int j = 0; j < k->count; j++)
        largest = fmax(largest, k->residuals[j] / (fmax(sqrt(k->values[j]), 1e-3 * first) * first));
    return largest;
}

/* If p Ritz values are separated by a gap, their sum is too low by at most about sum r^2 / gap, and so is that of any
 * fewer, since each is too low; without a gap, by sum r (Parlett, The symmetric eigenvalue problem, ch. 11). */
static void what_is_missing(const space *k, double *missing)
{
    double squares = 0, rounding = 0, sum = 0;
    for (int j = 0; j < k->count; j++) {
        squares += k->residuals[j] * k->residuals[j];
        sum += k->residuals[j];
        rounding += 10 * DBL_EPSILON * k->values[0];
        double gap = k->values[j] - k->values[j + 1] - k->residuals[j + 1];
        missing[j] = (gap > 0 ? fmin(sum, squares / gap) : sum) + rounding;
    }
    for (int j = k->count - 2; j >= 0; j--) missing[j] = fmin(missing[j], missing[j + 1]);
}

/* u = Z y is orthogonal to rounding only where the values are large: its QR and
 * the SVD of R make it so, and correct the values and V y. */
static nb_status triplets(const space *k, nb_triplets *out, nb_ctx *ctx)
{
    size_t n = (size_t)k->n, count = (size_t)k->count, square = count * count;
    double *v, *r, *u, *wt;
    int rank;
    NB_NEED(v, nb_alloc_reals(ctx, n, 2 * count));
    NB_NEED(r, nb_alloc_reals(ctx, square, 3));
    double *z = v + n * count;
    u = r + square;
    wt = u + square;
    nb_gemm(NB_PLAIN, NB_PLAIN, k->n, k->count, k->dim, 1, k->v, k->n, k->vectors, k->order, 0, v, k->n);
    nb_gemm(NB_PLAIN, NB_PLAIN, k->n, k->count, k->dim, 1, k->z, k->n, k->vectors, k->order, 0, z, k->n);
    NB_TRY(ctx, nb_orthonormalise(NB_COLUMNS, k->n, k->count, z, r, &rank, ctx));
    NB_TRY(ctx, nb_svd(k->count, k->count, r, u, out->values, wt, ctx));
    nb_gemm(NB_PLAIN, NB_PLAIN, k->n, k->count, k->count, 1, z, k->n, u, k->count, 0, out->left, k->n);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, k->n, k->count, k->count, 1, v, k->n, wt, k->count, 0, out->right, k->n);
    return NB_OK;
}

/* Returns how many products take as long as a residual: its eigenvalue problem of order p as long as a product of 15
 * p^3 flops. */
static double price(const space *k)
{
    return 15 * pow(k->dim, 3) / (4.0 * k->n * k->n * k->block);
}

/* After so many blocks the residual is below the tolerance, if it goes on to shrink as it did since `before`, `blocks`
 * ago; where it is dear, half of its price at least. */
static int blocks_to_go(const space *k, double residual, double before, int blocks, double tolerance)
{
    double rate = log(before / residual) / blocks, most = 4 + price(k);
    double wait = rate > 0 ? log(residual / tolerance) / rate : most;
    return (int)fmin(fmax(wait, price(k) / 2), most);
}

static nb_status grow_space(space *k, const nb_operator *s, double tolerance, nb_ctx *ctx)
{
    int blocks = 0, wait = 2 * k->count / k->block; /* since the last residual; before the next one */
    NB_TRY(ctx, random_block(k, ctx));
    for (double residual = INFINITY; residual > tolerance && !k->invariant && k->dim + k->block <= k->order;) {
        NB_TRY(ctx, extend(k, s, ctx));
        blocks++;
        bool last = k->invariant || k->dim + k->block > k->order;
        if (k->dim <= k->count || (blocks <= wait && !last)) continue;
        double before = residual;
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = ritz(k, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
        residual = largest_residual(k);
        bool known = isfinite(before) && residual > tolerance;
        wait = known ? blocks_to_go(k, residual, before, blocks, tolerance) : 0;
        blocks = 0;
    }
    return NB_OK;
}

/* The largest eigenvalue of S'S that a few products from a fresh start find
 * beside the `count` right vectors: a lower bound. */
static nb_status find_missed_value(const nb_operator *s, int count, const double *right, double *value, nb_ctx *ctx)
{
    enum { WIDE = 8, STEPS = 5 };
    space k;
    NB_TRY(ctx, space_init(&k, s->n, 1, WIDE, WIDE * STEPS, ctx));
    gsl_rng_set(k.rng, START + 1); /* another block than the solution grew from */
    k.deflated = right;
    k.deflated_count = count;
    NB_NEED(k.aside, nb_alloc_reals(ctx, (size_t)count, WIDE));
    NB_TRY(ctx, grow_space(&k, s, 0.01, ctx));
    *value = k.values[0];
    return NB_OK;
}

/* True if a block of values is equal, to what the tolerance leaves open: a block of b vectors sees of equal singular
 * values at most b, so there may be more. */
static bool may_repeat(const space *k)
{
    for (int j = 0; j + k->block <= k->count; j++)
        if (k->values[j] - k->values[j + k->block - 1] <= ALIKE * k->values[j] + k->residuals[j] + 1e-9 * k->values[0])
            return true;
    return false;
}

/* If values may repeat, a fresh start checks the solution; if it finds a larger value than the least of it, the search
 * is repeated in blocks of twice the width. */
static nb_status solve(const nb_operator *s, int count, int block, double tolerance, nb_triplets *out, nb_ctx *ctx)
{
    int order = nb_krylov_order(s->n, count);
    for (;; block *= 2) {
        space k;
        double value = 0;
        nb_mark mark = nb_ctx_mark(ctx);
        NB_TRY(ctx, space_init(&k, s->n, count, block, order, ctx));
        NB_TRY(ctx, grow_space(&k, s, tolerance, ctx));
        out->residual = largest_residual(&k);
        what_is_missing(&k, out->missing);
        NB_TRY(ctx, triplets(&k, out, ctx));
        double least = k.values[count - 1] + k.residuals[count - 1] + 1e-12 * k.values[0];
        if (may_repeat(&k)) NB_TRY(ctx, find_missed_value(s, count, out->right, &value, ctx));
        nb_ctx_release(ctx, mark);
        if (value <= least) return NB_OK;
        for (int j = 0; j < count; j++) out->missing[j] += (j + 1) * (value - least);
        if (block >= count || 2 * block >= order / 2) return NB_OK;
    }
}

nb_status nb_krylov(const nb_operator *s, int count, int block, double tolerance, nb_triplets *out, nb_ctx *ctx)
{
    size_t length = (size_t)s->n, columns = (size_t)count;
    NB_REQUIRE(ctx, count >= 1 && block <= s->n / 4 && count + block <= nb_krylov_order(s->n, count), NB_EDIM,
               "%d singular triplets of a matrix of order %d, in blocks of %d", count, s->n, block);
    NB_REQUIRE(ctx, block % NB_THIN == 0, NB_EBUG, "a block of %d vectors: no multiple of %d", block, NB_THIN);
    NB_NEED(out->values, nb_alloc_reals(ctx, columns, 1));
    NB_NEED(out->left, nb_alloc_reals(ctx, length, columns));
    NB_NEED(out->right, nb_alloc_reals(ctx, length, columns));
    NB_NEED(out->missing, nb_alloc_reals(ctx, columns, 1));
    nb_mark mark = nb_ctx_mark(ctx);
    nb_status status = solve(s, count, block, tolerance, out, ctx);
    nb_ctx_release(ctx, mark);
    return status;
}
