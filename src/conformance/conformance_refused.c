/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conformance_refused.c - pairings that a strategy outside of this process refuses. A program that refuses can only
 * fail, in words of its own: it refuses a pairing if a pick fails there and one with another pairing does not, or,
 * where all fail, in other words than with its own pairing. */
#include "conformance/conformance.h"

#include "base/apart.h"
#include "nystrom/make_scene.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    const nb_choice *strategy, *kernel;
    nb_pairing pairing;
} question;

static nb_status pick(void *self, nb_ctx *ctx)
{
    const question *q = self;
    const char *name;
    nb_head head;
    nb_landmarks landmarks;
    nb_picking picking = {.strategy = q->strategy,
                          .m = 4,
                          .pairing = q->pairing,
                          .stream = {.seed = 5, .component = q->strategy->canonical}};
    NB_TRY(ctx, nb_conformance_head(NB_PLAIN_HEAD, &name, &head, ctx));
    NB_TRY(ctx, nb_scene_new(&head, q->kernel, &picking.scene, ctx));
    NB_TRY(ctx, nb_random_new(&picking.rng, ctx));
    return nb_landmarks_pick(&picking, &landmarks, ctx);
}

/* *why <- how the program fails, which is an NB_EIO; NULL: it does not. What else goes wrong is for the checks. */
static nb_status ask(question q, double limit_s, const char **why, nb_ctx *ctx)
{
    *why = NULL;
    if (nb_apart(pick, &q, limit_s, NULL, 0, ctx) == NB_EIO) NB_NEED(*why, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    return NB_OK;
}

bool nb_conformance_same(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (isdigit((unsigned char)*a)) a++;
        while (isdigit((unsigned char)*b)) b++;
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

nb_status nb_find_refused(const nb_choice *strategy, const nb_choice *kernel, double limit_s, nb_refused *refused,
                          nb_ctx *ctx)
{
    nb_refused found = {.why = {NULL}};
    bool any = false;
    *refused = found;
    nb_pairing own = nb_strategy_pairing(strategy);
    if (!(nb_strategy_traits(strategy) & NB_ELSEWHERE)) return NB_OK;
    for (nb_pairing p = 0; p < NB_PAIRING_COUNT; p++) {
        if (!nb_strategy_has(strategy, p)) continue;
        NB_TRY(ctx, ask((question){strategy, kernel, p}, limit_s, &found.why[p], ctx));
        any = any || !found.why[p];
    }
    for (nb_pairing p = 0; p < NB_PAIRING_COUNT; p++)
        if (found.why[p] && (any || !nb_conformance_same(found.why[p], found.why[own]))) refused->why[p] = found.why[p];
    return NB_OK;
}
