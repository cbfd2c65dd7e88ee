/* SPDX-License-Identifier: GPL-3.0-or-later */
/* skip.c - another attention with Nystromformer's skip connection: a convolution of V along the sequence, a kernel for
 * each head, is added to the output.
 *
 *     out_i <- out_i + sum over t of w_t v_(i + t - width/2),      v = 0 outside of the sequence
 *
 * n width dv multiplications a head. The kernel comes from a file, or is the one that least squares finds for the first
 * layer that is passed: nobody's trained weights can repair more of that layer. It solves
 *
 *     G w = b,   G_st = sum_i v_(i+s)'v_(i+t),   b_t = sum_i v_(i+t)'(exact output - other's output)_i
 *
 * by the pseudo-inverse of G (width x width), whose eigenvalues below 1e-10 of the largest count as 0. */
#include "attentions/attention.h"

#include "data/tensor.h"
#include "layers/exact_attention.h"

#include <math.h>
#include <string.h>

typedef struct {
    const nb_choice *of;
    const char *kernel;
    int width;
} skip_options;

#define FITTED "fitted"

static const nb_option options[] = {
    NB_COMPONENT(skip_options, of, "nystrom", &nb_attentions, "the attention whose output the convolution is added to"),
    NB_FILE(
        skip_options, kernel, FITTED,
        "a .npy file of shape (heads, width), or (heads, 1, width, 1) as models have it; fitted: by least squares on "
        "the first layer that is passed, which is the most that it can repair there"),
    NB_INT_FOR(skip_options, width, "kernel", FITTED, "33", 1, 1 << 12, "of a fitted kernel, odd in models: 33 or 65"),
    NB_OPTION_END};

enum { COLUMNS = 256, LONGEST = 1 << 12 }; /* tokens of a task; width of a kernel */

typedef struct {
    void *inner;
    int width;
    nb_scalar *kernel;   /* width x heads */
    nb_softmax *softmax; /* fitted: one for each thread */
    nb_scalar *exact;    /* fitted: exact outputs */
    nb_status *outcome;  /* fitted: of each head */
    bool fitted;         /* it is */
} state;

static const nb_attention *inner_of(const skip_options *o)
{
    return (const nb_attention *)o->of->component;
}

static bool is_fitted(const skip_options *o)
{
    return strcmp(o->kernel, FITTED) == 0;
}

/* *width: of the file's kernels; *heads: how many there are. */
static nb_status open_file(const char *path, nb_tensor *t, int *heads, int *width, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_npy_open(path, t, ctx));
    bool flat = t->rank == 2, deep = t->rank == 4 && t->shape[1] == 1 && t->shape[3] == 1;
    NB_REQUIRE(ctx, flat || deep, NB_EINVAL, "%s: expected the shape (heads, width) or (heads, 1, width, 1)", path);
    int64_t length = t->shape[flat ? 1 : 2];
    NB_REQUIRE(ctx, t->shape[0] >= 1 && t->shape[0] <= NB_MOST_HEADS && length >= 1 && length <= LONGEST, NB_EINVAL,
               "%s: expected at least one head, and a width of 1 to %d", path, LONGEST);
    *heads = (int)t->shape[0];
    *width = (int)length;
    return NB_OK;
}

static nb_status check(const void *opts, nb_ctx *ctx)
{
    const skip_options *o = opts;
    nb_tensor t;
    int heads, width;
    if (!is_fitted(o)) NB_TRY(ctx, open_file(o->kernel, &t, &heads, &width, ctx));
    return nb_attention_check(o->of, ctx);
}

static nb_status refusal(const void *opts, const nb_layer_shape *shape, const char **why, nb_ctx *ctx)
{
    const skip_options *o = opts;
    nb_tensor t;
    int heads, width;
    NB_TRY(ctx, nb_attention_refusal(o->of, shape, why, ctx));
    if (*why || is_fitted(o)) return NB_OK;
    NB_TRY(ctx, open_file(o->kernel, &t, &heads, &width, ctx));
    if (heads != shape->heads)
        NB_NEED(*why, nb_format(ctx, "the kernel is one of %d heads, and the layer has %d", heads, shape->heads));
    return NB_OK;
}

/* A kernel looks to both sides. */
static unsigned traits_of(const void *opts)
{
    const skip_options *o = opts;
    const unsigned lost = NB_ATTENTION_CAUSAL | NB_ATTENTION_EXACT | NB_ATTENTION_STEPS | NB_ATTENTION_FORESEES;
    unsigned inner = nb_attention_traits(o->of) & ~lost;
    return inner | (is_fitted(o) ? NB_ATTENTION_ORACLE : 0);
}

static int size_of(const void *opts, const nb_layer_shape *shape)
{
    return nb_attention_size(((const skip_options *)opts)->of, shape);
}

static int passes_per_choice(const void *opts)
{
    return nb_attention_passes_per_choice(((const skip_options *)opts)->of);
}

static nb_status read_kernel(const char *path, const nb_layer_shape *shape, state *s, nb_ctx *ctx)
{
    nb_tensor t;
    int heads;
    NB_TRY(ctx, open_file(path, &t, &heads, &s->width, ctx));
    size_t count = (size_t)heads * (size_t)s->width;
    NB_REQUIRE(ctx, heads == shape->heads, NB_EDIM, "%s: the kernel is one of %d heads, and the layer has %d", path,
               heads, shape->heads);
    NB_NEED(s->kernel, nb_alloc_scalars(ctx, count));
    return nb_tensor_read_scalars(path, &t, 0, (int64_t)count, s->kernel, ctx);
}

static size_t outputs(const nb_layer_shape *s)
{
    return (size_t)nb_layer_heads(s) * (size_t)s->n * (size_t)s->dv;
}

static nb_status open(const void *opts, const nb_layer_shape *shape, int threads, void **out, nb_ctx *ctx)
{
    const skip_options *o = opts;
    state *s;
    NB_NEED(s, nb_alloc(ctx, 1, sizeof *s));
    *out = s;
    NB_TRY(ctx, inner_of(o)->open(o->of->options, shape, threads, &s->inner, ctx));
    if (!is_fitted(o)) return read_kernel(o->kernel, shape, s, ctx);
    s->width = o->width;
    NB_NEED(s->kernel, nb_alloc_scalars(ctx, (size_t)s->width * (size_t)shape->heads));
    NB_NEED(s->exact, nb_alloc_scalars(ctx, outputs(shape)));
    NB_NEED(s->outcome, nb_alloc(ctx, (size_t)shape->heads, sizeof *s->outcome));
    NB_NEED(s->softmax, nb_alloc(ctx, (size_t)threads, sizeof *s->softmax));
    for (int i = 0; i < threads; i++)
        NB_TRY(ctx, nb_softmax_new(shape->d, shape->dv, nb_tile_of(shape->n), &s->softmax[i], ctx));
    return NB_OK;
}

/* Returns the sum over i of x_(i + a)'y_(i + b), columns of length d, where both are among the n. */
static double product(int d, int n, const nb_scalar *x, int a, const nb_scalar *y, int b)
{
    double sum = 0;
    size_t length = (size_t)d;
    int low = a < b ? a : b, high = a < b ? b : a;
    nb_count_multiplications((double)n * d);
    for (int i = low < 0 ? -low : 0; i < n && i + high < n; i++)
        sum += nb_scalar_dot(length, x + (size_t)(i + a) * length, y + (size_t)(i + b) * length);
    return sum;
}

/* The normal equations of one head, to be added to; the lower half of G stays. */
static void add_equations(const nb_layer_shape *shape, const nb_layer_head *h, const nb_scalar *exact, int width,
                          double *g, double *b)
{
    int n = shape->n, dv = shape->dv, half = width / 2;
    for (int t = 0; t < width; t++) {
        b[t] += product(dv, n, exact, 0, h->v, t - half) - product(dv, n, h->out, 0, h->v, t - half);
        for (int s = 0; s <= t; s++) g[s + t * width] += product(dv, n, h->v, s - half, h->v, t - half);
    }
}

typedef struct {
    nb_pass *pass;
    state *s;
} work;

static nb_status fit(const work *w, int head, nb_ctx *ctx)
{
    const nb_layer_shape *shape = &w->pass->layer->shape;
    int width = w->s->width;
    size_t square = (size_t)width * (size_t)width, size = (size_t)shape->n * (size_t)shape->dv;
    double *g, *inverse, *b, *x;
    NB_NEED(g, nb_alloc_reals(ctx, square, 1));
    NB_NEED(inverse, nb_alloc_raw(ctx, square));
    NB_NEED(b, nb_alloc_reals(ctx, (size_t)width, 2));
    x = b + width;
    for (int i = 0; i < shape->batch; i++) {
        int at = i * shape->heads + head;
        nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, at);
        add_equations(shape, &h, w->s->exact + (size_t)at * size, width, g, b);
    }
    for (int t = 0; t < width; t++)
        for (int s = 0; s < t; s++) g[t + s * width] = g[s + t * width];
    NB_TRY(ctx, nb_pseudo_inverse(width, width, g, 1e-10, inverse, ctx));
    nb_gemv(NB_PLAIN, width, width, 1, inverse, width, b, 0, x);
    nb_scalar_of((size_t)width, x, w->s->kernel + (size_t)head * (size_t)width);
    return NB_OK;
}

static void fit_head(void *self, int task, int thread)
{
    work *w = self;
    nb_ctx *ctx = nb_team_ctx(w->pass->team, thread);
    w->s->outcome[task] = fit(w, task, ctx);
    nb_error_clear(ctx);
    nb_ctx_release(ctx, 0);
}

static nb_status fit_all(work *w, nb_ctx *ctx)
{
    int heads = w->pass->layer->shape.heads;
    nb_exact_attend(w->pass->layer, w->s->softmax, w->pass->team, w->s->exact);
    nb_team_run(w->pass->team, heads, fit_head, w);
    for (int i = 0; i < heads; i++)
        NB_REQUIRE(ctx, w->s->outcome[i] == NB_OK, w->s->outcome[i], "the kernel of head %d could not be fitted", i);
    w->s->fitted = true;
    return NB_OK;
}

static void add_convolution(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *shape = &w->pass->layer->shape;
    int head = task / nb_blocks(shape->n, COLUMNS), first = task % nb_blocks(shape->n, COLUMNS) * COLUMNS;
    int count = nb_lesser(shape->n - first, COLUMNS), width = w->s->width;
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    (void)thread;
    nb_count_multiplications((double)count * width * shape->dv);
    nb_scalar_convolve(shape->dv, shape->n, h.v, width, w->s->kernel + (size_t)(head % shape->heads) * (size_t)width,
                       first, count, h.out);
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const skip_options *o = opts;
    const nb_layer_shape *shape = &pass->layer->shape;
    work w = {.pass = pass, .s = pass->state};
    pass->state = w.s->inner;
    pass->stream.component = o->of->canonical; /* so that it draws what it draws by itself */
    nb_status status = inner_of(o)->forward(pass, o->of->options, ctx);
    pass->state = w.s;
    NB_TRY(ctx, status);
    if (pass->refusal) return NB_OK;
    if (is_fitted(o) && !w.s->fitted) NB_TRY(ctx, fit_all(&w, ctx));
    nb_team_run(pass->team, nb_layer_heads(shape) * nb_blocks(shape->n, COLUMNS), add_convolution, &w);
    nb_pass_part(pass, NB_PART_OUTPUT);
    return NB_OK;
}

/* Returns the cost of a pass whose kernel is there already. */
static nb_attention_cost cost(const void *opts, const nb_layer_shape *shape, int threads)
{
    const skip_options *o = opts;
    nb_tensor t;
    int heads, width = o->width;
    double count = (double)outputs(shape);
    nb_attention_cost c = nb_attention_cost_of(o->of, shape, threads);
    nb_ctx *ctx = is_fitted(o) ? NULL : nb_ctx_new();
    if (!is_fitted(o) && (!ctx || open_file(o->kernel, &t, &heads, &width, ctx) != NB_OK)) width = 0;
    nb_ctx_free(ctx);
    c.multiplications += width > 0 ? width * count : NAN;
    c.bytes += sizeof(state) + (double)width * shape->heads * sizeof(nb_scalar);
    if (is_fitted(o))
        c.bytes += (double)shape->heads * sizeof(nb_status) + count * sizeof(nb_scalar) +
                   threads * nb_softmax_bytes(shape->d, shape->dv, nb_tile_of(shape->n));
    return c;
}

static const char *const references[] = {
    "Xiong et al., Nystromformer, AAAI 2021, arXiv:2102.03902, and its code: conv_kernel_size, 33 or 65", NULL};

const nb_attention nb_attention_skip = {
    .component = {"skip", "another attention plus a convolution of V, Nystromformer's skip connection", references,
                  options, sizeof(skip_options)},
    .traits_of = traits_of,
    .size_of = size_of,
    .passes_per_choice = passes_per_choice,
    .check = check,
    .refusal = refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "A fitted kernel knows the layer's exact outputs: it is an oracle, made in the first pass, which is not among\n"
        "those that are timed, and what it repairs is the most that a trained one could on this layer.",
};
