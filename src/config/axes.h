/* SPDX-License-Identifier: GPL-3.0-or-later */
/* axes.h - the keys of an experiment that make its rows. Each is read once, wherever it stands, and then added to the
 * blocks that it applies to. */
#ifndef NB_AXES_H
#define NB_AXES_H

#include "config/config.h"
#include "config/yaml.h"

enum { NB_MOST_BLOCK_KEYS = NB_MOST_AXES + 2 }; /* those of the study's axes, then trials and zip */

struct nb_key_values { /* the values of one key */
    nb_place place;
    nb_origin origin;   /* where they were read; no key: it is not set */
    bool right;         /* read without a mistake */
    nb_choices choices; /* of an axis of components */
    int count;
    double *reals; /* real numbers */
    int *numbers;  /* integers; indices of words; trials: one; zip: the group of each axis */
};

/* Reads all of `values` but `origin` and `right`; adds mistakes to `mistakes`. */
nb_status nb_block_key_read(const nb_study *study, int key, nb_yaml value, nb_key_values *values,
                            nb_mistakes *mistakes);

/* Adds mistakes that show only in several keys together; skips keys that are wrong. */
nb_status nb_block_keys_check(const nb_study *study, const nb_key_values *const *keys, nb_mistakes *mistakes);

/* Adds each key's values to the block, and new values to the config's lists. All keys are right. A label of two values,
 * and two labels of one value, are mistakes. Values that are repeated in an unzipped list, where they count once, are
 * warnings of the config. */
nb_status nb_config_block_fill(nb_config *config, nb_config_block *block, const nb_key_values *const *keys,
                               nb_mistakes *mistakes);

#endif
