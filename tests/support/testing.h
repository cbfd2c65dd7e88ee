/* SPDX-License-Identifier: GPL-3.0-or-later */
/* testing.h - what the tests share: contexts, heads, and choices from text. */
#ifndef NB_TESTING_H
#define NB_TESTING_H

#include "calls/heads.h"
#include "components/component.h"
#include "base/random.h"
#include "components/registry.h"
#include "problems/problem.h"
#include "told.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The call must succeed; else its message is the test's. */
#define assert_ok(ctx, call) \
    do { \
        if ((call) != NB_OK) fail_msg("%s: %s\n%s", #call, nb_error_message(ctx), nb_error_trace(ctx)); \
    } while (0)

/* The call must fail with that status, and tells why: of what was asked, or of the call as it stands here. */
#define assert_error_of(asked, ctx, call, status) \
    do { \
        assert_int_equal((call), (status)); \
        tell((asked), nb_error_message(ctx)); \
        nb_error_clear(ctx); \
    } while (0)

#define assert_error(ctx, call, status) assert_error_of(#call, ctx, call, status)

/* |a - b| <= tolerance, which must be finite. */
#define assert_close(a, b, tolerance) \
    do { \
        double a_ = (a), b_ = (b), t_ = (tolerance); \
        if (!(fabs(a_ - b_) <= t_)) fail_msg("%s = %.17g, expected %s = %.17g within %.3g", #a, a_, #b, b_, t_); \
    } while (0)

#define assert_at_most(a, b) \
    do { \
        double a_ = (a), b_ = (b); \
        if (!(a_ <= b_)) fail_msg("%s = %.17g is not at most %s = %.17g", #a, a_, #b, b_); \
    } while (0)

static inline nb_choice choose(const nb_registry *registry, const char *text, nb_ctx *ctx)
{
    nb_choice choice = {.component = NULL};
    assert_ok(ctx, nb_choice_parse(registry, text, &choice, ctx));
    return choice;
}

/* The component by its name; one that takes long as it comes, with less work of the
 * same kind. */
static inline const char *spec_of(const nb_component *c)
{
    static const char *const shorter[] = {"optimized(steps=3)", NULL};
    size_t length = strlen(c->name);
    for (int i = 0; shorter[i]; i++)
        if (!strncmp(shorter[i], c->name, length) && shorter[i][length] == '(') return shorter[i];
    return c->name;
}

/* Trial `trial` of head `head` of a problem. */
static inline nb_head make_head(const char *problem, int head, int trial, nb_ctx *ctx)
{
    nb_choice choice = choose(&nb_problems, problem, ctx);
    nb_head out = {.n = 0};
    gsl_rng *rng = NULL;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    assert_ok(ctx, nb_heads_make(&choice, head, (nb_stream){.seed = 1, .trial = trial}, rng, &out, ctx));
    return out;
}

static inline int make_ctx(void **state)
{
    return (*state = nb_ctx_new()) ? 0 : -1;
}

static inline int free_ctx(void **state)
{
    nb_ctx_free(*state);
    return 0;
}

#define test_with_ctx(function) cmocka_unit_test_setup_teardown(function, make_ctx, free_ctx)

#endif
