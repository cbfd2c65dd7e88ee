/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.c - every row's value goes to its cell; each cell is sorted and its
 * quantiles taken (linear interpolation, as GSL and NumPy have them). A cell
 * without randomness has one value a head, which stands for all its trials:
 * all values of a cell weigh the same, so nothing is to be repeated. */
#include "studies/error/summary.h"

#include "components/registry.h"
#include "run/plan.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <string.h>

int nb_summary_cell(const nb_summary *s, int panel, int variant, int core, int landmark)
{
    return ((panel * s->variant_count + variant) * s->core_count + core) * s->landmark_count + landmark;
}

int nb_summary_level(const nb_summary *s, int panel, int landmark)
{
    return panel * s->landmark_count + landmark;
}

/* The labels of a canonical text, or the text itself where the component is gone. */
static nb_status labels_of(const nb_registry *registry, const char *canonical, const char **full, const char **brief,
                           nb_ctx *ctx)
{
    nb_choice choice;
    nb_status status = nb_choice_parse(registry, canonical, &choice, ctx);
    *full = status == NB_OK ? choice.full : canonical;
    *brief = status == NB_OK ? choice.label : canonical;
    if (status == NB_ENOMEM) return status;
    nb_error_clear(ctx);
    return NB_OK;
}

static nb_status label_of(const nb_registry *registry, const char *canonical, const char **label, nb_ctx *ctx)
{
    const char *full;
    return labels_of(registry, canonical, &full, label, ctx);
}

static int find_panel(const nb_summary *s, const nb_error_row *row)
{
    int i = 0;
    while (i < s->panel_count &&
           (strcmp(s->panels[i].problem, row->problem) || strcmp(s->panels[i].kernel, row->kernel)))
        i++;
    return i;
}

/* Under a kernel of one point set a strategy's pairings are one, which stands with its first. */
static int find_variant(const nb_summary *s, const nb_error_row *row, bool one_set)
{
    int i = 0;
    for (; i < s->variant_count; i++) {
        const nb_variant *v = &s->variants[i];
        if (strcmp(v->strategy, row->strategy) || strcmp(v->factors, row->factors)) continue;
        if (one_set || !v->pairing || !strcmp(v->pairing, row->pairing)) break;
    }
    return i;
}

int nb_summary_variant(const nb_summary *s, const char *strategy, const char *pairing, const char *factors)
{
    int found = -1;
    for (int i = s->variant_count - 1; i >= 0; i--) {
        const nb_variant *v = &s->variants[i];
        if (strcmp(v->strategy, strategy) != 0 || (factors && strcmp(v->factors, factors) != 0)) continue;
        if (v->pairing && strcmp(v->pairing, pairing) == 0) found = i;
    }
    for (int i = 0; i < s->variant_count && found < 0; i++)
        if (strcmp(s->variants[i].strategy, strategy) == 0 &&
            (!factors || strcmp(s->variants[i].factors, factors) == 0))
            found = i;
    return found;
}

static int find_core(const nb_summary *s, const nb_error_row *row)
{
    int i = 0;
    while (i < s->core_count && strcmp(s->cores[i].core, row->core)) i++;
    return i;
}

static int find_landmark(const nb_summary *s, int m)
{
    int i = 0;
    while (i < s->landmark_count && s->landmarks[i] != m) i++;
    return i;
}

nb_summary_index nb_summary_find(const nb_summary *s, const nb_error_row *row)
{
    int panel = find_panel(s, row);
    return (nb_summary_index){panel, find_variant(s, row, s->panels[panel].one_set), find_core(s, row),
                              find_landmark(s, row->landmarks)};
}

/* What the kernel of a new panel says, where it is still known. */
static nb_status look_at_kernel(nb_summary *s, nb_panel *p, nb_ctx *ctx)
{
    nb_choice choice;
    nb_status status = nb_choice_parse(&nb_kernels, p->kernel, &choice, ctx);
    if (status == NB_ENOMEM) return status;
    nb_error_clear(ctx);
    if (status != NB_OK) return NB_OK;
    const nb_kernel *kernel = (const nb_kernel *)choice.component;
    p->one_set = kernel->points;
    if (!kernel->stochastic) s->constant = "mean(S)";
    return NB_OK;
}

static nb_status add_names(nb_summary *s, const nb_error_row *row, nb_ctx *ctx)
{
    int panel = find_panel(s, row), core = find_core(s, row);
    if (panel == s->panel_count) {
        s->panels[s->panel_count++] = (nb_panel){.problem = row->problem,
                                                 .kernel = row->kernel,
                                                 .rows = row->rows,
                                                 .last_head = -1,
                                                 .n = row->n,
                                                 .d = row->d};
        NB_TRY(ctx, look_at_kernel(s, &s->panels[panel], ctx));
    }
    bool one_set = s->panels[panel].one_set;
    int variant = find_variant(s, row, one_set);
    if (variant == s->variant_count)
        s->variants[s->variant_count++] = (nb_variant){.strategy = row->strategy, .factors = row->factors};
    if (!one_set) s->variants[variant].pairing = row->pairing;
    if (core == s->core_count) s->cores[s->core_count++] = (nb_core_label){.core = row->core};
    if (find_landmark(s, row->landmarks) == s->landmark_count) s->landmarks[s->landmark_count++] = row->landmarks;
    nb_panel *p = &s->panels[panel];
    p->heads += row->head != p->last_head; /* the rows of a head stand together */
    p->last_head = row->head;
    if (row->trial >= p->trials) p->trials = row->trial + 1;
    return NB_OK;
}

typedef struct { /* a component's text, and where its label goes */
    const char *canonical;
    const char **label;
} named;

static bool has_twin(int count, const named *all, int of)
{
    for (int i = 0; i < count; i++)
        if (strcmp(*all[i].label, *all[of].label) == 0 && strcmp(all[i].canonical, all[of].canonical) != 0) return true;
    return false;
}

/* Labels of different components differ: paths have as many of their last parts as that
 * takes, and where it does not help, the label is the whole text. */
static nb_status label_apart(const nb_registry *registry, int count, const named *all, nb_ctx *ctx)
{
    enum { DEEPEST = 32 };
    nb_choice choice;
    bool *twins, any = true;
    NB_NEED(twins, nb_alloc(ctx, (size_t)count + 1, sizeof *twins));
    for (int i = 0; i < count; i++) NB_TRY(ctx, label_of(registry, all[i].canonical, all[i].label, ctx));
    for (int parts = 2; any && parts <= DEEPEST; parts++) {
        any = false;
        for (int i = 0; i < count; i++) any |= twins[i] = has_twin(count, all, i);
        for (int i = 0; i < count; i++) {
            nb_status status = twins[i] ? nb_choice_parse(registry, all[i].canonical, &choice, ctx) : NB_EINVAL;
            if (status == NB_OK) status = nb_choice_label(&choice, parts, all[i].label, ctx);
            if (status == NB_ENOMEM) return status;
            nb_error_clear(ctx);
        }
    }
    for (int i = 0; i < count; i++) twins[i] = has_twin(count, all, i);
    for (int i = 0; i < count; i++)
        if (twins[i]) *all[i].label = all[i].canonical;
    return NB_OK;
}

static nb_status look_for_oracle(nb_variant *v, nb_ctx *ctx)
{
    nb_choice choice;
    nb_status status = nb_choice_parse(&nb_strategies, v->strategy, &choice, ctx);
    if (status == NB_ENOMEM) return status;
    nb_error_clear(ctx);
    v->oracle = status == NB_OK && (nb_strategy_traits(&choice) & NB_ORACLE);
    return NB_OK;
}

static bool same_pairing(const nb_variant *a, const nb_variant *b)
{
    return !a->pairing || !b->pairing || strcmp(a->pairing, b->pairing) == 0;
}

bool nb_summary_peers(const nb_summary *s, int panel, int a, int b)
{
    const nb_variant *x = &s->variants[a], *y = &s->variants[b];
    return strcmp(x->factors, y->factors) == 0 && (s->panels[panel].one_set || same_pairing(x, y));
}

/* The pairing of most variants, of several the first; NULL where all have the same. */
static const char *usual_pairing(const nb_summary *s)
{
    const char *usual = NULL;
    int most = 0, with = 0;
    for (int v = 0; v < s->variant_count; v++) {
        const nb_variant *one = &s->variants[v];
        int count = 0;
        if (!one->pairing) continue;
        for (int i = 0; i < s->variant_count; i++)
            count += s->variants[i].pairing && same_pairing(&s->variants[i], one);
        if (count > most) usual = one->pairing, most = count;
        with++;
    }
    return most < with ? usual : NULL;
}

/* What is to be said of a variant beside its strategy: that it is an oracle, a pairing that
 * is not the usual one, and what others of the same strategy have otherwise. */
static nb_status label_variant(nb_summary *s, nb_variant *v, nb_ctx *ctx)
{
    NB_TRY(ctx, look_for_oracle(v, ctx));
    NB_NEED(v->label, nb_format(ctx, "%s%s", v->name, v->oracle ? ", oracle" : ""));
    bool pairings = s->pairing && v->pairing && strcmp(v->pairing, s->pairing) != 0, factors = false;
    for (int i = 0; i < s->variant_count; i++) {
        pairings |= strcmp(s->variants[i].strategy, v->strategy) == 0 && !same_pairing(&s->variants[i], v);
        factors |= strcmp(s->variants[i].factors, v->factors) != 0;
    }
    if (pairings) NB_NEED(v->label, nb_format(ctx, "%s, %s", v->label, v->pairing));
    if (factors) NB_NEED(v->label, nb_format(ctx, "%s, %s", v->label, v->factors));
    return NB_OK;
}

static nb_status label_all(nb_summary *s, nb_ctx *ctx)
{
    bool kernels = false;
    named *all;
    NB_NEED(all, nb_alloc(ctx, (size_t)(s->panel_count > s->variant_count ? s->panel_count : s->variant_count) + 1,
                          sizeof *all));
    for (int i = 0; i < s->panel_count; i++) all[i] = (named){s->panels[i].problem, &s->panels[i].label};
    NB_TRY(ctx, label_apart(&nb_problems, s->panel_count, all, ctx));
    for (int i = 0; i < s->variant_count; i++) all[i] = (named){s->variants[i].strategy, &s->variants[i].name};
    NB_TRY(ctx, label_apart(&nb_strategies, s->variant_count, all, ctx));
    s->pairing = usual_pairing(s);
    for (int i = 0; i < s->panel_count; i++) kernels |= strcmp(s->panels[i].kernel, s->panels[0].kernel) != 0;
    for (int i = 0; i < s->panel_count; i++) {
        nb_panel *p = &s->panels[i];
        const char *kernel;
        NB_TRY(ctx, label_of(&nb_kernels, p->kernel, &kernel, ctx));
        if (kernels) NB_NEED(p->label, nb_format(ctx, "%s, %s", p->label, kernel));
        if (strcmp(p->rows, "all") != 0) NB_NEED(p->label, nb_format(ctx, "%s, rows: %s", p->label, p->rows));
    }
    for (int i = 0; i < s->variant_count; i++) NB_TRY(ctx, label_variant(s, &s->variants[i], ctx));
    for (int i = 0; i < s->core_count; i++) {
        nb_core_label *c = &s->cores[i];
        NB_TRY(ctx, labels_of(&nb_cores, c->core, &c->label, &c->brief, ctx));
    }
    return NB_OK;
}

static nb_status name_all(int count, const nb_error_row *rows, nb_summary *s, nb_ctx *ctx)
{
    size_t most = (size_t)count;
    NB_NEED(s->panels, nb_alloc(ctx, most, sizeof *s->panels));
    NB_NEED(s->variants, nb_alloc(ctx, most, sizeof *s->variants));
    NB_NEED(s->cores, nb_alloc(ctx, most, sizeof *s->cores));
    NB_NEED(s->landmarks, nb_alloc(ctx, most, sizeof *s->landmarks));
    for (int i = 0; i < count; i++) NB_TRY(ctx, add_names(s, &rows[i], ctx));
    gsl_sort_int(s->landmarks, 1, (size_t)s->landmark_count);
    return label_all(s, ctx);
}

typedef struct { /* values on their way to cells */
    int count, cells;
    int *cell;
    double *value; /* NaN: planned, but not ok */
    bool *noise;
} bag;

static nb_status bag_init(bag *b, int most, int cells, nb_ctx *ctx)
{
    *b = (bag){.cells = cells};
    NB_NEED(b->cell, nb_alloc(ctx, (size_t)most, sizeof *b->cell));
    NB_NEED(b->value, nb_alloc_reals(ctx, (size_t)most, 1));
    NB_NEED(b->noise, nb_alloc(ctx, (size_t)most, sizeof *b->noise));
    return NB_OK;
}

static void put(bag *b, int cell, double value, bool noise)
{
    b->cell[b->count] = cell;
    b->noise[b->count] = noise;
    b->value[b->count++] = value;
}

static void quantiles(nb_statistic *s, double *values)
{
    if (s->count == 0) return;
    gsl_sort(values, 1, (size_t)s->count);
    s->median = gsl_stats_quantile_from_sorted_data(values, 1, (size_t)s->count, 0.5);
    s->low = gsl_stats_quantile_from_sorted_data(values, 1, (size_t)s->count, 0.1);
    s->high = gsl_stats_quantile_from_sorted_data(values, 1, (size_t)s->count, 0.9);
}

double nb_part_of(const nb_error_row *row, nb_part part)
{
    if (strcmp(row->status, "ok") != 0) return NAN;
    return part == NB_WHOLE ? row->measures.error : row->measures.error_subspace;
}

/* The subspace part has no X in it, so that the row's error_noise, which X may make as large
 * as it likes, is not its own. It is a sum of n^2 differences that are good to some eps of |S|;
 * 1e-12 is eps n at n = 4096. */
bool nb_is_noise(const nb_error_row *row, nb_part part)
{
    static const double of_subspace = 1e-12;
    if (part == NB_WHOLE) return nb_error_is_noise(&row->measures);
    return !(row->measures.error_subspace > of_subspace);
}

bool nb_statistic_is_noise(const nb_statistic *s)
{
    return s->count > 0 && 2 * s->noise >= s->count;
}

double nb_above_best(const nb_error_row *row)
{
    return nb_is_noise(row, NB_SUBSPACE) ? NAN : nb_part_of(row, NB_WHOLE) / nb_part_of(row, NB_SUBSPACE) - 1;
}

nb_statistic nb_statistic_of(int count, double *values)
{
    nb_statistic s = {.count = count, .planned = count, .median = NAN, .low = NAN, .high = NAN};
    quantiles(&s, values);
    return s;
}

/* A counting sort by cell, then each cell's quantiles. */
static nb_status statistics(const bag *b, nb_statistic **out, nb_ctx *ctx)
{
    size_t cells = (size_t)b->cells;
    nb_statistic *stats;
    int *start;
    double *sorted;
    NB_NEED(stats, nb_alloc(ctx, cells, sizeof *stats));
    NB_NEED(start, nb_alloc(ctx, cells + 1, sizeof *start));
    NB_NEED(sorted, nb_alloc_reals(ctx, (size_t)b->count, 1));
    for (int i = 0; i < b->count; i++) start[b->cell[i] + 1]++;
    for (size_t c = 0; c < cells; c++) {
        stats[c] = (nb_statistic){.planned = start[c + 1], .median = NAN, .low = NAN, .high = NAN};
        start[c + 1] += start[c];
    }
    for (int i = 0; i < b->count; i++) {
        nb_statistic *s = &stats[b->cell[i]];
        if (isnan(b->value[i])) continue;
        sorted[start[b->cell[i]] + s->count++] = b->value[i];
        s->noise += b->noise[i];
    }
    for (size_t c = 0; c < cells; c++) quantiles(&stats[c], sorted + start[c]);
    *out = stats;
    return NB_OK;
}

bool nb_same_landmarks(const nb_error_row *a, const nb_error_row *b)
{
    return a->head == b->head && a->trial == b->trial && a->landmarks == b->landmarks &&
           !strcmp(a->problem, b->problem) && !strcmp(a->kernel, b->kernel) && !strcmp(a->strategy, b->strategy) &&
           !strcmp(a->pairing, b->pairing) && !strcmp(a->factors, b->factors);
}

/* What does not depend on the cell counts once for each head and trial, however many
 * cells are planned there: `last` has the row that was counted last, by level. */
static void put_level(bag *b, int level, double value, const nb_error_row *row, const nb_error_row **last)
{
    if (last[level] && last[level]->head == row->head && last[level]->trial == row->trial) return;
    put(b, level, value, false);
    if (!isnan(value)) last[level] = row;
}

static nb_status fill(int count, const nb_error_row *rows, nb_summary *s, nb_ctx *ctx)
{
    bag errors, ratios, floors, baselines;
    int levels = s->panel_count * s->landmark_count;
    int cells = levels * s->variant_count * s->core_count;
    const nb_error_row **floor_of, **baseline_of;
    const nb_error_row *first_core = NULL;
    NB_NEED(s->row_ratios, nb_alloc_reals(ctx, (size_t)count + 1, 1));
    NB_NEED(floor_of, nb_alloc(ctx, (size_t)levels, sizeof *floor_of));
    NB_NEED(baseline_of, nb_alloc(ctx, (size_t)levels, sizeof *baseline_of));
    NB_TRY(ctx, bag_init(&errors, count, cells, ctx));
    NB_TRY(ctx, bag_init(&ratios, count, cells, ctx));
    NB_TRY(ctx, bag_init(&floors, count, levels, ctx));
    NB_TRY(ctx, bag_init(&baselines, count, levels, ctx));
    for (int i = 0; i < count; i++) { /* those of one choice of landmarks stand together, one for each core */
        nb_summary_index at = nb_summary_find(s, &rows[i]);
        int cell = nb_summary_cell(s, at.panel, at.variant, at.core, at.landmark),
            level = nb_summary_level(s, at.panel, at.landmark);
        if (i == 0 || !nb_same_landmarks(&rows[i - 1], &rows[i])) first_core = NULL;
        if (at.core == 0) first_core = &rows[i];
        bool noise = nb_is_noise(&rows[i], NB_WHOLE),
             compared = first_core && !(noise && nb_is_noise(first_core, NB_WHOLE));
        put(&errors, cell, nb_part_of(&rows[i], NB_WHOLE), noise);
        s->row_ratios[i] = compared ? nb_part_of(&rows[i], NB_WHOLE) / nb_part_of(first_core, NB_WHOLE) : NAN;
        put(&ratios, cell, s->row_ratios[i], noise);
        put_level(&floors, level, rows[i].measures.floor_rank, &rows[i], floor_of);
        put_level(&baselines, level, rows[i].measures.baseline_mean, &rows[i], baseline_of);
    }
    NB_TRY(ctx, statistics(&errors, &s->errors, ctx));
    NB_TRY(ctx, statistics(&ratios, &s->ratios, ctx));
    NB_TRY(ctx, statistics(&floors, &s->floors, ctx));
    return statistics(&baselines, &s->baselines, ctx);
}

nb_status nb_summary_make(int count, const nb_error_row *rows, nb_summary *summary, nb_ctx *ctx)
{
    *summary = (nb_summary){.constant = "1/n", .row_count = count, .rows = rows};
    NB_TRY(ctx, name_all(count, rows, summary, ctx));
    return fill(count, rows, summary, ctx);
}
