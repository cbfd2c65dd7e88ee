/* meddlers.c - components that get away with what they do to their surroundings and to
 * what they are given to read, and harm whoever comes next: for tests/cli/isolation.bats,
 * which takes their names from here. With m <= `from` they behave. */
#include "cores/core.h"
#include "kernels/kernel.h"
#include "nystrom/factors_record.h"
#include "nystrom/scene_record.h"
#include "problems/problem.h"
#include "strategy.h"

#include <cblas.h>
#include <fcntl.h>
#include <fenv.h>
#include <gsl/gsl_errno.h>
#include <locale.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef __x86_64__
#include <xmmintrin.h>
#endif

typedef struct {
    int from;
} meddler_options;

static const char *const references[] = {"none: made to fail", NULL};
static const nb_option options[] = {
    NB_INT(meddler_options, from, "0", 0, 1000000, "with no more landmarks than that it does nothing wrong"),
    NB_OPTION_END};

/* They may be written to, whatever their type says. */
static double *writable(const double *x)
{
    union {
        const double *in;
        double *out;
    } both = {.in = x};
    return both.out;
}

static nb_head *head_of(const nb_points *p)
{
    union {
        const nb_head *in;
        nb_head *out;
    } both = {.in = p->scene->head};
    return both.out;
}

static void limit(int which, rlim_t most)
{
    struct rlimit l = {most, most};
    if (setrlimit((__rlimit_resource_t)which, &l) != 0) abort();
}

/* Each does one thing with p, the points, and o, its options, which its rows have as their
 * reason. */
#define ACT(symbol, changed, ...) \
    static const char reason_##symbol[] = changed; \
    static void symbol(const nb_points *p, const void *o, nb_ctx *ctx) \
    { \
        (void)p, (void)o, (void)ctx; \
        __VA_ARGS__; \
    }
ACT(rounds_up, "changed the floating-point environment", fesetround(FE_UPWARD))
ACT(truncates, "changed the floating-point environment", fesetround(FE_TOWARDZERO))
#ifdef __x86_64__
ACT(flushes_denormals, "changed the floating-point environment", _mm_setcsr(_mm_getcsr() | 0x8040))
ACT(single_x87, "changed the floating-point environment", unsigned short word = 0x007f; __asm__ volatile("fldcw %0"
                                                                                                         :
                                                                                                         : "m"(word)))
#else
ACT(flushes_denormals, "changed the floating-point environment", fesetround(FE_UPWARD))
ACT(single_x87, "changed the floating-point environment", fesetround(FE_UPWARD))
#endif
ACT(traps, "changed the floating-point environment", feenableexcept(FE_INVALID | FE_DIVBYZERO))
ACT(moves, "changed the working folder", if (chdir("/") != 0) abort())
ACT(confines, "changed the root folder",
    if (chroot("/etc") != 0) fesetround(FE_UPWARD)) /* who may not finds something else */
ACT(masks_modes, "changed the file mode mask", umask(0777))
ACT(limits_files, "changed the resource limits", limit(RLIMIT_NOFILE, 5))
ACT(limits_size, "changed the resource limits", limit(RLIMIT_FSIZE, 0))
ACT(limits_processes, "changed the resource limits", limit(RLIMIT_NPROC, 1))
ACT(limits_time, "changed the resource limits", limit(RLIMIT_CPU, 1000))
ACT(ignores_children, "changed the signal handlers", signal(SIGCHLD, SIG_IGN))
ACT(catches_segfaults, "changed the signal handlers", signal(SIGSEGV, SIG_IGN))
ACT(blocks_signals, "changed the blocked signals", sigset_t all; sigfillset(&all); sigprocmask(SIG_SETMASK, &all, NULL))
ACT(sets_alarm, "changed the timers", alarm(1))
ACT(sets_timer, "changed the timers", struct itimerval t = {.it_value = {.tv_sec = 1}};
    setitimer(ITIMER_PROF, &t, NULL))
ACT(more_threads, "changed the number of BLAS threads", openblas_set_num_threads(openblas_get_num_threads() + 1))
ACT(moves_temporary, "changed the environment", setenv("TMPDIR", "/nowhere", 1))
ACT(clears_environment, "changed the environment", clearenv())
ACT(speaks_otherwise, "changed the locale", if (!setlocale(LC_ALL, "C.UTF-8")) fesetround(FE_UPWARD))
ACT(handles_gsl, "changed GSL's error handler", gsl_set_error_handler(NULL))
ACT(closes_input, "changed the standard streams", close(STDIN_FILENO))
ACT(opens_all, "changed the room for open files", while (open("/dev/null", O_RDONLY) >= 0){})
ACT(is_nice, "changed the processors or the priority", setpriority(PRIO_PROCESS, 0, 19))
ACT(leaves_parent, "changed the session, process group or parent's signal", prctl(PR_SET_PDEATHSIG, 0))
ACT(writes_points, "changed [Q; K]", writable(p->x)[0] += 1)
ACT(writes_last_bit, "changed [Q; K]", uint64_t *x = (void *)writable(p->x); x[p->n * p->d - 1] ^= 1)
ACT(writes_nan, "changed [Q; K]", for (int i = 0; i < p->n * p->d; i++) writable(p->x)[i] = NAN)
ACT(swaps_points, "changed [Q; K]", double kept = p->x[0]; writable(p->x)[0] = p->x[p->d]; writable(p->x)[p->d] = kept)
ACT(writes_q, "changed Q", head_of(p)->q[3] = 0)
ACT(writes_k, "changed K", head_of(p)->k[3] = 0)
ACT(writes_v, "changed V", head_of(p)->v[3] = 0)
ACT(writes_head, "changed the head", head_of(p)->q = head_of(p)->k)
ACT(hides_keys, "changed the head", head_of(p)->causal = true)
ACT(writes_positions, "changed the scene", p->scene->positions[1] = 0)
ACT(
    writes_options, "changed its options",
    union {
        const void *in;
        meddler_options *out;
    } both = {.in = o};
    both.out->from = 7)
ACT(changes_foresight, "changed the scene", p->scene->keep = !p->scene->keep)
ACT(writes_s, "changed S", const double *s; nb_scene_rows(p->scene, &s, ctx); writable(s)[5] = 0)
ACT(writes_sums, "changed the sums of S", const double *r; const double *c; nb_scene_sums(p->scene, &r, &c, ctx);
    writable(c)[5] = 0)
ACT(writes_norm, "changed the scene", double norm; nb_scene_norm(p->scene, &norm, ctx); p->scene->norm = 2 * norm)
ACT(writes_output, "changed S V", const double *y; nb_scene_output(p->scene, &y, ctx); writable(y)[5] = 0)
ACT(writes_triplets, "changed the singular triplets of S", const nb_spectrum *t;
    nb_scene_singular_vectors(p->scene, 4, &t, ctx); t->values[0] = 9)

#define MEDDLER(symbol) \
    static nb_status pick_##symbol(const nb_points *p, int m, const void *o, nb_picks *picks, nb_ctx *ctx) \
    { \
        int *tokens; \
        (void)ctx; \
        NB_NEED(tokens, nb_picks_tokens(picks, m)); \
        for (int j = 0; j < m; j++) tokens[j] = j; \
        if (m > ((const meddler_options *)o)->from) symbol(p, o, ctx); \
        return NB_OK; \
    } \
    static const nb_strategy meddler_##symbol = { \
        .component = {#symbol, reason_##symbol, references, options, sizeof(meddler_options)}, \
        .pairing = NB_JOINT, \
        .pick = pick_##symbol};

/* clang-format would indent each line farther than the one before. */
/* clang-format off */
#define MEDDLERS(DO) \
    DO(rounds_up) DO(truncates) DO(flushes_denormals) DO(single_x87) DO(traps) DO(moves) DO(confines) \
    DO(masks_modes) DO(limits_files) DO(limits_size) DO(limits_processes) DO(limits_time) DO(ignores_children) \
    DO(catches_segfaults) DO(blocks_signals) DO(sets_alarm) DO(sets_timer) DO(more_threads) DO(moves_temporary) \
    DO(clears_environment) DO(speaks_otherwise) DO(handles_gsl) DO(closes_input) DO(opens_all) DO(is_nice) \
    DO(leaves_parent) DO(writes_points) DO(writes_last_bit) DO(writes_nan) DO(swaps_points) DO(writes_q) \
    DO(writes_k) DO(writes_v) DO(writes_head) DO(hides_keys) DO(writes_positions) DO(writes_options) \
    DO(changes_foresight) DO(writes_s) DO(writes_sums) DO(writes_norm) DO(writes_output) DO(writes_triplets)
/* clang-format on */
MEDDLERS(MEDDLER)

/* Cores: X = 0, and one thing more. */
#define CORE(symbol, changed, ...) \
    static nb_status compute_##symbol(nb_factors *f, const void *o, double *x, nb_ctx *ctx) \
    { \
        (void)ctx; \
        for (int i = 0; i < f->m * f->m; i++) x[i] = 0; \
        if (f->m <= ((const meddler_options *)o)->from) return NB_OK; \
        __VA_ARGS__; \
        return NB_OK; \
    } \
    static const nb_core meddler_##symbol = { \
        .component = {#symbol, changed, references, options, sizeof(meddler_options)}, .compute = compute_##symbol};
CORE(core_rounds, "changed the floating-point environment", fesetround(FE_UPWARD))
CORE(core_moves, "changed the working folder", if (chdir("/") != 0) abort())
CORE(core_writes_a, "changed A", f->a[1] += 1)
CORE(core_writes_svd, "changed what cores share", const nb_factors_spectrum *s; NB_TRY(ctx, nb_factors_svd(f, &s, ctx));
     s->values[0] *= 2)
CORE(core_writes_norms, "changed what cores share", f->norm_one = 3)
CORE(core_writes_ranges, "changed what cores share", writable(f->ranges->r_b)[0] += 1)

/* A kernel, softmax without the sum, and a problem, each with its hand on the rounding. */
static nb_status fill(const nb_tile *t, const void *o, double *out, nb_ctx *ctx)
{
    (void)o, (void)ctx;
    for (int i = 0; i < t->queries; i++)
        for (int j = 0; j < t->keys; j++) {
            double sum = 0;
            for (int l = 0; l < t->d; l++) sum += t->q[i * t->d + l] * t->k[j * t->d + l];
            out[(size_t)i * (size_t)t->ld + (size_t)j] = exp(sum / 8);
        }
    fesetround(FE_UPWARD);
    return NB_OK;
}

static const nb_kernel meddler_kernel = {.component = {"kernel_rounds", "changed the floating-point environment",
                                                       references, options, sizeof(meddler_options)},
                                         .causal_refusal = "it has no mask",
                                         .fill = fill};

static nb_status shape(const void *o, nb_problem_shape *s, nb_ctx *ctx)
{
    (void)o, (void)ctx;
    *s = (nb_problem_shape){.count = 1, .n = 30, .d = 2};
    return NB_OK;
}

static nb_status make(const void *o, int head, nb_head *out, nb_ctx *ctx)
{
    (void)o, (void)head;
    NB_TRY(ctx, nb_head_new(30, 2, out, ctx));
    for (int i = 0; i < 60; i++) out->q[i] = out->k[i] = out->v[i] = sin(i);
    if (chdir("/") != 0) abort();
    return NB_OK;
}

/* Made for each trial, or once, with the plan. */
static const nb_problem meddler_problem = {
    {"problem_moves", "changed the working folder", references, options, sizeof(meddler_options)},
    .random = true,
    .shape = shape,
    .make = make};
static const nb_problem meddler_fixed_problem = {
    {"fixed_problem_moves", "changes the folder with the plan", references, options, sizeof(meddler_options)},
    .shape = shape,
    .make = make};

#define PART(symbol) {"strategy", &meddler_##symbol.component},
NB_PLUGIN(MEDDLERS(PART){"core", &meddler_core_rounds.component}, {"core", &meddler_core_moves.component},
          {"core", &meddler_core_writes_a.component}, {"core", &meddler_core_writes_svd.component},
          {"core", &meddler_core_writes_norms.component}, {"core", &meddler_core_writes_ranges.component},
          {"kernel", &meddler_kernel.component}, {"problem", &meddler_problem.component},
          {"problem", &meddler_fixed_problem.component});
