/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measured.h - how the rows of a run were measured: by which program, on which machine, from which files, and the
 * command that does it again. */
#ifndef NB_MEASURED_H
#define NB_MEASURED_H

#include "report/page.h"
#include "run/store.h"

/* Of the run in a folder; files and config are folded (html.h). */
nb_status nb_measured_show(nb_page *page, const char *folder, nb_store *store, nb_ctx *ctx);

/* When the first rows were measured, as 2026-01-31; "" if none was. */
nb_status nb_measured_day(nb_store *store, const char **day, nb_ctx *ctx);

#endif
