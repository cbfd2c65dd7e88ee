/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.c - the work and the arrays of runner.c and the engines, counted.
 *
 * Work is in multiplications: n^2 for a column of Q_B in the pass over S, n^2 (d and an exponential) for S itself, n^3
 * for its spectrum, and so on. Bytes are those of the arrays that are held together at the worst moment: while
 * landmarks are picked, or while a batch of factors is measured. Second passes, slow convergence of block Krylov and
 * the careful QR cannot be predicted: their arrays are counted, their work is not. */
#include "studies/error/study.h"

#include "cores/core.h"
#include "kernels/kernel.h"
#include "linalg/krylov.h"
#include "nystrom/blocks.h"
#include "nystrom/direct.h"
#include "nystrom/engine.h"
#include "nystrom/exact_time.h"
#include "nystrom/forward_time.h"
#include "nystrom/make_scene.h"
#include "nystrom/mixed.h"
#include "nystrom/spectral.h"
#include "nystrom/spectrum_record.h"
#include "studies/error/runner.h"

#include <math.h>

/* What takes longer counts for more multiplications of a large product. */
static const double THIN = 4, /* a multiplication in products with few columns */
    LAPACK = 4,               /* one in decompositions */
    ENTRY = NB_EXPONENTIAL,   /* the kernel of one pair of tokens beside its dot product, and its sums */
    LOOK = 9, LOGARITHM = 90, /* at an entry of F X B, with its logarithm */
    METHOD = 4e5, PAIR = 1.2e6, SCENE = 4e6, PICK = 1.2e5, /* what each takes at least */
    PROCESS = 1.2e9;                                       /* a strategy's program, for a pick */

/* The program, its libraries, the plan, and what OpenBLAS packs. */
static const double PROGRAM_BYTES = 32e6, ROW_BYTES = 64;
static const double FRAGMENTS = 1.1; /* freed memory that the allocator keeps */

typedef struct { /* one trial of a scene */
    const nb_plan *plan;
    const nb_planned_scene *scene;
    double n, d;
    bool direct, factored, sampled, vectors;
    bool oracle, square, eigen;   /* some pending strategy's traits; eigen: an oracle's */
    int most;                     /* the largest m */
    unsigned spectra;             /* bit b: somebody asks for up to 2^b singular triplets */
    double work;                  /* in multiplications */
    const nb_error_method *timed; /* the first, whose strategy's m are those that forward_work is of */
    double forward_work;
    double landmark_bytes, pick_bytes; /* kept; while picking */
    double batch_bytes;                /* the largest batch's */
} instance;

typedef struct { /* rows that share factors */
    int m, rows;
    bool random; /* a core looks at exact rows */
} pair;

static unsigned traits_of(const nb_planned_scene *scene, const nb_error_method *method)
{
    int n = nb_strategy_tokens(method->strategy, scene->n);
    return nb_strategy_traits(method->strategy) & (n > NB_DENSE ? ~(unsigned)(NB_SQUARE | NB_EIGEN) : ~0u);
}

static bool keeps(const instance *in)
{
    return !in->factored && (nb_scene_is_kept((int)in->n) || in->direct || (in->oracle && in->square));
}

/* True if anything needs all of S. */
static bool passes(const instance *in)
{
    return !in->factored && (!in->sampled || in->oracle);
}

static double forming_work(const instance *in)
{
    return in->n * in->n * (in->d + ENTRY);
}

/* Exact attention, timed on some rows. */
static double exact_work(const instance *in)
{
    return nb_exact_entries(in->n) * (2 * in->d + ENTRY);
}

/* A forward pass with m landmarks, timed on some rows; those of one strategy, since all share them. */
static void add_forward(instance *in, const nb_error_method *method)
{
    if (!in->timed) in->timed = method;
    if (!nb_error_same_strategy(method, in->timed)) return;
    in->forward_work += nb_forward_entries(in->n, method->m) * (2 * in->d + ENTRY);
}

/* Returns the work for the singular values of an S of that order that m landmarks ask for; with their vectors. */
static double spectrum_work(int order, int m, bool vectors)
{
    bool lapack;
    double n = order, count = nb_spectrum_triplets(order, m, &lapack);
    if (lapack) return n * n * n * (vectors ? 4.5 : 1.5) * LAPACK + SCENE;
    double columns = fmin(nb_krylov_order(order, (int)count), 3 * count); /* of V when it converges */
    return 2 * n * n * columns + 4 * n * columns * columns;
}

/* All spectra that the floors and the oracles ask for. */
static void add_spectra(instance *in, double *kept, double *working)
{
    bool lapack;
    int n = (int)in->n, last = 0;
    *kept = *working = 0;
    if (in->sampled && !in->oracle) return;
    for (int bit = 0; bit < 31; bit++) {
        double bytes, more;
        if (!(in->spectra >> bit & 1)) continue;
        int count = nb_spectrum_triplets(n, 1 << bit, &lapack);
        if (count == last) continue;
        last = count;
        nb_spectrum_bytes(n, in->factored ? (int)in->d : 0, 1 << bit, in->vectors, &bytes, &more);
        *kept += bytes;
        *working = fmax(*working, more);
        if (!in->factored) in->work += spectrum_work(n, 1 << bit, in->vectors);
        if (!in->factored && !lapack && !keeps(in))
            in->work += fmin(nb_krylov_order(n, count), 4.5 * count) / nb_spectrum_block(false) * forming_work(in);
    }
    if (in->oracle && in->eigen) {
        *kept += 16 * in->n * in->n;
        *working = fmax(*working, 40 * in->n * in->n);
        in->work += 3 * in->n * in->n * in->n * LAPACK;
    }
}

/* One call for m of n points of dimension d. */
static double pick_work(const nb_choice *choice, unsigned traits, int n, int d, int m)
{
    double points = n, size = m, work = PICK + (traits & NB_ELSEWHERE ? PROCESS : 0);
    double told = nb_strategy_multiplications(choice, n, d, m);
    if (!isnan(told)) return work + told;
    if (!(traits & NB_BLIND)) work += 1.5 * points * size * (d + 16) * THIN;
    if (traits & NB_ORACLE) work += 0.5 * points * size * (size + 200) * THIN;
    if (traits & NB_SQUARE) work += 0.5 * points * points * (size + 16) * THIN;
    if ((traits & NB_EIGEN) && !(traits & NB_ORACLE)) work += 9 * points * points * points;
    return work;
}

/* One call for m landmarks: what it keeps, and what it needs meanwhile. */
static void add_pick(instance *in, const nb_error_method *method)
{
    unsigned traits = traits_of(in->scene, method);
    double n = nb_strategy_tokens(method->strategy, in->scene->n), m = method->m;
    nb_pairing pairing = nb_pairing_under(nb_error_kernel(in->plan, in->scene), method->strategy, method->pairing);
    double points = pairing == NB_SHARED ? 2 * n : n, d = pairing == NB_JOINT ? 2 * in->d : in->d;
    double bytes = 32 * points * (m + d);
    if (traits & NB_ORACLE) bytes = 8 * points * (12 * m + NB_STRIPE) + 80 * m * m;
    if (traits & NB_SQUARE) bytes += 8 * n * n;
    if ((traits & NB_EIGEN) && !(traits & NB_ORACLE)) bytes += 32 * points * points;
    in->pick_bytes = fmax(in->pick_bytes, bytes);
    in->landmark_bytes += 16 * m * in->d + 16 * in->n;
    in->work += pick_work(method->strategy, traits, (int)points, (int)d, method->m);
}

/* Bytes that the pass, and what follows it, need beside the factors. */
static double working_bytes(const instance *in, double width, double width_single, double sum_m, int most, double rows,
                            bool random)
{
    nb_how c = nb_error_how(in->plan->config);
    double n = in->n, m = most, pass = 0, product, entries = 0, spectral = 0, careful = 16 * n * m;
    double u = in->factored ? n : NB_STRIPE;
    if (in->sampled) return 8 * (n * NB_STRIPE + 3 * m * c.sample) + careful;
    product = 8 * width * NB_STRIPE + 8 * (n + m) * NB_STRIPE;
    if (c.precision == NB_MIXED) product += nb_mixed_bytes(n, width_single);
    if (in->factored) product = 16 * n * in->d;
    pass = fmax(product, 8 * n * in->d);
    if (c.wanted & (NB_WANT_ENTRIES | NB_WANT_ENTROPY)) entries = 8 * (n * sum_m + n * m + (n + m) * NB_STRIPE);
    if (c.wanted & NB_WANT_SPECTRAL) spectral = 8 * rows * (3 * n + 2 * m + u + 200);
    if (in->direct) pass = nb_direct_bytes(n, m, c.wanted, random);
    if (random && !in->direct) pass = fmax(pass, 8 * ((n + 2 * m) * NB_STRIPE + 2 * m * n));
    return fmax(fmax(pass, careful), in->direct ? 0 : fmax(entries, spectral));
}

/* Exact rows that a core looks at: the usual number is 4 m. */
static double exact_rows(const instance *in, double m)
{
    return fmin(in->n, fmax(8 * m, 128));
}

static double factor_bytes(const instance *in, const pair *p)
{
    nb_how c = nb_error_how(in->plan->config);
    double n = in->n, m = p->m, bytes = 8 * (12 * m * m + p->rows * m * m + 4 * in->d * m);
    if (p->random) bytes += 16 * m * exact_rows(in, m);
    if (in->sampled) return bytes + 8 * (m + nb_block_width(p->m)) * c.sample + 8 * n * nb_block_width(p->m);
    if (in->direct) return bytes + 32 * n * m;
    return bytes + 8 * n * (m + nb_block_width(p->m));
}

/* While a core is computed. */
static double core_bytes(const instance *in, const pair *p)
{
    double m = p->m, bytes = 160 * m * m;
    if (p->random) bytes += 8 * (in->n * fmin(NB_STRIPE, exact_rows(in, m)) + 8 * m * exact_rows(in, m));
    return bytes;
}

static void add_measuring(instance *in, const pair *p)
{
    nb_how c = nb_error_how(in->plan->config);
    double n = in->n, m = p->m, width = nb_block_width(p->m), rows = p->rows, share = in->sampled ? c.sample / n : 1;
    double all = n * n * share;
    if (in->factored) all = n * in->d;
    double faster = c.precision == NB_MIXED && !in->factored ? 1.6 : 1;
    in->work += PAIR + all * width / faster + 2 * n * m * (in->d + ENTRY);
    in->work += 8 * n * m * m + 4 * m * m * n * share + 12.5 * m * m * m * LAPACK;
    in->work += rows * (METHOD + 30 * m * m * m * LAPACK + n * m * share * THIN);
    if (p->random) {
        double k = exact_rows(in, m), unseen = in->sampled ? 0 : 6 * k * m * m + 4 * n * m * m + 40 * m * m * m;
        if (in->direct) unseen = 6 * n * n * m + 10 * n * m * m;
        in->work += k * n * (in->d + m + ENTRY) + rows * unseen;
    }
    if (in->direct) in->work += rows * n * n * (m + 2 * LOOK);
    if (in->sampled) return;
    if (c.wanted & NB_WANT_OUTPUT) in->work += 3 * n * m * in->d;
    if (c.wanted & NB_WANT_ENTRIES && !in->direct) in->work += rows * n * n * (m + LOOK);
    if (c.wanted & NB_WANT_ENTROPY) in->work += rows * n * n * LOGARITHM;
    if (c.wanted & NB_WANT_SPECTRAL)
        in->work +=
            in->direct ? rows * 1.5 * n * n * n * LAPACK : rows * NB_LANCZOS_USUAL * (2 * all + 4 * n * m) * THIN;
}

typedef struct {        /* pairs that are prepared together */
    double prepared;    /* bytes by which batches are cut */
    double bytes, core; /* of all factors; while one core is computed */
    double width, width_single, sum_m;
    double cores, together; /* bytes of requests, and their number, that are measured together */
    double most_cores, most_together;
    int most;
    bool random; /* a core looks at exact rows */
} batch;

static void end_batch(instance *in, batch *b)
{
    if (b->most == 0) return;
    if (passes(in) && !keeps(in)) in->work += forming_work(in);
    double working = working_bytes(in, b->width, b->width_single, b->sum_m, b->most, b->most_together, b->random);
    in->batch_bytes = fmax(in->batch_bytes, b->bytes + b->most_cores + fmax(b->core, working));
    *b = (batch){.prepared = 0};
}

static nb_how how_of(const instance *in)
{
    nb_how how = nb_error_how(in->plan->config);
    if (!in->sampled) how.sample = 0;
    return how;
}

static void add_pair(instance *in, batch *b, const pair *p)
{
    nb_how how = how_of(in);
    double prepared = (double)nb_engine_pair_bytes((int)in->n, p->m),
           cores = p->rows * (double)nb_engine_request_bytes(&how, p->m);
    if (p->m == 0) return;
    if (b->prepared + prepared > (double)nb_engine_batch_bytes((int)in->n)) end_batch(in, b);
    if (b->cores + cores > (double)nb_engine_together(&how)) b->cores = b->together = 0;
    b->prepared += prepared;
    b->bytes += factor_bytes(in, p);
    b->core = fmax(b->core, core_bytes(in, p));
    b->width += nb_block_width(p->m);
    b->width_single += nb_block_width_single(p->m);
    b->sum_m += p->m;
    b->cores += cores;
    b->together += p->rows;
    b->most_cores = fmax(b->most_cores, b->cores);
    b->most_together = fmax(b->most_together, b->together);
    b->most = p->m > b->most ? p->m : b->most;
    b->random = b->random || p->random;
    add_measuring(in, p);
}

static bool measured(const nb_plan *plan, const nb_planned_scene *s, const nb_error_method *c)
{
    nb_picks_kind kind = nb_pairing_shares(c->pairing) ? NB_POINTS : NB_TOKENS;
    return !s->refusal && c->m <= s->n && !nb_factors_refusal(c->factors, kind, s->causal, nb_error_kernel(plan, s));
}

/* A nested strategy is asked for its largest m alone. */
static bool asked_for_more(const nb_plan *plan, int row, int end, const bool *pending)
{
    const nb_error_method *method = nb_error_method_of(plan, row);
    if (!(nb_strategy_traits(method->strategy) & NB_NESTED)) return false;
    for (int i = row + 1; i < end; i++) {
        const nb_error_method *other = nb_error_method_of(plan, i);
        if (!nb_error_same_strategy(method, other)) return false;
        if ((!pending || pending[i]) && other->m > method->m && other->m <= plan->scenes[plan->rows[row].scene].n)
            return true;
    }
    return false;
}

/* The power of two that is not below m: so many triplets are asked for. */
static int spectrum_bit(int m)
{
    int bit = 6;
    while (bit < 30 && 1 << bit < m) bit++;
    return bit;
}

/* Pending rows of one trial, rows first ... end - 1. */
static void add_rows(instance *in, int first, int end, const bool *pending)
{
    const nb_plan *plan = in->plan;
    const nb_error_method *before = NULL;
    batch b = {.prepared = 0};
    pair p = {.m = 0};
    for (int i = first; i < end; i++) {
        const nb_error_method *method = nb_error_method_of(plan, i);
        if ((pending && !pending[i]) || in->scene->refusal || method->m > in->scene->n) continue;
        bool again = before && nb_error_same_picks(before, method),
             together = again && before->factors == method->factors;
        before = method;
        in->most = method->m > in->most ? method->m : in->most;
        in->spectra |= 1u << spectrum_bit(method->m);
        if (!again) add_forward(in, method);
        if (!again && !asked_for_more(plan, i, end, pending)) add_pick(in, method);
        if (!together) {
            add_pair(in, &b, &p);
            p = (pair){.m = measured(in->plan, in->scene, method) ? method->m : 0};
        }
        p.rows++;
        p.random = p.random || (nb_core_traits(method->core) & NB_CORE_RANDOM);
    }
    add_pair(in, &b, &p);
    end_batch(in, &b);
}

static instance instance_of(const nb_plan *plan, int row)
{
    nb_how c = nb_error_how(plan->config);
    const nb_planned_scene *s = &plan->scenes[plan->rows[row].scene];
    instance in = {.plan = plan, .scene = s, .n = s->n, .d = s->d, .vectors = nb_error_has_oracle(plan)};
    in.direct = c.engine == NB_DIRECT;
    in.sampled = c.sample > 0 && c.sample < s->n;
    in.factored = ((const nb_kernel *)nb_error_kernel(plan, s)->component)->low_rank && s->d <= s->n && !in.direct;
    return in;
}

/* Bytes at the worst moment of an instance, whose spectra are those of its unit. */
static double instance_bytes(const instance *in, double kept_spectra, double making_spectra)
{
    double n = in->n, scene = 8 * n * (8 * in->d + 8);
    if (passes(in)) scene += keeps(in) ? 8 * n * n : 8 * n * NB_STRIPE;
    double while_picking = fmax(in->pick_bytes, making_spectra), while_measuring = in->batch_bytes + making_spectra;
    return scene + kept_spectra + in->landmark_bytes + fmax(while_picking, while_measuring);
}

/* The traits of all pending rows are known before the first is counted: they say
 * whether S is kept. */
static void look_ahead(instance *in, const nb_unit *unit, const bool *pending)
{
    for (int i = unit->first; i < unit->end; i++) {
        const nb_error_method *method = nb_error_method_of(in->plan, i);
        if ((pending && !pending[i]) || method->m > in->scene->n) continue;
        unsigned traits = traits_of(in->scene, method);
        in->oracle = in->oracle || traits & NB_ORACLE;
        in->square = in->square || traits & NB_SQUARE;
        in->eigen = in->eigen || ((traits & NB_ORACLE) && (traits & NB_EIGEN));
    }
}

nb_cost nb_error_cost(const nb_plan *plan, const nb_unit *unit, const bool *pending)
{
    instance whole = instance_of(plan, unit->first);
    double kept, working, bytes = 0, least = PROGRAM_BYTES + ROW_BYTES * plan->row_count;
    look_ahead(&whole, unit, pending);
    for (int i = unit->first, next; i < unit->end; i = next) {
        instance in = whole;
        in.work = 0;
        for (next = i; next < unit->end && plan->rows[next].trial == plan->rows[i].trial;) next++;
        add_rows(&in, i, next, pending);
        if (in.most == 0) continue;
        if (whole.most == 0) whole.forward_work = in.forward_work;
        whole.work += in.work;
        whole.spectra |= in.spectra;
        whole.most = in.most > whole.most ? in.most : whole.most;
        bytes = fmax(bytes, instance_bytes(&in, 0, 0));
    }
    if (whole.most == 0) return (nb_cost){.multiplications = SCENE, .bytes = least};
    add_spectra(&whole, &kept, &working);
    if (passes(&whole) && keeps(&whole)) whole.work += forming_work(&whole);
    return (nb_cost){.multiplications = whole.work + SCENE + exact_work(&whole) + whole.forward_work,
                     .bytes = least + FRAGMENTS * (bytes + kept + working)};
}
