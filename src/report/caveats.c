/* SPDX-License-Identifier: GPL-3.0-or-later */
/* caveats.c - see caveats.h */
#include "report/caveats.h"

#include "report/compare.h"
#include "report/draws.h"
#include "report/facts.h"
#include "report/labels.h"
#include "report/pairs.h"
#include "run/prediction.h"

#include <math.h>
#include <string.h>

enum { MOST_KEYS = 32, MOST_NAMES = 4 };
static const double OFF = 2;    /* a prediction off by more than this factor is one */
static const double NEAR = 0.5; /* more of the machine's memory than this is near all of it */

typedef struct {
    const nb_frame *frame;
    const nb_study *study;
    const nb_column *metric; /* nb_study_metric */
    const char *by;          /* the column whose values are compared; NULL: none is */
    nb_store *store;
    nb_caveats *found;
    nb_ctx *kept, *ctx; /* of the caller, for what is found; for all else */
} look;

nb_status nb_caveats_add(nb_caveats *found, const char *text, nb_ctx *ctx)
{
    if (!text) return NB_ENOMEM;
    NB_GROW(ctx, found->texts, found->count, found->room);
    NB_NEED(found->texts[found->count], nb_strdup(ctx, text));
    found->count++;
    return NB_OK;
}

static nb_status add(const look *l, const char *text)
{
    return nb_caveats_add(l->found, text, l->kept);
}

static const nb_row *row_at(const look *l, int row)
{
    return nb_frame_row(l->frame, row);
}

static double real_of(const look *l, const char *column, int row)
{
    const nb_column *c = nb_column_find(l->frame->columns, column);
    return *(const double *)((const char *)nb_frame_row(l->frame, row) + c->offset);
}

static bool has(const look *l, int row, const char *status)
{
    return strcmp(row_at(l, row)->status, status) == 0;
}

/* ok, and the metric is known. */
static bool is_result(const look *l, int row)
{
    return has(l, row, "ok") && !isnan(real_of(l, l->metric->name, row));
}

static bool is_noise(const look *l, int row)
{
    return l->metric->noise && real_of(l, l->metric->name, row) <= real_of(l, l->metric->noise, row);
}

/* "a, b, c and 3 more"; NULL: out of memory. */
static const char *join(const look *l, int count, const char *const *names)
{
    const char *list = "";
    for (int i = 0; list && i < count && i < MOST_NAMES; i++)
        list = nb_format(l->ctx, "%s%s%s", list, i == 0 ? "" : i + 1 == count ? " and " : ", ", names[i]);
    return list && count > MOST_NAMES ? nb_format(l->ctx, "%s and %d more", list, count - MOST_NAMES) : list;
}

static nb_status find_unmeasured(const look *l)
{
    int planned = 0;
    for (int i = 0; i < l->frame->count; i++) planned += has(l, i, "planned");
    if (planned == 0) return NB_OK;
    return add(l, nb_format(l->ctx, "The run is not finished: %d of %d rows have not been measured yet.", planned,
                            l->frame->count));
}

static nb_status find_wrong(const look *l)
{
    const char *counts = "";
    int wrong = 0;
    for (const char *const *status = nb_row_statuses; *status; status++) {
        int count = 0;
        for (int i = 0; i < l->frame->count; i++)
            count += has(l, i, *status) && !nb_row_is_well(row_at(l, i)) && !has(l, i, "planned");
        if (count > 0) NB_NEED(counts, nb_format(l->ctx, "%s%s%d %s", counts, wrong ? ", " : "", count, *status));
        wrong += count;
    }
    if (wrong == 0) return NB_OK;
    return add(l, nb_format(l->ctx, "%d of %d rows went wrong (%s) and count in no median and no ratio.", wrong,
                            l->frame->count, counts));
}

static nb_status find_starved(const look *l)
{
    int count = 0;
    for (int i = 0; i < l->frame->count; i++) {
        const char *reason = row_at(l, i)->reason;
        count += !nb_row_is_well(row_at(l, i)) && reason && strstr(reason, nb_status_name(NB_ENOMEM));
    }
    if (count == 0) return NB_OK;
    return add(l, nb_format(l->ctx,
                            "%d rows ran out of memory, of which each worker had a share: --retry failed with fewer "
                            "workers (--jobs) or more memory (--memory) may measure them.",
                            count));
}

/* An ok row's reason is a warning. That of rounding noise has a sentence of its own. */
static nb_status find_warnings(const look *l)
{
    const char *first = NULL;
    int count = 0;
    for (int i = 0; i < l->frame->count; i++) {
        const char *reason = row_at(l, i)->reason;
        if (!has(l, i, "ok") || !reason || !*reason || (l->metric && is_noise(l, i))) continue;
        if (count++ == 0) first = reason;
    }
    if (count == 0) return NB_OK;
    return add(l,
               nb_format(l->ctx, "%d of %d rows came with a warning; the first: %s.", count, l->frame->count, first));
}

static nb_status find_few_sources(const look *l)
{
    nb_replicates r;
    const char **names;
    int *sources, few = 0;
    NB_TRY(l->ctx, nb_replicates_find(l->frame, &r, l->ctx));
    NB_NEED(sources, nb_alloc(l->ctx, (size_t)r.strata + 1, sizeof *sources));
    NB_NEED(names, nb_alloc(l->ctx, (size_t)r.strata + 1, sizeof *names));
    for (int s = 0; s < r.sources; s++) sources[r.stratum_of[s]]++;
    for (int s = 0; s < r.strata; s++) {
        if (sources[s] >= NB_LEAST_SOURCES) continue;
        NB_NEED(names[few++], nb_format(l->ctx, "%d of %s", sources[s], r.labels[s]));
    }
    if (few == 0) return NB_OK;
    return add(l, nb_format(l->ctx,
                            "Few sources (texts, images, or draws of generated data), and no verdict about others from "
                            "fewer than %d: %s.",
                            NB_LEAST_SOURCES, join(l, few, names)));
}

/* On data that stay the same, trials differ by what is drawn, for all sources alike. *least: how many trials the method
 * has that draws in the fewest; 0: none draws. */
static nb_status count_trials(const look *l, int *least)
{
    nb_replicates r;
    nb_codes codes = {.count = 1};
    const bool *draws;
    int *trials;
    bool by = l->by && nb_frame_has(l->frame, l->by);
    NB_TRY(l->ctx, nb_replicates_find(l->frame, &r, l->ctx));
    NB_TRY(l->ctx, nb_draws_find(l->frame, &draws, l->ctx));
    if (by) NB_TRY(l->ctx, nb_frame_codes(l->frame, l->by, &codes, l->ctx));
    NB_NEED(trials, nb_alloc(l->ctx, (size_t)codes.count + 1, sizeof *trials));
    for (int i = 0; i < l->frame->count; i++) {
        int *of = &trials[by ? codes.of[i] : 0], trial = row_at(l, i)->trial;
        if (draws[i] && !r.generated[r.stratum[i]] && trial >= *of) *of = trial + 1;
    }
    *least = 0;
    for (int c = 0; c < codes.count; c++)
        if (trials[c] > 0 && (*least == 0 || trials[c] < *least)) *least = trials[c];
    return NB_OK;
}

static nb_status find_few_trials(const look *l)
{
    enum { ENOUGH = 5 };
    int trials;
    NB_TRY(l->ctx, count_trials(l, &trials));
    if (trials == 0 || trials >= ENOUGH) return NB_OK;
    return add(l, nb_format(l->ctx,
                            "Few trials: %d. In a trial strategies draw the same for all sources, so more sources do "
                            "not make up for few trials%s.",
                            trials,
                            trials < NB_LEAST_TRIALS ? ", and comparisons have no verdict" : ": intervals are wide"));
}

/* What rows that compete agree in: all of the identity but what is compared. */
static nb_status find_keys(const look *l, const char **keys)
{
    int count = 0;
    for (const nb_column *c = l->frame->columns; c->name; c++) {
        if (!c->identity || c->type == NB_COLUMN_SEED || strcmp(c->name, l->by) == 0 || strcmp(c->name, "trial") == 0)
            continue;
        NB_REQUIRE(l->ctx, count < MOST_KEYS, NB_EBUG, "rows have more columns of identity than %d", MOST_KEYS);
        keys[count++] = c->name;
    }
    keys[count] = NULL;
    return NB_OK;
}

/* How often each method has the least of the metric among its competitors; *of: in so many comparisons. What is
 * rounding noise competes with nothing. */
static nb_status count_leads(const look *l, int *leads, int *of)
{
    const char *keys[MOST_KEYS + 1];
    nb_selection all;
    nb_pivot pivot;
    NB_TRY(l->ctx, find_keys(l, keys));
    NB_TRY(l->ctx, nb_frame_all(l->frame, &all, l->ctx));
    NB_TRY(l->ctx, nb_frame_pivot(l->frame, all, keys, "trial", l->by, &pivot, l->ctx));
    *of = 0;
    for (int i = 0; i < pivot.count; i++) {
        const int *rows = &pivot.rows[(size_t)i * (size_t)pivot.width];
        int best = -1, count = 0;
        for (int v = 0; v < pivot.width; v++) {
            if (rows[v] < 0 || !is_result(l, rows[v]) || is_noise(l, rows[v])) continue;
            if (count++ == 0 || real_of(l, l->metric->name, rows[v]) < real_of(l, l->metric->name, rows[best]))
                best = v;
        }
        if (count < 2) continue;
        leads[best]++;
        ++*of;
    }
    return NB_OK;
}

static nb_status find_oracle(const look *l)
{
    nb_codes methods;
    int *leads, of, first = 0;
    bool oracle;
    const char *label;
    if (!l->by) return NB_OK;
    NB_TRY(l->ctx, nb_frame_codes(l->frame, l->by, &methods, l->ctx));
    NB_NEED(leads, nb_alloc(l->ctx, (size_t)methods.count + 1, sizeof *leads));
    NB_TRY(l->ctx, count_leads(l, leads, &of));
    for (int v = 1; v < methods.count; v++)
        if (leads[v] > leads[first]) first = v;
    if (of == 0) return NB_OK;
    NB_TRY(l->ctx, nb_label_is_oracle(l->frame, l->by, methods.first[first], &oracle, l->ctx));
    if (!oracle) return NB_OK;
    NB_TRY(l->ctx, nb_label_of(l->frame, l->by, methods.first[first], &label, l->ctx));
    return add(l, nb_format(l->ctx,
                            "An oracle is in the lead: %s has the least %s most often, in %d of %d comparisons. It "
                            "looks at what it is to approximate, and so says what is possible, not what to use.",
                            label, l->metric->name, leads[first], of));
}

static nb_status find_noise(const look *l)
{
    int noise = 0, results = 0;
    for (int i = 0; i < l->frame->count; i++) {
        if (!is_result(l, i)) continue;
        results++;
        noise += is_noise(l, i);
    }
    if (noise == 0) return NB_OK;
    return add(l, nb_format(l->ctx,
                            "%d of %d values of %s are not above their rounding noise (column %s): they say that it "
                            "is small, and nothing about which is smaller.",
                            noise, results, l->metric->name, l->metric->noise));
}

/* Methods that mostly are no better than the trivial answer. */
static nb_status find_trivial(const look *l)
{
    nb_codes methods;
    const char **names;
    int *worse, *results, count = 0;
    if (!l->by || !l->metric->trivial) return NB_OK;
    NB_TRY(l->ctx, nb_frame_codes(l->frame, l->by, &methods, l->ctx));
    NB_NEED(worse, nb_alloc(l->ctx, (size_t)methods.count + 1, sizeof *worse));
    NB_NEED(results, nb_alloc(l->ctx, (size_t)methods.count + 1, sizeof *results));
    NB_NEED(names, nb_alloc(l->ctx, (size_t)methods.count + 1, sizeof *names));
    for (int i = 0; i < l->frame->count; i++) {
        if (!is_result(l, i)) continue;
        results[methods.of[i]]++;
        worse[methods.of[i]] += real_of(l, l->metric->name, i) >= real_of(l, l->metric->trivial, i);
    }
    for (int v = 0; v < methods.count; v++) {
        const char *label;
        if (2 * worse[v] <= results[v]) continue;
        NB_TRY(l->ctx, nb_label_of(l->frame, l->by, methods.first[v], &label, l->ctx));
        NB_NEED(names[count++], nb_format(l->ctx, "%s (%d of %d rows)", label, worse[v], results[v]));
    }
    if (count == 0) return NB_OK;
    return add(l, nb_format(l->ctx, "Mostly no better than the trivial answer (column %s): %s.", l->metric->trivial,
                            join(l, count, names)));
}

static nb_status find_prediction(const look *l)
{
    nb_past_prediction past;
    NB_TRY(l->ctx, nb_prediction_past(l->store, &past, l->ctx));
    if (!past.known || (past.taken_s <= OFF * past.high_s && past.low_s <= OFF * past.taken_s)) return NB_OK;
    return add(l, nb_format(l->ctx,
                            "The prediction was off: the last call took %.3g s for its rows, predicted %.3g s to "
                            "%.3g s; other programs may have disturbed what it timed.",
                            past.taken_s, past.low_s, past.high_s));
}

static nb_status find_builds(const look *l)
{
    nb_measured_by *by;
    const char **names;
    int count;
    NB_TRY(l->ctx, nb_store_programs(l->store, &count, &by, l->ctx));
    if (count < 2) return NB_OK;
    NB_NEED(names, nb_alloc(l->ctx, (size_t)count, sizeof *names));
    for (int i = 0; i < count; i++) {
        NB_TRY(l->ctx, nb_program_text(&by[i].program, &names[i], l->ctx));
        NB_NEED(names[i], nb_format(l->ctx, "%d of %s", by[i].rows, names[i]));
    }
    return add(
        l, nb_format(l->ctx, "The rows come from %d builds or kinds of arithmetic: %s.", count, join(l, count, names)));
}

/* The least that a machine had which measured rows; NaN: not known. */
static nb_status find_machine_memory(const look *l, double *mib)
{
    json_t *list;
    *mib = NAN;
    NB_TRY(l->ctx, nb_facts_read(l->store, &list, l->ctx));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *facts = json_array_get(list, i), *had = json_object_get(facts, "memory_mib");
        if (json_integer_value(json_object_get(facts, "rows")) > 0 && had) *mib = fmin(*mib, json_number_value(had));
    }
    return NB_OK;
}

/* Of a column of bytes. */
static nb_status find_memory(const look *l, const nb_column *c)
{
    int results = 0, missing = 0;
    double most = 0, mib;
    for (int i = 0; i < l->frame->count; i++) {
        if (!has(l, i, "ok")) continue;
        double bytes = real_of(l, c->name, i);
        results++;
        missing += isnan(bytes);
        most = fmax(most, bytes);
    }
    if (missing > 0)
        NB_TRY(l->ctx,
               add(l, nb_format(l->ctx, "%d of %d rows have no %s: the system did not tell what memory they took.",
                                missing, results, c->name)));
    NB_TRY(l->ctx, find_machine_memory(l, &mib));
    most /= 1 << 20;
    if (!(most > NEAR * mib)) return NB_OK;
    return add(l, nb_format(l->ctx,
                            "Memory was short: a row took up to %.0f MiB (column %s) of the %.0f MiB that the machine "
                            "has, so that times may have pages in them that were written out and read again.",
                            most, c->name, mib));
}

/* Hosts or processors; of what is timed, calls of the program too. */
static nb_status find_machines(const look *l)
{
    json_t *list;
    const char **names;
    int count = 0, sessions = 0;
    NB_TRY(l->ctx, nb_facts_read(l->store, &list, l->ctx));
    NB_NEED(names, nb_alloc(l->ctx, json_array_size(list) + 1, sizeof *names));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *facts = json_array_get(list, i);
        bool known = false;
        if (json_integer_value(json_object_get(facts, "rows")) == 0) continue;
        sessions++;
        NB_NEED(names[count], nb_format(l->ctx, "%s (%s)", nb_fact(facts, "host"), nb_fact(facts, "cpu")));
        for (int k = 0; k < count; k++) known = known || strcmp(names[k], names[count]) == 0;
        count += !known;
    }
    if (count > 1)
        NB_TRY(l->ctx,
               add(l, nb_format(l->ctx, "The rows were measured on %d machines: %s.", count, join(l, count, names))));
    if (sessions > 1 && l->study->exclusive)
        NB_TRY(l->ctx, add(l, nb_format(l->ctx,
                                        "The times were taken in %d calls of the program, between which the "
                                        "machine may have changed its pace.",
                                        sessions)));
    return NB_OK;
}

static nb_status find_all(const look *l)
{
    NB_TRY(l->ctx, find_unmeasured(l));
    NB_TRY(l->ctx, find_wrong(l));
    NB_TRY(l->ctx, find_starved(l));
    NB_TRY(l->ctx, find_few_sources(l));
    NB_TRY(l->ctx, find_few_trials(l));
    if (l->metric) {
        NB_TRY(l->ctx, find_oracle(l));
        NB_TRY(l->ctx, find_noise(l));
        NB_TRY(l->ctx, find_trivial(l));
    }
    NB_TRY(l->ctx, find_warnings(l));
    for (const nb_column *c = l->frame->columns; c->name; c++)
        if (c->memory) NB_TRY(l->ctx, find_memory(l, c));
    NB_TRY(l->ctx, find_prediction(l));
    NB_TRY(l->ctx, find_builds(l));
    return find_machines(l);
}

nb_status nb_caveats_find(const nb_frame *frame, const nb_study *study, nb_store *store, nb_caveats *found, nb_ctx *ctx)
{
    look l = {.frame = frame, .study = study, .store = store, .found = found, .kept = ctx};
    *found = (nb_caveats){.count = 0};
    l.metric = nb_study_metric(study);
    if (study->baseline >= 0) l.by = study->axes[study->baseline].column;
    NB_NEED(l.ctx, nb_ctx_child(ctx));
    nb_status status = find_all(&l);
    nb_ctx_release(l.ctx, 0);
    return status;
}
