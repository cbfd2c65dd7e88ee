/* lies.c - a plugin whose tables are wrong in one way, LIE; 0: in none. For
 * tests/cli/bad_input.bats. */
#undef NB_IN_TREE
#include "strategies/strategy.h"
#include "cores/core.h"
#include "kernels/kernel.h"
#include "problems/problem.h"

typedef struct {
    int m;
    double x;
#if LIE == 25
    double y;
#endif
} lies_options;

static const char *const references[] = {LIE == 10 ? NULL : "none: made to fail", NULL};
static const char *const *const choices = NULL;

static const nb_option options[] = {
#if LIE == 5
    {.key = "m", .type = NB_OPTION_INT, .offset = 2, .initial = "1", .lo = 1, .hi = 9, .help = "a number"},
#elif LIE == 6
    {.key = "m", .type = NB_OPTION_INT, .offset = 0, .initial = "1", .lo = 1, .hi = 9},
#elif LIE == 7
    {.key = "m", .type = NB_OPTION_ENUM, .offset = 0, .initial = "1", .choices = choices, .help = "one of none"},
#elif LIE == 8
    {.key = "m",
     .type = NB_OPTION_SPEC,
     .offset = 0,
     .initial = "1",
     .registry = (const nb_registry *)(const void *)&references,
     .help = "of what is no registry"},
#else
    NB_INT(lies_options, m, "1", 1, 9, "a number"),
#endif
#if LIE == 4
    {.key = "x", .type = NB_OPTION_REAL, .offset = 0, .initial = "1", .lo = 1, .hi = 9, .help = "the same bytes"},
#else
    NB_REAL(lies_options, x, "1", 1, 9, "a number"),
#endif
#if LIE == 25
    {.key = "y",
     .type = NB_OPTION_REAL,
     .offset = offsetof(lies_options, y),
     .initial = "1",
     .lo = 1,
     .hi = 9,
     .for_key = "m",
     .help = "for no value"},
#endif
#if LIE == 3
    {.key = "garbage", .type = (nb_option_type)77},
#endif
    NB_OPTION_END};

static nb_status pick(const nb_points *points, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    (void)points, (void)o, (void)ctx;
    NB_NEED(tokens, nb_picks_tokens(picks, m));
    for (int j = 0; j < m; j++) tokens[j] = j;
    return NB_OK;
}

#define COMPONENT \
    { \
        LIE == 9 ? "Lies!" : "lies", LIE == 11 ? "" : "a strategy that lies", references, LIE == 12 ? NULL : options, \
            LIE == 1   ? sizeof(int) * 2 \
            : LIE == 2 ? 1000000000000 \
                       : sizeof(lies_options) \
    }

static const nb_strategy strategy = {.component = COMPONENT,
                                     .traits = LIE == 17 ? 1 << 20 : NB_RANDOM | NB_SQUARE | NB_EIGEN,
                                     .pairing = LIE == 15   ? NB_BOTH
                                                : LIE == 16 ? (nb_pairing)9
                                                            : NB_INDEPENDENT,
                                     .pick = LIE == 14 ? NULL : pick};
static nb_status compute(nb_factors *f, const void *o, double *x, nb_ctx *ctx)
{
    (void)o, (void)ctx;
    for (int i = 0; i < nb_factors_m(f) * nb_factors_m(f); i++) x[i] = 0;
    return NB_OK;
}

static const nb_core core = {.component = COMPONENT,
                             .traits = LIE == 13 ? NB_CORE_IDENTITY : NB_CORE_FILTER | NB_CORE_RANDOM | NB_CORE_ORACLE,
                             .compute = LIE == 21 ? NULL : compute};
static const nb_problem problem = {.component = COMPONENT};
static const nb_kernel kernel = {.component = COMPONENT};

static const nb_plugin_part parts[] = {
#if LIE == 0 || LIE == 13 || LIE == 21
    {"core", &core.component},
#elif LIE == 22
    {"problem", &problem.component},
#elif LIE == 23
    {"kernel", &kernel.component},
#endif
#if (LIE < 20 && LIE != 13) || LIE > 23
    {LIE == 18 ? "strategem" : "strategy", &strategy.component},
#endif
#if LIE == 24
    {"strategy", &strategy.component},
#endif
    {NULL, NULL}};

/* What is not used under one lie is under another. */
const void *const lies_all[] = {&core, &problem, &kernel, &strategy, &choices};

extern const nb_plugin nysbench_plugin;
const nb_plugin nysbench_plugin = {NB_ABI + (LIE == 19), parts};
