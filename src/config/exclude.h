/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exclude.h - rules that take rows out of an experiment. */
#ifndef NB_EXCLUDE_H
#define NB_EXCLUDE_H

#include "run/plan.h"
#include "config/yaml.h"

/* Reads a list of mappings and adds their rules to the config, whose lists are
 * complete; block -1: they hold for all. */
nb_status nb_rules_read(nb_yaml value, int block, nb_config *config, nb_mistakes *mistakes);

bool nb_rule_matches(const nb_rule *rule, const nb_config *config, const nb_planned_scene *scene, const nb_cell *cell,
                     int trial);

#endif
