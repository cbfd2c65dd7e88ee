/* SPDX-License-Identifier: GPL-3.0-or-later */
/* K-means and what it is made of, against the same by all distances in double precision: groups, and the bits of the
 * centres. Points for which single precision tells what is nearest, and such for which it does not: equal points, a
 * grid, points far from the origin beside their distances, beyond its range, and zero vectors under cosine. */
#include "testing.h"

#include "linalg/bounds.h"
#include "linalg/cover.h"
#include "linalg/kmeans.h"
#include "linalg/linalg.h"
#include "linalg/panel_products.h"
#include "linalg/vector.h"

#include <float.h>
#include <gsl/gsl_randist.h>

enum { MOST = 130, WIDEST = 17, GROUPS = 12 };

static gsl_rng *seeded(nb_ctx *ctx, int seed)
{
    gsl_rng *rng;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    gsl_rng_set(rng, (unsigned long)seed);
    return rng;
}

typedef enum { NORMAL, EQUAL, FEW, GRID, AFAR, TINY, HUGE_ONES, OUTLIER, SOME_ZERO, KINDS } kind;

static double entry(kind what, int i, int l, gsl_rng *rng)
{
    double normal = gsl_ran_gaussian(rng, 1);
    switch (what) {
    case EQUAL: return 1.7 + l;
    case FEW: return sin(7 * (i % 5) + 3 * l); /* of five points */
    case GRID: return floor(3 * fabs(normal));
    case AFAR: return 1e7 + normal;
    case TINY: return 1e-180 * normal;
    case HUGE_ONES: return 1e150 * normal;
    case OUTLIER: return i == 3 ? 1e9 * normal : normal;
    case SOME_ZERO: return i % 4 == 1 ? 0 : normal;
    default: return normal;
    }
}

static void fill(kind what, int d, int n, double *x, gsl_rng *rng)
{
    for (int i = 0; i < n; i++)
        for (int l = 0; l < d; l++) x[i * d + l] = entry(what, i, l, rng);
}

static double distance(int d, const double *x, const double *c, bool cosine)
{
    if (cosine) return 2 - 2 * nb_dot((size_t)d, x, c);
    return nb_squared_distance((size_t)d, x, c);
}

static void test_panels(void **state)
{
    enum { D = 5, M = 11 };
    static const int listed[M] = {2, 0, 1, 10, 4, 5, 3, 7, 6, 9, 8};
    _Alignas(64) float x[D * NB_PANEL], out[M * NB_PANEL];
    float z[M * D], least[NB_PANEL], second[NB_PANEL], offset[M] = {0.25f, 3, -1, 99, 99, 99, 99, 99, 99, 99, 99};
    int at[NB_PANEL];
    gsl_rng *rng = seeded(*state, 1);
    for (int i = 0; i < D * NB_PANEL; i++) x[i] = (float)gsl_ran_gaussian(rng, 1);
    for (int i = 0; i < M * D; i++) z[i] = (float)gsl_ran_gaussian(rng, 1);
    for (int index = 0; nb_panel_products_at(index); index++)
        for (int count = 1; count <= M; count++) {
            for (int i = 0; i < M * NB_PANEL; i++) out[i] = 77;
            nb_panel_products_at(index)(D, x, (size_t)count, listed, z, out);
            for (int k = 0; k < M; k++)
                for (int i = 0; i < NB_PANEL; i++) {
                    int j = listed[k];
                    double sum = 0, size = 0;
                    for (int l = 0; l < D; l++) {
                        sum += (double)x[l * NB_PANEL + i] * (double)z[j * D + l];
                        size += fabs((double)x[l * NB_PANEL + i] * (double)z[j * D + l]);
                    }
                    if (k < count) /* listed: Higham, sec. 3.1 */
                        assert_true(fabs((double)out[j * NB_PANEL + i] - sum) <= D * FLT_EPSILON / 2 * 1.001 * size);
                    else
                        assert_true(out[j * NB_PANEL + i] == 77);
                }
        }
    out[4] = out[NB_PANEL + 4] = out[2 * NB_PANEL + 4] = 0;
    offset[1] = -1;
    nb_panel_least(M, offset, out, least, second, at);
    assert_true(at[4] == 1 && least[4] == -1 && second[4] == -1); /* the first among equals */
    for (int i = 0; i < NB_PANEL; i++)
        for (int j = 0; j < M; j++) {
            float value = offset[j] + out[j * NB_PANEL + i];
            assert_true(j == at[i] ? value == least[i] : value >= second[i]);
        }
    nb_panel_least(1, offset, out, least, second, at);
    assert_true(at[9] == 0 && second[9] == FLT_MAX);
}

/* Where the sums are of numbers that single precision has exactly, so is the bound, but for its margin. */
static void test_bounds(void **state)
{
    static const int dims[] = {1, 2, WIDEST}, counts[] = {1, 31, 32, 33, MOST};
    nb_ctx *ctx = *state;
    gsl_rng *rng = seeded(ctx, 2);
    double x[MOST * WIDEST], c[WIDEST], decided = 0, asked = 0;
    float lower[MOST + NB_PANEL];
    for (int k = 0; k < KINDS * 30; k++) {
        int d = dims[k % 3], n = counts[k % 5];
        kind what = (kind)(k / 30);
        bool cosine = k % 2;
        nb_bounded points;
        nb_bounding b;
        fill(what, d, n, x, rng);
        fill(what == OUTLIER ? NORMAL : what, d, 1, c, rng);
        if (cosine) {
            nb_normalise_columns(d, n, x, x);
            nb_normalise_columns(d, 1, c, c);
        }
        assert_ok(ctx, nb_bounded_init(&points, d, n, x, ctx));
        assert_ok(ctx, nb_bounding_init(&b, &points, 1, cosine, ctx));
        nb_bounding_set(&b, 0, c);
        nb_bounding_column(&b, 0, lower);
        for (int i = 0; i < n; i++) {
            double unit = points.scale * points.scale, there = unit * distance(d, x + i * d, c, cosine);
            double bound = b.rest[i] + (double)lower[i], above = (double)(b.point_error[i] + b.centre_error[0]);
            assert_false(bound > there);
            if (!isinf(above) && unit > 0) assert_at_most(there, bound + above);
            decided += bound > 0.999 * there;
            asked++;
        }
    }
    assert_true(decided > asked / 3);
}

/* The nearest chosen point and the squared distance to it, to the last bit. */
static void test_cover(void **state)
{
    nb_ctx *ctx = *state;
    gsl_rng *rng = seeded(ctx, 3);
    double x[MOST * WIDEST];
    for (kind what = 0; what < KINDS; what++) {
        int chosen[GROUPS];
        nb_cover cover;
        fill(what, WIDEST, MOST, x, rng);
        assert_ok(ctx, nb_cover_init(&cover, WIDEST, MOST, x, ctx));
        for (int j = 0; j < GROUPS; j++) {
            chosen[j] = nb_cover_draw(&cover, rng);
            nb_cover_add(&cover, chosen[j]);
        }
        for (int i = 0; i < MOST; i++) {
            int best = 0;
            for (int j = 1; j < GROUPS; j++)
                if (distance(WIDEST, x + i * WIDEST, x + chosen[j] * WIDEST, false) <
                    distance(WIDEST, x + i * WIDEST, x + chosen[best] * WIDEST, false))
                    best = j;
            assert_int_equal(cover.owner[i], best);
            assert_true(cover.nearest[i] == distance(WIDEST, x + i * WIDEST, x + chosen[best] * WIDEST, false));
        }
    }
}

/* Lloyd's iteration, all distances in each. */
typedef struct {
    int group[MOST], size[GROUPS];
    double centres[GROUPS * WIDEST], distance[MOST];
} plain;

static void plain_assign(plain *p, int d, int n, const double *x, int m, bool cosine)
{
    memset(p->size, 0, sizeof p->size);
    for (int i = 0; i < n; i++) {
        int best = 0;
        for (int j = 1; j < m; j++)
            if (distance(d, x + i * d, p->centres + j * d, cosine) <
                distance(d, x + i * d, p->centres + best * d, cosine))
                best = j;
        p->group[i] = best;
        p->distance[i] = distance(d, x + i * d, p->centres + best * d, cosine);
        p->size[best]++;
    }
}

static void plain_fill(plain *p, int n, int m)
{
    for (int j = 0; j < m; j++) {
        int farthest = -1;
        if (p->size[j] > 0) continue;
        for (int i = 0; i < n; i++)
            if (p->size[p->group[i]] > 1 && (farthest < 0 || p->distance[i] > p->distance[farthest])) farthest = i;
        p->size[p->group[farthest]]--;
        p->group[farthest] = j;
        p->size[j] = 1;
        p->distance[farthest] = 0;
    }
}

static void plain_move(plain *p, int d, int n, const double *x, int m, bool cosine)
{
    memset(p->centres, 0, sizeof p->centres);
    for (int i = 0; i < n; i++)
        for (int l = 0; l < d; l++) p->centres[p->group[i] * d + l] += x[i * d + l];
    if (cosine)
        nb_normalise_columns(d, m, p->centres, p->centres);
    else
        for (int j = 0; j < m; j++)
            for (int l = 0; l < d; l++) p->centres[j * d + l] /= p->size[j];
}

static void plain_kmeans(plain *p, int d, int n, const double *x, int m, const nb_kmeans_how *how)
{
    memcpy(p->centres, how->start, (size_t)d * (size_t)m * sizeof *p->centres);
    if (how->cosine) nb_normalise_columns(d, m, p->centres, p->centres);
    for (int iteration = 0; iteration < how->iterations; iteration++) {
        plain_assign(p, d, n, x, m, how->cosine);
        plain_fill(p, n, m);
        plain_move(p, d, n, x, m, how->cosine);
    }
}

static void assert_same(const nb_clusters *c, const plain *p)
{
    for (int i = 0; i < c->n; i++) assert_int_equal(c->group[i], p->group[i]);
    for (int j = 0; j < c->m; j++) assert_int_equal(c->size[j], p->size[j]);
    for (int i = 0; i < c->m * c->d; i++) assert_true(c->centres[i] == p->centres[i]);
}

static void test_against_all_distances(void **state)
{
    static const int dims[] = {1, 6, WIDEST}, counts[] = {GROUPS, 64, MOST};
    nb_ctx *ctx = *state;
    gsl_rng *rng = seeded(ctx, 4);
    double x[MOST * WIDEST], start[GROUPS * WIDEST];
    for (int k = 0; k < KINDS * 36; k++) {
        int d = dims[k % 3], n = counts[k / 3 % 3];
        bool cosine = k / 9 % 2;
        nb_kmeans_how how = {.restarts = 1, .iterations = 1 + 29 * (k / 18 % 2), .cosine = cosine, .start = start};
        nb_clusters c;
        plain p;
        fill((kind)(k / 36), d, n, x, rng);
        memcpy(start, x, (size_t)d * GROUPS * sizeof *start);
        if (k % 7 == 0)
            for (int l = 0; l < d; l++) start[l] = 1e30; /* out of range */
        if (cosine) nb_normalise_columns(d, n, x, x);
        assert_ok(ctx, nb_kmeans(d, n, x, GROUPS, &how, NULL, &c, ctx));
        plain_kmeans(&p, d, n, c.x, GROUPS, &how);
        assert_same(&c, &p);
    }
}

/* A draw is the largest of all log(u)/w, of which -infinity comes last; among equals the first. */
static void test_draws(void **state)
{
    enum { N = 60, MOST_DRAWN = 25 };
    nb_ctx *ctx = *state;
    gsl_rng *rng = seeded(ctx, 12), *again = seeded(ctx, 12);
    for (int k = 0; k < 400; k++) {
        double weight[N], key[N];
        int drawn[MOST_DRAWN], count = 1 + k % MOST_DRAWN;
        /* From none to all are 0, some are huge or tiny. */
        for (int i = 0; i < N; i++) weight[i] = i * 7 % 20 < k % 21 ? 0 : pow(10, i % 5 == 0 ? i * 6 - 150 : 0);
        gsl_rng_set(rng, (unsigned long)k);
        gsl_rng_set(again, (unsigned long)k);
        assert_ok(ctx, nb_draw_distinct(rng, N, weight, count, drawn, ctx));
        for (int i = 0; i < N; i++) key[i] = log(gsl_rng_uniform_pos(again)) / weight[i];
        for (int j = 0; j < count; j++) {
            int largest = -1;
            for (int i = 0; i < N; i++)
                if (!isnan(key[i]) && (largest < 0 || key[i] > key[largest])) largest = i;
            assert_int_equal(drawn[j], largest);
            key[largest] = NAN;
        }
        assert_true(gsl_rng_get(rng) == gsl_rng_get(again));
    }
}

/* start (WIDEST x GROUPS) <- what is drawn in batches, by all distances. */
static void draw_batches(nb_ctx *ctx, const double *x, const nb_kmeans_how *how, gsl_rng *rng, double *start)
{
    double mean[WIDEST] = {0}, nearest[MOST], weighted[MOST], mass = 0;
    int drawn[GROUPS], count = 0;
    for (int i = 0; i < MOST; i++) {
        mass += how->weights[i];
        for (int l = 0; l < WIDEST; l++) mean[l] += how->weights[i] * x[i * WIDEST + l];
    }
    nb_scale(WIDEST, 1 / mass, mean);
    for (int i = 0; i < MOST; i++) nearest[i] = distance(WIDEST, x + i * WIDEST, mean, false);
    for (int left = how->batches; left > 0; left--) {
        int more = (GROUPS - count) / left;
        if (more == 0) continue;
        for (int i = 0; i < MOST; i++) weighted[i] = how->weights[i] * nearest[i];
        assert_ok(ctx, nb_draw_distinct(rng, MOST, weighted, more, drawn, ctx));
        for (int k = 0; k < more; k++) memcpy(start + (count + k) * WIDEST, x + drawn[k] * WIDEST, WIDEST * sizeof *x);
        for (int i = 0; i < MOST; i++)
            for (int k = 0; k < more; k++) {
                double to = distance(WIDEST, x + i * WIDEST, start + (count + k) * WIDEST, false);
                nearest[i] = (k == 0 && count == 0) || to < nearest[i] ? to : nearest[i];
            }
        count += more;
    }
    assert_int_equal(count, GROUPS);
}

/* From centres that were drawn in batches the first groups are those of the draws; more batches than centres too. */
static void test_batches(void **state)
{
    static const int batches[] = {1, 5, 6, GROUPS, 50};
    nb_ctx *ctx = *state;
    gsl_rng *rng = seeded(ctx, 9);
    double x[MOST * WIDEST], start[GROUPS * WIDEST], weights[MOST];
    for (int k = 0; k < KINDS * 5; k++) {
        nb_kmeans_how how = {.restarts = 1, .iterations = 1 + k % 3, .batches = batches[k % 5], .weights = weights};
        nb_clusters drawn, given;
        fill((kind)(k / 5), WIDEST, MOST, x, rng);
        for (int i = 0; i < MOST; i++) weights[i] = k % 2 ? gsl_rng_uniform_pos(rng) : 1;
        gsl_rng_set(rng, (unsigned long)k);
        assert_ok(ctx, nb_kmeans(WIDEST, MOST, x, GROUPS, &how, rng, &drawn, ctx));
        gsl_rng_set(rng, (unsigned long)k);
        draw_batches(ctx, x, &how, rng, start);
        how.start = start;
        assert_ok(ctx, nb_kmeans(WIDEST, MOST, x, GROUPS, &how, NULL, &given, ctx));
        for (int i = 0; i < MOST; i++) assert_int_equal(drawn.group[i], given.group[i]);
        for (int i = 0; i < GROUPS * WIDEST; i++) assert_true(drawn.centres[i] == given.centres[i]);
    }
}

/* From centres that were drawn apart the first groups are those of the draws. */
static void test_drawn_apart(void **state)
{
    nb_ctx *ctx = *state;
    gsl_rng *rng = seeded(ctx, 5);
    double x[MOST * WIDEST], start[GROUPS * WIDEST];
    for (int k = 0; k < KINDS * 4; k++) {
        nb_kmeans_how how = {
            .init = k % 2 ? NB_KMEANS_PLUSPLUS : NB_KMEANS_MAXIMIN, .restarts = 1, .iterations = k / 2 % 2 ? 1 : 20};
        nb_clusters drawn, given;
        nb_cover cover;
        fill((kind)(k / 4), WIDEST, MOST, x, rng);
        gsl_rng_set(rng, (unsigned long)k);
        assert_ok(ctx, nb_kmeans(WIDEST, MOST, x, GROUPS, &how, rng, &drawn, ctx));
        gsl_rng_set(rng, (unsigned long)k);
        assert_ok(ctx, nb_cover_init(&cover, WIDEST, MOST, x, ctx));
        for (int j = 0; j < GROUPS; j++) {
            int token = j > 0 && how.init == NB_KMEANS_MAXIMIN ? nb_cover_farthest(&cover) : nb_cover_draw(&cover, rng);
            memcpy(start + j * WIDEST, x + token * WIDEST, WIDEST * sizeof *x);
            nb_cover_add(&cover, token);
        }
        how.start = start;
        assert_ok(ctx, nb_kmeans(WIDEST, MOST, x, GROUPS, &how, NULL, &given, ctx));
        for (int i = 0; i < MOST; i++) assert_int_equal(drawn.group[i], given.group[i]);
        for (int i = 0; i < GROUPS * WIDEST; i++) assert_true(drawn.centres[i] == given.centres[i]);
    }
}

/* Of points of every kind in single precision's range, some of the centres twice: the first of them. */
static void check_nearest_centres(kind what, int d, gsl_rng *rng, nb_ctx *ctx)
{
    double x[MOST * WIDEST], centres[GROUPS * WIDEST];
    nb_scalar single[MOST * WIDEST];
    int group[MOST], size = MOST * d;
    fill(what, d, MOST, x, rng);
    for (int i = 0; i < size; i++) x[i] *= what == TINY ? 1e160 : what == HUGE_ONES ? 1e-125 : 1;
    for (int l = 0; what == TINY && l < d; l++) x[100 * d + l] = -1e45 * x[l]; /* far from the first panel */
    nb_scalar_of((size_t)size, x, single);
    nb_scalar_to_double((size_t)size, single, x);
    for (int i = 0; i < GROUPS * d; i++) centres[i] = x[i / d / 2 * 3 * d + i % d];
    assert_ok(ctx, nb_nearest_centres(d, MOST, single, GROUPS, centres, group, ctx));
    for (int i = 0; i < MOST; i++) {
        int best = 0;
        for (int j = 1; j < GROUPS; j++)
            if (distance(d, x + i * d, centres + j * d, false) < distance(d, x + i * d, centres + best * d, false))
                best = j;
        assert_int_equal(group[i], best);
    }
}

static void test_nearest_centres(void **state)
{
    gsl_rng *rng = seeded(*state, 7);
    for (int what = 0; what < KINDS; what++) {
        check_nearest_centres((kind)what, 1, rng, *state);
        check_nearest_centres((kind)what, WIDEST, rng, *state);
    }
}

static void test_nearest_tokens(void **state)
{
    nb_ctx *ctx = *state;
    gsl_rng *rng = seeded(ctx, 6);
    double x[MOST * WIDEST];
    for (int k = 0; k < KINDS * 2; k++) {
        nb_kmeans_how how = {.restarts = 2, .iterations = 5, .cosine = k % 2};
        nb_clusters c;
        int tokens[GROUPS];
        bool taken[MOST] = {false};
        fill((kind)(k / 2), WIDEST, MOST, x, rng);
        assert_ok(ctx, nb_kmeans(WIDEST, MOST, x, GROUPS, &how, rng, &c, ctx));
        assert_ok(ctx, nb_clusters_nearest(&c, tokens, ctx));
        for (int j = 0; j < GROUPS; j++) {
            const double *centre = c.centres + j * WIDEST;
            int best = -1;
            for (int i = 0; i < MOST; i++)
                if (!taken[i] && (best < 0 || distance(WIDEST, c.x + i * WIDEST, centre, how.cosine) <
                                                  distance(WIDEST, c.x + best * WIDEST, centre, how.cosine)))
                    best = i;
            assert_int_equal(tokens[j], best);
            taken[best] = true;
        }
    }
}

/* A tolerance ends a run where the inertia, here by its definition, falls by no more than that. */
static void test_tolerance(void **state)
{
    enum { D = 4, N = 120, M = 6 };
    nb_ctx *ctx = *state;
    gsl_rng *rng = seeded(ctx, 7);
    double x[D * N], before = DBL_MAX;
    nb_clusters c, at;
    int steps = 0;
    fill(AFAR, D, N, x, rng);
    nb_kmeans_how how = {.restarts = 1, .iterations = 50, .tolerance = 0.02, .start = x};
    assert_ok(ctx, nb_kmeans(D, N, x, M, &how, NULL, &c, ctx));
    how.tolerance = 0;
    for (bool ended = false; !ended; steps++) {
        double inertia = 0;
        how.iterations = steps + 1;
        assert_ok(ctx, nb_kmeans(D, N, x, M, &how, NULL, &at, ctx));
        const double *from = x;
        nb_clusters last;
        if (steps > 0) {
            how.iterations = steps;
            assert_ok(ctx, nb_kmeans(D, N, x, M, &how, NULL, &last, ctx));
            from = last.centres;
        }
        for (int i = 0; i < N; i++) inertia += distance(D, x + i * D, from + at.group[i] * D, false);
        ended = before - inertia <= 0.02 * before;
        before = inertia;
    }
    assert_true(steps > 3);
    for (int i = 0; i < N; i++) assert_int_equal(c.group[i], at.group[i]);
}

/* The most that a call holds is what one of its runs takes. */
static void test_memory_of_restarts(void **state)
{
    enum { D = 3, N = 500 };
    nb_ctx *ctx = *state;
    gsl_rng *rng = seeded(ctx, 8);
    double x[D * N];
    fill(NORMAL, D, N, x, rng);
    for (int init = 0; nb_kmeans_inits[init]; init++) {
        size_t most[2];
        for (int many = 0; many < 2; many++) {
            nb_kmeans_how how = {.init = init, .restarts = many ? 50 : 2, .iterations = 2};
            nb_clusters c;
            nb_mark mark = nb_ctx_mark(ctx);
            nb_ctx_watch(ctx);
            assert_ok(ctx, nb_kmeans(D, N, x, GROUPS, &how, rng, &c, ctx));
            most[many] = nb_ctx_most(ctx);
            nb_ctx_release(ctx, mark);
        }
        assert_int_equal(most[0], most[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_panels),
                                       test_with_ctx(test_bounds),
                                       test_with_ctx(test_cover),
                                       test_with_ctx(test_against_all_distances),
                                       test_with_ctx(test_drawn_apart),
                                       test_with_ctx(test_draws),
                                       test_with_ctx(test_batches),
                                       test_with_ctx(test_nearest_centres),
                                       test_with_ctx(test_nearest_tokens),
                                       test_with_ctx(test_tolerance),
                                       test_with_ctx(test_memory_of_restarts)};
    return run_all(tests);
}
