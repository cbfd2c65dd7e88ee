/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keys.h - the table `key`: each row's numbers, which SQL sorts and joins by. Each row goes through C once, here, and
 * the study's metric with it: what asks for no more reads `key`, and not the stored rows. */
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
