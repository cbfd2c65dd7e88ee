/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration.c - each strategy picks for (n, m), then, while there is time, for the plan's own (N, M), if that is not
 * too much, and for (2n, m) and (n, 2m), to see how its time grows; then all again, since the least of several tries
 * counts. */
#include "studies/error/calibration.h"

#include "base/clock.h"
#include "base/process.h"
#include "base/scratch.h"
#include "base/text.h"
#include "calls/picking.h"
#include "data/synthetic.h"
#include "linalg/blas.h"
#include "nystrom/make_scene.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TOKENS = 128, LANDMARKS = 8, MOST_TOKENS = 2048 }; /* of the smallest try; of the largest */
enum { SMALL, LARGE, MORE_TOKENS, MORE_LANDMARKS, SIZES, ROUNDS = 3 };
static const double SHARE =
    0.5; /* of what is left of the time: most that the large tries may be said to take, over all strategies */
static const double MEMORY = 2e9,
                    NOTICED_S = 10e-6; /* bytes that a strategy may take; seconds from which on growth is looked at */
static const double SLACK = 0.25;      /* of a power that two tries tell */

typedef struct {      /* in memory that the process shares with its parent */
    size_t bytes;     /* of it all */
    int at;           /* the try that it is at: (round * SIZES + size) * count + method */
    double begun_s;   /* clock at its begin */
    double seconds[]; /* by size and method: the least so far; NaN: not known */
} board;

typedef char reason[NB_TRIED_REASON];

typedef struct {
    const nb_plan *plan;
    const nb_planned_scene *scene;
    const nb_error_method *const *methods;
    int count, n, m; /* methods; of the smallest try */
    nb_tried *tried; /* of each method, filled as far as they say what is tried */
    int unfinished;  /* the method that was killed at its smallest try, or -1 */
    double end_s;    /* clock when there is no more time */
    board *board;
    reason *reasons;         /* behind the seconds, by method: how its smallest try failed first, or "" */
    const char *folder;      /* for what strategies leave behind if they are killed */
    nb_scene *scenes[SIZES]; /* of n, 2n and N random points; made when first needed */
    gsl_rng *rng;
} trying;

static nb_status make_scene(trying *t, int size_index, int n, nb_ctx *ctx)
{
    nb_head *head;
    size_t size = (size_t)n * (size_t)t->scene->d;
    NB_NEED(head, nb_alloc(ctx, 1, sizeof *head));
    NB_TRY(ctx, nb_head_new(n, t->scene->d, head, ctx));
    nb_draw_normals(t->rng, size, 1, head->q);
    nb_draw_normals(t->rng, size, 1, head->k);
    head->causal = t->scene->causal;
    return nb_scene_new(head, nb_error_kernel(t->plan, t->scene), &t->scenes[size_index], ctx);
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

typedef struct {
    double clock_s, work_s;
    long waits;
} moment;

static moment now(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (moment){nb_clock_s(), nb_work_s(), used.ru_nvcsw};
}

/* If the process did not wait, only other programs kept it from working, which is not its time. */
static double time_since(moment start)
{
    moment end = now();
    return end.waits == start.waits ? end.work_s - start.work_s : end.clock_s - start.clock_s;
}

static void note_reason(const trying *t, int method, const char *text)
{
    if (!*t->reasons[method]) nb_text_clean(text, "", t->reasons[method], NB_TRIED_REASON);
}

static nb_status try(trying *t, int size, int index, nb_ctx *ctx)
{
    const nb_tried *of = &t->tried[index];
    int n = size == MORE_TOKENS ? 2 * t->n : size == LARGE ? of->large_n : t->n;
    int m = size == MORE_LANDMARKS ? 2 * t->m
            : size == LARGE        ? of->large_m
                                   : t->m,
        scene = size == MORE_LANDMARKS ? SMALL : size;
    const nb_error_method *method = t->methods[index];
    double *seconds = &t->board->seconds[size * t->count + index];
    nb_landmarks landmarks;
    t->board->begun_s = INFINITY;
    if (!t->scenes[scene]) NB_TRY(ctx, make_scene(t, scene, n, ctx));
    NB_TRY(ctx, warm(t->scenes[scene], nb_strategy_traits(method->strategy), m, ctx));
    nb_stream stream = {.seed = (uint64_t)t->plan->config->seed, .component = method->strategy->canonical};
    moment start = now();
    t->board->begun_s = start.clock_s;
    NB_TRY(ctx, nb_landmarks_pick(&(nb_picking){t->scenes[scene], method->strategy, m, method->pairing, stream, t->rng},
                                  &landmarks, ctx));
    if (landmarks.refusal)
        note_reason(t, index, landmarks.refusal);
    else
        *seconds = fmin(*seconds, time_since(start)); /* of a NaN and a number, the number */
    return NB_OK;
}

/* Fills in what the tries of the method have shown so far. */
static void fill(const trying *t, int i, nb_tried *tried)
{
    const double *s = t->board->seconds;
    tried->seconds = s[SMALL * t->count + i];
    tried->large_s = s[LARGE * t->count + i];
    tried->unfinished = i == t->unfinished;
    if (!isfinite(tried->seconds) || tried->unfinished)
        snprintf(tried->reason, sizeof tried->reason, "%s",
                 *t->reasons[i] ? t->reasons[i] : "there was no time for it");
    nb_growth(tried->seconds, s[MORE_TOKENS * t->count + i], nb_pick_n_power(nb_strategy_traits(tried->strategy)),
              &tried->n_least, &tried->n_most);
    nb_growth(tried->seconds, s[MORE_LANDMARKS * t->count + i], 1, &tried->m_least, &tried->m_most);
}

/* True if a try is worth its time: a strategy that failed the small one is not tried further, and an oracle would wait
 * for the singular vectors of a large S. */
static bool worth(const trying *t, int size, int i)
{
    nb_tried so_far = t->tried[i];
    unsigned traits = nb_strategy_traits(so_far.strategy);
    fill(t, i, &so_far);
    if (size == SMALL) return t->board->at < t->count || isfinite(so_far.seconds);
    if (size != LARGE || !isfinite(so_far.seconds)) return isfinite(so_far.seconds);
    if (so_far.large_n == so_far.n || (traits & NB_ORACLE && !(traits & NB_SQUARE))) return false;
    double predicted_s = isfinite(so_far.large_s)
                             ? so_far.large_s
                             : so_far.seconds * pow((double)so_far.large_n / so_far.n, so_far.n_most) *
                                   pow((double)so_far.large_m / so_far.m, so_far.m_most);
    return predicted_s <= SHARE * (t->end_s - nb_clock_s()) / t->count;
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
    for (; t->board->at < ROUNDS * SIZES * t->count; t->board->at++) {
        int size = t->board->at / t->count % SIZES, method = t->board->at % t->count;
        if (worth(t, size, method) && try(t, size, method, ctx) != NB_OK) {
            note_reason(t, method, nb_error_message(ctx));
            if (nb_ctx_spoilt(ctx)) _exit(EXIT_FAILURE);
            nb_error_clear(ctx);
        }
    }
    _exit(EXIT_SUCCESS);
}

/* How a smallest try ended that the process did not outlive; at a timeout it may have been between two. */
static nb_status take_ending(trying *t, const nb_ending *ending, nb_ctx *ctx)
{
    const char *text;
    int method = t->board->at;
    double taken_s = t->end_s - t->board->begun_s;
    if (method >= t->count || (ending->timed_out && taken_s <= 0)) return NB_OK;
    NB_TRY(ctx, nb_ending_text(ending, round(10 * taken_s) / 10, &text, ctx));
    note_reason(t, method, text);
    if (!ending->timed_out) return NB_OK;
    t->board->seconds[method] = taken_s;
    t->unfinished = method;
    return NB_OK;
}

static nb_status run_tries(trying *t, nb_ctx *ctx)
{
    while (t->board->at < ROUNDS * SIZES * t->count) {
        pid_t pid;
        nb_ending ending;
        double left_s = t->end_s - nb_clock_s();
        if (left_s <= 0) return NB_OK;
        NB_TRY(ctx, nb_process_fork(&pid, ctx));
        if (pid == 0) try_all(t, ctx);
        NB_TRY(ctx, nb_process_await(pid, left_s, &ending, ctx));
        NB_TRY(ctx, take_ending(t, &ending, ctx));
        if (ending.timed_out) return NB_OK;
        t->board->at++; /* it died of this one, or is done */
    }
    return NB_OK;
}

void nb_growth(double once_s, double doubled_s, double guess, double *least, double *most)
{
    *least = *most = guess;
    if (!isfinite(doubled_s) || !(once_s >= NOTICED_S)) return;
    double power = log2(doubled_s / once_s);
    *least = fmax(guess - 1, fmin(guess + 1, power - SLACK));
    *most = fmax(guess - 1, fmin(guess + 1, power + SLACK));
}

/* The plan's own size, as far as it is small enough to be tried. */
static void choose_large(const trying *t, nb_tried *tried)
{
    int n = t->scene->n < MOST_TOKENS ? t->scene->n : MOST_TOKENS, m = t->m;
    for (int i = 0; i < t->plan->method_count; i++) {
        const nb_error_method *method = &nb_error_methods(t->plan)[i];
        if (method->strategy == tried->strategy && method->m <= n && method->m > m) m = method->m;
    }
    tried->large_n = n;
    tried->large_m = m;
}

static void unmap(void *ptr)
{
    board *b = ptr;
    munmap(b, b->bytes);
}

nb_status nb_calibrate_picks(const nb_plan *plan, int scene, int count, const nb_error_method *const *methods,
                             double limit_s, nb_tried *tried, nb_ctx *ctx)
{
    trying t = {.plan = plan,
                .scene = &plan->scenes[scene],
                .methods = methods,
                .count = count,
                .tried = tried,
                .unfinished = -1};
    t.n = t.scene->n < 2 * TOKENS ? (t.scene->n + 1) / 2 : TOKENS;
    t.m = t.n < 2 * LANDMARKS ? 1 : LANDMARKS;
    t.end_s = nb_clock_s() + limit_s;
    if (count == 0) return NB_OK;
    for (int i = 0; i < count; i++) {
        tried[i] = (nb_tried){.strategy = methods[i]->strategy, .n = t.n, .m = t.m};
        choose_large(&t, &tried[i]);
    }
    size_t head = sizeof *t.board + (size_t)(SIZES * count) * sizeof *t.board->seconds;
    size_t bytes = head + (size_t)count * sizeof *t.reasons;
    t.board = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    NB_REQUIRE(ctx, t.board != MAP_FAILED, NB_ENOMEM, "out of memory: the calibration");
    nb_mark mark = nb_ctx_mark(ctx);
    t.board->bytes = bytes;
    t.reasons = (reason *)((char *)t.board + head);
    NB_TRY(ctx, nb_defer(ctx, unmap, t.board));
    for (int i = 0; i < SIZES * count; i++) t.board->seconds[i] = NAN;
    nb_status status = nb_temporary_folder(&t.folder, ctx);
    if (status == NB_OK) status = run_tries(&t, ctx);
    for (int i = 0; i < count; i++) fill(&t, i, &tried[i]);
    nb_ctx_release(ctx, mark);
    return status;
}
