/* SPDX-License-Identifier: GPL-3.0-or-later */
/* axes.h - the keys of an experiment that make its rows: read once, wherever they
 * stand, and then taken into the blocks that they hold for. */
#ifndef NB_AXES_H
#define NB_AXES_H

#include "config/config.h"
#include "config/yaml.h"

/* The keys of a block: those of the axes, by nb_axis, and two more. */
enum { NB_KEY_TRIALS = NB_AXES, NB_KEY_ZIP, NB_BLOCK_KEYS };
extern const char *const nb_block_keys[]; /* NULL-terminated */

typedef struct { /* of one key */
    nb_place place;
    const char *origin;  /* NULL: there is none */
    bool right;          /* read without a mistake */
    nb_choices choices;  /* of components */
    int count, *numbers; /* landmarks; trials: one; zip: the group of each axis */
    const char **words;  /* pairing, factors */
} nb_key_values;

/* The default, as YAML; NULL: the key must be there. */
const char *nb_block_key_default(int key);

/* `values` is filled but for `origin` and `right`; what is wrong is told to `mistakes`. */
nb_status nb_block_key_read(int key, nb_yaml value, nb_key_values *values, nb_mistakes *mistakes);

/* What shows where several keys are looked at together; those that are not right are left out. */
nb_status nb_block_keys_check(const nb_key_values *const keys[NB_BLOCK_KEYS], nb_mistakes *mistakes);

/* Values that stand twice in a list which advances alone, where they count once. */
nb_status nb_block_keys_repeated(const nb_key_values *const keys[NB_BLOCK_KEYS], nb_mistakes *warnings);

/* What each key says goes to the block, and what is new to the config's lists; all are right. */
nb_status nb_config_block_fill(nb_config *config, nb_config_block *block,
                               const nb_key_values *const keys[NB_BLOCK_KEYS], nb_ctx *ctx);

/* Adds the identity to the config's cores, where some of its factors have no middle. */
nb_status nb_config_add_identity(nb_config *config, nb_ctx *ctx);

#endif
