/* SPDX-License-Identifier: GPL-3.0-or-later */
/* coherence.c - the record of the coherence study. */
#include "components/registry.h"
#include "show/full_study.h"
#include "studies/coherence/study.h"

#include <limits.h>

const char *const nb_coherence_sides[] = {[NB_OF_QUERIES] = "queries", [NB_OF_KEYS] = "keys", NULL};

static const nb_option options[] = {NB_OPTION_END};

static const nb_axis axes[] = {
    [NB_COHERENCE_PROBLEM] = NB_AXIS_PROBLEMS,
    [NB_COHERENCE_SIDE] =
        NB_AXIS_OF("side", "side", NB_AXIS_WORD, .scene = true, .words = nb_coherence_sides, .initial = "queries"),
    [NB_COHERENCE_CLUSTERS] =
        NB_AXIS_OF("clusters", "clusters", NB_AXIS_INTEGER, .lo = 1, .hi = 1000000, .initial = "16"),
    [NB_COHERENCE_PARTITION] = NB_AXIS_OF("partitions", "partition", NB_AXIS_COMPONENT, .registry = &nb_partitions,
                                          .check = nb_partition_check),
    [NB_COHERENCE_TAU] = NB_AXIS_OF("tau", "tau", NB_AXIS_REAL, .lo = 1e-6, .hi = 0.999999, .initial = "0.05"),
    {.key = NULL}};

/* The phases, by nb_coherence_phase. */
static const nb_phase phases[] = {{"the problem's data", NB_COHERENCE_PROBLEM, 0, false},
                                  {"the partition", NB_COHERENCE_PARTITION, 1, false},
                                  {"the measurement", -1, 2, true},
                                  {NULL, 0, 0, false}};

/* Rows that share a partition's clusters. */
static const unsigned levels[] = {1u << NB_COHERENCE_CLUSTERS | 1u << NB_COHERENCE_PARTITION, 0};

/* Keys that are not there; what needs queries has them. */
static nb_status check_scene(const nb_plan *plan, const nb_planned_scene *s, nb_ctx *ctx)
{
    (void)plan;
    NB_REQUIRE(ctx, s->value[NB_COHERENCE_SIDE] != NB_OF_KEYS || !s->shape->keyless, NB_EINVAL,
               "%s; 'side: keys' needs keys, 'side: queries' does not", s->shape->keyless);
    return NB_OK;
}

static bool is_random(const nb_plan *plan, const nb_planned_scene *scene, const nb_method *method)
{
    const nb_choice *partition =
        nb_config_choice(plan->config, NB_COHERENCE_PARTITION, method->value[NB_COHERENCE_PARTITION]);
    (void)scene;
    return ((const nb_partition *)partition->component)->random;
}

/* Rows with more clusters than the points have dimensions are skipped; if that holds for all rows, it is likely a
 * mistake. */
static nb_status warn(const nb_plan *plan, nb_mistakes *warnings)
{
    int fewest = INT_MAX, most = 0;
    for (int i = 0; i < plan->row_count; i++) {
        const nb_planned_scene *s = &plan->scenes[plan->rows[i].scene];
        int k = plan->methods[plan->rows[i].method].value[NB_COHERENCE_CLUSTERS], r = s->n < s->d ? s->n : s->d;
        if (k < fewest) fewest = k;
        if (r > most) most = r;
    }
    if (plan->row_count == 0 || fewest <= most) return NB_OK;
    return nb_mistakes_add(warnings, (nb_place){.source = NULL},
                           "all %d rows will be skipped: at least %d singular vectors are asked for, and no head has "
                           "more than %d",
                           plan->row_count, fewest, most);
}

static const char *const references[] = {
    "On the geometric selection of landmarks for low-rank self-attention approximation, 2025, OpenReview OdKBFAmCYX",
    NULL};

const nb_full_study nb_study_coherence = {
    .run.config.study =
        {
            .component = {"coherence", "whether leverage gathers in clusters: coherence and block-coherence",
                          references, options, 0},
            .axes = axes,
            .baseline = -1,
            .columns = nb_coherence_columns,
            .row_size = sizeof(nb_coherence_row),
            .result_offset = offsetof(nb_coherence_row, measures),
            .result_size = sizeof(nb_coherence),
            .phases = phases,
            .levels = levels,
        },
    .run.random = is_random,
    .run.check_scene = check_scene,
    .run.warn = warn,
    .run.run = nb_coherence_run,
    .run.cost = nb_coherence_cost,
};
