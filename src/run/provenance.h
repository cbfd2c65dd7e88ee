/* SPDX-License-Identifier: GPL-3.0-or-later */
/* provenance.h - what made a result: the program, the machine, the libraries. */
#ifndef NB_PROVENANCE_H
#define NB_PROVENANCE_H

#include "run/inputs.h"
#include "run/manifest.h"
#include "run/workers.h"

#include <jansson.h>

/* The program that is running, with so many BLAS threads. Reads the whole executable. */
nb_status nb_program_here(int blas_threads, nb_program *program, nb_ctx *ctx);

/* One JSON object of texts and numbers, in the order in which `info` prints
 * them; owned by ctx. `program` is the one that is running. */
nb_status nb_provenance(const nb_program *program, bool gnuplot, json_t **facts, nb_ctx *ctx);

typedef struct { /* how the program was called */
    int argc;
    const char **argv;
    nb_workers workers;
    bool gnuplot; /* figures are drawn */
} nb_invocation;

/* The manifest of a run: those facts, when, the command, how it was spread, the files
 * that its plan is made from, and the resolved config. */
nb_status nb_manifest_make(const nb_program *program, const nb_invocation *how, const nb_plan *plan,
                           nb_manifest *manifest, nb_ctx *ctx);

/* What files of a manifest held something else than now: a line for people each, ctx's;
 * NULL-terminated. NB_EIO where the text is no manifest. */
nb_status nb_manifest_changes(const char *text, const nb_inputs *now, const char ***lines, nb_ctx *ctx);

#endif
