/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exact_attention.h - exact attention of a layer: blocks of queries against tiles of keys. Under a causal mask,
 * tiles that no query of a block sees are left out. */
#ifndef NB_EXACT_ATTENTION_H
#define NB_EXACT_ATTENTION_H

#include "layers/layer.h"
#include "layers/softmax.h"
#include "layers/team.h"

/* out (dv x n, batch * heads of them) <- softmax(Q K'/sqrt d) V, with a softmax for each thread. */
void nb_exact_attend(const nb_layer *layer, nb_softmax *softmax, nb_team *team, nb_scalar *out);

double nb_exact_work(const nb_layer_shape *shape); /* multiplications */

/* weights (n x count) <- the weights that `count` queries, d x count, give to all keys, a query a column; no mask. */
void nb_exact_weights(const nb_layer_shape *shape, int count, const nb_scalar *q, const nb_scalar *k,
                      nb_scalar *weights);

#endif
