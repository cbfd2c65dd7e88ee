/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims.c - see claims.h. A part's units come from claim_compare.h or claim_measure.h. Ratios and geometric means are
 * estimated as logarithms and shown as what they are. The interval of a median is by order statistics of the sources'
 * means, x_(k) to x_(n + 1 - k) with k the largest for which 2 P(Binomial(n, 1/2) < k) <= 1 - confidence; it covers at
 * least at its confidence, whatever they follow. */
#include "answers/claims.h"

#include "base/builder.h"
#include "components/study.h"
#include "answers/claim_compare.h"
#include "answers/claim_measure.h"
#include "answers/compare.h"
#include "config/labels.h"
#include "rows/columns.h"
#include "rows/names.h"
#include "rows/statement.h"
#include "rows/where.h"
#include "rows/run_facts.h"
#include "statistics/intervals.h"
#include "statistics/multiple.h"
#include "statistics/ranks.h"
#include "statistics/verdict.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

const char *const nb_claim_verdicts[] = {
    [NB_CLAIM_IS_REPRODUCED] = "reproduced", [NB_CLAIM_IS_REFUTED] = "refuted", [NB_CLAIM_IS_EQUIVALENT] = "equivalent",
    [NB_CLAIM_IS_UNDECIDED] = "undecided",   [NB_CLAIM_IS_VOID] = "void",       [NB_CLAIM_IS_UNTESTED] = "untested"};

typedef struct {
    nb_relation *relation;
    const nb_claim *claim;
    int family;             /* parts of all claims of its family; 0: it names none */
    const char *unfinished; /* see nb_relation_unfinished */
    nb_ctx *ctx;            /* of what is needed on the way */
    nb_ctx *keep;           /* of the answers */
} judge;

static bool is_log(const nb_claim *c)
{
    return c->expectation == NB_EXPECT_RATIO || c->expectation == NB_EXPECT_EQUAL ||
           (c->form == NB_CLAIM_MEASURE && c->statistic == NB_CLAIM_GEOMETRIC_MEAN);
}

static bool is_median(const nb_claim *c)
{
    return c->form == NB_CLAIM_MEASURE && c->statistic == NB_CLAIM_MEDIAN;
}

typedef struct { /* on the scale of the expectation */
    double estimate, low, high;
    double sd; /* of a source, where the estimate is no mean; else NaN */
} range;

static nb_status median_range(int count, const nb_unit_value *units, int stratum, int strata, double confidence,
                              range *r, nb_ctx *ctx)
{
    nb_source *sources;
    double *means;
    int source_count, n = 0;
    NB_TRY(ctx, nb_sources_gather(count, units, strata, &source_count, &sources, ctx));
    NB_NEED(means, nb_alloc_reals(ctx, (size_t)source_count + 1, 1));
    for (int i = 0; i < source_count; i++)
        if (stratum == strata || sources[i].stratum == stratum) means[n++] = sources[i].mean;
    gsl_sort(means, 1, (size_t)n);
    r->estimate = nb_median_sorted(n, means);
    nb_median_interval(n, means, confidence, &r->low, &r->high);
    return NB_OK;
}

static range range_of(const nb_claim *c, const nb_estimate *e)
{
    if (c->expectation == NB_EXPECT_WINS) {
        int n = e->below + e->above;
        double share = (e->below + 1.0) / (n + 2.0); /* not 0 or 1, where a source would seem to have no spread */
        return (range){e->below_share, e->below_low, e->below_high, sqrt(share * (1 - share))};
    }
    range r = {e->mean, e->low, e->high, NAN};
    if (is_log(c)) r = (range){exp(r.estimate), exp(r.low), exp(r.high), NAN};
    if (c->query && !isnan(e->low)) {
        r.low = fmax(r.low, c->query->lo);
        r.high = fmin(r.high, c->query->hi);
    }
    return r;
}

/* Estimates each stratum, then all together. */
static nb_status estimate(const judge *j, const nb_claim_units *u, double confidence, nb_estimate *estimates,
                          range *ranges)
{
    const nb_estimate_terms terms = {.confidence = confidence, .common = u->common};
    NB_TRY(j->ctx, nb_estimate_units(u->count, u->units, u->strata.count, &terms, estimates, j->ctx));
    for (int s = 0; s <= u->strata.count; s++) {
        ranges[s] = range_of(j->claim, &estimates[s]);
        if (!is_median(j->claim)) continue;
        ranges[s].sd = estimates[s].sd * sqrt(M_PI / 2); /* the median's error beside the mean's, of normal values */
        NB_TRY(j->ctx, median_range(u->count, u->units, s, u->strata.count, confidence, &ranges[s], j->ctx));
    }
    return NB_OK;
}

static void describe(nb_claim_answer *a, const nb_estimate *e, const range *r)
{
    a->estimate = r->estimate;
    a->low = r->low;
    a->high = r->high;
    a->sources = e->sources;
    a->heads = e->units;
}

/* Finds who disturbed the times that the claim is about: of two metrics, those of the first. */
static void find_disturbance(const judge *j, const nb_claim_units *u, nb_claim_answer *a)
{
    const nb_study *study = j->relation->study;
    a->disturbed = u->disturbed;
    a->timed = u->found;
    for (int s = j->claim->series_count - 1; s >= 0 && u->disturbed > 0; s--) {
        const nb_column *metric = nb_column_find(study->columns, j->claim->series[s].metric.text);
        if (metric->time || metric->disturbed) a->disturbance = nb_disturbance_of(study, metric, j->keep);
    }
}

static nb_status add_models(const judge *j, const nb_claim_units *u, const nb_estimate *estimates, const range *ranges,
                            nb_claim_answer *a)
{
    NB_NEED(a->models, nb_alloc(j->keep, (size_t)u->strata.count + 1, sizeof *a->models));
    for (int s = 0; s < u->strata.count; s++) {
        nb_claim_answer *model = &a->models[a->model_count];
        if (estimates[s].sources == 0) continue;
        *model = (nb_claim_answer){.more = NAN, .slack = NAN};
        NB_NEED(model->name, nb_strdup(j->keep, nb_grid_at(&u->strata, s, NB_STRATUM_NAME)->text));
        NB_NEED(model->label, nb_strdup(j->keep, nb_grid_at(&u->strata, s, NB_STRATUM_LABEL)->text));
        describe(model, &estimates[s], &ranges[s]);
        a->model_count++;
    }
    return NB_OK;
}

/* *why there is no verdict, over all strata; NULL: there may be one. */
static nb_status find_reason(const judge *j, const nb_claim_units *u, const nb_estimate *estimates, const range *r,
                             const char **why)
{
    bool wins = j->claim->expectation == NB_EXPECT_WINS;
    bool by_order = wins || is_median(j->claim); /* which infinite values have */
    nb_evidence evidence = {.refusal = u->why,
                            .unfinished = j->unfinished,
                            .counted = "results",
                            .empty = "nothing has a result",
                            .found = u->found,
                            .missing = u->missing,
                            .sources = estimates[u->strata.count].sources,
                            .infinite = by_order ? 0 : u->infinite,
                            .noise = u->noise,
                            .exact = u->exact,
                            .exact_baseline = u->exact_baseline,
                            .skipped = u->skipped,
                            .untimed = u->untimed,
                            .untimed_baseline = u->untimed_baseline,
                            .drawn_trials = u->drawn_trials,
                            .has_interval = !isnan(r->low),
                            .no_interval = wins ? "no source differs" : "it has no interval"};
    for (int s = u->strata.count - 1; s >= 0; s--)
        if (estimates[s].sources == 1)
            NB_NEED(evidence.no_interval, nb_format(j->keep, "%s has only one source: select models with more",
                                                    nb_grid_at(&u->strata, s, NB_STRATUM_NAME)->text));
    NB_TRY(j->keep, nb_find_reason(&evidence, why, j->keep));
    if (*why) NB_NEED(*why, nb_strdup(j->keep, *why));
    return NB_OK;
}

/* About how many more sources bring the interval off the nearest end of what is expected; of a mean, as
 * nb_estimate_more, else by the sources' standard deviation on this scale. */
static double more_sources(const nb_claim *c, const nb_estimate *e, const range *r)
{
    bool logs = is_log(c);
    double x = logs ? log(r->estimate) : r->estimate, nearest = INFINITY, needed;
    const double ends[] = {c->low, c->high};
    for (int i = 0; i < 2; i++) {
        double end = logs ? log(fmax(ends[i], 0)) : ends[i];
        if (isfinite(end) && fabs(x - end) < fabs(x - nearest)) nearest = end;
    }
    if (isnan(r->sd))
        needed = nb_estimate_more(e, e->confidence, nearest, nb_claim_takes(c, "smallest") ? log(c->smallest) : 0);
    else
        needed = ceil(nb_units_for_power(r->sd, x - nearest, 1 - e->confidence, 0.8)) - e->sources;
    return isfinite(needed) ? fmax(1, needed) : NAN;
}

static nb_claim_verdict verdict_of(const nb_claim *c, const range *r)
{
    static const nb_claim_verdict verdicts[] = {[NB_FOUND_INSIDE] = NB_CLAIM_IS_REPRODUCED,
                                                [NB_FOUND_OUTSIDE] = NB_CLAIM_IS_REFUTED,
                                                [NB_FOUND_SAME] = NB_CLAIM_IS_EQUIVALENT,
                                                [NB_FOUND_NOTHING] = NB_CLAIM_IS_UNDECIDED};
    double smallest = nb_claim_takes(c, "smallest") ? c->smallest : NAN;
    return verdicts[nb_find(&(nb_test){.interval = {r->low, r->high},
                                       .expected = {c->low, c->high},
                                       .same = {1 / smallest, smallest},
                                       .below = c->order})];
}

/* The ends of what is expected; infinite where no value could be beyond. */
static nb_interval thresholds(const nb_claim *c)
{
    nb_interval possible = {is_log(c) ? 0 : -INFINITY, INFINITY};
    if (c->expectation == NB_EXPECT_WINS) possible = (nb_interval){0, 1};
    if (c->query) possible = (nb_interval){c->query->lo, c->query->hi};
    return (nb_interval){c->low > possible.low ? c->low : -INFINITY, c->high < possible.high ? c->high : INFINITY};
}

static double slack_of(const nb_claim *c, const nb_claim_answer *a)
{
    nb_interval expected = thresholds(c);
    switch (a->verdict) {
    case NB_CLAIM_IS_REPRODUCED: return fmin(a->low - expected.low, expected.high - a->high);
    case NB_CLAIM_IS_REFUTED: return fmax(a->low - expected.high, expected.low - a->high);
    default: return NAN;
    }
}

/* From a part's units to its answer. */
static nb_status answer(const judge *j, const nb_claim_units *u, nb_claim_answer *a)
{
    const nb_claim *c = j->claim;
    nb_estimate *estimates;
    range *ranges;
    size_t count = (size_t)u->strata.count + 1;
    double confidence = nb_joint_confidence(c->confidence, a->family);
    NB_NEED(estimates, nb_alloc(j->ctx, count, sizeof *estimates));
    NB_NEED(ranges, nb_alloc(j->ctx, count, sizeof *ranges));
    NB_TRY(j->ctx, estimate(j, u, confidence, estimates, ranges));
    describe(a, &estimates[u->strata.count], &ranges[u->strata.count]);
    find_disturbance(j, u, a);
    NB_TRY(j->ctx, add_models(j, u, estimates, ranges, a));
    NB_TRY(j->ctx, find_reason(j, u, estimates, &ranges[u->strata.count], &a->why));
    a->verdict = a->why ? NB_CLAIM_IS_VOID : verdict_of(c, &ranges[u->strata.count]);
    a->slack = slack_of(c, a);
    if (a->verdict != NB_CLAIM_IS_UNDECIDED) return NB_OK;
    a->more = more_sources(c, &estimates[u->strata.count], &ranges[u->strata.count]);
    if (isnan(a->more) && estimates[u->strata.count].common_se > 0)
        a->why = "more trials would decide, not more sources";
    return NB_OK;
}

/* *text <- the label, as tables show it, of the value that the first row of a table has in a column; where that names
 * components, but identifies no row, it is the component's own label. */
static nb_status label(const judge *j, const char *name, const char *rows, const char **text)
{
    const nb_study *study = j->relation->study;
    const nb_column *c = nb_column_find(study->columns, name);
    const char *sql;
    NB_TRY(j->ctx, nb_label_sql(c, &sql, j->ctx));
    NB_TRY(j->ctx, nb_sql_fill("claims.label", NB_GIVEN(NB_GIVE_PIECE("label", sql), NB_GIVE_NAME("rows", rows)), &sql,
                               j->ctx));
    NB_TRY(j->ctx, nb_relation_text(j->relation, sql, text, j->ctx));
    if (!*text) *text = "";
    return c->identity ? NB_OK : nb_component_label(j->relation, name, text, j->ctx);
}

/* Names the value that a claim means; *name is the claim's text where the rows have no such value, or several. */
static nb_status name_value(const judge *j, const char *text, const char **name)
{
    static const char rows[] = "rows_of_value";
    int place;
    *name = text;
    nb_status status = nb_where_values(j->relation, NB_PART_ROWS, j->claim->column, 1, &text, &place, rows, j->ctx);
    if (status == NB_EINVAL) {
        nb_error_clear(j->ctx);
        return NB_OK;
    }
    NB_TRY(j->ctx, status);
    return label(j, j->claim->column, rows, name);
}

/* Names a part, such as "landmarks 8, model minilm: uniform < kmeans". */
static nb_status name_part(const judge *j, int pair, bool several, const char **name)
{
    const nb_claim *c = j->claim;
    nb_string text = NB_NO_TEXT;
    const char *value;
    for (const char **column = c->each; *column; column++) {
        NB_TRY(j->ctx, label(j, *column, NB_PART_ROWS, &value));
        if (strcmp(*column, "model") == 0) NB_TRY(j->ctx, nb_label_stratum(value, &value, j->ctx));
        NB_TRY(j->ctx, nb_append_item(&text, ", ", j->ctx, "%s %s", *column, value));
    }
    if (several) {
        const char *less, *more;
        NB_TRY(j->ctx, name_value(j, c->values[pair].text, &less));
        NB_TRY(j->ctx, name_value(j, c->values[pair + 1].text, &more));
        NB_TRY(j->ctx, nb_append_item(&text, ": ", j->ctx, "%s < %s", less, more));
    }
    NB_NEED(*name, nb_strdup(j->keep, text.text));
    return NB_OK;
}

/* Which part decides: the first that is refuted, void, undecided or equivalent; else the one with the least slack. */
static int find_deciding(int count, const nb_claim_answer *parts)
{
    static const nb_claim_verdict order[] = {NB_CLAIM_IS_REFUTED, NB_CLAIM_IS_VOID, NB_CLAIM_IS_UNDECIDED,
                                             NB_CLAIM_IS_EQUIVALENT};
    int least = 0;
    for (size_t o = 0; o < sizeof order / sizeof *order; o++)
        for (int i = 0; i < count; i++)
            if (parts[i].verdict == order[o]) return i;
    for (int i = 1; i < count; i++)
        if (parts[i].slack < parts[least].slack) least = i;
    return least;
}

static void conclude(nb_claim_result *r)
{
    int equivalent = 0;
    r->answer = r->parts[find_deciding(r->part_count, r->parts)];
    r->answer.disturbed = r->answer.timed = 0;
    for (int i = 0; i < r->part_count; i++) {
        equivalent += r->parts[i].verdict == NB_CLAIM_IS_EQUIVALENT;
        r->answer.disturbed += r->parts[i].disturbed;
        r->answer.timed += r->parts[i].timed;
        if (r->parts[i].disturbance.who) r->answer.disturbance = r->parts[i].disturbance;
        /* a claim is refuted as long as one part is, so that the part with the most slack counts */
        if (r->answer.verdict == NB_CLAIM_IS_REFUTED) r->answer.slack = fmax(r->answer.slack, r->parts[i].slack);
    }
    if (r->answer.verdict == NB_CLAIM_IS_EQUIVALENT && equivalent < r->part_count)
        r->answer.verdict = NB_CLAIM_IS_UNDECIDED;
    if (r->part_count == 1 && !*r->parts[0].name) {
        r->answer.name = NULL;
        r->part_count = 0;
    }
}

/* Makes `claim_part`: rows that the claim is about, by the values that they have in the columns of `each`. */
static nb_status make_groups(const judge *j, int *count)
{
    const nb_column *columns = j->relation->study->columns;
    nb_string keys = NB_NO_TEXT;
    nb_grid groups;
    for (const char **c = j->claim->each; *c; c++)
        NB_TRY(j->ctx, nb_keys_add(&keys, nb_column_find(columns, *c), j->ctx));
    NB_TRY(j->ctx, nb_sql_run(j->relation, "claims.parts",
                              NB_GIVEN(NB_GIVE_PIECE("keys", keys.text), NB_GIVE_NAME("rows", NB_CLAIM_ROWS)), j->ctx));
    NB_TRY(j->ctx, nb_sql_ask(j->relation, "claims.count_parts", NULL, &groups, j->ctx));
    *count = (int)nb_grid_at(&groups, 0, 0)->integer;
    return NB_OK;
}

/* Its rows are those that are asked from now on. */
static nb_status take_part(const judge *j, int part)
{
    return nb_sql_run(j->relation, "claims.take_part",
                      NB_GIVEN(NB_GIVE_NAME("rows", NB_PART_ROWS), NB_GIVE_INT("part", part)), j->ctx);
}

/* Returns how many pairs of values the claim compares. */
static int pair_count(const nb_claim *c)
{
    return c->form == NB_CLAIM_COMPARE ? c->value_count - 1 : 1;
}

/* The parts of rows that the claim is about: by the columns of `each`, and the pairs of values that it compares. */
static nb_status ask_parts(const judge *j, nb_claim_result *r, const char **why)
{
    const nb_claim *c = j->claim;
    int count, pairs = pair_count(c);
    NB_TRY(j->ctx, make_groups(j, &count));
    if (count == 0) *why = "the run has no such rows";
    NB_NEED(r->parts, nb_alloc(j->keep, (size_t)(count * pairs) + 1, sizeof *r->parts));
    for (; r->part_count < count * pairs; r->part_count++) {
        int pair = r->part_count % pairs;
        nb_claim_units units;
        nb_claim_answer *a = &r->parts[r->part_count];
        nb_mark mark = nb_ctx_mark(j->ctx);
        *a = (nb_claim_answer){.more = NAN, .slack = NAN, .family = j->family ? j->family : count * pairs};
        if (pair == 0) NB_TRY(j->ctx, take_part(j, r->part_count / pairs));
        NB_TRY(j->ctx, name_part(j, pair, pairs > 1, &a->name));
        NB_TRY(j->ctx, c->form == NB_CLAIM_COMPARE ? nb_claim_compare(j->relation, c, pair, &units, j->ctx)
                                                   : nb_claim_measure(j->relation, c, &units, j->ctx));
        NB_TRY(j->ctx, answer(j, &units, a));
        nb_ctx_release(j->ctx, mark);
    }
    if (count > 0) conclude(r);
    return NB_OK;
}

static nb_status ask(const judge *j, nb_claim_result *r)
{
    const char *why;
    *r = (nb_claim_result){
        .claim = j->claim,
        .answer = {
            .verdict = NB_CLAIM_IS_UNTESTED, .estimate = NAN, .low = NAN, .high = NAN, .more = NAN, .slack = NAN}};
    r->answer.why = j->claim->untested;
    if (j->claim->untested) return NB_OK;
    NB_TRY(j->ctx, nb_claim_choose(j->relation, NULL, &j->claim->where, NB_CLAIM_ROWS, &why, j->ctx));
    if (!why) NB_TRY(j->ctx, ask_parts(j, r, &why));
    if (!why) return NB_OK;
    r->answer.verdict = NB_CLAIM_IS_VOID;
    NB_NEED(r->answer.why, nb_strdup(j->keep, why));
    return NB_OK;
}

/* *parts <- how many parts the claim has: 0 if it has no rows. */
static nb_status count_parts(const judge *j, int *parts)
{
    const char *why;
    *parts = 0;
    NB_TRY(j->ctx, nb_claim_choose(j->relation, NULL, &j->claim->where, NB_CLAIM_ROWS, &why, j->ctx));
    if (!why) NB_TRY(j->ctx, make_groups(j, parts));
    *parts *= pair_count(j->claim);
    return NB_OK;
}

static bool same_family(const nb_claim *a, const nb_claim *b)
{
    return a->family && b->family && strcmp(a->family, b->family) == 0;
}

/* families[i] <- how many parts all claims of the family of claim i have; 0 if it names none. */
static nb_status count_families(judge j, int count, const nb_claim *claims, int *families)
{
    for (int i = 0; i < count; i++) {
        int parts;
        j.claim = &claims[i];
        if (j.claim->untested || !j.claim->family) continue;
        NB_TRY(j.ctx, count_parts(&j, &parts));
        for (int k = 0; k < count; k++)
            if (same_family(j.claim, &claims[k])) families[k] += parts;
    }
    return NB_OK;
}

nb_status nb_claims_ask(nb_relation *relation, int count, const nb_claim *claims, nb_claim_results *out, nb_ctx *ctx)
{
    judge j = {.relation = relation, .ctx = ctx};
    nb_claim_result *results;
    int *families;
    NB_TRY(ctx, nb_relation_unfinished(relation, &j.unfinished, ctx));
    NB_NEED(results, nb_alloc(ctx, (size_t)count + 1, sizeof *results));
    *out = (nb_claim_results){.relation = relation, .count = count, .results = results};
    NB_TRY(ctx, nb_relation_experiment(relation, &out->experiment, ctx));
    if (!out->experiment) out->experiment = "";
    NB_NEED(j.keep, nb_ctx_child(ctx));
    NB_NEED(families, nb_alloc(ctx, (size_t)count + 1, sizeof *families));
    NB_TRY(ctx, count_families(j, count, claims, families));
    for (int i = 0; i < count; i++) {
        nb_mark mark = nb_ctx_mark(ctx);
        j.claim = &claims[i];
        j.family = families[i];
        NB_TRY(ctx, ask(&j, &results[i]));
        nb_ctx_release(ctx, mark);
    }
    return NB_OK;
}
