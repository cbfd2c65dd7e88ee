/* bad.c - strategies that break one promise each, for tests/cli/plugins.bats. */
#include "strategy.h"

#include <unistd.h>

static const char *const references[] = {"none: made to fail", NULL};
static const nb_option options[] = {NB_OPTION_END};

/* Tokens 0 ... m-1, where they are good. */
static nb_status first(int m, nb_picks *picks, int **tokens)
{
    NB_NEED(*tokens, nb_picks_tokens(picks, m));
    for (int j = 0; j < m; j++) (*tokens)[j] = j;
    return NB_OK;
}

static nb_status out_of_range(const nb_points *points, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    (void)o;
    NB_TRY(ctx, first(m, picks, &tokens));
    tokens[m - 1] = points->n;
    return NB_OK;
}

static nb_status overrun(const nb_points *points, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    (void)points, (void)o;
    NB_TRY(ctx, first(m, picks, &tokens));
    *(volatile int *)(tokens + m) = 0;
    return NB_OK;
}

static nb_status unrepeatable(const nb_points *points, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    static int calls;
    int *tokens;
    (void)o;
    NB_TRY(ctx, first(m, picks, &tokens));
    tokens[0] = m < points->n && calls++ % 2 ? m : 0;
    return NB_OK;
}

static nb_status writes_input(const nb_points *points, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    (void)o;
    ((double *)points->x)[0] += 1;
    NB_TRY(ctx, first(m, picks, &tokens));
    return NB_OK;
}

static nb_status crashes(const nb_points *points, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    (void)points, (void)o;
    NB_TRY(ctx, first(m, picks, &tokens));
    if (m > 3) *(volatile int *)8 = 1;
    return NB_OK;
}

static nb_status hangs(const nb_points *points, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    (void)points, (void)m, (void)o, (void)picks, (void)ctx;
    for (;;) pause();
    return NB_OK;
}

static nb_status not_random(const nb_points *points, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    (void)points, (void)o, (void)ctx;
    return first(m, picks, &tokens);
}

static nb_status swallows(const nb_points *points, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    (void)points, (void)o;
    NB_REQUIRE(ctx, nb_alloc(ctx, 10, 10), NB_EINVAL, "something else");
    return first(m, picks, &tokens);
}

#define BAD(symbol, traits_) \
    const nb_strategy nb_strategy_##symbol; \
    const nb_strategy nb_strategy_##symbol = {.component = {#symbol, "breaks a promise", references, options, 0}, \
                                              .traits = traits_, \
                                              .pairing = NB_JOINT, \
                                              .pick = symbol}
BAD(out_of_range, 0);
BAD(overrun, 0);
BAD(unrepeatable, 0);
BAD(writes_input, 0);
BAD(crashes, 0);
BAD(hangs, 0);
BAD(not_random, NB_RANDOM);
BAD(swallows, 0);

NB_PLUGIN({"strategy", &nb_strategy_out_of_range.component}, {"strategy", &nb_strategy_overrun.component},
          {"strategy", &nb_strategy_unrepeatable.component}, {"strategy", &nb_strategy_writes_input.component},
          {"strategy", &nb_strategy_crashes.component}, {"strategy", &nb_strategy_hangs.component},
          {"strategy", &nb_strategy_not_random.component}, {"strategy", &nb_strategy_swallows.component});
