/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_one_answer.c - one question has one answer, whoever is asked: random runs, of several settings, models, builds
 * and trials, with failures, rows that are not run, ties, rounding noise, few sources, and methods that draw nothing or
 * have looked at what they are judged on, an oracle, and blocks. The comparison is what the others are held against. */
#include "pages.h"
#include "stored_rows.h"

#include "config/keys.h"
#include "answers/claims.h"
#include "answers/compare.h"
#include "show/figure.h"
#include "show/query.h"
#include "show/table.h"
#include "rows/statement.h"
#include "rows/views.h"
#include "studies/error/study.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

enum { RUNS = 40, MOST = 8192, STRATEGIES = 4, CORES = 2, SIZES = 2 };
#define EXPECTED 0.98 /* the largest ratio that a claim expects */

static const char *const strategies[STRATEGIES] = {"uniform", "segment_means", "kmeans", "leverage"};
static const char *const cores[CORES] = {"svd", "iterative"};

typedef struct {
    int count, builds[MOST];
    nb_error_row rows[MOST];
} table;

typedef struct { /* what a run is like */
    int models, sources, heads, trials;
    bool failures, unfinished, seen, noise, ties;
    bool seen_late; /* who looks at what it is judged on does so with more landmarks alone */
    bool all_noise; /* with more landmarks nothing is above its noise */
    bool lost;      /* one source has no result of any method */
    bool blocks;    /* one strategy is in a block of its own, with one core and one m */
    bool of_builds; /* each strategy is measured by a program of its own */
    bool by_turns;  /* each program measures every second source of a strategy and core, the other one the others */
    bool cores_of_builds, core_seen; /* each core is; one core has looked at what it is judged on */
} shape;

static gsl_rng *rng;

static bool one_in(unsigned long n)
{
    return gsl_rng_uniform_int(rng, n) == 0;
}

static shape draw_shape(void)
{
    shape s = (shape){.models = 1 + one_in(3),
                      .sources = 4 + (int)gsl_rng_uniform_int(rng, 6),
                      .heads = 1 + one_in(2),
                      .trials = 1 + (int)gsl_rng_uniform_int(rng, 5),
                      .failures = one_in(3),
                      .unfinished = one_in(8),
                      .seen = one_in(5),
                      .noise = one_in(4),
                      .ties = one_in(4),
                      .lost = one_in(4),
                      .blocks = one_in(4),
                      .of_builds = one_in(4)};
    s.cores_of_builds = one_in(4);
    s.core_seen = one_in(4);
    s.by_turns = one_in(5);
    s.seen_late = one_in(2);
    s.all_noise = one_in(6);
    if (s.of_builds || s.unfinished) s.sources += 4, s.trials += 2; /* enough for a verdict, if there were one */
    return s;
}

static void set_error(nb_error_row *r, const shape *s, int strategy, int core)
{
    double error = (0.5 - 0.1 * strategy) * (1 - 0.1 * core) * exp(0.2 * gsl_rng_uniform(rng));
    r->measures.error_noise = s->noise && one_in(3) ? 0.45 : 1e-14;
    if (s->all_noise && r->landmarks == 8) r->measures.error_noise = 1;
    r->measures.error = s->ties && one_in(2) ? 0.5 : error;
    bool seen = ((s->seen && strategy == 2) || (s->core_seen && core == 1)) && !(s->seen_late && r->landmarks == 4);
    r->measures.error_unseen = seen ? 1.1 * error : r->measures.error;
    r->measures.error_subspace = 0.1;
    r->measures.baseline_mean = 10; /* no error is in brackets */
    if ((s->failures && one_in(30)) || (s->lost && strcmp(r->source, "b") == 0)) {
        r->status = "failed";
        r->measures.error = r->measures.error_unseen = NAN;
    }
}

static void add(table *t, const shape *s, int model, int source, int head, int trial, int strategy, int core, int m)
{
    static const char *const models[] = {"M", "N"};
    static const char *const sources[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"};
    nb_error_row *r = &t->rows[t->count];
    *r = (nb_error_row){.experiment = "x",
                        .problem = "p",
                        .kernel = "k",
                        .strategy = strategies[strategy],
                        .pairing = "joint",
                        .factors = "nystromformer",
                        .core = cores[core],
                        .rows = "all",
                        .engine = "streamed",
                        .precision = "double",
                        .model = models[model],
                        .source = sources[source],
                        .status = "ok",
                        .reason = "",
                        .seed = 1,
                        .head = (model * 20 + source) * 2 + head,
                        .trial = trial,
                        .n = 9,
                        .d = 2,
                        .landmarks = m ? 8 : 4};
    nb_measures_clear(&r->measures);
    set_error(r, s, strategy, core);
    t->builds[t->count] = 1 + (s->of_builds ? strategy : 0) + (s->cores_of_builds ? STRATEGIES * core : 0);
    if (s->by_turns) t->builds[t->count] = 1 + (strategy + core + source) % 2;
    t->count++;
}

/* Of what draws nothing, one trial stands for all. */
static void draw_run(table *t, const shape *s)
{
    t->count = 0;
    for (int all = s->models * s->sources * s->heads * STRATEGIES * CORES * SIZES, i = 0; i < all; i++) {
        int left = i, strategy = left % STRATEGIES, core = (left /= STRATEGIES) % CORES, m = (left /= CORES) % SIZES,
            head = (left /= SIZES) % s->heads, source = (left /= s->heads) % s->sources;
        if (s->blocks && strategy == 2 && (core != 1 || m != 0)) continue;
        for (int trial = 0; trial < (strategy == 1 ? 1 : s->trials); trial++)
            add(t, s, left / s->sources, source, head, trial, strategy, core, m);
    }
    if (!s->unfinished) return;
    t->rows[t->count - 1].status = "planned";
    t->rows[t->count - 1].measures.error = NAN;
}

static nb_relation *relation(const table *t, nb_ctx *ctx)
{
    nb_row_list list = {.count = t->count, .columns = nb_error_columns, .row_size = sizeof *t->rows};
    list.bytes = nb_alloc(ctx, (size_t)t->count, sizeof *t->rows);
    assert_non_null(list.bytes);
    memcpy(list.bytes, t->rows, (size_t)t->count * sizeof *t->rows);
    nb_relation *r = relation_of_builds(&nb_study_error.run.config.study, &list, t->builds, ctx);
    assert_ok(ctx, nb_relation_take_baseline(r, strategies[0], ctx));
    return r;
}

static const nb_cell *setting_cell(const nb_compared *x, const char *column)
{
    int i = 0;
    while (strcmp(x->contrasts->setting_columns[i], column) != 0) i++;
    return nb_setting_cell(x->contrasts, x->contrast->setting, i, NB_OF_ROW);
}

static const char *value_of(const nb_compared *x, int value)
{
    return nb_grid_at(&x->contrasts->values, value, NB_OF_ROW)->text;
}

/* NULL: the comparison has no such line. */
static const nb_compared *find_line(const nb_comparison *c, const char *strategy, const char *core, long long m,
                                    long long stratum)
{
    for (int i = 0; i < c->count; i++) {
        const nb_compared *x = &c->items[i];
        if (strcmp(value_of(x, x->contrast->value), strategy) == 0 && x->stratum == stratum &&
            strcmp(setting_cell(x, "core")->text, core) == 0 && setting_cell(x, "landmarks")->integer == m)
            return x;
    }
    return NULL;
}

static bool same(double a, double b)
{
    return a == b || (!isfinite(a) && !isfinite(b));
}

/* The view that the figures ratio and the report's are made of. A comparison of one model has it over all alone. */
static void check_ratios(nb_relation *r, const nb_comparison *c, nb_ctx *ctx)
{
    nb_grid a;
    int lines = 0, found = 0;
    assert_ok(ctx,
              nb_relation_ask_freely(
                  r,
                  "SELECT m.spec, core.spec, ratio.landmarks, ratio.stratum_id, ratio, low, high, sources, heads FROM "
                  "ratio JOIN method AS m ON m.id = ratio.strategy_id JOIN key ON key.number = ratio.scope_id JOIN "
                  "component AS core ON core.kind = 'core' AND core.id = key.core_id WHERE ratio.head_id IS NULL",
                  &a, NULL, NULL, ctx));
    for (int i = 0; i < a.count; i++) {
        const nb_cell *cell = nb_grid_at(&a, i, 0);
        const nb_compared *x = find_line(c, cell[0].text, cell[1].text, cell[2].integer, cell[3].integer);
        if (!x) x = find_line(c, cell[0].text, cell[1].text, cell[2].integer, NB_OVER_STRATA);
        assert_non_null(x);
        assert_null(x->contrast->refusal);
        assert_true(cell[4].real == exp(x->estimate.mean));
        assert_int_equal(cell[7].integer, x->estimate.sources);
        assert_int_equal(cell[8].integer, x->estimate.units);
        if (x->estimate.sources < NB_LEAST_SOURCES) continue;
        assert_true(same(cell[5].real, exp(x->estimate.low)) && same(cell[6].real, exp(x->estimate.high)));
    }
    for (int i = 0; i < a.count; i++) found += nb_grid_at(&a, i, 3)->integer >= 0;
    for (int i = 0; i < c->count; i++)
        for (int s = 0; s < c->contrasts->strata.count; s++)
            lines += c->items[i].stratum == NB_OVER_STRATA && !c->items[i].contrast->refusal &&
                     c->items[i].contrast->of.counts[s].pairs > 0;
    assert_int_equal(found, lines);
}

/* The median of the ratios of a line's pairs, of one stratum or of all (-1). */
static double median_ratio(const nb_compared *x, long long stratum, nb_ctx *ctx)
{
    const nb_paired *of = &x->contrast->of;
    double *ratios = nb_alloc(ctx, (size_t)of->crossed_count + 1, sizeof *ratios);
    size_t count = 0;
    assert_non_null(ratios);
    for (int i = 0; i < of->crossed_count; i++)
        if (stratum < 0 || of->crossed[i].stratum == stratum) ratios[count++] = exp(of->crossed[i].value);
    return count > 0 ? gsl_stats_median(ratios, 1, count) : NAN;
}

static double real_of(const nb_cell *cell)
{
    return cell->type == NB_CELL_NONE ? NAN : cell->real;
}

/* The least median ratio to the baseline's, which has 1, in a panel with that core and m. */
static double least_ratio(const nb_comparison *c, const nb_cell *core, long long m, long long stratum, nb_ctx *ctx)
{
    double least = 1;
    for (int i = 1; i < STRATEGIES; i++) {
        const nb_compared *x = find_line(c, strategies[i], core->text, m, NB_OVER_STRATA);
        if (x && !x->contrast->refusal) least = fmin(least, median_ratio(x, stratum, ctx)); /* of no pair it is NaN */
    }
    return least;
}

/* The table `shares` has the pairs of a comparison with the baseline, and none that is refused: the median of their
 * ratios, and on the scale of its logarithm the share of the gap to the least one. Returns how many shares there are.
 * Tolerances: exp(log(ratio)) has an error of some eps, which divided by the least gap, ln(0.99), is 1e-13. */
static int check_shares(nb_relation *r, const nb_comparison *c, nb_ctx *ctx)
{
    nb_grid a;
    int shares = 0;
    assert_ok(
        ctx, nb_relation_ask_freely(
                 r,
                 "SELECT v.strategy, core.spec, landmarks, (SELECT CASE WHEN min(stratum_id) < max(stratum_id) THEN -1 "
                 "ELSE min(stratum_id) END FROM key WHERE key.panel_id = s.panel_id), count, noise, ratio, share "
                 "FROM share AS s JOIN variant AS v ON v.id = variant_id JOIN component AS core ON core.kind = 'core' "
                 "AND core.id = core_id WHERE s.panel_id IS NOT NULL",
                 &a, NULL, NULL, ctx));
    assert_true(a.count > 0);
    for (int i = 0; i < a.count; i++) {
        const nb_cell *cell = nb_grid_at(&a, i, 0);
        const nb_compared *x = find_line(c, cell[0].text, cell[1].text, cell[2].integer, NB_OVER_STRATA);
        long long stratum = cell[3].integer;
        const nb_paired *of = x && !x->contrast->refusal ? &x->contrast->of : NULL;
        const nb_pair_counts none = {.pairs = 0},
                             *counts = of ? &of->counts[stratum < 0 ? c->contrasts->strata.count : stratum] : &none;
        double ratio = real_of(cell + 6), share = real_of(cell + 7);
        if (strcmp(cell[0].text, strategies[0]) == 0) continue; /* itself */
        assert_int_equal(cell[4].integer, counts->pairs);
        assert_int_equal(cell[5].integer, counts->noise);
        assert_int_equal(isnan(ratio), counts->pairs == 0);
        if (counts->pairs == 0) continue;
        assert_true(fabs(ratio / median_ratio(x, stratum, ctx) - 1) <= 1e-14);
        double least = least_ratio(c, cell + 1, cell[2].integer, stratum, ctx), wanted = log(ratio) / log(least);
        if (isnan(share))
            assert_true(least > 0.99 - 1e-13 || fabs(wanted) > 1 - 1e-12);
        else
            assert_true(fabs(share - wanted) <= 1e-12);
        shares += !isnan(share);
    }
    return shares;
}

/* Values of several m in one trial are averaged in another order than here. */
static bool close_to(double a, double b)
{
    return same(a, b) || fabs(a - b) <= 1e-14 * fabs(b);
}

/* A forest's lines over all panels are those of a comparison that averages over landmarks. */
static int check_forest(nb_relation *r, const char *name, const char *by, nb_ctx *ctx)
{
    const nb_compare_terms terms = {.contrast = {.by = by, .metric = "error", .pool = "landmarks"}, .confidence = 0.95};
    const nb_figure *forest = (const nb_figure *)nb_registry_find(&nb_figures, name);
    bool of_cores = strcmp(by, "core") == 0;
    nb_comparison c;
    nb_grid a;
    int lines = 0, found = 0;
    assert_non_null(forest);
    assert_ok(ctx, nb_compare(r, &terms, &c, ctx));
    assert_ok(ctx, nb_query_fill(r, forest->sql, &a, ctx));
    for (int i = 0; i < a.count; i++) {
        const nb_cell *core = nb_grid_at(&a, i, 0), *label = core + 1, *panel = core + 2, *ratio = core + 4;
        bool itself = !of_cores && strcmp(label->text, strategies[0]) == 0;
        if (strcmp(panel->text, "all") != 0 || itself) continue;
        lines++;
        for (int k = 0; k < c.count; k++) {
            const nb_compared *x = &c.items[k];
            const char *value = nb_value_label(c.contrasts, x->contrast->value);
            const char *other = setting_cell(x, of_cores ? "strategy" : "core")[NB_OF_LABEL].text;
            if (x->stratum != NB_OVER_STRATA || strcmp(of_cores ? other : value, label->text) != 0 ||
                strcmp(of_cores ? value : other, core->text) != 0)
                continue;
            assert_null(x->contrast->refusal);
            assert_true(close_to(ratio[0].real, exp(x->estimate.mean)));
            bool known = x->estimate.sources >= NB_LEAST_SOURCES;
            assert_true(close_to(ratio[1].real, known ? exp(x->estimate.low) : NAN));
            assert_true(close_to(ratio[2].real, known ? exp(x->estimate.high) : NAN));
            found++;
        }
    }
    assert_int_equal(found, lines);
    return lines;
}

/* The figures of cores have the pairs of a comparison with the first core, and none that it refuses. */
static int check_cores(nb_relation *r, nb_ctx *ctx)
{
    static const char asked[] =
        "SELECT coalesce(sum(NOT noise AND ratio IS NOT NULL), 0), coalesce(sum(noise), 0), (SELECT count(*) FROM "
        "core_left_out), (SELECT sum(count) FROM core_ratio AS c JOIN variant AS w ON w.id = c.variant_id WHERE "
        "w.strategy = '%s' AND landmarks = %lld) FROM core_contest AS p JOIN variant AS v ON v.id = p.variant_id "
        "WHERE v.strategy = '%s' AND landmarks = %lld";
    const nb_compare_terms terms = {.contrast = {.by = "core", .metric = "error"}, .confidence = 0.95};
    nb_comparison c;
    nb_grid a;
    int refused = 0, left_out = 0;
    assert_ok(ctx, nb_compare(r, &terms, &c, ctx));
    for (int i = 0; i < c.count; i++) {
        const nb_compared *x = &c.items[i];
        const char *strategy = setting_cell(x, "strategy")->text;
        long long m = setting_cell(x, "landmarks")->integer;
        int pairs = 0, noise = 0;
        if (x->stratum != NB_OVER_STRATA) continue;
        for (int s = 0; s < c.contrasts->strata.count && !x->contrast->refusal; s++) {
            pairs += x->contrast->of.counts[s].pairs;
            noise += x->contrast->of.counts[s].noise;
        }
        refused += x->contrast->refusal != NULL;
        assert_ok(ctx, nb_relation_ask_freely(r, nb_format(ctx, asked, strategy, m, strategy, m), &a, NULL, NULL, ctx));
        assert_int_equal(nb_grid_at(&a, 0, 0)->integer, pairs);
        assert_int_equal(nb_grid_at(&a, 0, 1)->integer, noise);
        assert_int_equal(nb_grid_at(&a, 0, 3)->integer, pairs);
        left_out = (int)nb_grid_at(&a, 0, 2)->integer;
    }
    assert_int_equal(left_out > 0, refused > 0);
    return refused;
}

/* How many choices of landmarks a table has of a core that is not the one that it is over, {by} of all. */
static long long count_choices(nb_relation *r, const char *name, const char *core, const char *over, nb_ctx *ctx)
{
    const nb_table *of = (const nb_table *)nb_registry_find(&nb_tables, name);
    nb_grid a;
    long long count = 0;
    assert_non_null(of);
    assert_ok(ctx, nb_query_fill(r, of->sql, &a, ctx));
    int by = a.count ? nb_grid_column(&a, "by") : -1;
    for (int i = 0; i < a.count; i++) {
        const nb_cell *cell = nb_grid_at(&a, i, 0);
        if ((by < 0 || strcmp(cell[by].text, "all") == 0) && strcmp(cell[nb_grid_column(&a, "core")].text, core) == 0 &&
            strcmp(cell[nb_grid_column(&a, "over")].text, over) == 0)
            count += cell[nb_grid_column(&a, "choices")].integer;
    }
    return count;
}

/* The tables of cores on the same landmarks, and on twice as many, have the pairs of a comparison that averages over
 * landmarks, and none that it refuses. *refused: lines that it refuses; *twice: ways round in which
 * there are some on twice as many. Returns how many pairs there are. */
static int check_duels(nb_relation *r, int *refused, int *twice, nb_ctx *ctx)
{
    const nb_compare_terms terms = {.contrast = {.by = "core", .metric = "error", .pool = "landmarks"},
                                    .confidence = 0.95};
    nb_comparison c;
    int pairs = 0, noise = 0;
    assert_ok(ctx, nb_compare(r, &terms, &c, ctx));
    for (int i = 0; i < c.count; i++) {
        const nb_compared *x = &c.items[i];
        if (x->stratum != NB_OVER_STRATA) continue;
        *refused += x->contrast->refusal != NULL;
        for (int s = 0; s < c.contrasts->strata.count && !x->contrast->refusal; s++) {
            pairs += x->contrast->of.counts[s].pairs;
            noise += x->contrast->of.counts[s].noise;
        }
    }
    assert_int_equal(count_choices(r, "pairs", cores[1], cores[0], ctx), pairs);
    assert_int_equal(count_choices(r, "pairs", cores[0], cores[1], ctx), pairs);
    for (int i = 0; i < CORES; i++) { /* some are refused that have looked at rows with more landmarks alone */
        long long choices = count_choices(r, "equal_cost", cores[i], cores[1 - i], ctx);
        assert_true(choices <= pairs + noise); /* of two that are noise, one may be above it with fewer landmarks */
        *twice += choices > 0;
    }
    return pairs;
}

static nb_claim_answer ask_claim(nb_relation *r, const nb_compared *x, nb_ctx *ctx)
{
    nb_yaml value;
    nb_mistakes mistakes = {.ctx = ctx};
    nb_claim *claims;
    nb_claim_results results;
    int count;
    const char *text = nb_format(ctx,
                                 "{says: x, compare: {strategy: [\"%s\", \"%s\"], metric: error, where: {landmarks: "
                                 "%lld, core: %s}}, expect: {ratio: [null, %g]}}",
                                 value_of(x, x->contrast->value), value_of(x, x->contrast->baseline),
                                 setting_cell(x, "landmarks")->integer, setting_cell(x, "core")->text, EXPECTED);
    assert_ok(ctx, nb_yaml_text(text, "test", &value, &mistakes));
    assert_ok(ctx, nb_claims_read(value, &nb_study_error.run.config.study, false, &count, &claims, &mistakes));
    if (mistakes.count > 0) fail_msg("%s", mistakes.texts[0]);
    assert_ok(ctx, nb_claims_ask(r, 1, claims, &results, ctx));
    return results.results[0].answer;
}

/* A claim of one setting is that line, and its verdict is of the same interval, as long as some method has a result
 * wherever one is planned. */
static void check_claims(nb_relation *r, const nb_comparison *c, nb_ctx *ctx)
{
    for (int i = 0; i < c->count; i++) {
        const nb_compared *x = &c->items[i];
        bool none = x->verdict == NB_NO_VERDICT || x->verdict == NB_REFUSED;
        if (x->stratum != NB_OVER_STRATA) continue;
        const nb_claim_answer a = ask_claim(r, x, ctx);
        if (none) assert_int_equal(a.verdict, NB_CLAIM_IS_VOID);
        if (!none) {
            assert_int_not_equal(a.verdict, NB_CLAIM_IS_VOID);
            assert_int_equal(a.verdict == NB_CLAIM_IS_REPRODUCED, exp(x->estimate.high) <= EXPECTED);
            assert_int_equal(a.verdict == NB_CLAIM_IS_REFUTED, exp(x->estimate.low) > EXPECTED);
        }
        if (a.sources == 0) continue;
        assert_true(same(a.estimate, exp(x->estimate.mean)) && same(a.low, exp(x->estimate.low)) &&
                    same(a.high, exp(x->estimate.high)));
    }
}

static int count_stars(nb_relation *r, const char *name, nb_ctx *ctx)
{
    const nb_table *of = (const nb_table *)nb_registry_find(&nb_tables, name);
    nb_page page;
    int count = 0;
    assert_non_null(of);
    nb_page_make(&page, ctx);
    assert_ok(ctx, nb_table_show(&page, of, r, ctx));
    for (const char *at = page_text(&page, NB_PAGE_TEXT, 0, ctx); (at = strchr(at, '*')); at++)
        count += at[-1] >= '0' && at[-1] <= '9';
    return count;
}

/* The line of two values, either way round, in a setting (core NULL: of any) and a stratum, or over all of them where
 * that has none of its own; NULL: there is none. */
static const nb_compared *find_pair(const nb_comparison *c, const nb_cell *a, const nb_cell *b, const nb_cell *core,
                                    long long m, long long stratum)
{
    const nb_compared *found = NULL;
    for (int i = 0; i < c->count; i++) {
        const nb_compared *x = &c->items[i];
        const char *value = value_of(x, x->contrast->value), *base = value_of(x, x->contrast->baseline);
        bool same_two = (strcmp(value, a->text) == 0 && strcmp(base, b->text) == 0) ||
                        (strcmp(value, b->text) == 0 && strcmp(base, a->text) == 0);
        if (same_two && (!core || strcmp(setting_cell(x, "core")->text, core->text) == 0) &&
            setting_cell(x, "landmarks")->integer == m && (x->stratum == NB_OVER_STRATA || x->stratum == stratum))
            found = x;
    }
    return found;
}

/* Where two strategies have no verdict, the reason is that of their comparison. Returns how often that is so. */
static int check_reasons(nb_relation *r, const nb_comparison *c, nb_ctx *ctx)
{
    nb_grid a;
    assert_ok(
        ctx, nb_relation_ask_freely(
                 r,
                 "SELECT a.spec, b.spec, t.core, t.landmarks, t.stratum_id, why FROM contender_pair_estimate "
                 "JOIN titled AS t USING (standing_id) JOIN method AS a ON a.id = a_id JOIN method AS b ON b.id = b_id "
                 "WHERE verdict = 'none'",
                 &a, NULL, NULL, ctx));
    for (int i = 0; i < a.count; i++) {
        const nb_cell *cell = nb_grid_at(&a, i, 0);
        const nb_compared *x = find_pair(c, cell, cell + 1, cell + 2, cell[3].integer, cell[4].integer);
        assert_non_null(x);
        assert_int_equal(x->verdict, NB_NO_VERDICT);
        assert_string_equal(cell[5].text, x->why);
    }
    return a.count;
}

/* The table of wins refuses two strategies in a setting where their comparison does, and no others. Returns how many
 * times some are refused beside others that are not. */
static int check_refusals(nb_relation *r, const nb_comparison *c, nb_ctx *ctx)
{
    const nb_table *wins = (const nb_table *)nb_registry_find(&nb_tables, "wins");
    nb_grid a;
    int refused = 0, compared = 0;
    assert_ok(ctx, nb_query_fill(r, wins->sql, &a, ctx));
    int core = nb_grid_column(&a, "core"), m = nb_grid_column(&a, "landmarks"), method = nb_grid_column(&a, "method"),
        over = nb_grid_column(&a, "over"), refusal = nb_grid_column(&a, "refusal");
    for (int i = 0; i < a.count; i++) {
        const nb_cell *cell = nb_grid_at(&a, i, 0);
        const nb_compared *x = find_pair(c, cell + method, cell + over, cell + core, cell[m].integer, NB_OVER_STRATA);
        bool is_refused = cell[refusal].type != NB_CELL_NONE;
        if (x && (x->pairs->pairs > 0 || x->contrast->refusal))
            assert_int_equal(is_refused, x->contrast->refusal != NULL);
        refused += is_refused;
        compared += !is_refused;
    }
    return refused > 0 && compared > 0;
}

/* Tables whose stars compare two methods: what is compared, and of each star the one with less error, the other, the
 * core (NULL: any), landmarks, the stratum (-1: several) and the ratio of the two. */
static const struct {
    const char *table, *by, *pool, *starred;
} star_tables[] = {
    {"errors", "strategy", NULL,
     "SELECT a.strategy, b.spec, core.spec, r.landmarks, (SELECT CASE WHEN min(stratum_id) < max(stratum_id) THEN -1 "
     "ELSE min(stratum_id) END FROM key WHERE key.panel_id = r.panel_id), e.ratio FROM ranked_cell AS r "
     "JOIN first_against_next_estimate AS e USING (panel_id, core_id, landmarks, variant_id) "
     "JOIN variant AS a ON a.id = r.variant_id JOIN component AS b ON b.kind = 'strategy' AND b.id = next_id "
     "JOIN component AS core ON core.kind = 'core' AND core.id = r.core_id WHERE verdict = 'better'"},
    {"wins", "strategy", NULL,
     "SELECT CASE verdict WHEN 'better' THEN a.spec ELSE b.spec END, CASE verdict WHEN 'better' THEN b.spec ELSE "
     "a.spec END, t.core, t.landmarks, t.stratum_id, CASE verdict WHEN 'better' THEN ratio ELSE 1 / ratio END "
     "FROM contender_pair_estimate AS e JOIN titled AS t USING (standing_id) JOIN method AS a ON a.id = a_id "
     "JOIN method AS b ON b.id = b_id WHERE verdict IN ('better', 'worse')"},
    {"cores", "core", "strategy",
     "SELECT core.spec, next.spec, NULL, c.landmarks, -1, e.ratio FROM core_above AS c "
     "JOIN nearest_core_estimate AS e USING (landmarks, core_id) JOIN core ON core.id = core_id "
     "JOIN core AS next ON next.id = next_id WHERE verdict = 'better'"}};

/* A star stands where the comparison of its two methods, asked for that cell, is not refused, has a verdict, and finds
 * the same one to have less error: by the same interval, which that of the table contains. Returns how many there are.
 */
static int check_stars(nb_relation *r, size_t of, nb_ctx *ctx)
{
    const nb_compare_terms terms = {
        .contrast = {.by = star_tables[of].by, .metric = "error", .all_pairs = true, .pool = star_tables[of].pool},
        .confidence = 0.95,
        .margin = log(1.02)};
    nb_comparison c;
    nb_grid a;
    int stars = count_stars(r, star_tables[of].table, ctx);
    if (stars == 0) return 0;
    assert_ok(ctx, nb_relation_ask_freely(r, star_tables[of].starred, &a, NULL, NULL, ctx));
    assert_ok(ctx, nb_compare(r, &terms, &c, ctx));
    for (int i = 0; i < a.count; i++) {
        const nb_cell *cell = nb_grid_at(&a, i, 0), *core = cell[2].type == NB_CELL_TEXT ? cell + 2 : NULL;
        const nb_compared *x = find_pair(&c, cell, cell + 1, core, cell[3].integer, cell[4].integer);
        assert_non_null(x);
        assert_true(x->verdict != NB_NO_VERDICT && x->verdict != NB_REFUSED);
        double sign = strcmp(value_of(x, x->contrast->value), cell->text) == 0 ? 1 : -1;
        assert_true(sign * x->estimate.mean < 0);
        assert_true(sign > 0 ? x->estimate.high < 0 : x->estimate.low > 0);
        assert_true(fabs(log(cell[5].real) - sign * x->estimate.mean) <= 1e-14);
    }
    assert_int_equal(a.count, stars);
    return stars;
}

/* Of all refused strategies none is ranked but the first. `unjudged` counts pairs without a verdict. */
static int check_ranks(nb_relation *r, int *unjudged, nb_ctx *ctx)
{
    const nb_compare_terms terms = {
        .contrast = {.by = "strategy", .metric = "error", .all_pairs = true}, .confidence = 0.95, .margin = log(1.02)};
    nb_comparison c;
    nb_grid a;
    int refused = 0;
    assert_ok(ctx, nb_compare(r, &terms, &c, ctx));
    *unjudged += check_reasons(r, &c, ctx);
    for (int i = 0; i < c.count; i++) refused += c.items[i].verdict == NB_REFUSED;
    if (refused < c.count) return check_refusals(r, &c, ctx);
    assert_ok(ctx, nb_relation_ask_freely(r, "SELECT count(*) FROM contender WHERE ranked AND strategy_id > 0", &a,
                                          NULL, NULL, ctx));
    assert_int_equal(nb_grid_at(&a, 0, 0)->integer, 0);
    return check_refusals(r, &c, ctx);
}

/* Friedman's test stands where the comparison of any two that are ranked has a verdict or lacks one for its own sources
 * and results alone; where it does not, and there are sources enough, one of them is unsure. Returns how many
 * tests there are not for such a reason. */
static int check_tests(nb_relation *r, const shape *s, nb_ctx *ctx)
{
    const nb_compare_terms terms = {
        .contrast = {.by = "strategy", .metric = "error", .all_pairs = true}, .confidence = 0.95, .margin = log(1.02)};
    nb_comparison c;
    nb_grid a;
    int untested = 0, told = 0;
    assert_ok(ctx, nb_compare(r, &terms, &c, ctx));
    assert_ok(ctx, nb_relation_ask_freely(
                       r,
                       "SELECT a.spec, b.spec, t.core, t.landmarks, t.stratum_id, chi2, sources, standing_id "
                       "FROM test JOIN titled AS t USING (standing_id) JOIN contender AS x USING (standing_id) "
                       "JOIN contender AS y USING (standing_id) JOIN method AS a ON a.id = x.strategy_id "
                       "JOIN method AS b ON b.id = y.strategy_id "
                       "WHERE x.ranked AND y.ranked AND x.strategy_id < y.strategy_id ORDER BY standing_id",
                       &a, NULL, NULL, ctx));
    for (int i = 0; i < a.count; i++) {
        const nb_cell *cell = nb_grid_at(&a, i, 0);
        const nb_compared *x = find_pair(&c, cell, cell + 1, cell + 2, cell[3].integer, cell[4].integer);
        assert_non_null(x);
        bool unsure = s->unfinished || (x->drawn_trials >= 0 && x->drawn_trials < NB_LEAST_TRIALS);
        if (cell[5].type == NB_CELL_REAL) assert_false(unsure);
        told += unsure;
        if (i + 1 < a.count && cell[7].integer == nb_grid_at(&a, i + 1, 7)->integer) continue;
        bool counts = cell[5].type != NB_CELL_REAL && cell[6].integer >= NB_LEAST_SOURCES;
        assert_true(!counts || told > 0);
        untested += counts;
        told = 0;
    }
    return untested;
}

/* The answers of a column to rows, in their order: "1010". */
static const char *flags(nb_relation *r, const char *sql, nb_ctx *ctx)
{
    nb_grid a;
    const char *text = "";
    assert_ok(ctx, nb_relation_ask_freely(r, sql, &a, NULL, NULL, ctx));
    for (int i = 0; i < a.count; i++) text = nb_format(ctx, "%s%lld", text, nb_grid_at(&a, i, 0)->integer);
    return text;
}

/* How many a caveat is of, its first word. */
static int count_told(nb_relation *r, const char *statement, nb_ctx *ctx)
{
    const nb_sql_given *given = NB_GIVEN(NB_GIVE_VALUE("metric", "error"), NB_GIVE_VALUE("noise", "error_noise"));
    nb_grid a;
    assert_ok(ctx, nb_sql_ask(r, statement, given, &a, ctx));
    assert_int_equal(a.count, 1);
    return atoi(nb_grid_at(&a, 0, 0)->text);
}

/* Whether an error is rounding noise has one answer too: at its noise it is, above it or where that is not known it is
 * not. The rows are four heads of one source. */
static void test_noise(void **state)
{
    static const double noise[] = {1e-3, 0.999e-3, 2e-3, NAN};
    static const char wanted[] = "1010",
                      *const asked[] = {
                          "SELECT is_noise(error, error_noise) FROM run ORDER BY number",
                          "SELECT pair_noise(error, -error, error_noise, error_noise) FROM run ORDER BY number",
                          "SELECT noise FROM member ORDER BY id"};
    static table t;
    nb_ctx *ctx = *state;
    nb_yaml value;
    nb_mistakes mistakes = {.ctx = ctx};
    nb_claim *claims;
    nb_claim_results results;
    int count;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    t.count = 0;
    for (int i = 0; i < 4; i++) {
        add(&t, &(shape){.models = 1}, 0, 0, i, 0, 0, 0, 0);
        t.rows[i].measures.error = t.rows[i].measures.error_unseen = 1e-3;
        t.rows[i].measures.error_noise = noise[i];
        t.rows[i].reason = "warned of";
        assert_int_equal(nb_is_noise(1e-3, noise[i]), wanted[i] - '0');
        assert_int_equal(nb_is_noise(-1e-3, noise[i]), wanted[i] - '0');
    }
    nb_relation *r = relation(&t, ctx);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) assert_string_equal(flags(r, asked[i], ctx), wanted);
    assert_int_equal(count_told(r, "caveats.noise", ctx), 2);
    assert_int_equal(count_told(r, "caveats.warnings", ctx), 2);
    assert_ok(ctx,
              nb_yaml_text("{says: x, measure: {metric: error, statistic: geometric_mean}, expect: {value: [0, 1]}}",
                           "test", &value, &mistakes));
    assert_ok(ctx, nb_claims_read(value, &nb_study_error.run.config.study, false, &count, &claims, &mistakes));
    assert_int_equal(mistakes.count, 0);
    assert_ok(ctx, nb_claims_ask(r, 1, claims, &results, ctx));
    assert_string_equal(flags(r, "SELECT noise1 FROM temp.claim_choice ORDER BY id", ctx), wanted);
    assert_string_equal(flags(r, "SELECT x1 IS NULL FROM temp.claim_choice ORDER BY id", ctx), wanted);
}

/* How far an error is above the best core's has one answer: not known where that is no more than its noise, which rows
 * of old stores take as 1e-12. The rows are heads of one source with one core each, in two cores that take turns. */
static void test_above(void **state)
{
    static const struct {
        double subspace, noise;
    } rows[] = {{0.1, 1e-3}, {0.1, 1e-3}, {0.1, 0.1}, {1e-12, NAN}, {1.1e-12, NAN}, {NAN, 1e-3}};
    static const char known[] = "110010", *const asked[] = {
                                              "SELECT above IS NOT NULL FROM above_best_core ORDER BY number",
                                              "SELECT unseen IS NOT NULL FROM above_best_core ORDER BY number",
                                              "SELECT subspace IS NOT NULL FROM above_best_core ORDER BY number",
                                              "SELECT above IS NOT NULL FROM member ORDER BY id",
                                              "SELECT above IS NOT NULL FROM above ORDER BY id",
                                              "SELECT above IS NOT NULL FROM outcome ORDER BY choice_id",
                                              "SELECT unseen IS NOT NULL FROM outcome ORDER BY choice_id"};
    static table t;
    nb_ctx *ctx = *state;
    nb_grid a;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    t.count = 0;
    for (int i = 0; i < (int)(sizeof rows / sizeof *rows); i++) {
        add(&t, &(shape){.models = 1}, 0, 0, i, 0, 0, i % CORES, 0);
        nb_measures *m = &t.rows[i].measures;
        m->error = 3 * rows[i].subspace;
        m->error_unseen = 4 * rows[i].subspace;
        m->error_subspace = m->error_unseen_subspace = rows[i].subspace;
        m->error_subspace_noise = rows[i].noise;
    }
    nb_relation *r = relation(&t, ctx);
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) assert_string_equal(flags(r, asked[i], ctx), known);
    assert_string_equal(flags(r, "SELECT count FROM core_above ORDER BY core_id", ctx), "21");
    assert_string_equal(flags(r, "SELECT count(*) FROM above_best", ctx), "2");
    assert_string_equal(flags(r, "SELECT count(*) FROM measured_core", ctx), "1"); /* of the second core */
    assert_ok(ctx, nb_relation_ask_freely(r, "SELECT min(above), max(above), min(unseen), max(unseen) FROM outcome", &a,
                                          NULL, NULL, ctx));
    for (int i = 0; i < 4; i++) assert_true(fabs(nb_grid_at(&a, 0, i)->real - (i < 2 ? 2 : 3)) < 1e-14); /* some eps */
}

static void test_one_answer(void **state)
{
    static table t;
    int stars[sizeof star_tables / sizeof *star_tables] = {0};
    int refusals = 0, verdicts = 0, core_refusals = 0, forests = 0, core_forests = 0, mixed = 0, duels = 0,
        not_dueled = 0, twice = 0, untested = 0, shares = 0, unjudged = 0;
    assert_ok(*state, nb_random_new(&rng, *state));
    gsl_rng_set(rng, 20261128);
    for (int run = 0; run < RUNS; run++) {
        nb_ctx *ctx = nb_ctx_new();
        nb_comparison c;
        const shape s = draw_shape();
        draw_run(&t, &s);
        nb_relation *r = relation(&t, ctx);
        assert_ok(ctx, nb_compare_methods(r, 0, NULL, &c, ctx));
        check_ratios(r, &c, ctx);
        shares += check_shares(r, &c, ctx);
        forests += check_forest(r, "forest", "strategy", ctx);
        core_forests += check_forest(r, "core_forest", "core", ctx);
        core_refusals += check_cores(r, ctx);
        duels += check_duels(r, &not_dueled, &twice, ctx);
        check_claims(r, &c, ctx);
        mixed += check_ranks(r, &unjudged, ctx);
        untested += check_tests(r, &s, ctx);
        for (size_t i = 0; i < sizeof star_tables / sizeof *star_tables; i++) stars[i] += check_stars(r, i, ctx);
        for (int i = 0; i < c.count; i++) {
            refusals += c.items[i].verdict == NB_REFUSED;
            if (s.of_builds && !s.by_turns) assert_int_equal(c.items[i].verdict, NB_REFUSED);
            verdicts += c.items[i].verdict == NB_BETTER;
        }
        nb_ctx_free(ctx);
    }
    for (size_t i = 0; i < sizeof star_tables / sizeof *star_tables; i++) assert_true(stars[i] > 0);
    assert_true(refusals > 0 && verdicts > 0 && core_refusals > 0 && forests > 0 && core_forests > 0 && mixed > 0 &&
                duels > 0 && not_dueled > 0 && twice > 0 && untested > 0 && shares > 0 &&
                unjudged > 0); /* the runs are no special case */
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_noise), test_with_ctx(test_above),
                                       test_with_ctx(test_one_answer)};
    return run_all(tests);
}
