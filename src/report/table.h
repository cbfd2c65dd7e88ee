/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.h - the one header that a table's file includes beside its study's.
 *
 * A table is one file, src/studies/STUDY/tables/NAME.c, that defines
 *     const nb_table nb_table_NAME;
 * It prints something of the rows of a run, for people or as CSV. */
#ifndef NB_TABLE_H
#define NB_TABLE_H

#include "components/output.h"
#include "components/registry.h"
#include "report/frame.h"

#include <stdio.h>

typedef struct {
    const char *baseline; /* of the strategies, canonical; NULL: the first that is not an oracle */
    bool csv;             /* else text for people */
} nb_table_form;

typedef struct {
    NB_OUTPUT_FIRST
    int place;        /* among the tables that a run prints in the end, from 1; 0: only on request */
    const char *file; /* a run's folder has it as CSV, by that name; NULL: it does not */

    /* Nothing where the rows have nothing for it. */
    nb_status (*print)(FILE *out, const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx);
} nb_table;

/* The tables of a study that a run prints in the end. */
nb_status nb_tables_print(FILE *out, const char *study, const nb_frame *frame, const nb_table_form *form, nb_ctx *ctx);
/* Those that its folder has as files. */
nb_status nb_tables_write(const char *folder, const char *study, const nb_frame *frame, const char *baseline,
                          nb_ctx *ctx);

void nb_tables_print_files(FILE *out, const char *study); /* their names, and what they are, a line each */

#endif
