/* exchange.c - one landmark swapped at a time while the error falls, an oracle.
 *
 * With factors `cur` the least error that any core reaches is |S - P_C S P_R|_F, P_C
 * the projector on the columns J of S (key tokens), P_R on its rows I (query
 * tokens). A sweep goes once over the positions of J with I fixed, then over those
 * of I with J fixed, and puts at each position the token that lowers the error most.
 *
 * For J: C = S[:,J] = Q R and G = S Q_R, so |P_C S P_R|^2 = |Q'G|^2. Position j owns the
 * direction Q z in range(C), z the normalised row j of R^-1, that is orthogonal to the
 * other columns. With W = Q'S, H = Q'G, E = G'S - H'W and r_c = |S_c|^2 - |W_c|^2, token c
 * in place of j gives
 *     |E_c + (W_c'z) H'z|^2 / (r_c + (W_c'z)^2)
 * against |H'z|^2 of the present one: O(n m) for all c. A swap replaces the direction
 * Q z by the new one, u, changes all of these by terms of rank one, and takes one
 * product S'u. All is formed afresh at each side's turn, and the error is formed entry
 * by entry after it: a turn that did not lower it is taken back, so the result is never
 * worse than the start. A sweep costs 20 n^2 m + O(n m^2) flops, and 2 n^2 for each
 * swap. Tokens that add nothing to those before them own no direction at first, and so
 * gain most by a swap.
 *
 * Keys go first; the other order may end elsewhere, as may another start. */
#include "strategy.h"

#include "base/registry.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

typedef struct {
    const nb_choice *start;
    int sweeps;
} exchange_options;

static const nb_option options[] = {
    NB_COMPONENT(exchange_options, start, "uniform", &nb_strategies, "the strategy whose tokens come first"),
    NB_INT(exchange_options, sweeps, "3", 0, 1000, "passes over all landmarks of both sides at most; ends where none is swapped"),
    NB_OPTION_END};

/* S is held twice, and its products with m vectors. */
enum { MOST_TOKENS = 4096, STRIPE = 128 };

/* A swap must gain more than this times |S|^2, which is above the rounding of all terms. */
static const double LEAST_GAIN = 1e-12;
/* A direction is not there where its square is at most this times the column's: what
 * rounding leaves of a column that the others span. */
static const double NO_DIRECTION = 1e-20;
/* The same for a candidate, whose square is a difference, off by some eps |a_c|^2. */
static const double NO_CANDIDATE = 1e-12;

typedef struct { /* the columns of `a` are what is chosen from */
    const double *a; /* n x n: S for the keys, S' for the queries */
    double *norms;   /* n: |a_c|^2 */
    int *tokens;     /* m: chosen */
    bool *chosen;    /* n */
    double *q;       /* n x m: orthonormal basis of range(a[:,tokens]), or zero columns where it has fewer */
} side;

typedef struct {
    int n, m;
    double norm2;    /* |S|^2 */
    double *g;       /* n x m: a Q of the other side */
    double *w;       /* m x n: Q'a */
    double *h;       /* m x m: Q'G */
    double *e;       /* m x n: G'a - H'W */
    double *rest;    /* n: |a_c|^2 - |w_c|^2, at least 0 */
    double *inverse; /* m x m: column j is row j of R^-1 */
    double *u, *change; /* n */
    double *z, *zh, *coefficients; /* m */
    double *zw, *ezh; /* n */
    double *energy;  /* n: |e_c|^2 */
    double *stripe;  /* n x STRIPE */
    double *middle, *product; /* m x m, m x STRIPE */
} work;

static nb_status work_init(work *w, int n, int m, nb_ctx *ctx)
{
    size_t nn = (size_t)n, mm = (size_t)m;
    *w = (work){.n = n, .m = m};
    double **const n_by_m[] = {&w->g, &w->w, &w->e}, **const m_by_m[] = {&w->h, &w->inverse, &w->middle};
    double **const n_long[] = {&w->rest, &w->u, &w->change, &w->zw, &w->ezh, &w->energy}, **const m_long[] = {&w->z, &w->zh, &w->coefficients};
    for (size_t i = 0; i < sizeof n_by_m / sizeof *n_by_m; i++) NB_NEED(*n_by_m[i], nb_alloc_reals(ctx, nn, mm));
    for (size_t i = 0; i < sizeof m_by_m / sizeof *m_by_m; i++) NB_NEED(*m_by_m[i], nb_alloc_reals(ctx, mm, mm));
    for (size_t i = 0; i < sizeof n_long / sizeof *n_long; i++) NB_NEED(*n_long[i], nb_alloc_reals(ctx, nn, 1));
    for (size_t i = 0; i < sizeof m_long / sizeof *m_long; i++) NB_NEED(*m_long[i], nb_alloc_reals(ctx, mm, 1));
    NB_NEED(w->stripe, nb_alloc_raw(ctx, nn * STRIPE));
    NB_NEED(w->product, nb_alloc_raw(ctx, mm * STRIPE));
    return NB_OK;
}

static nb_status side_init(side *s, int n, int m, const double *a, int *tokens, nb_ctx *ctx)
{
    *s = (side){.a = a, .tokens = tokens};
    NB_NEED(s->norms, nb_alloc_reals(ctx, (size_t)n, 1));
    NB_NEED(s->chosen, nb_alloc(ctx, (size_t)n, sizeof *s->chosen));
    NB_NEED(s->q, nb_alloc_reals(ctx, (size_t)n, (size_t)m));
    for (int c = 0; c < n; c++) s->norms[c] = nb_sum_of_squares((size_t)n, a + (size_t)c * (size_t)n);
    return NB_OK;
}

static const double *column(const side *s, int n, int c)
{
    return s->a + (size_t)c * (size_t)n;
}

/* u <- what is left of a_c outside the first `count` columns of q, by classical
 * Gram-Schmidt done twice, and its square; `coefficients` gets what was taken off. */
static double residual(const side *s, const work *w, int c, int count, double *u, double *coefficients, double *scratch)
{
    memcpy(u, column(s, w->n, c), (size_t)w->n * sizeof *u);
    memset(coefficients, 0, (size_t)w->m * sizeof *coefficients);
    for (int pass = 0; pass < 2 && count > 0; pass++) {
        nb_gemv(NB_TRANSPOSED, w->n, count, 1, s->q, w->n, u, 0, scratch);
        nb_gemv(NB_PLAIN, w->n, count, -1, s->q, w->n, scratch, 1, u);
        nb_add((size_t)count, scratch, coefficients);
    }
    return nb_sum_of_squares((size_t)w->n, u);
}

/* q <- a basis of the chosen columns, one after the other, zero where one adds
 * nothing; `inverse` <- R^-1 by rows, with e_j in place of such a column of R. */
static void factor(side *s, work *w)
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
        for (size_t i = 0; i < n; i++) s->q[j * n + i] = w->u[i] / sqrt(length2);
        for (size_t k = 0; k < j; k++) { /* row k of R^-1 becomes orthogonal to column j */
            double dot = nb_dot(j, w->inverse + k * m, w->coefficients);
            w->inverse[k * m + j] = -dot * own[j];
        }
    }
}

/* All that a turn needs, from the tokens and the other side's basis. */
static void form(side *s, const side *other, work *w)
{
    int n = w->n, m = w->m;
    factor(s, w);
    nb_gemm(NB_PLAIN, NB_PLAIN, n, m, n, 1, s->a, n, other->q, n, 0, w->g, n);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, n, n, 1, s->q, n, s->a, n, 0, w->w, m);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, m, n, 1, s->q, n, w->g, n, 0, w->h, m);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, n, n, 1, w->g, n, s->a, n, 0, w->e, m);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, n, m, -1, w->h, m, w->w, m, 1, w->e, m);
    for (int c = 0; c < n; c++) {
        size_t at = (size_t)c * (size_t)m;
        w->rest[c] = s->norms[c] - nb_sum_of_squares((size_t)m, w->w + at);
        w->energy[c] = nb_sum_of_squares((size_t)m, w->e + at);
    }
}

/* The direction of position j: z, z'H, z'W, and E'(H'z). */
static void open_position(work *w, int j)
{
    size_t m = (size_t)w->m;
    const double *row = w->inverse + (size_t)j * m;
    double length = nb_frobenius(m, row);
    for (size_t i = 0; i < m; i++) w->z[i] = row[i] / length;
    nb_gemv(NB_TRANSPOSED, w->m, w->m, 1, w->h, w->m, w->z, 0, w->zh);
    nb_gemv(NB_TRANSPOSED, w->m, w->n, 1, w->w, w->m, w->z, 0, w->zw);
    nb_gemv(NB_TRANSPOSED, w->m, w->n, 1, w->e, w->m, w->zh, 0, w->ezh);
}

/* The token that gains most at the open position, or -1 where none gains enough. */
static int best_token(const side *s, const work *w)
{
    double present = nb_sum_of_squares((size_t)w->m, w->zh), most = present + LEAST_GAIN * w->norm2;
    int best = -1;
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

/* q z <- u, the direction of token c outside the other columns; false where rounding
 * leaves none. */
static bool new_direction(side *s, work *w, int c)
{
    size_t n = (size_t)w->n;
    double *old = w->change;
    nb_gemv(NB_PLAIN, w->n, w->m, 1, s->q, w->n, w->z, 0, old);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, w->n, w->m, 1, -1, old, w->n, w->z, w->m, 1, s->q, w->n); /* q without it */
    double length2 = residual(s, w, c, w->m, w->u, w->coefficients, w->stripe);
    bool there = length2 > NO_DIRECTION * s->norms[c];
    if (there) {
        nb_scale(n, 1 / sqrt(length2), w->u);
        for (int i = 0; i < w->m; i++) w->coefficients[i] += sqrt(length2) * w->z[i];
    } else {
        memcpy(w->u, old, n * sizeof *old);
    }
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, w->n, w->m, 1, 1, w->u, w->n, w->z, w->m, 1, s->q, w->n);
    return there;
}

/* Row j of R^-1 for the new column r = coefficients, the others orthogonal to it. */
static void replace_column(work *w, int j)
{
    size_t m = (size_t)w->m;
    double *own = w->inverse + (size_t)j * m;
    nb_scale(m, 1 / nb_dot(m, own, w->coefficients), own);
    for (size_t k = 0; k < m; k++) {
        double *row = w->inverse + k * m;
        if (row == own) continue;
        double dot = nb_dot(m, row, w->coefficients);
        for (size_t i = 0; i < m; i++) row[i] -= dot * own[i];
    }
}

/* Token c at position j: what depends on the direction changes by terms of rank one. */
static bool swap(side *s, work *w, int j, int c)
{
    int n = w->n, m = w->m;
    if (!new_direction(s, w, c)) return false;
    replace_column(w, j);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, n, 1, 1, w->zh, m, w->zw, n, 1, w->e, m);
    nb_gemv(NB_TRANSPOSED, n, n, 1, s->a, n, w->u, 0, w->change);          /* u'a */
    nb_gemv(NB_TRANSPOSED, n, m, 1, w->g, n, w->u, 0, w->coefficients);    /* u'G */
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, n, 1, -1, w->coefficients, m, w->change, n, 1, w->e, m);
    for (int i = 0; i < n; i++) {
        w->rest[i] += w->zw[i] * w->zw[i] - w->change[i] * w->change[i];
        w->zw[i] = w->change[i] - w->zw[i];
        w->energy[i] = nb_sum_of_squares((size_t)m, w->e + (size_t)i * (size_t)m);
    }
    for (int i = 0; i < m; i++) w->zh[i] = w->coefficients[i] - w->zh[i];
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, n, 1, 1, w->z, m, w->zw, n, 1, w->w, m);
    nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, m, 1, 1, w->z, m, w->zh, m, 1, w->h, m);
    s->chosen[s->tokens[j]] = false;
    s->chosen[c] = true;
    s->tokens[j] = c;
    return true;
}

/* |S - P_C S P_R|^2 by entries, both bases up to date. */
static double error2(const side *keys, const side *queries, work *w)
{
    int n = w->n, m = w->m;
    double sum = 0;
    nb_gemm(NB_PLAIN, NB_PLAIN, n, m, n, 1, keys->a, n, queries->q, n, 0, w->g, n);
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, m, m, n, 1, keys->q, n, w->g, n, 0, w->middle, m);
    for (int first = 0; first < n; first += STRIPE) {
        int count = n - first < STRIPE ? n - first : STRIPE;
        memcpy(w->stripe, column(keys, n, first), (size_t)n * (size_t)count * sizeof(double));
        nb_gemm(NB_PLAIN, NB_TRANSPOSED, m, count, m, 1, w->middle, m, queries->q + first, n, 0, w->product, m);
        nb_gemm(NB_PLAIN, NB_PLAIN, n, count, m, -1, keys->q, n, w->product, m, 1, w->stripe, n);
        sum += nb_sum_of_squares((size_t)n * (size_t)count, w->stripe);
    }
    return sum;
}

/* Swaps along all positions of one side; *swaps counts them. */
static void turn(side *s, const side *other, work *w, int *swaps)
{
    form(s, other, w);
    for (int j = 0; j < w->m; j++) {
        open_position(w, j);
        int c = best_token(s, w);
        if (c >= 0) *swaps += swap(s, w, j, c);
    }
}

/* One turn, taken back where the error, formed anew, is not below *least. */
static nb_status improve(side *s, side *other, bool keys, work *w, double *least, int *swaps, nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    int *before, count = 0;
    size_t size = (size_t)w->m * sizeof *before;
    NB_NEED(before, nb_alloc(ctx, (size_t)w->m, sizeof *before));
    memcpy(before, s->tokens, size);
    turn(s, other, w, &count);
    factor(s, w);
    double error = count == 0 ? *least : keys ? error2(s, other, w) : error2(other, s, w);
    if (count > 0 && error < *least) {
        *least = error;
        *swaps += count;
    } else if (count > 0) {
        memcpy(s->tokens, before, size);
        factor(s, w);
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static nb_status exchange(const nb_points *points, int m, int sweeps, int *of_queries, int *of_keys, nb_ctx *ctx)
{
    int n = points->n;
    const double *rows;
    double *columns;
    side queries, keys;
    work w;
    NB_TRY(ctx, nb_scene_rows(points->scene, &rows, ctx));
    NB_NEED(columns, nb_alloc_raw(ctx, (size_t)n * (size_t)n));
    nb_transpose(n, n, rows, columns);
    NB_TRY(ctx, side_init(&queries, n, m, rows, of_queries, ctx));
    NB_TRY(ctx, side_init(&keys, n, m, columns, of_keys, ctx));
    NB_TRY(ctx, work_init(&w, n, m, ctx));
    for (int c = 0; c < n; c++) w.norm2 += keys.norms[c];
    factor(&queries, &w);
    factor(&keys, &w);
    double least = error2(&keys, &queries, &w);
    for (int sweep = 0, swaps = 1; sweep < sweeps && swaps > 0; sweep++) {
        swaps = 0;
        NB_TRY(ctx, improve(&keys, &queries, true, &w, &least, &swaps, ctx));
        NB_TRY(ctx, improve(&queries, &keys, false, &w, &least, &swaps, ctx));
    }
    return NB_OK;
}

static nb_status pick_both(const nb_points *queries, const nb_points *keys, int m, const void *opts, nb_picks *of_queries,
                           nb_picks *of_keys, nb_ctx *ctx)
{
    const exchange_options *o = opts;
    nb_picks start_queries, start_keys;
    int *i, *j;
    (void)keys;
    NB_TRY(ctx, nb_strategy_start(o->start, queries, m, &start_queries, &start_keys, ctx));
    NB_REQUIRE(ctx, start_queries.kind == NB_TOKENS, NB_EINVAL, "exchange: start=%s gives no tokens to swap", o->start->label);
    NB_NEED(i, nb_picks_tokens(of_queries, m));
    NB_NEED(j, nb_picks_tokens(of_keys, m));
    memcpy(i, start_queries.tokens, (size_t)m * sizeof *i);
    memcpy(j, start_keys.tokens, (size_t)m * sizeof *j);
    return m < queries->n ? exchange(queries, m, o->sweeps, i, j, ctx) : NB_OK;
}

static unsigned traits_of(const void *opts)
{
    const exchange_options *o = opts;
    return (nb_strategy_traits(o->start) & NB_RANDOM) | NB_ORACLE;
}

static const char *refusal(const nb_points *points, int m, const void *opts)
{
    const exchange_options *o = opts;
    const nb_strategy *start = (const nb_strategy *)o->start->component;
    if (points->n > MOST_TOKENS) return "exchange: all of S is held twice; n is at most 4096";
    return start->refusal ? start->refusal(points, m, o->start->options) : NULL;
}

static const char *const references[] = {
    "Fedorov, Theory of optimal experiments, 1972 (the exchange of one point at a time)",
    "Altschuler et al., Greedy column subset selection: new bounds and distributed algorithms, ICML 2016", NULL};

const nb_strategy nb_strategy_exchange = {
    .component = {"exchange", "tokens swapped one at a time while the error falls (oracle)", references, options,
                  sizeof(exchange_options)},
    .abi = NB_STRATEGY_ABI,
    .traits = NB_RANDOM | NB_ORACLE,
    .pairing = NB_BOTH,
    .traits_of = traits_of,
    .pick_both = pick_both,
    .refusal = refusal,
};
