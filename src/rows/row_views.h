/* SPDX-License-Identifier: GPL-3.0-or-later */
/* row_views.h - the views of the rows of any study: run, without, unfinished and measured (rows/open.h). */
#ifndef NB_ROW_VIEWS_H
#define NB_ROW_VIEWS_H

#include "rows/relation.h"

nb_status nb_row_views_make(const nb_relation *relation); /* all but measured */
nb_status nb_measured_make(const nb_relation *relation);

#endif
