/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keys.h - the table of an experiment's keys: those that a block may have, which make rows; then those that hold for
 * the whole experiment, of every study and the settings of this one. */
#ifndef NB_KEYS_OF_CONFIG_H
#define NB_KEYS_OF_CONFIG_H

#include "components/condition.h"
#include "config/config.h"
#include "config/yaml.h"

typedef struct {
    const char *path; /* of the file */
    bool recalls;     /* it loads no plug-in */
    nb_config *config;
    nb_mistakes *mistakes;
    nb_ctx *ctx;
} nb_config_loader;

enum { NB_MOST_KEYS = 64 };

typedef struct nb_config_key {
    const char *name;
    const char *fixed; /* the default, YAML; NULL: the key is required in a block; of `name`, the file's */
    /* NULL: it is read before, or with the blocks. */
    nb_status (*read)(const nb_config_loader *l, const struct nb_config_key *key, nb_yaml value);
    const nb_option *option; /* the study's option; NULL: a key of every study */
    bool late;               /* read after the blocks, whose values it names */
} nb_config_key;

/* Read the two keys that decide which other keys there are. */
nb_status nb_config_read_plugins(const nb_config_loader *l, nb_yaml value);
nb_status nb_config_read_study(const nb_config_loader *l, nb_yaml value);

/* Fills in all keys: the *block_keys of a block, which axes.c reads, then `exclude` and `blocks`, then the rest in the
 * order of reading, the late ones last. Returns how many there are. */
int nb_config_keys(const nb_study *study, nb_config_key keys[NB_MOST_KEYS], int *block_keys);

/* The keys that make rows: each is read once, wherever it stands, and then added to the blocks that it applies to. */

enum { NB_MOST_BLOCK_KEYS = NB_MOST_AXES + 2 }; /* those of the study's axes, then trials and zip */

typedef struct nb_key_values { /* the values of one key */
    nb_place place;
    nb_origin origin;   /* where they were read; no key: it is not set */
    bool right;         /* read without a mistake */
    nb_choices choices; /* of an axis of components */
    int count;
    double *reals; /* real numbers */
    int *numbers;  /* integers; indices of words; trials: one; zip: the group of each axis */
} nb_key_values;

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

/* Reads a list of claims about rows of that study. An invalid claim has text == NULL, and only its valid members are
 * set. `config`: conditions may only name values that its experiment has, if blocks and shapes are known, and paths are
 * also searched beside the file (lookup.h); NULL: of rows that there are already. */
nb_status nb_claims_read(nb_yaml value, const nb_study *study, const nb_config *config, int *count, nb_claim **claims,
                         nb_mistakes *mistakes);

/* Reads a claim's `expect`: one expectation of those that its form has. `form`: the key that it is written under;
 * `value_name`: what it calls an expected value. */
nb_status nb_expectation_read(nb_yaml expect, const char *form, const char *value_name, nb_claim *claim,
                              nb_mistakes *mistakes);

/* Reports metrics that the config does not measure and, if its blocks and shapes are known, compared values that mean
 * several of its experiment, or the same. */
nb_status nb_claims_check(const nb_config *config, nb_mistakes *mistakes);

/* Read the key `split`, a file that divides sources into parts once and for all, or "none", and then `sources`, the
 * part whose sources alone an experiment may have, or "all". */
nb_status nb_split_read_file(const nb_config_loader *l, const nb_config_key *key, nb_yaml value);
nb_status nb_split_read_sources(const nb_config_loader *l, const nb_config_key *key, nb_yaml value);

/* Adds a mistake for each problem that has a source of another part, or of none. Drawn data have no source. */
nb_status nb_split_check(const nb_config *config, nb_place place, nb_mistakes *mistakes);

/* Reads what a rule or a claim says of columns: {strategy: [uniform, kmeans], landmarks: 8..64}. */

typedef struct nb_condition_column nb_condition_column; /* conditions.c */

typedef struct {
    const nb_study *study;
    const nb_config *config; /* the values that its lists and heads have are those that a text may mean; NULL: any */
    bool look_up;            /* search paths beside the file (lookup.h) */
    bool open;               /* a valid text that means none of the values is no mistake */
    nb_mistakes *mistakes;
    int column_count, column_room;
    nb_condition_column **columns; /* those that have been asked for */
} nb_condition_reader;

/* Reads a value or a list of values of a column; `what` begins each mistake. */
nb_status nb_column_values_read(nb_condition_reader *r, const char *what, const char *column, nb_yaml value,
                                nb_column_values *condition);

/* Reads a mapping from columns to values. */
nb_status nb_conditions_read(nb_condition_reader *r, const char *what, nb_yaml value, nb_conditions *conditions);

/* The values that the config has in a column by which rows are selected; none if it is not known. */
nb_status nb_condition_candidates(nb_condition_reader *r, const char *column, const nb_candidates **candidates);

/* Reads a list of mappings and adds their rules to the config, whose lists must be complete. block -1: the rules apply
 * to all blocks. */
nb_status nb_rules_read(nb_yaml value, int block, nb_config *config, nb_mistakes *mistakes);

#endif
