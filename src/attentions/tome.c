/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tome.c - token merging: exact attention to keys that were merged in pairs of the most similar ones, by bipartite soft
 * matching. Of each key head, until `keys` are left:
 *
 * 1. Keys are sources and targets in turns. Each source has the target of largest cosine.
 * 2. The sources with the largest cosines, at most half of all keys, merge with their targets: keys and values become
 *    means, weighted by how many tokens each stands for.
 * 3. The sources that are left, in their order, and then the targets are the keys of the next round.
 *
 * Every query's output is the softmax over these keys of q'k/sqrt d + ln(tokens that k stands for), times their values.
 * n^2 d / 3 multiplications to merge a key head to few keys, or n^2 d / 4 to a half; then n keys (d + dv) a head. */
#include "attentions/attention.h"

#include "layers/softmax.h"

#include <math.h>
#include <string.h>

typedef struct {
    int keys, class_token;
} tome_options;

static const nb_option options[] = {NB_INT(tome_options, keys, "256", 1, 1 << 20, "keys that are left"),
                                    NB_BOOL(tome_options, class_token, "false", "the first token does not merge"),
                                    NB_OPTION_END};

enum { SOURCES = 128 }; /* whose cosines are formed at a time */

/* Keys, values, and how many tokens each stands for: d x n, dv x n, n. */
typedef struct {
    nb_scalar *k, *v, *size;
} merged_keys;

/* A key head's. */
typedef struct {
    merged_keys now, next;
    nb_scalar *bias;            /* NB_BLOCK_QUERIES x keys: ln size, the same for each query */
    nb_scalar *source, *target; /* unit vectors: d x (n + 1) / 2, d x n / 2 */
    nb_scalar *cosine;          /* (n + 1) / 2: the largest of a source */
    int *nearest;               /* (n + 1) / 2: its target */
    size_t *order;              /* (n + 1) / 2 */
    bool *merges;               /* (n + 1) / 2 */
} key_state;

/* A thread's. */
typedef struct {
    nb_scalar *products; /* n / 2 x SOURCES */
    nb_softmax softmax;
} room;

typedef struct {
    key_state *keys;
    room *rooms;
} tome_state;

typedef struct {
    const tome_options *o;
    nb_pass *pass;
    const tome_state *state;
} work;

/* unit (d x count) <- every other column of k from `first` on, each divided by its norm; zero stays zero. */
static void normalise(int d, int first, int count, const nb_scalar *k, nb_scalar *unit)
{
    for (size_t i = 0; i < (size_t)count; i++) {
        const nb_scalar *from = k + ((size_t)first + 2 * i) * (size_t)d;
        nb_scalar *to = unit + i * (size_t)d, norm = (nb_scalar)sqrt((double)nb_scalar_dot((size_t)d, from, from));
        memcpy(to, from, (size_t)d * sizeof *to);
        if (norm > 0) nb_scalar_scale((size_t)d, 1 / norm, to);
    }
    nb_count_multiplications(2.0 * count * d);
}

/* Step 1, of `count` keys. */
static void match(const work *w, const key_state *x, int count, nb_scalar *products)
{
    int d = w->pass->shape->d, sources = (count + 1) / 2, targets = count / 2;
    normalise(d, 0, sources, x->now.k, x->source);
    normalise(d, 1, targets, x->now.k, x->target);
    for (int at = 0; at < sources; at += SOURCES) {
        int some = nb_lesser(SOURCES, sources - at);
        nb_scalar_gemm(NB_TRANSPOSED, NB_PLAIN, targets, some, d, 1, x->target, d, x->source + (size_t)at * (size_t)d,
                       d, 0, products, targets);
        for (int i = 0; i < some; i++) {
            const nb_scalar *column = products + (size_t)i * (size_t)targets;
            int nearest = 0;
            for (int j = 1; j < targets; j++)
                if (column[j] > column[nearest]) nearest = j;
            x->nearest[at + i] = nearest;
            x->cosine[at + i] = column[nearest];
        }
    }
    if (w->o->class_token) x->cosine[0] = -INFINITY;
}

/* Key `to`, and its value, become the weighted means of its own and those of key `from`. */
static void merge_keys(const nb_layer_shape *s, const merged_keys *x, size_t from, size_t to)
{
    size_t d = (size_t)s->d, dv = (size_t)s->dv;
    nb_scalar share = x->size[from] / (x->size[from] + x->size[to]);
    nb_scalar_scale(d, 1 - share, x->k + to * d);
    nb_scalar_add(d, share, x->k + from * d, x->k + to * d);
    nb_scalar_scale(dv, 1 - share, x->v + to * dv);
    nb_scalar_add(dv, share, x->v + from * dv, x->v + to * dv);
    x->size[to] += x->size[from];
}

static void move_key(const nb_layer_shape *s, const merged_keys *x, size_t from, const merged_keys *to, size_t at)
{
    size_t d = (size_t)s->d, dv = (size_t)s->dv;
    memcpy(to->k + at * d, x->k + from * d, d * sizeof *x->k);
    memcpy(to->v + at * dv, x->v + from * dv, dv * sizeof *x->v);
    to->size[at] = x->size[from];
}

/* How many of `count` keys merge in a round. */
static int merges_of(const tome_options *o, int count)
{
    return nb_lesser(count - o->keys, (count - o->class_token) / 2);
}

/* Steps 2 and 3. */
static void merge_round(const work *w, key_state *x, int count)
{
    const nb_layer_shape *s = w->pass->shape;
    size_t sources = (size_t)(count + 1) / 2, targets = (size_t)count / 2, at = 0;
    int merges = merges_of(w->o, count);
    memset(x->merges, 0, sources * sizeof *x->merges);
    nb_scalar_largest_indices((size_t)merges, sources, x->cosine, x->order);
    for (int i = 0; i < merges; i++) x->merges[x->order[i]] = true;
    for (size_t i = 0; i < sources; i++)
        if (x->merges[i])
            merge_keys(s, &x->now, 2 * i, 2 * (size_t)x->nearest[i] + 1);
        else
            move_key(s, &x->now, 2 * i, &x->next, at++);
    for (size_t j = 0; j < targets; j++) move_key(s, &x->now, 2 * j + 1, &x->next, at++);
    merged_keys was = x->now;
    x->now = x->next;
    x->next = was;
    nb_count_multiplications(merges * (2.0 * (s->d + s->dv) + 1));
}

static void merge_head(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer *layer = w->pass->layer;
    const nb_layer_shape *s = &layer->shape;
    size_t n = (size_t)s->n, d = (size_t)s->d, dv = (size_t)s->dv;
    key_state *x = &w->state->keys[task];
    memcpy(x->now.k, layer->k + (size_t)task * n * d, n * d * sizeof *x->now.k);
    memcpy(x->now.v, layer->v + (size_t)task * n * dv, n * dv * sizeof *x->now.v);
    for (size_t i = 0; i < n; i++) x->now.size[i] = 1;
    for (int count = s->n; count > w->o->keys; count -= merges_of(w->o, count)) {
        match(w, x, count, w->state->rooms[thread].products);
        merge_round(w, x, count);
    }
    for (size_t j = 0; j < (size_t)w->o->keys; j++)
        for (size_t i = 0; i < NB_BLOCK_QUERIES; i++)
            x->bias[j * NB_BLOCK_QUERIES + i] = (nb_scalar)log((double)x->now.size[j]);
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = w->pass->shape;
    int blocks = nb_blocks(s->n, NB_BLOCK_QUERIES), at = task % blocks * NB_BLOCK_QUERIES;
    const key_state *x = &w->state->keys[nb_layer_key_head(s, task / blocks)];
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, task / blocks);
    nb_softmax *softmax = &w->state->rooms[thread].softmax;
    nb_mask mask = {.bias = x->bias, .bias_stride = NB_BLOCK_QUERIES};
    nb_softmax_begin(softmax, nb_lesser(s->n - at, NB_BLOCK_QUERIES), h.q + (size_t)at * (size_t)s->d,
                     h.out + (size_t)at * (size_t)s->dv);
    nb_softmax_add(softmax, w->o->keys, x->now.k, x->now.v, &mask);
    nb_softmax_end(softmax, NULL);
}

static nb_status refusal(const void *opts, const nb_layer_shape *s, const char **why, nb_ctx *ctx)
{
    const tome_options *o = opts;
    NB_TRY(ctx, nb_keys_refusal(o->keys, s, why, ctx));
    if (o->class_token && o->keys == 1 && s->n > 1)
        *why = "keys = 1, and beside the first token, which does not merge, others are left";
    return NB_OK;
}

static size_t half_of(const nb_layer_shape *s)
{
    return ((size_t)s->n + 1) / 2;
}

static size_t key_scalars(const tome_options *o, const nb_layer_shape *s)
{
    size_t n = (size_t)s->n, d = (size_t)s->d;
    return 2 * n * (d + (size_t)s->dv + 1) + n * d + half_of(s) + (size_t)o->keys * NB_BLOCK_QUERIES;
}

static nb_scalar *place(const nb_layer_shape *s, merged_keys *x, nb_scalar *at)
{
    size_t n = (size_t)s->n;
    x->k = at;
    x->v = x->k + n * (size_t)s->d;
    x->size = x->v + n * (size_t)s->dv;
    return x->size + n;
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    const tome_options *o = opts;
    int key_heads = nb_layer_key_heads(s);
    tome_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->keys, nb_alloc(ctx, (size_t)key_heads, sizeof *state->keys));
    NB_NEED(state->rooms, nb_alloc(ctx, (size_t)threads, sizeof *state->rooms));
    for (int i = 0; i < key_heads; i++) {
        key_state *x = &state->keys[i];
        nb_scalar *all;
        NB_NEED(all, nb_alloc_scalars(ctx, key_scalars(o, s)));
        x->source = place(s, &x->next, place(s, &x->now, all));
        x->target = x->source + half_of(s) * (size_t)s->d;
        x->cosine = x->target + (size_t)(s->n / 2) * (size_t)s->d;
        x->bias = x->cosine + half_of(s);
        NB_NEED(x->nearest, nb_alloc(ctx, half_of(s), sizeof *x->nearest));
        NB_NEED(x->order, nb_alloc(ctx, half_of(s), sizeof *x->order));
        NB_NEED(x->merges, nb_alloc(ctx, half_of(s), sizeof *x->merges));
    }
    for (int i = 0; i < threads; i++) {
        NB_NEED(state->rooms[i].products, nb_alloc_scalars(ctx, half_of(s) * SOURCES));
        NB_TRY(ctx, nb_softmax_new(s->d, s->dv, nb_tile_of(o->keys), &state->rooms[i].softmax, ctx));
    }
    *out = state;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    const nb_layer_shape *s = pass->shape;
    work w = {.o = opts, .pass = pass, .state = pass->state};
    (void)ctx;
    nb_team_run(pass->team, nb_layer_key_heads(s), merge_head, &w);
    nb_pass_part(pass, NB_PART_LANDMARKS);
    nb_team_run(pass->team, nb_layer_heads(s) * nb_blocks(s->n, NB_BLOCK_QUERIES), attend, &w);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    const tome_options *o = opts;
    double d = s->d, dv = s->dv, merging = 0, key_heads = nb_layer_key_heads(s), half = (double)half_of(s);
    for (int count = s->n; count > o->keys; count -= merges_of(o, count)) {
        int targets = count / 2;
        double sources = count - targets;
        merging += 2 * count * d + sources * targets * d + merges_of(o, count) * (2 * (d + dv) + 1);
    }
    return (nb_attention_cost){
        .multiplications = key_heads * merging + nb_layer_heads(s) * nb_softmax_work(s->n, o->keys, d, dv),
        .bytes = sizeof(tome_state) +
                 key_heads * (sizeof(key_state) + sizeof(nb_scalar) * (double)key_scalars(o, s) +
                              half * (sizeof(int) + sizeof(size_t) + sizeof(bool))) +
                 threads * (sizeof(room) + sizeof(nb_scalar) * half * SOURCES +
                            nb_softmax_bytes(s->d, s->dv, nb_tile_of(o->keys)) - sizeof(nb_softmax))};
}

static const char *const references[] = {
    "Bolya et al., Token merging: your ViT but faster, ICLR 2023, arXiv:2210.09461", NULL};

const nb_attention nb_attention_tome = {
    .component = {"tome", "exact attention to merged keys, the most similar ones, by bipartite matching (ToMe)",
                  references, options, sizeof(tome_options)},
    .size = "keys",
    .refusal = refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "ToMe merges a few tokens in each layer, by keys that are means over heads, and later layers have fewer\n"
        "tokens. Here one layer alone is approximated: each key head merges as many keys as it takes, in rounds, and\n"
        "all queries stay. class_token is for models whose first token is one, as there. With keys = n it is exact.",
};
