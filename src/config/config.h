/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config.h - an experiment, read from YAML and checked as a whole. Its study decides what its rows differ in, and
 * which other keys it has. */
#ifndef NB_CONFIG_H
#define NB_CONFIG_H

#include "base/range.h"
#include "components/study.h"
#include "config/claim.h"
#include "problems/problem.h"

/* Where the value of a key comes from: "FILE:LINE", "--set", "default". */
typedef struct {
    const char *key, *text;
} nb_origin;

typedef struct {
    int count;
    nb_origin *items;
} nb_origins;

/* The values of an axis that any block names, each once. */
typedef struct {
    int count;
    nb_choices choices; /* of components */
    double *reals;      /* of real numbers */
    int *numbers;       /* of all others: integers, or indices of words (-1: the axis's extra one) */
} nb_axis_list;

typedef struct { /* a product of lists, some of which advance together */
    nb_place place;
    int trials;
    int count[NB_MOST_AXES];
    int *values[NB_MOST_AXES]; /* in the order of the file, repetitions too: index into the config's list */
    int group[NB_MOST_AXES];   /* axes that advance together have the number of the first of them */
    nb_origins origins;
} nb_config_block;

typedef struct { /* one key of a rule, as written */
    const char *key;
    int count;
    const char **texts;
} nb_rule_key;

typedef struct {
    int count; /* 0: any */
    nb_range *items;
} nb_number_ranges;

/* What a rule may name beside the axes. */
typedef enum { NB_RULE_HEAD, NB_RULE_TRIAL, NB_RULE_N, NB_RULE_D, NB_RULE_NUMBERS } nb_rule_number;

typedef struct { /* removes the rows that match all its keys */
    nb_place place;
    int block;                        /* of which alone; -1: of all */
    const bool *chosen[NB_MOST_AXES]; /* components and reals, by index into the config's list; NULL: any */
    unsigned words[NB_MOST_AXES];     /* a bit for each word; 0: any */
    nb_number_ranges integers[NB_MOST_AXES];
    nb_number_ranges numbers[NB_RULE_NUMBERS];
    int key_count;
    nb_rule_key *keys;
} nb_rule;

struct nb_config {
    const nb_study *study;
    const char *name; /* of the folder under results/ */
    const char *question;
    long long seed;
    int trials; /* most of any block */
    nb_axis_list lists[NB_MOST_AXES];
    nb_problem_shape *shapes; /* one for each problem */
    const nb_choice
        *baseline;           /* one of the study's baseline axis: what the others are compared with; NULL: nothing is */
    void *settings;          /* the struct of the study's options */
    bool named_blocks;       /* the key `blocks` has them */
    int block_count;         /* 0: the product of all lists, by somebody who wrote no file */
    nb_config_block *blocks; /* the experiment is what any of them holds */
    int rule_count;
    nb_rule *rules;  /* except for the rows that these remove */
    unsigned wanted; /* bits of the study's columns */
    int metric_count;
    const char **metrics; /* as written: names of columns, or "all" */
    int plot_count;
    const char **plots;
    int claim_count;
    nb_claim *claims;     /* what its rows are asked in the end */
    nb_origins origins;   /* of the keys that hold for the whole experiment */
    nb_mistakes warnings; /* what may be a mistake, but is allowed */
};

/* One of that study that is made without a file: its settings have their defaults, all lists are empty. */
nb_status nb_config_init(nb_config *config, const nb_study *study, nb_ctx *ctx);

/* One more value of an axis of integers or words. */
nb_status nb_config_add_number(nb_config *config, int axis, int number, nb_ctx *ctx);

int nb_config_axis_count(const nb_config *config);

/* What a method or scene has as the value of an axis, for the index of a value in the config's list. */
int nb_config_value(const nb_config *config, int axis, int index);

/* The component that is a value of an axis. */
const nb_choice *nb_config_choice(const nb_config *config, int axis, int value);

/* The text of a setting, as YAML; ctx's. */
nb_status nb_config_setting(const nb_config *config, const nb_option *option, const char **text, nb_ctx *ctx);

/* Whether another value of that key makes other rows; false for keys that only name, draw or compare rows. */
bool nb_config_makes_rows(const char *key);

/* The config with every value written out, as YAML that gives the same plan; and
 * the same with a comment behind each key that says where its value comes from. */
nb_status nb_config_text(const nb_config *config, const char **text, nb_ctx *ctx);
nb_status nb_config_text_with_origins(const nb_config *config, const char **text, nb_ctx *ctx);

#endif
