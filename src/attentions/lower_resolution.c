/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lower_resolution.c - exact attention on a smaller picture: patches are averaged over squares of factor x factor, in
 * queries, keys and values; a patch's output is interpolated between those of the squares around it.
 *
 * Tokens before the patches stay as they are. With p squares and tokens before them, p^2 (d + dv) multiplications a
 * head and 4 n dv to interpolate. */
#include "attentions/attention.h"

#include "layers/near.h"
#include "layers/softmax.h"

#include <math.h>
#include <string.h>

typedef struct {
    int factor, grid, interpolation, weighted;
} lower_options;

enum { BILINEAR, NEAREST };
static const char *const interpolations[] = {"bilinear", "nearest", NULL};

static const nb_option options[] = {
    NB_INT(lower_options, factor, "2", 1, 1024, "side of a square, in patches"),
    NB_INT_OR(lower_options, grid, "auto", "auto", 1, 1 << 20,
              "columns of the picture, in patches, behind n modulo grid other tokens; auto: of the largest square"),
    NB_ENUM(lower_options, interpolation, "bilinear", interpolations, "of outputs, between the centres of squares"),
    NB_BOOL(lower_options, weighted, "true", "add to a square's logits the logarithm of the number of its patches"),
    NB_OPTION_END};

typedef struct {
    const nb_layer_shape *shape;
    int before, rows, columns;         /* tokens before the patches; of the picture */
    int factor, low_rows, low_columns; /* of squares */
    int points;                        /* tokens before the patches, and squares */
    bool nearest, weighted;
} plan;

/* Averages of a head: d x points, or dv x points. */
typedef struct {
    nb_scalar *k, *v; /* of a key head */
} key_state;
typedef struct {
    nb_scalar *q, *out; /* of a query head */
} query_state;

typedef struct {
    key_state *keys;
    query_state *queries;
    nb_scalar *bias;     /* NB_BLOCK_QUERIES x points: the same for each query */
    nb_softmax *softmax; /* a thread's */
} lower_state;

typedef struct {
    plan plan;
    nb_pass *pass;
    const lower_state *state;
} work;

static plan plan_of(const lower_options *o, const nb_layer_shape *s)
{
    int columns = o->grid == NB_AUTO ? nb_square_side(s->n) : o->grid;
    plan p = {.shape = s,
              .columns = columns,
              .factor = o->factor,
              .nearest = o->interpolation == NEAREST,
              .weighted = o->weighted};
    if (columns == 0) return p; /* refused */
    p.rows = o->grid == NB_AUTO ? columns : s->n / columns;
    p.before = s->n - p.rows * columns;
    p.low_rows = nb_blocks(p.rows, o->factor);
    p.low_columns = nb_blocks(columns, o->factor);
    p.points = p.before + p.low_rows * p.low_columns;
    return p;
}

/* Patches of a square on one of its sides. */
static int patches_of(int square, int factor, int side)
{
    return nb_lesser(factor, side - square * factor);
}

/* low (d x points) <- averages of x (d x n). */
static void average(const plan *p, int d, const nb_scalar *x, nb_scalar *low)
{
    size_t size = (size_t)d, before = (size_t)p->before;
    memcpy(low, x, before * size * sizeof *low);
    for (int i = 0; i < p->low_rows; i++)
        for (int j = 0; j < p->low_columns; j++) {
            int rows = patches_of(i, p->factor, p->rows), columns = patches_of(j, p->factor, p->columns);
            nb_scalar *to = low + (before + (size_t)(i * p->low_columns + j)) * size;
            memset(to, 0, size * sizeof *to);
            for (int y = i * p->factor; y < i * p->factor + rows; y++)
                nb_scalar_add_columns(d, columns, x + (before + (size_t)(y * p->columns + j * p->factor)) * size, to);
            nb_scalar_scale(size, 1 / (nb_scalar)(rows * columns), to);
        }
    nb_count_multiplications((double)p->low_rows * p->low_columns * d);
}

static void average_keys(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer *layer = w->pass->layer;
    size_t n = (size_t)layer->shape.n, head = (size_t)task;
    (void)thread;
    average(&w->plan, layer->shape.d, layer->k + head * n * (size_t)layer->shape.d, w->state->keys[task].k);
    average(&w->plan, layer->shape.dv, layer->v + head * n * (size_t)layer->shape.dv, w->state->keys[task].v);
}

static void average_queries(void *self, int task, int thread)
{
    const work *w = self;
    (void)thread;
    average(&w->plan, w->plan.shape->d, nb_layer_head_of(w->pass->layer, NULL, task).q, w->state->queries[task].q);
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    int blocks = nb_blocks(p->points, NB_BLOCK_QUERIES), at = task % blocks * NB_BLOCK_QUERIES;
    const query_state *x = &w->state->queries[task / blocks];
    const key_state *keys = &w->state->keys[nb_layer_key_head(p->shape, task / blocks)];
    nb_softmax *softmax = &w->state->softmax[thread];
    nb_mask mask = {.bias = w->state->bias, .bias_stride = NB_BLOCK_QUERIES};
    nb_softmax_begin(softmax, nb_lesser(p->points - at, NB_BLOCK_QUERIES), x->q + (size_t)at * (size_t)p->shape->d,
                     x->out + (size_t)at * (size_t)p->shape->dv);
    nb_softmax_add(softmax, p->points, keys->k, keys->v, p->weighted ? &mask : NULL);
    nb_softmax_end(softmax, NULL);
}

/* Two squares beside a patch on one side of the picture, and the share of the second. */
typedef struct {
    int first, second;
    nb_scalar share;
} between;

static between squares_beside(const plan *p, int patch, int squares)
{
    if (p->nearest) return (between){patch / p->factor, patch / p->factor, 0};
    /* The patch's centre, where squares have theirs at 0, 1, ..., moved between the first and the last */
    double place = fmin(fmax((patch + 0.5) / p->factor - 0.5, 0), squares - 1);
    int first = (int)place;
    return (between){first, nb_lesser(first + 1, squares - 1), (nb_scalar)(place - first)};
}

static void interpolate(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    size_t dv = (size_t)p->shape->dv, before = (size_t)p->before;
    const nb_scalar *low = w->state->queries[task].out;
    nb_scalar *out = nb_layer_head_of(w->pass->layer, w->pass->out, task).out;
    (void)thread;
    memcpy(out, low, before * dv * sizeof *out);
    for (int y = 0; y < p->rows; y++)
        for (int x = 0; x < p->columns; x++) {
            between i = squares_beside(p, y, p->low_rows), j = squares_beside(p, x, p->low_columns);
            nb_scalar *to = out + (before + (size_t)(y * p->columns + x)) * dv;
            /* Bilinear among the four squares around it; nearest: the first alone, since both shares are 0 */
            const int rows[] = {i.first, i.first, i.second, i.second},
                      columns[] = {j.first, j.second, j.first, j.second};
            const nb_scalar shares[] = {(1 - i.share) * (1 - j.share), (1 - i.share) * j.share, i.share * (1 - j.share),
                                        i.share * j.share};
            memset(to, 0, dv * sizeof *to);
            for (int c = 0; c < 4; c++)
                nb_scalar_add(dv, shares[c], low + (before + (size_t)(rows[c] * p->low_columns + columns[c])) * dv, to);
        }
    nb_count_multiplications(4.0 * p->rows * p->columns * p->shape->dv);
}

static nb_status refusal(const void *opts, const nb_layer_shape *s, const char **why, nb_ctx *ctx)
{
    const lower_options *o = opts;
    if (o->grid == NB_AUTO && nb_square_side(s->n) == 0)
        NB_NEED(*why, nb_format(ctx, "grid = auto, and n = %d is not a square and up to %d tokens before it", s->n,
                                NB_MOST_BEFORE));
    if (o->grid != NB_AUTO && o->grid > s->n)
        NB_NEED(*why, nb_format(ctx, "grid = %d columns, and there are %d tokens", o->grid, s->n));
    return NB_OK;
}

static int size_of(const void *opts, const nb_layer_shape *s)
{
    return plan_of(opts, s).points;
}

static size_t point_scalars(const plan *p) /* of a key head, or of a query head */
{
    return (size_t)p->points * ((size_t)p->shape->d + (size_t)p->shape->dv);
}

static void find_bias(const plan *p, nb_scalar *bias)
{
    for (int c = 0; c < p->points; c++) {
        int square = c - p->before, i = square / p->low_columns, j = square % p->low_columns;
        int patches = square < 0 ? 1 : patches_of(i, p->factor, p->rows) * patches_of(j, p->factor, p->columns);
        for (int q = 0; q < NB_BLOCK_QUERIES; q++) bias[c * NB_BLOCK_QUERIES + q] = (nb_scalar)log(patches);
    }
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    plan p = plan_of(opts, s);
    int key_heads = nb_layer_key_heads(s), heads = nb_layer_heads(s);
    lower_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->keys, nb_alloc(ctx, (size_t)key_heads, sizeof *state->keys));
    NB_NEED(state->queries, nb_alloc(ctx, (size_t)heads, sizeof *state->queries));
    NB_NEED(state->bias, nb_alloc_scalars(ctx, (size_t)p.points * NB_BLOCK_QUERIES));
    NB_NEED(state->softmax, nb_alloc(ctx, (size_t)threads, sizeof *state->softmax));
    for (int i = 0; i < key_heads; i++) {
        NB_NEED(state->keys[i].k, nb_alloc_scalars(ctx, point_scalars(&p)));
        state->keys[i].v = state->keys[i].k + (size_t)p.points * (size_t)s->d;
    }
    for (int i = 0; i < heads; i++) {
        NB_NEED(state->queries[i].q, nb_alloc_scalars(ctx, point_scalars(&p)));
        state->queries[i].out = state->queries[i].q + (size_t)p.points * (size_t)s->d;
    }
    for (int i = 0; i < threads; i++)
        NB_TRY(ctx, nb_softmax_new(s->d, s->dv, nb_tile_of(p.points), &state->softmax[i], ctx));
    find_bias(&p, state->bias);
    *out = state;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = pass->shape;
    work w = {.plan = plan_of(opts, s), .pass = pass, .state = pass->state};
    int heads = nb_layer_heads(s);
    (void)ctx;
    nb_team_run(pass->team, nb_layer_key_heads(s), average_keys, &w);
    nb_team_run(pass->team, heads, average_queries, &w);
    nb_pass_part(pass, NB_PART_LANDMARKS);
    nb_team_run(pass->team, heads * nb_blocks(w.plan.points, NB_BLOCK_QUERIES), attend, &w);
    nb_pass_part(pass, NB_PART_F);
    nb_team_run(pass->team, heads, interpolate, &w);
    nb_pass_part(pass, NB_PART_OUTPUT);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    plan p = plan_of(opts, s);
    double heads = nb_layer_heads(s), key_heads = nb_layer_key_heads(s), d = s->d, dv = s->dv, points = p.points;
    double squares = (double)p.low_rows * p.low_columns, patches = (double)p.rows * p.columns;
    double head_bytes = sizeof(nb_scalar) * (double)point_scalars(&p);
    return (nb_attention_cost){
        .multiplications = key_heads * squares * (d + dv) +
                           heads * (squares * d + nb_softmax_work(points, points, d, dv) + 4 * patches * dv),
        .bytes = sizeof(lower_state) + key_heads * (sizeof(key_state) + head_bytes) +
                 heads * (sizeof(query_state) + head_bytes) + sizeof(nb_scalar) * points * NB_BLOCK_QUERIES +
                 threads * nb_softmax_bytes(s->d, s->dv, nb_tile_of(p.points))};
}

static const char *const references[] = {
    "Wang et al., Pyramid vision transformer, ICCV 2021, arXiv:2102.12122 (smaller pictures for keys and values alone)",
    NULL};

const nb_attention nb_attention_lower_resolution = {
    .component = {"lower_resolution", "exact attention on a smaller picture, with outputs interpolated", references,
                  options, sizeof(lower_options)},
    .size = "factor",
    .size_of = size_of,
    .refusal = refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "A baseline for images. A model that is given a smaller picture sees other features, since it has other\n"
        "patches from its first layer on; here one layer's queries, keys and values are averaged. With factor = 1 it\n"
        "is exact.",
};
