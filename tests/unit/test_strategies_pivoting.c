/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strategies by leverage, pivoting and determinants: frequencies of draws against
 * their probabilities, written out here from the definitions (chi-square at a level
 * of 1e-6, fixed seeds), notes at the numerical rank, estimates against exact scores. */
#include "scenes.h"

#include "linalg/cholesky.h"
#include "linalg/linalg.h"
#include "calls/picking.h"
#include "nystrom/ridge_scores.h"
#include "nystrom/row_sample.h"

#include <float.h>
#include <gsl/gsl_cdf.h>

static void open_fixture(nb_ctx *ctx, fixture *f, const char *problem)
{
    open_scene(ctx, f, make_head(problem, 0, 0, ctx), "softmax");
}

static nb_landmarks pick(nb_ctx *ctx, fixture *f, const nb_choice *strategy, int m, nb_pairing pairing, int trial)
{
    nb_landmarks landmarks = {.select_s = 0};
    nb_stream stream = {.seed = 11, .trial = trial, .component = strategy->canonical};
    assert_ok(ctx, nb_landmarks_pick(&(nb_picking){f->scene, strategy, m, pairing, stream, f->rng}, &landmarks, ctx));
    return landmarks;
}

/* Cells that are expected less than 5 times count as one. */
static void check_frequencies(int cells, const double *probability, const double *counts, int draws)
{
    double chi = 0, rest = 0, rest_count = 0, sum = 0;
    int degrees = -1;
    for (int i = 0; i < cells; i++) {
        double expected = draws * probability[i];
        sum += probability[i];
        if (expected < 5) {
            rest += expected;
            rest_count += counts[i];
            continue;
        }
        chi += pow(counts[i] - expected, 2) / expected;
        degrees++;
    }
    if (rest > 0) {
        chi += pow(rest_count - rest, 2) / rest;
        degrees++;
    }
    assert_close(sum, 1, 1e-9); /* the probabilities are right, to rounding */
    assert_true(degrees >= 5 && rest < 0.05 * draws);
    assert_at_most(chi, gsl_cdf_chisq_Qinv(1e-6, degrees));
}

enum { N = 8 };

static double product(const nb_head *h, int i, int j)
{
    double sum = 0;
    for (int l = 0; l < h->d; l++) sum += h->q[i * h->d + l] * h->q[j * h->d + l];
    return sum;
}

/* The kernel of the queries by its definition; gauss with h = 1. */
static void kernel_of(const nb_head *h, const char *of, double k[N][N])
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double p = product(h, i, j);
            k[i][j] = !strcmp(of, "gram")  ? p
                      : !strcmp(of, "exp") ? exp(p / sqrt(h->d))
                                           : exp(p - (product(h, i, i) + product(h, j, j)) / 2);
        }
}

static double determinant3(double k[N][N], int a, int b, int c)
{
    return k[a][a] * (k[b][b] * k[c][c] - k[b][c] * k[c][b]) - k[a][b] * (k[b][a] * k[c][c] - k[b][c] * k[c][a]) +
           k[a][c] * (k[b][a] * k[c][b] - k[b][b] * k[c][a]);
}

/* All 56 subsets of 3 of 8 by their determinants. */
static void check_kdpp(nb_ctx *ctx, const char *of, const char *text)
{
    enum { DRAWS = 20000 };
    double k[N][N], probability[1 << N] = {0}, counts[1 << N] = {0}, total = 0;
    fixture f;
    open_fixture(ctx, &f, "gaussian(n=8, d=3)");
    kernel_of(&f.head, of, k);
    for (int a = 0; a < N; a++)
        for (int b = a + 1; b < N; b++)
            for (int c = b + 1; c < N; c++) total += probability[1 << a | 1 << b | 1 << c] = determinant3(k, a, b, c);
    for (int y = 0; y < 1 << N; y++) probability[y] /= total;
    nb_choice choice = choose(&nb_strategies, text, ctx);
    for (int t = 0; t < DRAWS; t++) {
        nb_mark mark = nb_ctx_mark(ctx);
        const int *y = pick(ctx, &f, &choice, 3, NB_QUERIES, t).queries.tokens;
        counts[1 << y[0] | 1 << y[1] | 1 << y[2]]++;
        nb_ctx_release(ctx, mark);
    }
    check_frequencies(1 << N, probability, counts, DRAWS);
}

static void test_kdpp_by_enumeration(void **state)
{
    check_kdpp(*state, "exp", "kdpp(of=exp)");
    check_kdpp(*state, "gauss", "kdpp(of=gauss, bandwidth=1)");
}

/* Ordered pairs of first pivots. block = 1: p_i times the residual of j after i over
 * its sum. block = 2: p_i p_j, and p_i of p_i p_i goes to the next block. */
static void check_pairs(nb_ctx *ctx, const char *of, const char *text, bool block)
{
    enum { DRAWS = 20000 };
    double k[N][N], probability[N * N] = {0}, counts[N * N] = {0}, trace = 0;
    fixture f;
    open_fixture(ctx, &f, "gaussian(n=8, d=3)");
    kernel_of(&f.head, of, k);
    for (int i = 0; i < N; i++) trace += k[i][i];
    for (int i = 0; i < N; i++) {
        double residual[N], left = 0, p = k[i][i] / trace;
        for (int j = 0; j < N; j++) left += residual[j] = j == i ? 0 : k[j][j] - k[i][j] * k[i][j] / k[i][i];
        for (int j = 0; j < N; j++)
            if (j != i)
                probability[N * i + j] = (block ? p * p : p) * residual[j] / left + (block ? p * k[j][j] / trace : 0);
    }
    nb_choice choice = choose(&nb_strategies, text, ctx);
    for (int t = 0; t < DRAWS; t++) {
        nb_mark mark = nb_ctx_mark(ctx);
        const int *y = pick(ctx, &f, &choice, 2, NB_QUERIES, t).queries.tokens;
        counts[N * y[0] + y[1]]++;
        nb_ctx_release(ctx, mark);
    }
    check_frequencies(N * N, probability, counts, DRAWS);
}

static void test_rpcholesky_frequencies(void **state)
{
    check_pairs(*state, "exp", "rpcholesky", false);
    check_pairs(*state, "gram", "rpcholesky(of=gram)", false);
    check_pairs(*state, "gauss", "rpcholesky(of=gauss, bandwidth=1, block=2)", true);
    check_pairs(*state, "exp", "rpcholesky(block=3, accelerated=true)", false);
    check_pairs(*state, "gauss", "rpcholesky(of=gauss, bandwidth=1, block=5, accelerated=true)", false);
}

/* First pivots by S_ij^2, over the rows that the trial's order begins with; and both sides are what was drawn
 * together. */
static void check_rplu(nb_ctx *ctx, const char *strategy, int rows)
{
    enum { DRAWS = 10000 };
    double probability[N * N] = {0}, counts[N * N] = {0};
    const double *s;
    const int *order;
    fixture f;
    open_fixture(ctx, &f, "gaussian(n=8, d=3)");
    assert_ok(ctx, nb_scene_rows(f.scene, &s, ctx));
    nb_choice choice = choose(&nb_strategies, strategy, ctx);
    for (int t = 0; t < DRAWS; t++) {
        nb_mark mark = nb_ctx_mark(ctx);
        double norm2 = 0;
        nb_landmarks l = pick(ctx, &f, &choice, 1, NB_BOTH, t);
        counts[N * l.queries.tokens[0] + l.keys.tokens[0]]++;
        assert_ok(ctx, nb_scene_order(f.scene, 11, t, &order, ctx));
        for (int i = 0; i < rows; i++) norm2 += pow(nb_frobenius(N, s + N * order[i]), 2);
        for (int i = 0; i < rows * N; i++) {
            int at = N * order[i / N] + i % N;
            probability[at] += s[at] * s[at] / norm2 / DRAWS;
        }
        nb_ctx_release(ctx, mark);
    }
    check_frequencies(N * N, probability, counts, DRAWS);
}

static void test_rplu_frequencies(void **state)
{
    check_rplu(*state, "rplu", N);
    check_rplu(*state, "rplu(rows=8)", N);
    check_rplu(*state, "rplu(rows=3)", 3);
}

/* x_i' (X X')^-1 x_i / 2 for points in the plane, the inverse written out. */
static void test_leverage_of_points_frequencies(void **state)
{
    enum { DRAWS = 6000 };
    nb_ctx *ctx = *state;
    double a = 0, b = 0, c = 0, probability[12], counts[12] = {0};
    fixture f;
    open_fixture(ctx, &f, "gaussian(n=12, d=2)");
    for (const double *x = f.head.q; x < f.head.q + 24; x += 2) {
        a += x[0] * x[0];
        b += x[0] * x[1];
        c += x[1] * x[1];
    }
    for (int i = 0; i < 12; i++) {
        const double *x = f.head.q + 2 * i;
        probability[i] = (c * x[0] * x[0] - 2 * b * x[0] * x[1] + a * x[1] * x[1]) / (a * c - b * b) / 2;
    }
    nb_choice choice = choose(&nb_strategies, "leverage(of=points)", ctx);
    for (int t = 0; t < DRAWS; t++) {
        nb_mark mark = nb_ctx_mark(ctx);
        counts[pick(ctx, &f, &choice, 1, NB_QUERIES, t).queries.tokens[0]]++;
        nb_ctx_release(ctx, mark);
    }
    check_frequencies(12, probability, counts, DRAWS);
}

/* The note is there from the first landmark beyond the rank on, with the rank. */
static void check_note(nb_ctx *ctx, const char *problem, const char *text, nb_pairing pairing, int rank)
{
    fixture f;
    open_fixture(ctx, &f, problem);
    nb_choice choice = choose(&nb_strategies, text, ctx);
    if (!((const nb_strategy *)choice.component)->pick) pairing = NB_BOTH;
    for (int m = rank > 1 ? rank - 1 : 1; m <= 20; m++) {
        nb_landmarks l = pick(ctx, &f, &choice, m, pairing, 0);
        const char *says = nb_format(ctx, " is %d:", rank);
        if ((m > rank) != (l.note && strstr(l.note, says)))
            fail_msg("%s, m = %d: note '%s'", text, m, l.note ? l.note : "(none)");
        assert_true(m > rank || !l.note);
    }
}

static void test_notes_at_the_rank(void **state)
{
    static const char *const strategies[] = {"rpcholesky",
                                             "rpcholesky(of=gauss)",
                                             "rpcholesky(of=gram)",
                                             "rpcholesky(block=4)",
                                             "rpcholesky(block=4, accelerated=true)",
                                             "greedy_cholesky",
                                             "greedy_cholesky(of=gauss)",
                                             "greedy_cholesky(of=gram)",
                                             "kdpp",
                                             "kdpp(of=exp)",
                                             "kdpp(of=gram)",
                                             "cpqr",
                                             "rplu"};
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
        for (int joint = 0; joint < 2; joint++)
            check_note(*state, "clusters(n=64, d=16, count=9, spread=0)", strategies[i],
                       joint ? NB_JOINT : NB_INDEPENDENT, 9);
    static const char *const of_gram[] = {"rpcholesky(of=gram)", "greedy_cholesky(of=gram)"};
    for (size_t i = 0; i < 2; i++) {
        check_note(*state, "gaussian(n=130, d=5)", of_gram[i], NB_INDEPENDENT, 5);
        check_note(*state, "gaussian(n=130, d=5)", of_gram[i], NB_JOINT, 10); /* of [q; k] */
        check_note(*state, "gaussian(n=130, d=5)", of_gram[i], NB_SHARED, 5);
    }
    check_note(*state, "gaussian(n=130, d=5, scale=0)", "cpqr", NB_JOINT, 1);
    check_note(*state, "gaussian(n=130, d=5, scale=0)", "rplu", NB_BOTH, 1);
}

/* No note where the rank is full: m = n = 60. */
static void test_no_note_at_full_rank(void **state)
{
    static const char *const strategies[] = {"rpcholesky(of=gauss)", "greedy_cholesky", "kdpp", "cpqr", "rplu"};
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++) {
        fixture f;
        open_fixture(*state, &f, "gaussian(n=60, d=32, scale=1.5)");
        nb_choice choice = choose(&nb_strategies, strategies[i], *state);
        nb_landmarks l = pick(*state, &f, &choice, 60, ((const nb_strategy *)choice.component)->pairing, 0);
        if (l.note) fail_msg("%s: %s", strategies[i], l.note);
    }
}

/* 20 points so long that exp(|x|^2/sqrt d) overflows, 19 with exp(-100) of that, one
 * with exp(-900), which is 0: all but the last are pivots, as a residual is measured by
 * its own K_ii. Their directions differ, so K is nearly diagonal. */
static void test_long_and_short_points(void **state)
{
    enum { M = 40, D = 16 };
    nb_ctx *ctx = *state;
    nb_head h = make_head("gaussian(n=40, d=16)", 0, 0, ctx);
    nb_similarity k;
    nb_cholesky c;
    double diagonal[M], x[M * D];
    for (int i = 0; i < M; i++) {
        double exponent = i < 20 ? 1000 : i < 39 ? 900 : 100, norm = nb_frobenius(D, h.q + i * D);
        for (int l = 0; l < D; l++) x[i * D + l] = h.q[i * D + l] * sqrt(exponent * sqrt(D)) / norm;
    }
    assert_ok(ctx, nb_similarity_init(&k, NB_EXP, NAN, M, D, x, ctx));
    nb_similarity_diagonal(&k, diagonal);
    for (int i = 0; i < M; i++)
        assert_close(diagonal[i], i < 20 ? 1 : i < 39 ? exp(-100) : 0, 1e-12 * (i < 20 ? 1 : exp(-100))); /* eps 1000 */
    assert_ok(ctx, nb_cholesky_init(&c, M, M, diagonal, nb_similarity_column, &k, ctx));
    for (int i = 0; i < 39; i++) {
        assert_true(c.residual[i] > 0);
        nb_cholesky_eliminate(&c, i);
    }
    assert_true(c.residual[39] == 0);
}

/* L L' is K at full rank, for any order of pivots, one by one or in blocks: eps n trace. A pivot that is repeated is
 * left out. */
static void check_cholesky(nb_ctx *ctx, int block)
{
    enum { M = 50 };
    nb_head h = make_head("gaussian(n=50, d=60)", 0, 0, ctx);
    nb_similarity k;
    nb_cholesky c;
    double diagonal[M], matrix[M * M], rows[2 * M * 6];
    int pivots[2 * M];
    for (int i = 0; i < 2 * M; i++) pivots[i] = i / 2 * 7 % M;
    assert_ok(ctx, nb_similarity_init(&k, NB_GRAM, NAN, M, 60, h.q, ctx));
    nb_similarity_diagonal(&k, diagonal);
    nb_similarity_matrix(&k, matrix);
    assert_ok(ctx, nb_cholesky_init(&c, M, 2 * M, diagonal, nb_similarity_column, &k, ctx));
    for (int i = 0; block == 0 && i < M; i++) nb_cholesky_eliminate(&c, pivots[2 * i]);
    for (int i = 0; block > 0 && i < 2 * M; i += block)
        nb_cholesky_eliminate_block(&c, i + block < 2 * M ? block : 2 * M - i, pivots + i, rows);
    assert_int_equal(c.rank, M);
    double scale = nb_frobenius(M * M, matrix);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, M, M, M, -1, c.factor, M, c.factor, M, 1, matrix, M);
    assert_at_most(nb_frobenius(M * M, matrix), DBL_EPSILON * M * scale);
}

static void test_cholesky_is_exact(void **state)
{
    check_cholesky(*state, 0);
    check_cholesky(*state, 6);
}

/* Against (K (K + lambda I)^-1)_ii. With nothing to halve they are the same, to the
 * 1e-8 that the difference keeps of lambda = 1e-3 trace/n; with samples of some
 * 160 tokens Musco & Musco prove constant factors, here 1/4 and 4. */
static void test_recursive_scores(void **state)
{
    enum { M = 600, D = 8 };
    static const struct {
        int landmarks;
        double factor;
    } cases[] = {{200, 1 + 1e-7}, {20, 4}};
    nb_ctx *ctx = *state;
    nb_head h = make_head("clusters(n=600, d=8, count=12, spread=0.4)", 0, 0, ctx);
    nb_similarity k;
    gsl_rng *rng = NULL;
    assert_ok(ctx, nb_similarity_init(&k, NB_GAUSS, NAN, M, D, h.q, ctx));
    assert_ok(ctx, nb_random_new(&rng, ctx));
    nb_ctx_set_rng(ctx, rng);
    for (int c = 0; c < 2; c++)
        for (int given = 0; given < 2; given++) {
            double *exact = nb_alloc_reals(ctx, M, 1), *estimate = nb_alloc_reals(ctx, M, 1), sum = 0, off = 1;
            double lambda = given ? 1e-3 : NAN;
            if (c == 1 && given) lambda = 0.05; /* as many effective dimensions as landmarks */
            gsl_rng_set(rng, 7);
            assert_ok(ctx, nb_ridge_scores(&k, cases[c].landmarks, lambda, exact, ctx));
            assert_ok(ctx, nb_ridge_recursive(&k, cases[c].landmarks, lambda, estimate, ctx));
            for (int i = 0; i < M; i++) {
                double ratio = estimate[i] / exact[i];
                sum += exact[i];
                off = fmax(off, fmax(ratio, 1 / ratio));
            }
            if (!given) assert_at_most(sum, 2 * cases[c].landmarks);
            assert_at_most(off, cases[c].factor);
        }
    nb_ctx_set_rng(ctx, NULL);
}

/* Seven clusters: a gap after the 7th singular value, so the range finder's vectors
 * are the exact ones to (s_8 / s_7)^5, and the same tokens have the largest scores. */
static void test_randomized_leverage(void **state)
{
    fixture f;
    open_fixture(*state, &f, "clusters(n=130, d=8, count=7, spread=0.02)");
    nb_choice exact = choose(&nb_strategies, "leverage(rank=7, take=top)", *state);
    nb_choice randomized = choose(&nb_strategies, "leverage(rank=7, take=top, svd=randomized)", *state);
    nb_landmarks a = pick(*state, &f, &exact, 20, NB_INDEPENDENT, 0);
    for (int t = 0; t < 5; t++) {
        nb_landmarks b = pick(*state, &f, &randomized, 20, NB_INDEPENDENT, t);
        assert_memory_equal(a.queries.tokens, b.queries.tokens, 20 * sizeof(int));
        assert_memory_equal(a.keys.tokens, b.keys.tokens, 20 * sizeof(int));
    }
}

static void test_refusals(void **state)
{
    static const char *const refused[][3] = {
        {"kdpp", "gaussian(n=2049, d=2)", "2048"},
        {"cpqr", "gaussian(n=4097, d=2)", "4096"},
        {"ridge_leverage", "gaussian(n=4097, d=2)", "recursive=true"},
        {"ridge_leverage(of=kernel)", "gaussian(n=4097, d=2)", "4096"},
        {"ridge_leverage(of=kernel, recursive=true)", "gaussian(n=9, d=2)", "semi-definite"},
        {"leverage(of=points, svd=randomized)", "gaussian(n=9, d=2)", "of=kernel"}};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        fixture f;
        open_fixture(*state, &f, refused[i][1]);
        nb_choice choice = choose(&nb_strategies, refused[i][0], *state);
        nb_landmarks l = pick(*state, &f, &choice, 3, NB_INDEPENDENT, 0);
        assert_non_null(l.refusal);
        assert_non_null(strstr(l.refusal, refused[i][2]));
    }
    fixture f;
    open_fixture(*state, &f, "gaussian(n=4097, d=2)");
    nb_choice choice = choose(&nb_strategies, "rplu", *state);
    assert_non_null(pick(*state, &f, &choice, 3, NB_BOTH, 0).refusal);
    choice = choose(&nb_strategies, "ridge_leverage(of=gram)", *state); /* d x d work */
    assert_null(pick(*state, &f, &choice, 3, NB_INDEPENDENT, 0).refusal);
    choice = choose(&nb_strategies, "ridge_leverage(recursive=true)", *state);
    assert_null(pick(*state, &f, &choice, 3, NB_INDEPENDENT, 0).refusal);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_kdpp_by_enumeration),
        test_with_ctx(test_rpcholesky_frequencies),
        test_with_ctx(test_rplu_frequencies),
        test_with_ctx(test_leverage_of_points_frequencies),
        test_with_ctx(test_notes_at_the_rank),
        test_with_ctx(test_no_note_at_full_rank),
        test_with_ctx(test_long_and_short_points),
        test_with_ctx(test_cholesky_is_exact),
        test_with_ctx(test_recursive_scores),
        test_with_ctx(test_randomized_leverage),
        test_with_ctx(test_refusals),
    };
    return run_all(tests);
}
