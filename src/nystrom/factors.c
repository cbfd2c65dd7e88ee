/* SPDX-License-Identifier: GPL-3.0-or-later */
/* factors.c - what cores share is computed when the first of them asks. */
#include "nystrom/factors.h"

#include "base/clock.h"
#include "linalg/linalg.h"
#include "nystrom/factors_record.h"

#include <math.h>

const char nb_diverged_by_rounding[] =
    "rounding has driven the iteration out of its region of convergence: |I - AX|_F is more than twice what that "
    "allows";

void nb_factors_begin(nb_factors *factors)
{
    factors->reused_s = 0;
    factors->seen = 0;
    factors->keep_rows = false;
    factors->notes = (nb_notes){.cutoff = NAN, .residual_limit = INFINITY};
}

int nb_factors_m(const nb_factors *factors)
{
    return factors->m;
}

const double *nb_factors_a(const nb_factors *factors)
{
    return factors->a;
}

int nb_factors_n(const nb_factors *factors)
{
    return factors->n;
}

int nb_factors_seen(const nb_factors *factors)
{
    return factors->seen;
}

void nb_factors_keep_rows(nb_factors *factors, bool keep)
{
    factors->keep_rows = keep;
}

bool nb_factors_keeps_rows(const nb_factors *factors)
{
    return factors->keep_rows;
}

const nb_ranges *nb_factors_ranges(const nb_factors *factors)
{
    return factors->ranges;
}

void nb_factors_note_cutoff(nb_factors *factors, double cutoff)
{
    factors->notes.cutoff = cutoff;
}

nb_status nb_factors_note_diverged(nb_factors *factors, const char *reason, nb_ctx *ctx)
{
    (void)ctx;
    NB_NEED(factors->notes.diverged, nb_strdup(factors->ctx, reason));
    return NB_OK;
}

void nb_factors_note_residual_limit(nb_factors *factors, double limit)
{
    factors->notes.residual_limit = limit;
}

void nb_factors_note_epsilon(nb_factors *factors, double epsilon)
{
    factors->notes.rounding.epsilon = epsilon;
}

double nb_factors_kept_cutoff(const nb_factors_spectrum *spectrum, int m, int kept, double rcond)
{
    return kept < m ? fmax(rcond, spectrum->values[kept] / spectrum->values[0]) : rcond;
}

nb_status nb_factors_svd(nb_factors *factors, const nb_factors_spectrum **spectrum, nb_ctx *ctx)
{
    nb_factors_spectrum s = factors->spectrum;
    if (s.values) {
        factors->reused_s += factors->svd_s;
    } else {
        size_t m = (size_t)factors->m;
        double start_s = nb_clock_s();
        NB_NEED(s.u, nb_alloc_reals(factors->ctx, m, m));
        NB_NEED(s.values, nb_alloc_reals(factors->ctx, m, 1));
        NB_NEED(s.vt, nb_alloc_reals(factors->ctx, m, m));
        NB_TRY(ctx, nb_svd(factors->m, factors->m, factors->a, s.u, s.values, s.vt, ctx));
        factors->spectrum = s;
        factors->svd_s = nb_clock_s() - start_s;
    }
    *spectrum = &factors->spectrum;
    return NB_OK;
}

void nb_factors_norms(nb_factors *factors, double *one, double *infinity)
{
    if (factors->norm_one == 0) { /* of A = 0 for ever */
        factors->norm_one = nb_norm_one(factors->m, factors->m, factors->a);
        factors->norm_infinity = nb_norm_infinity(factors->m, factors->m, factors->a);
    }
    *one = factors->norm_one;
    *infinity = factors->norm_infinity;
}

nb_status nb_factors_filter(nb_factors *factors, const double *filter, double *x, nb_ctx *ctx)
{
    const nb_factors_spectrum *s;
    int m = factors->m, used = m;
    double *scaled;
    NB_TRY(ctx, nb_factors_svd(factors, &s, ctx));
    NB_NEED(scaled, nb_alloc_raw(ctx, (size_t)m * (size_t)m));
    while (used > 0 && filter[used - 1] == 0) used--;
    factors->notes.rounding.kept = used < m ? used : 0;
    for (int j = 0; j < used; j++)
        for (int i = 0; i < m; i++) scaled[i + j * m] = s->u[i + j * m] * filter[j];
    nb_gemm(NB_TRANSPOSED, NB_TRANSPOSED, m, m, used, 1, s->vt, m, scaled, m, 0, x, m);
    return NB_OK;
}

nb_status nb_factors_rows(nb_factors *factors, int k, nb_exact_rows *rows, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, factors->make_rows, NB_EINVAL, "rows of S are needed, but there is only A");
    if (k > factors->n) k = factors->n;
    if (k > factors->seen) factors->seen = k;
    if (factors->rows.k < k) {
        double start_s = nb_clock_s();
        NB_TRY(ctx, factors->make_rows(factors, k, &factors->rows, factors->ctx));
        factors->rows_s = nb_clock_s() - start_s;
    } else {
        factors->reused_s += factors->rows_s * k / factors->rows.k;
    }
    *rows = factors->rows;
    if (k < rows->k) rows->k = k; /* the arrays hold a row as a column, so the first k are there */
    return NB_OK;
}

const char *nb_factors_form_refusal(const nb_factors *factors)
{
    return factors->form ? factors->no_form : "F and B are needed, but there is only A";
}

nb_status nb_factors_form(nb_factors *factors, nb_outer_factors *outer, nb_ctx *ctx)
{
    const char *why = nb_factors_form_refusal(factors);
    double *a, start_s = nb_clock_s();
    NB_REQUIRE(ctx, !why, NB_EINVAL, "%s", why);
    NB_TRY(ctx, factors->form(factors, outer, ctx));
    NB_NEED(a, nb_alloc_raw(ctx, (size_t)factors->m * (size_t)factors->m));
    nb_transpose(factors->m, factors->m, factors->a, a);
    outer->a = a;
    nb_factors_leave_out(factors, nb_clock_s() - start_s);
    return NB_OK;
}

nb_status nb_factors_seed(const nb_factors *factors, const char *component, unsigned long *seed, nb_ctx *ctx)
{
    nb_stream stream = factors->stream;
    gsl_rng *rng;
    NB_REQUIRE(ctx, stream.component, NB_EBUG, "a core draws, and it has no random stream");
    stream.role = "core";
    stream.m = factors->m;
    if (component) stream.component = component;
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    nb_random_seed(rng, &stream);
    *seed = gsl_rng_get(rng);
    return NB_OK;
}

void nb_factors_leave_out(nb_factors *factors, double time_s)
{
    factors->reused_s -= time_s;
}
