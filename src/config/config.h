/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config.h - an experiment, read from YAML and checked whole. */
#ifndef NB_CONFIG_H
#define NB_CONFIG_H

#include "components/component.h"
#include "base/range.h"
#include "nystrom/engine.h"
#include "problems/problem.h"

typedef struct {
    const char *key, *value; /* value: YAML */
} nb_override;

/* What rows differ in, but for the trial. */
typedef enum {
    NB_AXIS_PROBLEM,
    NB_AXIS_KERNEL,
    NB_AXIS_STRATEGY,
    NB_AXIS_PAIRING,
    NB_AXIS_LANDMARKS,
    NB_AXIS_FACTORS,
    NB_AXIS_CORE,
    NB_AXES
} nb_axis;

extern const char *const nb_axis_keys[]; /* "problems", ...; NULL-terminated */

/* Where the value of a key comes from: "FILE:LINE", "--set", "default". */
typedef struct {
    const char *key, *text;
} nb_origin;

typedef struct {
    int count;
    nb_origin *items;
} nb_origins;

typedef struct { /* a product of lists, some of which advance together */
    nb_place place;
    int trials;
    int count[NB_AXES];
    int *values[NB_AXES];   /* in the order of the file, repetitions too: index into the config's list */
    nb_axis group[NB_AXES]; /* axes that advance together have the number of the first of them */
    nb_origins origins;
} nb_config_block;

typedef struct { /* one key of a rule, as written */
    const char *key;
    int count;
    const char **texts;
} nb_rule_key;

enum { NB_RULE_NUMBERS = 5 }; /* landmarks, head, trial, n, d */

typedef struct { /* takes away the rows that match all its keys */
    nb_place place;
    int block;                        /* of which alone; -1: of all */
    const bool *chosen[NB_AXES];      /* by index into the config's list; NULL: any */
    unsigned pairings, factors;       /* a bit for each nb_pairing, nb_factors_kind; 0: any */
    int range_count[NB_RULE_NUMBERS]; /* 0: any */
    nb_range *ranges[NB_RULE_NUMBERS];
    int key_count;
    nb_rule_key *keys;
} nb_rule;

typedef struct {
    const char *name; /* of the folder under results/ */
    const char *question;
    long long seed;
    int trials;                     /* most of any block */
    int landmark_count, *landmarks; /* this and the lists that follow hold what any block names, once */
    nb_choices problems, kernels, strategies, cores;
    nb_problem_shape *shapes;  /* one for each problem */
    const nb_choice *baseline; /* one of the strategies: what the others are compared with */
    int pairing_count;
    const char **pairings; /* names, or "default": the strategy's own */
    int factors_count;
    const char **factors;
    bool named_blocks;       /* the key `blocks` has them */
    int block_count;         /* 0: the product of all lists, by somebody who wrote no file */
    nb_config_block *blocks; /* the experiment is what any of them holds */
    int rule_count;
    nb_rule *rules;  /* but for what these take away */
    unsigned wanted; /* NB_WANT_* */
    int metric_count;
    const char **metrics; /* as written: names of columns, or "all" */
    nb_engine_kind engine;
    nb_precision precision;
    int sample;       /* rows: sample(k); 0: all */
    const char *rows; /* "all" or "sample(k)" */
    int plot_count;
    const char **plots;
    nb_origins origins;   /* of the keys that hold for the whole experiment */
    nb_mistakes warnings; /* what may be a slip, and does no harm */
} nb_config;

/* Reads the file and the overrides, which hold in all blocks. All mistakes are
 * collected, each with its place; the config is to be used only where there is
 * none. NB_EIO where the file cannot be read. */
nb_status nb_config_load(const char *path, int override_count, const nb_override *overrides, nb_config *config,
                         nb_mistakes *mistakes, nb_ctx *ctx);

/* Whether another value of that key makes other rows; false for what only names, draws
 * or compares them. */
bool nb_config_makes_rows(const char *key);

const char *nb_standard_kernel(void); /* of an experiment that names none */

/* The config with every value written out, as YAML that gives the same plan; and
 * the same with a comment behind each key that says where its value comes from. */
nb_status nb_config_text(const nb_config *config, const char **text, nb_ctx *ctx);
nb_status nb_config_text_with_origins(const nb_config *config, const char **text, nb_ctx *ctx);

#endif
