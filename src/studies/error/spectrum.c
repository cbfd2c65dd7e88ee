/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spectrum.c - what the figure `spectrum` is made of: repeats the run as far as A, trial 0 bit for bit, for the
 * singular values s of A over the largest, and the filter factors s v' X u of each core that has a cut-off, sees A
 * alone and is the standard of its kind (or, if none is, of the first that has one). Landmarks that cannot be had are
 * left out; their rows say why.
 *
 * Makes the table spectrum (core_name, panel_name, strategy, pairing, factors, core, way, number, value, filter): a row
 * for each singular value (number, from 1) of A of each head, way (a strategy, pairing and factors) and core; panels
 * are problems under a kernel, however these were written. */
#include "show/figure.h"

#include "calls/compute.h"
#include "linalg/linalg.h"
#include "rows/made_tables.h"
#include "rows/relation.h"
#include "run/run_folder.h"
#include "studies/error/runner.h"

#include <math.h>
#include <string.h>

nb_figure_prepare nb_prepare_spectrum; /* that the figure's file names */

typedef struct {
    const nb_plan *plan;
    const nb_relation *relation;
    sqlite3_stmt *insert;
    int m, core_count, way_count;
    const nb_choice **cores;
    const nb_error_method **ways;
} spectrum;

static bool filters(const nb_choice *core)
{
    return nb_core_traits(core) & NB_CORE_FILTER;
}

static nb_status choose_cores(spectrum *s, nb_ctx *ctx)
{
    const nb_choices *all = &s->plan->config->lists[NB_ERROR_CORE].choices;
    NB_NEED(s->cores, nb_alloc(ctx, (size_t)all->count, sizeof *s->cores));
    for (int i = 0; i < all->count; i++)
        if (filters(&all->items[i]) && all->items[i].plain) s->cores[s->core_count++] = &all->items[i];
    for (int i = 0; i < all->count && s->core_count == 0; i++)
        if (filters(&all->items[i])) s->cores[s->core_count++] = &all->items[i];
    return NB_OK;
}

/* Methods of one way stand together, m by m. */
static nb_status choose_ways(spectrum *s, nb_ctx *ctx)
{
    const nb_plan *plan = s->plan;
    NB_NEED(s->ways, nb_alloc(ctx, (size_t)plan->method_count, sizeof *s->ways));
    for (int i = 0; i < plan->method_count; i++) {
        const nb_error_method *c = &nb_error_methods(plan)[i];
        bool known = c->m != s->m || !nb_factors_have_middle(c->factors); /* no A */
        for (int w = 0; w < s->way_count; w++)
            known |= s->ways[w]->strategy == c->strategy && s->ways[w]->pairing == c->pairing &&
                     s->ways[w]->factors == c->factors;
        if (!known) s->ways[s->way_count++] = c;
    }
    return NB_OK;
}

/* `values`: those of A, then the filters of each core. */
static nb_status add_rows(const spectrum *s, const char *panel, int way, const double *values, nb_ctx *ctx)
{
    const nb_error_method *of = s->ways[way];
    for (int core = 0; core < s->core_count; core++) {
        const char *name;
        NB_TRY(ctx, nb_choice_full(s->cores[core], &name, ctx));
        for (int j = 0; j < s->m; j++)
            NB_TRY(ctx, nb_relation_add(s->relation, s->insert, "tttttiiirr", name, panel, of->strategy->canonical,
                                        nb_pairing_names[of->pairing], nb_factors_names[of->factors], core, way, j + 1,
                                        values[j] / values[0], values[j] * values[(core + 1) * s->m + j]));
    }
    return NB_OK;
}

/* v_j' X u_j of each singular value of A = U diag(s) V', unless the core refuses A. */
static nb_status find_filter(const spectrum *s, const nb_choice *choice, nb_factors *factors,
                             const nb_factors_spectrum *a, double *filter, nb_ctx *ctx)
{
    int m = s->m;
    double *x, *xu;
    nb_computed computed;
    NB_NEED(x, nb_alloc_reals(ctx, (size_t)m, (size_t)m));
    NB_NEED(xu, nb_alloc_reals(ctx, (size_t)m, (size_t)m));
    NB_TRY(ctx, nb_core_compute(choice, factors, NULL, (nb_stream){.seed = 0}, x, &computed, ctx));
    if (computed.refusal) return NB_OK;
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, x, m, a->u, m, 0, xu, m);
    for (int j = 0; j < m; j++) {
        filter[j] = 0;
        for (int i = 0; i < m; i++) filter[j] += a->vt[j + i * m] * xu[i + j * m];
    }
    return NB_OK;
}

static nb_status form_a(nb_scene *scene, const nb_landmarks *landmarks, const nb_error_method *way,
                        nb_factors **factors, nb_ctx *ctx)
{
    double *b;
    NB_NEED(b, nb_alloc_reals(ctx, (size_t)nb_scene_head(scene)->n, (size_t)way->m));
    NB_TRY(ctx, nb_factor_b(scene, landmarks, way->factors, b, NULL, ctx));
    return nb_factor_a(scene, landmarks, way->factors, b, NULL, factors, ctx);
}

/* *values: as in add_rows. */
static nb_status find_values(const spectrum *s, int way, int planned, nb_scene *scene, gsl_rng *rng, double *values,
                             nb_ctx *ctx)
{
    nb_landmarks landmarks;
    nb_factors *factors;
    const nb_factors_spectrum *a;
    const nb_error_method *method = s->ways[way];
    NB_TRY(ctx, nb_run_pick(s->plan, planned, scene, 0, method, rng, &landmarks, ctx));
    if (landmarks.refusal || nb_factors_refusal(method->factors, landmarks.queries.kind, nb_scene_head(scene)->causal,
                                                nb_scene_kernel_choice(scene)))
        return NB_OK;
    NB_TRY(ctx, form_a(scene, &landmarks, method, &factors, ctx));
    NB_TRY(ctx, nb_factors_svd(factors, &a, ctx));
    memcpy(values, a->values, (size_t)s->m * sizeof *values);
    for (int c = 0; c < s->core_count; c++)
        NB_TRY(ctx, find_filter(s, s->cores[c], factors, a, values + (c + 1) * s->m, ctx));
    return NB_OK;
}

static nb_status add_scene(const spectrum *s, const char *panel, int index, nb_ctx *ctx)
{
    gsl_rng *rng;
    nb_head head;
    nb_scene *scene;
    double *values;
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    NB_TRY(ctx, nb_plan_head(s->plan, index, 0, rng, &head, ctx));
    NB_TRY(ctx, nb_run_make_scene(s->plan, index, &head, &scene, ctx));
    NB_NEED(values, nb_alloc_reals(ctx, (size_t)s->core_count + 1, (size_t)s->m));
    for (int w = 0; w < s->way_count; w++) {
        for (int i = 0; i < (s->core_count + 1) * s->m; i++) values[i] = NAN;
        nb_status status = find_values(s, w, index, scene, rng, values, ctx);
        if (status == NB_ENOMEM) return status;
        nb_error_clear(ctx); /* the row says what it was */
        NB_TRY(ctx, add_rows(s, panel, w, values, ctx));
    }
    return NB_OK;
}

/* Kernels are named where there are several. */
static nb_status name_panel(const spectrum *s, const nb_planned_scene *scene, const char **name, nb_ctx *ctx)
{
    bool several = s->plan->config->lists[NB_ERROR_KERNEL].count > 1;
    NB_NEED(*name, nb_format(ctx, "%s%s%s", scene->problem->label, several ? ", " : "",
                             several ? nb_error_kernel(s->plan, scene)->label : ""));
    return NB_OK;
}

static nb_status add_scenes(const spectrum *s, nb_ctx *ctx)
{
    for (int i = 0; i < s->plan->scene_count; i++) {
        const nb_planned_scene *scene = &s->plan->scenes[i];
        const char *panel;
        if (scene->refusal || scene->n < s->m) continue;
        nb_mark mark = nb_ctx_mark(ctx);
        NB_TRY(ctx, name_panel(s, scene, &panel, ctx));
        nb_status status = add_scene(s, panel, i, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    return NB_OK;
}

nb_status nb_prepare_spectrum(const nb_drawing *d, nb_ctx *ctx)
{
    nb_config config;
    nb_plan plan;
    spectrum s = {.plan = d->plan, .relation = d->relation, .m = d->m};
    if (!s.plan) {
        NB_TRY(ctx, nb_experiment_again(d->run, d->programs, true, &config, &plan, ctx));
        s.plan = &plan;
    }
    NB_TRY(ctx, nb_table_make(d->relation, "spectrum", "spectrum_values.table", NULL, &s.insert, ctx));
    NB_TRY(ctx, choose_cores(&s, ctx));
    NB_TRY(ctx, choose_ways(&s, ctx));
    return add_scenes(&s, ctx);
}
