/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How near the streamed engine comes to the rate of a plain matrix product, by
 * part, and how time and memory grow with n: the card's 32 factor pairs (4
 * strategies, m = 8 ... 64) on one gaussian head, d = 64, one thread.
 *
 *     build/bench/engine [n]...        prints CSV
 *
 * The yardstick is the best of several products of order 2048 in the same process,
 * before and after. The useful work, in flops: of the pass 2 n^2 (d + W) + 2 n sum m^2,
 * W the columns of all Q_B (a nested strategy has the largest m alone); of the
 * factors 2 n d (sum m + W); of their orthonormal bases 4 n (sum m^2 of Q_F and
 * of Q_B). Efficiency is that work at the yardstick's rate over the time; the SVDs
 * of the A, which belong to the cores, have a column of their own. */
#include "base/clock.h"
#include "base/random.h"
#include "calls/heads.h"
#include "calls/picking.h"
#include "components/registry.h"
#include "linalg/blas.h"
#include "linalg/linalg.h"
#include "nystrom/engine.h"
#include "nystrom/make_scene.h"

#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { D = 64, SIZES = 8, STRATEGIES = 4, PAIRS = SIZES * STRATEGIES, ORDER = 2048, REPEATS = 5 };

#define MUST(call) \
    do { \
        if ((call) != NB_OK) { \
            fprintf(stderr, "%s: %s\n", #call, nb_error_message(ctx)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

/* flops a second */
static double yardstick(nb_ctx *ctx)
{
    nb_mark mark = nb_ctx_mark(ctx);
    double *a = nb_alloc_reals(ctx, ORDER * ORDER, 3), best = 0;
    for (int i = 0; i < ORDER * ORDER; i++) a[i] = a[i + ORDER * ORDER] = 1.0 / (1 + i);
    for (int r = 0; r < 3; r++) {
        double start_s = nb_clock_s();
        nb_gemm(NB_PLAIN, NB_PLAIN, ORDER, ORDER, ORDER, 1, a, ORDER, a + ORDER * ORDER, ORDER, 0,
                a + 2 * ORDER * ORDER, ORDER);
        best = fmax(best, 2.0 * ORDER * ORDER * ORDER / (nb_clock_s() - start_s));
    }
    nb_ctx_release(ctx, mark);
    return best;
}

typedef struct {
    double pass, factors, bases; /* useful flops */
} work;

static work work_of(double n)
{
    double sum = 0, squares = 0;
    for (int i = 1; i <= SIZES; i++) {
        sum += 8 * i;
        squares += 64 * i * i;
    }
    double width = (STRATEGIES - 1) * sum + 8 * SIZES, q_b = (STRATEGIES - 1) * squares + 64 * SIZES * SIZES;
    return (work){.pass = 2 * n * n * (D + width) + 2 * n * STRATEGIES * squares,
                  .factors = 2 * n * D * (STRATEGIES * sum + width),
                  .bases = 4 * n * (STRATEGIES * squares + q_b)};
}

static void pick_all(nb_scene *scene, gsl_rng *rng, nb_landmarks *landmarks, nb_ctx *ctx)
{
    static const char *const names[STRATEGIES] = {"uniform", "segment_means", "kmeans(iterations=2)", "uniform"};
    for (int s = 0; s < STRATEGIES; s++)
        for (int i = 0; i < SIZES; i++) { /* the last stands for leverage: other tokens for each m, without its cost */
            nb_choice choice;
            MUST(nb_choice_parse(&nb_strategies, names[s], &choice, ctx));
            nb_stream stream = {.seed = 1, .trial = s == 3 ? i + 1 : 0, .component = choice.canonical};
            MUST(nb_landmarks_pick(&(nb_picking){scene, &choice, 8 * (i + 1), NB_JOINT, stream, rng},
                                   &landmarks[s * SIZES + i], ctx));
        }
}

/* The best of some runs, on memory that the process has already. */
static void bench(const char *precision, int n, nb_ctx *ctx)
{
    char text[64];
    nb_choice problem, kernel;
    nb_head head;
    gsl_rng *rng;
    nb_landmarks landmarks[PAIRS];
    nb_how how = {.precision = *precision == 'm' ? NB_MIXED : NB_DOUBLE};
    nb_engine_times best = {.pass_s = INFINITY};
    double best_s = INFINITY, rate = yardstick(ctx);
    snprintf(text, sizeof text, "gaussian(n=%d, d=%d)", n, D);
    MUST(nb_choice_parse(&nb_problems, text, &problem, ctx));
    MUST(nb_choice_parse(&nb_kernels, "softmax", &kernel, ctx));
    MUST(nb_random_new(&rng, ctx));
    MUST(nb_heads_make(&problem, 0, (nb_stream){.seed = 1}, rng, &head, ctx));
    for (int r = 0; r < REPEATS; r++) {
        nb_mark mark = nb_ctx_mark(ctx);
        nb_scene *scene;
        nb_pair pairs[PAIRS];
        nb_engine_times times = {.pass_s = 0};
        MUST(nb_scene_new(&head, &kernel, &scene, ctx));
        pick_all(scene, rng, landmarks, ctx);
        for (int i = 0; i < PAIRS; i++) pairs[i] = (nb_pair){.landmarks = &landmarks[i]};
        MUST(nb_engine_prepare(scene, &how, PAIRS, pairs, &times, ctx));
        double all_s = times.form_s + times.orthonormal_s + times.pass_s;
        if (all_s < best_s) {
            best_s = all_s;
            best = times;
        }
        nb_ctx_release(ctx, mark);
        if (best_s > 2) break;
    }
    rate = fmax(rate, yardstick(ctx));
    work w = work_of(n);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%d,%s,%.1f,%.4f,%.4f,%.4f,%.4f,%.4f,%.3f,%.3f,%.3f,%.1f\n", n, precision, rate / 1e9, best.form_s,
           best.orthonormal_s, best.svd_s, best.pass_s, best_s, w.pass / rate / best.pass_s,
           (w.pass + w.factors + w.bases) / rate / best_s, best_s / n / n * 1e9, (double)usage.ru_maxrss / 1024);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const char *const sizes[] = {"1024", "2048", "4096", "8192", "16384"};
    nb_ctx *ctx = nb_ctx_new();
    MUST(nb_blas_start(argv, ctx));
    mallopt(M_MMAP_MAX, 0); /* as main does: memory that was freed is used again */
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    puts("n,precision,dgemm_gflops,form_s,orthonormal_s,svd_s,pass_s,whole_s,pass_efficiency,whole_efficiency,"
         "ns_per_entry,peak_rss_mib");
    for (int i = 0; i < (argc > 1 ? argc - 1 : (int)(sizeof sizes / sizeof *sizes)); i++)
        for (int mixed = 0; mixed < 2; mixed++) {
            int n = atoi(argc > 1 ? argv[i + 1] : sizes[i]), status;
            fflush(stdout);
            pid_t child = fork(); /* each with its own peak of memory */
            if (child == 0) {
                bench(mixed ? "mixed" : "double", n, ctx);
                _exit(EXIT_SUCCESS);
            }
            if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) return EXIT_FAILURE;
        }
    nb_ctx_free(ctx);
    return EXIT_SUCCESS;
}
