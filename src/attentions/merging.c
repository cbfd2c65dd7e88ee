/* SPDX-License-Identifier: GPL-3.0-or-later */
/* merging.c - causal softmax over the last tokens, the first ones, and landmarks that stand for the tokens between
 * them. Landmarks are made by merging as tokens leave the window. With s = 1/sqrt(d), before a chunk of queries:
 * 1. Where the number of tokens has grown by a quarter: the mean q and the variances w of all queries so far; D_k, the
 *    16 coordinates with most s^2 w var(k), and D_v, the 16 with most var(v).
 * 2. A token that leaves the window becomes a landmark K = k, V = v of log-mass l = s q'k and spread 0; its attention A
 *    is the mean weight that queries have given it. Of each 16 such tokens 8 are left by merging, more where there is
 *    room; these join the others, and the least costly pairs merge until `landmarks` are left.
 * 3. Merging a and b costs h^2 dk (dv + c dk): dk is the sum over D_k of s^2 w (K_a - K_b)^2, dv that over D_v of
 *    (V_a - V_b)^2, c a tenth of the mean square of v over 16 coordinates, h = u_a u_b / (u_a + u_b), and u the softmax
 *    of l plus the share of A, among those that may merge. dk and dv of what was merged follow from those before (Lance
 *    & Williams 1967).
 * 4. With x = exp(l_a) / (exp(l_a) + exp(l_b)): K, V and spread become x of a's and 1 - x of b's, the spread gains
 *    x (1 - x) dk, A's add up, l becomes ln(exp(l_a) + exp(l_b)).
 * 5. A landmark's logit of a query y is s y'K + l - s q'K + r spread / 2: the tangent at y = q of ln of the sum of
 *    exp(s y'k) over the tokens it stands for, and its curvature; r is s^2 w var(k), summed over all coordinates, over
 *    the same of D_k.
 * 6. After a chunk a landmark's A moves to the mean weight that the chunk's queries gave it.
 * Nothing of the future is used, and there is no inverse.
 *
 * About n (sinks + landmarks + window + 32) (d + dv) multiplications a head, and n (d + 44 landmarks) for the merges;
 * the state is that of the landmarks, and numbers for each pair of them. */
#include "attentions/attention.h"

#include "layers/slots.h"

#include <math.h>
#include <string.h>

#ifdef NB_DOUBLE_SCALAR
#define SQRT sqrt
#else
#define SQRT sqrtf
#endif

#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__ && !defined __SANITIZE_THREAD__
#define WIDTHS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define WIDTHS
#endif

enum { BATCH = 16, COORDINATES = 16 }; /* of tokens that merge among themselves first; of D_k and of D_v */
#define LEAST_SHARE 1e-30              /* of u, so that 1/u is a number */

typedef struct {
    int window, landmarks, sinks;
} merging_options;

static const nb_option options[] = {
    NB_INT(merging_options, window, "144", 0, 1 << 30, "tokens before a query that it sees, and up to 31 more"),
    NB_INT(merging_options, landmarks, "88", 1, 1 << 20, "for the tokens between the window and the first ones"),
    NB_INT(merging_options, sinks, "4", 0, 1 << 30, "first tokens, which all later ones see"), NB_OPTION_END};

/* Sums over all tokens so far, d or dv of each. */
typedef struct {
    double *sum, *square;
} moments;

/* Arrays of landmarks have one entry for each, without sinks; matrices have `room` columns. */
typedef struct {
    int room;
    int refreshed; /* tokens there were when q and w were found last; 0: never */
    moments q, k, v;
    double *mean;                        /* d: q */
    double *most;                        /* d or dv: room for choosing coordinates */
    nb_scalar *deviation;                /* d: s times the root of w */
    int key_rows[COORDINATES], value_rows[COORDINATES], key_count, value_count; /* D_k, D_v */
    double curvature, value_scale;                                              /* r, c */
    nb_scalar *log_mass, *tilt, *spread, *attention;                            /* l; s q'K; A */
    nb_scalar *y, *z;             /* rows of K in D_k, times deviation; of V in D_v: COORDINATES rows, rest 0 */
    nb_scalar *key_gap, *value_gap; /* dk, dv: room x room, symmetric */
    nb_scalar *nearness;            /* 1/sqrt(dk (dv + c dk)), above the diagonal */
    nb_scalar *score;               /* its product with 1/u_a + 1/u_b: 1/sqrt(loss), above the diagonal; -1: none */
    nb_scalar *share, *inverse;     /* u, 1/u */
    nb_scalar *live, *best;         /* 1, or 0 where it was merged into another; largest score of the row */
} merging_state;

static double scale_of(const nb_slot_rule *rule)
{
    return 1 / sqrt(rule->d);
}

static int room_of(const nb_slot_rule *rule)
{
    return rule->most + BATCH;
}

static size_t doubles_of(const nb_slot_rule *rule)
{
    return 5 * (size_t)rule->d + 2 * (size_t)rule->dv + (size_t)(rule->d > rule->dv ? rule->d : rule->dv);
}

static size_t state_bytes(const nb_slot_rule *rule)
{
    size_t room = (size_t)room_of(rule);
    return sizeof(merging_state) + doubles_of(rule) * sizeof(double) +
           ((size_t)rule->d + room * (8 + 2 * COORDINATES + 4 * room)) * sizeof(nb_scalar);
}

/* The next `count` of an array. */
static double *next_doubles(double **at, size_t count)
{
    double *here = *at;
    *at += count;
    return here;
}

static nb_scalar *next_scalars(nb_scalar **at, size_t count)
{
    nb_scalar *here = *at;
    *at += count;
    return here;
}

static void reset(const nb_slot_rule *rule, nb_slots *slots)
{
    merging_state *t = slots->own;
    size_t d = (size_t)rule->d, dv = (size_t)rule->dv, room = (size_t)room_of(rule);
    double *doubles = (double *)(t + 1);
    nb_scalar *scalars = (nb_scalar *)((double *)(t + 1) + doubles_of(rule));
    t->room = (int)room;
    t->q = (moments){.sum = next_doubles(&doubles, d), .square = next_doubles(&doubles, d)};
    t->k = (moments){.sum = next_doubles(&doubles, d), .square = next_doubles(&doubles, d)};
    t->v = (moments){.sum = next_doubles(&doubles, dv), .square = next_doubles(&doubles, dv)};
    t->mean = next_doubles(&doubles, d);
    t->most = doubles;
    t->deviation = next_scalars(&scalars, d);
    nb_scalar **const by_landmark[] = {&t->log_mass, &t->tilt,    &t->spread, &t->attention,
                                       &t->share,    &t->inverse, &t->live,   &t->best};
    for (size_t i = 0; i < sizeof by_landmark / sizeof *by_landmark; i++) *by_landmark[i] = next_scalars(&scalars, room);
    t->y = next_scalars(&scalars, COORDINATES * room);
    t->z = next_scalars(&scalars, COORDINATES * room);
    t->key_gap = next_scalars(&scalars, room * room);
    t->value_gap = next_scalars(&scalars, room * room);
    t->nearness = next_scalars(&scalars, room * room);
    t->score = next_scalars(&scalars, room * room);
}

static void take(const nb_slot_rule *rule, nb_slots *slots, int count, const nb_scalar *q, const nb_scalar *k,
                 const nb_scalar *v)
{
    merging_state *t = slots->own;
    nb_slots_moments(rule->d, count, q, t->q.sum, t->q.square);
    nb_slots_moments(rule->d, count, k, t->k.sum, t->k.square);
    nb_slots_moments(rule->dv, count, v, t->v.sum, t->v.square);
}

static void receive(const nb_slot_rule *rule, nb_slots *slots, const nb_scalar *sums)
{
    merging_state *t = slots->own;
    int count = slots->count - slots->sinks, at = slots->tokens - NB_SLOT_CHUNK; /* the chunk's first token */
    double pace = fmin(1, NB_SLOT_CHUNK / fmax(64, at / 4.0));
    (void)rule;
    nb_count_multiplications(2.0 * count);
    nb_scalar_scale((size_t)count, (nb_scalar)(1 - pace), t->attention);
    nb_scalar_add((size_t)count, (nb_scalar)(pace / NB_SLOT_CHUNK), sums + slots->sinks, t->attention);
}

static double variance_of(const moments *m, int count, int l)
{
    double mean = m->sum[l] / count;
    return fmax(m->square[l] / count - mean * mean, 0);
}

/* rows <- those of the `d` with most, the first ones among equals; changes `most`. Returns the sum over them. */
static double choose_rows(int d, double *most, int count, int *rows)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        int largest = 0;
        for (int l = 1; l < d; l++)
            if (most[l] > most[largest]) largest = l;
        rows[i] = largest;
        sum += most[largest];
        most[largest] = -1;
    }
    return sum;
}

static void project(const nb_slot_rule *rule, const nb_slots *slots, int j)
{
    const merging_state *t = slots->own;
    const nb_scalar *k = slots->k + (size_t)(slots->sinks + j) * (size_t)rule->d;
    const nb_scalar *v = slots->v + (size_t)(slots->sinks + j) * (size_t)rule->dv;
    nb_count_multiplications(t->key_count);
    for (int i = 0; i < t->key_count; i++) t->y[i * t->room + j] = t->deviation[t->key_rows[i]] * k[t->key_rows[i]];
    for (int i = 0; i < t->value_count; i++) t->z[i * t->room + j] = v[t->value_rows[i]];
}

/* out[j] <- the squared distance of x from column j of the COORDINATES x room matrix, j = 0 ... count - 1. */
WIDTHS static void find_gaps(int count, int room, const nb_scalar *x, const nb_scalar *columns, nb_scalar *out)
{
    for (int j = 0; j < count; j++) out[j] = 0;
    for (int i = 0; i < COORDINATES; i += 4) {
        const nb_scalar *a = columns + i * room, *b = a + room, *c = b + room, *e = c + room;
        nb_scalar p = x[i], q = x[i + 1], r = x[i + 2], s = x[i + 3];
#pragma omp simd
        for (int j = 0; j < count; j++)
            out[j] += ((p - a[j]) * (p - a[j]) + (q - b[j]) * (q - b[j])) +
                      ((r - c[j]) * (r - c[j]) + (s - e[j]) * (s - e[j]));
    }
}

WIDTHS static void find_nearness(int count, const nb_scalar *key_gap, const nb_scalar *value_gap, nb_scalar value_scale,
                                 nb_scalar *nearness)
{
#pragma omp simd
    for (int j = 0; j < count; j++)
        nearness[j] = 1 / SQRT(key_gap[j] * (value_gap[j] + value_scale * key_gap[j]));
}

static double pair_work(double pairs)
{
    return pairs * (2 * COORDINATES + 4);
}

/* Of landmark i and those from `first` to before `end`, all before i. */
static void compare_with(merging_state *t, int i, int first, int end)
{
    size_t room = (size_t)t->room, count = (size_t)(end - first);
    nb_scalar *key_gap = t->key_gap + (size_t)i * room + first, *value_gap = t->value_gap + (size_t)i * room + first;
    nb_scalar y[COORDINATES], z[COORDINATES];
    nb_count_multiplications(pair_work((double)count));
    for (int l = 0; l < COORDINATES; l++) {
        y[l] = t->y[l * t->room + i];
        z[l] = t->z[l * t->room + i];
    }
    find_gaps((int)count, t->room, y, t->y + first, key_gap);
    find_gaps((int)count, t->room, z, t->z + first, value_gap);
    find_nearness((int)count, key_gap, value_gap, (nb_scalar)t->value_scale, t->score);
    for (size_t j = 0; j < count; j++) {
        size_t at = ((size_t)first + j) * room + (size_t)i;
        t->key_gap[at] = key_gap[j];
        t->value_gap[at] = value_gap[j];
        t->nearness[at] = t->score[j];
    }
}

static double refresh_work(const nb_slot_rule *rule, int landmarks)
{
    double d = rule->d, dv = rule->dv, chosen = nb_lesser(COORDINATES, rule->d);
    return 7 * d + 3 * dv + landmarks * (d + chosen) + pair_work(0.5 * landmarks * (landmarks - 1));
}

static bool is_due(int tokens, int refreshed)
{
    return tokens * 4LL >= refreshed * 5LL;
}

static double tilt_of(const nb_slot_rule *rule, const merging_state *t, const nb_scalar *k)
{
    double product = 0;
    for (int l = 0; l < rule->d; l++) product += t->mean[l] * (double)k[l];
    return scale_of(rule) * product;
}

/* Step 1, and what depends on it. */
static void refresh(const nb_slot_rule *rule, nb_slots *slots)
{
    merging_state *t = slots->own;
    int n = slots->tokens, count = slots->count - slots->sinks, d = rule->d, dv = rule->dv;
    double all = 0, square = 0;
    nb_count_multiplications(7.0 * d + 3.0 * dv + count * (double)d);
    for (int l = 0; l < d; l++) {
        t->mean[l] = t->q.sum[l] / n;
        t->deviation[l] = (nb_scalar)(scale_of(rule) * sqrt(variance_of(&t->q, n, l)));
        all += t->most[l] = variance_of(&t->k, n, l) * (double)t->deviation[l] * (double)t->deviation[l];
    }
    t->key_count = nb_lesser(COORDINATES, d);
    double of_rows = choose_rows(d, t->most, t->key_count, t->key_rows);
    t->curvature = of_rows > 0 ? all / of_rows : 0;
    for (int l = 0; l < dv; l++) {
        t->most[l] = variance_of(&t->v, n, l);
        square += t->v.square[l];
    }
    t->value_count = nb_lesser(COORDINATES, dv);
    choose_rows(dv, t->most, t->value_count, t->value_rows);
    t->value_scale = 0.1 * square / n * t->value_count / dv;
    for (int j = 0; j < count; j++) {
        double tilt = tilt_of(rule, t, slots->k + (size_t)(slots->sinks + j) * (size_t)d);
        t->log_mass[j] += (nb_scalar)(tilt - (double)t->tilt[j]);
        t->tilt[j] = (nb_scalar)tilt;
        project(rule, slots, j);
    }
    for (int j = 1; j < count; j++) compare_with(t, j, 0, j);
    t->refreshed = n;
}

/* Row i of scores, from `first` on. */
WIDTHS static void find_scores(int first, int end, const nb_scalar *nearness, const nb_scalar *inverse, nb_scalar own,
                               const nb_scalar *live, nb_scalar *score)
{
#pragma omp simd
    for (int j = first; j < end; j++) {
        nb_scalar x = nearness[j] * (own + inverse[j]);
        score[j] = live[j] > 0 ? x > 0 ? x : 0 : -1; /* NaN becomes 0 */
    }
}

/* Rows p and o of gaps become those of what both are merged to, x of p and y of o. */
WIDTHS static void merge_gaps(int first, int end, nb_scalar x, nb_scalar y, nb_scalar between, const nb_scalar *other,
                              nb_scalar *gap)
{
#pragma omp simd
    for (int j = first; j < end; j++) {
        nb_scalar merged = x * gap[j] + y * other[j] - between;
        gap[j] = merged > 0 ? merged : 0;
    }
}

/* u and 1/u of the landmarks from `first` to before `end`. */
static void find_shares(merging_state *t, int first, int end)
{
    size_t count = (size_t)(end - first);
    nb_scalar *u = t->share + first;
    memcpy(u, t->log_mass + first, count * sizeof *u);
    double mass = (double)nb_scalar_exp_sum(count, u, nb_scalar_largest(count, u));
    double attention = (double)nb_scalar_sum(count, t->attention + first) + LEAST_SHARE;
    for (size_t j = 0; j < count; j++) {
        double share = (double)u[j] / mass + (double)t->attention[(size_t)first + j] / attention;
        u[j] = (nb_scalar)(share > LEAST_SHARE ? share : LEAST_SHARE);
        t->inverse[(size_t)first + j] = 1 / u[j];
        t->live[(size_t)first + j] = 1;
    }
}

static nb_scalar *row_of(const merging_state *t, nb_scalar *matrix, int i)
{
    return matrix + (size_t)i * (size_t)t->room;
}

static void find_best(merging_state *t, int i, int end)
{
    t->best[i] = nb_scalar_largest((size_t)(end - i - 1), row_of(t, t->score, i) + i + 1);
}

static void score_row(merging_state *t, int i, int end)
{
    find_scores(i + 1, end, row_of(t, t->nearness, i), t->inverse, t->inverse[i], t->live, row_of(t, t->score, i));
    find_best(t, i, end);
}

/* The least costly pair p < o. */
static int find_pair(const merging_state *t, int first, int end, int *other)
{
    int p = first, o;
    for (int i = first + 1; i < end; i++)
        if (t->best[i] > t->best[p]) p = i;
    const nb_scalar *row = row_of(t, t->score, p);
    for (o = p + 1; o < end - 1 && row[o] != t->best[p];) o++;
    *other = o;
    return p;
}

static void mix(size_t count, nb_scalar x, nb_scalar y, const nb_scalar *b, nb_scalar *a)
{
    nb_scalar_scale(count, x, a);
    nb_scalar_add(count, y, b, a);
}

static void mix_numbers(nb_scalar x, nb_scalar y, int o, int p, nb_scalar *numbers)
{
    numbers[p] = x * numbers[p] + y * numbers[o];
}

/* Step 4; returns x. */
static nb_scalar merge_points(const nb_slot_rule *rule, nb_slots *slots, int p, int o)
{
    merging_state *t = slots->own;
    size_t d = (size_t)rule->d, dv = (size_t)rule->dv, to = (size_t)(slots->sinks + p), from = (size_t)(slots->sinks + o);
    double difference = (double)t->log_mass[o] - (double)t->log_mass[p], share = 1 / (1 + exp(difference));
    nb_scalar x = (nb_scalar)share, y = 1 - x;
    mix(d, x, y, slots->k + from * d, slots->k + to * d);
    mix(dv, x, y, slots->v + from * dv, slots->v + to * dv);
    mix_numbers(x, y, o, p, t->tilt);
    mix_numbers(x, y, o, p, t->spread);
    t->spread[p] += x * y * row_of(t, t->key_gap, p)[o];
    for (int l = 0; l < COORDINATES; l++) {
        mix_numbers(x, y, o, p, t->y + l * t->room);
        mix_numbers(x, y, o, p, t->z + l * t->room);
    }
    t->log_mass[p] += (nb_scalar)(difference > 0 ? difference + log1p(exp(-difference)) : log1p(exp(difference)));
    t->attention[p] += t->attention[o];
    t->share[p] += t->share[o];
    t->inverse[p] = 1 / t->share[p];
    return x;
}

/* Scores after o was merged into p: those of o are none, those of p anew, and rows whose best was one of them. */
static void renew_scores(merging_state *t, int first, int end, int p, int o)
{
    t->live[o] = 0;
    t->best[o] = -1;
    score_row(t, p, end);
    for (int i = first; i < o; i++) {
        nb_scalar *row = row_of(t, t->score, i);
        bool stale = row[o] == t->best[i];
        if (i == p || t->live[i] == 0) continue;
        row[o] = -1;
        if (i < p) {
            stale = stale || row[p] == t->best[i];
            find_scores(p, p + 1, row_of(t, t->nearness, i), t->inverse, t->inverse[i], t->live, row);
            if (row[p] > t->best[i]) t->best[i] = row[p];
        }
        if (stale) find_best(t, i, end);
    }
}

static void merge(const nb_slot_rule *rule, nb_slots *slots, int first, int end, int p, int o)
{
    merging_state *t = slots->own;
    nb_scalar *key_gap = row_of(t, t->key_gap, p), *value_gap = row_of(t, t->value_gap, p), key_between = key_gap[o],
              value_between = value_gap[o], x = merge_points(rule, slots, p, o), y = 1 - x;
    merge_gaps(first, end, x, y, x * y * key_between, row_of(t, t->key_gap, o), key_gap);
    merge_gaps(first, end, x, y, x * y * value_between, row_of(t, t->value_gap, o), value_gap);
    nb_scalar *nearness = row_of(t, t->nearness, p);
    find_nearness(end - first, key_gap + first, value_gap + first, (nb_scalar)t->value_scale, nearness + first);
    for (int i = first; i < end; i++) {
        row_of(t, t->key_gap, i)[p] = key_gap[i];
        row_of(t, t->value_gap, i)[p] = value_gap[i];
        if (i < p) row_of(t, t->nearness, i)[p] = nearness[i];
    }
    renew_scores(t, first, end, p, o);
}

/* The last landmark takes the place of number `to`, which is before it. */
static void move_last(const nb_slot_rule *rule, nb_slots *slots, int last, int to)
{
    merging_state *t = slots->own;
    nb_scalar *const numbers[] = {t->log_mass, t->tilt, t->spread, t->attention};
    nb_scalar *const gaps[] = {t->key_gap, t->value_gap};
    size_t d = (size_t)rule->d, dv = (size_t)rule->dv, from = (size_t)(slots->sinks + last);
    size_t place = (size_t)(slots->sinks + to);
    memcpy(slots->k + place * d, slots->k + from * d, d * sizeof *slots->k);
    memcpy(slots->v + place * dv, slots->v + from * dv, dv * sizeof *slots->v);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) numbers[i][to] = numbers[i][last];
    for (int l = 0; l < COORDINATES; l++) {
        t->y[l * t->room + to] = t->y[l * t->room + last];
        t->z[l * t->room + to] = t->z[l * t->room + last];
    }
    for (int i = 0; i < last; i++) {
        for (int g = 0; g < 2; g++) row_of(t, gaps[g], to)[i] = row_of(t, gaps[g], i)[to] = row_of(t, gaps[g], last)[i];
        nb_scalar nearness = row_of(t, t->nearness, i)[last];
        if (i < to) row_of(t, t->nearness, i)[to] = nearness;
        if (i > to) row_of(t, t->nearness, to)[i] = nearness;
    }
}

/* Of `count` landmarks so many less, `merges`. */
static double merge_work(const nb_slot_rule *rule, double count, double merges)
{
    double points = 2.0 * (rule->d + rule->dv) + 4 * COORDINATES + 12;
    return merges > 0 ? 3 * count + count * (count - 1) / 2 + merges * (points + 10 * count) : 0;
}

/* The landmarks from `first` on merge until `target` are left of all. */
static void reduce(const nb_slot_rule *rule, nb_slots *slots, int first, int target)
{
    merging_state *t = slots->own;
    int end = slots->count - slots->sinks, o;
    if (end <= target) return;
    nb_count_multiplications(merge_work(rule, end - first, end - target));
    find_shares(t, first, end);
    for (int i = first; i < end; i++) score_row(t, i, end);
    for (int left = end; left > target; left--) {
        int p = find_pair(t, first, end, &o);
        merge(rule, slots, first, end, p, o);
    }
    for (int i = first; i < end; i++) {
        while (end > i && t->live[end - 1] == 0) end--;
        if (i < end && t->live[i] == 0) {
            end--;
            move_last(rule, slots, end, i);
            t->live[i] = 1;
        }
    }
    slots->count = slots->sinks + target;
}

/* How many of `count` new landmarks are left beside `others`. */
static int left_of(const nb_slot_rule *rule, int count, int others)
{
    int room = rule->most - others, half = BATCH / 2;
    return nb_lesser(count, room > half ? room : half);
}

/* Step 2, of at most BATCH tokens of the window, from number `from` on. */
static void admit_batch(const nb_slot_rule *rule, nb_slots *slots, int from, int count)
{
    merging_state *t = slots->own;
    int others = slots->count - slots->sinks, token = slots->tokens - slots->recent + from;
    nb_count_multiplications(count * (rule->d + 1.0));
    for (int i = 0; i < count; i++) {
        int j = others + i;
        nb_slots_put(rule, slots, from + i, slots->count);
        t->tilt[j] = (nb_scalar)tilt_of(rule, t, slots->k + (size_t)(slots->sinks + j) * (size_t)rule->d);
        t->log_mass[j] = t->tilt[j];
        t->spread[j] = 0;
        t->attention[j] = slots->received[slots->first + from + i] / (nb_scalar)(slots->tokens - token - i);
        project(rule, slots, j);
        compare_with(t, j, others, j);
    }
    reduce(rule, slots, others, others + left_of(rule, count, others));
    for (int j = others; j < slots->count - slots->sinks; j++) compare_with(t, j, 0, others);
    reduce(rule, slots, 0, rule->most);
}

static void admit(const nb_slot_rule *rule, nb_slots *slots, int count)
{
    merging_state *t = slots->own;
    if (is_due(slots->tokens, t->refreshed)) refresh(rule, slots);
    for (int at = 0; at < count; at += BATCH) admit_batch(rule, slots, at, nb_lesser(BATCH, count - at));
    int landmarks = slots->count - slots->sinks;
    nb_count_multiplications(landmarks);
    for (int j = 0; j < landmarks; j++)
        slots->bias[slots->sinks + j] = (nb_scalar)((double)t->log_mass[j] - (double)t->tilt[j] +
                                                    t->curvature / 2 * (double)t->spread[j]);
}

static double batch_work(const nb_slot_rule *rule, int count, int *landmarks)
{
    int others = *landmarks, left = left_of(rule, count, others), all = others + left;
    double new = count * (rule->d + 1.0 + nb_lesser(COORDINATES, rule->d)) + pair_work(0.5 * count * (count - 1));
    *landmarks = nb_lesser(all, rule->most);
    return new + merge_work(rule, count, count - left) + pair_work((double)left * others) +
           merge_work(rule, all, all - *landmarks);
}

static void step(const nb_slot_rule *rule, nb_slots_step *s)
{
    s->work += s->count * (2.0 * rule->d + rule->dv) + (s->at > 0 ? 2.0 * s->slots : 0);
    if (s->leaving == 0) return;
    if (is_due(s->at, s->memory)) {
        s->work += refresh_work(rule, s->slots);
        s->memory = s->at;
    }
    for (int at = 0; at < s->leaving; at += BATCH)
        s->work += batch_work(rule, nb_lesser(BATCH, s->leaving - at), &s->slots);
    s->work += s->slots;
}

static nb_slot_rule rule_of(const void *opts, const nb_layer_shape *s)
{
    const merging_options *o = opts;
    nb_slot_rule rule = {.d = s->d,
                         .dv = s->dv,
                         .sinks = nb_lesser(o->sinks, s->n),
                         .window = nb_lesser(o->window, s->n),
                         .group = 1,
                         .most = nb_lesser(o->landmarks, s->n),
                         .extra = BATCH,
                         .weighs = true,
                         .reset = reset,
                         .admit = admit,
                         .step = step,
                         .take = take,
                         .receive = receive};
    rule.own_bytes = state_bytes(&rule);
    return rule;
}

NB_SLOTS_FUNCTIONS(rule_of)

static const char *const references[] = {
    "This project: landmarks by merging, weighted by the tangent of ln(sum of exp) at the mean query",
    "Ward, Hierarchical grouping to optimize an objective function, J. Am. Stat. Assoc. 58, 1963, "
    "doi:10.1080/01621459.1963.10500845 (merging by the least loss)",
    "Lance & Williams, A general theory of classificatory sorting strategies, Computer J. 9, 1967, "
    "doi:10.1093/comjnl/9.4.373",
    NULL};

const nb_attention nb_attention_merging = {
    .component = {"merging", "causal softmax over a window and landmarks, merged from the tokens before it", references,
                  options, sizeof(merging_options)},
    .traits = NB_ATTENTION_CAUSAL | NB_ATTENTION_STEPS,
    .size = "landmarks",
    .refusal = nb_slots_refusal,
    .cost = cost,
    .open = open,
    .forward = forward,
    .explanation =
        "A landmark is a query head's own, also where heads share keys. On long text about a third of what a query sees\n"
        "as landmarks and the rest as window was best by output error. From window = n on, or with as many landmarks as\n"
        "tokens, it is exact.",
};
