/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sql_files.h - the SQL files of the tree, which the Makefile finds. */
#ifndef NB_SQL_FILES_H
#define NB_SQL_FILES_H

typedef struct {
    const char *study, *folder, *name; /* src/studies/STUDY/FOLDER/NAME.sql */
    const char *text;
} nb_sql_file;
extern const nb_sql_file nb_sql_files[]; /* ends with study == NULL */

/* Returns the SQL of FILE.sql, or, of FILE.NAME, what follows "-- name: NAME" in it, up to the next name: of files in
 * run/, rows/, answers/, show/ and the folders of studies. NULL: there is none. */
const char *nb_sql_text(const char *name);

#endif
