/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Coherence and block-coherence against closed forms, which follow from the definitions (studies/coherence/measure.h):
 * where the rows of Q are multiples of unit vectors, its singular vectors and values can be written down. */
#include "testing.h"

#include "components/registry.h"
#include "linalg/linalg.h"
#include "studies/coherence/measure.h"

static nb_ctx *ctx; /* of the test at hand */

/* A division that is given: cluster (n). */
static nb_division divided(int n, int count, int *cluster)
{
    nb_division v = {.count = count, .cluster = cluster, .size = nb_alloc(ctx, (size_t)count, sizeof(int))};
    assert_non_null(v.size);
    for (int i = 0; i < n; i++) v.size[cluster[i]]++;
    return v;
}

static nb_coherence measured(int d, int n, const double *x, int k, int count, int *cluster, double tau)
{
    nb_point_spectrum *p = nb_alloc(ctx, 1, sizeof *p);
    nb_division v = divided(n, count, cluster);
    nb_clustering c;
    const double *l;
    assert_ok(ctx, nb_point_spectrum_make(d, n, x, p, ctx));
    assert_ok(ctx, nb_leverage_scores(p, k, &l, ctx));
    assert_ok(ctx, nb_clustering_make(p, k, l, &v, &c, ctx));
    return nb_coherence_of(&c, tau);
}

/* Rows 4 e_1, 3 e_2, 2 e_3, 1 e_4, and k = 2: U = I, s = 4, 3, 2, 1, leverage 1, 1, 0, 0. Of the clusters {1, 3} and
 * {2, 4} the singular values are 4, 2 and 3, 1, of which 3 are above 0.3 s_1. Each mean is as near to one token of its
 * cluster as to the other: the first is taken. */
static void test_a_diagonal_by_hand(void **state)
{
    static const double q[16] = {4, 0, 0, 0, 0, 3, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1};
    int cluster[4] = {0, 1, 0, 1};
    ctx = *state;
    nb_coherence c = measured(4, 4, q, 2, 2, cluster, 0.3);
    const double known[][2] = {{c.mu, 2},
                               {c.mu_block, 2},
                               {c.mu_block_finite, 2},
                               {c.rankless_clusters, 0},
                               {c.alpha_over_mu, 1},
                               {c.reduction, 0},
                               {c.local_rank_mean, 1.5},
                               {c.local_rank_least, 1},
                               {c.largest_cluster, 2},
                               {c.lemma1_sizes, 1},
                               {c.lemma1_mean_rank, 1},
                               {c.lemma1_least_rank, 1},
                               {c.lemma1, 1},
                               {c.lemma1_proof, 1},
                               {c.leverage_at_centroids, 2},
                               {c.leverage_of_maxima, 2},
                               {c.leverage_at_random, 1},
                               {c.spectral_gap, 0.75},
                               {c.bound_leverage, 0.5625},
                               {c.best_rank2, 17 / 354.0},
                               {c.error_geometric2, 17 / 354.0},
                               {c.bound_geometric, (17 + 32 * 2 * 16 / 9.0 * 5) / 354},
                               {c.bound_uniform, (17 + 4 * 2 / 2.0 * 5) / 354}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) assert_close(known[i][0], known[i][1], 1e-14);
    assert_true(isnan(c.error_uniform2));
    c = measured(4, 4, q, 2, 2, cluster, 0.8); /* 3 is not above 3.2 */
    assert_true(c.mu_block == INFINITY && c.alpha_over_mu == INFINITY && c.reduction == -INFINITY);
    assert_true(c.bound_geometric == INFINITY && isnan(c.lemma1) && c.lemma1_proof == 0);
    assert_true(c.rankless_clusters == 1 && c.local_rank_least == 0 && c.local_rank_mean == 0.5);
    assert_close(c.mu_block_finite, 2, 1e-14);
}

/* Q = I and k = n = 8, a token a cluster: mu = mu_block = 1, so that neither (4), 1 >= k/4, nor (9), 1 <= 4/k, holds.
 * In one direction, l_i is w_i^2 over the sum; of 1, 2, 6 and 10, 20, 25, in another order, 2 and 20 are nearest to the
 * means. And local ranks 2, 1, 2 of pairs with the same and with different coordinates, of which sizes up to 2n/k are
 * allowed. */
static void test_lemma_and_centroids(void **state)
{
    static const double line[12] = {25, 0, 1, 0, 10, 0, 2, 0, 20, 0, 6, 0};
    int single[8] = {7, 6, 5, 4, 3, 2, 1, 0}, halves[6] = {1, 0, 1, 0, 1, 0}, pairs[8] = {0, 0, 1, 1, 2, 2, 2, 2};
    double eye[64] = {0}, axes[8 * 6] = {0};
    ctx = *state;
    for (int i = 0; i < 8; i++) eye[9 * i] = 1;
    nb_coherence c = measured(8, 8, eye, 8, 8, single, 0.5);
    assert_close(c.mu, 1, 1e-14);
    assert_close(c.mu_block, 1, 1e-14);
    assert_true(c.lemma1 == 0 && c.lemma1_proof == 0 && c.lemma1_sizes == 1 && c.lemma1_least_rank == 0);
    c = measured(2, 6, line, 1, 2, halves, 0.05);
    assert_close(c.leverage_at_centroids, (2 * 2 + 20 * 20) / (1.0 + 4 + 36 + 100 + 400 + 625), 1e-14);
    assert_close(c.leverage_of_maxima, (6 * 6 + 25 * 25) / (1.0 + 4 + 36 + 100 + 400 + 625), 1e-14);
    for (int i = 0; i < 8; i++)
        axes[6 * i + (i < 4 ? i - (i == 3) : i - 4 + (i < 6 ? 3 : 1))] = 1; /* 0 1, 2 2, 3 4 3 4 */
    c = measured(6, 8, axes, 4, 3, pairs, 0.05);
    assert_true(c.local_rank_least == 1 && c.local_rank_mean == 5 / 3.0 && c.largest_cluster == 4);
    assert_true(c.lemma1_sizes == 1 && c.lemma1_mean_rank == 0 && c.lemma1_least_rank == 0);
    c = measured(6, 8, axes, 5, 3, pairs, 0.05);
    assert_true(c.lemma1_sizes == 0);
    c = measured(6, 8, axes, 3, 3, pairs, 0.05);
    assert_true(c.lemma1_sizes == 1 && c.lemma1_mean_rank == 1 && c.lemma1_least_rank == 0);
}

/* The identity of d = k = 16, C = 8 times: l_i = 1/8, and clusters of 8 different unit vectors have rank 8. Lemma 1's
 * conditions are met, the one of its proof too, and the partition is the best; (4) says 1/8 <= 4/16 1/8. */
static void test_a_counterexample_to_lemma_1(void **state)
{
    enum { D = 16, C = 8, N = C * D };
    double q[N * D] = {0};
    int cluster[N];
    ctx = *state;
    for (int i = 0; i < N; i++) {
        q[i * D + i % D] = 1;
        cluster[i] = (i % D + i / D) % D;
    }
    nb_coherence c = measured(D, N, q, D, D, cluster, 0.05);
    assert_close(c.mu, 1, 1e-13);
    assert_close(c.mu_block, 1 / 8.0, 1e-13);
    assert_true(c.lemma1_sizes == 1 && c.lemma1_mean_rank == 1 && c.lemma1_least_rank == 1);
    assert_true(c.lemma1 == 0 && c.lemma1_proof == 1);
}

/* C clusters of S tokens, of which token t is w e_(R j + t mod R): the singular vectors are the coordinates, a cluster
 * has local rank R, and l_i = w_i^2 over the sum of those with the same coordinate. With k = R C the blocks are of
 * n / C tokens, so mu_block / mu = k / (C R) = 1. */
static void test_orthogonal_blocks(void **state)
{
    enum { C = 5, S = 12, R = 3, N = C * S, K = R * C };
    double q[N * K] = {0}, sums[K] = {0}, most = 0;
    int cluster[N];
    ctx = *state;
    for (int i = 0; i < N; i++) {
        int at = R * (i / S) + i % R;
        double w = 2.385 + sin(1 + 7 * i);
        cluster[i] = i / S;
        q[i * K + at] = w;
        sums[at] += w * w;
    }
    for (int i = 0; i < N; i++) {
        int at = R * (i / S) + i % R;
        most = fmax(most, pow(q[i * K + at], 2) / sums[at]);
    }
    nb_coherence c = measured(K, N, q, K, C, cluster, 0.05);
    assert_close(c.mu, (double)N / K * most, 1e-12);
    assert_close(c.mu_block, (double)S / R * most, 1e-12);
    assert_close(c.alpha_over_mu, 1, 1e-12);
    assert_true(c.local_rank_mean == R && c.local_rank_least == R && c.largest_cluster == S);
    assert_true(c.lemma1_sizes == (S <= 2.0 * N / K) && c.lemma1_mean_rank == 0);
    assert_close(c.best_rank2, 0, 1e-14);
}

/* n equal rows: l_i = 1/n and mu = 1; a cluster has the singular value sqrt(|C|) |q|, so it counts where |C| / n is
 * above tau^2. */
static void test_identical_rows(void **state)
{
    enum { N = 36, D = 3 };
    double q[N * D];
    int cluster[N];
    ctx = *state;
    for (int i = 0; i < N * D; i++) q[i] = 1.5 - i % D;
    for (int i = 0; i < N; i++) cluster[i] = i < 4 ? 0 : i < 13 ? 1 : 2; /* of 4, 9 and 23 */
    nb_coherence c = measured(D, N, q, 1, 3, cluster, 0.3);
    assert_close(c.mu, 1, 1e-13);
    assert_close(c.mu_block, 23.0 / N, 1e-13);
    assert_close(c.leverage_at_centroids, 3.0 / N, 1e-13);
    assert_close(c.leverage_at_random, 3.0 / N, 1e-13);
    assert_close(c.error_geometric2, 0, 1e-25);
    c = measured(D, N, q, 1, 3, cluster, 0.4); /* 0.16 n = 5.76 */
    assert_true(c.rankless_clusters == 1 && isinf(c.mu_block));
    assert_close(c.mu_block_finite, 23.0 / N, 1e-13);
    c = measured(D, N, q, 1, 3, cluster, 0.9);
    assert_true(c.rankless_clusters == 3 && isinf(c.mu_block) && isnan(c.mu_block_finite));
}

/* Q = w q': l_i = w_i^2 / |w|^2, and no second singular vector is determined. */
static void test_rank_one(void **state)
{
    enum { N = 20, D = 4 };
    double q[N * D], squares = 0, most = 0;
    int cluster[N] = {0};
    nb_point_spectrum p;
    ctx = *state;
    for (int i = 0; i < N; i++) {
        double w = 1 + i * i % 7;
        squares += w * w;
        most = fmax(most, w * w);
        for (int k = 0; k < D; k++) q[i * D + k] = w * (k - 1.7);
    }
    nb_coherence c = measured(D, N, q, 1, 1, cluster, 0.05);
    assert_close(c.mu, N * most / squares, 1e-12);
    assert_close(c.mu_block, c.mu, 1e-12); /* one cluster of rank 1 = k */
    assert_close(c.error_geometric2, 0, 1e-25);
    assert_ok(ctx, nb_point_spectrum_make(D, N, q, &p, ctx));
    assert_int_equal(p.rank, 1);
    memset(q, 0, sizeof q);
    assert_ok(ctx, nb_point_spectrum_make(D, N, q, &p, ctx));
    assert_int_equal(p.rank, 0);
}

static void fill(double *x, int count, unsigned seed)
{
    for (int i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = seed / 4294967296.0 - 0.5;
    }
}

/* mu_block = n/r max l, r the singular values above tau s_1: mu_block / mu = k/r. */
static void test_one_cluster(void **state)
{
    enum { N = 30, D = 7, K = 4 };
    double q[N * D], s[D];
    int cluster[N] = {0};
    ctx = *state;
    fill(q, N * D, 3);
    for (int i = 0; i < N * D; i++) q[i] *= pow(2, -(i % D)); /* singular values that differ */
    assert_ok(ctx, nb_svd(D, N, q, NULL, s, NULL, ctx));
    for (int r = 1; r < D; r++) {
        nb_coherence c = measured(D, N, q, K, 1, cluster, sqrt(s[r - 1] * s[r]) / s[0]);
        assert_true(c.local_rank_mean == r && c.local_rank_least == r && c.largest_cluster == N);
        assert_close(c.alpha_over_mu, (double)K / r, 1e-12);
        assert_true(c.lemma1_sizes == 0 && c.lemma1_mean_rank == (r >= K / 2.0));
    }
}

/* As many singular vectors as tokens, at most d: each leverage is 1, mu its least. */
static void test_k_is_n(void **state)
{
    enum { N = 6, D = 9 };
    double q[N * D];
    int cluster[N];
    ctx = *state;
    fill(q, N * D, 5);
    for (int i = 0; i < N; i++) cluster[i] = i;
    nb_coherence c = measured(D, N, q, N, N, cluster, 1e-3);
    assert_close(c.mu, 1, 1e-13);
    assert_close(c.mu_block, 1, 1e-13);
    assert_close(c.leverage_at_centroids, N, 1e-12);
    assert_close(c.error_geometric2, 0, 1e-25);
    assert_true(c.local_rank_mean == 1 && c.bound_geometric == c.best_rank2);
}

/* |K - K_S A+ K_S'|^2 with K formed. Q has 9 coordinates, of which 5 tokens leave some. */
static void test_gram_error_is_that_of_the_formed_matrix(void **state)
{
    enum { N = 23, D = 9, M = 5 };
    static const int tokens[M] = {3, 22, 0, 11, 7};
    double q[N * D], k[N * N], columns[N * M], a[M * M], inverse[M * M], left[N * M], error2;
    nb_point_spectrum p;
    ctx = *state;
    fill(q, N * D, 11);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, N, N, D, 1, q, D, q, D, 0, k, N);
    double whole = pow(nb_frobenius(N * N, k), 2);
    for (int j = 0; j < M; j++)
        for (int i = 0; i < N; i++) columns[j * N + i] = k[tokens[j] * N + i];
    for (int j = 0; j < M; j++)
        for (int i = 0; i < M; i++) a[j * M + i] = columns[j * N + tokens[i]];
    assert_ok(ctx, nb_pseudo_inverse(M, M, a, 1e-14, inverse, ctx));
    nb_gemm(NB_PLAIN, NB_PLAIN, N, M, M, 1, columns, N, inverse, M, 0, left, N);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, N, N, M, -1, left, N, columns, N, 1, k, N);
    assert_ok(ctx, nb_point_spectrum_make(D, N, q, &p, ctx));
    assert_close(p.gram2 / whole, 1, 1e-13);
    assert_ok(ctx, nb_gram_error2(&p, M, tokens, &error2, ctx));
    assert_close(error2, pow(nb_frobenius(N * N, k), 2) / whole, 1e-13);
    assert_true(error2 > 0.01);
    assert_error(ctx, nb_gram_error2(&p, D + 1, tokens, &error2, ctx), NB_EDIM);
}

static nb_division divide(const char *spec, int d, int n, const double *x, int k, int trial)
{
    nb_choice choice;
    nb_division v;
    gsl_rng *rng;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    assert_ok(ctx, nb_choice_parse(&nb_partitions, spec, &choice, ctx));
    assert_ok(ctx, nb_divide(&choice, d, n, x, k, (nb_stream){.seed = 1, .trial = trial, .role = "r"}, rng, &v, ctx));
    return v;
}

/* Segments are those of segment means, 23 = 2 x 4 + 3 x 5; random clusters have the same sizes in any order; three
 * heaps are found whatever their order; one cluster is one. */
static void test_partitions(void **state)
{
    enum { N = 23, K = 5 };
    double x[2 * N];
    ctx = *state;
    for (int i = 0; i < N; i++) {
        x[2 * i] = 10 * (i % 3) + 0.01 * i;
        x[2 * i + 1] = 5 * (i % 3 == 1);
    }
    nb_division v = divide("segments", 2, N, x, K, 0);
    static const int first[K] = {0, 4, 8, 13, 18};
    for (int i = 0; i < N; i++) {
        int j = K - 1;
        while (i < first[j]) j--;
        assert_int_equal(v.cluster[i], j);
    }
    nb_division one = divide("random", 2, N, x, K, 0), two = divide("random", 2, N, x, K, 1);
    int fours = 0, same = 0;
    for (int j = 0; j < K; j++) {
        assert_true(one.size[j] == 4 || one.size[j] == 5);
        fours += one.size[j] == 4;
    }
    for (int i = 0; i < N; i++) same += one.cluster[i] == two.cluster[i];
    assert_int_equal(fours, 2);
    assert_true(same < N);
    v = divide("kmeans(restarts=10)", 2, N, x, 3, 0);
    for (int i = 3; i < N; i++) assert_int_equal(v.cluster[i], v.cluster[i % 3]);
    v = divide("none", 2, N, x, K, 0);
    assert_true(v.count == 1 && v.size[0] == N);
}

static nb_status use_everything(const double *q, int *cluster)
{
    nb_point_spectrum p;
    nb_clustering c;
    const double *l;
    nb_division v = {.count = 2, .cluster = cluster, .size = (int[]){5, 4}};
    NB_TRY(ctx, nb_point_spectrum_make(3, 9, q, &p, ctx));
    NB_TRY(ctx, nb_leverage_scores(&p, 2, &l, ctx));
    return nb_clustering_make(&p, 2, l, &v, &c, ctx);
}

static void test_kth_allocation_fails(void **state)
{
    double q[27];
    int cluster[9] = {0, 1, 0, 1, 0, 1, 0, 1, 0}, k = 0;
    nb_status status;
    ctx = *state;
    fill(q, 27, 7);
    size_t blocks = nb_ctx_blocks(ctx);
    do {
        nb_mark mark = nb_ctx_mark(ctx);
        nb_ctx_fail_alloc(ctx, ++k);
        status = use_everything(q, cluster);
        nb_ctx_fail_alloc(ctx, 0);
        nb_ctx_release(ctx, mark);
        assert_true(status == NB_OK || status == NB_ENOMEM);
        nb_error_clear(ctx);
        assert_int_equal(nb_ctx_blocks(ctx), blocks);
    } while (status != NB_OK);
    assert_true(k > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_a_diagonal_by_hand),
        test_with_ctx(test_lemma_and_centroids),
        test_with_ctx(test_a_counterexample_to_lemma_1),
        test_with_ctx(test_orthogonal_blocks),
        test_with_ctx(test_identical_rows),
        test_with_ctx(test_rank_one),
        test_with_ctx(test_one_cluster),
        test_with_ctx(test_k_is_n),
        test_with_ctx(test_gram_error_is_that_of_the_formed_matrix),
        test_with_ctx(test_partitions),
        test_with_ctx(test_kth_allocation_fails),
    };
    return run_all(tests);
}
