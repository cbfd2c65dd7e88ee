/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare.c - see compare.h */
#include "answers/compare.h"

#include "answers/contrast.h"
#include "rows/columns.h"
#include "rows/statement.h"
#include "rows/run_facts.h"
#include "statistics/multiple.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int find_text(const nb_grid *values, const char *wanted)
{
    for (int v = 0; v < values->count && wanted; v++) {
        const nb_cell *cell = nb_grid_at(values, v, 0);
        if (cell->type == NB_CELL_TEXT && strcmp(cell->text, wanted) == 0) return v;
    }
    return -1;
}

/* Finds the first value, `baseline` before all others, that is among those that a statement gives; -1: none is. */
static nb_status find_first(const nb_relation *relation, const nb_grid *values, int baseline, const char *statement,
                            const nb_sql_given *given, int *out, nb_ctx *ctx)
{
    nb_grid found;
    *out = -1;
    NB_TRY(ctx, nb_sql_ask(relation, statement, given, &found, ctx));
    for (int i = 0; i <= values->count && *out < 0; i++) {
        int v = i == 0 ? baseline : i - 1;
        const nb_cell *cell = nb_grid_at(values, v, 0);
        if (cell->type == NB_CELL_TEXT && find_text(&found, cell->text) >= 0) *out = v;
    }
    return NB_OK;
}

/* Returns whether a column is that in which the study has a baseline. */
static bool has_baseline(const nb_study *study, const char *by)
{
    return study->baseline >= 0 && strcmp(by, study->axes[study->baseline].column) == 0;
}

/* *baseline <- the code of the relation's baseline among the values of a column; the first of a column without. By a
 * metric that tells which rows are exact, the first that has others stands for one that has no others. */
static nb_status find_baseline(const nb_relation *relation, const nb_column *by, const nb_column *metric,
                               const nb_grid *values, int *baseline, nb_ctx *ctx)
{
    const char *wanted = has_baseline(relation->study, by->name) ? relation->baseline : NULL;
    int at = find_text(values, wanted), first;
    *baseline = at < 0 ? 0 : at;
    if (!metric->exact) return NB_OK;
    const nb_sql_given *given = NB_GIVEN(NB_GIVE_NAME("by", by->name), NB_GIVE_NAME("metric", metric->name),
                                         NB_GIVE_PIECE("exact", nb_exact_sql(metric)));
    NB_TRY(ctx, find_first(relation, values, *baseline, "compare.measured", given, &first, ctx));
    if (first < 0) NB_TRY(ctx, find_first(relation, values, *baseline, "compare.without_result", given, &first, ctx));
    if (first >= 0) *baseline = first;
    return NB_OK;
}

typedef struct {
    nb_relation *relation;
    const nb_compare_terms *terms;
    nb_comparison *out;
    const char *unfinished; /* see nb_relation_unfinished */
    int room;
    nb_ctx *ctx;
} comparer;

/* Finds which trial's mean over sources is far from those of the others, and says so where it matters. */
static nb_status find_far_trial(const comparer *c, const nb_common_error *common, const char **text)
{
    const double numbers[] = {common->far_mean, common->median};
    bool difference = c->terms->contrast.difference;
    if (common->far_count == 0 || fabs(numbers[0] - numbers[1]) <= c->terms->margin) return NB_OK;
    NB_NEED(*text, nb_format(c->ctx, "%.3g in trial %d, where the median of %d trials is %.3g",
                             difference ? numbers[0] : exp(numbers[0]), common->far, common->trials,
                             difference ? numbers[1] : exp(numbers[1])));
    return NB_OK;
}

/* Over strata, then by stratum where there are several. */
static nb_status add_estimates(comparer *c, const nb_contrasts *of, const nb_contrast *contrast)
{
    int strata = of->strata.count, used = 0;
    nb_estimate *estimates;
    const nb_estimate_terms terms = {.confidence = c->terms->confidence,
                                     .resamples = c->terms->resamples,
                                     .seed = c->terms->seed,
                                     .common = contrast->of.common};
    nb_compared item = {.contrasts = of, .contrast = contrast, .more = NAN};
    NB_NEED(estimates, nb_alloc(c->ctx, (size_t)strata + 1, sizeof *estimates));
    NB_TRY(c->ctx, nb_estimate_units(contrast->of.unit_count, contrast->of.units, strata, &terms, estimates, c->ctx));
    for (int s = 0; s < strata; s++) used += estimates[s].sources > 0;
    for (int s = NB_OVER_STRATA; s < strata; s++) {
        bool over = s == NB_OVER_STRATA;
        int at = over ? strata : s, first = over ? 0 : s, count = over ? strata + 1 : 1;
        if (!over && (estimates[s].sources == 0 || used < 2)) continue;
        item.stratum = s;
        item.estimate = estimates[at];
        item.pairs = &contrast->of.counts[at];
        item.trials = contrast->of.common[at].trials;
        item.drawn_trials = nb_drawn_trials(count, &contrast->of.common[first], &contrast->of.shares[first]);
        item.far_trial = NULL;
        NB_TRY(c->ctx, find_far_trial(c, &contrast->of.common[at], &item.far_trial));
        NB_GROW(c->ctx, c->out->items, c->out->count, c->room);
        c->out->items[c->out->count++] = item;
    }
    return NB_OK;
}

static int compare_items(const void *a, const void *b)
{
    const nb_compared *x = a, *y = b;
    const int keys[][2] = {{x->contrast->setting, y->contrast->setting},
                           {x->contrast->baseline, y->contrast->baseline},
                           {x->contrast->value, y->contrast->value},
                           {x->stratum, y->stratum}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* How many estimates of a stratum, or over strata, have an interval, in the comparison and the one by error. */
static int count_family(const nb_comparison *c, int stratum)
{
    int count = 0;
    for (; c; c = c->by_error)
        for (int i = 0; i < c->count; i++) count += c->items[i].stratum == stratum && !isnan(c->items[i].estimate.t_p);
    return count;
}

static nb_evidence evidence_of(const comparer *c, const nb_compared *x)
{
    const nb_pair_counts *k = x->pairs;
    int single = k->missing + k->missing_baseline;
    bool worst = c->terms->contrast.failures == NB_FAILURES_WORST;
    return (nb_evidence){.refusal = x->contrast->refusal,
                         .unfinished = c->unfinished,
                         .counted = "pairs",
                         .empty = "no pair has a result",
                         .found = k->pairs + (worst ? single : 0),
                         .missing = worst ? 0 : single,
                         .sources = x->estimate.sources,
                         .infinite = x->estimate.infinite,
                         .ratios = !c->terms->contrast.difference,
                         .noise = k->noise,
                         .exact = k->exact,
                         .exact_baseline = k->exact_baseline,
                         .skipped = k->skipped + k->skipped_baseline,
                         .untimed = k->untimed,
                         .untimed_baseline = k->untimed_baseline,
                         .drawn_trials = x->drawn_trials,
                         .has_interval = !isnan(x->estimate.low),
                         .no_interval = "a model has only one source"};
}

/* Says what would decide it: more sources, except where the interval excludes no difference by itself. */
static nb_status leave_open(const comparer *c, nb_compared *item)
{
    const nb_estimate *e = &item->estimate;
    if (e->high < 0 || e->low > 0)
        NB_NEED(item->why, nb_format(c->ctx, "%s by itself, not among all lines%s",
                                     nb_verdict_names[nb_direction(e->high < 0, item->contrasts->metric->more)],
                                     e->common_df < e->own_df ? "; more trials may decide" : ""));
    else
        item->more = nb_estimate_more(e, nb_joint_confidence(e->confidence, item->family), 0, c->terms->margin);
    if (item->more < 1) item->more = 1;
    if (!item->why && isnan(item->more) && e->common_se > 0) item->why = "more trials would decide, not more sources";
    return NB_OK;
}

static nb_status judge(const comparer *c, nb_compared *item)
{
    const nb_evidence evidence = evidence_of(c, item);
    item->joint = nb_estimate_interval(&item->estimate, nb_joint_confidence(c->terms->confidence, item->family));
    NB_TRY(c->ctx, nb_judge(item->joint, c->terms->margin, &evidence, item->contrasts->metric->more, &item->verdict,
                            &item->why, c->ctx));
    item->untimed = nb_lacks_times(&evidence);
    return item->verdict == NB_UNDECIDED ? leave_open(c, item) : NB_OK;
}

/* The stratum that it is of alone; -1: none. */
static int only_stratum(const nb_compared *x)
{
    const nb_paired *c = &x->contrast->of;
    if (x->stratum != NB_OVER_STRATA || c->unit_count == 0) return x->stratum;
    for (int i = 1; i < c->unit_count; i++)
        if (c->units[i].stratum != c->units[0].stratum) return -1;
    return c->units[0].stratum;
}

static nb_status find_head_conflicts(const comparer *c)
{
    nb_head_places places = {.items.count = 0};
    nb_ctx *scratch;
    NB_NEED(scratch, nb_ctx_child(c->ctx));
    for (int i = 0; i < c->out->count; i++) {
        nb_compared *x = &c->out->items[i];
        const char *conflict;
        int stratum = only_stratum(x);
        if (stratum < 0 || x->verdict == NB_NO_VERDICT || x->verdict == NB_REFUSED) continue;
        if (places.items.count == 0) NB_TRY(c->ctx, nb_head_places_find(c->relation, &places, c->ctx));
        NB_TRY(scratch, nb_find_head_conflict(&places, c->terms->contrast.difference, x->contrast, stratum,
                                              NB_LEAST_SOURCES, c->terms->confidence, &conflict, scratch));
        if (conflict) NB_NEED(x->conflict, nb_strdup(c->ctx, conflict));
        nb_ctx_release(scratch, 0);
    }
    return NB_OK;
}

/* Returns whether it is of the same two, over strata, in a setting that the pooled one has. `wholes`: by setting, the
 * pooled one that it is of. */
static bool is_part(const nb_compared *x, const nb_grid *wholes, const nb_compared *pooled)
{
    return x->stratum == NB_OVER_STRATA && x->contrast->baseline == pooled->contrast->baseline &&
           x->contrast->value == pooled->contrast->value &&
           nb_grid_at(wholes, x->contrast->setting, 0)->integer == pooled->contrast->setting;
}

/* Finds whether the value's mean over strata is surely on both sides of none in settings that the pooled one has, by
 * intervals that hold together; where they are farthest apart. */
static nb_status find_change(const comparer *c, const nb_comparison *each, const nb_grid *wholes, nb_compared *pooled)
{
    const nb_compared *ends[] = {NULL, NULL};
    const char *places[2], *column = c->terms->contrast.pool;
    int pool = 0, tested = 0;
    for (int i = 0; i < each->count; i++)
        tested += is_part(&each->items[i], wholes, pooled) && !isnan(each->items[i].estimate.t_p);
    for (int i = 0; i < each->count; i++) {
        const nb_compared *x = &each->items[i];
        if (!is_part(x, wholes, pooled)) continue;
        nb_interval joint = nb_estimate_interval(&x->estimate, nb_joint_confidence(c->terms->confidence, tested));
        if (joint.high < 0 && (!ends[0] || x->estimate.mean < ends[0]->estimate.mean)) ends[0] = x;
        if (joint.low > 0 && (!ends[1] || x->estimate.mean > ends[1]->estimate.mean)) ends[1] = x;
    }
    if (!ends[0] || !ends[1]) return NB_OK;
    while (strcmp(ends[0]->contrasts->setting_columns[pool], column) != 0) pool++;
    for (int i = 0; i < 2; i++) {
        double x = ends[i]->estimate.mean;
        NB_NEED(places[i],
                nb_format(c->ctx, "%.3g at %s = %s", c->terms->contrast.difference ? x : exp(x), column,
                          nb_setting_cell(ends[i]->contrasts, ends[i]->contrast->setting, pool, NB_OF_LABEL)->text));
    }
    NB_NEED(pooled->change, nb_format(c->ctx, "%s, %s", places[0], places[1]));
    return NB_OK;
}

static nb_status estimate_all(comparer *c)
{
    nb_comparison *out = c->out;
    nb_contrasts *contrasts;
    NB_NEED(contrasts, nb_alloc(c->ctx, 1, sizeof *contrasts));
    NB_TRY(c->ctx, nb_contrasts_make(c->relation, &c->terms->contrast, contrasts, c->ctx));
    *out = (nb_comparison){.contrasts = contrasts, .relation = c->relation, .terms = c->terms};
    for (int i = 0; i < contrasts->count; i++) NB_TRY(c->ctx, add_estimates(c, contrasts, &contrasts->items[i]));
    if (out->count > 0) qsort(out->items, (size_t)out->count, sizeof *out->items, compare_items);
    return NB_OK;
}

static nb_status find_changes(const comparer *c)
{
    nb_compare_terms terms = *c->terms;
    nb_comparison each;
    comparer apart = {.relation = c->relation, .terms = &terms, .out = &each, .ctx = c->ctx};
    nb_grid wholes;
    terms.contrast.apart = true;
    terms.resamples = 0;
    NB_TRY(c->ctx, estimate_all(&apart));
    NB_TRY(c->ctx, nb_sql_ask(c->relation, "compare.wholes", NULL, &wholes, c->ctx));
    for (int i = 0; i < c->out->count; i++)
        if (c->out->items[i].stratum == NB_OVER_STRATA)
            NB_TRY(c->ctx, find_change(c, &each, &wholes, &c->out->items[i]));
    return NB_OK;
}

/* Judges what is estimated, in one family with all in `together`. */
static nb_status judge_all(comparer *c, const nb_comparison *together)
{
    for (int i = 0; i < c->out->count; i++) {
        c->out->items[i].family = count_family(together, c->out->items[i].stratum);
        NB_TRY(c->ctx, judge(c, &c->out->items[i]));
    }
    NB_TRY(c->ctx, find_head_conflicts(c));
    return c->terms->contrast.pool ? find_changes(c) : NB_OK;
}

/* Finds by what is compared: what is given, or the study's metric and its measure of error as far as rows have them. */
static nb_status find_metrics(const nb_relation *relation, const nb_contrast_terms *terms, const nb_column *metrics[2],
                              nb_ctx *ctx)
{
    const nb_study *study = relation->study;
    const nb_column *usual = terms->metric ? nb_column_find(study->columns, terms->metric) : nb_study_metric(study);
    bool open = !terms->metric && study->error_metric && !terms->all_pairs && !terms->difference;
    bool both = open && has_baseline(study, terms->by);
    const nb_column *wanted[] = {usual, both ? nb_column_find(study->columns, study->error_metric) : NULL};
    metrics[0] = usual;
    metrics[1] = NULL;
    for (int i = 0, count = 0; i < 2 && wanted[1]; i++) {
        nb_grid any;
        NB_TRY(ctx, nb_sql_ask(relation, "compare.any_result", NB_GIVEN(NB_GIVE_NAME("metric", wanted[i]->name)), &any,
                               ctx));
        if (any.count > 0) metrics[count++] = wanted[i];
    }
    return NB_OK;
}

nb_status nb_compare(nb_relation *relation, const nb_compare_terms *given, nb_comparison *out, nb_ctx *ctx)
{
    const nb_column *columns = relation->study->columns, *by = nb_column_find(columns, given->contrast.by), *metrics[2];
    nb_contrasts none;
    nb_comparison *all;
    nb_compare_terms *terms;
    comparer of[2];
    nb_grid values;
    if (!by || (given->contrast.metric && !nb_column_find(columns, given->contrast.metric)))
        return nb_contrasts_make(relation, &given->contrast, &none, ctx); /* which says what is wrong */
    NB_NEED(all, nb_alloc(ctx, 2, sizeof *all));
    NB_NEED(terms, nb_alloc(ctx, 2, sizeof *terms));
    NB_TRY(ctx, nb_relation_values(relation, by->name, NULL, &values, ctx));
    NB_TRY(ctx, find_metrics(relation, &given->contrast, metrics, ctx));
    for (int i = 0; i < 2 && metrics[i]; i++) {
        int *baseline = &terms[i].contrast.baseline;
        terms[i] = *given;
        terms[i].contrast.metric = metrics[i]->name;
        if (*baseline < 0) NB_TRY(ctx, find_baseline(relation, by, metrics[i], &values, baseline, ctx));
        of[i] = (comparer){.relation = relation, .terms = &terms[i], .out = &all[i], .ctx = ctx};
        NB_TRY(ctx, nb_relation_unfinished(relation, &of[i].unfinished, ctx));
        NB_TRY(ctx, estimate_all(&of[i]));
    }
    if (metrics[1]) all[0].by_error = &all[1];
    for (int i = 0; i < 2 && metrics[i]; i++) NB_TRY(ctx, judge_all(&of[i], all));
    *out = all[0];
    return NB_OK;
}

nb_status nb_compare_methods(nb_relation *relation, int resamples, const char *pool, nb_comparison *out, nb_ctx *ctx)
{
    const nb_study *study = relation->study;
    nb_compare_terms terms = {.confidence = 0.95, .resamples = resamples, .margin = log(NB_USUAL_MARGIN)};
    nb_grid values;
    *out = (nb_comparison){.count = 0};
    if (study->baseline < 0 || !nb_study_metric(study)) return NB_OK;
    terms.contrast = (nb_contrast_terms){.by = study->axes[study->baseline].column, .baseline = -1, .pool = pool};
    NB_TRY(ctx, nb_relation_values(relation, terms.contrast.by, NULL, &values, ctx));
    if (values.count < 2) return NB_OK;
    NB_TRY(ctx, nb_relation_seed(relation, &terms.seed, ctx));
    return nb_compare(relation, &terms, out, ctx);
}
