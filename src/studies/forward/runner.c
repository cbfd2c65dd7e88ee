/* SPDX-License-Identifier: GPL-3.0-or-later */
/* runner.c - a layer in one trial at a time. First each method alone in a process of its own, for its memory, while
 * this process still has one thread; then its outputs against the exact ones; then all methods in turns, timed. A
 * method that fails is left out of what follows; one that takes the process down is found by the row that the worker
 * was at, is run again alone, and the others begin anew without it. */
#include "base/clock.h"
#include "base/machine.h"
#include "linalg/blas.h"
#include "run/pending.h"
#include "studies/forward/study.h"
#include "studies/forward/methods.h"

#include <math.h>

typedef struct {
    const nb_pending *pending;
    const nb_plan *plan;
    gsl_rng *rng;
    nb_ctx *ctx;
    nb_layer layer;
    bool fresh;     /* the layer is not at hand; if it is, it is behind */
    nb_mark points; /* this mark */
} instance;

typedef struct { /* of one trial */
    const instance *in;
    int first, end, trial;
    bool timed; /* the experiment measures times */
    nb_forward_bench bench;
    int count;
    nb_forward_method *methods; /* of the pending rows */
} trial;

static nb_status put_row(const instance *in, const nb_forward_method *m)
{
    nb_forward_row out;
    nb_plan_row(in->plan, m->row, &out);
    out.status = m->status ? m->status : "ok";
    out.reason = m->reason;
    out.measures = m->measures;
    out.clock = nb_pass_clock_names[m->clock];
    out.device = m->device;
    return nb_pending_put(in->pending, m->row, &out.row);
}

/* A failure of the machine ends the run; any other is the method's outcome. */
static nb_status take_failure(const instance *in, nb_forward_method *m, nb_status status, const char *outcome)
{
    if (status == NB_OK || status == NB_EHOST) return status;
    m->status = outcome;
    NB_NEED(m->reason, nb_strdup(in->ctx, nb_error_message(in->ctx)));
    nb_error_clear(in->ctx);
    return NB_OK;
}

/* The pending rows as methods; those that cannot be are skipped. */
static nb_status find_methods(trial *t)
{
    const instance *in = t->in;
    NB_NEED(t->methods, nb_alloc(in->ctx, (size_t)(t->end - t->first), sizeof *t->methods));
    for (int i = t->first; i < t->end; i++) {
        if (!in->pending->rows[i]) continue;
        nb_forward_method *m = &t->methods[t->count++];
        const char *why;
        NB_TRY(in->ctx, nb_forward_method_make(m, &t->bench, i, nb_plan_choice(in->plan, i, NB_FORWARD_ATTENTION),
                                               nb_plan_value(in->plan, i, NB_FORWARD_THREADS), in->ctx));
        NB_TRY(in->ctx, nb_attention_refusal(m->attention, &in->layer.shape, &why, in->ctx));
        if (why) m->status = "skipped", m->reason = why;
    }
    return NB_OK;
}

static nb_status find_peaks(trial *t)
{
    if (!t->timed) return NB_OK;
    for (nb_forward_method *m = t->methods; m < t->methods + t->count; m++) {
        if (m->status) continue;
        nb_pending_at(t->in->pending, NB_FORWARD_AT_MEMORY, m->row, m->row + 1);
        nb_status status = nb_forward_find_peak(m, t->in->ctx);
        NB_TRY(t->in->ctx, take_failure(t->in, m, status, status == NB_EBUG ? "crashed" : "failed"));
        if (m->status) NB_NEED(m->reason, nb_format(t->in->ctx, "in a process of its own: %s", m->reason));
    }
    return NB_OK;
}

/* A team for each number of threads; from here on this process has several. */
static nb_status make_teams(trial *t)
{
    for (int i = 0; i < t->count; i++) {
        nb_forward_method *m = &t->methods[i];
        for (int j = 0; j < i && !m->team; j++)
            if (t->methods[j].threads == m->threads) m->team = t->methods[j].team;
        if (!m->team && !m->status) NB_TRY(t->in->ctx, nb_team_new(m->threads, &m->team, t->in->ctx));
    }
    return NB_OK;
}

static nb_team *largest_team(const trial *t)
{
    nb_team *largest = NULL;
    for (int i = 0; i < t->count; i++)
        if (t->methods[i].team && (!largest || nb_team_threads(t->methods[i].team) > nb_team_threads(largest)))
            largest = t->methods[i].team;
    return largest;
}

/* The sample of tokens is the same for all methods of the layer, whatever they are. */
static nb_status find_exact(const trial *t, nb_team *team, nb_exact *exact)
{
    const instance *in = t->in;
    int most = nb_forward_settings_of(in->plan->config)->quality_rows;
    nb_stream stream = nb_plan_stream(in->plan, in->pending->scene, t->trial, nb_pending_scene(in->pending)->problem);
    stream.role = "tokens that are compared";
    nb_random_seed(in->rng, &stream);
    nb_pending_at(in->pending, NB_FORWARD_AT_EXACT, t->first, t->end);
    return nb_exact_make(&in->layer, most == NB_AUTO ? in->layer.shape.n : most, in->rng, team, exact, in->ctx);
}

static nb_status find_errors_of(const trial *t, nb_forward_method *m, const nb_exact *exact)
{
    const instance *in = t->in;
    nb_pending_at(in->pending, NB_FORWARD_AT_OUTPUT, m->row, m->row + 1);
    nb_status status = nb_forward_find_errors(m, exact, in->plan->config->wanted, in->ctx);
    nb_ctx_release(m->own, 0);
    if (!m->elsewhere) m->measures.workspace_bytes = m->bytes;
    if (!t->timed) m->clock = NB_CLOCK_NONE;
    return take_failure(in, m, status, "failed");
}

/* Rows of which nothing is left to measure are put at once: the next method may be a function that somebody
 * interrupts. */
static nb_status find_errors(trial *t)
{
    const instance *in = t->in;
    bool compared = nb_forward_settings_of(in->plan->config)->quality;
    nb_team *team = largest_team(t); /* NULL: all have a status */
    nb_exact exact;
    if (compared && team) NB_TRY(in->ctx, find_exact(t, team, &exact));
    for (nb_forward_method *m = t->methods; m < t->methods + t->count; m++) {
        if (!m->status) NB_TRY(in->ctx, find_errors_of(t, m, compared ? &exact : NULL));
        if (m->status || !nb_forward_is_timed(m)) NB_TRY(in->ctx, put_row(in, m));
    }
    return NB_OK;
}

typedef struct { /* all that is timed in turns */
    int count;
    nb_contestant *contestants;
    nb_timed *timed;
} field;

static int enter(field *f, const trial *t, nb_contestant c, nb_forward_phase phase, int first, int last)
{
    c.pending = t->in->pending;
    c.phase = phase;
    c.first = first;
    c.last = last;
    f->contestants[f->count] = c;
    return f->count++;
}

/* The product of matrices with as many threads, entered once for each number of them. */
static nb_status enter_gemm(field *f, const trial *t, nb_forward_method *m)
{
    nb_contestant gemm;
    for (const nb_forward_method *other = t->methods; other < m && m->gemm < 0; other++)
        if (other->kept >= 0 && other->threads == m->threads) m->gemm = other->gemm;
    if (m->gemm >= 0) return NB_OK;
    NB_TRY(t->in->ctx, nb_forward_gemm(m->team, t->in->rng, &gemm, t->in->ctx));
    m->gemm = enter(f, t, gemm, NB_FORWARD_AT_GEMM, t->first, t->end);
    return NB_OK;
}

static nb_status make_field(const trial *t, field *f)
{
    nb_ctx *ctx = t->in->ctx;
    size_t most = 3 * (size_t)t->count + 1;
    *f = (field){.count = 0};
    NB_NEED(f->contestants, nb_alloc(ctx, most, sizeof *f->contestants));
    NB_NEED(f->timed, nb_alloc(ctx, most, sizeof *f->timed));
    for (nb_forward_method *m = t->methods; m < t->methods + t->count; m++) {
        m->kept = m->fresh = m->gemm = -1;
        if (m->status || !nb_forward_is_timed(m)) continue;
        if (!m->elsewhere) NB_TRY(ctx, enter_gemm(f, t, m));
        if (m->keeps != 1)
            m->fresh = enter(f, t, nb_forward_contestant(m, true), NB_FORWARD_AT_PASS, m->row, m->row + 1);
        m->kept = enter(f, t, nb_forward_contestant(m, false), NB_FORWARD_AT_PASS, m->row, m->row + 1);
    }
    return NB_OK;
}

/* True if all workspaces fit into half of the memory that is to be had. */
static bool fit(const trial *t)
{
    double bytes = 0;
    for (int i = 0; i < t->count; i++)
        if (!t->methods[i].status) bytes += fmax(t->methods[i].measures.workspace_formula_bytes, 0);
    return bytes <= 0.5 * nb_available_memory();
}

static nb_status take_method(const trial *t, const field *f, nb_forward_method *m, double load)
{
    const nb_timed *kept = &f->timed[m->kept], *fresh = m->fresh < 0 ? NULL : &f->timed[m->fresh];
    const nb_timed *failed = kept->status != NB_OK ? kept : fresh && fresh->status != NB_OK ? fresh : NULL;
    nb_timing gemm;
    if (failed) {
        m->status = "failed";
        m->reason = failed->why;
        return NB_OK;
    }
    NB_TRY(t->in->ctx, nb_forward_take_times(m, kept, fresh, t->in->ctx));
    if (!m->elsewhere) m->measures.workspace_bytes = m->bytes;
    if (fresh) m->measures.first_s = fresh->first_s;
    if (m->gemm >= 0) {
        NB_TRY(t->in->ctx, nb_timing_of(&f->timed[m->gemm], &gemm, t->in->ctx));
        m->measures.gemm_gflops_per_s = 1e-9 * NB_GEMM_FLOPS / gemm.median;
        m->measures.gemm_share = m->measures.gflops_per_s / m->measures.gemm_gflops_per_s;
    }
    m->measures.load = load;
    if (load > nb_forward_much_load)
        NB_NEED(m->reason, nb_format(t->in->ctx, "%s%sother programs used %.2f CPUs while it was timed",
                                     m->reason ? m->reason : "", m->reason ? "; " : "", load));
    return NB_OK;
}

/* CPUs that others used since both clocks were read, apart from what passes elsewhere took. */
static double load_since(double busy_s, double work_s, double wall_s, const nb_forward_bench *b)
{
    double passed_s = nb_clock_s() - wall_s - b->elsewhere_s;
    double load = (nb_busy_s() - busy_s - b->elsewhere_busy_s - (nb_work_s() - work_s)) / passed_s;
    return isnan(load) ? NAN : fmax(0, load);
}

static nb_status time_all(trial *t)
{
    const instance *in = t->in;
    const nb_forward_settings *s = nb_forward_settings_of(in->plan->config);
    nb_round_terms terms = nb_round_usual;
    nb_stream stream = nb_plan_stream(in->plan, in->pending->scene, t->trial, nb_pending_scene(in->pending)->problem);
    field f;
    stream.role = "order of the rounds";
    nb_random_seed(in->rng, &stream);
    NB_TRY(in->ctx, make_field(t, &f));
    if (f.count == 0) return NB_OK;
    t->bench.closing = !fit(t);
    t->bench.cold = s->cold;
    if (s->cold) terms.batch_s = 0;
    terms.rounds = s->rounds == NB_AUTO ? 0 : s->rounds;
    terms.budget_s = s->seconds * t->count;
    double busy_s = nb_busy_s(), work_s = nb_work_s(), wall_s = nb_clock_s();
    NB_TRY(in->ctx, nb_rounds_run(f.count, f.contestants, &terms, in->rng, f.timed, in->ctx));
    double load = load_since(busy_s, work_s, wall_s, &t->bench);
    for (nb_forward_method *m = t->methods; m < t->methods + t->count; m++) {
        if (m->kept < 0) continue;
        NB_TRY(in->ctx, take_method(t, &f, m, load));
        NB_TRY(in->ctx, put_row(in, m));
    }
    return NB_OK;
}

static nb_status measure(trial *t)
{
    const instance *in = t->in;
    const nb_layer_shape *s = &in->layer.shape;
    NB_TRY(in->ctx, find_methods(t));
    NB_TRY(in->ctx, find_peaks(t));
    NB_TRY(in->ctx, make_teams(t));
    NB_NEED(t->bench.out, nb_alloc_scalars(in->ctx, (size_t)nb_layer_heads(s) * (size_t)s->n * (size_t)s->dv));
    if (t->timed) NB_NEED(t->bench.eraser, nb_alloc(in->ctx, NB_ERASER, sizeof *t->bench.eraser));
    NB_TRY(in->ctx, find_errors(t));
    return t->timed ? time_all(t) : NB_OK;
}

static nb_status run_trial(void *self, int first, int end)
{
    instance *in = self;
    trial t = {.in = in, .first = first, .end = end, .trial = in->plan->rows[first].trial};
    t.timed = nb_forward_settings_of(in->plan->config)->timed;
    nb_status status = NB_OK;
    if (in->fresh) nb_ctx_release(in->ctx, in->points);
    nb_pending_at(in->pending, NB_FORWARD_AT_DATA, first, end);
    if (in->fresh) status = nb_forward_layer(in->plan, in->pending->scene, t.trial, in->rng, &in->layer, in->ctx);
    in->fresh = nb_pending_scene(in->pending)->random;
    nb_mark mark = nb_ctx_mark(in->ctx);
    t.bench = (nb_forward_bench){.layer = &in->layer,
                                 .stream = {.seed = nb_plan_seed(in->plan, in->pending->scene), .trial = t.trial}};
    NB_TRY(in->ctx, status == NB_OK ? measure(&t) : nb_pending_fail(in->pending, status, first, end));
    nb_ctx_release(in->ctx, mark);
    return NB_OK;
}

nb_status nb_forward_run(const nb_plan *plan, int scene, const bool *pending, const nb_sink *sink, nb_ctx *ctx)
{
    nb_pending p = {plan, scene, pending, sink, ctx};
    instance in = {.pending = &p, .plan = plan, .ctx = ctx, .fresh = true};
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_blas_set_threads(1, ctx)); /* threads are the teams' */
    NB_TRY(ctx, nb_random_new(&in.rng, ctx));
    in.points = nb_ctx_mark(ctx);
    nb_status status = nb_pending_run(&p, run_trial, &in);
    nb_ctx_release(ctx, mark);
    return status;
}
