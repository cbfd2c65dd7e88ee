/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims.h - reads what an experiment says of columns: its claims, and the conditions of these and of rules. */
#ifndef NB_CLAIMS_OF_CONFIG_H
#define NB_CLAIMS_OF_CONFIG_H

#include "config/config.h"
#include "config/yaml.h"

/* Reads a list of claims about rows of that study. An invalid claim has text == NULL, and only its valid members are
 * set. `look_up`: paths are also searched beside the file (lookup.h). */
nb_status nb_claims_read(nb_yaml value, const nb_study *study, bool look_up, int *count, nb_claim **claims,
                         nb_mistakes *mistakes);

/* Reports metrics that the config does not measure and, if its blocks and shapes are known, values that its experiment
 * does not have. */
nb_status nb_claims_check(const nb_config *config, nb_mistakes *mistakes);

/* Reads what a rule or a claim says of columns: {strategy: [uniform, kmeans], landmarks: 8..64}. */

typedef struct {
    const nb_study *study;
    bool look_up; /* search paths beside the file (lookup.h) */
    nb_mistakes *mistakes;
} nb_condition_reader;

/* Reads a value or a list of values of a column; `what` begins each mistake. */
nb_status nb_column_values_read(const nb_condition_reader *r, const char *what, const char *column, nb_yaml value,
                                nb_column_values *condition);

/* Reads a mapping from columns, out of `columns` (NULL-terminated), to values. */
nb_status nb_conditions_read(const nb_condition_reader *r, const char *what, nb_yaml value, const char *const *columns,
                             nb_conditions *conditions);

/* *means: the value means that item of the axis's list. */
nb_status nb_named_value_means(const nb_named_value *value, const nb_axis *axis, const nb_axis_list *list, int index,
                               bool *means, nb_ctx *ctx);

/* Reads a list of mappings and adds their rules to the config, whose lists must be complete. block -1: the rules apply
 * to all blocks. */
nb_status nb_rules_read(nb_yaml value, int block, nb_config *config, nb_mistakes *mistakes);

#endif
