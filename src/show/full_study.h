/* SPDX-License-Identifier: GPL-3.0-or-later */
/* full_study.h - a whole study: what it measures, how it runs, and how its results are shown. */
#ifndef NB_FULL_STUDY_H
#define NB_FULL_STUDY_H

#include "run/run_study.h"
#include "show/results.h"

typedef struct {
    nb_run_study run;

    /* Functions for the results. NULL: the tables and figures in the tree that name the study. */

    /* Writes the run's tables and, unless `page` is NULL, adds them to it. */
    nb_status (*tell)(const nb_results *results, nb_page *page, nb_ctx *ctx);
    nb_status (*draw)(const nb_results *results, nb_ctx *ctx);
} nb_full_study;

static inline const nb_full_study *nb_full_study_of(const nb_study *study)
{
    return (const nb_full_study *)study;
}

#endif
