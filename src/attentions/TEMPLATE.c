/* TEMPLATE.c - each token gets `share` of its own value and the rest from the mean of all values, O(n d): say here what
 * it computes, the formula, the cost, the source.
 *
 * `nysbench new attention NAME` copies this file. In src/attentions/ it is all that is needed: the build finds it,
 * `nysbench list` names it, and `make test` runs the conformance test on it. Elsewhere it becomes a plug-in, see
 * src/components/plugin.h. The record's name and its symbol, nb_attention_NAME, must equal the file's stem. */
#include "attentions/attention.h"

typedef struct {
    double share;
} template_options;

static const nb_option options[] = {NB_REAL(template_options, share, "0.5", 0, 1, "of a token's own value"),
                                    NB_OPTION_END};

typedef struct { /* what tasks are given */
    nb_pass *pass;
    const template_options *o;
    nb_scalar *means; /* dv x heads */
} work;

/* One head. What a task writes depends on its number alone, never on the thread. */
static void attend(void *self, int task, int thread)
{
    const work *w = self;
    const nb_layer_shape *s = &w->pass->layer->shape;
    nb_layer_head head = nb_layer_head_of(w->pass->layer, w->pass->out, task);
    nb_scalar *mean = w->means + (size_t)task * (size_t)s->dv, share = (nb_scalar)w->o->share;
    (void)thread;
    for (int l = 0; l < s->dv; l++) mean[l] = 0;
    for (int i = 0; i < s->n; i++)
        for (int l = 0; l < s->dv; l++) mean[l] += head.v[i * s->dv + l] / (nb_scalar)s->n;
    for (int i = 0; i < s->n; i++)
        for (int l = 0; l < s->dv; l++) head.out[i * s->dv + l] = share * head.v[i * s->dv + l] + (1 - share) * mean[l];
    nb_count_multiplications(3.0 * s->n * s->dv);
}

/* All that passes need is allocated here, and none in them. */
static nb_status open(const void *opts, const nb_layer_shape *shape, int threads, void **state, nb_ctx *ctx)
{
    (void)opts, (void)threads;
    NB_NEED(*state, nb_alloc_scalars(ctx, (size_t)nb_layer_heads(shape) * (size_t)shape->dv));
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    work w = {.pass = pass, .o = opts, .means = pass->state};
    (void)ctx;
    nb_team_run(pass->team, nb_layer_heads(&pass->layer->shape), attend, &w);
    nb_pass_part(pass, NB_PART_OUTPUT);
    return NB_OK;
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *shape, int threads)
{
    double heads = nb_layer_heads(shape);
    (void)opts, (void)threads;
    return (nb_attention_cost){.multiplications = 3 * heads * shape->n * shape->dv,
                               .bytes = heads * shape->dv * sizeof(nb_scalar)};
}

static const char *const references[] = {"Author, Title, where and when", NULL};

const nb_attention nb_attention_TEMPLATE = {
    .component = {"TEMPLATE", "one line for the list", references, options, sizeof(template_options)},
    .traits = 0, /* NB_ATTENTION_CAUSAL where a mask is respected, NB_ATTENTION_RANDOM where numbers are drawn ... */
    .cost = cost,
    .open = open,
    .forward = forward,
};

NB_PLUGIN({"attention", &nb_attention_TEMPLATE.component}); /* elsewhere; in src/attentions/ it says nothing */
