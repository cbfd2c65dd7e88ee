/* calibration.c - each strategy picks for (n, m), then, as long as there is time,
 * for (2n, m) and (n, 2m): how its time grows. */
#include "experiment/calibration.h"

#include "base/clock.h"
#include "base/process.h"
#include "base/scratch.h"
#include "data/synthetic.h"
#include "linalg/blas.h"
#include "linalg/linalg.h"
#include "linalg/vector.h"
#include "measure/landmarks.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ORDER = 384, TRIES = 5 };                     /* of the product */
enum { TOKENS = 128, LANDMARKS = 8, SIZES = 3 };      /* of the smallest try */
static const double REFERENCE_S = 4.9e-3;             /* what the reference machine takes for it */
static const double MEMORY = 2e9, NOTICED_S = 50e-6; /* bytes that a strategy may take; seconds from which on growth is looked at */

/* The product, and an exponential of each of its entries: as in a pass. */
static double once(double *a, double *b, double *c)
{
    double start_s = nb_clock_s();
    nb_gemm(NB_TRANSPOSED, NB_PLAIN, ORDER, ORDER, ORDER, 1e-3, a, ORDER, b, ORDER, 0, c, ORDER);
    for (size_t j = 0; j < ORDER; j++) a[j] = fmin(1, nb_exp_sum(ORDER, c + j * ORDER, 0));
    return nb_clock_s() - start_s;
}

nb_status nb_calibrate_machine(double *machine, nb_ctx *ctx)
{
    size_t square = (size_t)ORDER * ORDER;
    double *a, best = INFINITY;
    nb_mark mark = nb_ctx_mark(ctx);
    NB_NEED(a, nb_alloc_reals(ctx, square, 3));
    for (size_t i = 0; i < 2 * square; i++) a[i] = 1e-3 * (double)(i % 997);
    for (int i = 0; i < TRIES; i++) best = fmin(best, once(a, a + square, a + 2 * square));
    nb_ctx_release(ctx, mark);
    *machine = best / REFERENCE_S;
    return NB_OK;
}

typedef struct { /* in memory that the process shares with its parent */
    size_t bytes;      /* of it all */
    int at;            /* the try that it is at: size * count + cell */
    double begun_s;    /* clock at its begin */
    double seconds[];  /* by try; NaN: not known */
} board;

typedef struct {
    const nb_plan *plan;
    const nb_planned_scene *scene;
    const nb_cell *const *cells;
    int count, n, m; /* cells; of the smallest try */
    int unfinished;  /* the cell that was killed at its smallest try, or -1 */
    board *board;
    const char *folder; /* for what strategies leave behind where they are killed */
    nb_scene *scenes[2]; /* of n and 2n random points; made when first needed */
    gsl_rng *rng;
} trying;

static nb_status make_scene(trying *t, int twice, nb_ctx *ctx)
{
    nb_head *head;
    int n = twice ? 2 * t->n : t->n;
    size_t size = (size_t)n * (size_t)t->scene->d;
    NB_NEED(head, nb_alloc(ctx, 1, sizeof *head));
    NB_TRY(ctx, nb_head_new(n, t->scene->d, head, ctx));
    nb_draw_normals(t->rng, size, 1, head->q);
    nb_draw_normals(t->rng, size, 1, head->k);
    head->causal = t->scene->causal;
    return nb_scene_new(head, t->scene->kernel, t->plan->oracle, &t->scenes[twice], ctx);
}

/* An oracle asks for what the floors need too: that is counted with these. */
static nb_status warm(nb_scene *scene, unsigned traits, int m, nb_ctx *ctx)
{
    const nb_spectrum *spectrum;
    double norm;
    if (!(traits & NB_ORACLE)) return NB_OK;
    NB_TRY(ctx, nb_scene_norm(scene, &norm, ctx));
    return traits & NB_SQUARE ? NB_OK : nb_scene_singular_vectors(scene, m, &spectrum, ctx);
}

static nb_status try(trying *t, int number, nb_ctx *ctx)
{
    int size = number / t->count, twice = size == 1, m = size == 2 ? 2 * t->m : t->m;
    const nb_cell *cell = t->cells[number % t->count];
    nb_landmarks landmarks;
    t->board->begun_s = INFINITY;
    if (!t->scenes[twice]) NB_TRY(ctx, make_scene(t, twice, ctx));
    NB_TRY(ctx, warm(t->scenes[twice], nb_strategy_traits(cell->strategy), m, ctx));
    nb_stream stream = {.seed = (uint64_t)t->plan->config->seed, .component = cell->strategy->canonical};
    double start_s = t->board->begun_s = nb_clock_s();
    NB_TRY(ctx, nb_landmarks_pick(t->scenes[twice], cell->strategy, m, cell->pairing, stream, t->rng, &landmarks, ctx));
    if (!landmarks.refusal) t->board->seconds[number] = nb_clock_s() - start_s;
    return NB_OK;
}

/* In the child. Where it dies its parent begins another with the next try. */
static _Noreturn void try_all(trying *t, nb_ctx *ctx)
{
    struct rlimit limit = {(rlim_t)MEMORY, (rlim_t)MEMORY};
    int nowhere = open("/dev/null", O_RDWR);
    if (nowhere < 0 || dup2(nowhere, STDOUT_FILENO) < 0 || dup2(nowhere, STDERR_FILENO) < 0) _exit(EXIT_FAILURE);
    closefrom(STDERR_FILENO + 1);
    if (setenv("TMPDIR", t->folder, 1) != 0) _exit(EXIT_FAILURE);
#ifndef __SANITIZE_ADDRESS__ /* which takes terabytes of addresses */
    setrlimit(RLIMIT_AS, &limit);
#else
    (void)limit;
#endif
    if (nb_blas_set_threads(1, ctx) != NB_OK || nb_random_new(&t->rng, ctx) != NB_OK) _exit(EXIT_FAILURE);
    for (; t->board->at < SIZES * t->count; t->board->at++)
        if (t->board->at < t->count || isfinite(t->board->seconds[t->board->at % t->count]))
            if (try(t, t->board->at, ctx) != NB_OK) nb_error_clear(ctx);
    _exit(EXIT_SUCCESS);
}

static nb_status run_tries(trying *t, double limit_s, nb_ctx *ctx)
{
    double end_s = nb_clock_s() + limit_s;
    while (t->board->at < SIZES * t->count) {
        pid_t pid;
        nb_ending ending;
        double left_s = end_s - nb_clock_s();
        if (left_s <= 0) return NB_OK;
        NB_TRY(ctx, nb_process_fork(&pid, ctx));
        if (pid == 0) try_all(t, ctx);
        NB_TRY(ctx, nb_process_await(pid, left_s, &ending, ctx));
        if (ending.timed_out && t->board->at < t->count && t->board->begun_s < end_s) {
            t->board->seconds[t->board->at] = end_s - t->board->begun_s;
            t->unfinished = t->board->at;
        }
        if (ending.timed_out) return NB_OK;
        t->board->at++; /* it has died of this one, or done all */
    }
    return NB_OK;
}

/* log2 of how the time grows when one of the sizes doubles. */
static double growth(double once, double doubled, double guess)
{
    if (!isfinite(doubled) || once < NOTICED_S) return guess;
    return fmax(0, fmin(3, log2(doubled / once)));
}

static void fill(const trying *t, nb_pick_time *times)
{
    for (int i = 0; i < t->count; i++) {
        const double *s = t->board->seconds;
        unsigned traits = nb_strategy_traits(t->cells[i]->strategy);
        times[i] = (nb_pick_time){.strategy = t->cells[i]->strategy, .n = t->n, .m = t->m, .seconds = s[i], .unfinished = i == t->unfinished};
        times[i].n_power = growth(s[i], s[t->count + i], nb_pick_n_power(traits));
        times[i].m_power = growth(s[i], s[2 * t->count + i], 1);
    }
}

static void unmap(void *ptr)
{
    board *b = ptr;
    munmap(b, b->bytes);
}

nb_status nb_calibrate_picks(const nb_plan *plan, int scene, int count, const nb_cell *const *cells, double limit_s,
                             nb_pick_time *times, nb_ctx *ctx)
{
    trying t = {.plan = plan, .scene = &plan->scenes[scene], .cells = cells, .count = count, .unfinished = -1};
    t.n = t.scene->n < 2 * TOKENS ? (t.scene->n + 1) / 2 : TOKENS;
    t.m = t.n < 2 * LANDMARKS ? 1 : LANDMARKS;
    if (count == 0) return NB_OK;
    size_t bytes = sizeof *t.board + (size_t)(SIZES * count) * sizeof *t.board->seconds;
    t.board = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    NB_REQUIRE(ctx, t.board != MAP_FAILED, NB_ENOMEM, "out of memory: the calibration");
    nb_mark mark = nb_ctx_mark(ctx);
    t.board->bytes = bytes;
    NB_TRY(ctx, nb_defer(ctx, unmap, t.board));
    for (int i = 0; i < SIZES * count; i++) t.board->seconds[i] = NAN;
    nb_status status = nb_temporary_folder(&t.folder, ctx);
    if (status == NB_OK) status = run_tries(&t, limit_s, ctx);
    fill(&t, times);
    nb_ctx_release(ctx, mark);
    return status;
}
