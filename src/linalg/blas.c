/* blas.c - which of OpenBLAS's kernels, and the second start. */
#include "linalg/blas.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define GUARD "NYSBENCH_STARTED_AGAIN"

enum { SSE, AVX, AVX2, AVX512 };

/* What kernels need, from OpenBLAS's driver/others/dynamic.c; those of the same
 * level differ little. The names are matched without regard to case, as
 * OPENBLAS_CORETYPE is. */
static const struct {
    const char *name;
    int level;
    bool amd_only; /* use instructions that others lack (FMA4) */
} cores[] = {
    {"Katmai", SSE, false},      {"Coppermine", SSE, false}, {"Northwood", SSE, false},  {"Prescott", SSE, false},
    {"Banias", SSE, false},      {"Core2", SSE, false},      {"Penryn", SSE, false},     {"Dunnington", SSE, false},
    {"Nehalem", SSE, false},     {"Atom", SSE, false},       {"Athlon", SSE, true},      {"Opteron", SSE, true},
    {"Opteron_SSE3", SSE, true}, {"Barcelona", SSE, true},   {"Bobcat", SSE, true},      {"Nano", SSE, false},
    {"Sandybridge", AVX, false}, {"Bulldozer", AVX, true},   {"Piledriver", AVX, true},  {"Steamroller", AVX, true},
    {"Excavator", AVX2, true},   {"Haswell", AVX2, false},   {"Zen", AVX2, false},       {"SkylakeX", AVX512, false},
    {"Cooperlake", AVX512, false}, {"SapphireRapids", AVX512, false},
};
enum { CORES = sizeof cores / sizeof *cores };

static int find(const char *name)
{
    int i = 0;
    while (i < CORES && strcasecmp(cores[i].name, name) != 0) i++;
    return i < CORES ? i : -1;
}

static int level(const nb_blas_situation *s)
{
    return s->avx512 ? AVX512 : s->avx2_fma ? AVX2 : s->avx ? AVX : SSE;
}

const char *nb_blas_best(const nb_blas_situation *s)
{
    if (s->avx512) return "SkylakeX";
    if (s->avx2_fma) return s->amd ? "Zen" : "Haswell";
    return NULL;
}

static bool supported(const nb_blas_situation *s, int core)
{
    bool newer = strcasecmp(cores[core].name, "Cooperlake") == 0 || strcasecmp(cores[core].name, "SapphireRapids") == 0;
    if (newer && (!s->running || strcasecmp(s->running, cores[core].name) != 0)) return false; /* needs more than F, DQ, BW, VL */
    return cores[core].level <= level(s) && (s->amd || !cores[core].amd_only);
}

static nb_status refuse(const nb_blas_situation *s, const char *why, nb_ctx *ctx)
{
    const char *allowed = "";
    for (int i = 0; i < CORES; i++)
        if (supported(s, i)) NB_NEED(allowed, nb_format(ctx, "%s%s%s", allowed, *allowed ? ", " : "", cores[i].name));
    NB_FAIL(ctx, NB_EINVAL, "OPENBLAS_CORETYPE=%s: %s; this CPU allows %s", s->core_type, why, allowed);
}

/* Kernels that the table does not know are newer than it: not worse. */
static bool worse(const nb_blas_situation *s)
{
    const char *best = nb_blas_best(s);
    int running = s->running ? find(s->running) : -1;
    return best && running >= 0 && cores[running].level < cores[find(best)].level;
}

nb_status nb_blas_decide(const nb_blas_situation *s, nb_blas_decision *decision, nb_ctx *ctx)
{
    *decision = (nb_blas_decision){.core_type = NULL};
    if (s->core_type && *s->core_type && !s->again) {
        int core = find(s->core_type);
        if (core < 0) return refuse(s, "OpenBLAS has no such kernels", ctx);
        if (!supported(s, core)) return refuse(s, "this CPU does not support these kernels", ctx);
    }
    if (s->again) return NB_OK;
    if (!(s->core_type && *s->core_type) && worse(s)) decision->core_type = nb_blas_best(s);
    decision->set_threads = !s->threads_set;
    return NB_OK;
}

static nb_blas_situation look(void)
{
    __builtin_cpu_init();
    return (nb_blas_situation){
        .amd = __builtin_cpu_is("amd"),
        .avx = __builtin_cpu_supports("avx"),
        .avx2_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"),
        .avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                  __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"),
        .running = openblas_get_corename(),
        .core_type = getenv("OPENBLAS_CORETYPE"),
        .threads_set = getenv("OPENBLAS_NUM_THREADS") || getenv("OMP_NUM_THREADS"),
        .again = getenv(GUARD),
    };
}

/* After the second start the kernels should be those that it was for. */
static void check_again(const nb_blas_situation *s)
{
    const char *wanted = getenv(GUARD);
    if (wanted && *wanted && strcasecmp(wanted, s->running) != 0)
        fprintf(stderr, "nysbench: warning: OpenBLAS uses its %s kernels although OPENBLAS_CORETYPE asks for %s\n", s->running, wanted);
}

nb_status nb_blas_start(char **argv, nb_ctx *ctx)
{
    nb_blas_situation s = look();
    nb_blas_decision decision;
    NB_TRY(ctx, nb_blas_decide(&s, &decision, ctx));
    check_again(&s);
    unsetenv(GUARD);
    if (!decision.core_type && !decision.set_threads) return NB_OK;
    if (decision.core_type) setenv("OPENBLAS_CORETYPE", decision.core_type, 1);
    if (decision.set_threads) setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv(GUARD, decision.core_type ? decision.core_type : "", 1);
    execv("/proc/self/exe", argv);
    unsetenv(GUARD);
    if (decision.set_threads) openblas_set_num_threads(1); /* no second start: the best that is left */
    return NB_OK;
}

void nb_blas_describe(nb_blas_info *info)
{
    nb_blas_situation s = look();
    const char *best = nb_blas_best(&s);
    *info = (nb_blas_info){.config = openblas_get_config(),
                           .kernels = s.running,
                           .best = best ? best : s.running,
                           .threads = openblas_get_num_threads(),
                           .worse = worse(&s)};
}
