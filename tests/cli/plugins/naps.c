/* naps.c - a strategy that sleeps before it picks, for tests of what a run tells while it goes on: the run takes as
 * long as the test needs on any machine, and no CPU. */
#include "strategy.h"

#include <time.h>

typedef struct {
    int ms;
} naps_options;

static const char *const references[] = {"none: a test", NULL};
static const nb_option options[] = {NB_INT(naps_options, ms, "25", 0, 1000, "how long it sleeps"), NB_OPTION_END};

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    const naps_options *o = opts;
    struct timespec left = {.tv_sec = o->ms / 1000, .tv_nsec = o->ms % 1000 * 1000000L};
    int *tokens;
    (void)points, (void)ctx;
    while (nanosleep(&left, &left) != 0) {
    }
    NB_NEED(tokens, nb_picks_tokens(picks, m));
    for (int i = 0; i < m; i++) tokens[i] = i;
    return NB_OK;
}

static const nb_strategy naps = {
    .component = {"naps", "tokens 0 to m - 1, after a nap", references, options, sizeof(naps_options)},
    .pairing = NB_JOINT,
    .pick = pick};
NB_PLUGIN({"strategy", &naps.component});
