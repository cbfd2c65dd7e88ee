/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conditions.h - reads what a rule or a claim says of columns: {strategy: [uniform, kmeans], landmarks: 8..64}. */
#ifndef NB_CONDITIONS_H
#define NB_CONDITIONS_H

#include "config/config.h"
#include "config/yaml.h"

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
