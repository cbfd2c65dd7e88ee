/* SPDX-License-Identifier: GPL-3.0-or-later */
/* summary.c - rows are grouped by cell, and the quantiles of each cell's values taken. A cell
 * without randomness has one value a head, which stands for all its trials:
 * all values of a cell weigh the same, so nothing is to be repeated. */
#include "studies/error/summary.h"

#include "components/registry.h"
#include "kernels/kernel.h"
#include "report/labels.h"
#include "report/replicates.h"

#include <gsl/gsl_sort.h>
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
static nb_status labels_of(const nb_summary *s, const nb_registry *registry, const char *canonical, const char **full,
                           const char **brief, nb_ctx *ctx)
{
    nb_choice choice;
    *full = *brief = nb_given_label_of(s->frame.labels, registry, canonical);
    if (*full) return NB_OK;
    nb_status status = nb_choice_parse(registry, canonical, &choice, ctx);
    *full = status == NB_OK ? choice.full : canonical;
    *brief = status == NB_OK ? choice.label : canonical;
    if (status == NB_ENOMEM) return status;
    nb_error_clear(ctx);
    return NB_OK;
}

static nb_status label_of(const nb_summary *s, const nb_registry *registry, const char *canonical, const char **label,
                          nb_ctx *ctx)
{
    const char *full;
    return labels_of(s, registry, canonical, &full, label, ctx);
}

/* The model, the layer and the shape of a row's head, and the problem's options but for the file and the head: what
 * files of heads of the same kind agree in. Of other data, the problem itself. */
static nb_status kind_of(const nb_error_row *row, const char **kind, nb_ctx *ctx)
{
    nb_choice choice;
    *kind = row->problem;
    if (!row->model) return NB_OK;
    nb_status status = nb_choice_parse(&nb_problems, row->problem, &choice, ctx);
    if (status == NB_ENOMEM) return status;
    nb_error_clear(ctx);
    if (status != NB_OK) return NB_OK;
    NB_NEED(*kind,
            nb_format(ctx, "%s, layer %s, n = %d, d = %d", row->model, row->layer ? row->layer : "", row->n, row->d));
    for (const nb_option *o = choice.component->options; o->key; o++) {
        const char *text;
        if (o->names_files || o->selects_head) continue;
        NB_TRY(ctx, nb_option_text(choice.options, o, 0, &text, ctx));
        NB_NEED(*kind, nb_format(ctx, "%s, %s = %s", *kind, o->key, text));
    }
    return NB_OK;
}

/* Where it is among the summary's problems; a new one is added. */
static nb_status find_problem(nb_summary *s, const nb_error_row *row, int *problem, nb_ctx *ctx)
{
    for (*problem = 0; *problem < s->problem_count; ++*problem)
        if (strcmp(s->problems[*problem], row->problem) == 0) return NB_OK;
    NB_TRY(ctx, kind_of(row, &s->alike[s->problem_count], ctx));
    s->problems[s->problem_count++] = row->problem;
    return NB_OK;
}

/* Of a problem that has been found. */
static int find_panel(const nb_summary *s, const nb_error_row *row)
{
    int i = 0, problem = 0;
    while (strcmp(s->problems[problem], row->problem) != 0) problem++;
    while (i < s->panel_count &&
           (strcmp(s->panels[i].alike, s->alike[problem]) || strcmp(s->panels[i].kernel, row->kernel)))
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

static int find_landmark(const nb_summary *s, int m)
{
    int i = 0;
    while (i < s->landmark_count && s->landmarks[i] != m) i++;
    return i;
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
    p->rank_d = kernel->low_rank;
    if (!kernel->stochastic) s->constant = "mean(S)";
    return NB_OK;
}

/* A panel or a variant that is new with this row. */
static nb_status add_names(nb_summary *s, const nb_error_row *row, nb_ctx *ctx)
{
    int problem;
    NB_TRY(ctx, find_problem(s, row, &problem, ctx));
    int panel = find_panel(s, row);
    if (panel == s->panel_count) {
        s->panels[s->panel_count++] = (nb_panel){.problem = row->problem,
                                                 .alike = s->alike[problem],
                                                 .kernel = row->kernel,
                                                 .rows = row->rows,
                                                 .n = row->n,
                                                 .d = row->d};
        NB_TRY(ctx, look_at_kernel(s, &s->panels[panel], ctx));
    }
    bool one_set = s->panels[panel].one_set;
    int variant = find_variant(s, row, one_set);
    if (variant == s->variant_count)
        s->variants[s->variant_count++] = (nb_variant){.strategy = row->strategy, .factors = row->factors};
    if (!one_set) s->variants[variant].pairing = row->pairing;
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

/* What the label of a variant adds to its strategy: that it is an oracle, a pairing that
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

/* Several files: their model, and how many sources they are of. */
static nb_status label_files(const nb_summary *s, nb_panel *p, nb_ctx *ctx)
{
    const nb_error_row *row = s->rows;
    const char *model;
    while (strcmp(row->problem, p->problem) != 0) row++;
    NB_TRY(ctx, nb_label_stratum(row->model, &model, ctx));
    NB_NEED(p->label, nb_format(ctx, "%s%s%s, %d sources", model, row->layer ? " layer " : "",
                                row->layer ? row->layer : "", p->sources));
    p->problem = NULL;
    return NB_OK;
}

/* Of different problems, and of different strategies, differently. */
static nb_status name_components(nb_summary *s, nb_ctx *ctx)
{
    const char **texts, **labels;
    size_t room = (size_t)(s->panel_count > s->variant_count ? s->panel_count : s->variant_count) + 1;
    NB_NEED(texts, nb_alloc(ctx, room, sizeof *texts));
    NB_NEED(labels, nb_alloc(ctx, room, sizeof *labels));
    for (int i = 0; i < s->panel_count; i++) texts[i] = s->panels[i].problem;
    NB_TRY(ctx, nb_labels_apart(&nb_problems, s->frame.labels, s->panel_count, texts, labels, ctx));
    for (int i = 0; i < s->panel_count; i++) {
        s->panels[i].label = labels[i];
        if (s->panels[i].problems > 1) NB_TRY(ctx, label_files(s, &s->panels[i], ctx));
    }
    for (int i = 0; i < s->variant_count; i++) texts[i] = s->variants[i].strategy;
    NB_TRY(ctx, nb_labels_apart(&nb_strategies, s->frame.labels, s->variant_count, texts, labels, ctx));
    for (int i = 0; i < s->variant_count; i++) s->variants[i].name = labels[i];
    return NB_OK;
}

static nb_status label_all(nb_summary *s, nb_ctx *ctx)
{
    bool kernels = false;
    NB_TRY(ctx, name_components(s, ctx));
    s->pairing = usual_pairing(s);
    for (int i = 0; i < s->panel_count; i++) kernels |= strcmp(s->panels[i].kernel, s->panels[0].kernel) != 0;
    for (int i = 0; i < s->panel_count; i++) {
        nb_panel *p = &s->panels[i];
        const char *kernel;
        NB_TRY(ctx, label_of(s, &nb_kernels, p->kernel, &kernel, ctx));
        if (kernels) NB_NEED(p->label, nb_format(ctx, "%s, %s", p->label, kernel));
        if (strcmp(p->rows, "all") != 0) NB_NEED(p->label, nb_format(ctx, "%s, rows: %s", p->label, p->rows));
    }
    for (int i = 0; i < s->variant_count; i++) NB_TRY(ctx, label_variant(s, &s->variants[i], ctx));
    for (int i = 0; i < s->core_count; i++) {
        nb_core_label *c = &s->cores[i];
        NB_TRY(ctx, labels_of(s, &nb_cores, c->core, &c->label, &c->brief, ctx));
    }
    return NB_OK;
}

static nb_status group_all(const nb_frame *f, const char *const *by, nb_groups *groups, nb_ctx *ctx)
{
    nb_selection all;
    NB_TRY(ctx, nb_frame_all(f, &all, ctx));
    return nb_frame_group(f, all, by, groups, ctx);
}

/* Each panel's problems, sources and heads, and how many trials they have. */
static nb_status count_heads(nb_summary *s, nb_ctx *ctx)
{
    nb_groups heads, problems, sources;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, group_all(&s->frame, (const char *const[]){"problem", "kernel", "head", NULL}, &heads, ctx));
    NB_TRY(ctx, group_all(&s->frame, (const char *const[]){NB_OF_PANEL, "problem", NULL}, &problems, ctx));
    NB_TRY(ctx, group_all(&s->frame, (const char *const[]){NB_OF_PANEL, NB_OF_SOURCE, NULL}, &sources, ctx));
    for (int h = 0; h < heads.count; h++) s->panels[s->at[nb_group_rows(&heads, h).at[0]].panel].heads++;
    for (int i = 0; i < problems.count; i++) s->panels[s->at[nb_group_rows(&problems, i).at[0]].panel].problems++;
    for (int i = 0; i < sources.count; i++) s->panels[s->at[nb_group_rows(&sources, i).at[0]].panel].sources++;
    for (int i = 0; i < s->row_count; i++) {
        nb_panel *p = &s->panels[s->at[i].panel];
        if (s->rows[i].trial >= p->trials) p->trials = s->rows[i].trial + 1;
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* In the order in which the rows name them; landmarks ascending. */
static nb_status name_all(nb_summary *s, nb_groups *ways, nb_codes *cores, nb_ctx *ctx)
{
    static const char *const by[] = {"problem", "kernel", "strategy", "pairing", "factors", NULL};
    nb_codes landmarks;
    NB_TRY(ctx, group_all(&s->frame, by, ways, ctx));
    NB_TRY(ctx, nb_frame_codes(&s->frame, "core", cores, ctx));
    NB_TRY(ctx, nb_frame_codes(&s->frame, "landmarks", &landmarks, ctx));
    NB_NEED(s->panels, nb_alloc(ctx, (size_t)ways->count + 1, sizeof *s->panels));
    NB_NEED(s->problems, nb_alloc(ctx, (size_t)ways->count + 1, sizeof *s->problems));
    NB_NEED(s->alike, nb_alloc(ctx, (size_t)ways->count + 1, sizeof *s->alike));
    NB_NEED(s->variants, nb_alloc(ctx, (size_t)ways->count + 1, sizeof *s->variants));
    NB_NEED(s->cores, nb_alloc(ctx, (size_t)cores->count + 1, sizeof *s->cores));
    NB_NEED(s->landmarks, nb_alloc(ctx, (size_t)landmarks.count + 1, sizeof *s->landmarks));
    for (int w = 0; w < ways->count; w++) NB_TRY(ctx, add_names(s, &s->rows[nb_group_rows(ways, w).at[0]], ctx));
    for (; s->core_count < cores->count; s->core_count++)
        s->cores[s->core_count] = (nb_core_label){.core = s->rows[cores->first[s->core_count]].core};
    for (; s->landmark_count < landmarks.count; s->landmark_count++)
        s->landmarks[s->landmark_count] = s->rows[landmarks.first[s->landmark_count]].landmarks;
    gsl_sort_int(s->landmarks, 1, (size_t)s->landmark_count);
    return NB_OK;
}

/* Where each row belongs, as an array and as columns. */
static nb_status place_all(nb_summary *s, const nb_groups *ways, const nb_codes *cores, nb_ctx *ctx)
{
    enum { COLUMNS = 7 };
    static const char *const names[COLUMNS] = {NB_OF_PANEL, NB_OF_VARIANT, NB_OF_CORE, NB_OF_LANDMARK,
                                               NB_OF_HEAD,  NB_OF_CELL,    NB_OF_LEVEL};
    nb_groups heads;
    nb_replicates replicates;
    nb_summary_index *at;
    int *columns[COLUMNS];
    NB_NEED(at, nb_alloc(ctx, (size_t)s->row_count + 1, sizeof *at));
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_replicates_find(&s->frame, &replicates, ctx));
    NB_TRY(ctx, group_all(&s->frame, (const char *const[]){"problem", "head", NULL}, &heads, ctx));
    for (int k = 0; k < COLUMNS; k++) NB_NEED(columns[k], nb_alloc(ctx, (size_t)s->row_count + 1, sizeof(int)));
    for (int w = 0; w < ways->count; w++) {
        nb_selection rows = nb_group_rows(ways, w);
        int panel = find_panel(s, &s->rows[rows.at[0]]),
            variant = find_variant(s, &s->rows[rows.at[0]], s->panels[panel].one_set);
        for (int i = 0; i < rows.count; i++) at[rows.at[i]] = (nb_summary_index){.panel = panel, .variant = variant};
    }
    for (int i = 0; i < s->row_count; i++) {
        at[i].core = cores->of[i];
        at[i].landmark = find_landmark(s, s->rows[i].landmarks);
        at[i].head = heads.of[i];
        const int values[COLUMNS] = {at[i].panel,
                                     at[i].variant,
                                     at[i].core,
                                     at[i].landmark,
                                     at[i].head,
                                     nb_summary_cell(s, at[i].panel, at[i].variant, at[i].core, at[i].landmark),
                                     nb_summary_level(s, at[i].panel, at[i].landmark)};
        for (int k = 0; k < COLUMNS; k++) columns[k][i] = values[k];
    }
    for (int k = 0; k < COLUMNS; k++) NB_TRY(ctx, nb_frame_derive(&s->frame, names[k], columns[k], ctx));
    NB_TRY(ctx, nb_frame_derive(&s->frame, NB_OF_SOURCE, replicates.source, ctx));
    nb_ctx_release(ctx, mark);
    s->at = at;
    return NB_OK;
}

double nb_part_of(const nb_error_row *row, nb_part part)
{
    if (strcmp(row->status, "ok") != 0) return NAN;
    return part == NB_WHOLE ? row->measures.error : row->measures.error_subspace;
}

/* The subspace part has no X in it, so that the row's error_noise, which X may make as large
 * as it likes, is not its own. It is a sum of n^2 differences that are good to some eps of |S|;
 * 1e-12 is eps n at n = 4096. */
static const double of_subspace = 1e-12;

bool nb_is_noise(const nb_error_row *row, nb_part part)
{
    if (part == NB_WHOLE) return nb_error_is_noise(&row->measures);
    return !(row->measures.error_subspace > of_subspace);
}

double nb_above_best(const nb_error_row *row)
{
    return nb_is_noise(row, NB_SUBSPACE) ? NAN : nb_part_of(row, NB_WHOLE) / nb_part_of(row, NB_SUBSPACE) - 1;
}

static const char *const choice_trial_columns[] = {"problem",  "head",    "kernel",  "landmarks", "trial",
                                                   "strategy", "pairing", "factors", NULL};

typedef struct {          /* what a statistic of each group of rows is of */
    const char *column;   /* of the frame: where the statistic goes */
    const double *values; /* by row; NaN: planned, but not ok */
    const bool *noise;    /* likewise */
} wanted;

static nb_status statistics(const nb_summary *s, const wanted *w, nb_statistic *out, nb_ctx *ctx)
{
    nb_groups groups;
    const int *place, *source;
    nb_sourced *values;
    double *room;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(values, nb_alloc(ctx, (size_t)s->row_count + 1, sizeof *values));
    NB_NEED(room, nb_alloc_reals(ctx, (size_t)s->row_count + 1, 1));
    NB_TRY(ctx, group_all(&s->frame, (const char *const[]){w->column, NULL}, &groups, ctx));
    NB_TRY(ctx, nb_frame_ints(&s->frame, w->column, &place, ctx));
    NB_TRY(ctx, nb_frame_ints(&s->frame, NB_OF_SOURCE, &source, ctx));
    for (int g = 0; g < groups.count; g++) {
        nb_selection rows = nb_group_rows(&groups, g);
        int count = 0, noise = 0;
        for (int i = 0; i < rows.count; i++) {
            if (isnan(w->values[rows.at[i]])) continue;
            values[count++] = (nb_sourced){w->values[rows.at[i]], source[rows.at[i]]};
            noise += w->noise[rows.at[i]];
        }
        nb_statistic *mine = &out[place[rows.at[0]]];
        *mine = nb_statistic_over_sources(count, values, room);
        mine->planned = rows.count;
        mine->noise = noise;
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* What does not depend on the cell counts once for each head and trial, however many cells
 * are planned there. */
static nb_status levels(const nb_summary *s, const char *column, nb_statistic *out, nb_ctx *ctx)
{
    static const char *const by[] = {NB_OF_LEVEL, NB_OF_HEAD, "trial", NULL};
    nb_groups instances;
    const double *values;
    double *once;
    bool *noise;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_TRY(ctx, nb_frame_reals(&s->frame, column, &values, ctx));
    NB_TRY(ctx, group_all(&s->frame, by, &instances, ctx));
    NB_NEED(once, nb_alloc_reals(ctx, (size_t)s->row_count + 1, 1));
    NB_NEED(noise, nb_alloc(ctx, (size_t)s->row_count + 1, sizeof *noise));
    for (int i = 0; i < s->row_count; i++) once[i] = NAN;
    for (int g = 0; g < instances.count; g++) {
        nb_selection rows = nb_group_rows(&instances, g);
        for (int i = 0; i < rows.count && isnan(once[rows.at[0]]); i++) once[rows.at[0]] = values[rows.at[i]];
    }
    NB_TRY(ctx, statistics(s, &(wanted){NB_OF_LEVEL, once, noise}, out, ctx));
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

/* Each row's error over that of the first core on the same landmarks. */
static void find_ratios(nb_summary *s, const double *errors, const bool *noise)
{
    for (int g = 0; g < s->choices.count; g++) {
        nb_selection rows = nb_group_rows(&s->choices, g);
        int first = -1;
        for (int i = 0; i < rows.count && first < 0; i++)
            if (s->at[rows.at[i]].core == 0) first = rows.at[i];
        for (int i = 0; i < rows.count; i++) {
            bool compared = first >= 0 && !(noise[rows.at[i]] && noise[first]);
            s->row_ratios[rows.at[i]] = compared ? errors[rows.at[i]] / errors[first] : NAN;
        }
    }
}

static nb_status make_statistics(int count, nb_statistic **out, nb_ctx *ctx)
{
    NB_NEED(*out, nb_alloc(ctx, (size_t)count + 1, sizeof **out));
    for (int i = 0; i < count; i++) (*out)[i] = nb_statistic_of(0, NULL);
    return NB_OK;
}

static nb_status fill(nb_summary *s, nb_ctx *ctx)
{
    int of_levels = s->panel_count * s->landmark_count, cells = of_levels * s->variant_count * s->core_count;
    double *errors;
    bool *noise;
    NB_TRY(ctx, make_statistics(cells, &s->errors, ctx));
    NB_TRY(ctx, make_statistics(cells, &s->ratios, ctx));
    NB_TRY(ctx, make_statistics(of_levels, &s->floors, ctx));
    NB_TRY(ctx, make_statistics(of_levels, &s->baselines, ctx));
    NB_NEED(s->row_ratios, nb_alloc_reals(ctx, (size_t)s->row_count + 1, 1));
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(errors, nb_alloc_reals(ctx, (size_t)s->row_count + 1, 1));
    NB_NEED(noise, nb_alloc(ctx, (size_t)s->row_count + 1, sizeof *noise));
    for (int i = 0; i < s->row_count; i++) {
        errors[i] = nb_part_of(&s->rows[i], NB_WHOLE);
        noise[i] = nb_is_noise(&s->rows[i], NB_WHOLE);
    }
    find_ratios(s, errors, noise);
    NB_TRY(ctx, statistics(s, &(wanted){NB_OF_CELL, errors, noise}, s->errors, ctx));
    NB_TRY(ctx, statistics(s, &(wanted){NB_OF_CELL, s->row_ratios, noise}, s->ratios, ctx));
    NB_TRY(ctx, levels(s, "floor_rank", s->floors, ctx));
    NB_TRY(ctx, levels(s, "baseline_mean", s->baselines, ctx));
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static nb_status make(const nb_frame *frame, void *out, nb_ctx *ctx)
{
    nb_summary *s = out;
    nb_groups ways;
    nb_codes cores;
    *s = (nb_summary){.constant = "1/n", .row_count = frame->count, .rows = frame->rows};
    NB_TRY(ctx, nb_frame_view(frame, &s->frame, ctx));
    NB_TRY(ctx, name_all(s, &ways, &cores, ctx));
    NB_TRY(ctx, place_all(s, &ways, &cores, ctx));
    NB_TRY(ctx, count_heads(s, ctx));
    NB_TRY(ctx, label_all(s, ctx));
    NB_TRY(ctx, group_all(&s->frame, choice_trial_columns, &s->choices, ctx));
    return fill(s, ctx);
}

nb_status nb_summary_make(const nb_frame *frame, nb_summary *s, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_frame_once(frame, make, sizeof *s, s));
    return NB_OK;
}
