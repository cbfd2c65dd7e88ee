/* leverage.c - tokens by their leverage scores in S, an oracle.
 *
 * The score of query i is |U_k(i,:)|^2 / k, of key j |V_k(j,:)|^2 / k, with the
 * first k left and right singular vectors of S; of a token, the mean of both.
 * They sum to 1. `sample` draws without replacement, one after the other in
 * proportion to the scores of those that are left, tokens of score 0 last;
 * `top` takes the largest. The singular vectors of S cost passes over all of it,
 * so this tells what is to be won, not what to use. */
#include "strategy.h"

typedef struct {
    int rank, take;
} leverage_options;

enum { SAMPLE, TOP };
static const char *const takes[] = {"sample", "top", NULL};

static const nb_option options[] = {
    NB_INT_OR(leverage_options, rank, "auto", "auto", 1, 1 << 20, "k, singular vectors that count, at most n; auto: the number of landmarks"),
    NB_ENUM(leverage_options, take, "sample", takes, "draw in proportion to the scores, or take the largest"),
    NB_OPTION_END};

/* Adds weight |row of the first k singular vectors|^2 / k to each score. */
static void add_scores(const nb_spectrum *s, int n, int k, bool left, double weight, double *score)
{
    for (int j = 0; j < k; j++) {
        const double *vector = (left ? s->left : s->right) + (size_t)j * (size_t)n;
        for (int i = 0; i < n; i++) score[i] += weight * vector[i] * vector[i] / k;
    }
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const leverage_options *o = opts;
    const nb_spectrum *spectrum;
    double *score;
    int n = points->n, k = o->rank == NB_AUTO ? m : o->rank;
    NB_NEED(score, nb_alloc_reals(ctx, (size_t)n, 1));
    if (k > n) k = n;
    NB_TRY(ctx, nb_scene_singular_vectors(points->scene, k, &spectrum, ctx));
    double weight = points->side == NB_SIDE_JOINT ? 0.5 : 1;
    if (points->side != NB_SIDE_KEYS) add_scores(spectrum, n, k, true, weight, score);
    if (points->side != NB_SIDE_QUERIES) add_scores(spectrum, n, k, false, weight, score);
    return nb_picks_by_score(picks, n, m, score, o->take == SAMPLE, ctx);
}

static unsigned traits_of(const void *opts)
{
    const leverage_options *o = opts;
    return o->take == SAMPLE ? NB_RANDOM | NB_ORACLE : NB_ORACLE;
}

static const char *const references[] = {
    "Mahoney & Drineas, CUR matrix decompositions for improved data analysis, PNAS 106, 2009",
    "Gittens & Mahoney, Revisiting the Nystrom method for improved large-scale machine learning, JMLR 17, 2016",
    "Efraimidis & Spirakis, Weighted random sampling with a reservoir, Inf. Process. Lett. 97, 2006", NULL};

const nb_strategy nb_strategy_leverage = {
    .component = {"leverage", "tokens by the leverage scores of S (oracle)", references, options,
                  sizeof(leverage_options)},
    .abi = NB_STRATEGY_ABI,
    .traits = NB_RANDOM | NB_ORACLE,
    .pairing = NB_INDEPENDENT,
    .traits_of = traits_of,
    .pick = pick,
};
