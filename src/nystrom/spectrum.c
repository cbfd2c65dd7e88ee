/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spectrum.c - by LAPACK from S whole, by block Krylov from passes over it, or from its factors. */
#include "nystrom/spectrum.h"

#include "base/clock.h"
#include "linalg/krylov.h"
#include "linalg/linalg.h"
#include "linalg/thin_products.h"
#include "nystrom/low_rank.h"
#include "nystrom/passes.h"
#include "nystrom/scene_record.h"
#include "nystrom/spectrum_record.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    SHARE = 8,   /* of the triplets: of more than 1 / SHARE of all, LAPACK's SVD takes about as long as block Krylov */
    FEWEST = 64, /* triplets that are made: what is asked for is rounded up to it, or to twice that, and so on */
};
static const double tolerance = 1e-7; /* of singular triplets: they are those of a matrix so near to S */

/* The tail of the first `used` values, all that are not 0, from a backward stable
 * decomposition of order n. */
static void sum_tail(nb_kept_spectrum *kept, int used, int n)
{
    nb_spectrum *s = &kept->of;
    kept->summed = true;
    s->residual = DBL_EPSILON * n;
    for (int m = used - 1; m >= 0; m--) {
        double off = s->residual * s->values[0]; /* of each value */
        s->tail[m] = s->tail[m + 1] + s->values[m] * s->values[m];
        s->tail_accuracy[m] = s->tail_accuracy[m + 1] + off * (2 * s->values[m] + off);
    }
}

/* S' = U diag(s) W' by LAPACK: the right vectors of S are U's columns, the left
 * ones the rows of W'. */
static nb_status decompose(nb_scene *scene, bool vectors, nb_kept_spectrum *kept, nb_ctx *ctx)
{
    nb_spectrum *s = &kept->of;
    const double *rows;
    int n = scene->head->n;
    size_t order = (size_t)n;
    double *wt = NULL;
    s->count = n;
    NB_NEED(s->values, nb_alloc_reals(scene->ctx, order, 1));
    NB_NEED(s->tail, nb_alloc_reals(scene->ctx, order + 1, 2));
    s->tail_accuracy = s->tail + order + 1;
    NB_TRY(ctx, nb_scene_rows(scene, &rows, ctx));
    if (vectors) {
        NB_NEED(s->left, nb_alloc_reals(scene->ctx, order, order));
        NB_NEED(s->right, nb_alloc_reals(scene->ctx, order, order));
        NB_NEED(wt, nb_alloc_reals(ctx, order, order));
    }
    NB_TRY(ctx, nb_svd(n, n, rows, s->right, s->values, wt, ctx));
    if (vectors) nb_transpose(n, n, wt, s->left);
    sum_tail(kept, n, n);
    return NB_OK;
}

/* The same from the factors of S: beyond their rank values and vectors are 0. */
static nb_status decompose_factors(nb_scene *scene, int count, bool vectors, nb_kept_spectrum *kept, nb_ctx *ctx)
{
    nb_spectrum *s = &kept->of;
    int n = scene->head->n, rank = scene->factors.rank;
    size_t room = (size_t)(count > rank ? count : rank);
    s->count = (int)room;
    NB_NEED(s->values, nb_alloc_reals(scene->ctx, room, 1));
    NB_NEED(s->tail, nb_alloc_reals(scene->ctx, room + 1, 2));
    s->tail_accuracy = s->tail + room + 1;
    if (vectors) {
        NB_NEED(s->left, nb_alloc_reals(scene->ctx, (size_t)n, room));
        NB_NEED(s->right, nb_alloc_reals(scene->ctx, (size_t)n, room));
    }
    NB_TRY(ctx, nb_low_rank_svd(&scene->factors, n, s->values, s->left, s->right, ctx));
    sum_tail(kept, rank, n);
    return NB_OK;
}

typedef struct {
    int b;
    const double *v;
    double *z, *w;
} product;

static nb_status multiply_stripe(void *self, const nb_stripe *s, nb_ctx *ctx)
{
    const product *p = self;
    (void)ctx;
    nb_multiply_thin(s->count, s->keys, s->values, s->ld, p->b, p->v, p->z + (size_t)s->first * (size_t)p->b, p->w);
    return NB_OK;
}

static nb_status multiply(void *self, int b, const double *v, double *z, double *w, nb_ctx *ctx)
{
    nb_scene *scene = self;
    product p = {b, v, z, w};
    memset(w, 0, (size_t)scene->head->n * (size_t)b * sizeof *w);
    return nb_scene_pass(scene, multiply_stripe, &p, ctx);
}

void nb_spectrum_bytes(int n, int d, int count, bool vectors, double *kept, double *working)
{
    bool lapack;
    double length = n, width = d, triplets = nb_spectrum_triplets(n, count, &lapack);
    if (d > 0) {
        double rank = triplets < length ? fmax(triplets, width) : width;
        *kept = vectors ? 16 * length * rank : 0;
        *working = 8 * (2 * length * width + 12 * width * width);
    } else if (lapack) {
        *kept = vectors ? 16 * length * length : 0;
        *working = 8 * length * (vectors ? 5 * length : length + 100);
    } else {
        double order = nb_krylov_order(n, (int)triplets);
        *kept = 16 * length * triplets;
        *working =
            8 * (2 * length * order + 2 * order * order + 3 * order * triplets + 2 * length * triplets + 160 * length);
    }
}

int nb_spectrum_block(bool kept)
{
    return kept ? 8 : 32;
}

/* Block Krylov; the tail follows from |S|_F. */
static nb_status iterate(nb_scene *scene, int count, nb_spectrum *s, nb_ctx *ctx)
{
    const nb_operator matrix = {scene->head->n, multiply, scene};
    nb_triplets t;
    nb_ctx *own; /* the passes allocate from scene->ctx meanwhile */
    NB_NEED(own, nb_ctx_child(scene->ctx));
    NB_TRY(ctx, nb_krylov(&matrix, count, nb_spectrum_block(scene->keep), tolerance, &t, own));
    NB_NEED(s->tail, nb_alloc_reals(scene->ctx, (size_t)count + 1, 2));
    s->tail_accuracy = s->tail + count + 1;
    s->tail[0] = scene->norm * scene->norm;
    for (int m = 0; m < count; m++) {
        s->tail[m + 1] = fmax(0, s->tail[m] - t.values[m] * t.values[m]);
        s->tail_accuracy[m + 1] = t.missing[m];
    }
    s->count = count;
    s->values = t.values;
    s->left = t.left;
    s->right = t.right;
    s->residual = t.residual;
    return NB_OK;
}

/* Returns the cached spectrum for that many triplets, or NULL. */
static nb_kept_spectrum *find_cached(const nb_scene *scene, int count, bool vectors)
{
    for (int i = 0; i < scene->spectrum_count; i++) {
        nb_kept_spectrum *s = scene->spectra[i];
        if (s->asked == count && (vectors ? s->vectors_too : s->values_too)) return s;
    }
    return NULL;
}

static nb_status add_spectrum(nb_scene *scene, nb_kept_spectrum *added)
{
    nb_kept_spectrum **grown;
    size_t count = (size_t)scene->spectrum_count;
    NB_NEED(grown, nb_alloc(scene->ctx, count + 1, sizeof *grown));
    if (count > 0) memcpy(grown, scene->spectra, count * sizeof *grown);
    grown[count] = added;
    scene->spectra = grown;
    scene->spectrum_count++;
    return NB_OK;
}

static int rounded_up(int count)
{
    int wanted = FEWEST;
    while (wanted < count) wanted *= 2;
    return wanted;
}

int nb_spectrum_triplets(int n, int count, bool *lapack)
{
    int wanted = rounded_up(count);
    *lapack = wanted > n / SHARE;
    return *lapack || wanted > n ? n : wanted;
}

/* A new one; a failure of mathematics is kept too. */
static nb_status make_and_keep(nb_scene *scene, int count, bool lapack, bool vectors, nb_kept_spectrum **out,
                               nb_ctx *ctx)
{
    bool both = !scene->factors.rank && !lapack;
    double start_s = nb_clock_s();
    nb_kept_spectrum *s;
    NB_NEED(s, nb_alloc(scene->ctx, 1, sizeof *s));
    s->asked = count;
    s->vectors_too = vectors || both;
    s->values_too = !vectors || both;
    nb_status status = scene->factors.rank ? decompose_factors(scene, count, vectors, s, ctx)
                       : lapack            ? decompose(scene, vectors, s, ctx)
                                           : iterate(scene, count, &s->of, ctx);
    if (status == NB_ENUMERIC) NB_NEED(s->failure, nb_strdup(scene->ctx, nb_error_message(ctx)));
    s->time_s = nb_clock_s() - start_s;
    if (status == NB_OK || status == NB_ENUMERIC) NB_TRY(ctx, add_spectrum(scene, s));
    *out = s;
    return status;
}

static nb_status spectrum_of(nb_scene *scene, int count, bool vectors, const nb_kept_spectrum **spectrum, nb_ctx *ctx)
{
    int n = scene->head->n, wanted = rounded_up(count) < n ? rounded_up(count) : n;
    bool lapack = false;
    nb_scene_note_read(scene, scene->head->n, NULL);
    if (!scene->factors.rank) wanted = nb_spectrum_triplets(n, count, &lapack);
    nb_kept_spectrum *s = find_cached(scene, wanted, vectors);
    if (s) {
        NB_REQUIRE(ctx, !s->failure, NB_ENUMERIC, "%s", s->failure);
        scene->reused_s += s->time_s;
    } else {
        NB_TRY(ctx, make_and_keep(scene, wanted, lapack, vectors, &s, ctx));
    }
    *spectrum = s;
    return NB_OK;
}

nb_status nb_scene_singular_values(nb_scene *scene, int count, const nb_spectrum **spectrum, nb_ctx *ctx)
{
    const nb_kept_spectrum *s;
    NB_TRY(ctx, spectrum_of(scene, count, false, &s, ctx));
    *spectrum = &s->of;
    return NB_OK;
}

nb_status nb_scene_singular_vectors(nb_scene *scene, int count, const nb_spectrum **spectrum, nb_ctx *ctx)
{
    const nb_kept_spectrum *s;
    NB_TRY(ctx, spectrum_of(scene, count, true, &s, ctx));
    *spectrum = &s->of;
    return NB_OK;
}

nb_status nb_scene_floor_rank(nb_scene *scene, int m, double *floor, double *accuracy, nb_ctx *ctx)
{
    const nb_kept_spectrum *kept;
    double norm;
    NB_TRY(ctx, nb_scene_norm(scene, &norm, ctx));
    NB_TRY(ctx, spectrum_of(scene, m, false, &kept, ctx));
    const nb_spectrum *s = &kept->of;
    double rounding = kept->summed ? 0 : 8 * DBL_EPSILON * norm * norm; /* of |S|^2 and of the sum of squares */
    *floor = sqrt(s->tail[m]) / norm;
    *accuracy = fmax(*floor - sqrt(fmax(0, s->tail[m] - s->tail_accuracy[m] - rounding)) / norm,
                     sqrt(s->tail[m] + rounding) / norm - *floor);
    return NB_OK;
}
