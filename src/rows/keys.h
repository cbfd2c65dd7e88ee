/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keys.h - the table `key`: each row's numbers, which SQL sorts and joins by, and the study's metric: what asks for no
 * more reads `key`, and not the stored rows. C reads the texts and settings of each row once, here, and no result
 * (of the rows that a --where keeps, once more); what is measured goes from the stored rows to `key` within SQL. */
#ifndef NB_KEYS_H
#define NB_KEYS_H

#include "rows/names.h"

/* Makes the table, and numbers the relation's specs, panels, strata and sources. some: of the
 * rows in `kept_rows` alone. */
nb_status nb_keys_make(nb_names *names, bool some);

/* Returns whether many queries ask the column of each row, and it has few bytes: then it stands in `key`, so that they
 * read no whole row. */
bool nb_is_in_key(const nb_study *study, const nb_column *column);

#endif
