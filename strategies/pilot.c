/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pilot.c - tokens by the attention that their keys receive from some exact rows I of S, linear in n:
 *
 *     of=sum: sum over I of S_ij        of=rms: the root of the sum over I of S_ij^2
 *
 * each row with its weight (nystrom/row_sample.h), times |v_j| with values=true. A token's score is its key's, whatever
 * points are asked for. |I| n d.
 *
 * of=rms, values=true, take=sample with |I| = m uniformly drawn rows is the pilot sampling of Skeinformer, which then
 * neither reweighs the columns nor uses a core; of=sum, take=top is what caches of keys keep by the name of heavy
 * hitters (H2O: all rows; SnapKV: the last ones). Neither minds that two keys are alike. */
#include "strategy.h"

#include "linalg/linalg.h"

#include <math.h>

typedef struct {
    int of, values, take, rows, sample;
} pilot_options;

enum { SUM, RMS };
static const char *const ofs[] = {"sum", "rms", NULL};
enum { SAMPLE, TOP };
static const char *const takes[] = {"sample", "top", NULL};

static const nb_option options[] = {
    NB_ENUM(pilot_options, of, "rms", ofs, "of the entries in a key's column: their sum, or the root of their squares"),
    NB_BOOL(pilot_options, values, "false", "times the norm of the token's value; the head must have values"),
    NB_ENUM(pilot_options, take, "sample", takes, "draw in proportion to the scores, or take the largest"),
    NB_ROWS_OPTION(pilot_options, "auto", .newer = false),
    NB_SAMPLE_OPTION(pilot_options, "tokens", .newer = false),
    NB_OPTION_END};

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const pilot_options *o = opts;
    const nb_head *head = nb_scene_head(points->scene);
    int n = head->n;
    nb_row_sample sample;
    double *score;
    NB_NEED(score, nb_alloc_reals(ctx, (size_t)points->n, 1));
    NB_TRY(ctx, nb_strategy_sample(points, (nb_sampling)o->sample, nb_rows_of(o->rows, m, n), &sample, ctx));
    nb_row_sample_sums(&sample, n, o->of == RMS, score);
    if (o->values) nb_count_multiplications((double)n * head->dv);
    for (int j = 0; j < n; j++) {
        if (o->of == RMS) score[j] = sqrt(score[j]);
        if (o->values) score[j] *= nb_frobenius((size_t)head->dv, head->v + (size_t)j * (size_t)head->dv);
    }
    for (int j = n; j < points->n; j++) score[j] = score[j - n]; /* shared: the queries, then the keys */
    return nb_picks_by_score(picks, points->n, m, score, o->take == SAMPLE, ctx);
}

static unsigned traits_of(const void *opts)
{
    const pilot_options *o = opts;
    return (o->take == SAMPLE || o->rows != NB_ALL_ROWS ? NB_RANDOM : 0) | (o->rows == NB_ALL_ROWS ? NB_ORACLE : 0);
}

static const char *refusal(const nb_points *points, int m, const void *opts)
{
    const pilot_options *o = opts;
    if (o->values && !nb_scene_head(points->scene)->v) return "pilot: values=true needs a head with values";
    return nb_rows_refusal(points, nb_rows_of(o->rows, m, nb_scene_head(points->scene)->n), o->sample, m);
}

static const char *const references[] = {
    "Chen, Zeng, Ji & Yang, Sketching as a tool for understanding and accelerating self-attention for long sequences, "
    "NAACL 2022, arXiv:2112.05359 (Skeinformer)",
    "Zhang et al., H2O: heavy-hitter oracle for efficient generative inference of large language models, NeurIPS 2023, "
    "arXiv:2306.14048",
    "Li et al., SnapKV: LLM knows what you are looking for before generation, NeurIPS 2024, arXiv:2404.14469",
    "Efraimidis & Spirakis, Weighted random sampling with a reservoir, Inf. Process. Lett. 97, 2006", NULL};

const nb_strategy nb_strategy_pilot = {
    .component = {"pilot", "tokens by the attention that their keys receive from some exact rows of S", references,
                  options, sizeof(pilot_options)},
    .traits = NB_RANDOM,
    .pairing = NB_JOINT,
    .traits_of = traits_of,
    .pick = pick,
    .refusal = refusal,
};
