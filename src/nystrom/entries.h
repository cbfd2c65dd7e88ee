/* SPDX-License-Identifier: GPL-3.0-or-later */
/* entries.h - what needs the entries of F X B. */
#ifndef NB_ENTRIES_H
#define NB_ENTRIES_H

#include "nystrom/batch.h"

/* negative_* and entropy_difference, as far as they are wanted (NB_WANT_*), of requests whose
 * error is finite. What fails is the failure of the requests on one pair. */
nb_status nb_measure_entries(nb_batch *batch, unsigned wanted, int count, nb_request *requests, nb_ctx *ctx);

#endif
