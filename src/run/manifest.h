/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manifest.h - the signature of a run's rows: the program, and how it measured them. */
#ifndef NB_MANIFEST_H
#define NB_MANIFEST_H

#include "base/ctx.h"

typedef struct {
    const char *build;      /* for people: the state of the source it was built from */
    const char *executable; /* SHA-256 of its file; identifies the program */
    /* Everything besides the program that the last bits of a row depend on: OpenBLAS, its kernels and threads, the
     * width of vectors. */
    const char *arithmetic;
} nb_program;

/* True if rows of both programs have the same bits. */
bool nb_program_same(const nb_program *a, const nb_program *b);

/* Returns the difference for people ("by another build", "with other arithmetic"). */
const char *nb_program_difference(const nb_program *a, const nb_program *b);
/* Names a program: by its build, or, beside another one of the same build, by its executable. */
nb_status nb_program_text(const nb_program *program, const char **text, nb_ctx *ctx);
nb_status nb_program_beside(const nb_program *program, const nb_program *other, const char **text, nb_ctx *ctx);
/* Describes how rows were measured that this program would measure otherwise, and what this program is. */
nb_status nb_program_change(const nb_program *then, const nb_program *now, const char **text, nb_ctx *ctx);

typedef struct {
    nb_program program;
    const char *text; /* a JSON object (provenance.h) */
} nb_manifest;

#endif
