/* SPDX-License-Identifier: GPL-3.0-or-later */
/* methods.c - see methods.h */
#include "studies/forward/methods.h"

#include "base/clock.h"
#include "base/machine.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define CHANGE 1e-4 /* of outputs: above their rounding in single precision, some 1e-6 */

nb_status nb_forward_method_make(nb_forward_method *m, nb_forward_bench *bench, int row, const nb_choice *attention,
                                 int threads, nb_ctx *ctx)
{
    const nb_layer_shape *s = &bench->layer->shape;
    nb_attention_cost cost = nb_attention_cost_of(attention, s, threads);
    *m = (nb_forward_method){.row = row,
                             .attention = attention,
                             .threads = threads,
                             .keeps = nb_attention_passes_per_choice(attention),
                             .bench = bench};
    m->elsewhere = nb_attention_traits(attention) & NB_ATTENTION_ELSEWHERE;
    m->clock = NB_CLOCK_NONE;
    double *measures = (double *)&m->measures;
    for (size_t i = 0; i < sizeof m->measures / sizeof *measures; i++) measures[i] = NAN;
    m->measures.landmarks = nb_attention_size(attention, s);
    m->measures.dv = s->dv;
    m->measures.key_heads = s->key_heads;
    m->measures.causal = s->causal;
    m->measures.keeps = m->keeps;
    m->measures.flops_formula = 2 * cost.multiplications;
    m->measures.workspace_formula_bytes = cost.bytes;
    NB_NEED(m->own, nb_ctx_child(ctx));
    NB_NEED(m->parts, nb_alloc(ctx, NB_MOST_ROUNDS, sizeof *m->parts));
    NB_NEED(m->multiplications, nb_alloc_reals(ctx, NB_MOST_ROUNDS, 1));
    return NB_OK;
}

static nb_status one_pass(void *self, nb_ctx *ctx)
{
    nb_forward_method *m = self;
    nb_forward_bench *b = m->bench;
    const nb_layer_shape *s = &b->layer->shape;
    nb_team *team;
    nb_scalar *out;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_team_new(m->threads, &team, ctx));
    NB_NEED(out, nb_alloc_scalars(ctx, (size_t)nb_layer_heads(s) * (size_t)s->n * (size_t)s->dv));
    NB_TRY(ctx, nb_attention_open(m->attention, s, team, b->stream, &m->attending, ctx));
    NB_TRY(ctx, nb_attention_forward(&m->attending, b->layer, out, &m->passed, ctx));
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_status nb_forward_find_peak(nb_forward_method *m, nb_ctx *ctx)
{
    return m->elsewhere ? NB_OK : nb_peak_of(one_pass, m, &m->measures.peak_bytes, ctx);
}

/* The same layer with values of 1, dv for each key. */
static nb_status make_ones(const nb_layer *layer, int dv, nb_layer *ones, nb_ctx *ctx)
{
    const nb_layer_shape *s = &layer->shape;
    size_t count = (size_t)s->batch * (size_t)s->key_heads * (size_t)s->n * (size_t)dv;
    nb_scalar *v;
    *ones = *layer;
    ones->shape.dv = dv;
    NB_NEED(v, nb_alloc_scalars(ctx, count));
    for (size_t i = 0; i < count; i++) v[i] = 1;
    ones->v = v;
    return NB_OK;
}

/* The first pass of a state of its own: the attention's draws are those of its index 0. */
static nb_status first_pass(nb_forward_method *m, const nb_layer *layer, nb_scalar *out, nb_ctx *ctx)
{
    nb_attending attending;
    NB_TRY(ctx, nb_attention_open(m->attention, &layer->shape, m->team, m->bench->stream, &attending, ctx));
    return nb_attention_forward(&attending, layer, out, &m->passed, ctx);
}

static nb_status leave(nb_forward_method *m, const char *status, const char *reason, nb_ctx *ctx)
{
    m->status = status;
    NB_NEED(m->reason, nb_strdup(ctx, reason));
    return NB_OK;
}

/* Says where an output is not finite. */
static nb_status leave_diverged(nb_forward_method *m, nb_ctx *ctx)
{
    const char *where, *reason;
    NB_TRY(ctx, nb_layer_find_odd(&m->bench->layer->shape, m->bench->out, &where, ctx));
    NB_NEED(reason, nb_format(ctx, "%s: outputs are not finite%s%s", m->attention->label, where ? ": " : "",
                              where ? where : ""));
    return leave(m, "diverged", reason, ctx);
}

static nb_status compare(nb_forward_method *m, const nb_exact *exact, nb_ctx *ctx)
{
    nb_likeness like = nb_exact_compare(&m->bench->layer->shape, exact, m->bench->out);
    m->measures.output_error = like.error;
    m->measures.cosine = like.cosine;
    m->measures.mse = like.mse;
    m->measures.max_error = like.max_error;
    m->measures.error_p99 = like.error_p99;
    m->measures.baseline_mean = exact->mean_error;
    return like.finite ? NB_OK : leave_diverged(m, ctx);
}

static nb_status find_row_sums(nb_forward_method *m, nb_ctx *own)
{
    nb_layer ones;
    nb_scalar *out = m->bench->out;
    double most = 0;
    /* One column is enough, but what others have written may have been made for V's dimension alone. */
    NB_TRY(own, make_ones(m->bench->layer, m->elsewhere ? m->bench->layer->shape.dv : 1, &ones, own));
    NB_TRY(own, first_pass(m, &ones, out, own));
    size_t entries = (size_t)nb_layer_heads(&ones.shape) * (size_t)ones.shape.n * (size_t)ones.shape.dv;
    for (size_t i = 0; i < entries && most < INFINITY; i++) {
        double away = fabs((double)out[i] - 1);
        most = away <= most ? most : isfinite(away) ? away : INFINITY;
    }
    if (!m->passed.refusal && isfinite(most)) m->measures.rowsum_deviation = most;
    return NB_OK;
}

/* The same layer with columns first ... first + count - 1 of the identity behind the coordinates of V, which alone
 * guide the attention. */
static nb_status put_columns(const nb_layer *layer, int first, int count, nb_layer *wide, nb_ctx *ctx)
{
    const nb_layer_shape *s = &layer->shape;
    size_t tokens = (size_t)s->batch * (size_t)s->key_heads * (size_t)s->n, dv = (size_t)s->dv;
    size_t rows = dv + (size_t)count;
    nb_scalar *v;
    *wide = *layer;
    wide->shape.dv = (int)rows;
    wide->shape.guide = s->dv;
    NB_NEED(v, nb_alloc_scalars(ctx, tokens * rows));
    for (size_t i = 0; i < tokens; i++) {
        int column = (int)(i % (size_t)s->n) - first;
        memcpy(v + i * rows, layer->v + i * dv, dv * sizeof *v);
        for (int j = 0; j < count; j++) v[i * rows + dv + (size_t)j] = j == column ? 1 : 0;
    }
    wide->v = v;
    return NB_OK;
}

/* |O - O'|_F / |O|_F of the outputs O without other columns beside V, and those with them, rows x n. */
static double find_change(const nb_forward_bench *b, size_t rows, const nb_scalar *out)
{
    const nb_layer_shape *s = &b->layer->shape;
    size_t dv = (size_t)s->dv;
    double difference2 = 0, all2 = 0;
    for (size_t i = 0; i < (size_t)nb_layer_heads(s) * (size_t)s->n; i++)
        for (size_t l = 0; l < dv; l++) {
            double own = (double)b->out[i * dv + l], difference = own - (double)out[i * rows + l];
            difference2 += difference * difference;
            all2 += own * own;
        }
    return difference2 > 0 ? sqrt(difference2 / all2) : 0;
}

/* Adds so many columns of S~; *same: V's outputs are as they are without them. */
static nb_status add_columns(nb_forward_method *m, const nb_exact *exact, int first, int count, nb_matrix_sums *sums,
                             bool *same, nb_ctx *own)
{
    const nb_forward_bench *b = m->bench;
    const nb_layer_shape *s = &b->layer->shape;
    int rows = s->dv + count;
    nb_layer wide;
    nb_scalar *out;
    NB_TRY(own, put_columns(b->layer, first, count, &wide, own));
    NB_NEED(out, nb_alloc_scalars(own, (size_t)nb_layer_heads(s) * (size_t)s->n * (size_t)rows));
    NB_TRY(own, first_pass(m, &wide, out, own));
    *same = !m->passed.refusal && find_change(b, (size_t)rows, out) <= CHANGE;
    return *same ? nb_exact_add_columns(b->layer, exact, m->team, first, count, rows, out, sums, own) : NB_OK;
}

static nb_status find_matrix_error(nb_forward_method *m, const nb_exact *exact, nb_ctx *ctx)
{
    int n = m->bench->layer->shape.n;
    nb_matrix_sums sums = {.exact2 = 0};
    bool same = true;
    for (int first = 0; first < n && same; first += NB_EXACT_COLUMNS) {
        NB_TRY(ctx, add_columns(m, exact, first, nb_lesser(NB_EXACT_COLUMNS, n - first), &sums, &same, m->own));
        nb_ctx_release(m->own, 0);
    }
    if (same)
        m->measures.error = sqrt(sums.difference2 / sums.exact2);
    else
        NB_NEED(m->reason,
                nb_strdup(ctx, "error is empty: with columns of the identity beside V it chooses otherwise"));
    return NB_OK;
}

nb_status nb_forward_find_errors(nb_forward_method *m, const nb_exact *exact, unsigned wanted, nb_ctx *ctx)
{
    NB_TRY(ctx, first_pass(m, m->bench->layer, m->bench->out, m->own));
    m->clock = m->passed.clock;
    if (m->passed.device) NB_NEED(m->device, nb_strdup(ctx, m->passed.device));
    if (!m->elsewhere) m->bytes = m->passed.bytes, m->measures.flops = 2 * m->passed.multiplications;
    if (m->passed.refusal) return leave(m, "skipped", m->passed.refusal, ctx);
    if (m->passed.diverged) return leave(m, "diverged", m->passed.diverged, ctx);
    nb_ctx_release(m->own, 0);
    if (!exact) return NB_OK;
    NB_TRY(ctx, compare(m, exact, ctx));
    if (m->status) return NB_OK;
    if (wanted & NB_FORWARD_WANT_ERROR) NB_TRY(ctx, find_matrix_error(m, exact, ctx));
    bool oracle = nb_attention_traits(m->attention) & NB_ATTENTION_ORACLE; /* it would be another one for V = 1 */
    bool summed = !oracle && (!m->elsewhere || wanted & NB_FORWARD_WANT_ROW_SUMS);
    return summed ? find_row_sums(m, m->own) : NB_OK;
}

static nb_status pass(nb_forward_method *m, int index)
{
    nb_forward_bench *b = m->bench;
    m->attending.passes = index;
    NB_TRY(m->own, nb_attention_forward(&m->attending, b->layer, b->out, &m->passed, m->own));
    NB_REQUIRE(m->own, m->passed.clock == m->clock, NB_EIO,
               "%s: answered with seconds in some passes, and not in others", m->attention->label);
    if (!m->elsewhere) m->bytes = fmax(m->bytes, m->passed.bytes);
    for (int part = 0; part < NB_PART_COUNT; part++) m->span_parts[part] += m->passed.part_s[part];
    m->span_multiplications += m->passed.multiplications;
    m->span_passes++;
    return NB_OK;
}

/* Each one chooses anew, and not what an earlier one chose. */
static nb_status fresh_pass(void *self, nb_ctx *ctx)
{
    nb_forward_method *m = self;
    (void)ctx;
    int64_t index = (int64_t)m->fresh_passes++ * m->keeps;
    return pass(m, index < INT_MAX ? (int)index : 0); /* what is kept for ever is chosen at 0 alone */
}

/* Runs a pass with what an earlier pass chose, if the attention keeps that. */
static nb_status kept_pass(void *self, nb_ctx *ctx)
{
    nb_forward_method *m = self;
    return m->keeps == 1 || m->attending.passes == 0 ? fresh_pass(self, ctx) : pass(m, 1);
}

/* Opened within the span's turn, it would have the cost of a first pass in its time: that is made before. */
static nb_status begin_span(void *self, nb_ctx *ctx)
{
    nb_forward_method *m = self;
    nb_forward_bench *b = m->bench;
    if (!m->open) {
        NB_TRY(ctx, nb_attention_open(m->attention, &b->layer->shape, m->team, b->stream, &m->attending, m->own));
        m->open = true;
        if (b->closing && m->fresh_passes > 0) NB_TRY(ctx, pass(m, 0));
    }
    if (b->cold || m->fresh_passes == 0)
        for (int i = 0; i < NB_ERASER; i++) b->eraser[i] += 1;
    memset(m->span_parts, 0, sizeof m->span_parts);
    m->span_multiplications = m->span_passes = 0;
    if (m->elsewhere) b->begun_s = nb_clock_s(), b->begun_busy_s = nb_busy_s();
    return NB_OK;
}

static nb_status end_fresh(void *self, nb_ctx *ctx)
{
    nb_forward_method *m = self;
    nb_forward_bench *b = m->bench;
    (void)ctx;
    if (m->elsewhere) {
        b->elsewhere_s += nb_clock_s() - b->begun_s;
        b->elsewhere_busy_s += nb_busy_s() - b->begun_busy_s;
    }
    const nb_layer_shape *s = &m->bench->layer->shape;
    size_t count = (size_t)nb_layer_heads(s) * (size_t)s->n * (size_t)s->dv;
    m->bench->checksum += (double)nb_scalar_sum(count, m->bench->out);
    if (m->bench->closing) {
        m->open = false;
        nb_ctx_release(m->own, 0);
    }
    return NB_OK;
}

/* Keeps the parts of the span, whose place among the timed ones is the same from the end. */
static nb_status end_kept(void *self, nb_ctx *ctx)
{
    nb_forward_method *m = self;
    int at = m->spans % NB_MOST_ROUNDS;
    for (int part = 0; part < NB_PART_COUNT; part++) m->parts[at][part] = m->span_parts[part] / m->span_passes;
    m->multiplications[at] = m->span_multiplications / m->span_passes;
    m->spans++;
    return end_fresh(self, ctx);
}

bool nb_forward_is_timed(const nb_forward_method *m)
{
    return m->clock != NB_CLOCK_NONE;
}

static double seconds_of_pass(const void *self)
{
    return ((const nb_forward_method *)self)->passed.seconds;
}

nb_contestant nb_forward_contestant(nb_forward_method *m, bool fresh)
{
    return (nb_contestant){.self = m,
                           .begin = begin_span,
                           .pass = fresh ? fresh_pass : kept_pass,
                           .end = fresh ? end_fresh : end_kept,
                           .seconds = m->elsewhere ? seconds_of_pass : NULL};
}

nb_status nb_forward_take_times(nb_forward_method *m, const nb_timed *kept, const nb_timed *fresh, nb_ctx *ctx)
{
    nb_forward *r = &m->measures;
    nb_timing t, anew;
    NB_TRY(ctx, nb_timing_of(kept, &t, ctx));
    r->latency_s = t.median;
    r->latency_low_s = t.low;
    r->latency_high_s = t.high;
    r->latency_min_s = t.least;
    r->latency_p10_s = t.p10;
    r->latency_p90_s = t.p90;
    r->repeats = kept->count;
    r->batch = kept->batch;
    r->first_s = kept->first_s;
    r->fresh_s = t.median;
    if (fresh) {
        NB_TRY(ctx, nb_timing_of(fresh, &anew, ctx));
        r->fresh_s = anew.median;
    }
    r->amortized_s = (r->fresh_s + (m->keeps - 1) * r->latency_s) / m->keeps;
    r->tokens_per_s = m->bench->layer->shape.n / r->latency_s;
    if (t.middle < 0 || m->elsewhere) return NB_OK;
    int at = (m->spans - kept->count + t.middle) % NB_MOST_ROUNDS; /* the warm-up's spans came before */
    r->select_s = m->parts[at][NB_PART_LANDMARKS];
    r->core_s = m->parts[at][NB_PART_CORE];
    r->b_s = m->parts[at][NB_PART_B];
    r->f_s = m->parts[at][NB_PART_F];
    r->output_s = m->parts[at][NB_PART_OUTPUT];
    r->flops = 2 * m->multiplications[at];
    r->gflops_per_s = 1e-9 * r->flops / r->latency_s;
    return NB_OK;
}
