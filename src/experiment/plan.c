/* plan.c - the cross product, without repetitions. */
#include "experiment/plan.h"

#include "cores/core.h"
#include "experiment/inputs.h"

#include <limits.h>
#include <string.h>

static bool same(const nb_choice *a, const nb_choice *b)
{
    return strcmp(a->canonical, b->canonical) == 0;
}

static bool has_scene(const nb_plan *plan, const nb_choice *problem, const nb_choice *kernel, int head)
{
    for (int i = 0; i < plan->scene_count; i++) {
        const nb_planned_scene *s = &plan->scenes[i];
        if (s->head == head && same(s->problem, problem) && same(s->kernel, kernel)) return true;
    }
    return false;
}

static nb_status plan_scenes(nb_plan *plan, nb_ctx *ctx)
{
    const nb_config *c = plan->config;
    size_t most = 0;
    for (int p = 0; p < c->problems.count; p++) most += (size_t)c->shapes[p].count * (size_t)c->kernels.count;
    NB_NEED(plan->scenes, nb_alloc(ctx, most, sizeof *plan->scenes));
    for (int p = 0; p < c->problems.count; p++)
        for (int k = 0; k < c->kernels.count; k++)
            for (int h = 0; h < c->shapes[p].count; h++) {
                const nb_choice *problem = &c->problems.items[p], *kernel = &c->kernels.items[k];
                const nb_problem_shape *shape = &c->shapes[p];
                const char *refusal = ((const nb_kernel *)kernel->component)->causal_refusal;
                if (has_scene(plan, problem, kernel, shape->first + h)) continue;
                plan->scenes[plan->scene_count++] =
                    (nb_planned_scene){.problem = problem,
                                       .kernel = kernel,
                                       .head = shape->first + h,
                                       .n = shape->n,
                                       .d = shape->d,
                                       .random = ((const nb_problem *)problem->component)->random,
                                       .causal = shape->causal,
                                       .refusal = shape->causal ? refusal : NULL};
            }
    return NB_OK;
}

/* A strategy that picks for both sides at once has no other pairing. */
static nb_pairing pairing_of(const char *name, const nb_choice *strategy)
{
    if (!((const nb_strategy *)strategy->component)->pick) return NB_BOTH;
    for (int i = 0; nb_pairing_names[i]; i++)
        if (strcmp(nb_pairing_names[i], name) == 0) return (nb_pairing)i;
    return ((const nb_strategy *)strategy->component)->pairing; /* "default": the config has checked the rest */
}

static nb_factors_kind factors_of(const char *name)
{
    int i = 0;
    while (strcmp(nb_factors_names[i], name) != 0) i++;
    return (nb_factors_kind)i;
}

/* Whether an earlier name in the config's list says the same for this strategy. */
static bool named_before(const nb_config *c, int index, const nb_choice *strategy)
{
    for (int i = 0; i < index; i++)
        if (pairing_of(c->pairings[i], strategy) == pairing_of(c->pairings[index], strategy)) return true;
    return false;
}

static void add_cells(nb_plan *plan, const nb_choice *strategy, nb_pairing pairing, int m)
{
    const nb_config *c = plan->config;
    for (int f = 0; f < c->factors_count; f++) {
        int first = 0;
        while (strcmp(c->factors[first], c->factors[f]) != 0) first++;
        for (int x = 0; x < c->cores.count && first == f; x++)
            plan->cells[plan->cell_count++] = (nb_cell){.strategy = strategy,
                                                        .core = &c->cores.items[x],
                                                        .m = m,
                                                        .pairing = pairing,
                                                        .factors = factors_of(c->factors[f])};
    }
}

static nb_status plan_cells(nb_plan *plan, nb_ctx *ctx)
{
    const nb_config *c = plan->config;
    size_t most = (size_t)c->strategies.count * (size_t)c->landmark_count * (size_t)c->pairing_count *
                  (size_t)c->factors_count * (size_t)c->cores.count;
    NB_REQUIRE(ctx, most < INT_MAX, NB_EINVAL, "the experiment has %zu cells, allowed are %d", most, INT_MAX);
    NB_NEED(plan->cells, nb_alloc(ctx, most, sizeof *plan->cells));
    for (int s = 0; s < c->strategies.count; s++) {
        const nb_choice *strategy = &c->strategies.items[s];
        for (int p = 0; p < c->pairing_count; p++)
            for (int m = 0; m < c->landmark_count && !named_before(c, p, strategy); m++)
                add_cells(plan, strategy, pairing_of(c->pairings[p], strategy), c->landmarks[m]);
    }
    return NB_OK;
}

/* Under a kernel of one point set all pairings of a strategy are one: the first
 * that the config names stands for them. */
static bool repeated(const nb_plan *plan, const nb_planned_scene *scene, const nb_cell *cell)
{
    const nb_cell *first = cell;
    if (!((const nb_kernel *)scene->kernel->component)->points) return false;
    while (first > plan->cells && first[-1].strategy == cell->strategy) first--;
    return nb_pairing_under(scene->kernel, cell->strategy, first->pairing) == nb_pairing_under(scene->kernel, cell->strategy, cell->pairing) &&
           first->pairing != cell->pairing;
}

static nb_status plan_rows(nb_plan *plan, nb_ctx *ctx)
{
    size_t most = (size_t)plan->scene_count * (size_t)plan->config->trials * (size_t)plan->cell_count;
    NB_REQUIRE(ctx, most < INT_MAX, NB_EINVAL, "the experiment has %zu rows, allowed are %d", most, INT_MAX);
    NB_NEED(plan->rows, nb_alloc(ctx, most, sizeof *plan->rows));
    for (int s = 0; s < plan->scene_count; s++)
        for (int t = 0; t < plan->config->trials; t++)
            for (int c = 0; c < plan->cell_count; c++) {
                bool sampled = plan->config->sample > 0 && plan->config->sample < plan->scenes[s].n; /* other rows in each trial */
                bool random = plan->scenes[s].random || sampled || (nb_strategy_traits(plan->cells[c].strategy) & NB_RANDOM) ||
                              (((const nb_core *)plan->cells[c].core->component)->traits & NB_CORE_RANDOM);
                if ((t == 0 || random) && !repeated(plan, &plan->scenes[s], &plan->cells[c])) plan->rows[plan->row_count++] = (nb_planned_row){s, t, c};
            }
    return NB_OK;
}

nb_status nb_plan_make(const nb_config *config, nb_plan *plan, nb_ctx *ctx)
{
    *plan = (nb_plan){.config = config};
    for (int i = 0; i < config->strategies.count; i++)
        if (nb_strategy_traits(&config->strategies.items[i]) & NB_ORACLE) plan->oracle = true;
    NB_TRY(ctx, plan_scenes(plan, ctx));
    NB_TRY(ctx, plan_cells(plan, ctx));
    NB_TRY(ctx, plan_rows(plan, ctx));
    return nb_inputs_find(plan, &plan->inputs, ctx);
}

void nb_plan_row(const nb_plan *plan, int index, nb_row *row)
{
    const nb_planned_scene *s = &plan->scenes[plan->rows[index].scene];
    const nb_cell *c = &plan->cells[plan->rows[index].cell];
    *row = (nb_row){.experiment = plan->config->name,
                    .problem = s->problem->canonical,
                    .head = s->head,
                    .kernel = s->kernel->canonical,
                    .trial = plan->rows[index].trial,
                    .n = s->n,
                    .d = s->d,
                    .strategy = c->strategy->canonical,
                    .landmarks = c->m,
                    .pairing = nb_pairing_names[nb_pairing_under(s->kernel, c->strategy, c->pairing)],
                    .factors = nb_factors_names[c->factors],
                    .core = c->core->canonical,
                    .rows = plan->config->rows,
                    .engine = nb_engine_names[plan->config->engine],
                    .precision = nb_precision_names[plan->config->precision],
                    .status = "planned",
                    .seed = plan->config->seed};
    nb_measures_clear(&row->measures);
}
