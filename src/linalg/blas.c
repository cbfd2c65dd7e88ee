/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blas.c - which of OpenBLAS's kernels, and the second start. */
#include "linalg/blas.h"

#include "base/builder.h"
#include "base/numbers.h"
#include "base/process.h"
#include "linalg/linalg.h"

#include <cblas.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#define GUARD "NYSBENCH_STARTED_AGAIN"

enum { SSE, AVX, AVX2, AVX512 };
enum { FMA4 = 1, THREEDNOW = 2 };

/* The CPU features that kernels need, from OpenBLAS 0.3.21's driver/others/dynamic.c and from the instructions in its
 * kernels; those of the same level differ little. Names are matched without regard to case, as in OPENBLAS_CORETYPE;
 * with any other name OpenBLAS keeps the kernels that the CPU's feature flags suggest. */
static const struct {
    const char *name;
    int level, extra;
} cores[] = {
    {"Katmai", SSE, 0},
    {"Coppermine", SSE, 0},
    {"Northwood", SSE, 0},
    {"Prescott", SSE, 0},
    {"Banias", SSE, 0},
    {"Core2", SSE, 0},
    {"Penryn", SSE, 0},
    {"Dunnington", SSE, 0},
    {"Nehalem", SSE, 0},
    {"Atom", SSE, 0},
    {"Athlon", SSE, 0},
    {"Opteron", SSE, THREEDNOW},
    {"Opteron_SSE3", SSE, THREEDNOW},
    {"Barcelona", SSE, 0},
    {"Bobcat", SSE, 0},
    {"Nano", SSE, 0},
    {"Sandybridge", AVX, 0},
    {"Bulldozer", AVX, FMA4},
    {"Piledriver", AVX, FMA4},
    {"Steamroller", AVX, FMA4},
    {"Excavator", AVX2, FMA4},
    {"Haswell", AVX2, 0},
    {"Zen", AVX2, 0},
    {"SkylakeX", AVX512, 0},
    {"Cooperlake", AVX512, 0},
    {"SapphireRapids", AVX512, 0},
};
enum { CORES = sizeof cores / sizeof *cores };

static int find_core(const char *name)
{
    int i = 0;
    while (i < CORES && strcasecmp(cores[i].name, name) != 0) i++;
    return i < CORES ? i : -1;
}

static int level(const nb_blas_situation *s)
{
    return s->avx512 ? AVX512 : s->avx2_fma ? AVX2 : s->avx ? AVX : SSE;
}

/* Returns the kernels to set if OpenBLAS chose kernels for an older CPU, or NULL to leave the choice to it. Its choice
 * of others for the same instructions, such as Cooperlake beside SkylakeX, stands. */
static const char *best_kernels(const nb_blas_situation *s)
{
    if (s->avx512) return "SkylakeX";
    if (s->avx2_fma) return s->amd ? "Zen" : "Haswell";
    return NULL;
}

/* These need more than F, DQ, BW and VL. 0.3.21 takes neither name: it may run Cooperlake where bf16 is there, but only
 * of itself; 0.3.29 takes that one. */
static bool beyond(int core)
{
    return strcasecmp(cores[core].name, "Cooperlake") == 0 || strcasecmp(cores[core].name, "SapphireRapids") == 0;
}

static bool supported(const nb_blas_situation *s, int core)
{
    if (beyond(core) && (!s->running || strcasecmp(s->running, cores[core].name) != 0)) return false;
    int extra = (s->fma4 ? FMA4 : 0) | (s->threednow ? THREEDNOW : 0);
    return cores[core].level <= level(s) && (cores[core].extra & ~extra) == 0;
}

static nb_status refuse(const nb_blas_situation *s, const char *why, nb_ctx *ctx)
{
    nb_string allowed = NB_NO_TEXT;
    for (int i = 0; i < CORES; i++)
        if (supported(s, i)) NB_TRY(ctx, nb_append_item(&allowed, ", ", ctx, "%s", cores[i].name));
    NB_FAIL(ctx, NB_EINVAL, "OPENBLAS_CORETYPE=%s: %s; this CPU allows %s", s->core_type, why, allowed.text);
}

/* Kernels that the table does not know are newer than it: not worse. */
static bool worse(const nb_blas_situation *s)
{
    const char *best = best_kernels(s);
    int running = s->running ? find_core(s->running) : -1;
    return best && running >= 0 && cores[running].level < cores[find_core(best)].level;
}

nb_status nb_blas_decide(const nb_blas_situation *s, nb_blas_decision *decision, nb_ctx *ctx)
{
    *decision = (nb_blas_decision){.core_type = NULL};
    if (s->core_type && *s->core_type && !s->again) {
        int core = find_core(s->core_type);
        if (core < 0) return refuse(s, "OpenBLAS has no such kernels", ctx);
        if (!supported(s, core))
            return refuse(s,
                          beyond(core) ? "this CPU or this OpenBLAS does not support these kernels"
                                       : "this CPU does not support these kernels",
                          ctx);
    }
    if (s->again) return NB_OK;
    if (!(s->core_type && *s->core_type) && worse(s)) decision->core_type = best_kernels(s);
    decision->set_threads = !s->threads_set;
    return NB_OK;
}

static bool given(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

static nb_blas_situation find_situation(void)
{
    nb_blas_situation s = {
        .running = openblas_get_corename(),
        .threads_set = given("OPENBLAS_NUM_THREADS") || given("OMP_NUM_THREADS"),
        .again = getenv(GUARD),
    };
#ifdef __x86_64__ /* other CPUs have other names, of which nothing is known here */
    unsigned a, b, c = 0, d = 0;
    __builtin_cpu_init();
    s.amd = __builtin_cpu_is("amd");
    s.avx = __builtin_cpu_supports("avx");
    s.avx2_fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    s.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
    if (__get_cpuid(0x80000001, &a, &b, &c, &d)) {
        s.fma4 = c & bit_FMA4;
        s.threednow = d & bit_3DNOW;
    }
    s.core_type = getenv("OPENBLAS_CORETYPE");
#endif
    return s;
}

nb_status nb_blas_start(char **argv, nb_ctx *ctx)
{
    nb_blas_situation s = find_situation();
    nb_blas_decision decision;
    NB_TRY(ctx, nb_blas_decide(&s, &decision, ctx));
    const char *wanted = getenv(GUARD); /* after the second start: the kernels that it was for */
    if (wanted && *wanted && strcasecmp(wanted, s.running) != 0)
        fprintf(stderr, "nysbench: warning: OpenBLAS uses its %s kernels although OPENBLAS_CORETYPE asks for %s\n",
                s.running, wanted);
    unsetenv(GUARD);
    if (s.again) prctl(PR_SET_NAME, program_invocation_short_name); /* ps and top would show "exe" */
    if (!decision.core_type && !decision.set_threads) return NB_OK;
    if (decision.core_type) setenv("OPENBLAS_CORETYPE", decision.core_type, 1);
    if (decision.set_threads) setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv(GUARD, decision.core_type ? decision.core_type : "", 1);
    execv("/proc/self/exe", argv);
    const char *why = strerror(errno);
    unsetenv(GUARD);
    if (decision.set_threads) openblas_set_num_threads(1);
    if (decision.core_type)
        fprintf(stderr, "nysbench: warning: OpenBLAS stays with its %s kernels: the second start failed: %s\n",
                s.running, why);
    return NB_OK;
}

nb_status nb_blas_warm_up(nb_ctx *ctx)
{
    enum { M = 128 };
    double *a;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(a, nb_alloc_reals(ctx, M, 3 * M));
    nb_gemm(NB_PLAIN, NB_PLAIN, M, M, M, 1, a, M, a + M * M, M, 0, a + 2 * M * M, M);
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

static bool is_limited(int resource)
{
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
}

bool nb_blas_memory_is_limited(void)
{
    return is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA);
}

/* Ends this process when it has computed for so long, without a dump of its memory. */
static void limit_computing(rlim_t seconds)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) != 0 || limit.rlim_cur <= seconds) return;
    limit.rlim_cur = seconds;
    if (setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0}) == 0) (void)setrlimit(RLIMIT_CPU, &limit);
}

/* OpenBLAS retries forever if memory is short. */
nb_status nb_blas_take_memory(nb_ctx *ctx)
{
    enum { COMPUTING_S = 1, PATIENCE_S = 10 }; /* for a product that takes a hundredth of a second */
    pid_t pid;
    nb_ending ending;
    if (!nb_blas_memory_is_limited()) return NB_OK;
    NB_TRY(ctx, nb_process_fork(&pid, ctx));
    if (pid == 0) {
        limit_computing(COMPUTING_S);
        _exit(nb_blas_warm_up(ctx) == NB_OK ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    NB_TRY(ctx, nb_process_await(pid, PATIENCE_S, &ending, ctx));
    NB_REQUIRE(
        ctx, !ending.timed_out && ending.how == 0, NB_EINVAL,
        "the memory that this process may take (ulimit -v, ulimit -d) is too little for OpenBLAS: raise the limit");
    return nb_blas_warm_up(ctx);
}

/* OpenBLAS's own, which it calls before a fork; one that was built without threads has none. */
extern int blas_thread_shutdown_(void) __attribute__((weak));

void nb_blas_end_threads(void)
{
    if (blas_thread_shutdown_) blas_thread_shutdown_();
}

int nb_blas_most_threads(void)
{
    const char *key = "MAX_THREADS=", *found = strstr(openblas_get_config(), key);
    long long most = 1;
    if (found) nb_integer_at(found + strlen(key), 1, INT_MAX, &most);
    return (int)most;
}

nb_status nb_blas_set_threads(int threads, nb_ctx *ctx)
{
    if (openblas_get_num_threads() != threads) openblas_set_num_threads(threads);
    int now = openblas_get_num_threads();
    NB_REQUIRE(ctx, now == threads, NB_EINVAL, "OpenBLAS uses %d threads where %d were asked for", now, threads);
    return NB_OK;
}

/* The environment as it was at the start: the guard is gone from the present one. */
static bool restarted(void)
{
    FILE *in = fopen("/proc/self/environ", "r");
    char *entry = NULL;
    size_t size = 0;
    bool found = false;
    while (in && !found && getdelim(&entry, &size, '\0', in) > 0) found = strncmp(entry, GUARD "=", sizeof GUARD) == 0;
    free(entry);
    if (in) fclose(in);
    return found;
}

void nb_blas_describe(nb_blas_info *info)
{
    nb_blas_situation s = find_situation();
    const char *best = best_kernels(&s);
    *info = (nb_blas_info){.config = openblas_get_config(),
                           .kernels = s.running,
                           .best = worse(&s) ? best : s.running,
                           .threads = openblas_get_num_threads(),
                           .int_bits = strstr(openblas_get_config(), "USE64BITINT") ? 64 : 32,
                           .worse = worse(&s),
                           .restarted = restarted()};
}
