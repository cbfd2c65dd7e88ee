/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.h - tables of the studies. Each is a file of SQL, src/studies/STUDY/tables/NAME.sql (show/query.h), of which
 * the build makes
 *     const nb_table nb_table_NAME;
 * It shows something of the rows of a run, on a page for people or as a grid for programs. A new one needs no other
 * file but its golden texts, which tests/golden.sh --renew writes. */
#ifndef NB_TABLE_H
#define NB_TABLE_H

#include "components/study.h"
#include "components/registry.h"
#include "rows/grid.h"
#include "show/page.h"

#include <stdio.h>

typedef struct nb_relation nb_relation; /* rows/relation.h */

typedef struct {
    NB_OUTPUT_FIRST
    const char *sql;  /* the file's text */
    int place;        /* among the first tables of a report, from 1; 0: it is folded there */
    const char *file; /* a run's folder has it as CSV, by that name; NULL: it does not */
} nb_table;

/* Returns the last place that a table has. */
int nb_tables_last(void);

/* Adds a table to a page, where the rows have something for it, and leaves nothing else in memory. */
nb_status nb_table_show(nb_page *page, const nb_table *table, nb_relation *relation, nb_ctx *ctx);

/* The tables of the rows' study up to a place; 0: all that have one. */
nb_status nb_tables_show(nb_page *page, int last, nb_relation *relation, nb_ctx *ctx);
/* Writes those that a run's folder has as files, and removes the file of one that has nothing to say. */
nb_status nb_tables_write(const char *folder, nb_relation *relation, nb_ctx *ctx);

/* Prints ", NAME" for each of these files that is there. */
nb_status nb_tables_print_files(FILE *out, const char *folder, const char *study, nb_ctx *ctx);

#endif
