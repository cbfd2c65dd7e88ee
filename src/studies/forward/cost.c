/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.c - work and bytes of a unit: passes by the attentions' formulas, the exact outputs, and the rounds, which take
 * the time that they are given. */
#include "run/prediction.h"
#include "studies/forward/study.h"
#include "studies/forward/methods.h"

#include <math.h>

/* How many of a large product a multiplication counts: in a pass, of single precision, and in the exact outputs; and
 * what it takes to start a process, and to empty the caches. */
static const double SINGLE = 0.6, EXACT = 2.5, PROCESS = 2.5e8, ERASURE = 4e8;
static const double LEAST_SPAN = 1e-3 * NB_USUAL_RATE, LONG = NB_LONG_S * NB_USUAL_RATE; /* of a pass in the rounds */
/* Passes that are not of the rounds, and of experiments without rounds, the last of them for the sums of rows; and
 * rounds. */
enum { PASSES = 6, UNTIMED_PASSES = 2, LEAST = 6, LEAST_LONG = 3 };

typedef struct {           /* one trial's */
    double passes, rounds; /* work */
    double held, most;
    double alone; /* most bytes of a pass beside which no workspace is open */
    int count;
} sums;

static double values_bytes(const nb_layer_shape *shape)
{
    return sizeof(nb_scalar) * (double)(shape->heads + shape->key_heads) * shape->n * shape->dv;
}

/* A pass with columns of the identity beside V. */
static nb_layer_shape wide_shape(const nb_layer_shape *shape)
{
    nb_layer_shape wide = *shape;
    wide.dv += nb_lesser(NB_EXACT_COLUMNS, shape->n);
    return wide;
}

static double exact_work(const nb_layer_shape *shape, const nb_forward_settings *settings)
{
    double rows = settings->quality_rows == NB_AUTO ? shape->n : fmin(settings->quality_rows, shape->n);
    return settings->quality ? 2.0 * shape->heads * shape->n * rows * shape->d * EXACT : 0;
}

/* The error of S~: passes, whose workspace is held while nothing else is, and S's columns. */
static void add_matrix(const nb_config *config, const nb_choice *attention, const nb_layer_shape *shape, int threads,
                       sums *s)
{
    nb_layer_shape wide = wide_shape(shape);
    nb_attention_cost cost = nb_attention_cost_of(attention, &wide, threads);
    double passes = nb_blocks(shape->n, NB_EXACT_COLUMNS);
    if (!isnan(cost.multiplications)) s->passes += passes * cost.multiplications * SINGLE / threads;
    s->passes += exact_work(shape, nb_forward_settings_of(config)) / 2;
    s->alone = fmax(s->alone, fmax(cost.bytes, 0) + values_bytes(&wide));
}

/* Returns the multiplications of one pass. For an attention that reads rows of S, or fits to some, and does not tell,
 * they are guessed: as if m points of each head were moved for 4 m rows, by decompositions, slower than products. */
static double multiplications_of(const nb_attention_cost *cost, const nb_choice *attention, const nb_layer_shape *s)
{
    double m = nb_attention_size(attention, s), n = s->n;
    if (!isnan(cost->multiplications)) return cost->multiplications;
    if (nb_attention_traits(attention) & NB_ATTENTION_ELSEWHERE) /* as if it were exact */
        return nb_layer_heads(s) * n * n * (s->d + s->dv);
    return nb_layer_heads(s) * (4 * n * m * (s->d + s->dv) + 4000 * m * m * m);
}

static void add_row(const nb_plan *plan, int row, const nb_layer_shape *shape, sums *s)
{
    int rounds = nb_forward_settings_of(plan->config)->rounds;
    int threads = nb_plan_value(plan, row, NB_FORWARD_THREADS);
    const nb_choice *attention = nb_plan_choice(plan, row, NB_FORWARD_ATTENTION);
    nb_attention_cost cost = nb_attention_cost_of(attention, shape, threads);
    double pass = multiplications_of(&cost, attention, shape) * SINGLE / threads;
    bool timed = nb_forward_settings_of(plan->config)->timed;
    bool elsewhere = nb_attention_traits(attention) & NB_ATTENTION_ELSEWHERE;
    int unsummed = elsewhere && !(plan->config->wanted & NB_FORWARD_WANT_ROW_SUMS);
    s->passes += timed ? (PASSES - unsummed) * pass + PROCESS + ERASURE : (UNTIMED_PASSES - unsummed) * pass;
    if (timed) s->rounds += (rounds != NB_AUTO ? rounds : pass > LONG ? LEAST_LONG : LEAST) * fmax(pass, LEAST_SPAN);
    if (plan->config->wanted & NB_FORWARD_WANT_ERROR) add_matrix(plan->config, attention, shape, threads, s);
    s->held += fmax(cost.bytes, 0);
    s->most = fmax(s->most, fmax(cost.bytes, 0));
    s->count++;
}

/* The product of matrices, warm-up and rounds. */
static double gemm_work(const nb_forward_settings *settings)
{
    double passes = PASSES + (settings->rounds == NB_AUTO ? LEAST : settings->rounds);
    if (!settings->timed) return 0;
    return 0.5 * passes * NB_GEMM_FLOPS * SINGLE;
}

nb_cost nb_forward_cost(const nb_plan *plan, const nb_unit *unit, const bool *pending)
{
    const nb_planned_scene *scene = &plan->scenes[plan->rows[unit->first].scene];
    const nb_forward_settings *settings = nb_forward_settings_of(plan->config);
    nb_layer_shape shape = nb_forward_shape(scene);
    double points = (double)shape.heads * shape.n * shape.d;
    nb_cost cost = {.bytes = 0};
    for (int i = unit->first, next; i < unit->end; i = next) {
        sums s = {.count = 0};
        for (next = i; next < unit->end && plan->rows[next].trial == plan->rows[i].trial; next++)
            if (!scene->refusal && (!pending || pending[next])) add_row(plan, next, &shape, &s);
        if (s.count == 0) continue;
        double given_s = settings->timed && settings->rounds == NB_AUTO ? settings->seconds * s.count : 0;
        cost.given_s += fmax(given_s - s.rounds / NB_USUAL_RATE, 0);
        cost.multiplications += s.passes + gemm_work(settings) + exact_work(&shape, settings) + s.rounds;
        /* What does not fit together takes turns. */
        cost.bytes = fmax(cost.bytes, fmax(s.alone, fmin(s.held, 2 * s.most)));
    }
    cost.bytes += 64e6 + 4 * 5 * points + 8 * points;
    if (settings->timed) cost.bytes += 4.0 * NB_ERASER + 16.0 * NB_GEMM_SIZE * NB_GEMM_SIZE;
    return cost;
}
