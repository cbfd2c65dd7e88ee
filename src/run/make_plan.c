/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_plan.c - the product of the config's lists, of which the blocks and rules leave
 * some: so each row is there once, and the order is that of the lists. */
#include "run/make_plan.h"

#include "run/exclusion.h"
#include "run/inputs.h"
#include "run/product.h"

#include <limits.h>
#include <string.h>

static bool has_scene(const nb_plan *plan, const nb_planned_scene *new)
{
    for (int i = 0; i < plan->scene_count; i++) {
        const nb_planned_scene *s = &plan->scenes[i];
        bool same = s->head == new->head &&strcmp(s->problem->canonical, new->problem->canonical) == 0;
        for (int axis = NB_AXIS_PROBLEM + 1; plan->config->study->axes[axis].key && same; axis++)
            same = s->value[axis] == new->value[axis];
        if (same) return true;
    }
    return false;
}

/* The heads of one problem, or its layers, with these values of the other scene axes. */
static void add_heads(nb_plan *plan, const int *indices)
{
    const nb_config *c = plan->config;
    int problem = indices[NB_AXIS_PROBLEM];
    const nb_problem_shape *shape = &c->shapes[problem];
    nb_planned_scene s = {.problem = nb_config_choice(c, NB_AXIS_PROBLEM, problem),
                          .n = shape->n,
                          .d = shape->d,
                          .model = shape->origins.model,
                          .layer = shape->origins.layer,
                          .heads = shape->each,
                          .shared = shape->shared,
                          .keyless = shape->keyless,
                          .valueless = shape->valueless,
                          .causal = shape->causal};
    s.random = ((const nb_problem *)s.problem->component)->random;
    for (int axis = 0; c->study->axes[axis].key; axis++)
        if (c->study->axes[axis].scene) s.value[axis] = nb_config_value(c, axis, indices[axis]);
    int step = c->study->layers && shape->each > 0 ? shape->each : 1;
    for (int h = 0; h < shape->count; h += step) {
        nb_planned_scene *new = &plan->scenes[plan->scene_count];
        *new = s;
        new->head = shape->first + h;
        if (shape->origins.sources) new->source = shape->origins.sources[h];
        if (c->study->prepare_scene) c->study->prepare_scene(c, new);
        plan->scene_count += !has_scene(plan, new);
    }
}

/* The next indices into the lists of those axes, the last of them first; false if they began anew. */
static bool advance(const nb_config *c, bool scene, int *indices)
{
    int axes = nb_config_axis_count(c);
    for (int axis = axes - 1; axis >= 0; axis--) {
        if (c->study->axes[axis].scene != scene) continue;
        if (++indices[axis] < c->lists[axis].count) return true;
        indices[axis] = 0;
    }
    return false;
}

static nb_status plan_scenes(nb_plan *plan, nb_ctx *ctx)
{
    const nb_config *c = plan->config;
    int indices[NB_MOST_AXES] = {0};
    size_t most = 0, others = 1;
    for (int axis = 1; c->study->axes[axis].key; axis++)
        if (c->study->axes[axis].scene) others *= (size_t)c->lists[axis].count;
    for (int p = 0; p < c->lists[NB_AXIS_PROBLEM].count; p++) most += (size_t)c->shapes[p].count * others;
    NB_NEED(plan->scenes, nb_alloc(ctx, most + 1, sizeof *plan->scenes));
    do add_heads(plan, indices);
    while (advance(c, true, indices));
    return NB_OK;
}

struct nb_methods {
    const nb_config *config;
    size_t count;
    nb_method *items; /* NULL: they are only counted */
};

void nb_methods_add(nb_methods *methods, const nb_method *method)
{
    const nb_config *c = methods->config;
    bool held = c->block_count == 0;
    for (int b = 0; b < c->block_count && !held; b++) held = nb_block_holds(c, &c->blocks[b], NULL, method);
    if (held && methods->items) methods->items[methods->count] = *method;
    methods->count += held;
}

/* All values of all axes that are not the scene's, the last axis first. */
static void add_product(nb_methods *methods)
{
    const nb_config *c = methods->config;
    int indices[NB_MOST_AXES] = {0};
    do {
        nb_method method = {{0}};
        for (int axis = 0; c->study->axes[axis].key; axis++)
            if (!c->study->axes[axis].scene) method.value[axis] = nb_config_value(c, axis, indices[axis]);
        nb_methods_add(methods, &method);
    } while (advance(c, false, indices));
}

static nb_status add_methods(nb_methods *methods, nb_ctx *ctx)
{
    methods->count = 0;
    if (methods->config->study->methods) return methods->config->study->methods(methods->config, methods, ctx);
    add_product(methods);
    return NB_OK;
}

static nb_status plan_methods(nb_plan *plan, nb_ctx *ctx)
{
    nb_methods methods = {.config = plan->config};
    NB_TRY(ctx, add_methods(&methods, ctx));
    NB_REQUIRE(ctx, methods.count > 0, NB_EINVAL, "the experiment has no rows");
    NB_REQUIRE(ctx, methods.count < INT_MAX, NB_EINVAL, "the experiment has %zu methods, at most %d are allowed",
               methods.count, INT_MAX);
    NB_NEED(methods.items, nb_alloc(ctx, methods.count, sizeof *methods.items));
    NB_TRY(ctx, add_methods(&methods, ctx));
    plan->methods = methods.items;
    plan->method_count = (int)methods.count;
    return NB_OK;
}

/* Whether another trial may give a different result. */
static bool random_row(const nb_plan *plan, const nb_planned_scene *scene, const nb_method *method)
{
    const nb_study *study = plan->config->study;
    return scene->random || (study->random && study->random(plan, scene, method));
}

typedef struct { /* the product on its way to rows */
    nb_plan *plan;
    int block_count; /* at least 1 */
    bool *held;      /* by block and method, in the present scene */
    bool *used;      /* methods that have rows */
    nb_exclusion rules;
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
    for (int i = 0; i < plan->method_count; i++) {
        const nb_method *method = &plan->methods[i];
        bool first = !c->study->repeated || !c->study->repeated(plan, scene, method);
        for (int b = 0; b < p->block_count; b++)
            p->held[(size_t)b * (size_t)plan->method_count + (size_t)i] =
                first && (c->block_count == 0 || nb_block_holds(c, &c->blocks[b], scene, method));
    }
}

static bool holds(const product *p, int block, int method, int trial)
{
    return trial < trials_of(p->plan->config, block) &&
           p->held[(size_t)block * (size_t)p->plan->method_count + (size_t)method];
}

/* A row is in the plan if any block holds it (*held) and no rule removes it from that block. */
static nb_status is_planned(product *p, const nb_planned_scene *scene, int method, int trial, bool *held, bool *planned)
{
    const nb_method *m = &p->plan->methods[method];
    *held = *planned = false;
    if (trial > 0 && !random_row(p->plan, scene, m)) return NB_OK;
    for (int b = 0; b < p->block_count && !*planned; b++) {
        if (!holds(p, b, method, trial)) continue;
        if (!*held) NB_TRY(p->rules.ctx, nb_exclusion_match(&p->rules, scene, m, trial));
        *held = true;
        *planned = !nb_exclusion_removes(&p->rules, b);
    }
    return NB_OK;
}

/* For the row of the last nb_exclusion_match, which is not in the plan: which rules have removed it. */
static void count_excluded(product *p, int method, int trial)
{
    const nb_exclusion *x = &p->rules;
    p->excluded++;
    for (int w = 0; w < x->words; w++) {
        uint64_t bits = 0;
        for (int b = 0; b < p->block_count; b++)
            if (holds(p, b, method, trial)) bits |= x->row[w] & x->blocks[(size_t)b * (size_t)x->words + (size_t)w];
        for (; bits; bits &= bits - 1) p->plan->excluded_by[64 * w + __builtin_ctzll(bits)]++;
    }
}

/* The rows of one scene; only counted where plan->rows is NULL. */
static nb_status add_rows(product *p, int scene)
{
    nb_plan *plan = p->plan;
    bool counting = !plan->rows, held, planned;
    find_held(p, &plan->scenes[scene]);
    for (int t = 0; t < plan->config->trials; t++)
        for (int m = 0; m < plan->method_count; m++) {
            NB_TRY(p->rules.ctx, is_planned(p, &plan->scenes[scene], m, t, &held, &planned));
            if (held && !planned && counting) count_excluded(p, m, t);
            if (!planned) continue;
            if (!counting) plan->rows[p->rows] = (nb_planned_row){scene, t, m};
            p->used[m] = true;
            p->rows++;
        }
    return NB_OK;
}

/* Leaves out the methods that have no rows. */
static nb_status drop_methods(product *p, nb_ctx *ctx)
{
    nb_plan *plan = p->plan;
    int *now, count = 0;
    NB_NEED(now, nb_alloc(ctx, (size_t)plan->method_count, sizeof *now));
    for (int m = 0; m < plan->method_count; m++) {
        if (!p->used[m]) continue;
        now[m] = count;
        plan->methods[count++] = plan->methods[m];
    }
    for (int i = 0; i < plan->row_count; i++) plan->rows[i].method = now[plan->rows[i].method];
    plan->method_count = count;
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
    size_t methods = (size_t)plan->method_count;
    NB_NEED(plan->excluded_by, nb_alloc(ctx, (size_t)config->rule_count + 1, sizeof *plan->excluded_by));
    NB_NEED(p.held, nb_alloc(ctx, (size_t)p.block_count * methods, sizeof *p.held));
    NB_NEED(p.used, nb_alloc(ctx, methods, sizeof *p.used));
    NB_TRY(ctx, nb_exclusion_init(&p.rules, config, p.block_count, ctx));
    for (int s = 0; s < plan->scene_count; s++) NB_TRY(ctx, add_rows(&p, s));
    NB_REQUIRE(ctx, p.rows + p.excluded < INT_MAX, NB_EINVAL, "the experiment has %zu rows, at most %d are allowed",
               p.rows + p.excluded, INT_MAX);
    NB_REQUIRE(ctx, p.rows > 0, NB_EINVAL, "the experiment has no rows: its rules exclude all %zu", p.excluded);
    plan->excluded_count = (int)p.excluded;
    NB_NEED(plan->rows, nb_alloc(ctx, p.rows + 1, sizeof *plan->rows));
    plan->row_count = (int)p.rows;
    p.rows = 0;
    for (int s = 0; s < plan->scene_count; s++) NB_TRY(ctx, add_rows(&p, s));
    nb_ctx_release(p.rules.ctx, 0);
    drop_scenes(plan);
    return drop_methods(&p, ctx);
}

/* Settings that have a column of their name, and what rows show of all. */
static nb_status plan_columns(nb_plan *plan, nb_ctx *ctx)
{
    const nb_study *study = plan->config->study;
    for (int axis = 0; study->axes[axis].key; axis++)
        plan->axis_columns[axis] = nb_column_find(study->columns, study->axes[axis].column);
    for (const nb_option *o = study->component.options; o && o->key; o++) {
        const nb_column *column = nb_column_find(study->columns, o->key);
        if (!column) continue;
        NB_TRY(ctx, nb_config_setting(plan->config, o, &plan->setting_texts[plan->setting_count], ctx));
        plan->setting_columns[plan->setting_count++] = column;
    }
    return NB_OK;
}

nb_status nb_plan_make(const nb_config *config, nb_plan *plan, nb_ctx *ctx)
{
    const nb_study *study = config->study;
    *plan = (nb_plan){.config = config};
    NB_TRY(ctx, plan_columns(plan, ctx));
    NB_TRY(ctx, plan_scenes(plan, ctx));
    NB_TRY(ctx, plan_methods(plan, ctx));
    NB_TRY(ctx, plan_rows(plan, ctx));
    if (study->prepare) NB_TRY(ctx, study->prepare(plan, ctx));
    return nb_inputs_find(plan, &plan->inputs, ctx);
}
