/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manifest.h - what signs the rows of one run: which program, and how it measured them. */
#ifndef NB_MANIFEST_H
#define NB_MANIFEST_H

#include "base/ctx.h"

typedef struct {
    const char *build;      /* for people: the state of the source that it was built from */
    const char *executable; /* SHA-256 of its file: tells programs apart */
    /* What the last bits of a row depend on besides the program: OpenBLAS, its kernels and threads, the width of
     * vectors. */
    const char *arithmetic;
} nb_program;

/* Whether rows of both are the same bits. */
bool nb_program_same(const nb_program *a, const nb_program *b);

/* For people: in what both differ ("by another build", "with other arithmetic"). */
const char *nb_program_difference(const nb_program *a, const nb_program *b);
/* One in words: its build first, or, beside another of the same build, its executable. */
nb_status nb_program_text(const nb_program *program, const char **text, nb_ctx *ctx);
nb_status nb_program_beside(const nb_program *program, const nb_program *other, const char **text, nb_ctx *ctx);
/* How rows were measured that this program would measure otherwise, and what this program is. */
nb_status nb_program_change(const nb_program *then, const nb_program *now, const char **text, nb_ctx *ctx);

typedef struct {
    nb_program program;
    const char *text; /* a JSON object, provenance.h */
} nb_manifest;

#endif
