/* SPDX-License-Identifier: GPL-3.0-or-later */
/* provenance.h - records what made a result: the program, the machine, the libraries. */
#ifndef NB_PROVENANCE_H
#define NB_PROVENANCE_H

#include "run/inputs.h"
#include "run/store.h"
#include "run/workers.h"

#include <jansson.h>

/* Identifies the running program, with so many BLAS threads. Reads the whole executable. */
nb_status nb_program_here(int blas_threads, nb_program *program, nb_ctx *ctx);

/* Makes a JSON object of texts and numbers, in the order in which `info` prints them; ctx owns it. `program` is the
 * running one. */
nb_status nb_provenance(const nb_program *program, bool gnuplot, json_t **facts, nb_ctx *ctx);

typedef struct {       /* how the program was called, for the manifest */
    const char **argv; /* NULL-terminated */
    nb_workers workers;
    bool gnuplot; /* the run draws figures */
} nb_invocation;

/* Makes the manifest of a run: those facts, the time, the command, how it was distributed, the files of its plan, and
 * the resolved config. */
nb_status nb_manifest_make(const nb_program *program, const nb_invocation *how, const nb_plan *plan,
                           nb_manifest *manifest, nb_ctx *ctx);

/* Lists the files of a manifest that have changed since, a line each, owned by ctx; NULL-terminated. NB_EIO if the text
 * is not a manifest. */
nb_status nb_manifest_changes(const char *text, const nb_inputs *now, const char ***lines, nb_ctx *ctx);

#endif
