/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spectrum.c - repeats the run as far as A, and draws the singular values s of A over the largest, and the filter
 * factors s v' X u of each core that has a cut-off, sees A alone and is the standard of its kind (or, if none is,
 * of the first that has one). Landmarks of trial 0, bit for bit; those that cannot be had are left out, and their
 * rows say why. Names and colours are those of the rows. */
#include "report/figure.h"

#include "calls/compute.h"
#include "studies/error/runner.h"
#include "linalg/linalg.h"
#include "report/sheet.h"
#include "run/reload.h"
#include "studies/error/summary.h"

#include <gsl/gsl_sort.h>
#include <string.h>

typedef struct {
    const nb_plan *plan;
    const nb_summary *summary;
    int m, figure_count, way_count;
    const nb_choice **cores;      /* one a figure */
    const nb_error_method **ways; /* to A: a strategy, pairing and factors; series 2 w, and 2 w + 1 for the filter */
    nb_sheet sheet;
} picture;

static bool filters(const nb_choice *core)
{
    return nb_core_traits(core) & NB_CORE_FILTER;
}

static nb_status choose_cores(picture *p, nb_ctx *ctx)
{
    const nb_choices *all = &p->plan->config->lists[NB_ERROR_CORE].choices;
    NB_NEED(p->cores, nb_alloc(ctx, (size_t)all->count, sizeof *p->cores));
    for (int i = 0; i < all->count; i++)
        if (filters(&all->items[i]) && all->items[i].plain) p->cores[p->figure_count++] = &all->items[i];
    for (int i = 0; i < all->count && p->figure_count == 0; i++)
        if (filters(&all->items[i])) p->cores[p->figure_count++] = &all->items[i];
    return NB_OK;
}

/* Methods of one way stand together, m by m. */
static nb_status choose_ways(picture *p, nb_ctx *ctx)
{
    const nb_plan *plan = p->plan;
    NB_NEED(p->ways, nb_alloc(ctx, (size_t)plan->method_count, sizeof *p->ways));
    for (int i = 0; i < plan->method_count; i++) {
        const nb_error_method *c = &nb_error_methods(plan)[i];
        bool known = c->m != p->m || c->factors == NB_NOCORE; /* which have no A */
        for (int w = 0; w < p->way_count; w++)
            known |= p->ways[w]->strategy == c->strategy && p->ways[w]->pairing == c->pairing &&
                     p->ways[w]->factors == c->factors;
        if (!known) p->ways[p->way_count++] = c;
    }
    return NB_OK;
}

static nb_status lay_out(picture *p, nb_ctx *ctx)
{
    nb_sheet *s = &p->sheet;
    const nb_plan *plan = p->plan;
    NB_NEED(s->figures, nb_alloc(ctx, (size_t)p->figure_count, sizeof *s->figures));
    NB_NEED(s->panels, nb_alloc(ctx, (size_t)plan->scene_count, sizeof *s->panels));
    NB_NEED(s->series, nb_alloc(ctx, 2 * (size_t)p->way_count, sizeof *s->series));
    for (int f = 0; f < p->figure_count; f++) s->figures[s->figure_count++] = p->cores[f]->full;
    for (int w = 0; w < p->way_count; w++) {
        const nb_error_method *way = p->ways[w];
        int look = nb_summary_variant(p->summary, way->strategy->canonical, nb_pairing_names[way->pairing],
                                      nb_factors_names[way->factors]);
        const char *name;
        NB_REQUIRE(ctx, look >= 0, NB_EBUG, "%s has no rows", way->strategy->label);
        nb_sheet_series(s, p->summary->variants[look].label, NB_CURVE, look);
        NB_NEED(name, nb_format(ctx, "%s: filter", p->summary->variants[look].label));
        nb_sheet_series(s, name, NB_SHADOW, look);
    }
    NB_NEED(s->title, nb_format(ctx, "singular values of A, and what is left of them by %%s, m = %d, trial 0", p->m));
    s->x_name = "number of the singular value";
    s->y_name = "singular value / largest; dashed: filter";
    s->shadow = "filter factor: 1 inverted, 0 left out";
    return NB_OK;
}

/* s_j v_j' X u_j of each singular value of A = U diag(s) V'. */
static nb_status add_filter(picture *p, int figure, int panel, int way, nb_factors *factors, nb_ctx *ctx)
{
    const nb_core *core = (const nb_core *)p->cores[figure]->component;
    const nb_factors_spectrum *a;
    int m = p->m;
    double *x, *xu, core_s;
    if (core->refusal && core->refusal(factors, p->cores[figure]->options)) return NB_OK;
    NB_NEED(x, nb_alloc_reals(ctx, (size_t)m, (size_t)m));
    NB_NEED(xu, nb_alloc_reals(ctx, (size_t)m, (size_t)m));
    NB_TRY(ctx, nb_core_compute(p->cores[figure], factors, NULL, x, &core_s, ctx));
    NB_TRY(ctx, nb_factors_svd(factors, &a, ctx));
    nb_gemm(NB_PLAIN, NB_PLAIN, m, m, m, 1, x, m, a->u, m, 0, xu, m);
    for (int j = 0; j < m; j++) {
        double filter = 0;
        for (int i = 0; i < m; i++) filter += a->vt[j + i * m] * xu[i + j * m];
        NB_TRY(ctx, nb_sheet_add(&p->sheet,
                                 (nb_sheet_point){figure, panel, 2 * way + 1, j, j + 1, a->values[j] * filter}, ctx));
    }
    return NB_OK;
}

static nb_status form_a(nb_scene *scene, const nb_landmarks *landmarks, const nb_error_method *way,
                        nb_factors **factors, nb_ctx *ctx)
{
    double *b;
    NB_NEED(b, nb_alloc_reals(ctx, (size_t)nb_scene_head(scene)->n, (size_t)way->m));
    NB_TRY(ctx, nb_factor_b(scene, landmarks, way->factors, b, ctx));
    return nb_factor_a(scene, landmarks, way->factors, b, factors, ctx);
}

static nb_status add_way(picture *p, int panel, int way, nb_scene *scene, gsl_rng *rng, nb_ctx *ctx)
{
    nb_landmarks landmarks;
    nb_factors *factors;
    const nb_factors_spectrum *a;
    const nb_error_method *method = p->ways[way];
    NB_TRY(ctx, nb_run_pick(p->plan, scene, 0, method, rng, &landmarks, ctx));
    if (landmarks.refusal || nb_factors_refusal(method->factors, landmarks.queries.kind, nb_scene_head(scene)->causal))
        return NB_OK;
    NB_TRY(ctx, form_a(scene, &landmarks, method, &factors, ctx));
    NB_TRY(ctx, nb_factors_svd(factors, &a, ctx));
    for (int f = 0; f < p->figure_count; f++) {
        for (int j = 0; j < p->m; j++)
            NB_TRY(ctx, nb_sheet_add(&p->sheet,
                                     (nb_sheet_point){f, panel, 2 * way, j, j + 1, a->values[j] / a->values[0]}, ctx));
        NB_TRY(ctx, add_filter(p, f, panel, way, factors, ctx));
    }
    return NB_OK;
}

static nb_status add_scene(picture *p, int panel, int index, nb_ctx *ctx)
{
    gsl_rng *rng;
    nb_head head;
    nb_scene *scene;
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    NB_TRY(ctx, nb_plan_head(p->plan, index, 0, rng, &head, ctx));
    NB_TRY(ctx, nb_run_make_scene(p->plan, index, &head, &scene, ctx));
    for (int w = 0; w < p->way_count; w++) {
        nb_status status = add_way(p, panel, w, scene, rng, ctx);
        if (status == NB_ENOMEM) return status;
        nb_error_clear(ctx);
    }
    return NB_OK;
}

/* Kernels are named where there are several. */
static nb_status name_panel(const picture *p, const nb_planned_scene *s, const char **name, nb_ctx *ctx)
{
    bool several = p->plan->config->lists[NB_ERROR_KERNEL].count > 1;
    NB_NEED(*name, nb_format(ctx, "%s%s%s", s->problem->label, several ? ", " : "",
                             several ? nb_error_kernel(p->plan, s)->label : ""));
    return NB_OK;
}

/* Heads of one problem under one kernel share a panel, however their problem was written. */
static nb_status add_scenes(picture *p, nb_ctx *ctx)
{
    nb_sheet *sheet = &p->sheet;
    for (int i = 0; i < p->plan->scene_count; i++) {
        const nb_planned_scene *s = &p->plan->scenes[i];
        if (s->refusal || s->n < p->m) continue;
        const char *name;
        int panel = 0;
        NB_TRY(ctx, name_panel(p, s, &name, ctx));
        while (panel < sheet->panel_count && strcmp(sheet->panels[panel], name) != 0) panel++;
        if (panel == sheet->panel_count) sheet->panels[sheet->panel_count++] = name;
        nb_mark mark = nb_ctx_mark(ctx);
        nb_status status = add_scene(p, panel, i, ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    return NB_OK;
}

static nb_status choose_m(const nb_config *c, int *m, nb_ctx *ctx)
{
    int *sorted;
    NB_NEED(sorted, nb_alloc(ctx, (size_t)c->lists[NB_ERROR_LANDMARKS].count, sizeof *sorted));
    memcpy(sorted, c->lists[NB_ERROR_LANDMARKS].numbers, (size_t)c->lists[NB_ERROR_LANDMARKS].count * sizeof *sorted);
    gsl_sort_int(sorted, 1, (size_t)c->lists[NB_ERROR_LANDMARKS].count);
    return nb_figure_choose_m(c->lists[NB_ERROR_LANDMARKS].count, sorted, m, ctx);
}

static nb_status draw_plan(const char *kind, const nb_plan *plan, const nb_summary *summary, const nb_drawing *d,
                           int *figures, nb_ctx *ctx)
{
    picture p = {
        .plan = plan, .summary = summary, .m = d->m, .sheet = {.kind = kind, .experiment = plan->config->name}};
    *figures = 0;
    NB_TRY(ctx, choose_m(plan->config, &p.m, ctx));
    NB_TRY(ctx, choose_cores(&p, ctx));
    NB_TRY(ctx, choose_ways(&p, ctx));
    NB_TRY(ctx, lay_out(&p, ctx));
    NB_TRY(ctx, nb_sheet_room(
                    &p.sheet,
                    (size_t)p.figure_count * (size_t)plan->scene_count * 2 * (size_t)p.way_count * (size_t)p.m, ctx));
    NB_TRY(ctx, add_scenes(&p, ctx));
    return nb_sheet_draw(d->folder, &p.sheet, d->gnuplots, figures, ctx);
}

static nb_status draw(const nb_figure *self, const nb_frame *frame, const nb_drawing *d, int *figures, nb_ctx *ctx)
{
    nb_config config;
    nb_plan plan;
    nb_summary summary;
    NB_TRY(ctx, nb_summary_make(frame, &summary, ctx));
    if (!d->plan) NB_TRY(ctx, nb_experiment_again(d->run, &config, &plan, ctx));
    return draw_plan(self->component.name, d->plan ? d->plan : &plan, &summary, d, figures, ctx);
}

static const char *const references[] = {
    "none: the filter factors of P. C. Hansen, Rank-Deficient and Discrete Ill-Posed Problems, SIAM 1998", NULL};
static const nb_option options[] = {NB_OPTION_END};

const nb_figure nb_figure_spectrum = {
    .component = {"spectrum", "singular values of A and what a core makes of them; picks the landmarks again",
                  references, options, 0},
    .study = NB_ERROR_STUDY,
    .of_one_m = true,
    .again = true,
    .draw = draw,
};
