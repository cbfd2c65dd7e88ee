/* villains.c - strategies that harm whoever runs them, and cores that do, for
 * tests/cli/isolation.bats. With m <= `from` they behave. */
#include "cores/core.h"
#include "nystrom/scene_record.h"
#include "strategy.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    int from;
} villain_options;

static const char *const references[] = {"none: made to fail", NULL};
static const nb_option options[] = {
    NB_INT(villain_options, from, "0", 0, 1000000, "with no more landmarks than that it does nothing wrong"),
    NB_OPTION_END};

/* Tokens 0 ... m-1, where they are good. */
static nb_status first(int m, nb_picks *picks, int **tokens)
{
    NB_NEED(*tokens, nb_picks_tokens(picks, m));
    for (int j = 0; j < m; j++) (*tokens)[j] = j;
    return NB_OK;
}

static void wait_forever(void)
{
    for (;;) pause();
}

static void segfault(const nb_points *p, int *tokens, int m)
{
    (void)p, (void)tokens, (void)m;
    *(volatile int *)8 = 1;
}

static void aborts(const nb_points *p, int *tokens, int m)
{
    (void)p, (void)tokens, (void)m;
    abort();
}

static int deeper(volatile int *above)
{
    volatile int here[1000] = {*above + 1};
    return here[0] < 0 ? 0 : deeper(here) + here[0]; /* positive until the stack ends */
}

static void recurse(const nb_points *p, int *tokens, int m)
{
    (void)p, (void)m;
    tokens[0] = deeper(tokens);
}

static void hang(const nb_points *p, int *tokens, int m)
{
    (void)p, (void)tokens, (void)m;
    wait_forever();
}

static void deaf(const nb_points *p, int *tokens, int m)
{
    (void)p, (void)tokens, (void)m;
    signal(SIGTERM, SIG_IGN);
    wait_forever();
}

/* Never frees, and ends when there is no more: what runs next in its process runs short. */
static void hoard(const nb_points *p, int *tokens, int m)
{
    (void)p, (void)tokens, (void)m;
    for (size_t bytes = (size_t)1 << 24; bytes >= 64;) {
        char *more = malloc(bytes);
        if (more)
            memset(more, 1, bytes);
        else
            bytes /= 2;
    }
}

static void leave(const nb_points *p, int *tokens, int m)
{
    (void)p, (void)tokens, (void)m;
    exit(0);
}

static void closes(const nb_points *p, int *tokens, int m)
{
    (void)p, (void)tokens, (void)m;
    close(3);
    wait_forever();
}

static void babble(const nb_points *p, int *tokens, int m)
{
    char noise[700];
    (void)p, (void)tokens, (void)m;
    memset(noise, 'x', sizeof noise);
    if (write(3, noise, sizeof noise) < 0) abort();
}

/* Spoils what others will use later, and gets away with it. */
static void spoil(const nb_points *p, int *tokens, int m)
{
    (void)tokens, (void)m;
    memset((void *)p->scene->ctx, 8, sizeof(void *));
}

static void orphans(const nb_points *p, int *tokens, int m)
{
    (void)p, (void)tokens, (void)m;
    if (fork() == 0) {
        if (fork() == 0) {
            setpgid(0, 0);
            execlp("sleep", "sleep", "41.3", (char *)NULL);
        }
        _exit(0);
    }
    wait(NULL);
    abort();
}

static void repeat(const nb_points *p, int *tokens, int m)
{
    (void)p;
    tokens[m - 1] = tokens[0];
    if (m == 1) tokens[0] = -1;
}

/* From outside, as far as its parent can tell. */
static void killed(const nb_points *p, int *tokens, int m)
{
    (void)p, (void)tokens, (void)m;
    kill(getpid(), SIGKILL);
}

/* Writes into all memory that it shares with other processes, and ends if there is any. */
static void scribble(const nb_points *p, int *tokens, int m)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[600], access[8];
    unsigned long from, to;
    bool found = false;
    (void)p, (void)tokens, (void)m;
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s", &from, &to, access) != 3 || strcmp(access, "rw-s") != 0) continue;
        memset((void *)from, 0xa5, to - from);
        found = true;
    }
    if (!maps || found) abort();
    fclose(maps);
}

#define VILLAIN(symbol) \
    static nb_status pick_##symbol(const nb_points *p, int m, const void *o, nb_picks *picks, nb_ctx *ctx) \
    { \
        int *tokens; \
        NB_TRY(ctx, first(m, picks, &tokens)); \
        if (m > ((const villain_options *)o)->from) symbol(p, tokens, m); \
        return NB_OK; \
    } \
    static const nb_strategy villain_##symbol = { \
        .component = {#symbol, "harms", references, options, sizeof(villain_options)}, \
        .pairing = NB_JOINT, \
        .pick = pick_##symbol};
VILLAIN(segfault)
VILLAIN(aborts)
VILLAIN(recurse)
VILLAIN(hang)
VILLAIN(deaf)
VILLAIN(hoard)
VILLAIN(leave)
VILLAIN(closes)
VILLAIN(babble)
VILLAIN(spoil)
VILLAIN(orphans)
VILLAIN(repeat)
VILLAIN(killed)
VILLAIN(scribble)

static nb_status allocate(const nb_points *p, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    (void)p, (void)m, (void)o, (void)picks;
    for (;;) {
        double *more;
        NB_NEED(more, nb_alloc_reals(ctx, 1 << 16, 64));
        memset(more, 1, 64 << 19);
    }
}

static nb_status nan_points(const nb_points *p, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    double *x;
    (void)o, (void)ctx;
    NB_NEED(x, nb_picks_points(picks, p->d, m));
    for (int i = 0; i < m * p->d; i++) x[i] = NAN;
    return NB_OK;
}

static const nb_strategy villain_allocate = {
    .component = {"allocate", "harms", references, options, sizeof(villain_options)},
    .pairing = NB_JOINT,
    .pick = allocate};
static const nb_strategy villain_nan_points = {
    .component = {"nan_points", "harms", references, options, sizeof(villain_options)},
    .pairing = NB_INDEPENDENT,
    .pick = nan_points};

/* Does no harm: says whether it finds what it asks for. */
static nb_status asks(const nb_points *p, int m, const void *o, nb_picks *picks, nb_ctx *ctx)
{
    int *tokens;
    const nb_spectrum *s;
    (void)o;
    printf("the singular vectors are %s\n", p->scene->spectrum_count > 0 ? "found" : "computed");
    NB_TRY(ctx, nb_scene_singular_vectors(p->scene, 4, &s, ctx));
    return first(m, picks, &tokens);
}

static const nb_strategy villain_asks = {
    .component = {"asks", "harms nobody", references, options, sizeof(villain_options)},
    .traits = NB_ORACLE,
    .pairing = NB_JOINT,
    .pick = asks};

static nb_status core_crash(nb_factors *f, const void *o, double *x, nb_ctx *ctx)
{
    (void)o, (void)ctx;
    if (nb_factors_m(f) > 3) abort();
    for (int i = 0; i < nb_factors_m(f) * nb_factors_m(f); i++) x[i] = 0;
    return NB_OK;
}

static const nb_core villain_core = {.component = {"core_crash", "harms", references, options, sizeof(villain_options)},
                                     .compute = core_crash};

#define PART(symbol) \
    { \
        "strategy", &villain_##symbol.component \
    }
NB_PLUGIN(PART(segfault), PART(aborts), PART(recurse), PART(hang), PART(deaf), PART(hoard), PART(leave), PART(closes),
          PART(babble), PART(spoil), PART(orphans), PART(repeat), PART(killed), PART(scribble), PART(allocate),
          PART(nan_points), PART(asks), {"core", &villain_core.component});
