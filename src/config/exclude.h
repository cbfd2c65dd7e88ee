/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exclude.h - rules that remove rows from an experiment. */
#ifndef NB_EXCLUDE_H
#define NB_EXCLUDE_H

#include "config/config.h"
#include "config/yaml.h"

/* Reads a list of mappings and adds their rules to the config, whose lists must be complete. block -1: the rules apply
 * to all blocks. */
nb_status nb_rules_read(nb_yaml value, int block, nb_config *config, nb_mistakes *mistakes);

#endif
