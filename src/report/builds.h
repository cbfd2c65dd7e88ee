/* SPDX-License-Identifier: GPL-3.0-or-later */
/* builds.h - which programs have measured what is shown together. */
#ifndef NB_BUILDS_H
#define NB_BUILDS_H

#include "report/relation.h"

#include <stdio.h>

/* One line, between `prefix` and `after`, where the rows of the plan come from more than one build;
 * nothing where they do not. */
nb_status nb_builds_print(FILE *out, const char *prefix, const char *after, nb_store *store, nb_ctx *ctx);

/* The table `build`: manifest, build, which program has measured rows, as numbers from 0; `sessions`: in which call of
 * it, too, which is what times depend on. *several: there are. */
nb_status nb_builds_table(nb_relation *relation, bool sessions, bool *several, nb_ctx *ctx);

#endif
