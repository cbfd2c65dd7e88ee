/* SPDX-License-Identifier: GPL-3.0-or-later */
/* panels.h - what data rows are of: sources within strata, and the panels that a table shows together. */
#ifndef NB_PANELS_H
#define NB_PANELS_H

#include "rows/names.h"

typedef struct {
    int panel, stratum, source;
} nb_data_ids;

/* Numbers the panel, the stratum and the source of a row's data. `kinds`: numbers of its texts. */
nb_status nb_data_number(nb_relation *relation, const nb_data_origin *origin, const nb_spec_facts *problem,
                         const int *kinds, nb_data_ids *ids, nb_ctx *scratch);

/* Make the tables `stratum` and `source`, and `panel` (rows/open.h). */
nb_status nb_sources_make(const nb_relation *relation);
nb_status nb_panels_make(nb_relation *relation);

#endif
