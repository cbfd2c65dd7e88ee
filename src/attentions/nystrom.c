/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nystrom.c - attention from landmarks, F (X (B V)), with any strategy and any core: layers/landmark_pass.h. */
#include "attentions/attention.h"

#include "layers/landmark_pass.h"

typedef struct {
    const nb_choice *strategy, *core;
    int landmarks, pairing, factors, chunk;
} nystrom_options;

enum { OWN_PAIRING = NB_PAIRING_COUNT };
static const char *const pairings[] = {[NB_INDEPENDENT] = "independent",
                                       [NB_QUERIES] = "queries",
                                       [NB_KEYS] = "keys",
                                       [NB_JOINT] = "joint",
                                       [NB_SHARED] = "shared",
                                       [NB_SHARED_QUERIES] = "shared_queries",
                                       [NB_SHARED_KEYS] = "shared_keys",
                                       [NB_BOTH] = "both",
                                       [OWN_PAIRING] = "own",
                                       NULL};

static const nb_option options[] = {
    NB_COMPONENT(nystrom_options, strategy, "segment_means", &nb_strategies, "how the landmarks are picked"),
    NB_INT_OR(nystrom_options, landmarks, "log2", "64", 1, 1 << 20,
              "how many there are, at most n; log2: as many as log2(n), rounded down"),
    NB_COMPONENT(nystrom_options, core, "iterative", &nb_cores, "how X is computed"),
    NB_ENUM(nystrom_options, factors, "nystromformer", nb_factors_names,
            "what F, A, B are: the softmax of landmarks (nystromformer), columns and rows of S itself (cur, which takes "
            "the sums of all rows of S, n^2 d multiplications), or no middle (nocore)"),
    NB_ENUM(nystrom_options, pairing, "own", pairings,
            "whose points the strategy looks at; own: its own default, see `describe pairing`"),
    NB_INT(nystrom_options, chunk, "256", 1, 1 << 30,
           "queries that are handled together, rounded up to a multiple of 256; memory beyond the output does not grow "
           "with n where it is small, and the output's bits do not depend on it"),
    NB_OPTION_END};

static int size_of(const void *opts, const nb_layer_shape *shape)
{
    return nb_landmark_count(((const nystrom_options *)opts)->landmarks, shape->n);
}

static nb_landmark_how how_of(const void *opts, const nb_layer_shape *shape)
{
    const nystrom_options *o = opts;
    const nb_strategy *strategy = (const nb_strategy *)o->strategy->component;
    nb_pairing own = strategy->pick ? strategy->pairing : NB_BOTH;
    return (nb_landmark_how){.strategy = o->strategy,
                             .core = o->core,
                             .m = size_of(opts, shape),
                             .pairing = o->pairing == OWN_PAIRING ? own : (nb_pairing)o->pairing,
                             .kind = (nb_factors_kind)o->factors,
                             .chunk = o->chunk,
                             .refresh = 1};
}

static nb_status check(const void *opts, nb_ctx *ctx)
{
    nb_landmark_how how = how_of(opts, &(nb_layer_shape){.n = 1 << 20});
    return nb_landmark_check(&how, ctx);
}

static nb_status refusal(const void *opts, const nb_layer_shape *shape, const char **why, nb_ctx *ctx)
{
    nb_landmark_how how = how_of(opts, shape);
    return nb_landmark_refusal(&how, shape, why, ctx);
}

static unsigned traits_of(const void *opts)
{
    const nystrom_options *o = opts;
    return nb_landmark_traits(o->strategy, o->core) | (o->factors == NB_CUR ? NB_ATTENTION_CAUSAL : 0);
}

static nb_attention_cost cost(const void *opts, const nb_layer_shape *shape, int threads)
{
    nb_landmark_how how = how_of(opts, shape);
    return nb_landmark_cost(&how, shape, threads);
}

static nb_status open(const void *opts, const nb_layer_shape *shape, int threads, void **state, nb_ctx *ctx)
{
    nb_landmark_how how = how_of(opts, shape);
    return nb_landmark_open(&how, shape, threads, state, ctx);
}

static nb_status forward(nb_pass *pass, const void *opts, nb_ctx *ctx)
{
    nb_landmark_how how = how_of(opts, &pass->layer->shape);
    return nb_landmark_forward(pass, &how, ctx);
}

static const char *const references[] = {
    "Xiong et al., Nystromformer, AAAI 2021, arXiv:2102.03902",
    "Williams & Seeger, Using the Nystrom method to speed up kernel machines, NIPS 2000", NULL};

const nb_attention nb_attention_nystrom = {
    .component = {"nystrom", "attention from landmarks, F (X (B V))", references, options, sizeof(nystrom_options)},
    .traits_of = traits_of,
    .size = "landmarks",
    .size_of = size_of,
    .check = check,
    .refusal = refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "Nystromformer is nystrom(strategy=segment_means, core=\"iterative(steps=6, start=batch)\"): its code divides\n"
        "the start of the iteration by the largest column sum over all heads and inputs of a batch, so an output\n"
        "depends on its batch. start=paper and start=exact do so head by head.\n"
        "Landmarks and X are computed in double precision, all else in single.",
};
