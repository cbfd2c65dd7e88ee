/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model.h - a model that a program outside runs (docs/models.md): its sources, the heads of its layers, and what
 * becomes of its output when the attention of some layers is replaced. The program stays alive and is asked in JSON. */
#ifndef NB_MODEL_H
#define NB_MODEL_H

#include "base/ctx.h"

typedef struct {
    const char *run; /* the program and its arguments */
    double timeout;  /* seconds for one question; of its start too */
} nb_model_program;

typedef struct {
    const char *name;
    int layers, heads, key_heads; /* heads of each layer */
    int n, d, dv;                 /* of every source and layer */
    bool causal;
    int source_count;
    const char *const *sources; /* names, each once */
    double pass_s;              /* seconds of an exact pass, as the program says; NaN: it does not */
} nb_model;

/* NB_EIO, with the program's own words, where it cannot be asked; NB_EINVAL where its answer is not what it must be.
 * The texts are ctx's. */
nb_status nb_model_describe(const nb_model_program *program, nb_model *model, nb_ctx *ctx);

/* "all", "half" (0, 2, 4 ...) or the number of one: which layers of `count` these are, ctx's. NB_EINVAL for anything
 * else. */
nb_status nb_model_layers(const char *text, int count, int *chosen, int **layers, nb_ctx *ctx);

/* Has the program write q, k, v of these layers of a source to a .safetensors file, layer after layer, and checks that
 * the file is of the shapes that the model has. */
nb_status nb_model_write_heads(const nb_model_program *program, const nb_model *model, int source, int count,
                               const int *layers, const char *path, nb_ctx *ctx);

typedef struct { /* a pass with the attention of some layers replaced */
    int source, layer_count;
    const int *layers;
    const char *attention; /* canonical */
    long long seed;
    int trial;
} nb_model_question;

typedef struct {
    const char *status; /* of the row: "ok", "skipped", "diverged" or "failed" */
    const char *reason; /* NULL where it is ok */
} nb_model_outcome;

/* What the program says of that pass: values (one for each of the names, which end with NULL), NaN where it says
 * nothing. All that goes wrong with the question is an outcome. */
nb_status nb_model_ask_effect(const nb_model_program *program, const nb_model_question *question,
                              const char *const *names, double *values, nb_model_outcome *outcome, nb_ctx *ctx);

#endif
