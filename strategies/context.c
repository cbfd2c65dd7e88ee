/* context.c - tokens by how well they match the other side on average.
 *
 *     score of query i:  mean over j of q_i.k_j = q_i.(mean of the keys)
 *     score of key j:    mean over i of q_i.k_j = (mean of the queries).k_j
 *     of a token:        the mean of both
 *
 * in O(nd), since the mean may be taken first. `top` takes the largest; `sample`
 * draws by the softmax of the scores. A mask does not count.
 *
 * This is what how-tos on landmark attention call adaptive or context-aware
 * selection; they form all n^2 products, the cost that landmarks are to avoid, and
 * add a learned term that the selection of the largest passes no gradient to. Here
 * it is the head's own q and k, and no such term: see learned.c. The score is
 * linear in a token, so `top` takes tokens of one direction, near one another. */
#include "strategy.h"

#include "linalg/linalg.h"
#include "linalg/vector.h"

typedef struct {
    int take;
} context_options;

enum { TOP, SAMPLE };
static const char *const takes[] = {"top", "sample", NULL};

static const nb_option options[] = {
    NB_ENUM(context_options, take, "top", takes, "take the largest scores, or draw by their softmax"),
    NB_OPTION_END};

/* mean <- weight times the mean of x's columns (d x n). */
static void weighted_mean(size_t d, size_t n, const double *x, double weight, double *mean)
{
    for (size_t i = 0; i < n; i++) nb_add(d, x + i * d, mean);
    nb_scale(d, weight / (double)n, mean);
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const context_options *o = opts;
    const nb_head *head = points->scene->head;
    size_t d = (size_t)head->d, n = (size_t)head->n;
    double *other, *score; /* the other side's mean, as long as a point; n */
    NB_NEED(other, nb_alloc_reals(ctx, (size_t)points->d, 1));
    NB_NEED(score, nb_alloc_reals(ctx, n, 1));
    double weight = points->side == NB_SIDE_JOINT ? 0.5 : 1;
    if (points->side != NB_SIDE_KEYS) weighted_mean(d, n, head->k, weight, other);
    if (points->side != NB_SIDE_QUERIES) weighted_mean(d, n, head->q, weight, points->side == NB_SIDE_JOINT ? other + d : other);
    nb_gemv(NB_TRANSPOSED, points->d, points->n, 1, points->x, points->d, other, 0, score);
    return nb_picks_by_log_score(picks, points->n, m, score, o->take == SAMPLE, ctx);
}

static unsigned traits_of(const void *opts)
{
    const context_options *o = opts;
    return o->take == SAMPLE ? NB_RANDOM | NB_NESTED : NB_NESTED;
}

static const char *const references[] = {
    "adaptive landmark selection as in how-tos on Nystroem attention; for the draw: Yellott, The relationship between Luce's choice "
    "axiom, Thurstone's theory of comparative judgment, and the double exponential distribution, J. Math. Psychol. 15, 1977", NULL};

const nb_strategy nb_strategy_context = {
    .component = {"context", "tokens by their mean product with the other side", references, options, sizeof(context_options)},
    .abi = NB_STRATEGY_ABI,
    .traits = NB_NESTED,
    .pairing = NB_INDEPENDENT,
    .traits_of = traits_of,
    .pick = pick,
};
