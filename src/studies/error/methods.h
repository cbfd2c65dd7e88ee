/* SPDX-License-Identifier: GPL-3.0-or-later */
/* methods.h - tells the config and the plan which strategies, pairings, factors and cores go together. The functions
 * are members of nb_study. */
#ifndef NB_ERROR_METHODS_H
#define NB_ERROR_METHODS_H

#include "studies/error/study.h"

nb_status nb_error_check_block(const nb_key_values *const *keys, nb_mistakes *mistakes);
nb_status nb_error_complete(nb_config *config, nb_ctx *ctx);
const nb_choice *nb_error_default_baseline(const nb_config *config);
const char *nb_error_settle(const nb_config *config, int *places, nb_method *method);
void nb_error_prepare_scene(const nb_config *config, nb_planned_scene *scene);
int nb_error_value_under(const nb_config *config, int axis, const nb_planned_scene *scene, const nb_method *method);
bool nb_error_random(const nb_plan *plan, const nb_planned_scene *scene, const nb_method *method);
nb_status nb_error_prepare(nb_plan *plan, nb_ctx *ctx);
nb_status nb_error_check_scene(const nb_plan *plan, const nb_planned_scene *scene, nb_ctx *ctx);
/* NB_EINVAL for a kernel that reads keys if there are none: `keyless` (nb_problem_shape) is not NULL. */
nb_status nb_error_check_keys(const nb_choice *kernel, const char *keyless, nb_ctx *ctx);
/* Returns nb_factors_refusal of a method whose strategy has such picks. */
const char *nb_error_factors_refusal(const nb_plan *plan, const nb_planned_scene *scene, const nb_error_method *method,
                                     nb_picks_kind picks);
nb_status nb_error_warn(const nb_plan *plan, nb_mistakes *warnings);

#endif
