/* SPDX-License-Identifier: GPL-3.0-or-later */
/* axes.h - the keys of an experiment that make its rows: read once, wherever they are, and then added to the blocks
 * that they apply to. */
#ifndef NB_AXES_H
#define NB_AXES_H

#include "config/config.h"
#include "config/yaml.h"

/* The keys of a block: those of the study's axes, and after them trials and zip. */
int nb_block_key_count(const nb_study *study);
enum { NB_MOST_BLOCK_KEYS = NB_MOST_AXES + 2 };

/* What an experiment calls it. */
const char *nb_block_key_name(const nb_study *study, int key);

struct nb_key_values { /* of one key */
    nb_place place;
    const char *origin; /* NULL: there is none */
    bool right;         /* read without a mistake */
    nb_choices choices; /* of components */
    int count;
    double *reals; /* real numbers */
    int *numbers;  /* integers; indices of words; trials: one; zip: the group of each axis */
};

/* The default, as YAML; NULL: the key must be there. */
const char *nb_block_key_default(const nb_study *study, int key);

/* Fills `values` except for `origin` and `right`; reports what is wrong to `mistakes`. */
nb_status nb_block_key_read(const nb_study *study, int key, nb_yaml value, nb_key_values *values,
                            nb_mistakes *mistakes);

/* Mistakes that show only in several keys together; wrong keys are left out. */
nb_status nb_block_keys_check(const nb_study *study, const nb_key_values *const *keys, nb_mistakes *mistakes);

/* Warns of values that appear twice in a list that advances alone, where they count once. */
nb_status nb_block_keys_repeated(const nb_study *study, const nb_key_values *const *keys, nb_mistakes *warnings);

/* Adds each key's values to the block, and new ones to the config's lists; all keys are right. A label of two values,
 * and two of one, are mistakes. */
nb_status nb_config_block_fill(nb_config *config, nb_config_block *block, const nb_key_values *const *keys,
                               nb_mistakes *mistakes);

#endif
