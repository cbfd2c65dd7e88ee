/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.h - what a run of the error study prints, writes and draws. Members of nb_study. */
#ifndef NB_ERROR_REPORT_H
#define NB_ERROR_REPORT_H

#include "report/results.h"

#include <stdio.h>

extern const char *const nb_error_files[];
nb_status nb_error_tell(const nb_results *results, FILE *out, nb_ctx *ctx);
nb_status nb_error_draw(const nb_results *results, nb_ctx *ctx);

#endif
