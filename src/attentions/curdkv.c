/* SPDX-License-Identifier: GPL-3.0-or-later */
/* curdkv.c - CurDKV: exact causal attention within a prompt, of which the tokens behind it see only those with the
 * largest leverage, of their keys and values.
 *
 * The first `sinks` tokens stay. The others are chosen by the product, or the mean, of a score of the key and one of
 * the value, or by one of them (layers/prompt.h). With X the keys or the values, a token a row x:
 *
 *     norms       |x|^2, as a share of its sum over a stretch of `local` tokens
 *     leverage    x' (X'X + lambda I)^-1 x, lambda = ridge trace(X'X) / d; directions in which X is 0 to rounding do
 *                 not count */
#include "attentions/attention.h"

#include "layers/prompt.h"

#include <float.h>
#include <math.h>

typedef struct {
    int prompt, tokens, sinks, scores, of, local;
    double ridge;
} curdkv_options;

enum { NORMS, LEVERAGE };
static const char *const kinds[] = {"norms", "leverage", NULL};
enum { PRODUCT, MEAN, KEYS, VALUES };
static const char *const sides[] = {"product", "mean", "keys", "values", NULL};

static const nb_option options[] = {
    NB_PROMPT_OPTION(curdkv_options),
    NB_INT(curdkv_options, tokens, "128", 0, 1 << 30, "tokens of the prompt that stay, with the sinks"),
    NB_INT(curdkv_options, sinks, "4", 0, 1 << 30, "first tokens, which stay"),
    NB_ENUM(curdkv_options, scores, "norms", kinds,
            "norms: squared norms; leverage: statistical leverage, in the span of all of the prompt"),
    NB_ENUM(curdkv_options, of, "product", sides, "whose scores: of keys times of values, the mean of both, or of one"),
    NB_INT_FOR(curdkv_options, local, "scores", "norms", "16", 0, 1 << 30,
               "tokens of a stretch, within which norms are shares; 0: the whole prompt"),
    NB_REAL_FOR(curdkv_options, ridge, "scores", "leverage", "0", 0, 1e6, "lambda, in units of trace(X'X) / d"),
    NB_OPTION_END};

static double norms_work(double d, double count)
{
    return count * (d + 1);
}

/* scores (count) <- the leverage of the columns, from the eigenvectors of X'X. */
static nb_status find_leverage(int d, int stride, int count, const nb_scalar *x, double ridge, nb_scalar *scores,
                               nb_ctx *ctx)
{
    double *points, *gram, *values, *p, trace = 0;
    NB_NEED(points, nb_alloc_raw(ctx, (size_t)d * (size_t)count));
    NB_NEED(p, nb_alloc_raw(ctx, (size_t)d * (size_t)count));
    NB_NEED(gram, nb_alloc_reals(ctx, (size_t)d, (size_t)d));
    NB_NEED(values, nb_alloc_reals(ctx, (size_t)d, 1));
    for (size_t j = 0; j < (size_t)count; j++)
        nb_scalar_to_double((size_t)d, x + j * (size_t)stride, points + j * (size_t)d);
    /* X'X = U diag(s) U', and U'x of each token */
    nb_gram_upper(d, count, points, gram);
    NB_TRY(ctx, nb_symmetric_eigen(d, gram, values, ctx));
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, d, count, d, 1, gram, d, points, d, 0, p, d);
    for (int i = 0; i < d; i++) trace += values[i];
    /* x'(X'X + lambda I)^-1 x = sum (U'x)_i^2 / (s_i + lambda), lambda = ridge sum s / d */
    for (size_t j = 0; j < (size_t)count; j++) {
        double sum = 0;
        for (int i = 0; i < d && values[i] > DBL_EPSILON * d * values[0]; i++)
            sum += p[j * (size_t)d + (size_t)i] * p[j * (size_t)d + (size_t)i] / (values[i] + ridge * trace / d);
        scores[j] = (nb_scalar)sum;
    }
    nb_count_multiplications(2.0 * count * d);
    return NB_OK;
}

static double leverage_work(double d, double count)
{
    return round(count * d * d / 2) + round(4.5 * d * d * d) + count * d * d + 2 * count * d;
}

/* scores (count) <- of the first d rows of x (stride x count) the leverage, or |x|^2, as shares. */
static nb_status find_scores(const curdkv_options *o, int d, int stride, int count, const nb_scalar *x,
                             nb_scalar *scores, nb_ctx *ctx)
{
    int stretch = o->local > 0 ? o->local : count;
    if (o->scores == LEVERAGE) return find_leverage(d, stride, count, x, o->ridge, scores, ctx);
    for (size_t j = 0; j < (size_t)count; j++)
        scores[j] = nb_scalar_dot((size_t)d, x + j * (size_t)stride, x + j * (size_t)stride);
    for (int at = 0; at < count; at += stretch) {
        size_t some = (size_t)nb_lesser(stretch, count - at);
        nb_scalar sum = nb_scalar_sum(some, scores + at);
        if (sum > 0) nb_scalar_scale(some, 1 / sum, scores + at);
    }
    nb_count_multiplications((double)count * (d + 1));
    return NB_OK;
}

static nb_status score(const nb_prompt_rule *rule, const nb_scalar *k, const nb_scalar *v, const nb_scalar *q,
                       nb_scalar *scratch, nb_scalar *scores, nb_ctx *ctx)
{
    const curdkv_options *o = rule->options;
    const nb_layer_shape *s = rule->shape;
    int count = rule->prompt;
    (void)q;
    if (o->of != VALUES) NB_TRY(ctx, find_scores(o, s->d, s->d, count, k, scores, ctx));
    if (o->of != KEYS)
        NB_TRY(ctx, find_scores(o, nb_layer_guide(s), s->dv, count, v, o->of == VALUES ? scores : scratch, ctx));
    for (int j = 0; o->of == PRODUCT && j < count; j++) scores[j] *= scratch[j];
    for (int j = 0; o->of == MEAN && j < count; j++) scores[j] = (scores[j] + scratch[j]) / 2;
    if (o->of == PRODUCT || o->of == MEAN) nb_count_multiplications(count);
    NB_REQUIRE(ctx, nb_scalars_finite((size_t)count, scores), NB_ENUMERIC, "scores are not finite");
    for (int j = 0; j < nb_lesser(o->sinks, count); j++) scores[j] = INFINITY;
    return NB_OK;
}

static nb_prompt_rule rule_of(const curdkv_options *o, const nb_layer_shape *s)
{
    int prompt = nb_prompt_length(o->prompt, s);
    double (*work)(double, double) = o->scores == LEVERAGE ? leverage_work : norms_work;
    double of_keys = o->of == VALUES ? 0 : work(s->d, prompt);
    double of_values = o->of == KEYS ? 0 : work(nb_layer_guide(s), prompt);
    return (nb_prompt_rule){.shape = s,
                            .options = o,
                            .prompt = prompt,
                            .tokens = nb_lesser(o->tokens, prompt),
                            .by_keys = true,
                            .scratch = (size_t)prompt,
                            .work = of_keys + of_values + (o->of == PRODUCT || o->of == MEAN ? prompt : 0),
                            .score = score};
}

NB_PROMPT_FUNCTIONS(rule_of)

static const char *const references[] = {
    "Sengupta, Chaudhary & Chakraborty, Value-guided KV compression for LLMs via approximated CUR decomposition, "
    "NeurIPS 2025, arXiv:2509.15038",
    "Chari & Van Durme, Compactor: calibrated query-agnostic KV cache compression with approximate leverage scores, "
    "2025, arXiv:2507.08143 (scores=leverage, of=keys)",
    NULL};

const nb_attention nb_attention_curdkv = {
    .component = {"curdkv", "exact attention in a prompt, and then over its tokens of largest leverage (CurDKV)",
                  references, options, sizeof(curdkv_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_STEPS,
    .size = "tokens",
    .refusal = nb_causal_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "By default as in NVIDIA's kvpress: the norms that CurDKV takes for leverage, without the Gaussian projection\n"
        "by which the paper approximates them. scores=leverage is leverage proper, and with of=keys what Compactor\n"
        "approximates, there of centred keys before rotary positions, by a projection. Heads that share keys share\n"
        "tokens. The prompt's outputs are exact and count in the error. With tokens = prompt, or prompt = n, it is\n"
        "exact.",
};
