/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rounds.c - warm-up, batches, rounds; see rounds.h */
#include "studies/forward/rounds.h"

#include "base/clock.h"
#include "statistics/ranks.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

const nb_round_terms nb_round_usual = {.least = 6, .least_long = 3, .narrow = 0.02, .batch_s = 1e-3, .alike = 0.05};

enum { WARM_UPS = 8, MOST_BATCH = 1000 };

typedef struct {
    const nb_round_terms *terms;
    const nb_contestant *all;
    nb_timed *timed;
    int count, most;
    double *sorted; /* room for `most` */
    nb_ctx *ctx;
} race;

static nb_status span(const nb_contestant *c, int batch, double *seconds, nb_ctx *ctx)
{
    if (c->pending) nb_pending_at(c->pending, c->phase, c->first, c->last);
    if (c->begin) NB_TRY(ctx, c->begin(c->self, ctx));
    double start_s = nb_clock_s();
    for (int i = 0; i < batch; i++) NB_TRY(ctx, c->pass(c->self, ctx));
    *seconds = c->seconds ? c->seconds(c->self) : (nb_clock_s() - start_s) / batch;
    return c->end ? c->end(c->self, ctx) : NB_OK;
}

/* One span of one contestant; if it fails, that one is out of the race. */
static nb_status try(race *r, int which, double *seconds)
{
    nb_timed *t = &r->timed[which];
    nb_status status = span(&r->all[which], t->batch, seconds, r->ctx);
    if (status == NB_OK || status == NB_EHOST) return status;
    t->status = status;
    NB_NEED(t->why, nb_strdup(r->ctx, nb_error_message(r->ctx)));
    nb_error_clear(r->ctx);
    return NB_OK;
}

/* Passes until two in a row took about as long. */
static nb_status warm_up(race *r, int which)
{
    nb_timed *t = &r->timed[which];
    double before = INFINITY, now = NAN;
    t->batch = 1;
    for (int i = 0; i < WARM_UPS && t->status == NB_OK; i++) {
        before = now;
        NB_TRY(r->ctx, try(r, which, &now));
        if (i == 0) t->first_s = now;
        if (fabs(now - before) <= r->terms->alike * now) break;
        if (i > 0 && now > NB_LONG_S) break;
    }
    if (t->status == NB_OK && !r->all[which].seconds && now > 0 && now < r->terms->batch_s)
        t->batch = (int)fmin(ceil(r->terms->batch_s / now), MOST_BATCH);
    return NB_OK;
}

static bool is_narrow(const race *r, const nb_timed *t)
{
    double low, high;
    if (t->count == 0) return true;
    memcpy(r->sorted, t->s, (size_t)t->count * sizeof *t->s);
    gsl_sort(r->sorted, 1, (size_t)t->count);
    nb_median_interval(t->count, r->sorted, 0.95, &low, &high);
    return high - low <= r->terms->narrow * nb_median_sorted(t->count, r->sorted);
}

/* Returns whether another round is to be run after `done` of them, of which the last took so long. */
static bool goes_on(const race *r, int done, double spent_s, double last_s)
{
    const nb_round_terms *terms = r->terms;
    bool is_long = false, narrow = true;
    if (terms->rounds > 0) return done < terms->rounds;
    for (int i = 0; i < r->count; i++) {
        if (r->timed[i].status != NB_OK) continue;
        is_long |= r->timed[i].count > 0 && r->timed[i].s[r->timed[i].count - 1] > NB_LONG_S;
        narrow &= is_narrow(r, &r->timed[i]);
    }
    if (done < (is_long ? terms->least_long : terms->least)) return true;
    return done < r->most && !narrow && spent_s + last_s <= terms->budget_s;
}

static nb_status run_round(race *r, const int *order)
{
    for (int i = 0; i < r->count; i++) {
        nb_timed *t = &r->timed[order[i]];
        double seconds;
        if (t->status != NB_OK) continue;
        NB_TRY(r->ctx, try(r, order[i], &seconds));
        if (t->status == NB_OK) t->s[t->count++] = seconds;
    }
    return NB_OK;
}

nb_status nb_rounds_run(int count, const nb_contestant *contestants, const nb_round_terms *terms, gsl_rng *rng,
                        nb_timed *timed, nb_ctx *ctx)
{
    race r = {.terms = terms,
              .all = contestants,
              .timed = timed,
              .count = count,
              .most = terms->rounds > 0 ? terms->rounds : NB_MOST_ROUNDS,
              .ctx = ctx};
    int *order;
    double start_s, last_s = 0;
    NB_NEED(order, nb_alloc(ctx, (size_t)count + 1, sizeof *order));
    NB_NEED(r.sorted, nb_alloc_reals(ctx, (size_t)r.most, 1));
    for (int i = 0; i < count; i++) {
        order[i] = i;
        timed[i] = (nb_timed){.first_s = NAN, .status = NB_OK};
        NB_NEED(timed[i].s, nb_alloc_reals(ctx, (size_t)r.most, 1));
    }
    for (int i = 0; i < count; i++) NB_TRY(ctx, warm_up(&r, i));
    start_s = nb_clock_s();
    for (int done = 0; goes_on(&r, done, nb_clock_s() - start_s, last_s); done++) {
        double round_s = nb_clock_s();
        gsl_ran_shuffle(rng, order, (size_t)count, sizeof *order);
        NB_TRY(ctx, run_round(&r, order));
        last_s = nb_clock_s() - round_s;
    }
    return NB_OK;
}

nb_status nb_timing_of(const nb_timed *timed, nb_timing *out, nb_ctx *ctx)
{
    double *sorted;
    size_t count = (size_t)timed->count;
    *out = (nb_timing){NAN, NAN, NAN, NAN, NAN, NAN, -1};
    if (count == 0) return NB_OK;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(sorted, nb_alloc_reals(ctx, count, 1));
    memcpy(sorted, timed->s, count * sizeof *sorted);
    gsl_sort(sorted, 1, count);
    out->median = nb_median_sorted(timed->count, sorted);
    nb_median_interval(timed->count, sorted, 0.95, &out->low, &out->high);
    out->least = sorted[0];
    out->p10 = gsl_stats_quantile_from_sorted_data(sorted, 1, count, 0.1);
    out->p90 = gsl_stats_quantile_from_sorted_data(sorted, 1, count, 0.9);
    for (int i = 0; i < timed->count; i++)
        if (timed->s[i] == sorted[(count - 1) / 2]) out->middle = i;
    nb_ctx_release(ctx, mark);
    return NB_OK;
}
