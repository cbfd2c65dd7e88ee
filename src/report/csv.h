/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv.h - rows as comma-separated values (RFC 4180) and as JSON: header from the
 * table of columns, numbers with 17 digits, what was not measured empty. Rows of a run have
 * their components' labels behind these columns (report/labels.h). Texts are clean (base/text.h), also those of a
 * store that an older program wrote. */
#ifndef NB_CSV_H
#define NB_CSV_H

#include "base/ctx.h"
#include "components/row.h"

#include <stdio.h>

nb_status nb_csv_print(FILE *out, const void *rows, nb_ctx *ctx);         /* an nb_row_list */
void nb_csv_print_text(FILE *out, const char *text);                      /* quoted where it has to be */
void nb_csv_print_real(FILE *out, double x);                              /* NaN: nothing */
nb_status nb_json_print(FILE *out, const nb_row_list *rows, nb_ctx *ctx); /* an array of objects */
nb_status nb_json_print_row(FILE *out, const nb_column *columns, const nb_row *row,
                            nb_ctx *ctx); /* one object, without a line end */

#endif
