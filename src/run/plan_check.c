/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan_check.c - finds in the first second a head that would end a long run later. */
#include "run/plan.h"

#include "calls/early.h"
#include "run/run_study.h"

#include <math.h>

/* Scenes of a problem stand together. */
static bool seen_before(const nb_plan *plan, int scene)
{
    const nb_planned_scene *s = &plan->scenes[scene], *other = s;
    while (other > plan->scenes && other[-1].problem == s->problem)
        if ((--other)->head == s->head) return true;
    return false;
}

static nb_status check_points(const nb_planned_scene *s, const char *name, int d, int n, const double *x, nb_ctx *ctx)
{
    for (size_t i = 0; x && i < (size_t)d * (size_t)n; i++)
        NB_REQUIRE(ctx, isfinite(x[i]), NB_ENUMERIC, "%s, head %d: %s: token %zu, coordinate %zu is NaN or Inf",
                   s->problem->label, s->head, name, i / (size_t)d, i % (size_t)d);
    return NB_OK;
}

typedef struct {
    const nb_plan *plan;
    int scene;
    gsl_rng *rng;
} scene_check;

static nb_status check_head(void *self, nb_ctx *ctx)
{
    nb_head head;
    const scene_check *check = self;
    const nb_planned_scene *s = &check->plan->scenes[check->scene];
    NB_TRY(ctx, nb_plan_head(check->plan, check->scene, 0, check->rng, &head, ctx));
    NB_REQUIRE(ctx, head.n == s->n && head.d == s->d, NB_EDIM,
               "%s, head %d: has %d tokens of dimension %d, but %d of dimension %d were announced", s->problem->label,
               s->head, head.n, head.d, s->n, s->d);
    NB_REQUIRE(ctx, head.k || s->shape->keyless, NB_EDIM, "%s, head %d: has no keys, and its shape did not say so",
               s->problem->label, s->head);
    NB_TRY(ctx, check_points(s, "q", head.d, head.n, head.q, ctx));
    NB_TRY(ctx, check_points(s, "k", head.d, head.n, head.k, ctx));
    return check_points(s, "v", head.dv, head.n, head.v, ctx);
}

nb_status nb_plan_check(const nb_plan *plan, nb_ctx *ctx)
{
    gsl_rng *rng;
    const nb_run_study *study = nb_run_study_of(plan->config->study);
    NB_TRY(ctx, nb_random_new(&rng, ctx));
    for (int i = 0; i < plan->scene_count; i++) {
        const nb_planned_scene *s = &plan->scenes[i];
        if (s->refusal) continue;
        if (study->check_scene) NB_TRY(ctx, study->check_scene(plan, s, ctx));
        if (s->random || ((const nb_problem *)s->problem->component)->checked_later || seen_before(plan, i)) continue;
        nb_mark mark = nb_ctx_mark(ctx);
        scene_check check = {plan, i, rng};
        nb_status status = nb_ask_early(check_head, &check, NULL, 0, s->problem, "making a head", ctx);
        nb_ctx_release(ctx, mark);
        NB_TRY(ctx, status);
    }
    return NB_OK;
}
