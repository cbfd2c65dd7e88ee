/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bigbird.c - exact softmax over the blocks of keys that a block of queries sees: a window around its own, global ones,
 * and some drawn at random. Global blocks see all; they are the first ones and, of two or more, the last.
 *
 * About n block (window + random + global) (d + dv) multiplications a head; memory is a tile for each thread and the
 * numbers of the blocks that were drawn. */
#include "attentions/attention.h"

#include "layers/softmax.h"

typedef struct {
    int block, window, random, global;
} bigbird_options;

static const nb_option options[] = {
    NB_INT(bigbird_options, block, "64", 1, NB_BLOCK_QUERIES, "tokens of a block; the last one may have less"),
    NB_INT(bigbird_options, window, "3", 1, 1 << 20,
           "blocks that a block sees around its own, with it: half of them, rounded down, on each side"),
    NB_INT(bigbird_options, random, "3", 0, 1 << 20,
           "blocks drawn for each block of queries and each head, beyond those that it sees anyway: all others where "
           "these are fewer; a short last block is not drawn"),
    NB_INT(bigbird_options, global, "2", 0, 1 << 20,
           "blocks that see all and are seen by all, half of them, rounded down, at the end; all blocks where these "
           "are fewer"),
    NB_OPTION_END};

/* Blocks first, second ... and last, last but one ... are global, and a block between them sees among those between
 * a window and drawn ones. */
typedef struct {
    const nb_layer_shape *shape;
    int block, blocks, reach, random;
    int start, end, whole; /* of those between; where the whole ones among them end */
} plan;

typedef struct {
    nb_softmax *softmax; /* one for each thread */
    int *drawn;          /* random x blocks, for each head of an input */
    gsl_rng *rng;
} bigbird_state;

typedef struct {
    plan plan;
    const nb_pass *pass;
    const bigbird_state *state;
} work;

static plan plan_of(const void *opts, const nb_layer_shape *s)
{
    const bigbird_options *o = opts;
    plan p = {.shape = s, .block = o->block, .blocks = (s->n + o->block - 1) / o->block};
    int global = nb_lesser(o->global, p.blocks);
    p.reach = nb_lesser(o->window / 2, p.blocks);
    p.random = nb_lesser(o->random, p.blocks);
    p.start = global - global / 2;
    p.end = p.blocks - global / 2;
    p.whole = nb_lesser(p.end, s->n / o->block);
    return p;
}

static bool is_global(const plan *p, int block)
{
    return block < p->start || block >= p->end;
}

/* Tokens before a block. */
static int before(const plan *p, int block)
{
    return (int)((int64_t)block * p->block < p->shape->n ? (int64_t)block * p->block : p->shape->n);
}

/* The blocks that a block between the global ones sees. */
typedef struct {
    int start, end;    /* window */
    int others, drawn; /* whole blocks beyond it; how many of them are seen */
} view;

static view view_of(const plan *p, int block)
{
    view v = {.start = nb_greater(block - p->reach, p->start), .end = nb_lesser(block + p->reach + 1, p->end)};
    v.others = v.start - p->start + nb_greater(p->whole - v.end, 0);
    v.drawn = nb_lesser(p->random, v.others);
    return v;
}

/* v->drawn of the others, by Floyd's way of drawing without replacement. */
static void draw_blocks(const plan *p, const view *v, gsl_rng *rng, int *drawn)
{
    for (int count = 0, j = v->others - v->drawn; j < v->others; j++, count++) {
        int chosen = (int)gsl_rng_uniform_int(rng, (unsigned long)j + 1);
        for (int i = 0; i < count; i++)
            if (drawn[i] == chosen) chosen = j;
        drawn[count] = chosen;
    }
    for (int i = 0; i < v->drawn; i++) {
        int left = v->start - p->start;
        drawn[i] = drawn[i] < left ? p->start + drawn[i] : v->end + drawn[i] - left;
    }
}

static int *drawn_for(const plan *p, const bigbird_state *state, int head, int block)
{
    return state->drawn + ((size_t)(head % p->shape->heads) * (size_t)p->blocks + (size_t)block) * (size_t)p->random;
}

static void draw_all_blocks(const plan *p, const nb_pass *pass)
{
    const bigbird_state *state = pass->state;
    nb_stream stream = pass->stream;
    stream.role = "blocks";
    nb_random_seed(state->rng, &stream);
    for (int h = 0; h < p->shape->heads; h++) {
        for (int b = p->start; b < p->end; b++) {
            view v = view_of(p, b);
            draw_blocks(p, &v, state->rng, drawn_for(p, state, h, b));
        }
    }
}

/* Keys of the blocks start ... end - 1. */
static void attend_blocks(const plan *p, nb_softmax *softmax, const nb_layer_head *h, int start, int end)
{
    const nb_layer_shape *s = p->shape;
    size_t at = (size_t)before(p, start);
    if (start < end)
        nb_softmax_add(softmax, before(p, end) - (int)at, h->k + at * (size_t)s->d, h->v + at * (size_t)s->dv, NULL);
}

static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const plan *p = &w->plan;
    const nb_layer_shape *s = p->shape;
    int head = task / p->blocks, block = task % p->blocks, first = before(p, block);
    nb_layer_head h = nb_layer_head_of(w->pass->layer, w->pass->out, head);
    nb_softmax *softmax = &w->state->softmax[thread];
    nb_softmax_begin(softmax, before(p, block + 1) - first, h.q + (size_t)first * (size_t)s->d,
                     h.out + (size_t)first * (size_t)s->dv);
    if (is_global(p, block)) {
        attend_blocks(p, softmax, &h, 0, p->blocks);
    } else {
        view v = view_of(p, block);
        const int *drawn = drawn_for(p, w->state, head, block);
        attend_blocks(p, softmax, &h, 0, p->start);
        attend_blocks(p, softmax, &h, v.start, v.end);
        for (int i = 0; i < v.drawn; i++) attend_blocks(p, softmax, &h, drawn[i], drawn[i] + 1);
        attend_blocks(p, softmax, &h, p->end, p->blocks);
    }
    nb_softmax_end(softmax, NULL);
}

static size_t drawn_count(const plan *p)
{
    return (size_t)p->shape->heads * (size_t)p->blocks * (size_t)p->random;
}

static nb_status open(const void *opts, const nb_layer_shape *s, int threads, void **out, nb_ctx *ctx)
{
    plan p = plan_of(opts, s);
    bigbird_state *state;
    NB_NEED(state, nb_alloc(ctx, 1, sizeof *state));
    NB_NEED(state->drawn, nb_alloc(ctx, drawn_count(&p), sizeof *state->drawn));
    NB_NEED(state->softmax, nb_alloc(ctx, (size_t)threads, sizeof *state->softmax));
    for (int i = 0; i < threads; i++)
        NB_TRY(ctx, nb_softmax_new(s->d, s->dv, nb_tile_of(s->n), &state->softmax[i], ctx));
    *out = state;
    return nb_random_new(&state->rng, ctx);
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    work w = {.plan = plan_of(opts, &pass->layer->shape), .pass = pass, .state = pass->state};
    (void)ctx;
    if (pass->index == 0) draw_all_blocks(&w.plan, pass);
    nb_pass_part(pass, NB_PART_LANDMARKS);
    nb_team_run(pass->team, nb_layer_heads(w.plan.shape) * w.plan.blocks, attend, &w);
    nb_pass_part(pass, NB_PART_F);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *s, int threads)
{
    plan p = plan_of(opts, s);
    double work_done = 0, global = before(&p, p.start) + (s->n - before(&p, p.end));
    for (int b = 0; b < p.blocks; b++) {
        double queries = before(&p, b + 1) - before(&p, b), keys = s->n;
        if (!is_global(&p, b)) {
            view v = view_of(&p, b);
            keys = global + (before(&p, v.end) - before(&p, v.start)) + (double)v.drawn * p.block;
        }
        work_done += nb_softmax_work(queries, keys, s->d, s->dv);
    }
    return (nb_attention_cost){.multiplications = nb_layer_heads(s) * work_done,
                               .bytes = sizeof(bigbird_state) + (double)(drawn_count(&p) * sizeof(int)) +
                                        threads * nb_softmax_bytes(s->d, s->dv, nb_tile_of(s->n))};
}

static unsigned traits_of(const void *opts)
{
    const bigbird_options *o = opts;
    return NB_ATTENTION_UNTRAINED | (o->random > 0 ? NB_ATTENTION_RANDOM : 0);
}

static int passes_per_choice(const void *opts)
{
    const bigbird_options *o = opts;
    return o->random > 0 ? INT_MAX : 1;
}

static const char *const references[] = {
    "Zaheer et al., Big Bird: transformers for longer sequences, NeurIPS 2020, arXiv:2007.14062", NULL};

const nb_attention nb_attention_bigbird = {
    .component = {"bigbird", "softmax over blocks of keys: a window, global and random ones", references, options,
                  sizeof(bigbird_options)},
    .traits = NB_ATTENTION_RANDOM | NB_ATTENTION_UNTRAINED,
    .traits_of = traits_of,
    .size = "random",
    .passes_per_choice = passes_per_choice,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "BigBird-ITC: existing tokens are global, the first block and the last. Random blocks are drawn once, at the\n"
        "first pass, and are the same for all inputs of a batch. Models are trained with what they see; on the\n"
        "points of one that was not, the keys that it does not see are missing. Where the blocks seen are all, it is\n"
        "exact.",
};
