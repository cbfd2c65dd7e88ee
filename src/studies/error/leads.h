/* SPDX-License-Identifier: GPL-3.0-or-later */
/* leads.h - which of the least errors are less than the next by more than chance. */
#ifndef NB_LEADS_H
#define NB_LEADS_H

#include "studies/error/summary.h"

/* leads <- by nb_summary_cell: its median is the least of its peers' under the same problem, kernel, core and m, and of
 * the error over that of the peer whose median is the next, the 95 % t interval over sources is below 1: the verdict
 * `better` of nb_compare, which takes NB_LEAST_SOURCES or more. Where data are drawn each trial is a source. */
nb_status nb_leads_find(const nb_summary *summary, bool **leads, nb_ctx *ctx);

#endif
