/* SPDX-License-Identifier: GPL-3.0-or-later */
/* plan.c - the product of the config's lists, of which the blocks and rules leave
 * some: so each row is there once, and the order is that of the lists. */
#include "run/plan.h"

#include "cores/core.h"
#include "config/block.h"
#include "config/exclude.h"
#include "kernels/kernel.h"
#include "run/inputs.h"

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
        if (nb_pairing_named(c->pairings[i], strategy) == nb_pairing_named(c->pairings[index], strategy)) return true;
    return false;
}

static bool held_by_any(const nb_config *c, const nb_cell *cell)
{
    bool held = c->block_count == 0;
    for (int b = 0; b < c->block_count && !held; b++) held = nb_config_block_holds(c, &c->blocks[b], NULL, cell);
    return held;
}

/* The cells of one strategy, pairing, m and factors; only counted where plan->cells is NULL. */
static void add_cores(nb_plan *plan, nb_cell cell, size_t *count)
{
    const nb_config *c = plan->config;
    for (int x = 0; x < c->cores.count; x++) {
        cell.core = &c->cores.items[x];
        if (!nb_core_fits(cell.factors, cell.core) || !held_by_any(c, &cell)) continue;
        if (plan->cells) plan->cells[*count] = cell;
        ++*count;
    }
}

/* Factors without a middle come last: what is told by core begins with the list's. */
static void add_cells(nb_plan *plan, const nb_choice *strategy, nb_pairing pairing, size_t *count)
{
    const nb_config *c = plan->config;
    for (int m = 0; m < c->landmark_count; m++)
        for (int f = 0; f < 2 * c->factors_count; f++) {
            nb_cell cell = {.strategy = strategy,
                            .m = c->landmarks[m],
                            .pairing = pairing,
                            .factors = factors_of(c->factors[f % c->factors_count])};
            if ((cell.factors == NB_NOCORE) == (f >= c->factors_count)) add_cores(plan, cell, count);
        }
}

static void add_all_cells(nb_plan *plan, size_t *count)
{
    const nb_config *c = plan->config;
    *count = 0;
    for (int s = 0; s < c->strategies.count; s++)
        for (int p = 0; p < c->pairing_count; p++)
            if (!named_before(c, p, &c->strategies.items[s]))
                add_cells(plan, &c->strategies.items[s], nb_pairing_named(c->pairings[p], &c->strategies.items[s]),
                          count);
}

static nb_status plan_cells(nb_plan *plan, nb_ctx *ctx)
{
    size_t count;
    add_all_cells(plan, &count);
    NB_REQUIRE(ctx, count > 0, NB_EINVAL,
               "the experiment has no rows: %s is for the factors %s alone, which have no other core",
               plan->config->cores.items[0].component->name, nb_factors_names[NB_NOCORE]);
    NB_REQUIRE(ctx, count < INT_MAX, NB_EINVAL, "the experiment has %zu cells, allowed are %d", count, INT_MAX);
    NB_NEED(plan->cells, nb_alloc(ctx, count, sizeof *plan->cells));
    add_all_cells(plan, &count);
    plan->cell_count = (int)count;
    return NB_OK;
}

/* Under a kernel of one point set all pairings of a strategy are one: the first
 * that the config names stands for them. */
static bool repeated(const nb_plan *plan, const nb_planned_scene *scene, const nb_cell *cell)
{
    if (!((const nb_kernel *)scene->kernel->component)->points) return false;
    nb_pairing pairing = nb_pairing_under(scene->kernel, cell->strategy, cell->pairing);
    for (const nb_cell *c = cell; c-- > plan->cells && c->strategy == cell->strategy;)
        if (c->pairing != cell->pairing && c->m == cell->m && c->factors == cell->factors && c->core == cell->core &&
            nb_pairing_under(scene->kernel, cell->strategy, c->pairing) == pairing)
            return true;
    return false;
}

/* Whether another trial may give something else. */
static bool random_row(const nb_plan *plan, const nb_planned_scene *scene, const nb_cell *cell)
{
    bool sampled = plan->config->sample > 0 && plan->config->sample < scene->n; /* other rows in each trial */
    return scene->random || sampled || (nb_strategy_traits(cell->strategy) & NB_RANDOM) ||
           (nb_core_traits(cell->core) & NB_CORE_RANDOM);
}

typedef struct { /* the product on its way to rows */
    nb_plan *plan;
    int block_count; /* at least 1 */
    bool *held;      /* by block and cell, in the present scene */
    bool *used;      /* cells that have rows */
    size_t rows, excluded;
} product;

static int trials_of(const nb_config *c, int block)
{
    return c->block_count == 0 ? c->trials : c->blocks[block].trials;
}

static void find_held(product *p, const nb_planned_scene *scene)
{
    const nb_plan *plan = p->plan;
    const nb_config *c = plan->config;
    for (int i = 0; i < plan->cell_count; i++) {
        bool first = !repeated(plan, scene, &plan->cells[i]);
        for (int b = 0; b < p->block_count; b++)
            p->held[(size_t)b * (size_t)plan->cell_count + (size_t)i] =
                first && (c->block_count == 0 || nb_config_block_holds(c, &c->blocks[b], scene, &plan->cells[i]));
    }
}

static bool holds(const product *p, int block, int cell, int trial)
{
    return trial < trials_of(p->plan->config, block) &&
           p->held[(size_t)block * (size_t)p->plan->cell_count + (size_t)cell];
}

static bool takes_out(const nb_config *c, int rule, int block, const nb_planned_scene *scene, const nb_cell *cell,
                      int trial)
{
    const nb_rule *r = &c->rules[rule];
    return (r->block < 0 || r->block == block) && nb_rule_matches(r, c, scene, cell, trial);
}

/* A row is there where any block holds it and no rule takes it out of that block. */
static bool planned(const product *p, const nb_planned_scene *scene, int cell, int trial, bool *held)
{
    const nb_config *c = p->plan->config;
    *held = false;
    if (trial > 0 && !random_row(p->plan, scene, &p->plan->cells[cell])) return false;
    for (int b = 0; b < p->block_count; b++) {
        if (!holds(p, b, cell, trial)) continue;
        int rule = 0;
        *held = true;
        while (rule < c->rule_count && !takes_out(c, rule, b, scene, &p->plan->cells[cell], trial)) rule++;
        if (rule == c->rule_count) return true;
    }
    return false;
}

/* A row that is not there: which rules have taken it. */
static void count_excluded(product *p, const nb_planned_scene *scene, int cell, int trial)
{
    p->excluded++;
    for (int r = 0; r < p->plan->config->rule_count; r++) {
        bool matched = false;
        for (int b = 0; b < p->block_count && !matched; b++)
            matched = holds(p, b, cell, trial) && takes_out(p->plan->config, r, b, scene, &p->plan->cells[cell], trial);
        p->plan->excluded_by[r] += matched;
    }
}

/* The rows of one scene; only counted where plan->rows is NULL. */
static void add_rows(product *p, int scene)
{
    nb_plan *plan = p->plan;
    bool counting = !plan->rows, held;
    find_held(p, &plan->scenes[scene]);
    for (int t = 0; t < plan->config->trials; t++)
        for (int c = 0; c < plan->cell_count; c++) {
            if (!planned(p, &plan->scenes[scene], c, t, &held)) {
                if (held && counting) count_excluded(p, &plan->scenes[scene], c, t);
                continue;
            }
            if (!counting) plan->rows[p->rows] = (nb_planned_row){scene, t, c};
            p->used[c] = true;
            p->rows++;
        }
}

/* Leaves out the cells that have no rows. */
static nb_status drop_cells(product *p, nb_ctx *ctx)
{
    nb_plan *plan = p->plan;
    int *now, count = 0;
    NB_NEED(now, nb_alloc(ctx, (size_t)plan->cell_count, sizeof *now));
    for (int c = 0; c < plan->cell_count; c++) {
        if (!p->used[c]) continue;
        now[c] = count;
        plan->cells[count++] = plan->cells[c];
    }
    for (int i = 0; i < plan->row_count; i++) plan->rows[i].cell = now[plan->rows[i].cell];
    plan->cell_count = count;
    return NB_OK;
}

/* Leaves out the scenes that have no rows; the rows are sorted by scene. */
static void drop_scenes(nb_plan *plan)
{
    int count = 0;
    for (int i = 0, next; i < plan->row_count; i = next) {
        int scene = plan->rows[i].scene;
        for (next = i; next < plan->row_count && plan->rows[next].scene == scene; next++)
            plan->rows[next].scene = count;
        plan->scenes[count++] = plan->scenes[scene];
    }
    plan->scene_count = count;
}

static nb_status plan_rows(nb_plan *plan, nb_ctx *ctx)
{
    const nb_config *config = plan->config;
    product p = {.plan = plan, .block_count = config->block_count > 0 ? config->block_count : 1};
    size_t cells = (size_t)plan->cell_count;
    NB_NEED(plan->excluded_by, nb_alloc(ctx, (size_t)config->rule_count + 1, sizeof *plan->excluded_by));
    NB_NEED(p.held, nb_alloc(ctx, (size_t)p.block_count * cells, sizeof *p.held));
    NB_NEED(p.used, nb_alloc(ctx, cells, sizeof *p.used));
    for (int s = 0; s < plan->scene_count; s++) add_rows(&p, s);
    NB_REQUIRE(ctx, p.rows + p.excluded < INT_MAX, NB_EINVAL, "the experiment has %zu rows, allowed are %d",
               p.rows + p.excluded, INT_MAX);
    NB_REQUIRE(ctx, p.rows > 0, NB_EINVAL, "the experiment has no rows: its rules exclude all %zu", p.excluded);
    plan->excluded_count = (int)p.excluded;
    NB_NEED(plan->rows, nb_alloc(ctx, p.rows + 1, sizeof *plan->rows));
    plan->row_count = (int)p.rows;
    p.rows = 0;
    for (int s = 0; s < plan->scene_count; s++) add_rows(&p, s);
    drop_scenes(plan);
    return drop_cells(&p, ctx);
}

static bool uses_oracle(const nb_plan *plan)
{
    for (int i = 0; i < plan->cell_count; i++)
        if (nb_strategy_traits(plan->cells[i].strategy) & NB_ORACLE) return true;
    return false;
}

nb_status nb_plan_make(const nb_config *config, nb_plan *plan, nb_ctx *ctx)
{
    *plan = (nb_plan){.config = config};
    NB_TRY(ctx, plan_scenes(plan, ctx));
    NB_TRY(ctx, plan_cells(plan, ctx));
    NB_TRY(ctx, plan_rows(plan, ctx));
    plan->oracle = uses_oracle(plan);
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

int nb_plan_find(const nb_plan *plan, int from, const nb_row *row)
{
    for (; from < plan->row_count; from++) {
        nb_row planned;
        nb_plan_row(plan, from, &planned);
        if (nb_row_same(&planned, row)) break;
    }
    return from;
}
