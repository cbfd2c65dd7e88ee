/* core.h - the one header that a core file includes.
 *
 * A core is one file, src/cores/NAME.c, that defines
 *     const nb_core nb_core_NAME;
 * It computes X, the m x m middle of F X B. A pseudo-inverse looks at A alone. */
#ifndef NB_CORE_H
#define NB_CORE_H

#include "base/component.h"
#include "base/ctx.h"
#include "base/plugin.h"
#include "measure/factors.h"

typedef struct {
    nb_component component;

    /* x (m x m) from the factors: factors->a, or their shared SVD with
     * nb_factors_svd. Entries that are not finite become the outcome
     * `diverged`, so no check is needed here. */
    nb_status (*compute)(nb_factors *factors, const void *options, double *x, nb_ctx *ctx);
} nb_core;

#endif
