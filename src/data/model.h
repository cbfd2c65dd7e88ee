/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model.h - a model that another program runs (docs/models.md): its sources, the heads of its layers, and the effect on
 * its output of replacing the attention of some layers. The program stays alive and is asked in JSON. */
#ifndef NB_MODEL_H
#define NB_MODEL_H

#include "base/ctx.h"

typedef struct {
    const char *run; /* the program and its arguments */
    double timeout;  /* time limit in seconds for its start and for each question */
} nb_model_program;

typedef struct {
    const char *name;
    int layers, heads, key_heads; /* heads of each layer */
    int n, d, dv;                 /* of every source and layer */
    bool causal;
    int source_count;
    const char *const *sources; /* names, each once */
    double pass_s;              /* seconds of an exact pass, as the program says, or NaN */
} nb_model;

/* Asks for the model's description. NB_EIO, with the program's own words, if it cannot be asked; NB_EINVAL if its
 * answer is malformed. ctx owns the texts. */
nb_status nb_model_describe(const nb_model_program *program, nb_model *model, nb_ctx *ctx);

/* Lists the layers, of `count`, that a text means: "all", "half" (0, 2, 4 ...) or the number of one. ctx owns the list.
 * NB_EINVAL for any other text. */
nb_status nb_model_layers(const char *text, int count, int *chosen, int **layers, nb_ctx *ctx);

/* Has the program write q, k, v of these layers of a source to a .safetensors file, layer after layer, and checks the
 * file's shapes against the model's. The file is in a temporary folder: if there is no room for it, the failure is the
 * machine's, NB_EHOST. */
nb_status nb_model_write_heads(const nb_model_program *program, const nb_model *model, int source, int count,
                               const int *layers, const char *path, nb_ctx *ctx);

typedef struct { /* a pass with the attention of some layers replaced */
    int source, layer_count;
    const int *layers;
    const char *attention;      /* canonical */
    const char *const *plugins; /* absolute paths of those that it needs; NULL-terminated */
    long long seed;
    int trial;
} nb_model_question;

typedef struct {
    const char *status; /* status of the row: "ok", "skipped", "diverged" or "failed" */
    const char *reason; /* NULL if ok */
} nb_model_outcome;

/* Asks for the results of that pass: one value for each of the names (NULL-terminated), NaN where the program gives
 * none. Everything that goes wrong with the question is an outcome. */
nb_status nb_model_ask_effect(const nb_model_program *program, const nb_model_question *question,
                              const char *const *names, double *values, nb_model_outcome *outcome, nb_ctx *ctx);

#endif
