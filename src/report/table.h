/* SPDX-License-Identifier: GPL-3.0-or-later */
/* table.h - the one header that a table's file includes beside its study's.
 *
 * A table is one file, src/studies/STUDY/tables/NAME.c, that defines
 *     const nb_table nb_table_NAME;
 * It makes something of the rows of a run, on a page for people or as a grid for programs. */
#ifndef NB_TABLE_H
#define NB_TABLE_H

#include "components/output.h"
#include "components/registry.h"
#include "report/grid.h"
#include "report/page.h"

#include <stdio.h>

typedef struct nb_relation nb_relation; /* report/relation.h */

typedef struct {          /* where it is to be put: one of both is not NULL */
    nb_page *page;        /* with heading and notes, behind what is there */
    nb_grid *grid;        /* to be made with the table's columns, exact */
    const char *baseline; /* of the strategies, canonical; NULL: the first that is not an oracle */
} nb_table_form;

typedef struct {
    NB_OUTPUT_FIRST
    const char *sql;  /* of a table that is a file of SQL, see report/query.h; NULL: it has `make` */
    int place;        /* among the first tables of a report, from 1; 0: it is folded there */
    const char *file; /* a run's folder has it as CSV, by that name; NULL: it does not */

    /* Adds nothing to the page, and no rows to the grid, where the rows have nothing for it. */
    nb_status (*make)(nb_relation *relation, const nb_table_form *form, nb_ctx *ctx);
} nb_table;

typedef struct { /* what tables are made of */
    nb_relation *relation;
    const char *baseline; /* as nb_table_form */
} nb_table_source;

/* The table as a grid; without rows it may have no columns. */
nb_status nb_table_fill(const nb_table *table, const nb_table_source *source, nb_grid *grid, nb_ctx *ctx);

/* Adds a table to a page, and leaves nothing else in memory. */
nb_status nb_table_show(nb_page *page, const nb_table *table, const nb_table_source *source, nb_ctx *ctx);

/* The tables of a study up to a place; 0: all that have one. */
nb_status nb_tables_show(nb_page *page, const char *study, int last, const nb_table_source *source, nb_ctx *ctx);
/* Those that its folder has as files. */
nb_status nb_tables_write(const char *folder, const char *study, const nb_table_source *source, nb_ctx *ctx);

void nb_tables_print_files(FILE *out, const char *study); /* ", NAME" each */

#endif
