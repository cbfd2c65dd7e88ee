/* SPDX-License-Identifier: GPL-3.0-or-later */
/* make_plan.c - the union of the blocks' products, but for what the rules remove: each row once, in the order of the
 * config's lists.
 *
 * 1. Each block's scenes and methods become keys, by which they are sorted, each once.
 * 2. Each block's rows are put behind each other, sorted, and taken if a block has them that no rule removes.
 * 3. Scenes and methods that have no rows are dropped.
 *
 * Time goes as rows * log(rows), memory as rows: no other combination of values is looked at. */
#include "run/plan.h"

#include "components/plugin.h"
#include "run/exclusion.h"
#include "run/inputs.h"
#include "run/run_study.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD = NB_MOST_AXES };

typedef struct { /* of a scene or a method: by axis, the place of its value in the config's list; and the head */
    int at[NB_MOST_AXES + 1];
} key;

typedef struct {
    int count, capacity;
    key *items;
} keys;

enum { SCENE, TRIAL, METHOD, BLOCK };

typedef struct { /* a row that a block holds: indices, by which they are sorted */
    int of[BLOCK + 1];
} candidate;

typedef struct { /* a plan that is being made */
    nb_plan *plan;
    const nb_config *config;
    int block_count;
    const nb_config_block *blocks;
    int *same; /* by problem: the one before it whose heads are the same data, or -1 */
    keys scenes, methods;
    size_t count;
    candidate *rows; /* NULL: they are only counted */
    nb_ctx *ctx;     /* owns what the plan does not keep */
} planning;

typedef struct { /* through the product of some of a block's groups */
    const nb_config_block *block;
    unsigned groups; /* bits of their first axes */
    int line[NB_MOST_AXES];
} walk;

/* Returns the groups with an axis of scenes, or of methods. */
static unsigned groups_of(const nb_config *c, const nb_config_block *block, bool scene)
{
    unsigned groups = 0;
    for (int axis = 0; c->study->axes[axis].key; axis++)
        if (c->study->axes[axis].scene == scene) groups |= 1u << block->group[axis];
    return groups;
}

/* The next lines, the last group first; false if they began anew. */
static bool advance(walk *w)
{
    for (int axis = NB_MOST_AXES - 1; axis >= 0; axis--) {
        if (!(w->groups & 1u << axis)) continue;
        if (++w->line[axis] < w->block->count[axis]) return true;
        w->line[axis] = 0;
    }
    return false;
}

static key key_at(const nb_config *c, const walk *w, bool scene)
{
    key k = {{0}};
    for (int axis = 0; c->study->axes[axis].key; axis++)
        if (c->study->axes[axis].scene == scene) k.at[axis] = w->block->values[axis][w->line[w->block->group[axis]]];
    return k;
}

static int in_order(const int *x, const int *y, int last)
{
    int i = 0;
    while (i < last && x[i] == y[i]) i++;
    return (x[i] > y[i]) - (x[i] < y[i]);
}

static int by_place(const void *a, const void *b)
{
    return in_order(((const key *)a)->at, ((const key *)b)->at, HEAD);
}

static int by_row(const void *a, const void *b)
{
    return in_order(((const candidate *)a)->of, ((const candidate *)b)->of, BLOCK);
}

static nb_status add_key(keys *list, const key *k, nb_ctx *ctx)
{
    NB_GROW(ctx, list->items, list->count, list->capacity);
    list->items[list->count++] = *k;
    return NB_OK;
}

static void sort_keys(keys *list)
{
    int count = 0;
    if (list->count > 0) qsort(list->items, (size_t)list->count, sizeof *list->items, by_place);
    for (int i = 0; i < list->count; i++)
        if (i == 0 || by_place(&list->items[i], &list->items[count - 1]) != 0) list->items[count++] = list->items[i];
    list->count = count;
}

/* -1: it is not there. */
static int find_key(const keys *list, const key *k)
{
    const key *found = bsearch(k, list->items, (size_t)list->count, sizeof *k, by_place);
    return found ? (int)(found - list->items) : -1;
}

static int step_of(const nb_config *c, const nb_problem_shape *shape)
{
    return c->study->layers && shape->each > 0 ? shape->each : 1;
}

static nb_planned_scene scene_of(const nb_config *c, const key *k)
{
    const nb_problem_shape *shape = &c->shapes[k->at[NB_AXIS_PROBLEM]];
    nb_planned_scene s = {.problem = nb_config_choice(c, NB_AXIS_PROBLEM, k->at[NB_AXIS_PROBLEM]),
                          .shape = shape,
                          .head = k->at[HEAD],
                          .n = shape->n,
                          .d = shape->d,
                          .causal = shape->causal};
    s.random = ((const nb_problem *)s.problem->component)->random;
    if (shape->origins.sources) s.source = shape->origins.sources[s.head - shape->first];
    for (int axis = 0; c->study->axes[axis].key; axis++)
        if (c->study->axes[axis].scene) s.value[axis] = nb_config_value(c, axis, k->at[axis]);
    nb_plugin_call(&c->study->component, "prepare_scene");
    if (nb_run_study_of(c->study)->prepare_scene) nb_run_study_of(c->study)->prepare_scene(c, &s);
    nb_plugin_return(&c->study->component);
    return s;
}

static bool has_scene(const nb_config *c, int problem, int head)
{
    const nb_problem_shape *shape = &c->shapes[problem];
    head -= shape->first;
    return head >= 0 && head < shape->count && head % step_of(c, shape) == 0;
}

/* Sets the first places of resolved axes that give these values; false: there are none. */
static bool find_places(const nb_config *c, key *k, const int *values)
{
    for (int axis = 0; c->study->axes[axis].key; axis++) {
        if (!c->study->axes[axis].scene || !c->study->axes[axis].resolved) continue;
        k->at[axis] = 0;
        while (k->at[axis] < c->lists[axis].count && scene_of(c, k).value[axis] != values[axis]) k->at[axis]++;
        if (k->at[axis] == c->lists[axis].count) return false;
    }
    return true;
}

/* Two specs may give the same head, a file's heads and its head 0, and two values the same scene: the first in the
 * lists stands for all. */
static void settle_scene(const planning *p, key *k)
{
    const nb_planned_scene meant = scene_of(p->config, k);
    for (int i = k->at[NB_AXIS_PROBLEM]; i >= 0; i = p->same[i]) {
        key first = *k;
        first.at[NB_AXIS_PROBLEM] = i;
        if (has_scene(p->config, i, meant.head) && find_places(p->config, &first, meant.value)) *k = first;
    }
}

/* Adds the scenes there: the heads of one problem, or its layers. */
static nb_status add_scenes(planning *p, const walk *w, keys *scenes)
{
    const key at = key_at(p->config, w, true);
    const nb_problem_shape *shape = &p->config->shapes[at.at[NB_AXIS_PROBLEM]];
    for (int h = 0; h < shape->count; h += step_of(p->config, shape)) {
        key k = at;
        k.at[HEAD] = shape->first + h;
        settle_scene(p, &k);
        NB_TRY(p->ctx, add_key(scenes, &k, p->ctx));
    }
    return NB_OK;
}

static nb_status find_same(planning *p)
{
    const nb_choice *problems = p->config->lists[NB_AXIS_PROBLEM].choices.items;
    int count = p->config->lists[NB_AXIS_PROBLEM].count;
    NB_NEED(p->same, nb_alloc(p->ctx, (size_t)count + 1, sizeof *p->same));
    for (int i = 0; i < count; i++) {
        p->same[i] = i - 1;
        while (p->same[i] >= 0 && strcmp(problems[p->same[i]].canonical, problems[i].canonical) != 0) p->same[i]--;
    }
    return NB_OK;
}

/* Sets what seeds the draws of the scenes' problems, one text for each of these. */
static nb_status seed_scenes(const planning *p, nb_ctx *ctx)
{
    const nb_choice *problems = p->config->lists[NB_AXIS_PROBLEM].choices.items;
    const char **drawn;
    NB_NEED(drawn, nb_alloc(p->ctx, (size_t)p->config->lists[NB_AXIS_PROBLEM].count + 1, sizeof *drawn));
    for (int i = 0; i < p->scenes.count; i++) {
        int problem = p->scenes.items[i].at[NB_AXIS_PROBLEM];
        if (!drawn[problem]) NB_TRY(ctx, nb_choice_drawn(&problems[problem], &drawn[problem], ctx));
        p->plan->scenes[i].drawn = drawn[problem];
    }
    return NB_OK;
}

static nb_status plan_scenes(planning *p, nb_ctx *ctx)
{
    nb_plan *plan = p->plan;
    NB_TRY(ctx, find_same(p));
    for (int b = 0; b < p->block_count; b++) {
        walk w = {&p->blocks[b], groups_of(p->config, &p->blocks[b], true), {0}};
        do NB_TRY(ctx, add_scenes(p, &w, &p->scenes));
        while (advance(&w));
    }
    sort_keys(&p->scenes);
    NB_NEED(plan->scenes, nb_alloc(ctx, (size_t)p->scenes.count + 1, sizeof *plan->scenes));
    for (int i = 0; i < p->scenes.count; i++) plan->scenes[i] = scene_of(p->config, &p->scenes.items[i]);
    return seed_scenes(p, ctx);
}

/* Returns why there is none; NULL: there is one. */
static const char *settle_method(const nb_config *c, key *k, nb_method *method)
{
    *method = (nb_method){{0}};
    if (nb_run_study_of(c->study)->settle) {
        nb_plugin_call(&c->study->component, "settle");
        const char *why = nb_run_study_of(c->study)->settle(c, k->at, method);
        nb_plugin_return(&c->study->component);
        return why;
    }
    for (int axis = 0; c->study->axes[axis].key; axis++)
        if (!c->study->axes[axis].scene) method->value[axis] = nb_config_value(c, axis, k->at[axis]);
    return NULL;
}

static size_t line_count(const walk *w)
{
    size_t count = 1;
    for (int axis = 0; axis < NB_MOST_AXES; axis++)
        if ((w->groups & 1u << axis) && count < INT_MAX) count *= (size_t)w->block->count[axis];
    return count;
}

static nb_status plan_methods(planning *p, nb_ctx *ctx)
{
    nb_plan *plan = p->plan;
    const char *none = NULL;
    nb_method method;
    size_t most = 0;
    for (int b = 0; b < p->block_count; b++) {
        walk w = {&p->blocks[b], groups_of(p->config, &p->blocks[b], false), {0}};
        most += line_count(&w);
        NB_REQUIRE(ctx, most < INT_MAX, NB_EINVAL, "the blocks have %zu methods or more, at most %d are allowed", most,
                   INT_MAX);
        do {
            key k = key_at(p->config, &w, false);
            const char *why = settle_method(p->config, &k, &method);
            if (why) none = why;
            if (!why) NB_TRY(ctx, add_key(&p->methods, &k, p->ctx));
        } while (advance(&w));
    }
    NB_REQUIRE(ctx, p->methods.count > 0, NB_EINVAL, "the experiment has no rows: %s", none);
    sort_keys(&p->methods);
    plan->method_count = p->methods.count;
    NB_NEED(plan->methods, nb_alloc(ctx, (size_t)plan->method_count, sizeof *plan->methods));
    for (int i = 0; i < plan->method_count; i++) settle_method(p->config, &p->methods.items[i], &plan->methods[i]);
    return NB_OK;
}

/* Returns the first method that is the same under the scene. */
static int first_under(const planning *p, int scene, int method)
{
    const nb_config *c = p->config;
    const nb_planned_scene *s = &p->plan->scenes[scene];
    for (int axis = 0; c->study->axes[axis].key; axis++) {
        if (c->study->axes[axis].scene || !c->study->axes[axis].resolved) continue;
        key k = p->methods.items[method];
        int place = k.at[axis], value = nb_value_under(c, axis, s, &p->plan->methods[method]);
        for (k.at[axis] = 0; k.at[axis] < place; k.at[axis]++) {
            int other = find_key(&p->methods, &k);
            if (other >= 0 && nb_value_under(c, axis, s, &p->plan->methods[other]) == value) return other;
        }
    }
    return method;
}

/* Adds the trials of a row: one, if another cannot give a different result. */
static void add_trials(planning *p, int block, int scene, int method)
{
    const nb_study *study = p->config->study;
    bool (*is_random)(const nb_plan *, const nb_planned_scene *, const nb_method *) = nb_run_study_of(study)->random;
    const nb_planned_scene *s = &p->plan->scenes[scene];
    method = first_under(p, scene, method);
    nb_plugin_call(&study->component, "random");
    bool random = s->random || (is_random && is_random(p->plan, s, &p->plan->methods[method]));
    nb_plugin_return(&study->component);
    int trials = random ? p->blocks[block].trials : 1;
    for (int t = 0; t < trials && p->rows; t++)
        p->rows[p->count + (size_t)t] = (candidate){{[SCENE] = scene, [TRIAL] = t, [METHOD] = method, [BLOCK] = block}};
    p->count += (size_t)trials;
}

static nb_status add_rows(planning *p, int block)
{
    const nb_config *c = p->config;
    walk outer = {&p->blocks[block], groups_of(c, &p->blocks[block], true), {0}};
    keys heads = {.count = 0};
    nb_method unused;
    do {
        heads.count = 0;
        NB_TRY(p->ctx, add_scenes(p, &outer, &heads));
        for (int h = 0; h < heads.count; h++) heads.items[h].at[HEAD] = find_key(&p->scenes, &heads.items[h]);
        walk inner = outer;
        inner.groups = groups_of(c, outer.block, false) & ~outer.groups;
        do {
            key k = key_at(c, &inner, false);
            if (settle_method(c, &k, &unused)) continue;
            int method = find_key(&p->methods, &k);
            for (int h = 0; h < heads.count; h++) add_trials(p, block, heads.items[h].at[HEAD], method);
        } while (advance(&inner));
    } while (advance(&outer));
    return NB_OK;
}

/* Counts a row that rules have removed from all its blocks: which rules these are. */
static void count_excluded(planning *p, const nb_exclusion *x, size_t first, size_t end)
{
    p->plan->excluded_count++;
    for (int w = 0; w < x->words; w++) {
        uint64_t bits = 0;
        for (size_t i = first; i < end; i++) bits |= x->blocks[p->rows[i].of[BLOCK] * x->words + w];
        for (bits &= x->row[w]; bits; bits &= bits - 1) p->plan->excluded_by[64 * w + __builtin_ctzll(bits)]++;
    }
}

/* Leaves the rows that are planned, each once. */
static nb_status take_rows(planning *p)
{
    nb_plan *plan = p->plan;
    nb_exclusion rules;
    NB_TRY(p->ctx, nb_exclusion_init(&rules, p->config, p->block_count, p->ctx));
    for (size_t i = 0, next; i < p->count; i = next) {
        const candidate row = p->rows[i];
        const nb_method *method = &plan->methods[row.of[METHOD]];
        bool planned = false;
        NB_TRY(p->ctx, nb_exclusion_match(&rules, &plan->scenes[row.of[SCENE]], method, row.of[TRIAL]));
        for (next = i; next < p->count && in_order(p->rows[next].of, row.of, METHOD) == 0; next++)
            planned |= !nb_exclusion_removes(&rules, p->rows[next].of[BLOCK]);
        if (planned)
            p->rows[plan->row_count++] = row;
        else
            count_excluded(p, &rules, i, next);
    }
    return NB_OK;
}

static nb_status plan_rows(planning *p, nb_ctx *ctx)
{
    nb_plan *plan = p->plan;
    NB_NEED(plan->excluded_by, nb_alloc(ctx, (size_t)p->config->rule_count + 1, sizeof *plan->excluded_by));
    for (int b = 0; b < p->block_count; b++) NB_TRY(ctx, add_rows(p, b));
    NB_REQUIRE(ctx, p->count < INT_MAX, NB_EINVAL, "the blocks have %zu rows, at most %d are allowed", p->count,
               INT_MAX);
    NB_NEED(p->rows, nb_alloc(p->ctx, p->count + 1, sizeof *p->rows));
    p->count = 0;
    for (int b = 0; b < p->block_count; b++) NB_TRY(ctx, add_rows(p, b));
    qsort(p->rows, p->count, sizeof *p->rows, by_row);
    NB_TRY(ctx, take_rows(p));
    NB_REQUIRE(ctx, plan->row_count > 0, NB_EINVAL, "the experiment has no rows: its rules exclude all %d",
               plan->excluded_count);
    NB_NEED(plan->rows, nb_alloc(ctx, (size_t)plan->row_count + 1, sizeof *plan->rows));
    for (int i = 0; i < plan->row_count; i++) {
        const int *of = p->rows[i].of;
        plan->rows[i] = (nb_planned_row){of[SCENE], of[TRIAL], of[METHOD]};
    }
    return NB_OK;
}

/* Leaves out the methods that have no rows. */
static nb_status drop_methods(planning *p)
{
    nb_plan *plan = p->plan;
    int *now, count = 0;
    NB_NEED(now, nb_alloc(p->ctx, (size_t)plan->method_count, sizeof *now));
    for (int i = 0; i < plan->row_count; i++) now[plan->rows[i].method] = 1;
    for (int m = 0; m < plan->method_count; m++) {
        if (!now[m]) continue;
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

/* The product of all lists. */
static nb_status make_block(planning *p)
{
    nb_config_block *block;
    NB_NEED(block, nb_alloc(p->ctx, 1, sizeof *block));
    block->trials = p->config->trials;
    for (int axis = 0; p->config->study->axes[axis].key; axis++) {
        block->group[axis] = axis;
        block->count[axis] = p->config->lists[axis].count;
        NB_NEED(block->values[axis], nb_alloc(p->ctx, (size_t)block->count[axis] + 1, sizeof *block->values[axis]));
        for (int i = 0; i < block->count[axis]; i++) block->values[axis][i] = i;
    }
    p->blocks = block;
    p->block_count = 1;
    return NB_OK;
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
    planning p = {.plan = plan, .config = config, .block_count = config->block_count, .blocks = config->blocks};
    *plan = (nb_plan){.config = config};
    NB_NEED(p.ctx, nb_ctx_child(ctx));
    NB_TRY(ctx, plan_columns(plan, ctx));
    if (config->block_count == 0) NB_TRY(ctx, make_block(&p));
    NB_TRY(ctx, plan_scenes(&p, ctx));
    NB_TRY(ctx, plan_methods(&p, ctx));
    NB_TRY(ctx, plan_rows(&p, ctx));
    drop_scenes(plan);
    NB_TRY(ctx, drop_methods(&p));
    nb_ctx_release(p.ctx, 0);
    if (nb_run_study_of(config->study)->prepare) NB_TRY(ctx, nb_run_study_of(config->study)->prepare(plan, ctx));
    return nb_inputs_find(plan, &plan->inputs, ctx);
}
