/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outcome_groups.h - the rows that went wrong or were skipped, by status and reason. */
#ifndef NB_OUTCOME_GROUPS_H
#define NB_OUTCOME_GROUPS_H

#include "components/study.h"
#include "report/frame.h"
#include "report/page.h"

/* A table with a line for each status and reason: how many rows, and the first of them. Rows that have not been
 * measured yet are not among them. *groups: the lines; without any, nothing is added. */
nb_status nb_outcome_groups_show(nb_page *page, const nb_frame *frame, const nb_study *study, int *groups, nb_ctx *ctx);

#endif
