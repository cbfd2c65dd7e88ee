/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Attentions: what holds for all that are registered, and each against its definition, computed directly and in double
 * precision. */
#include "testing.h"

#include "attentions/attention.h"
#include "base/scratch.h"
#include "data/tensor.h"
#include "layers/positive.h"
#include "linalg/kmeans.h"

#include <gsl/gsl_randist.h>

static nb_ctx *ctx; /* of the test at hand */

static const nb_layer_shape shapes[] = {
    {.batch = 1, .heads = 1, .key_heads = 1, .n = 1, .d = 3, .dv = 2},
    {.batch = 1, .heads = 2, .key_heads = 1, .n = 2, .d = 2, .dv = 3},
    {.batch = 2, .heads = 4, .key_heads = 2, .n = 77, .d = 8, .dv = 5},
    {.batch = 1, .heads = 2, .key_heads = 2, .n = 65, .d = 5, .dv = 8, .causal = true},
    {.batch = 2, .heads = 2, .key_heads = 1, .n = 200, .d = 8, .dv = 7, .causal = true},
    {.batch = 1, .heads = 2, .key_heads = 1, .n = 601, .d = 9, .dv = 4},
    {.batch = 1, .heads = 2, .key_heads = 1, .n = 130, .d = 5, .dv = 23, .causal = true, .guide = 18},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Beside each component as it comes, and with few representatives. */
static const char *const specs[] = {
    "streamed(tile=7)",
    "nystrom(strategy=uniform, landmarks=2, factors=cur)",
    "performer(features=13, orthogonal=false)",
    "performer(features=40, redraw=1)",
    "longformer(window=0, global=0)",
    "longformer(window=9, global=3)",
    "longformer(window=70, global=1)",
    "bigbird(block=4, window=3, random=2, global=2)",
    "bigbird(block=10, window=1, random=3, global=0)",
    "bigbird(block=7, window=5, random=0, global=3)",
    "bigbird(block=1, window=3, random=4, global=1)",
    "linformer(landmarks=2, projection=pooled)",
    "linformer(landmarks=70, projection=pooled)",
    "linformer(landmarks=70)",
    "clustered(clusters=40, top=5)",
    "clustered(clusters=2, iterations=3, bits=9)",
    "hyperattention(block=16, sample=20)",
    "hyperattention(block=7, sample=1, bits=2)",
    "hyperattention(block=100, sample=0, bits=1)",
    "skeinformer(columns=20, rows=7)",
    "skeinformer(columns=1, exact=false)",
    "reformer(rounds=3, chunk=16)",
    "reformer(rounds=1, chunk=7, buckets=2)",
    "reformer(rounds=2, chunk=200, buckets=6)",
    "nystrom(landmarks=3, core=fitted)",
    "nystrom(strategy=kmeans, landmarks=20, core=fitted(rows=30, ridge=0, keep_rows=true))",
    "kernel_ridge(landmarks=1)",
    "kernel_ridge(landmarks=90, rows=170)",
    "kernel_ridge(landmarks=12, rows=20, queries=40, keys=50, ridges=8)",
    "kernel_ridge(landmarks=9, init=random, sampling=uniform, weighted=false, counts=false, mass=false, prior=false, "
    "normalised=false, ridge=0.001)",
    "kernel_ridge(landmarks=5, rows=3, near=window)",
    "kernel_ridge(landmarks=9, rows=20, near=both, window=10, top=5)",
    "kernel_ridge(landmarks=5, rows=7, near=top, top=200)",
    "kernel_ridge(landmarks=7, near=both, window=9, grid=9)",
    "kernel_ridge(landmarks=9, rows=20, near=auto, window=10, top=5)",
    "kernel_ridge(landmarks=9, rows=20, near=auto, window=10, top=0)",
    "kernel_ridge(landmarks=9, rows=20, near=auto, tolerance=0.2)",
    "kernel_ridge(landmarks=9, rows=20, near=auto, tolerance=0.2, limit=0.1)",
    "kernel_ridge(landmarks=60, near=equal, window=4, top=5)",
    "kernel_ridge(landmarks=40, near=equal, window=8, top=0, grid=9)",
    "streamingllm(window=5, sinks=2)",
    "streamingllm(window=0, sinks=0)",
    "strided(window=3, stride=7, sinks=0)",
    "strided(window=40, stride=3)",
    "h2o(window=9, heavy=11, sinks=0)",
    "h2o(window=0, heavy=0, sinks=1)",
    "tilted_segments(window=10, segment=5)",
    "tilted_segments(window=0, segment=9, sinks=0, tilted=false)",
    "merging(window=9, landmarks=12)",
    "merging(window=0, landmarks=40, sinks=0)",
    "merging(window=9, landmarks=33, protected=0.5)",
    "moba(block=8, top=2)",
    "moba(block=7, top=3, window=10, sinks=5)",
    "moba(block=200, top=0)",
    "sparq(window=5, tokens=7, components=3)",
    "sparq(window=0, tokens=1, components=40, sinks=0)",
    "block_sparse(window=10, block=8, top=3)",
    "block_sparse(window=0, block=1, top=9, sinks=0)",
    "monarch(block=7, steps=3)",
    "monarch(block=50, steps=1)",
    "delta(of=longformer(window=10, global=1), every=5)",
    "delta(of=h2o(window=9, heavy=5), every=300)",
    "tova(tokens=1)",
    "tova(tokens=40)",
    "sparq_published(tokens=7, components=3)",
    "sparq_published(tokens=30, components=40, local=0)",
    "sparq_published(tokens=5, local=9)",
    "informer(queries=7, samples=3)",
    "attention_matching(keys=2, queries=30)",
    "attention_matching(keys=40, queries=9)",
    "snapkv(prompt=1, window=1, tokens=5)",
    "snapkv(prompt=45, window=9, tokens=12, kernel=4)",
    "snapkv(window=3, tokens=2, pooling=largest)",
    "curdkv(prompt=1, tokens=1, sinks=0)",
    "curdkv(prompt=45, tokens=12, of=mean, local=7)",
    "curdkv(tokens=9, scores=leverage)",
    "curdkv(prompt=50, tokens=2, scores=leverage, of=keys, ridge=0.1)",
    "tome(keys=2, class_token=true)",
    "tome(keys=30)",
    "wildcat(keys=1)",
    "wildcat(keys=20)",
    "half(format=float16, logits=half)",
    "lower_resolution(factor=3, grid=2)",
    "lower_resolution(grid=1, interpolation=nearest, weighted=false)",
    "quest(page=8, top=2)",
    "quest(page=3, top=5)",
    "quest(page=200, top=0)",
    "informer(queries=500, samples=500)",
};
enum { SPECS = sizeof specs / sizeof *specs };

/* Part of their work is counted where it is done, and is not in the cost; and part of their memory. */
static const char *const prepared[] = {
    "attention_matching", "clustered", "gpa", "kernel_ridge", "merging", "skip", "wildcat", NULL};
static const char *const more_memory[] = {
    "attention_matching", "clustered", "curdkv",  "gpa", "kernel_ridge", "monarch", "nystrom",
    "skeinformer",        "skip",      "wildcat", NULL};

static bool is_among(const char *const *names, const nb_choice *attention)
{
    for (; *names; names++)
        if (strcmp(*names, attention->component->name) == 0) return true;
    return false;
}

static nb_scalar *draw(gsl_rng *rng, double scale, size_t count)
{
    nb_scalar *x = nb_alloc_scalars(ctx, count);
    assert_non_null(x);
    for (size_t i = 0; i < count; i++) x[i] = (nb_scalar)(scale * gsl_ran_gaussian_ziggurat(rng, 1));
    return x;
}

static gsl_rng *seeded(int seed)
{
    gsl_rng *rng = NULL;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    nb_random_seed(rng, &(nb_stream){.seed = (uint64_t)seed, .role = "test", .component = ""});
    return rng;
}

static nb_layer make_layer(const nb_layer_shape *s, double scale, int seed)
{
    size_t n = (size_t)s->n, heads = (size_t)nb_layer_heads(s), key_heads = (size_t)(s->batch * s->key_heads);
    gsl_rng *rng = seeded(seed);
    nb_layer layer = {.shape = *s};
    layer.q = draw(rng, scale, heads * n * (size_t)s->d);
    layer.k = draw(rng, scale, key_heads * n * (size_t)s->d);
    layer.v = draw(rng, 1, key_heads * n * (size_t)s->dv);
    return layer;
}

static size_t out_size(const nb_layer_shape *s)
{
    return (size_t)nb_layer_heads(s) * (size_t)s->n * (size_t)s->dv;
}

typedef struct {
    nb_scalar *out; /* of the last pass */
    nb_passed passed;
    double bytes;
} result;

static const nb_stream stream = {.seed = 5, .trial = 2};

static result attend_often(const nb_choice *attention, const nb_layer *layer, int threads, int passes)
{
    nb_team *team;
    nb_attending a;
    result r = {.out = nb_alloc_scalars(ctx, out_size(&layer->shape))};
    assert_non_null(r.out);
    for (size_t i = 0; i < out_size(&layer->shape); i++) r.out[i] = NAN;
    assert_ok(ctx, nb_team_new(threads, &team, ctx));
    assert_ok(ctx, nb_attention_open(attention, &layer->shape, team, stream, &a, ctx));
    for (int i = 0; i < passes; i++) assert_ok(ctx, nb_attention_forward(&a, layer, r.out, &r.passed, ctx));
    r.bytes = a.bytes;
    return r;
}

static result attend(const nb_choice *attention, const nb_layer *layer, int threads)
{
    return attend_often(attention, layer, threads, 1);
}

static nb_scalar *outputs(const char *spec, const nb_layer *layer)
{
    nb_choice attention = choose(&nb_attentions, spec, ctx);
    return attend(&attention, layer, 1).out;
}

static void assert_same_bits(const char *what, size_t count, const nb_scalar *a, const nb_scalar *b)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0)
            fail_msg("%s: entry %zu of %zu: %.9g, %.9g", what, i, count, (double)a[i], (double)b[i]);
}

static bool is_refused(const nb_choice *attention, const nb_layer_shape *s)
{
    const char *why = NULL;
    assert_ok(ctx, nb_attention_refusal(attention, s, &why, ctx));
    assert_true(!why || strlen(why) > 10);
    return why;
}

typedef void check(const nb_choice *attention, const nb_layer_shape *shape);

/* Returns for how many shapes it is not refused. */
static int for_shapes(const char *spec, check *f)
{
    int count = 0;
    nb_mark outer = nb_ctx_mark(ctx);
    nb_choice attention = choose(&nb_attentions, spec, ctx);
    assert_ok(ctx, nb_attention_check(&attention, ctx));
    for (int i = 0; i < SHAPES; i++) {
        nb_mark mark = nb_ctx_mark(ctx);
        if (!is_refused(&attention, &shapes[i])) {
            f(&attention, &shapes[i]);
            count++;
        }
        nb_ctx_release(ctx, mark);
    }
    nb_ctx_release(ctx, outer);
    return count;
}

static void for_all(check *f)
{
    for (const nb_entry *e = nb_attentions.entries; e->component; e++) {
        const nb_attention *a = (const nb_attention *)e->component;
        char spec[200];
        if (a->traits & NB_ATTENTION_ELSEWHERE) continue; /* another program's work: tests/cli/attentions.bats */
        int count = for_shapes(a->component.name, f);
        snprintf(spec, sizeof spec, "%s(%s=2)", a->component.name, a->size ? a->size : "");
        if (a->size) count += for_shapes(spec, f);
        assert_true(count > 0);
    }
    for (int i = 0; i < SPECS; i++) assert_true(for_shapes(specs[i], f) > 0);
}

static void check_threads(const nb_choice *attention, const nb_layer_shape *s)
{
    nb_layer layer = make_layer(s, 1.3, 1);
    result one = attend(attention, &layer, 1);
    for (int threads = 2; threads <= 3; threads++) {
        result more = attend(attention, &layer, threads);
        assert_same_bits(attention->canonical, out_size(s), one.out, more.out);
        assert_true(more.passed.multiplications == one.passed.multiplications);
    }
}

static void test_threads_change_no_bit(void **state)
{
    ctx = *state;
    for_all(check_threads);
}

static void check_cost(const nb_choice *attention, const nb_layer_shape *s)
{
    nb_layer layer = make_layer(s, 1.3, 2);
    bool more = is_among(prepared, attention);
    for (int threads = 1; threads <= 2; threads++) {
        result r = attend(attention, &layer, threads);
        nb_attention_cost cost = nb_attention_cost_of(attention, s, threads);
        if (r.passed.multiplications != cost.multiplications && !isnan(cost.multiplications) && !more)
            fail_msg("%s, n = %d, causal %d: %.0f multiplications, predicted %.0f", attention->canonical, s->n,
                     s->causal, r.passed.multiplications, cost.multiplications);
        if (cost.multiplications > r.passed.multiplications)
            fail_msg("%s, n = %d: %.0f multiplications, predicted more, %.0f", attention->canonical, s->n,
                     r.passed.multiplications, cost.multiplications);
        if (r.bytes != cost.bytes && !isnan(cost.bytes))
            fail_msg("%s, n = %d, %d threads: %.0f bytes, predicted %.0f", attention->canonical, s->n, threads, r.bytes,
                     cost.bytes);
        assert_true(is_among(more_memory, attention) || r.passed.bytes == r.bytes);
    }
}

static void test_costs_are_those_predicted(void **state)
{
    ctx = *state;
    for_all(check_cost);
}

/* Tokens from `at` on are others. */
static nb_layer change_later(const nb_layer *layer, int at)
{
    const nb_layer_shape *s = &layer->shape;
    nb_layer other = make_layer(s, 3, 77);
    const nb_scalar *const from[] = {layer->q, layer->k, layer->v};
    nb_scalar *const to[] = {(nb_scalar *)(uintptr_t)other.q, (nb_scalar *)(uintptr_t)other.k,
                             (nb_scalar *)(uintptr_t)other.v};
    const int heads[] = {s->batch * s->heads, s->batch * s->key_heads, s->batch * s->key_heads};
    const int d[] = {s->d, s->d, s->dv};
    for (int x = 0; x < 3; x++) {
        for (int h = 0; h < heads[x]; h++) {
            size_t first = (size_t)h * (size_t)s->n * (size_t)d[x];
            memcpy(to[x] + first, from[x] + first, (size_t)at * (size_t)d[x] * sizeof(nb_scalar));
        }
    }
    return other;
}

static void check_causality(const nb_choice *attention, const nb_layer_shape *s)
{
    nb_layer layer = make_layer(s, 1.3, 3);
    if (!s->causal || nb_attention_traits(attention) & NB_ATTENTION_FORESEES) return;
    nb_scalar *out = attend(attention, &layer, 1).out;
    for (int at = 1; at < s->n; at += at < 70 ? 13 : 40) {
        nb_layer other = change_later(&layer, at);
        nb_scalar *changed = attend(attention, &other, 1).out;
        for (size_t h = 0; h < (size_t)nb_layer_heads(s); h++) {
            size_t first = h * (size_t)s->n * (size_t)s->dv, count = (size_t)at * (size_t)s->dv;
            assert_same_bits(attention->canonical, count, out + first, changed + first);
            assert_true(memcmp(out + first + count, changed + first + count, (size_t)s->dv * sizeof *out) != 0);
        }
    }
}

static void test_causal_ones_look_at_no_later_token(void **state)
{
    ctx = *state;
    for_all(check_causality);
}

/* Large coordinates of v that only go along change none of the others. */
static void check_guide(const nb_choice *attention, const nb_layer_shape *s)
{
    nb_layer layer = make_layer(s, 1.3, 39);
    nb_layer_shape more = *s;
    if (!s->causal) return;
    more.dv = s->dv + 9;
    more.guide = nb_layer_guide(s);
    nb_layer wide = make_layer(&more, 50, 40);
    nb_scalar *v = (nb_scalar *)(uintptr_t)wide.v, *out = attend(attention, &layer, 1).out;
    size_t dv = (size_t)s->dv, rows = (size_t)more.dv, tokens = (size_t)s->n;
    for (size_t i = 0; i < (size_t)(s->batch * s->key_heads) * tokens; i++)
        for (size_t l = 0; l < rows; l++) v[i * rows + l] = l < dv ? layer.v[i * dv + l] : 50 * v[i * rows + l];
    wide.q = layer.q;
    wide.k = layer.k;
    nb_scalar *beside = attend(attention, &wide, 1).out;
    for (size_t i = 0; i < (size_t)nb_layer_heads(s) * tokens; i++)
        for (size_t l = 0; l < dv; l++)
            if (fabs((double)(out[i * dv + l] - beside[i * rows + l])) > 1e-5 * (1 + fabs((double)out[i * dv + l])))
                fail_msg("%s: token %zu, entry %zu: %.9g, and %.9g with others beside it", attention->canonical, i, l,
                         (double)out[i * dv + l], (double)beside[i * rows + l]);
}

static void test_values_that_go_along_change_no_choice(void **state)
{
    ctx = *state;
    for_all(check_guide);
}

/* So many tokens of all heads from `at` on. */
static nb_scalar *piece_of(const nb_scalar *x, int heads, int n, int d, int at, int count)
{
    size_t each = (size_t)count * (size_t)d;
    nb_scalar *out = nb_alloc_scalars(ctx, (size_t)heads * each);
    assert_non_null(out);
    for (size_t h = 0; h < (size_t)heads; h++)
        memcpy(out + h * each, x + (h * (size_t)n + (size_t)at) * (size_t)d, each * sizeof *out);
    return out;
}

static void check_steps(const nb_choice *attention, const nb_layer_shape *s)
{
    static const int pieces[] = {1, 1, 3, 29, 1, 64, 2, 7};
    nb_layer layer = make_layer(s, 1.3, 34);
    nb_team *team;
    nb_attending a;
    nb_passed passed;
    if (!s->causal || !(nb_attention_traits(attention) & NB_ATTENTION_STEPS)) return;
    nb_scalar *all = attend(attention, &layer, 1).out;
    assert_ok(ctx, nb_team_new(2, &team, ctx));
    assert_ok(ctx, nb_attention_open(attention, s, team, stream, &a, ctx));
    for (int again = 0; again < 2; again++) {
        for (int at = 0, i = again, count; at < s->n; at += count, i++) {
            nb_layer piece = layer;
            int heads = nb_layer_heads(s), key_heads = s->batch * s->key_heads;
            count = nb_lesser(pieces[i % 8], s->n - at);
            piece.shape.n = count;
            piece.q = piece_of(layer.q, heads, s->n, s->d, at, count);
            piece.k = piece_of(layer.k, key_heads, s->n, s->d, at, count);
            piece.v = piece_of(layer.v, key_heads, s->n, s->dv, at, count);
            size_t size = (size_t)heads * (size_t)count * (size_t)s->dv;
            nb_scalar *out = nb_alloc_scalars(ctx, size);
            assert_ok(ctx, nb_attention_extend(&a, &piece, out, &passed, ctx));
            assert_same_bits(attention->canonical, size, piece_of(all, heads, s->n, s->dv, at, count), out);
        }
        nb_layer more = layer;
        more.shape.n = 1;
        assert_int_equal(nb_attention_extend(&a, &more, all, &passed, ctx), NB_EDIM);
        nb_error_clear(ctx);
        nb_attention_restart(&a);
    }
}

static void test_pieces_give_the_bits_of_one_pass(void **state)
{
    ctx = *state;
    for_all(check_steps);
}

static void test_not_all_take_pieces(void **state)
{
    nb_team *team;
    nb_attending a;
    nb_passed passed;
    ctx = *state;
    nb_layer layer = make_layer(&shapes[3], 1, 35);
    nb_choice attention = choose(&nb_attentions, "streamed", ctx);
    assert_ok(ctx, nb_team_new(1, &team, ctx));
    assert_ok(ctx, nb_attention_open(&attention, &layer.shape, team, stream, &a, ctx));
    assert_error(ctx, nb_attention_extend(&a, &layer, NULL, &passed, ctx), NB_EINVAL);
}

/* Each query head with its own copy of its keys. */
static nb_layer ungrouped(const nb_layer *layer)
{
    nb_layer other = *layer;
    int heads = nb_layer_heads(&layer->shape);
    size_t n = (size_t)layer->shape.n, d = (size_t)layer->shape.d * n, dv = (size_t)layer->shape.dv * n;
    nb_scalar *k = nb_alloc_scalars(ctx, (size_t)heads * d), *v = nb_alloc_scalars(ctx, (size_t)heads * dv);
    assert_true(k && v);
    for (int h = 0; h < heads; h++) {
        nb_layer_head from = nb_layer_head_of(layer, NULL, h);
        memcpy(k + (size_t)h * d, from.k, d * sizeof *k);
        memcpy(v + (size_t)h * dv, from.v, dv * sizeof *v);
    }
    other.shape.key_heads = other.shape.heads;
    other.k = k;
    other.v = v;
    return other;
}

static void check_grouped(const nb_choice *attention, const nb_layer_shape *s)
{
    nb_layer layer = make_layer(s, 1.3, 4), other = ungrouped(&layer);
    assert_same_bits(attention->canonical, out_size(s), attend(attention, &layer, 1).out,
                     attend(attention, &other, 1).out);
}

static void test_grouped_queries_are_heads_with_the_same_keys(void **state)
{
    ctx = *state;
    for_all(check_grouped);
}

static void check_batch(const nb_choice *attention, const nb_layer_shape *s)
{
    nb_layer layer = make_layer(s, 1.3, 5), first = layer;
    if (nb_attention_traits(attention) & NB_ATTENTION_ORACLE) return; /* fitted to the whole batch */
    size_t one = out_size(s) / (size_t)s->batch;
    first.shape.batch = 1;
    nb_scalar *all = attend(attention, &layer, 1).out;
    assert_same_bits(attention->canonical, one, all, attend(attention, &first, 1).out);
    if (s->batch == 1) return;
    size_t n = (size_t)s->n, d = (size_t)s->d, dv = (size_t)s->dv;
    first.q += (size_t)s->heads * n * d;
    first.k += (size_t)s->key_heads * n * d;
    first.v += (size_t)s->key_heads * n * dv;
    assert_same_bits(attention->canonical, one, all + one, attend(attention, &first, 1).out);
}

static void test_batch_mates_do_not_matter(void **state)
{
    ctx = *state;
    for_all(check_batch);
}

static void assert_finite(const char *what, size_t count, const nb_scalar *x)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i])) fail_msg("%s: entry %zu is %g", what, i, (double)x[i]);
}

static void check_large_logits(const nb_choice *attention, const nb_layer_shape *s)
{
    nb_layer layer = make_layer(s, 70, 6); /* q'k/sqrt d of up to 1e4 and more */
    result r = attend(attention, &layer, 1);
    if (!r.passed.diverged && !r.passed.refusal) assert_finite(attention->canonical, out_size(s), r.out);
}

static void test_large_logits_are_no_trouble(void **state)
{
    ctx = *state;
    for_all(check_large_logits);
}

/* Logits beyond the range of numbers give outputs that are not finite, and no number that looks like one. */
static void test_infinite_logits_show(void **state)
{
    ctx = *state;
    nb_layer layer = make_layer(&shapes[2], 1.3, 33);
    size_t count = (size_t)nb_layer_heads(&layer.shape) * (size_t)layer.shape.n * (size_t)layer.shape.d;
    nb_scalar *q = nb_alloc_scalars(ctx, count);
    for (size_t i = 0; i < count; i++) q[i] = layer.q[i] * (nb_scalar)1e38;
    layer.q = q;
    nb_scalar *out = outputs("streamed", &layer);
    size_t finite = 0;
    for (size_t i = 0; i < out_size(&layer.shape); i++) finite += isfinite(out[i]);
    assert_true(finite < out_size(&layer.shape));
}

/* The weight of a key for a query, before division. */
typedef double weight_of(const nb_layer *layer, int head, int i, int j);

static double logit(const nb_layer *layer, int head, int i, int j)
{
    const nb_layer_shape *s = &layer->shape;
    nb_layer_head h = nb_layer_head_of(layer, NULL, head);
    double sum = 0;
    for (int l = 0; l < s->d; l++) sum += (double)h.q[i * s->d + l] * (double)h.k[j * s->d + l];
    return sum / sqrt(s->d);
}

static double softmax_weight(const nb_layer *layer, int head, int i, int j)
{
    return exp(logit(layer, head, i, j));
}

/* Single precision, relative to values above 1: kernel ridge regression is off by 3e-6 under OpenBLAS's kernels. */
static void assert_weighted(const char *spec, const nb_layer *layer, weight_of *weight)
{
    const nb_layer_shape *s = &layer->shape;
    nb_scalar *out = outputs(spec, layer);
    for (int head = 0; head < nb_layer_heads(s); head++) {
        nb_layer_head h = nb_layer_head_of(layer, out, head);
        for (int i = 0; i < s->n; i++) {
            double sum = 0, values[32] = {0};
            for (int j = 0; j < (s->causal ? i + 1 : s->n); j++) {
                double w = weight(layer, head, i, j);
                sum += w;
                for (int l = 0; l < s->dv; l++) values[l] += w * (double)h.v[j * s->dv + l];
            }
            for (int l = 0; l < s->dv; l++) {
                double expected = sum > 0 ? values[l] / sum : 0, found = (double)h.out[i * s->dv + l];
                if (!(fabs(found - expected) <= 2e-5 * fmax(1, fabs(expected))))
                    fail_msg("%s, n = %d, causal %d: head %d, query %d: %.9g, expected %.9g", spec, s->n, s->causal,
                             head, i, found, expected);
            }
        }
    }
}

static void assert_defined_by(const char *spec, weight_of *weight)
{
    nb_choice attention = choose(&nb_attentions, spec, ctx);
    for (int i = 0; i < SHAPES; i++) {
        nb_layer layer = make_layer(&shapes[i], 0.9, 7);
        if (!is_refused(&attention, &shapes[i])) assert_weighted(spec, &layer, weight);
    }
}

static void test_exact_ones(void **state)
{
    static const char *const exact[] = {"naive",
                                        "streamed",
                                        "streamed(tile=3)",
                                        "longformer(window=1202, global=0)",
                                        "longformer(window=1300, global=1)",
                                        "bigbird(block=64, random=20)",
                                        "bigbird(block=7, random=0, global=100)",
                                        "bigbird(block=256, window=7, random=0, global=0)",
                                        "hyperattention(sample=601)",
                                        "hyperattention(sample=700, block=10, bits=3)",
                                        "streamingllm(window=200)",
                                        "strided(window=3, stride=1)",
                                        "h2o(window=5, heavy=200)",
                                        "tilted_segments(window=3, segment=1)",
                                        "merging(window=0, landmarks=200)",
                                        "moba(block=9, top=30, window=3, sinks=2)",
                                        "moba(block=3, top=4, window=200)",
                                        "sparq(window=200, tokens=1)",
                                        "sparq(window=3, tokens=200, components=1, sinks=0)",
                                        "block_sparse(window=5, block=7, top=40)",
                                        "merging(window=200, landmarks=1)",
                                        "kernel_ridge(landmarks=1, rows=1, near=window, window=1202)",
                                        "kernel_ridge(landmarks=1, rows=1, near=top, top=601)",
                                        "kernel_ridge(landmarks=1, rows=1, near=both, window=1300, top=1)",
                                        "monarch(block=1, steps=2)",
                                        "monarch(block=601, steps=2)",
                                        "delta(of=longformer(window=2, global=0), every=1)",
                                        "delta(of=naive, every=9)",
                                        "tova(tokens=601)",
                                        "sparq_published(tokens=601)",
                                        "informer(queries=601)",
                                        "quest(page=9, top=30)",
                                        "snapkv(tokens=200)",
                                        "curdkv(tokens=200)",
                                        "curdkv(prompt=200, tokens=0, scores=leverage)",
                                        "snapkv(prompt=200, tokens=0)"};
    ctx = *state;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) assert_defined_by(exact[i], softmax_weight);
    for (int i = 0; i < SHAPES; i++) {
        nb_layer layer = make_layer(&shapes[i], 0.9, 8);
        char spec[80];
        if (shapes[i].causal) continue;
        snprintf(spec, sizeof spec, "linformer(landmarks=%d, projection=pooled)", shapes[i].n);
        assert_weighted(spec, &layer, softmax_weight);
        snprintf(spec, sizeof spec, "clustered(clusters=%d, iterations=1)", shapes[i].n);
        assert_weighted(spec, &layer, softmax_weight);
        snprintf(spec, sizeof spec, "clustered(clusters=%d, top=%d, bits=3)", shapes[i].n, (shapes[i].n + 1) / 2);
        assert_weighted(spec, &layer, softmax_weight);
        snprintf(spec, sizeof spec, "clustered(clusters=1, top=%d)", shapes[i].n);
        assert_weighted(spec, &layer, softmax_weight);
        snprintf(spec, sizeof spec, "reformer(rounds=2, chunk=%d)", (shapes[i].n + 1) / 2); /* two chunks are all */
        if (shapes[i].n <= 512) assert_weighted(spec, &layer, softmax_weight);
        snprintf(spec, sizeof spec, "skeinformer(columns=%d, rows=1)", shapes[i].n);
        assert_weighted(spec, &layer, softmax_weight);
        snprintf(spec, sizeof spec, "skeinformer(columns=1, rows=%d)", shapes[i].n);
        assert_weighted(spec, &layer, softmax_weight);
        snprintf(spec, sizeof spec, "kernel_ridge(landmarks=%d, rows=%d)", shapes[i].n, shapes[i].n);
        assert_weighted(spec, &layer, softmax_weight);
        snprintf(spec, sizeof spec, "tome(keys=%d)", shapes[i].n);
        assert_weighted(spec, &layer, softmax_weight);
        assert_weighted("lower_resolution(factor=1, grid=1)", &layer, softmax_weight);
        snprintf(spec, sizeof spec, "kernel_ridge(landmarks=%d, rows=1)", shapes[i].n);
        assert_weighted(spec, &layer, softmax_weight);
    }
}

/* Heads where landmarks stand for all exactly: keys that are all the same, keys that take turns, and a first key that
 * gets everything. */
static void test_degenerate_heads(void **state)
{
    static const char *const merging[] = {"merging(window=9, landmarks=12)", "merging(window=0, landmarks=3, sinks=0)"};
    static const char *const equal[] = {"tilted_segments(window=10, segment=5)",
                                        "tilted_segments(window=0, segment=9, tilted=false)"};
    static const char *const sink[] = {"streamingllm(window=0, sinks=1)", "strided(window=0, stride=50, sinks=1)",
                                       "h2o(window=0, heavy=1, sinks=0)", "tilted_segments(window=0, segment=70)",
                                       "merging(window=0, landmarks=2, sinks=0)"};
    ctx = *state;
    for (int turns = 1; turns <= 2; turns++) {
        nb_layer layer = make_layer(&shapes[4], 1.3, 36);
        const nb_layer_shape *s = &layer.shape;
        size_t d = (size_t)s->d, count = (size_t)(s->batch * s->key_heads) * (size_t)s->n;
        nb_scalar *k = nb_alloc_scalars(ctx, count * d);
        for (size_t i = 0; i < count; i++) memcpy(k + i * d, layer.k + i % (size_t)turns * d, d * sizeof *k);
        layer.k = k;
        for (int i = 0; i < 2; i++) assert_weighted(merging[i], &layer, softmax_weight);
        for (int i = 0; i < 2 && turns == 1; i++) assert_weighted(equal[i], &layer, softmax_weight);
    }
    nb_layer layer = make_layer(&shapes[4], 1.3, 37);
    const nb_layer_shape *s = &layer.shape;
    size_t d = (size_t)s->d, n = (size_t)s->n, queries = (size_t)nb_layer_heads(s) * n;
    nb_scalar *q = nb_alloc_scalars(ctx, queries * d), *k = nb_alloc_scalars(ctx, queries * d);
    for (size_t i = 0; i < queries * d; i++) q[i] = i % d == 0 ? 40 : layer.q[i];
    for (size_t i = 0; i < (size_t)(s->batch * s->key_heads) * n * d; i++)
        k[i] = i % d > 0 ? layer.k[i] : i % (n * d) == 0 ? 40 : 0;
    layer.q = q;
    layer.k = k;
    for (size_t i = 0; i < sizeof sink / sizeof *sink; i++) assert_weighted(sink[i], &layer, softmax_weight);
}

/* All that claim to be exact, registered as they come. */
static void check_exact(const nb_choice *attention, const nb_layer_shape *s)
{
    nb_layer layer = make_layer(s, 0.9, 9);
    if (nb_attention_traits(attention) & NB_ATTENTION_EXACT)
        assert_weighted(attention->canonical, &layer, softmax_weight);
}

static void test_trait_exact(void **state)
{
    ctx = *state;
    for_all(check_exact);
}

static double elu_plus_one(double x)
{
    return x > 0 ? x + 1 : exp(x);
}

static double linear_weight(const nb_layer *layer, int head, int i, int j)
{
    int d = layer->shape.d;
    nb_layer_head h = nb_layer_head_of(layer, NULL, head);
    double sum = 0;
    for (int l = 0; l < d; l++) sum += elu_plus_one((double)h.q[i * d + l]) * elu_plus_one((double)h.k[j * d + l]);
    return sum;
}

static double cosine_weight(const nb_layer *layer, int head, int i, int j)
{
    int d = layer->shape.d;
    nb_layer_head h = nb_layer_head_of(layer, NULL, head);
    double sum = 0;
    for (int l = 0; l < d; l++) sum += fmax((double)h.q[i * d + l], 0) * fmax((double)h.k[j * d + l], 0);
    return sum * cos(acos(-1) * (i - j) / 2 / layer->shape.n);
}

static void test_linear_and_cosformer(void **state)
{
    ctx = *state;
    assert_defined_by("linear", linear_weight);
    assert_defined_by("cosformer", cosine_weight);
}

/* The features that a performer draws. */
static struct {
    int r;
    nb_scalar *w;
} drawn;

static void draw_as(const char *spec, const nb_layer_shape *s, int number)
{
    nb_choice attention = choose(&nb_attentions, spec, ctx);
    gsl_rng *rng = seeded(0);
    nb_stream own = stream;
    char role[20];
    snprintf(role, sizeof role, "features %d", number);
    drawn.r = nb_attention_size(&attention, s);
    drawn.w = nb_alloc_scalars(ctx, (size_t)(s->d * drawn.r));
    double *room = nb_alloc_raw(ctx, (size_t)(s->d * s->d));
    assert_true(drawn.w && room);
    own.role = role;
    own.m = drawn.r;
    own.component = attention.canonical;
    nb_random_seed(rng, &own);
    nb_draw_features(rng, s->d, drawn.r, !strstr(spec, "false"), room, drawn.w);
}

static double feature(int d, const nb_scalar *x, int l)
{
    double product = 0, norm2 = 0;
    for (int c = 0; c < d; c++) {
        product += (double)drawn.w[l * d + c] * (double)x[c];
        norm2 += (double)x[c] * (double)x[c];
    }
    return product / sqrt(sqrt(d)) - norm2 / (2 * sqrt(d));
}

static double performer_weight(const nb_layer *layer, int head, int i, int j)
{
    int d = layer->shape.d;
    nb_layer_head h = nb_layer_head_of(layer, NULL, head);
    double sum = 0;
    for (int l = 0; l < drawn.r; l++) sum += exp(feature(d, h.q + i * d, l) + feature(d, h.k + j * d, l));
    return sum / drawn.r;
}

static void test_performer(void **state)
{
    static const char *const performers[] = {"performer", "performer(features=13, orthogonal=false)",
                                             "performer(features=29)", "performer(features=3, redraw=never)"};
    ctx = *state;
    for (size_t p = 0; p < sizeof performers / sizeof *performers; p++) {
        for (int i = 0; i < SHAPES; i++) {
            nb_layer layer = make_layer(&shapes[i], 0.9, 10);
            draw_as(performers[p], &shapes[i], 0);
            assert_weighted(performers[p], &layer, performer_weight);
        }
    }
}

static void test_features_auto_is_d_ln_d(void **state)
{
    static const int known[][2] = {{1, 1}, {2, 1}, {3, 3}, {32, 110}, {64, 266}, {128, 621}};
    ctx = *state;
    nb_choice attention = choose(&nb_attentions, "performer", ctx);
    for (int i = 0; i < 6; i++)
        assert_int_equal(nb_attention_size(&attention, &(nb_layer_shape){.d = known[i][0]}), known[i][1]);
}

/* Passes 0 and 1 have one draw, 2 and 3 the next. */
static void test_redraws(void **state)
{
    ctx = *state;
    nb_layer layer = make_layer(&shapes[2], 0.9, 11);
    nb_choice twice = choose(&nb_attentions, "performer(redraw=2)", ctx);
    nb_scalar *out[4];
    double whole = nb_attention_cost_of(&twice, &layer.shape, 1).multiplications;
    assert_int_equal(nb_attention_passes_per_choice(&twice), 2);
    for (int i = 0; i < 4; i++) {
        result r = attend_often(&twice, &layer, 1, i + 1);
        out[i] = r.out;
        assert_true(whole - r.passed.multiplications == (i % 2 ? nb_draw_features_work(8, 16, true) : 0));
    }
    size_t size = out_size(&layer.shape);
    assert_same_bits("the second pass", size, out[0], out[1]);
    assert_same_bits("the fourth pass", size, out[2], out[3]);
    assert_true(memcmp(out[1], out[2], size * sizeof **out) != 0);
}

/* Of logits of any size the weights still sum to 1: values that are all 1 stay so. */
static void test_performer_loses_no_weight(void **state)
{
    static const double scales[] = {1, 10, 70, 300};
    ctx = *state;
    for (int i = 0; i < SHAPES; i++) {
        for (size_t c = 0; c < 4; c++) {
            nb_layer layer = make_layer(&shapes[i], scales[c], 12);
            nb_scalar *ones = draw(seeded(0), 0, out_size(&shapes[i]));
            for (size_t j = 0; j < out_size(&shapes[i]); j++) ones[j] = 1;
            layer.v = ones;
            nb_scalar *out = outputs("performer", &layer);
            for (size_t j = 0; j < out_size(&shapes[i]); j++) assert_close((double)out[j], 1, 1e-5);
        }
    }
}

/* The mean of phi(q)'phi(k) over draws is exp(q'k/sqrt d), within 4 standard errors. */
static void assert_unbiased(int d, int r, bool orthogonal)
{
    enum { DRAWS = 20000 };
    gsl_rng *rng = seeded(13 * r + orthogonal);
    nb_scalar *x = draw(rng, 0.4, (size_t)(2 * d)), *w = draw(rng, 0, (size_t)(d * r));
    double room[64], sum = 0, squares = 0, product = 0;
    nb_scalar logs[64];
    for (int draws = 0; draws < DRAWS; draws++) {
        double kernel = 0;
        nb_draw_features(rng, d, r, orthogonal, room, w);
        nb_positive_features(d, r, w, 2, x, logs);
        for (int l = 0; l < r; l++) kernel += exp((double)logs[l] + (double)logs[r + l]) / r;
        sum += kernel;
        squares += kernel * kernel;
    }
    for (int l = 0; l < d; l++) product += (double)x[l] * (double)x[d + l];
    double mean = sum / DRAWS, deviation = sqrt((squares / DRAWS - mean * mean) / DRAWS);
    assert_close(mean, exp(product / sqrt(d)), 4 * deviation);
    assert_at_most(deviation, 0.02 * mean);
}

static void test_features_are_unbiased(void **state)
{
    ctx = *state;
    for (int orthogonal = 0; orthogonal <= 1; orthogonal++) {
        assert_unbiased(1, 1, orthogonal);
        assert_unbiased(1, 3, orthogonal);
        assert_unbiased(4, 3, orthogonal);
        assert_unbiased(4, 10, orthogonal);
        assert_unbiased(7, 7, orthogonal);
    }
}

/* Within each block of d at right angles; squared lengths are chi-square of d degrees of freedom: mean d, and not all
 * the same. */
static void test_features_are_orthogonal(void **state)
{
    enum { D = 6, R = 600 };
    double room[D * D], sum = 0, squares = 0;
    ctx = *state;
    gsl_rng *rng = seeded(14);
    nb_scalar *w = draw(rng, 0, D * R);
    nb_draw_features(rng, D, R, true, room, w);
    for (int a = 0; a < R; a++) {
        for (int b = a / D * D; b <= a; b++) {
            double product = 0;
            for (int l = 0; l < D; l++) product += (double)w[a * D + l] * (double)w[b * D + l];
            if (b < a) assert_close(product, 0, 1e-5);
            if (b == a) sum += product, squares += product * product;
        }
    }
    assert_close(sum / R, D, 4 * sqrt(2.0 * D / R));
    assert_close(squares / R - sum / R * (sum / R), 2 * D, 4.0 * D);
}

static double longformer_weight(const nb_layer *layer, int head, int i, int j)
{
    bool seen = abs(i - j) <= 9 / 2 || i < 3 || j < 3;
    return seen ? softmax_weight(layer, head, i, j) : 0;
}

static double own_weight(const nb_layer *layer, int head, int i, int j)
{
    return i == j ? softmax_weight(layer, head, i, j) : 0;
}

static double wide_weight(const nb_layer *layer, int head, int i, int j)
{
    return abs(i - j) <= 60 || i < 270 || j < 270 ? softmax_weight(layer, head, i, j) : 0;
}

static void test_longformer(void **state)
{
    ctx = *state;
    assert_defined_by("longformer(window=9, global=3)", longformer_weight);
    assert_defined_by("longformer(window=1, global=0)", own_weight);
    assert_defined_by("longformer(window=120, global=270)", wide_weight);
}

static double bigbird_weight(const nb_layer *layer, int head, int i, int j)
{
    int block = i / 7, other = j / 7, last = (layer->shape.n - 1) / 7;
    bool global = block < 2 || block == last || other < 2 || other == last;
    return global || abs(block - other) <= 2 ? softmax_weight(layer, head, i, j) : 0;
}

/* Which keys each query sees: with queries 0 and values that are unit vectors, those of positive weight. */
static nb_scalar *find_seen(const char *spec, const nb_layer_shape *shape)
{
    nb_layer_shape s = *shape;
    s.dv = s.n;
    nb_layer layer = make_layer(&s, 0, 15);
    nb_scalar *v = draw(seeded(0), 0, (size_t)(s.batch * s.key_heads) * (size_t)(s.n * s.n));
    for (int h = 0; h < s.batch * s.key_heads; h++)
        for (int j = 0; j < s.n; j++) v[(h * s.n + j) * s.n + j] = 1;
    layer.v = v;
    return outputs(spec, &layer);
}

static const nb_scalar *seen; /* n x n for each head */

static double seen_weight(const nb_layer *layer, int head, int i, int j)
{
    int n = layer->shape.n;
    return seen[(head * n + i) * n + j] > 0 ? softmax_weight(layer, head, i, j) : 0;
}

/* 4 tokens a block of 77: 20 blocks, the last of 1. Every query of blocks 1 ... 18 sees the blocks 0 and 19, its own,
 * one on each side, and 2 others that are whole. */
static void test_bigbird(void **state)
{
    static const char spec[] = "bigbird(block=4, window=3, random=2, global=2)";
    const nb_layer_shape *s = &shapes[2];
    int n = s->n, draws[20] = {0}, differ = 0;
    ctx = *state;
    assert_defined_by("bigbird(block=7, window=5, random=0, global=3)", bigbird_weight);
    seen = find_seen(spec, s);
    for (int i = 0; i < nb_layer_heads(s) * n; i++) {
        const nb_scalar *row = seen + (size_t)i * (size_t)n;
        int block = i % n / 4, others = 0, tokens = 0;
        bool global = block == 0 || block == 19;
        for (int j = 0; j < n; j++) {
            bool near = global || abs(j / 4 - block) <= 1 || j / 4 == 0 || j / 4 == 19;
            if (near) assert_true(row[j] > 0);
            assert_true((row[j] > 0) == (row[j / 4 * 4] > 0));
            tokens += row[j] > 0;
            others += !near && row[j] > 0 && j % 4 == 0;
            draws[j / 4] += !near && row[j] > 0;
        }
        for (int j = 0; j < n; j++) assert_close((double)row[j], row[j] > 0 ? 1.0 / tokens : 0, 1e-6); /* none twice */
        assert_int_equal(others, global ? 0 : 2);
        int mate = (i + s->heads * n) % (nb_layer_heads(s) * n), next = (i + n) % (nb_layer_heads(s) * n);
        assert_memory_equal(row, seen + (size_t)mate * (size_t)n, (size_t)n * sizeof *row);
        differ += memcmp(row, seen + (size_t)next * (size_t)n, (size_t)n * sizeof *row) != 0;
    }
    for (int b = 1; b < 19; b++) assert_true(draws[b] > 0);
    assert_true(differ > n);
    nb_layer layer = make_layer(s, 0.9, 16);
    assert_weighted(spec, &layer, seen_weight);
}

/* E (n x m) in double. */
static void assert_projected(const char *spec, const nb_layer *layer, int m, const double *e)
{
    const nb_layer_shape *s = &layer->shape;
    nb_scalar *out = outputs(spec, layer);
    for (int head = 0; head < nb_layer_heads(s); head++) {
        nb_layer_head h = nb_layer_head_of(layer, out, head);
        for (int i = 0; i < s->n; i++) {
            double sum = 0, values[32] = {0};
            for (int c = 0; c < m; c++) {
                double x = 0;
                for (int j = 0; j < s->n; j++) x += logit(layer, head, i, j) * e[c * s->n + j];
                sum += exp(x);
                for (int j = 0; j < s->n; j++)
                    for (int l = 0; l < s->dv; l++) values[l] += exp(x) * e[c * s->n + j] * (double)h.v[j * s->dv + l];
            }
            for (int l = 0; l < s->dv; l++) assert_close((double)h.out[i * s->dv + l], values[l] / sum, 1e-4);
        }
    }
}

static void test_linformer(void **state)
{
    enum { M = 9 };
    const nb_layer_shape *s = &shapes[2];
    double e[77 * M] = {0}, squares = 0;
    ctx = *state;
    nb_layer layer = make_layer(s, 0.5, 17);
    for (int c = 0; c < M; c++)
        for (int j = c * 77 / M; j < (c + 1) * 77 / M; j++) e[c * 77 + j] = 1.0 / ((c + 1) * 77 / M - c * 77 / M);
    assert_projected("linformer(landmarks=9, projection=pooled)", &layer, M, e);
    nb_choice attention = choose(&nb_attentions, "linformer(landmarks=9)", ctx);
    gsl_rng *rng = seeded(0);
    nb_random_seed(rng, &(nb_stream){stream.seed, stream.trial, "projection", attention.canonical, M});
    for (int i = 0; i < 77 * M; i++) {
        e[i] = gsl_ran_gaussian_ziggurat(rng, 1) / 3;
        squares += e[i] * e[i];
    }
    assert_close(squares / 77, 1, 4 * sqrt(2 / (77.0 * M))); /* variance 1/k */
    assert_projected("linformer(landmarks=9)", &layer, M, e);
}

/* What a mean of queries gives to the keys, in double. */
static void weights_of_mean(const nb_layer *layer, int head, const bool *member, double *weights)
{
    int n = layer->shape.n, count = 0;
    double sum = 0;
    for (int i = 0; i < n; i++) count += member[i];
    for (int j = 0; j < n; j++) {
        double x = 0;
        for (int i = 0; i < n; i++) x += member[i] ? logit(layer, head, i, j) / count : 0;
        sum += weights[j] = exp(x);
    }
    for (int j = 0; j < n; j++) weights[j] /= sum;
}

/* Queries of a group have the same output, so that groups can be told from it: at most 6 of them, and each output is
 * that of its group's mean. */
static void assert_clustered(const char *spec)
{
    const nb_layer_shape *s = &shapes[2];
    int n = s->n, dv = s->dv, most = 0;
    nb_layer layer = make_layer(s, 0.9, 18);
    nb_scalar *out = outputs(spec, &layer);
    for (int head = 0; head < nb_layer_heads(s); head++) {
        nb_layer_head h = nb_layer_head_of(&layer, out, head);
        int groups = 0;
        for (int i = 0; i < n; i++) {
            bool member[77], first = true;
            double weights[77];
            for (int j = 0; j < n; j++) {
                member[j] = memcmp(h.out + i * dv, h.out + j * dv, (size_t)dv * sizeof *out) == 0;
                first = first && !(j < i && member[j]);
            }
            groups += first;
            weights_of_mean(&layer, head, member, weights);
            for (int l = 0; l < dv; l++) {
                double expected = 0;
                for (int j = 0; j < n; j++) expected += weights[j] * (double)h.v[j * dv + l];
                assert_close((double)h.out[i * dv + l], expected, 1e-5);
            }
        }
        assert_true(groups > 1 && groups <= 6);
        most = groups > most ? groups : most;
    }
    assert_int_equal(most, 6);
}

/* Two groups of queries far apart, even and odd ones; each gives its mass on its `top` strongest keys to its queries to
 * divide. */
static void assert_improved(const char *spec, int top)
{
    const nb_layer_shape *s = &shapes[2];
    int n = s->n, dv = s->dv;
    nb_layer layer = make_layer(s, 0.4, 19);
    nb_scalar *q = (nb_scalar *)(uintptr_t)layer.q;
    for (int i = 0; i < nb_layer_heads(s) * n; i++) q[i * s->d] += i % n % 2 ? 5 : -5;
    nb_scalar *out = outputs(spec, &layer);
    for (int head = 0; head < nb_layer_heads(s); head++) {
        nb_layer_head h = nb_layer_head_of(&layer, out, head);
        for (int i = 0; i < n; i++) {
            bool member[77], strongest[77];
            double weights[77], mass = 0, sum = 0;
            for (int j = 0; j < n; j++) member[j] = j % 2 == i % 2;
            weights_of_mean(&layer, head, member, weights);
            for (int j = 0; j < n; j++) {
                int larger = 0;
                for (int l = 0; l < n; l++) larger += weights[l] > weights[j];
                strongest[j] = larger < top;
                mass += strongest[j] ? weights[j] : 0;
                sum += strongest[j] ? exp(logit(&layer, head, i, j)) : 0;
            }
            for (int l = 0; l < dv; l++) {
                double expected = 0;
                for (int j = 0; j < n; j++)
                    expected += (strongest[j] ? mass * exp(logit(&layer, head, i, j)) / sum : weights[j]) *
                                (double)h.v[j * dv + l];
                assert_close((double)h.out[i * dv + l], expected, 1e-5);
            }
        }
    }
}

static void test_clustered(void **state)
{
    ctx = *state;
    assert_clustered("clustered(clusters=6)");
    assert_clustered("clustered(clusters=6, bits=20)");
    assert_improved("clustered(clusters=2, top=1)", 1);
    assert_improved("clustered(clusters=2, top=8)", 8);
    assert_improved("clustered(clusters=2, top=8, bits=31)", 8);
}

/* What k-means of all queries or keys counts, with the numbers that an attention draws for it but the first few. */
static double clustering_work(const nb_choice *attention, const nb_layer_shape *s, const char *role, int skipped,
                              const double *x, int m, const nb_kmeans_how *how)
{
    nb_clusters clusters;
    gsl_rng *rng = seeded(0);
    nb_random_seed(rng, &(nb_stream){stream.seed, stream.trial, role, attention->canonical, m});
    for (int i = 0; i < skipped; i++) gsl_rng_uniform(rng);
    uint64_t before = nb_multiplications();
    assert_ok(ctx, nb_kmeans(s->d, s->n, x, m, how, rng, &clusters, ctx));
    return (double)(nb_multiplications() - before);
}

/* What is counted beyond the cost is what k-means counts. */
static void test_clustering_is_counted_beside(void **state)
{
    static const char *const clustering[] = {
        "clustered(clusters=40, top=5)",
        "kernel_ridge(landmarks=40, rows=35, queries=601, keys=601, weighted=false, ridges=3)",
        "kernel_ridge(landmarks=30, rows=7, queries=601, keys=601, weighted=false, mass=false, ridge=1)"};
    const nb_layer_shape *s = &shapes[5];
    ctx = *state;
    nb_layer layer = make_layer(s, 1.3, 20);
    double ones[601];
    for (int i = 0; i < s->n; i++) ones[i] = 1;
    for (int i = 0; i < 3; i++) {
        nb_choice attention = choose(&nb_attentions, clustering[i], ctx);
        double counted = attend(&attention, &layer, 2).passed.multiplications, beside = 0;
        for (int h = 0; h < nb_layer_heads(s); h++) {
            nb_head head;
            nb_kmeans_how first = {.init = NB_KMEANS_RANDOM, .restarts = 1, .iterations = 10},
                          rows = {.batches = 6, .restarts = 1, .iterations = 1},
                          keys = {.batches = 6, .restarts = 1, .iterations = 2, .weights = ones};
            assert_ok(ctx, nb_layer_head_double(&layer, h, &head, ctx));
            beside += i == 0 ? clustering_work(&attention, s, "queries", 0, head.q, 40, &first)
                             : clustering_work(&attention, s, "queries", s->n, head.q, i == 1 ? 35 : 7, &rows) +
                                   clustering_work(&attention, s, "keys", 1, head.k, i == 1 ? 40 : 30, &keys);
        }
        double predicted = nb_attention_cost_of(&attention, s, 2).multiplications;
        if (counted != beside + predicted)
            fail_msg("%s: %.0f, expected %.0f + %.0f", clustering[i], counted, beside, predicted);
        assert_true(beside > 0);
    }
}

/* Heads without structure, of which the output is known: keys that are all the same, so that it is the mean of V;
 * one key that has all weight; queries that are all the same, which is one row; values of which each is 0 or 7. */
static void test_kernel_ridge_of_degenerate_heads(void **state)
{
    static const char *const specs_of[] = {"kernel_ridge(landmarks=30)", "kernel_ridge(landmarks=30, rows=601)",
                                           "kernel_ridge(landmarks=601, rows=200)"};
    const nb_layer_shape s = {.batch = 1, .heads = 1, .key_heads = 1, .n = 601, .d = 9, .dv = 4};
    ctx = *state;
    for (int kind = 0; kind < 4; kind++) {
        nb_layer layer = make_layer(&s, 1.3, 40);
        nb_scalar *q = (nb_scalar *)(uintptr_t)layer.q, *k = (nb_scalar *)(uintptr_t)layer.k,
                  *v = (nb_scalar *)(uintptr_t)layer.v;
        for (int i = 0; i < s.n * s.d; i++) {
            if (kind == 0) k[i] = k[i % s.d];
            if (kind == 1) k[i] = i / s.d == 77 ? 10 : 0;
            if (kind == 1) q[i] = 5 + q[i];
            if (kind == 2) q[i] = q[i % s.d];
        }
        for (int i = 0; kind == 3 && i < s.n * s.dv; i++) v[i] = (nb_scalar)(i % s.dv % 2 * 7);
        for (size_t i = 0; i < sizeof specs_of / sizeof *specs_of; i++)
            assert_weighted(specs_of[i], &layer, softmax_weight);
    }
}

/* Heads whose outputs near keys and landmarks reproduce exactly: tokens that are all the same, one key that has all
 * weight, and values that are all the same. */
static void test_near_keys_of_degenerate_heads(void **state)
{
    static const char *const specs_of[] = {"kernel_ridge(landmarks=30, near=window)",
                                           "kernel_ridge(landmarks=30, near=top)",
                                           "kernel_ridge(landmarks=30, rows=60, near=both, top=1)",
                                           "kernel_ridge(landmarks=601, rows=200, near=both, window=9, grid=30)",
                                           "kernel_ridge(landmarks=30, near=both, grid=24)",
                                           "kernel_ridge(landmarks=30, near=auto)",
                                           "kernel_ridge(landmarks=30, near=auto, top=0)",
                                           "kernel_ridge(landmarks=30, near=auto, tolerance=1e-7)",
                                           "kernel_ridge(landmarks=30, near=auto, tolerance=1, limit=1e-7)",
                                           "kernel_ridge(landmarks=90, near=equal, window=4, top=5)"};
    const nb_layer_shape s = {.batch = 1, .heads = 1, .key_heads = 1, .n = 601, .d = 9, .dv = 4};
    ctx = *state;
    for (int kind = 0; kind < 3; kind++) {
        nb_layer layer = make_layer(&s, 1.3, 40);
        nb_scalar *q = (nb_scalar *)(uintptr_t)layer.q, *k = (nb_scalar *)(uintptr_t)layer.k,
                  *v = (nb_scalar *)(uintptr_t)layer.v;
        for (int i = 0; i < s.n * s.d; i++) {
            if (kind == 0) q[i] = q[i % s.d], k[i] = k[i % s.d];
            if (kind == 1) k[i] = i / s.d == 77 ? 10 : 0;
            if (kind == 1) q[i] = 5 + q[i];
        }
        for (int i = 0; kind != 1 && i < s.n * s.dv; i++) v[i] = v[i % s.dv];
        for (size_t i = 0; i < sizeof specs_of / sizeof *specs_of; i++)
            assert_weighted(specs_of[i], &layer, softmax_weight);
    }
}

/* Heads of which every other one, from the second on, looks near: a query is like the one before, and so are the keys.
 * The others have short queries: all keys have about the same weight, which landmarks alone tell. */
static nb_layer make_near_and_far(const nb_layer_shape *s, int number)
{
    nb_layer layer = make_layer(s, 1, number);
    nb_scalar *q = (nb_scalar *)(uintptr_t)layer.q, *k = (nb_scalar *)(uintptr_t)layer.k;
    for (int i = 0; i < s->heads * s->n * s->d; i++) {
        if (i / (s->d * s->n) % 2 == 0) q[i] *= (nb_scalar)0.3;
        if (i / (s->d * s->n) % 2 == 0 || i / s->d % s->n == 0) continue;
        q[i] = (nb_scalar)(0.9 * (double)q[i - s->d] + 0.5 * (double)q[i]);
        k[i] = q[i];
    }
    return layer;
}

/* near=auto gives a head the bits of the kind that it chooses, whichever head it is and whatever the others choose. */
static void test_near_auto_is_the_kind_that_it_chooses(void **state)
{
    static const char *const kinds[][3] = {{"kernel_ridge(landmarks=12, near=auto)", "kernel_ridge(landmarks=12)",
                                            "kernel_ridge(landmarks=12, near=both)"},
                                           {"kernel_ridge(landmarks=12, near=auto, top=0)",
                                            "kernel_ridge(landmarks=12)", "kernel_ridge(landmarks=12, near=window)"},
                                           {"kernel_ridge(landmarks=12, near=auto, tolerance=0.4)",
                                            "kernel_ridge(landmarks=12)", "kernel_ridge(landmarks=12, near=both)"}};
    const nb_layer_shape s = {.batch = 1, .heads = 24, .key_heads = 24, .n = 601, .d = 9, .dv = 4};
    const size_t each = (size_t)(s.n * s.dv);
    ctx = *state;
    nb_layer layer = make_near_and_far(&s, 41);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        nb_choice attentions[3];
        nb_scalar *out[3];
        int chosen[3] = {0};
        for (int j = 0; j < 3; j++) {
            attentions[j] = choose(&nb_attentions, kinds[i][j], ctx);
            out[j] = attend(&attentions[j], &layer, 1 + j % 2).out;
        }
        for (int h = 0; h < s.heads; h++) {
            size_t at = (size_t)h * each, bytes = each * sizeof(nb_scalar);
            int kind = memcmp(out[0] + at, out[1] + at, bytes) == 0 ? 1 : 2;
            assert_memory_equal(out[0] + at, out[kind] + at, bytes);
            chosen[kind]++;
        }
        assert_true(chosen[1] >= 5 && chosen[2] >= 5);
    }
}

static double squared_distance(size_t count, const nb_scalar *x, const nb_scalar *y)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) sum += pow((double)x[i] - (double)y[i], 2);
    return sum;
}

/* More exact queries take hardly more memory where all heads have near keys than where none has: only what keys that
 * are not near receive is kept, and not what all receive too. */
static void test_near_keys_take_no_second_sums(void **state)
{
    static const char *const kinds[] = {"", ", near=window", ", near=top", ", near=both"};
    const nb_layer_shape s = {.batch = 1, .heads = 1, .key_heads = 1, .n = 65536, .d = 8, .dv = 8};
    double grown[4];
    ctx = *state;
    for (size_t i = 0; i < 4; i++) {
        double bytes[2];
        for (int more = 0; more < 2; more++) {
            nb_choice attention = choose(
                &nb_attentions, nb_format(ctx, "kernel_ridge(landmarks=9, rows=%d%s)", 96 << more, kinds[i]), ctx);
            bytes[more] = nb_attention_cost_of(&attention, &s, 1).bytes;
        }
        grown[i] = bytes[1] - bytes[0];
        assert_at_most(grown[i], 1.1 * grown[0]);
    }
}

/* near=equal leaves heads that look far as they are without near keys, and of heads that look near a tenth of the
 * squared error at most, for about as many multiplications; whichever head it is and whatever the others are. */
static void test_near_equal_keeps_the_work(void **state)
{
    static const char *const specs_of[] = {"kernel_ridge(landmarks=104)", "kernel_ridge(landmarks=104, near=equal)",
                                           "kernel_ridge(landmarks=104, near=equal, top=0)", "streamed"};
    enum { COUNT = sizeof specs_of / sizeof *specs_of, EXACT = COUNT - 1 };
    const nb_layer_shape s = {.batch = 1, .heads = 8, .key_heads = 8, .n = 1301, .d = 32, .dv = 32};
    const size_t each = (size_t)(s.n * s.dv);
    result of[COUNT];
    ctx = *state;
    nb_layer layer = make_near_and_far(&s, 45);
    for (int i = 0; i < COUNT; i++) {
        nb_choice attention = choose(&nb_attentions, specs_of[i], ctx);
        of[i] = attend(&attention, &layer, 1 + i % 2);
    }
    for (int i = 1; i < EXACT; i++) {
        for (int h = 0; h < s.heads; h++) {
            const nb_scalar *exact = of[EXACT].out + (size_t)h * each, *plain = of[0].out + (size_t)h * each,
                            *out = of[i].out + (size_t)h * each;
            double left = squared_distance(each, plain, exact);
            /* Sums of the same terms in another order */
            if (h % 2 == 0)
                assert_true(squared_distance(each, out, plain) < 1e-6 * left);
            else
                assert_true(squared_distance(each, out, exact) < 0.1 * left);
        }
        assert_true(of[i].passed.multiplications < 1.15 * of[0].passed.multiplications);
    }
}

/* Three tokens look at themselves alone, with values that are large; no random query is likely to be one of them. A
 * tolerance sees what landmarks leave there: without these tokens they suffice. */
static void test_tolerance_sees_few_sharp_queries(void **state)
{
    const nb_layer_shape s = {.batch = 1, .heads = 2, .key_heads = 2, .n = 601, .d = 9, .dv = 4};
    const size_t each = (size_t)(s.n * s.dv);
    nb_scalar *out[3];
    ctx = *state;
    nb_layer layer = make_layer(&s, 0.1, 43);
    nb_scalar *q = (nb_scalar *)(uintptr_t)layer.q, *k = (nb_scalar *)(uintptr_t)layer.k,
              *v = (nb_scalar *)(uintptr_t)layer.v;
    for (size_t i = 0; i < 2 * each; i++) v[i] = 1 + (nb_scalar)0.1 * v[i];
    for (int i = 100; i < s.n; i += 200) {
        for (int l = 0; l < s.d; l++) q[i * s.d + l] = k[i * s.d + l] = l == i / 200 ? 8 : 0;
        for (int l = 0; l < s.dv; l++) v[i * s.dv + l] = 10;
    }
    static const char *const specs_of[] = {"kernel_ridge(landmarks=12, near=auto, tolerance=0.2)",
                                           "kernel_ridge(landmarks=12)", "kernel_ridge(landmarks=12, near=both)"};
    for (int i = 0; i < 3; i++) {
        nb_choice attention = choose(&nb_attentions, specs_of[i], ctx);
        out[i] = attend(&attention, &layer, 1).out;
    }
    assert_memory_equal(out[0], out[2], each * sizeof(nb_scalar));
    assert_memory_equal(out[0] + each, out[1] + each, each * sizeof(nb_scalar));
}

/* With a limit a head has the bits that it has without, but for the queries that are exact: more of them the less the
 * limit is, all below what is estimated as 0, none at a large one. */
static void test_limit_leaves_exact_queries(void **state)
{
    static const char *const specs_of[] = {"kernel_ridge(landmarks=12, near=auto, tolerance=10)",
                                           "kernel_ridge(landmarks=12, near=auto, tolerance=10, limit=10)",
                                           "kernel_ridge(landmarks=12, near=auto, tolerance=10, limit=0.2)",
                                           "kernel_ridge(landmarks=12, near=auto, tolerance=10, limit=0.1)",
                                           "kernel_ridge(landmarks=12, near=auto, tolerance=10, limit=1e-9)",
                                           "streamed"};
    enum { COUNT = sizeof specs_of / sizeof *specs_of, EXACT = COUNT - 1 };
    const nb_layer_shape s = {.batch = 1, .heads = 2, .key_heads = 1, .n = 601, .d = 9, .dv = 4};
    const size_t size = (size_t)s.dv * sizeof(nb_scalar);
    nb_scalar *out[COUNT];
    int exact[COUNT] = {0};
    ctx = *state;
    nb_layer layer = make_layer(&s, 1, 44);
    for (int i = 0; i < COUNT; i++) {
        nb_choice attention = choose(&nb_attentions, specs_of[i], ctx);
        out[i] = attend(&attention, &layer, 1 + i % 2).out;
        for (size_t token = 0; token < (size_t)(s.heads * s.n); token++)
            exact[i] += memcmp(out[i] + token * (size_t)s.dv, out[0] + token * (size_t)s.dv, size) != 0;
    }
    assert_true(exact[1] == 0 && exact[2] > 0 && exact[2] < exact[3] && exact[3] < exact[4]);
    assert_int_equal(exact[4], s.heads * s.n);
    /* Both sum n terms in single precision, in another order. */
    for (int i = 2; i < EXACT; i++)
        for (size_t j = 0; j < (size_t)(s.heads * s.n * s.dv); j++)
            if (memcmp(out[i] + j, out[0] + j, sizeof *out[i]) != 0)
                assert_true(fabs((double)out[i][j] - (double)out[EXACT][j]) < 1e-5);
}

static void test_near_keys_that_contradict(void **state)
{
    static const char *const wrong[] = {"kernel_ridge(tolerance=0.1)",
                                        "kernel_ridge(near=auto, limit=0.1)",
                                        "kernel_ridge(near=both, tolerance=0.1)",
                                        "kernel_ridge(window=9)",
                                        "kernel_ridge(top=9)",
                                        "kernel_ridge(grid=auto)",
                                        "kernel_ridge(near=top, window=32)",
                                        "kernel_ridge(near=top, grid=8)",
                                        "kernel_ridge(near=window, top=1)",
                                        "kernel_ridge(near=window, top=0)",
                                        "kernel_ridge(near=both, top=0)",
                                        "kernel_ridge(near=both, counts=false)"};
    ctx = *state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        nb_choice attention = choose(&nb_attentions, wrong[i], ctx);
        assert_error_of(wrong[i], ctx, nb_attention_check(&attention, ctx), NB_EINVAL);
    }
}

/* Without finite outputs at the exact queries there is none, and the pass says so. */
static void assert_infinite_logits_show(const char *spec)
{
    nb_choice attention = choose(&nb_attentions, spec, ctx);
    nb_layer layer = make_layer(&shapes[2], 1.3, 33);
    const nb_layer_shape *s = &layer.shape;
    nb_scalar *k = (nb_scalar *)(uintptr_t)nb_layer_head_of(&layer, NULL, 7).k;
    for (int i = 0; i < s->n * s->d; i++) k[i] *= (nb_scalar)1e38;
    for (int i = 0; i < s->n * s->d; i++) ((nb_scalar *)(uintptr_t)nb_layer_head_of(&layer, NULL, 7).q)[i] *= 100;
    result r = attend(&attention, &layer, 2);
    assert_non_null(r.passed.diverged);
    size_t each = (size_t)s->n * (size_t)s->dv;
    assert_finite(attention.canonical, 6 * each, r.out);
    for (size_t i = 7 * each; i < 8 * each; i++) assert_true(isnan(r.out[i]));
}

static void test_kernel_ridge_of_infinite_logits(void **state)
{
    ctx = *state;
    assert_infinite_logits_show("kernel_ridge(landmarks=9)");
    assert_infinite_logits_show("kernel_ridge(landmarks=9, near=both)");
    assert_infinite_logits_show("kernel_ridge(landmarks=9, near=auto)");
    assert_infinite_logits_show("kernel_ridge(landmarks=60, near=equal, window=4)");
}

enum { MOST = 601, BLOCK = 20, SAMPLE = 30, BITS = 3 };

/* By the place of their signs in Gray's order, 000, 001, 011, 010, 110, 111, 101, 100, first bit last. */
static void sort_by_hash(const nb_layer_shape *s, const nb_scalar *planes, const nb_scalar *x, int *order)
{
    static const int gray[] = {0, 1, 3, 2, 6, 7, 5, 4};
    for (int place = 0, count = 0; place < 8; place++) {
        for (int i = 0; i < s->n; i++) {
            int bits = 0;
            for (int b = 0; b < BITS; b++) {
                double side = 0;
                for (int l = 0; l < s->d; l++) side += (double)planes[b * s->d + l] * (double)x[i * s->d + l];
                bits |= (side > 0) << b;
            }
            if (bits == gray[place]) order[count++] = i;
        }
    }
}

static struct {
    int query_place[MOST], key_place[MOST];
    int others[MOST]; /* by block: sampled keys of other blocks */
    bool sampled[MOST];
} sorted;

static double hyper_weight(const nb_layer *layer, int head, int i, int j)
{
    int n = layer->shape.n, place = sorted.key_place[j], block = sorted.query_place[i] / BLOCK;
    int size = n - block * BLOCK < BLOCK ? n - block * BLOCK : BLOCK;
    if (place / BLOCK == block) return softmax_weight(layer, head, i, j);
    double factor = (double)(n - size) / sorted.others[block];
    return sorted.sampled[place] ? softmax_weight(layer, head, i, j) * factor : 0;
}

/* Keys of the last block are sampled by its share. */
static void draw_sample(gsl_rng *rng, int n)
{
    int last = n % BLOCK, taken = 0;
    const int sizes[] = {n - last, last}, counts[] = {SAMPLE - SAMPLE * last / n, SAMPLE * last / n};
    memset(&sorted, 0, sizeof sorted);
    for (int part = 0, place = 0; part < 2; part++) {
        taken = 0;
        for (int i = 0; i < sizes[part]; i++, place++)
            if (taken < counts[part] && (sizes[part] - i) * gsl_rng_uniform(rng) < counts[part] - taken)
                sorted.sampled[place] = ++taken;
        assert_int_equal(taken, counts[part]);
    }
    for (int b = 0; b * BLOCK < n; b++)
        for (int p = 0; p < n; p++) sorted.others[b] += sorted.sampled[p] && p / BLOCK != b;
}

static void assert_hyper(const nb_layer *all, int head, const nb_scalar *planes)
{
    nb_layer_head h = nb_layer_head_of(all, NULL, head);
    nb_layer_shape s = all->shape;
    int queries[MOST], keys[MOST];
    sort_by_hash(&s, planes, h.q, queries);
    sort_by_hash(&s, planes, h.k, keys);
    for (int p = 0; p < s.n; p++) {
        sorted.query_place[queries[p]] = p;
        sorted.key_place[keys[p]] = p;
    }
    s.batch = s.heads = s.key_heads = 1;
    nb_layer one = {.shape = s, .q = h.q, .k = h.k, .v = h.v};
    assert_weighted("hyperattention(block=20, sample=30, bits=3)", &one, hyper_weight);
}

static void test_hyperattention(void **state)
{
    ctx = *state;
    nb_choice attention = choose(&nb_attentions, "hyperattention(block=20, sample=30, bits=3)", ctx);
    for (int i = 2; i <= 5; i += 3) {
        const nb_layer_shape *s = &shapes[i];
        nb_layer layer = make_layer(s, 0.9, 22);
        gsl_rng *rng = seeded(0);
        nb_random_seed(rng, &(nb_stream){stream.seed, stream.trial, "planes and sample", attention.canonical, 0});
        nb_scalar *planes = draw(rng, 1, (size_t)(s->d * BITS));
        draw_sample(rng, s->n);
        for (int head = 0; head < nb_layer_heads(s); head++) assert_hyper(&layer, head, planes);
    }
}

/* sum over t of w[t] v_(i + t - width/2), entry l; of v, those outside are 0. */
static double convolved(const nb_layer *layer, const nb_scalar *v, int width, const double *w, int i, int l)
{
    double sum = 0;
    for (int t = 0; t < width; t++) {
        int from = i + t - width / 2;
        if (from >= 0 && from < layer->shape.n) sum += w[t] * (double)v[from * layer->shape.dv + l];
    }
    return sum;
}

/* A kernel from a file, of an even and an odd width, in both shapes that files have. */
static void test_skip(void **state)
{
    static const double w[8] = {0.5, -1.25, 2, 0.75, -0.375, 3, 1.5, -2.25};
    ctx = *state;
    nb_layer layer = make_layer(&shapes[2], 1.3, 31); /* 4 heads, 2 inputs */
    const nb_layer_shape *s = &layer.shape;
    nb_scalar *inner = outputs("streamed", &layer);
    const char *folder, *path;
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    assert_non_null(path = nb_format(ctx, "%s/kernel.npy", folder));
    for (int deep = 0; deep < 2; deep++) {
        int width = deep ? 1 : 2;
        int64_t shape[] = {4, deep ? 1 : width, width, 1};
        assert_ok(ctx, nb_npy_save_reals(path, deep ? 4 : 2, shape, w, ctx));
        nb_scalar *out = outputs(nb_format(ctx, "skip(of=streamed, kernel=\"%s\")", path), &layer);
        for (int head = 0; head < nb_layer_heads(s); head++)
            for (int i = 0; i < s->n * s->dv; i++) {
                size_t at = (size_t)(head * s->n * s->dv + i);
                const nb_scalar *v = nb_layer_head_of(&layer, NULL, head).v;
                double added = convolved(&layer, v, width, w + head % s->heads * width, i / s->dv, i % s->dv);
                assert_close((double)out[at], (double)inner[at] + added, 1e-5);
            }
    }
    nb_choice other = choose(&nb_attentions, nb_format(ctx, "skip(kernel=\"%s\")", path), ctx);
    const char *why;
    assert_ok(ctx, nb_attention_refusal(&other, &shapes[5], &why, ctx));
    assert_non_null(strstr(why, "4 heads"));
}

/* Least squares: what is left is orthogonal to what each entry of the kernel adds, summed over the inputs. And a layer
 * that is an inner output plus a convolution is met exactly. */
static void test_fitted_skip(void **state)
{
    enum { WIDTH = 5 };
    ctx = *state;
    nb_layer layer = make_layer(&shapes[2], 1.3, 32);
    const nb_layer_shape *s = &layer.shape;
    nb_scalar *exact = outputs("streamed", &layer), *before = outputs("nystrom(landmarks=3)", &layer);
    nb_scalar *out = outputs("skip(of=nystrom(landmarks=3), width=5)", &layer);
    double left = 0, without = 0;
    for (int head = 0; head < s->heads; head++)
        for (int t = 0; t < WIDTH; t++) {
            double sum = 0, size = 0, unit[WIDTH] = {0};
            unit[t] = 1;
            for (int b = 0; b < s->batch; b++) {
                int at = b * s->heads + head;
                const nb_scalar *v = nb_layer_head_of(&layer, NULL, at).v;
                for (int i = 0; i < s->n * s->dv; i++) {
                    size_t e = (size_t)(at * s->n * s->dv + i);
                    double x = convolved(&layer, v, WIDTH, unit, i / s->dv, i % s->dv);
                    double r = (double)exact[e] - (double)out[e];
                    sum += r * x;
                    size += fabs(r * x);
                    left += r * r;
                    without += pow((double)exact[e] - (double)before[e], 2);
                }
            }
            if (fabs(sum) > 1e-5 * size) fail_msg("head %d, entry %d: %g of %g", head, t, sum, size);
        }
    assert_true(left < without);
}

/* One head that cannot be fitted fails the pass, be it the first or the last. */
static void test_failed_fit(void **state)
{
    const nb_layer_shape shape = {.batch = 1, .heads = 3, .key_heads = 3, .n = 77, .d = 8, .dv = 5}, *s = &shape;
    ctx = *state;
    for (int lost = 0; lost < 3; lost += 2) {
        nb_layer layer = make_layer(s, 1.3, 33);
        nb_choice attention = choose(&nb_attentions, "skip(of=nystrom(landmarks=3), width=5)", ctx);
        nb_scalar *out = nb_alloc_scalars(ctx, out_size(s));
        nb_team *team;
        nb_attending a;
        nb_passed passed;
        assert_non_null(out);
        nb_scalar *v = (nb_scalar *)(uintptr_t)nb_layer_head_of(&layer, NULL, lost).v;
        v[3] = INFINITY;
        assert_ok(ctx, nb_team_new(1, &team, ctx));
        assert_ok(ctx, nb_attention_open(&attention, s, team, stream, &a, ctx));
        assert_error_of(nb_format(ctx, "a value of head %d is Inf", lost), ctx,
                        nb_attention_forward(&a, &layer, out, &passed, ctx), NB_ENUMERIC);
    }
}

/* Rows of S that a core has seen are exact, by the hundred too and where keys that come later are hidden. */
static void test_kept_rows(void **state)
{
    enum { KEPT = 300 };
    const nb_layer_shape shape = {.batch = 1, .heads = 1, .key_heads = 1, .n = 601, .d = 9, .dv = 4, .causal = true};
    ctx = *state;
    nb_layer layer = make_layer(&shape, 1.3, 34);
    layer.problem = "test";
    nb_scalar *exact = outputs("streamed", &layer);
    nb_scalar *out =
        outputs("nystrom(strategy=uniform, landmarks=8, factors=cur, core=exact_rows(of=svd, rows=300))", &layer);
    int same = 0;
    for (int i = 0; i < shape.n; i++) {
        bool equal = true;
        for (int l = 0; l < shape.dv; l++)
            equal = equal && fabs((double)(out[i * shape.dv + l] - exact[i * shape.dv + l])) < 1e-5;
        same += equal;
    }
    assert_true(same >= KEPT);
}

/* Of a file in which three heads share keys: a part of one group shares them too, parts of two groups have their own
 * copies. */
static void test_shared_keys(void **state)
{
    static const struct {
        int first, count, key_heads;
    } parts[] = {{0, 6, 2}, {3, 3, 1}, {0, 2, 1}, {1, 2, 1}, {5, 1, 1}, {2, 2, 2}, {2, 3, 3}};
    static const char *const names[] = {"q", "k", "v"};
    static double x[6 * 5 * 2];
    const char *file;
    ctx = *state;
    assert_ok(ctx, nb_temporary_folder(&file, ctx));
    for (int i = 0; i < 3; i++) {
        const int64_t shape[] = {i == 0 ? 6 : 2, 5, 2};
        assert_ok(ctx, nb_npy_save_reals(nb_format(ctx, "%s/%s.npy", file, names[i]), 3, shape, x, ctx));
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        nb_layer layer;
        assert_ok(ctx, nb_layer_load(file, parts[i].first, parts[i].count, &layer, ctx));
        assert_int_equal(layer.shape.heads, parts[i].count);
        assert_int_equal(layer.shape.key_heads, parts[i].key_heads);
    }
}

/* One token: its value, whatever the points, but for a random projection and for half precision. */
static void check_one_token(const nb_choice *attention, const nb_layer_shape *s)
{
    nb_layer layer = make_layer(s, 1.3, 21);
    const char *name = attention->component->name;
    if (s->n > 1 || strcmp(name, "cosformer") == 0 || strcmp(name, "half") == 0 ||
        (nb_attention_traits(attention) & NB_ATTENTION_RANDOM && strstr(attention->canonical, "projection")))
        return;
    result r = attend(attention, &layer, 1);
    for (int l = 0; l < s->dv; l++) assert_close((double)r.out[l], (double)layer.v[l], 1e-6);
}

static void test_one_token(void **state)
{
    ctx = *state;
    for_all(check_one_token);
}

static void test_refusals(void **state)
{
    static const char *const refused[] = {"longformer(global=78)",
                                          "linformer(landmarks=78)",
                                          "clustered(clusters=78)",
                                          "clustered(clusters=7, top=78)",
                                          "linformer",
                                          "attention_matching(keys=78)",
                                          "tome(keys=78)",
                                          "tome(keys=1, class_token=true)",
                                          "wildcat(keys=78)",
                                          "lower_resolution",
                                          "lower_resolution(grid=78)",
                                          "merging",
                                          "clustered",
                                          "kernel_ridge",
                                          "kernel_ridge(landmarks=78, rows=7)",
                                          "kernel_ridge(landmarks=30, keys=20)",
                                          "kernel_ridge(rows=30, queries=20)",
                                          "kernel_ridge(landmarks=9, near=window, grid=auto)",
                                          "kernel_ridge(landmarks=9, near=window, grid=78)"};
    ctx = *state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        nb_choice attention = choose(&nb_attentions, refused[i], ctx);
        const char *why;
        assert_ok(ctx, nb_attention_refusal(&attention, &shapes[2], &why, ctx));
        assert_non_null(why);
        tell(refused[i], why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_threads_change_no_bit),
        test_with_ctx(test_costs_are_those_predicted),
        test_with_ctx(test_causal_ones_look_at_no_later_token),
        test_with_ctx(test_values_that_go_along_change_no_choice),
        test_with_ctx(test_pieces_give_the_bits_of_one_pass),
        test_with_ctx(test_not_all_take_pieces),
        test_with_ctx(test_grouped_queries_are_heads_with_the_same_keys),
        test_with_ctx(test_batch_mates_do_not_matter),
        test_with_ctx(test_large_logits_are_no_trouble),
        test_with_ctx(test_infinite_logits_show),
        test_with_ctx(test_exact_ones),
        test_with_ctx(test_degenerate_heads),
        test_with_ctx(test_trait_exact),
        test_with_ctx(test_skip),
        test_with_ctx(test_fitted_skip),
        test_with_ctx(test_failed_fit),
        test_with_ctx(test_kept_rows),
        test_with_ctx(test_shared_keys),
        test_with_ctx(test_linear_and_cosformer),
        test_with_ctx(test_performer),
        test_with_ctx(test_features_auto_is_d_ln_d),
        test_with_ctx(test_redraws),
        test_with_ctx(test_performer_loses_no_weight),
        test_with_ctx(test_features_are_unbiased),
        test_with_ctx(test_features_are_orthogonal),
        test_with_ctx(test_longformer),
        test_with_ctx(test_bigbird),
        test_with_ctx(test_linformer),
        test_with_ctx(test_clustered),
        test_with_ctx(test_clustering_is_counted_beside),
        test_with_ctx(test_hyperattention),
        test_with_ctx(test_kernel_ridge_of_degenerate_heads),
        test_with_ctx(test_near_keys_of_degenerate_heads),
        test_with_ctx(test_near_auto_is_the_kind_that_it_chooses),
        test_with_ctx(test_near_keys_take_no_second_sums),
        test_with_ctx(test_near_equal_keeps_the_work),
        test_with_ctx(test_tolerance_sees_few_sharp_queries),
        test_with_ctx(test_limit_leaves_exact_queries),
        test_with_ctx(test_near_keys_that_contradict),
        test_with_ctx(test_kernel_ridge_of_infinite_logits),
        test_with_ctx(test_one_token),
        test_with_ctx(test_refusals),
    };
    return run_all(tests);
}
