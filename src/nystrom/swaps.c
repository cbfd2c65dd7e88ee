/* SPDX-License-Identifier: GPL-3.0-or-later */
/* swaps.c - all terms are formed afresh at each turn; in between they change by terms
 * of rank one. Tokens that add nothing to those before them own no direction at
 * first, and so gain most by a swap. */
#include "nystrom/swaps.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "linalg/work.h"

#include <math.h>
#include <string.h>

/* A swap must gain more than this times |S|^2, which is above the rounding of all terms. */
static const double LEAST_GAIN = 1e-12;
/* A direction is not there where its square is at most this times the column's: what
 * rounding leaves of a column that the others span. */
static const double NO_DIRECTION = 1e-20;
/* The same for a candidate, whose square is a difference, off by some eps |a_c|^2. */
static const double NO_CANDIDATE = 1e-12;

nb_status nb_swaps_init(nb_swaps *w, int n, int m, nb_ctx *ctx)
{
    size_t nn = (size_t)n, mm = (size_t)m;
    *w = (nb_swaps){.n = n, .m = m};
    double **const n_by_m[] = {&w->g, &w->w, &w->e}, **const m_by_m[] = {&w->h, &w->inverse, &w->middle};
    double **const n_long[] = {&w->rest, &w->u, &w->change, &w->zw, &w->ezh, &w->energy},
                   **const m_long[] = {&w->z, &w->zh, &w->coefficients};
    for (size_t i = 0; i < sizeof n_by_m / sizeof *n_by_m; i++) NB_NEED(*n_by_m[i], nb_alloc_reals(ctx, nn, mm));
    for (size_t i = 0; i < sizeof m_by_m / sizeof *m_by_m; i++) NB_NEED(*m_by_m[i], nb_alloc_reals(ctx, mm, mm));
    for (size_t i = 0; i < sizeof n_long / sizeof *n_long; i++) NB_NEED(*n_long[i], nb_alloc_reals(ctx, nn, 1));
    for (size_t i = 0; i < sizeof m_long / sizeof *m_long; i++) NB_NEED(*m_long[i], nb_alloc_reals(ctx, mm, 1));
    NB_NEED(w->stripe, nb_alloc_raw(ctx, nn * NB_SWAP_STRIPE));
    NB_NEED(w->product, nb_alloc_raw(ctx, mm * NB_SWAP_STRIPE));
    return NB_OK;
}

nb_status nb_swap_side_init(nb_swap_side *s, int n, int m, const double *a, int *tokens, nb_ctx *ctx)
{
    *s = (nb_swap_side){.a = a, .tokens = tokens};
    NB_NEED(s->norms, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_NEED(s->chosen, nb_alloc(ctx, (size_t)n, sizeof *s->chosen));
    NB_NEED(s->q, nb_alloc_reals(ctx, (size_t)n, (size_t)m));
    nb_count_multiplications((double)n * n);
    for (int c = 0; c < n; c++) s->norms[c] = nb_sum_of_squares((size_t)n, a + (size_t)c * (size_t)n);
    return NB_OK;
}

static const double *column(const nb_swap_side *s, int n, int c)
{
    return s->a + (size_t)c * (size_t)n;
}

/* u <- what is left of a_c outside the first `count` columns of q, by classical
 * Gram-Schmidt done twice, and its square; `coefficients` gets what was taken off. */
static double residual(const nb_swap_side *s, const nb_swaps *w, int c, int count, double *u, double *coefficients,
                       double *scratch)
{
    memcpy(u, column(s, w->n, c), (size_t)w->n * sizeof *u);
    memset(coefficients, 0, (size_t)w->m * sizeof *coefficients);
    for (int pass = 0; pass < 2 && count > 0; pass++) {
        nb_gemv(NB_TRANSPOSED, w->n, count, 1, s->q, w->n, u, 0, scratch);
        nb_gemv(NB_PLAIN, w->n, count, -1, s->q, w->n, scratch, 1, u);
        nb_add((size_t)count, scratch, coefficients);
    }
    nb_count_multiplications(w->n);
    return nb_sum_of_squares((size_t)w->n, u);
}

void nb_swap_factor(nb_swap_side *s, nb_swaps *w)
{
    size_t n = (size_t)w->n, m = (size_t)w->m;
    memset(s->chosen, 0, n * sizeof *s->chosen);
    memset(s->q, 0, n * m * sizeof *s->q);
    memset(w->inverse, 0, m * m * sizeof *w->inverse);
    for (size_t j = 0; j < m; j++) {
        int c = s->tokens[j];
        double length2 = residual(s, w, c, (int)j, w->u, w->coefficients, w->z), *own = w->inverse + j * m;
        bool none = !(length2 > NO_DIRECTION * s->norms[c]);
        s->chosen[c] = true;
        own[j] = none ? 1 : 1 / sqrt(length2);
        if (none) continue;
        nb_count_multiplications((double)n + (double)(j * j));
        for (size_t i = 0; i < n; i++) s->q[j * n + i] = w->u[i] / sqrt(length2);
        for (size_t k = 0; k < j; k++) { /* row k of R^-1 becomes orthogonal to column j */
            double dot = nb_dot(j, w->inverse + k * m, w->coefficients);
            w->inverse[k * m + j] = -dot * own[j];
        }
    }
}

/* All that a turn needs, from the tokens and the other side's basis. */
static void form_turn(nb_swap_side *s, const nb_swap_side *other, nb_swaps *w)
{
    int n = w->n, m = w->m;
    nb_swap_factor(s, w);
    nb_gemm(NB_PLAIN, NB_PLAIN, n, m, n, 1, s->a, n, other->q, n, 0, w->g, n);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, n, n, 1, s->q, n, s->a, n, 0, w->w, m);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, m, n, 1, s->q, n, w->g, n, 0, w->h, m);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, n, n, 1, w->g, n, s->a, n, 0, w->e, m);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, n, m, -1, w->h, m, w->w, m, 1, w->e, m);
    nb_count_multiplications(2.0 * n * m);
    for (int c = 0; c < n; c++) {
        size_t at = (size_t)c * (size_t)m;
        w->rest[c] = s->norms[c] - nb_sum_of_squares((size_t)m, w->w + at);
        w->energy[c] = nb_sum_of_squares((size_t)m, w->e + at);
    }
}

/* The direction of position j: z, z'H, z'W, and E'(H'z). */
static void open_position(nb_swaps *w, int j)
{
    size_t m = (size_t)w->m;
    const double *row = w->inverse + (size_t)j * m;
    double length = nb_frobenius(m, row);
    nb_count_multiplications(2.0 * w->m);
    for (size_t i = 0; i < m; i++) w->z[i] = row[i] / length;
    nb_gemv(NB_TRANSPOSED, w->m, w->m, 1, w->h, w->m, w->z, 0, w->zh);
    nb_gemv(NB_TRANSPOSED, w->m, w->n, 1, w->w, w->m, w->z, 0, w->zw);
    nb_gemv(NB_TRANSPOSED, w->m, w->n, 1, w->e, w->m, w->zh, 0, w->ezh);
}

/* Returns the token that gains most at the open position, or -1 where none gains enough. */
static int best_token(const nb_swap_side *s, const nb_swaps *w)
{
    double present = nb_sum_of_squares((size_t)w->m, w->zh), most = present + LEAST_GAIN * w->norm2;
    int best = -1;
    nb_count_multiplications(5.0 * w->n);
    for (int c = 0; c < w->n; c++) {
        double p = w->zw[c], below = w->rest[c] + p * p;
        if (s->chosen[c] || !(below > NO_CANDIDATE * s->norms[c])) continue;
        double gain = (w->energy[c] + 2 * p * w->ezh[c] + p * p * present) / below;
        if (gain > most) {
            most = gain;
            best = c;
        }
    }
    return best;
}

/* q z <- u, the direction of token c outside the other columns; false if rounding leaves none. */
static bool new_direction(nb_swap_side *s, nb_swaps *w, int c)
{
    size_t n = (size_t)w->n;
    double *old = w->change;
    nb_gemv(NB_PLAIN, w->n, w->m, 1, s->q, w->n, w->z, 0, old);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, w->n, w->m, 1, -1, old, w->n, w->z, w->m, 1, s->q, w->n); /* q without it */
    double length2 = residual(s, w, c, w->m, w->u, w->coefficients, w->stripe);
    bool there = length2 > NO_DIRECTION * s->norms[c];
    if (there) {
        nb_count_multiplications((double)w->n + w->m);
        nb_scale(n, 1 / sqrt(length2), w->u);
        /* u becomes Q z, so that a_c = Q r with r = coefficients + sqrt(length2) z */
        for (int i = 0; i < w->m; i++) w->coefficients[i] += sqrt(length2) * w->z[i];
    } else {
        memcpy(w->u, old, n * sizeof *old);
    }
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, w->n, w->m, 1, 1, w->u, w->n, w->z, w->m, 1, s->q, w->n);
    return there;
}

/* Row j of R^-1 for the new column r = coefficients, the others orthogonal to it. */
static void replace_column(nb_swaps *w, int j)
{
    size_t m = (size_t)w->m;
    double *own = w->inverse + (size_t)j * m;
    nb_count_multiplications(2.0 * w->m * w->m);
    nb_scale(m, 1 / nb_dot(m, own, w->coefficients), own);
    for (size_t k = 0; k < m; k++) {
        double *row = w->inverse + k * m;
        if (row == own) continue;
        double dot = nb_dot(m, row, w->coefficients);
        for (size_t i = 0; i < m; i++) row[i] -= dot * own[i];
    }
}

/* Token c at position j: what depends on the direction changes by terms of rank one. */
static bool swap(nb_swap_side *s, nb_swaps *w, int j, int c)
{
    int n = w->n, m = w->m;
    if (!new_direction(s, w, c)) return false;
    replace_column(w, j);
    /* E <- E + (H'z) (z'W) - (G'u) (u'a), without the old direction and with u in H'W */
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, n, 1, 1, w->zh, m, w->zw, n, 1, w->e, m);
    nb_gemv(NB_TRANSPOSED, n, n, 1, s->a, n, w->u, 0, w->change);       /* u'a */
    nb_gemv(NB_TRANSPOSED, n, m, 1, w->g, n, w->u, 0, w->coefficients); /* u'G */
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, n, 1, -1, w->coefficients, m, w->change, n, 1, w->e, m);
    nb_count_multiplications((2.0 + m) * n);
    /* |a_c|^2 - |w_c|^2 and |e_c|^2; then what z'W and z'H change by */
    for (int i = 0; i < n; i++) {
        w->rest[i] += w->zw[i] * w->zw[i] - w->change[i] * w->change[i];
        w->zw[i] = w->change[i] - w->zw[i];
        w->energy[i] = nb_sum_of_squares((size_t)m, w->e + (size_t)i * (size_t)m);
    }
    for (int i = 0; i < m; i++) w->zh[i] = w->coefficients[i] - w->zh[i];
    /* W <- W + z (u'a - z'W), H <- H + z (u'G - z'H) */
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, n, 1, 1, w->z, m, w->zw, n, 1, w->w, m);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, 1, 1, w->z, m, w->zh, m, 1, w->h, m);
    s->chosen[s->tokens[j]] = false;
    s->chosen[c] = true;
    s->tokens[j] = c;
    return true;
}

double nb_swap_error2(const nb_swap_side *keys, const nb_swap_side *queries, nb_swaps *w)
{
    int n = w->n, m = w->m;
    double sum = 0;
    /* Q_C' S Q_R */
    nb_gemm(NB_PLAIN, NB_PLAIN, n, m, n, 1, keys->a, n, queries->q, n, 0, w->g, n);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, m, n, 1, keys->q, n, w->g, n, 0, w->middle, m);
    /* |S - Q_C (Q_C' S Q_R) Q_R'|^2, some columns at a time */
    for (int first = 0; first < n; first += NB_SWAP_STRIPE) {
        int count = n - first < NB_SWAP_STRIPE ? n - first : NB_SWAP_STRIPE;
        memcpy(w->stripe, column(keys, n, first), (size_t)n * (size_t)count * sizeof(double));
        nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, count, m, 1, w->middle, m, queries->q + first, n, 0, w->product, m);
        nb_gemm(NB_PLAIN, NB_PLAIN, n, count, m, -1, keys->q, n, w->product, m, 1, w->stripe, n);
        sum += nb_sum_of_squares((size_t)n * (size_t)count, w->stripe);
    }
    nb_count_multiplications((double)n * n);
    return sum;
}

void nb_swap_turn(nb_swap_side *s, const nb_swap_side *other, nb_swaps *w, int *swaps)
{
    form_turn(s, other, w);
    for (int j = 0; j < w->m; j++) {
        open_position(w, j);
        int c = best_token(s, w);
        if (c >= 0) *swaps += swap(s, w, j, c);
    }
}
