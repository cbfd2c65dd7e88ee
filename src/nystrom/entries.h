/* SPDX-License-Identifier: GPL-3.0-or-later */
/* entries.h - computes the measures that need the entries of F X B. */
#ifndef NB_ENTRIES_H
#define NB_ENTRIES_H

#include "nystrom/batch.h"

/* Computes negative_* and entropy_difference, if wanted (NB_WANT_*), of requests whose error is finite. A failure is
 * recorded for all requests of that pair. */
nb_status nb_measure_entries(nb_batch *batch, unsigned wanted, int count, nb_request *requests, nb_ctx *ctx);

#endif
