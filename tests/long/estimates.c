/* SPDX-License-Identifier: GPL-3.0-or-later */
/* estimates.c - do intervals cover, and tests err, as often as they say? Simulated studies of k sources with 3 heads
 * each: y = source + head, with variances of icc and 1 - icc; the sources normal, or lognormal (exp of a standard
 * normal number, standardised; its skewness is 6.2), the heads normal. The true mean is 0.
 *
 *     build/long/estimates        prints a table; status 1 if a figure is not where it must be
 *
 * Rates of 10,000 studies (2,000 for the bootstrap, of 1,000 resamples) must lie within 4 binomial standard deviations
 * of what is known of the normal model: the t interval covers 0.95; a test by ranks or signs rejects as often as its
 * largest p up to 0.05 says; the t test over all heads, as if they were independent, errs as often as naive_level says.
 * For the others there is no exact value: they must reach their floors. The parts below are of sources in several
 * trials, and of many lines together. */
#include "holm.h"

#include "base/random.h"
#include "statistics/estimate.h"
#include "statistics/intervals.h"
#include "statistics/multiple.h"
#include "statistics/ranks.h"
#include "statistics/verdict.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STUDIES = 10000, BOOTSTRAPS = 2000, RESAMPLES = 1000, HEADS = 3, MOST = 30 };

#define MUST(call) \
    do { \
        if ((call) != NB_OK) { \
            fprintf(stderr, "%s: %s\n", #call, nb_error_message(ctx)); \
            exit(EXIT_FAILURE); \
        } \
    } while (0)

typedef struct {
    const char *name;
    int sources;
    bool skewed;
    double icc;
    double t_floor, bca_floor; /* of the coverage */
} model;

typedef struct {
    int t_covers, bca_covers;
    int t_rejects, wilcoxon_rejects, sign_rejects, heads_reject;
    double width, bca_width, icc, effective; /* sums; widths over the studies that have a bootstrap */
} tally;

static void draw_study(const model *m, gsl_rng *rng, nb_unit_value *units)
{
    const double mean = exp(0.5), sd = sqrt(exp(1) * (exp(1) - 1)); /* of a lognormal number */
    for (int c = 0; c < m->sources; c++) {
        double z = gsl_ran_gaussian_ziggurat(rng, 1), source = sqrt(m->icc) * (m->skewed ? (exp(z) - mean) / sd : z);
        for (int h = 0; h < HEADS; h++)
            units[c * HEADS + h] =
                (nb_unit_value){.source = c, .value = source + gsl_ran_gaussian_ziggurat(rng, sqrt(1 - m->icc))};
    }
}

static bool covers(double low, double high)
{
    return low <= 0 && 0 <= high;
}

static double p_over_heads(int n, const nb_unit_value *units)
{
    double values[MOST * HEADS];
    for (int i = 0; i < n; i++) values[i] = units[i].value;
    double mean = gsl_stats_mean(values, 1, (size_t)n);
    return nb_t_p(mean, gsl_stats_sd_m(values, 1, (size_t)n, mean) / sqrt(n), n - 1);
}

static void count_study(const model *m, int study, const nb_unit_value *units, tally *t, nb_ctx *ctx)
{
    nb_estimate e[2];
    nb_estimate_terms terms = {.confidence = 0.95, .seed = study, .resamples = study < BOOTSTRAPS ? RESAMPLES : 0};
    MUST(nb_estimate_units(m->sources * HEADS, units, 1, &terms, e, ctx));
    t->t_covers += covers(e->low, e->high);
    t->t_rejects += e->t_p <= 0.05;
    t->wilcoxon_rejects += e->wilcoxon_p <= 0.05;
    t->sign_rejects += e->sign_p <= 0.05;
    t->icc += e->icc / STUDIES;
    t->effective += e->effective / STUDIES;
    if (study < BOOTSTRAPS) {
        t->bca_covers += covers(e->boot_low, e->boot_high);
        t->width += e->high - e->low;
        t->bca_width += e->boot_high - e->boot_low;
    }
    t->heads_reject += p_over_heads(m->sources * HEADS, units) <= 0.05;
}

static tally simulate(const model *m, nb_ctx *ctx)
{
    nb_unit_value units[MOST * HEADS];
    tally t = {.t_covers = 0};
    gsl_rng *rng;
    MUST(nb_random_new(&rng, ctx));
    for (int study = 0; study < STUDIES; study++) {
        const nb_stream stream = {
            .seed = 1, .trial = study, .role = "simulation", .component = m->name, .m = m->sources};
        nb_random_seed(rng, &stream);
        draw_study(m, rng, units);
        count_study(m, study, units, &t, ctx);
    }
    return t;
}

/* The largest p of the signed rank test of n values that is at most 0.05: that of W = k - 1. 0: none is. */
static double wilcoxon_level(int n, nb_ctx *ctx)
{
    double values[MOST], w, p;
    long long left;
    MUST(nb_walsh_index(n, 0.95, &left, ctx));
    if (left-- == 0) return 0;
    for (int i = n; i > 0; i--) { /* |value| is the rank; those above 0 add up to k - 1 */
        values[i - 1] = i <= left ? i : -i;
        left -= i <= left ? i : 0;
    }
    MUST(nb_wilcoxon(n, values, NB_ZEROS_PRATT, &w, &p, ctx));
    return p;
}

static double sign_level(int n)
{
    double level = 0;
    for (int i = 0; i < n / 2 && nb_sign_p(i, n - i) <= 0.05; i++) level = nb_sign_p(i, n - i);
    return level;
}

/* How often the t test over all heads rejects: with A, B, C independent chi-square numbers of 1, k - 1 and k (r - 1)
 * degrees of freedom, b = 1 + (r - 1) icc and w = 1 - icc its t^2 is b A (N - 1) / (b B + w C). P(A > x) is averaged
 * over a grid of quantiles of B and C. */
static double naive_level(int k, double icc)
{
    enum { GRID = 400 };
    double n = k * HEADS, b = 1 + (HEADS - 1) * icc, sum = 0, t = gsl_cdf_tdist_Qinv(0.025, n - 1);
    for (int i = 0; i < GRID; i++) {
        double between = gsl_cdf_chisq_Pinv((i + 0.5) / GRID, k - 1);
        for (int j = 0; j < GRID; j++) {
            double within = gsl_cdf_chisq_Pinv((j + 0.5) / GRID, n - k);
            sum += gsl_cdf_chisq_Q(t * t * (b * between + (1 - icc) * within) / (n - 1) / b, 1);
        }
    }
    return sum / GRID / GRID;
}

/* Whether a rate of n is where it must be. */
static int off(const model *m, const char *what, int count, int n, double rate)
{
    double sd = sqrt(rate * (1 - rate) / n), got = (double)count / n;
    if (fabs(got - rate) <= 4 * sd) return 0;
    fprintf(stderr, "%s, %d sources: %s: %.4f, expected %.4f within %.4f\n", m->name, m->sources, what, got, rate,
            4 * sd);
    return 1;
}

static int below(const model *m, const char *what, int count, int n, double floor)
{
    if (count >= floor * n) return 0;
    fprintf(stderr, "%s, %d sources: %s: %.4f, expected at least %.2f\n", m->name, m->sources, what, (double)count / n,
            floor);
    return 1;
}

static int check(const model *m, const tally *t, nb_ctx *ctx)
{
    int bad = below(m, "t interval", t->t_covers, STUDIES, m->t_floor) +
              below(m, "BCa interval", t->bca_covers, BOOTSTRAPS, m->bca_floor);
    if (m->skewed) return bad;
    return bad + off(m, "t interval", t->t_covers, STUDIES, 0.95) +
           off(m, "signed rank test", t->wilcoxon_rejects, STUDIES, wilcoxon_level(m->sources, ctx)) +
           off(m, "sign test", t->sign_rejects, STUDIES, sign_level(m->sources)) +
           off(m, "t test over heads", t->heads_reject, STUDIES, naive_level(m->sources, m->icc));
}

static void print(const model *m, const tally *t)
{
    const double n = STUDIES;
    printf("%-9s  %.1f  %7d  %10.4f  %12.4f  %10.3f  %6.4f  %11.4f  %6.4f  %11.4f  %8.2f  %9.1f\n", m->name, m->icc,
           m->sources, t->t_covers / n, (double)t->bca_covers / BOOTSTRAPS, t->bca_width / t->width, t->t_rejects / n,
           t->wilcoxon_rejects / n, t->sign_rejects / n, t->heads_reject / n, t->icc, t->effective);
}

/* Sources measured in several trials: y = source + luck of the trial + rest. The components are those of the logarithm
 * of a strategy's error over that of uniform tokens, means of two heads, as the analysis of variance has them on the
 * rows of experiments/15-sources.yaml: its means over five strategies and m = 8 ... 64, of all models and of each.
 *
 * By source, each source has luck of its own in each trial. Shared, all sources of a model have the same, and models
 * have a part of it in common, ALIKE of its variance, the mean correlation of theirs. Luck is normal, or has heavy
 * tails: lognormal, or rare luck, which 13 % of trials have, as those of uniform tokens on SmolLM2 that pick token 0.
 * What few shared trials have not seen, no estimate of them can know. */
typedef struct {
    double source, trial, rest; /* variances */
} components;

enum { MOST_MODELS = 4, MOST_SOURCES = 24, MOST_TRIALS = 10, REPLICATES = 4000 };

static const double ALIKE = 0.3;
static const bool all_share[MOST_MODELS + 1] = {true, true, true, true, true}; /* draws */
static const components of_all = {0.0020, 0.0201, 0.0260};
static const components of_models[MOST_MODELS] = {
    {0.0032, 0.0124, 0.0234}, {0, 0.0563, 0.0392}, {0.0039, 0.0015, 0.0165}, {0.0012, 0.0102, 0.0248}};

typedef enum { NORMAL_LUCK, LOGNORMAL_LUCK, RARE_LUCK, LUCKS } luck_kind;

static const char *const luck_names[LUCKS] = {"normal", "lognormal", "rare"};

typedef struct {
    luck_kind kind;
    int models, sources, trials; /* sources: of each model */
    double times;                /* the trials' component, of what was measured */
    bool shared;
} trial_model;

typedef struct {
    int covered, covered_without, zero; /* the interval; that without what trials have in common; none is estimated */
    double width;                       /* sum */
} trial_tally;

/* Of mean 0 and variance 1. */
static double draw_one_luck(luck_kind kind, gsl_rng *rng)
{
    const double rare = 0.13, mean = exp(0.5), sd = sqrt(exp(1) * (exp(1) - 1));
    if (kind == RARE_LUCK) return ((gsl_rng_uniform(rng) < rare ? -1 : 0) + rare) / sqrt(rare * (1 - rare));
    double z = gsl_ran_gaussian_ziggurat(rng, 1);
    return kind == NORMAL_LUCK ? z : (exp(z) - mean) / sd;
}

/* Of normal luck a part is the same for all models; of other luck all of it is, in a part of the trials: each keeps its
 * distribution. */
static void draw_trials(const trial_model *m, gsl_rng *rng, double of_trial[MOST_MODELS][MOST_TRIALS])
{
    for (int t = 0; t < m->trials; t++) {
        double alike = draw_one_luck(m->kind, rng);
        for (int g = 0; g < m->models; g++) {
            double own = draw_one_luck(m->kind, rng);
            if (m->kind == NORMAL_LUCK)
                of_trial[g][t] = sqrt(ALIKE) * alike + sqrt(1 - ALIKE) * own;
            else
                of_trial[g][t] = gsl_rng_uniform(rng) < ALIKE ? alike : own;
        }
    }
}

static void draw_values(const trial_model *m, gsl_rng *rng, nb_unit_value *units, nb_crossed_value *values)
{
    double of_trial[MOST_MODELS][MOST_TRIALS];
    if (m->shared) draw_trials(m, rng, of_trial);
    for (int u = 0; u < m->models * m->sources; u++) {
        int g = u / m->sources;
        const components *c = m->models == 1 ? &of_all : &of_models[g];
        double source = gsl_ran_gaussian_ziggurat(rng, sqrt(c->source));
        units[u] = (nb_unit_value){.stratum = g, .source = u};
        for (int t = 0; t < m->trials; t++) {
            double luck = m->shared ? of_trial[g][t] : draw_one_luck(m->kind, rng);
            double y = source + sqrt(m->times * c->trial) * luck + gsl_ran_gaussian_ziggurat(rng, sqrt(c->rest));
            values[u * m->trials + t] = (nb_crossed_value){.stratum = g, .source = u, .trial = t, .value = y};
            units[u].value += y / m->trials;
        }
    }
}

static trial_tally simulate_trials(const trial_model *m, nb_ctx *ctx)
{
    static nb_crossed_value values[MOST_MODELS * MOST_SOURCES * MOST_TRIALS];
    const bool shares[MOST_MODELS + 1] = {m->shared, m->shared, m->shared, m->shared, m->shared};
    nb_unit_value units[MOST_MODELS * MOST_SOURCES];
    nb_common_error common[MOST_MODELS + 1];
    nb_estimate e[MOST_MODELS + 1];
    trial_tally t = {.covered = 0};
    int count = m->models * m->sources;
    gsl_rng *rng;
    MUST(nb_random_new(&rng, ctx));
    for (int study = 0; study < REPLICATES; study++) {
        const nb_stream stream = {
            .seed = 1, .trial = study, .role = "simulation", .component = luck_names[m->kind], .m = m->trials};
        nb_random_seed(rng, &stream);
        draw_values(m, rng, units, values);
        MUST(nb_crossed_errors(count * m->trials, values, m->models, shares, common, ctx));
        t.zero += common[m->models].variance <= 0;
        const nb_estimate_terms terms = {.confidence = 0.95, .common = common};
        MUST(nb_estimate_units(count, units, m->models, &terms, e, ctx));
        const nb_estimate *all = &e[m->models];
        const nb_interval own =
            nb_t_interval(all->mean, sqrt(all->se * all->se - all->common_se * all->common_se), all->own_df, 0.95);
        t.covered += covers(all->low, all->high);
        t.covered_without += covers(own.low, own.high);
        t.width += all->high - all->low;
    }
    return t;
}

/* Of normal luck that is shared, coverage from 0.93 to 0.97 with the components as measured, to 0.99 with that of
 * trials at zero or doubled. */
static int check_crossed(nb_ctx *ctx)
{
    static const int sources[] = {4, 6, 12, 24}, trials[] = {3, 5, 10}, models[] = {1, 4};
    static const double times[] = {1, 0, 2};
    int bad = 0;
    puts(
        "\nsources in the same trials, of one model and of four; the trials' component as measured, 0, and twice that\n"
        "trials'  models  trials  sources  covers  without what trials have in common  share where that is 0");
    for (int i = 0; i < 3 * 2 * 3 * 4; i++) {
        const trial_model m = {NORMAL_LUCK, models[i / 12 % 2], sources[i % 4], trials[i / 4 % 3], times[i / 24], true};
        trial_tally t = simulate_trials(&m, ctx);
        double covered = t.covered / (double)REPLICATES;
        printf("%7.0f  %6d  %6d  %7d  %6.4f  %34.4f  %21.2f\n", m.times, m.models, m.trials, m.sources, covered,
               t.covered_without / (double)REPLICATES, t.zero / (double)REPLICATES);
        if (covered >= 0.93 && covered <= (i / 24 == 0 ? 0.97 : 0.99)) continue;
        fprintf(stderr, "%d models, %d sources, %d trials: the interval covers %.4f\n", m.models, m.sources, m.trials,
                covered);
        bad++;
    }
    return bad;
}

/* With draws by source the coverage must lie from 0.93 to 0.97. */
static int check_draws(nb_ctx *ctx)
{
    static const int sources[] = {6, 8, 12, 24}, trials[] = {3, 5}, models[] = {1, 4};
    int bad = 0;
    puts("\ndraws by source, and shared, of which the luck has heavy tails; widths: of shared draws over by source\n"
         "luck       models  trials  sources  covers by source  covers shared  times as wide");
    for (int i = 0; i < LUCKS * 2 * 2 * 4; i++) {
        trial_model m = {(luck_kind)(i / 16), models[i / 8 % 2], sources[i % 4], trials[i / 4 % 2], 1, false};
        trial_tally apart = simulate_trials(&m, ctx);
        m.shared = true;
        trial_tally shared = simulate_trials(&m, ctx);
        double covered = apart.covered / (double)REPLICATES;
        printf("%-9s  %6d  %6d  %7d  %16.4f  %13.4f  %13.2f\n", luck_names[m.kind], m.models, m.trials, m.sources,
               covered, shared.covered / (double)REPLICATES, shared.width / apart.width);
        if (covered >= 0.93 && covered <= 0.97) continue;
        fprintf(stderr, "%s luck by source, %d models, %d sources, %d trials: the interval covers %.4f\n",
                luck_names[m.kind], m.models, m.sources, m.trials, covered);
        bad++;
    }
    return bad;
}

/* Many lines against one baseline, as a comparison has them: half of each component is the baseline's, and so the same
 * in all lines. There is no difference; a study errs where the interval of any line, such that those of all hold
 * together, excludes 0. */
enum { LINES = 24, FAMILIES = 2000, FAMILY_SOURCES = 32, FAMILY_TRIALS = 10 };

typedef struct {
    int single, any, satterthwaite; /* lines with p <= 0.05; studies that err, and that would by the p of se and df */
} family_tally;

typedef struct { /* of one line, or of the baseline: standard normal numbers */
    double of_trial[MOST_MODELS][MOST_TRIALS], source[FAMILY_SOURCES], rest[FAMILY_SOURCES][FAMILY_TRIALS];
} luck;

static void draw_luck(const trial_model *m, gsl_rng *rng, luck *l)
{
    draw_trials(m, rng, l->of_trial);
    for (int u = 0; u < m->models * m->sources; u++) {
        l->source[u] = gsl_ran_gaussian_ziggurat(rng, 1);
        for (int t = 0; t < m->trials; t++) l->rest[u][t] = gsl_ran_gaussian_ziggurat(rng, 1);
    }
}

static nb_estimate estimate_line(const trial_model *m, const luck *baseline, const luck *line, nb_ctx *ctx)
{
    static nb_crossed_value values[FAMILY_SOURCES * FAMILY_TRIALS];
    nb_unit_value units[FAMILY_SOURCES];
    nb_common_error common[MOST_MODELS + 1];
    nb_estimate e[MOST_MODELS + 1];
    int count = m->models * m->sources;
    for (int u = 0; u < count; u++) {
        int g = u / m->sources;
        const components *c = m->models == 1 ? &of_all : &of_models[g];
        units[u] = (nb_unit_value){.stratum = g, .source = u};
        for (int t = 0; t < m->trials; t++) {
            double y = sqrt(c->source / 2) * (line->source[u] - baseline->source[u]) +
                       sqrt(m->times * c->trial / 2) * (line->of_trial[g][t] - baseline->of_trial[g][t]) +
                       sqrt(c->rest / 2) * (line->rest[u][t] - baseline->rest[u][t]);
            values[u * m->trials + t] = (nb_crossed_value){.stratum = g, .source = u, .trial = t, .value = y};
            units[u].value += y / m->trials;
        }
    }
    const nb_estimate_terms terms = {.confidence = 0.95, .common = common};
    MUST(nb_crossed_errors(count * m->trials, values, m->models, all_share, common, ctx));
    MUST(nb_estimate_units(count, units, m->models, &terms, e, ctx));
    return e[m->models];
}

static family_tally simulate_family(const trial_model *m, nb_ctx *ctx)
{
    static luck baseline, line;
    family_tally t = {0};
    gsl_rng *rng;
    MUST(nb_random_new(&rng, ctx));
    for (int study = 0; study < FAMILIES; study++) {
        bool any = false, by_se = false;
        const nb_stream stream = {
            .seed = 1, .trial = study, .role = "simulation", .component = "family", .m = m->trials};
        nb_random_seed(rng, &stream);
        draw_luck(m, rng, &baseline);
        for (int i = 0; i < LINES; i++) {
            draw_luck(m, rng, &line);
            nb_estimate e = estimate_line(m, &baseline, &line, ctx);
            nb_interval joint = nb_estimate_interval(&e, nb_joint_confidence(0.95, LINES));
            any = any || !covers(joint.low, joint.high);
            by_se = by_se || LINES * nb_t_p(e.mean, e.se, e.df) <= 0.05;
            t.single += e.t_p <= 0.05;
        }
        t.any += any;
        t.satterthwaite += by_se;
    }
    return t;
}

/* Intervals that hold together must do so at 95 %, within 4 standard deviations. */
static int check_families(nb_ctx *ctx)
{
    static const int shapes[][2] = {{1, 12}, {1, 32}, {4, 8}}, trials[] = {3, 5, 10};
    static const double times[] = {1, 2};
    const double most = 0.05 + 4 * sqrt(0.05 * 0.95 / FAMILIES);
    int bad = 0;
    puts("\n24 lines against one baseline, of which none differs; the trials' component as measured, and twice that\n"
         "trials'  models  sources each  trials  a line errs  any errs  by se and df alone");
    for (int i = 0; i < 2 * 3 * 3; i++) {
        const trial_model m = {NORMAL_LUCK,   shapes[i / 3 % 3][0], shapes[i / 3 % 3][1],
                               trials[i % 3], times[i / 9],         true};
        family_tally t = simulate_family(&m, ctx);
        double any = t.any / (double)FAMILIES;
        printf("%7.0f  %6d  %12d  %6d  %11.3f  %8.3f  %19.3f\n", m.times, m.models, m.sources, m.trials,
               t.single / (double)FAMILIES / LINES, any, t.satterthwaite / (double)FAMILIES);
        if (any <= most) continue;
        fprintf(stderr, "%d models, %d sources each, %d trials: %.4f of families err, expected at most %.4f\n",
                m.models, m.sources, m.trials, any, most);
        bad++;
    }
    return bad;
}

/* Verdicts of lines whose methods are truly the same, or differ by just what matters, in either direction: a study errs
 * where one of its lines is found better or worse though it is the same, or on the wrong side, or equivalent though it
 * is not. The lines share a part of their variance. Beside the rule (nb_judge on intervals that hold together) stands
 * one by steps that does not hold: Holm's on the smaller p of each line. */
enum { LEVEL_SOURCES = 12, MOST_LINES = 20, LEVEL_STUDIES = 4000 };

typedef struct {
    int lines;
    double shared; /* part of the variance */
    double margin; /* in standard errors */
    int off;       /* every off-th line is at the margin, by turns above and below; 0: none */
} level_model;

typedef struct {
    int judged, stepped; /* studies that err */
} level_tally;

/* Whether a verdict of a line with this true difference is wrong. */
static bool is_wrong(nb_verdict verdict, double truth, double margin)
{
    return (verdict == NB_BETTER && truth >= 0) || (verdict == NB_WORSE && truth <= 0) ||
           (verdict == NB_EQUIVALENT && fabs(truth) >= margin);
}

/* The verdict on a line by the smaller of its p, which is *p. */
static nb_verdict take_smaller(const nb_estimate *e, double margin, double *p)
{
    double same = gsl_cdf_tdist_Q((margin - fabs(e->mean)) / e->se, e->df);
    *p = fmin(e->t_p, same);
    return same < e->t_p ? NB_EQUIVALENT : e->mean < 0 ? NB_BETTER : NB_WORSE;
}

static void count_levels(const level_model *m, gsl_rng *rng, level_tally *t, nb_ctx *ctx)
{
    const nb_evidence evidence = {
        .found = LEVEL_SOURCES, .sources = LEVEL_SOURCES, .drawn_trials = -1, .has_interval = true};
    double common[LEVEL_SOURCES], p[MOST_LINES], adjusted[MOST_LINES], margin = m->margin / sqrt(LEVEL_SOURCES);
    bool wrong[MOST_LINES], judged = false, stepped = false;
    for (int s = 0; s < LEVEL_SOURCES; s++) common[s] = gsl_ran_gaussian_ziggurat(rng, sqrt(m->shared));
    for (int i = 0; i < m->lines; i++) {
        double truth = m->off == 0 || i % m->off > 0 ? 0 : i / m->off % 2 ? -margin : margin;
        nb_unit_value units[LEVEL_SOURCES];
        nb_estimate e[2];
        nb_verdict verdict;
        const char *why;
        for (int s = 0; s < LEVEL_SOURCES; s++)
            units[s] = (nb_unit_value){
                .source = s, .value = truth + common[s] + gsl_ran_gaussian_ziggurat(rng, sqrt(1 - m->shared))};
        MUST(nb_estimate_units(LEVEL_SOURCES, units, 1, &(nb_estimate_terms){.confidence = 0.95}, e, ctx));
        nb_interval joint = nb_estimate_interval(e, nb_joint_confidence(0.95, m->lines));
        MUST(nb_judge(joint, margin, &evidence, false, &verdict, &why, ctx));
        judged = judged || is_wrong(verdict, truth, margin);
        wrong[i] = is_wrong(take_smaller(e, margin, &p[i]), truth, margin);
    }
    adjust_by_holm(m->lines, p, adjusted);
    for (int i = 0; i < m->lines; i++) stepped = stepped || (wrong[i] && adjusted[i] <= 0.05);
    t->judged += judged;
    t->stepped += stepped;
}

/* Any error must be as rare as 5 %, within 4 standard deviations; by steps it is not. */
static int check_levels(nb_ctx *ctx)
{
    static const int lines[] = {1, 2, 5, 20}, off[] = {0, 2, 1};
    static const double margins[] = {2, 3.5, 5}, shared[] = {0, 0.5};
    const double most = 0.05 + 4 * sqrt(0.05 * 0.95 / LEVEL_STUDIES);
    double largest = 0;
    int bad = 0;
    gsl_rng *rng;
    MUST(nb_random_new(&rng, ctx));
    puts("\nverdicts on lines that are the same, or at the margin (in standard errors): studies with any error\n"
         "at the margin  shared  margin  lines  any errs  by Holm's steps on the smaller p");
    for (int i = 0; i < 3 * 2 * 3 * 4; i++) {
        const level_model m = {lines[i % 4], shared[i / 12 % 2], margins[i / 4 % 3], off[i / 24]};
        level_tally t = {0};
        for (int study = 0; study < LEVEL_STUDIES; study++) {
            const nb_stream stream = {
                .seed = 1, .trial = study, .role = "simulation", .component = "levels", .m = m.lines};
            nb_random_seed(rng, &stream);
            count_levels(&m, rng, &t, ctx);
        }
        double any = t.judged / (double)LEVEL_STUDIES, stepped = t.stepped / (double)LEVEL_STUDIES;
        largest = fmax(largest, stepped);
        printf("%-13s  %6.1f  %6.1f  %5d  %8.4f  %32.4f\n",
               m.off == 0   ? "none"
               : m.off == 1 ? "all"
                            : "half",
               m.shared, m.margin, m.lines, any, stepped);
        if (any <= most) continue;
        fprintf(stderr, "%d lines, margin %.1f: %.4f of studies err, expected at most %.4f\n", m.lines, m.margin, any,
                most);
        bad++;
    }
    if (largest > most) return bad;
    fprintf(stderr, "Holm's steps on the smaller p err in %.4f at most: they would do\n", largest);
    return bad + 1;
}

int main(void)
{
    static const model models[] = {{"normal", 5, false, 0.5, 0.94, 0.85},   {"normal", 10, false, 0.5, 0.94, 0.89},
                                   {"normal", 30, false, 0.5, 0.94, 0.90},  {"normal", 8, false, 0.9, 0.94, 0.88},
                                   {"lognormal", 5, true, 0.5, 0.90, 0.81}, {"lognormal", 10, true, 0.5, 0.90, 0.84},
                                   {"lognormal", 30, true, 0.5, 0.90, 0.87}};
    int bad = 0;
    nb_ctx *ctx = nb_ctx_new();
    if (!ctx) return EXIT_FAILURE;
    printf("%-9s  %-3s  %-7s  %-10s  %-12s  %-10s  %-6s  %-11s  %-6s  %-11s  %-8s  %-9s\n", "sources'", "icc",
           "sources", "t interval", "BCa interval", "BCa/t wide", "t test", "signed rank", "sign", "t of heads",
           "mean icc", "effective");
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        tally t = simulate(&models[i], ctx);
        print(&models[i], &t);
        bad += check(&models[i], &t, ctx);
    }
    bad += check_crossed(ctx);
    bad += check_draws(ctx);
    bad += check_families(ctx);
    bad += check_levels(ctx);
    nb_ctx_free(ctx);
    return bad > 0;
}
