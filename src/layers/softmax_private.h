/* SPDX-License-Identifier: GPL-3.0-or-later */
/* softmax_private.h - the online softmax in stripes: softmax_stripes.c. */
#ifndef NB_SOFTMAX_PRIVATE_H
#define NB_SOFTMAX_PRIVATE_H

#include "layers/softmax.h"

int nb_stripe_lanes(void); /* queries of a stripe on this CPU; 0: there are no stripes */

void nb_stripes_begin(nb_softmax *softmax);
void nb_stripes_add(nb_softmax *softmax, int keys, const nb_scalar *k, const nb_scalar *v, const nb_mask *mask);
void nb_stripes_store(nb_softmax *softmax, bool divide); /* divide: by the sums of exp */

/* The position of query i, and of key j. */
static inline int nb_mask_query(const nb_mask *mask, int i)
{
    return mask->queries ? mask->queries[i] : mask->query_at + i;
}
static inline int nb_mask_key(const nb_mask *mask, int j)
{
    return mask->keys ? mask->keys[j] : mask->key_at + j;
}

#endif
