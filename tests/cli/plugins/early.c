/* early.c - a plug-in that does harm before anything runs: at the place EARLY, a number, in the way HARM, both from the
 * environment. With SPARED, a file that is not there, its first constructor does none and makes it. Each constructor
 * adds its process and that one's parent to the file LOADS. For tests/cli/plugins.bats. */
#include "attentions/attention.h"
#include "cores/core.h"
#include "problems/problem.h"
#include "strategy.h"

#include <fcntl.h>
#include <fenv.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CONSTRUCTOR = 1, TRAITS, CHECK, READY, SHAPE, CORE, ATTENTION, MULTIPLICATIONS, COST, DESTRUCTOR, LATER };

static inline void harm(int place)
{
    const char *early = getenv("EARLY"), *way = getenv("HARM");
    if (!early || !way || atoi(early) != place) return;
    puts("a plug-in prints");
    if (strcmp(way, "abort") == 0) abort();
    if (strcmp(way, "exit 0") == 0) exit(0);
    if (strcmp(way, "exit 3") == 0) exit(3);
    if (strcmp(way, "round") == 0) fesetround(FE_UPWARD);
    if (strcmp(way, "move") == 0 && chdir("/") != 0) abort();
    if (strcmp(way, "mask") == 0) umask(0777);
    if (strcmp(way, "few files") == 0) setrlimit(RLIMIT_NOFILE, &(struct rlimit){4, 4});
    if (strcmp(way, "no children") == 0) signal(SIGCHLD, SIG_IGN);
    if (strcmp(way, "environment") == 0) setenv("TMPDIR", "/nowhere", 1);
    if (strcmp(way, "renew") == 0) utimensat(AT_FDCWD, getenv("RENEWED"), NULL, 0);
    if (strcmp(way, "handler") == 0) gsl_set_error_handler(NULL);
    if (strcmp(way, "close") == 0) closefrom(0);
    while (strcmp(way, "hang") == 0) pause();
}

__attribute__((constructor)) static void begin(void)
{
    const char *loads = getenv("LOADS"), *spared = getenv("SPARED");
    FILE *told = loads ? fopen(loads, "a") : NULL;
    if (told) fprintf(told, "%d %d\n", (int)getpid(), (int)getppid());
    if (told) fclose(told);
    int first = spared ? open(spared, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (first >= 0) close(first);
    if (first < 0) harm(CONSTRUCTOR);
}

__attribute__((destructor)) static void end(void)
{
    harm(DESTRUCTOR);
}

/* LATER: where n is not that of a first trial. */
static double multiplications(const void *o, int n, int d, int m)
{
    (void)o;
    harm(n == 64 ? MULTIPLICATIONS : LATER);
    return (double)n * d * m;
}

static nb_core_cost core_cost(const void *o, int n, int m)
{
    (void)o;
    harm(n == 64 ? COST : LATER);
    return (nb_core_cost){.multiplications = (double)n * m};
}

static unsigned traits_of(const void *o)
{
    (void)o;
    harm(TRAITS);
    return 0;
}

static nb_status check(const void *o, nb_ctx *ctx)
{
    (void)o, (void)ctx;
    harm(CHECK);
    return NB_OK;
}

static nb_status ready(const void *o, nb_ctx *ctx)
{
    (void)o, (void)ctx;
    harm(READY);
    return NB_OK;
}

static nb_status shape(const void *o, nb_problem_shape *s, nb_ctx *ctx)
{
    (void)o, (void)ctx;
    harm(SHAPE);
    *s = (nb_problem_shape){.count = 1, .n = 9, .d = 2};
    return NB_OK;
}

static nb_status make(const void *o, int head, nb_head *out, nb_ctx *ctx)
{
    (void)o, (void)head;
    NB_TRY(ctx, nb_head_new(9, 2, out, ctx));
    for (int i = 0; i < 18; i++) out->q[i] = out->k[i] = i;
    return NB_OK;
}

static nb_status pick(const nb_points *p, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    (void)p, (void)o, (void)ctx;
    NB_NEED(tokens, nb_picks_tokens(picks, m));
    for (int j = 0; j < m; j++) tokens[j] = j;
    return NB_OK;
}

static unsigned core_traits_of(const void *o)
{
    (void)o;
    harm(CORE);
    return 0;
}

static nb_status compute(nb_factors *f, const void *o, double *x, nb_ctx *ctx)
{
    (void)o, (void)ctx;
    for (int i = 0; i < nb_factors_m(f) * nb_factors_m(f); i++) x[i] = 0;
    return NB_OK;
}

static nb_status attention_check(const void *o, nb_ctx *ctx)
{
    (void)o, (void)ctx;
    harm(ATTENTION);
    return NB_OK;
}

static nb_attention_cost cost(const void *o, const nb_layer_shape *shape, int threads)
{
    (void)o, (void)threads;
    harm(shape->n == 64 ? COST : LATER);
    return (nb_attention_cost){.multiplications = 0};
}

static nb_status open_layer(const void *o, const nb_layer_shape *shape, int threads, void **state, nb_ctx *ctx)
{
    (void)o, (void)shape, (void)threads, (void)state, (void)ctx;
    return NB_OK;
}

static nb_status forward(nb_pass *pass, const void *o, nb_ctx *ctx)
{
    const nb_layer_shape *s = &pass->layer->shape;
    (void)o, (void)ctx;
    memset(pass->out, 0, (size_t)s->batch * (size_t)s->heads * (size_t)s->n * (size_t)s->dv * sizeof *pass->out);
    return NB_OK;
}

static const char *const references[] = {"none: made to fail", NULL};
static const nb_option options[] = {NB_OPTION_END};
static const nb_strategy early = {.component = {"early", "does harm before anything runs", references, options, 0},
                                  .pairing = NB_JOINT,
                                  .traits_of = traits_of,
                                  .check = check,
                                  .ready = ready,
                                  .pick = pick,
                                  .multiplications = multiplications};
static const nb_problem origin = {
    {"early_problem", "does harm before anything runs", references, options, 0}, .shape = shape, .make = make};
static const nb_core zero = {.component = {"early_core", "does harm before anything runs", references, options, 0},
                             .traits_of = core_traits_of,
                             .compute = compute,
                             .cost = core_cost};
static const nb_attention nothing = {
    .component = {"early_attention", "does harm before anything runs", references, options, 0},
    .check = attention_check,
    .cost = cost,
    .open = open_layer,
    .forward = forward};
NB_PLUGIN({"core", &zero.component}, {"attention", &nothing.component}, {"strategy", &early.component},
          {"problem", &origin.component});
