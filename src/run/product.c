/* SPDX-License-Identifier: GPL-3.0-or-later */
/* product.c - a block holds what stands on one line of each of its groups: a group
 * is the lists that advance together, mostly one alone. */
#include "run/product.h"

#include <string.h>

/* Two specs may give the same head: a file's heads, and its head 0. */
static bool same_problem(const nb_config *c, int index, const nb_planned_scene *scene)
{
    const nb_choice *problem = nb_config_choice(c, NB_AXIS_PROBLEM, index);
    int head = scene->head - c->shapes[index].first;
    return head >= 0 && head < c->shapes[index].count &&
           (problem == scene->problem || strcmp(problem->canonical, scene->problem->canonical) == 0);
}

/* `index`: into the config's list. */
static bool matches(const nb_config *c, int axis, int index, const nb_planned_scene *scene, const nb_method *method)
{
    const nb_axis *a = &c->study->axes[axis];
    int value = nb_config_value(c, axis, index);
    if (axis == NB_AXIS_PROBLEM) return !scene || same_problem(c, index, scene);
    if (a->resolved) return c->study->matches(c, axis, value, scene, method);
    if (a->scene) return !scene || scene->value[axis] == value;
    return method->value[axis] == value;
}

/* Whether the list stands alone and no other block has another one, so that there
 * is nothing to look for. */
static bool holds_all(const nb_config *c, const nb_config_block *b, int first)
{
    for (int axis = first + 1; c->study->axes[axis].key; axis++)
        if (b->group[axis] == first) return false;
    return c->block_count == 1;
}

static bool group_holds(const nb_config *c, const nb_config_block *b, int first, const nb_planned_scene *scene,
                        const nb_method *method)
{
    for (int i = 0; i < b->count[first]; i++) {
        bool all = true;
        for (int axis = first; c->study->axes[axis].key && all; axis++)
            if (b->group[axis] == first) all = matches(c, axis, b->values[axis][i], scene, method);
        if (all) return true;
    }
    return false;
}

bool nb_block_holds(const nb_config *config, const nb_config_block *block, const nb_planned_scene *scene,
                    const nb_method *method)
{
    for (int axis = 0; config->study->axes[axis].key; axis++)
        if (block->group[axis] == axis && !holds_all(config, block, axis) &&
            !group_holds(config, block, axis, scene, method))
            return false;
    return true;
}
