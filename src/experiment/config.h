/* config.h - an experiment, read from YAML and checked whole. */
#ifndef NB_CONFIG_H
#define NB_CONFIG_H

#include "base/component.h"
#include "measure/engine.h"
#include "problems/problem.h"

typedef struct {
    const char *key, *value; /* value: YAML */
} nb_override;

typedef struct {
    const char *name;       /* of the folder under results/ */
    const char *question;
    long long seed;
    int trials;
    int landmark_count, *landmarks;
    nb_choices problems, kernels, strategies, cores;
    nb_problem_shape *shapes; /* one for each problem */
    const nb_choice *baseline; /* one of the strategies: what the others are compared with */
    int pairing_count;
    const char **pairings;  /* names, or "default": the strategy's own */
    int factors_count;
    const char **factors;
    unsigned wanted;        /* NB_WANT_* */
    int metric_count;
    const char **metrics;   /* as written: names of columns, or "all" */
    nb_engine_kind engine;
    nb_precision precision;
    int sample;             /* rows: sample(k); 0: all */
    const char *rows;       /* "all" or "sample(k)" */
    int plot_count;
    const char **plots;
} nb_config;

/* Reads the file and the overrides. All mistakes are collected, each with its
 * place; the config is to be used only where there is none. NB_EIO where the
 * file cannot be read. */
nb_status nb_config_load(const char *path, int override_count, const nb_override *overrides, nb_config *config,
                         nb_mistakes *mistakes, nb_ctx *ctx);

const char *nb_standard_kernel(void); /* of an experiment that names none */

/* The config with every value written out, as YAML that gives the same plan. */
nb_status nb_config_text(const nb_config *config, const char **text, nb_ctx *ctx);

#endif
