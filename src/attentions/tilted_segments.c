/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tilted_segments.c - causal softmax over the last tokens, the first ones, and one landmark for each segment of the
 * tokens between them. When `segment` tokens have left the window, with the mean q and the variances w of all queries
 * so far and s = 1/sqrt(d):
 * 1. p_j = exp(s q'k_j) / Z over the segment, Z the sum of exp(s q'k_j): what the mean query gives to each.
 * 2. K = sum_j p_j k_j, V = sum_j p_j v_j.
 * 3. The landmark's logit of a query x is s x'K + ln Z - s q'K + s^2/2 sum_l w_l (sum_j p_j k_jl^2 - K_l^2): ln of the
 *    segment's sum of exp(s x'k_j) has this tangent at x = q, and this curvature over the queries.
 * Nothing of the future is used, and there is no inverse.
 *
 * About n (window + segment / 2 + 32 + n / (2 segment)) (d + dv) + n (5 d + dv) multiplications a head; the state grows
 * with n / segment. */
#include "attentions/attention.h"

#include "layers/slots.h"

#include <math.h>
#include <string.h>

typedef struct {
    int window, segment, sinks;
    int tilted;
} tilted_segments_options;

static const nb_option options[] = {
    NB_INT(tilted_segments_options, window, "128", 0, 1 << 30, "tokens before a query that it sees, and up to 31 more"),
    NB_INT(tilted_segments_options, segment, "32", 1, 4096, "tokens of a segment"),
    NB_INT(tilted_segments_options, sinks, "4", 0, 1 << 30, "first tokens, which all later ones see"),
    NB_BOOL(tilted_segments_options, tilted, "true", "false: plain means, counted as often as they have tokens"),
    NB_OPTION_END};

typedef struct {
    int queries;
    double *sum, *square;    /* d: of all queries so far */
    double *mean, *variance; /* d */
    double *weight, *spread; /* segment; d */
} segments_state;

static void reset(const nb_slot_rule *rule, nb_slots *slots)
{
    segments_state *t = slots->own;
    size_t d = (size_t)rule->d;
    t->sum = (double *)(t + 1);
    t->square = t->sum + d;
    t->mean = t->square + d;
    t->variance = t->mean + d;
    t->spread = t->variance + d;
    t->weight = t->spread + d;
}

static void note_tokens(const nb_slot_rule *rule, nb_slots *slots, int count, const nb_scalar *q, const nb_scalar *k,
                        const nb_scalar *v)
{
    segments_state *t = slots->own;
    (void)k, (void)v;
    nb_slots_moments(rule->d, rule->d, count, q, t->sum, t->square);
    t->queries += count;
}

/* Weights of a segment's keys that sum to 1; returns ln of their sum before. */
static double weigh_keys(const nb_slot_rule *rule, const segments_state *t, bool tilted, const nb_scalar *k)
{
    double largest = -INFINITY, sum = 0;
    nb_count_multiplications((double)rule->group * (rule->d + 2));
    for (int j = 0; j < rule->group; j++) {
        double logit = 0;
        for (int l = 0; l < rule->d; l++) logit += t->mean[l] * (double)k[j * rule->d + l];
        t->weight[j] = tilted ? logit / sqrt(rule->d) : 0;
        largest = fmax(largest, t->weight[j]);
    }
    for (int j = 0; j < rule->group; j++) sum += t->weight[j] = exp(t->weight[j] - largest);
    for (int j = 0; j < rule->group; j++) t->weight[j] /= sum;
    return largest + log(sum);
}

/* out (d) <- the weighted mean of x (d x segment). */
static void average(const segments_state *t, int count, int d, const nb_scalar *x, nb_scalar *out)
{
    nb_count_multiplications((double)count * d);
    for (int l = 0; l < d; l++) {
        double sum = 0;
        for (int j = 0; j < count; j++) sum += t->weight[j] * (double)x[j * d + l];
        out[l] = (nb_scalar)sum;
    }
}

/* Finds ln Z less the mean query's logit, and half of the curvature. */
static double find_bias(const nb_slot_rule *rule, const segments_state *t, double log_sum, const nb_scalar *k,
                        const nb_scalar *mean_k)
{
    double tangent = 0, curvature = 0;
    nb_count_multiplications((double)rule->d * (2 * rule->group + 3));
    for (int l = 0; l < rule->d; l++) {
        double square = 0, own = (double)mean_k[l];
        for (int j = 0; j < rule->group; j++) {
            double x = (double)k[j * rule->d + l];
            square += t->weight[j] * x * x;
        }
        tangent += t->mean[l] * own;
        curvature += t->variance[l] * fmax(square - own * own, 0);
    }
    return log_sum - tangent / sqrt(rule->d) + curvature / (2 * rule->d);
}

static void admit(const nb_slot_rule *rule, nb_slots *slots, int count)
{
    const tilted_segments_options *o = rule->options;
    segments_state *t = slots->own;
    size_t d = (size_t)rule->d, dv = (size_t)rule->dv;
    /* The queries' profile, of which the keys' weights are made */
    nb_count_multiplications(3.0 * rule->d);
    for (int l = 0; l < rule->d; l++) {
        t->mean[l] = t->sum[l] / t->queries;
        t->variance[l] = fmax(t->square[l] / t->queries - t->mean[l] * t->mean[l], 0);
    }
    for (int at = 0; at < count; at += rule->group) {
        size_t from = (size_t)(slots->first + at), to = (size_t)slots->count++;
        const nb_scalar *k = slots->recent_k + from * d, *v = slots->recent_v + from * dv;
        double log_sum = weigh_keys(rule, t, o->tilted, k);
        average(t, rule->group, rule->d, k, slots->k + to * d);
        average(t, rule->group, rule->dv, v, slots->v + to * dv);
        slots->bias[to] = (nb_scalar)(o->tilted ? find_bias(rule, t, log_sum, k, slots->k + to * d) : log_sum);
    }
}

static void step(const nb_slot_rule *rule, nb_slots_step *s)
{
    const tilted_segments_options *o = rule->options;
    double d = rule->d, g = rule->group, each = g * (d + 2) + g * (d + rule->dv) + (o->tilted ? d * (2 * g + 3) : 0);
    int segments = s->leaving / rule->group;
    s->slots += segments;
    s->work += segments * each + (segments > 0 ? 3 * d : 0) + s->count * d;
}

static nb_slot_rule rule_of(const void *opts, const nb_layer_shape *s)
{
    const tilted_segments_options *o = opts;
    nb_slot_rule rule = {.d = s->d,
                         .dv = s->dv,
                         .sinks = nb_lesser(o->sinks, s->n),
                         .window = nb_lesser(o->window, s->n),
                         .group = o->segment,
                         .most = s->n / o->segment,
                         .options = o,
                         .reset = reset,
                         .admit = admit,
                         .step = step,
                         .note_tokens = note_tokens};
    rule.own_bytes = sizeof(segments_state) + sizeof(double) * (5 * (size_t)rule.d + (size_t)rule.group);
    return rule;
}

NB_SLOTS_FUNCTIONS(rule_of)

static const char *const references[] = {
    "This project: the tangent of ln(sum of exp) at the mean query",
    "Xiong et al., Nystromformer, AAAI 2021, arXiv:2102.03902 (segment means, without a mask)", NULL};

const nb_attention nb_attention_tilted_segments = {
    .component = {"tilted_segments", "causal softmax over a window and one landmark for each segment before it",
                  references, options, sizeof(tilted_segments_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_STEPS,
    .size = "window",
    .refusal = nb_causal_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "A segment's landmark is weighted by what the mean of all earlier queries gives to its tokens, and its logit\n"
        "is right for that query, whatever the segment holds. With tilted=false it is the plain mean with ln(segment)\n"
        "added to the logit. From window = n on it is exact.",
};
