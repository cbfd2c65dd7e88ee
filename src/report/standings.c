/* SPDX-License-Identifier: GPL-3.0-or-later */
/* standings.c - see standings.h. Contrasts of all pairs, of each baseline in turn, leave the sign of each source's
 * mean; the rank of a method in a source is 1 + the methods that have less there + half of those that are tied with
 * it. */
#include "report/standings.h"

#include "statistics/multiple.h"
#include "statistics/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int source, sign; /* of the first method's value against the second's */
} outcome;

typedef struct { /* of two methods in one setting; codes first < second */
    int setting, first, second;
    const char *refusal;
    int count;
    outcome *outcomes; /* by source */
} bout;

typedef struct {
    nb_relation *relation;
    const nb_standing_terms *terms;
    nb_standings *out;
    nb_ctx *memory; /* of what outlives the contrasts */
    int bout_count, bout_room, room;
    bout *bouts;
    nb_ctx *ctx;
} maker;

static nb_status add_bout(maker *m, const nb_contrasts *of, int baseline, const nb_contrast *c)
{
    nb_source *sources;
    int count;
    NB_TRY(m->ctx, nb_sources_gather(c->unit_count, c->units, of->strata, &count, &sources, m->ctx));
    NB_GROW(m->memory, m->bouts, m->bout_count, m->bout_room);
    bout *b = &m->bouts[m->bout_count++];
    *b = (bout){.setting = c->setting, .first = baseline, .second = c->value, .count = count};
    if (c->refusal) NB_NEED(b->refusal, nb_strdup(m->memory, c->refusal));
    NB_NEED(b->outcomes, nb_alloc(m->memory, (size_t)count + 1, sizeof *b->outcomes));
    for (int i = 0; i < count; i++)
        b->outcomes[i] = (outcome){sources[i].source, (sources[i].mean < 0) - (sources[i].mean > 0)};
    return NB_OK;
}

/* Whether there is a pair of rows. */
static bool has_pairs(const nb_contrasts *of, const nb_contrast *c)
{
    return c->counts[of->strata].pairs > 0;
}

/* The later values against one. */
static nb_status add_baseline(maker *m, int baseline)
{
    const nb_contrast_terms terms = {.by = m->terms->by,
                                     .metric = m->terms->metric,
                                     .baseline = baseline,
                                     .difference = m->terms->difference,
                                     .equal_noise = true};
    nb_contrasts contrasts;
    NB_TRY(m->ctx, nb_contrasts_make(m->relation, &terms, &contrasts, m->ctx));
    for (int i = 0; i < contrasts.count; i++) {
        const nb_contrast *c = &contrasts.items[i];
        if (c->value > baseline && has_pairs(&contrasts, c)) NB_TRY(m->ctx, add_bout(m, &contrasts, baseline, c));
    }
    return NB_OK;
}

static int compare_bouts(const void *a, const void *b)
{
    const bout *x = a, *y = b;
    if (x->setting != y->setting) return x->setting < y->setting ? -1 : 1;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    return (x->second > y->second) - (x->second < y->second);
}

static nb_status find_bouts(maker *m)
{
    nb_contrast_terms terms = {.by = m->terms->by, .metric = m->terms->metric, .baseline = -1};
    terms.difference = m->terms->difference;
    NB_NEED(m->memory, nb_ctx_child(m->ctx));
    NB_TRY(m->ctx, nb_contrasts_make(m->relation, &terms, &m->out->contrasts, m->ctx));
    for (int b = 0; b < m->out->contrasts.values.count; b++) {
        nb_mark mark = nb_ctx_mark(m->ctx);
        nb_status status = add_baseline(m, b);
        nb_ctx_release(m->ctx, mark);
        NB_TRY(m->ctx, status);
    }
    if (m->bout_count > 0) qsort(m->bouts, (size_t)m->bout_count, sizeof *m->bouts, compare_bouts);
    return NB_OK;
}

/* One standing in the making. Sources and methods have places here. */
typedef struct {
    maker *m;
    nb_ranking *to;
    int first_bout, end_bout;
    int *place;        /* by code: among the methods; -1: not planned */
    int *source_place; /* by number of a source; -1: not planned here */
    int *sources;      /* by place: its number */
    bool *has;         /* source place * methods + method: a result */
    const char **refusals;
} drawing;

static bool is_of(const drawing *d, const nb_planned *row)
{
    return row->setting == d->to->setting && (d->to->stratum == NB_OVER_STRATA || row->stratum == d->to->stratum);
}

/* Which methods and sources are planned, and who has results. */
static nb_status find_planned(drawing *d)
{
    const nb_standings *all = d->m->out;
    int *methods, values = all->contrasts.values.count;
    nb_ctx *ctx = d->m->ctx;
    NB_NEED(d->place, nb_alloc(ctx, (size_t)values + 1, sizeof *d->place));
    NB_NEED(d->source_place, nb_alloc(ctx, (size_t)all->sources.count + 1, sizeof *d->source_place));
    NB_NEED(d->sources, nb_alloc(ctx, (size_t)all->sources.count + 1, sizeof *d->sources));
    NB_NEED(methods, nb_alloc(ctx, (size_t)values + 1, sizeof *methods));
    for (int v = 0; v < values; v++) d->place[v] = -1;
    for (int s = 0; s < all->sources.count; s++) d->source_place[s] = -1;
    for (const nb_planned *p = all->rows; p < all->rows + all->planned; p++)
        if (is_of(d, p)) d->place[p->value] = d->source_place[p->source] = 0;
    for (int v = 0; v < values; v++)
        if (d->place[v] == 0) methods[d->place[v] = d->to->count++] = v;
    for (int s = 0; s < all->sources.count; s++)
        if (d->source_place[s] == 0) d->sources[d->source_place[s] = d->to->planned++] = s;
    d->to->methods = methods;
    NB_NEED(d->has, nb_alloc(ctx, (size_t)d->to->planned * (size_t)d->to->count + 1, sizeof *d->has));
    for (const nb_planned *p = all->rows; p < all->rows + all->planned; p++)
        if (is_of(d, p) && p->has_result) d->has[d->source_place[p->source] * d->to->count + d->place[p->value]] = true;
    return NB_OK;
}

static nb_status count_missing(drawing *d)
{
    int *missing;
    NB_NEED(missing, nb_alloc(d->m->ctx, (size_t)d->to->count + 1, sizeof *missing));
    for (int s = 0; s < d->to->planned; s++)
        for (int k = 0; k < d->to->count; k++) missing[k] += !d->has[s * d->to->count + k];
    d->to->missing = missing;
    return NB_OK;
}

static bool is_planned(const drawing *d, const bout *b)
{
    return d->place[b->first] >= 0 && d->place[b->second] >= 0;
}

/* Holm's family: all pairs that meet in as many sources as a test takes. */
static nb_status adjust(drawing *d, nb_meeting *meetings)
{
    int count = d->to->count, pairs = 0;
    double *p, *adjusted;
    NB_NEED(p, nb_alloc_reals(d->m->ctx, (size_t)count + 1, (size_t)count));
    NB_NEED(adjusted, nb_alloc_reals(d->m->ctx, (size_t)count + 1, (size_t)count));
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++) p[pairs++] = meetings[a * count + b].sign_p;
    NB_TRY(d->m->ctx, nb_holm(pairs, p, adjusted, d->m->ctx));
    pairs = 0;
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++) meetings[a * count + b].holm_p = meetings[b * count + a].holm_p = adjusted[pairs++];
    return NB_OK;
}

/* Of a bout in the sources of the stratum. */
static nb_meeting meeting_of(const drawing *d, const bout *b)
{
    nb_meeting x = {.refusal = b->refusal, .sign_p = NAN, .holm_p = NAN};
    for (const outcome *o = b->outcomes; o < b->outcomes + b->count && !b->refusal; o++) {
        if (d->source_place[o->source] < 0) continue;
        x.below += o->sign < 0;
        x.above += o->sign > 0;
        x.ties += o->sign == 0;
    }
    if (x.below + x.above + x.ties >= NB_LEAST_SOURCES) x.sign_p = nb_sign_p(x.below, x.above);
    return x;
}

static nb_status count_meetings(drawing *d)
{
    int count = d->to->count;
    nb_meeting *meetings;
    NB_NEED(meetings, nb_alloc(d->m->ctx, (size_t)count * (size_t)count + 1, sizeof *meetings));
    for (int i = 0; i < count * count; i++) meetings[i].sign_p = meetings[i].holm_p = NAN;
    for (const bout *b = d->m->bouts + d->first_bout; b < d->m->bouts + d->end_bout; b++) {
        if (!is_planned(d, b)) continue;
        nb_meeting x = meeting_of(d, b), y = x;
        y.below = x.above;
        y.above = x.below;
        meetings[d->place[b->first] * count + d->place[b->second]] = x;
        meetings[d->place[b->second] * count + d->place[b->first]] = y;
    }
    d->to->meetings = meetings;
    return adjust(d, meetings);
}

/* Those with results that may be compared with the first of them. */
static nb_status choose_ranked(drawing *d, bool *ranked)
{
    int count = d->to->count, first = -1;
    NB_NEED(d->refusals, nb_alloc(d->m->ctx, (size_t)count + 1, sizeof *d->refusals));
    for (int k = 0; k < count; k++) {
        ranked[k] = d->to->missing[k] < d->to->planned;
        if (ranked[k] && first < 0) first = k;
    }
    for (const bout *b = d->m->bouts + d->first_bout; b < d->m->bouts + d->end_bout; b++) {
        if (!b->refusal || !is_planned(d, b)) continue;
        int x = d->place[b->first], y = d->place[b->second];
        if (x != first && y != first) continue;
        ranked[x == first ? y : x] = false;
        d->refusals[x == first ? y : x] = b->refusal;
    }
    d->to->refusals = d->refusals;
    return NB_OK;
}

/* table (planned x count) <- twice the rank among those that are ranked, but for 2; met: how many of them a method has
 * met there. */
static void tally(const drawing *d, const bool *ranked, double *table, int *met)
{
    for (const bout *b = d->m->bouts + d->first_bout; b < d->m->bouts + d->end_bout; b++) {
        if (!is_planned(d, b)) continue;
        int x = d->place[b->first], y = d->place[b->second];
        if (!ranked[x] || !ranked[y]) continue;
        for (const outcome *o = b->outcomes; o < b->outcomes + b->count; o++) {
            if (d->source_place[o->source] < 0) continue;
            int at = d->source_place[o->source] * d->to->count;
            table[at + x] += 1 + o->sign;
            table[at + y] += 1 - o->sign;
            met[at + x]++;
            met[at + y]++;
        }
    }
}

/* blocks (sources x ranked) <- the ranks in those sources in which all have met; the others are left out. */
static nb_status fill_blocks(drawing *d, const bool *ranked, double *blocks)
{
    nb_ranking *to = d->to;
    double *table;
    int *met, *left_out;
    NB_NEED(table, nb_alloc_reals(d->m->ctx, (size_t)to->planned + 1, (size_t)to->count));
    NB_NEED(met, nb_alloc(d->m->ctx, (size_t)to->planned * (size_t)to->count + 1, sizeof *met));
    NB_NEED(left_out, nb_alloc(d->m->ctx, (size_t)to->planned + 1, sizeof *left_out));
    tally(d, ranked, table, met);
    for (int s = 0; s < to->planned; s++) {
        bool whole = to->ranked > 1;
        int at = 0;
        for (int k = 0; k < to->count; k++) whole = whole && (!ranked[k] || met[s * to->count + k] == to->ranked - 1);
        if (!whole) left_out[to->left_out_count++] = d->sources[s];
        for (int k = 0; k < to->count && whole; k++)
            if (ranked[k]) blocks[to->sources * to->ranked + at++] = 1 + table[s * to->count + k] / 2;
        to->sources += whole;
    }
    to->left_out = left_out;
    return NB_OK;
}

typedef struct {
    double rank;
    int method;
} placed;

static int compare_placed(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->method > y->method) - (x->method < y->method);
}

/* Each maximal run of ranks that differ by no more than the critical difference. */
static nb_status find_groups(drawing *d, const placed *sorted)
{
    nb_rank_group *groups;
    int count = 0, last = -1;
    NB_NEED(groups, nb_alloc(d->m->ctx, (size_t)d->to->ranked + 1, sizeof *groups));
    for (int i = 0; i < d->to->ranked; i++) {
        int end = i;
        while (end + 1 < d->to->ranked && sorted[end + 1].rank - sorted[i].rank <= d->to->difference) end++;
        if (end > last) groups[count++] = (nb_rank_group){i, end};
        last = end > last ? end : last;
    }
    d->to->groups = groups;
    d->to->group_count = count;
    return NB_OK;
}

/* Mean ranks, and what tests say of them. */
static nb_status rank(drawing *d)
{
    nb_ranking *to = d->to;
    nb_ctx *ctx = d->m->ctx;
    bool *ranked;
    int *order, at = 0;
    double *blocks, *means, *ranks;
    placed *sorted;
    NB_NEED(ranked, nb_alloc(ctx, (size_t)to->count + 1, sizeof *ranked));
    NB_NEED(order, nb_alloc(ctx, (size_t)to->count + 1, sizeof *order));
    NB_NEED(ranks, nb_alloc_reals(ctx, (size_t)to->count + 1, 1));
    NB_NEED(means, nb_alloc_reals(ctx, (size_t)to->count + 1, 1));
    NB_NEED(sorted, nb_alloc(ctx, (size_t)to->count + 1, sizeof *sorted));
    NB_NEED(blocks, nb_alloc_reals(ctx, (size_t)to->planned + 1, (size_t)to->count));
    NB_TRY(ctx, choose_ranked(d, ranked));
    for (int k = 0; k < to->count; k++) to->ranked += ranked[k];
    NB_TRY(ctx, fill_blocks(d, ranked, blocks));
    to->order = order;
    to->ranks = ranks;
    for (int k = 0; k < to->count; k++) ranks[k] = NAN;
    if (to->sources == 0) return NB_OK;
    nb_friedman test;
    NB_TRY(ctx, nb_friedman_test(to->sources, to->ranked, blocks, means, &test, ctx));
    for (int k = 0; k < to->count; k++)
        if (ranked[k]) {
            ranks[k] = means[at];
            sorted[at++] = (placed){ranks[k], k};
        }
    qsort(sorted, (size_t)to->ranked, sizeof *sorted, compare_placed);
    for (int i = 0; i < to->ranked; i++) order[i] = sorted[i].method;
    if (to->sources < NB_LEAST_SOURCES) return NB_OK;
    to->test = test;
    to->difference = nb_nemenyi_difference(to->sources, to->ranked, NB_STANDING_ALPHA);
    return find_groups(d, sorted);
}

static nb_status add_standing(maker *m, int setting, int stratum, int first_bout, int end_bout)
{
    nb_ranking standing = {
        .setting = setting, .stratum = stratum, .test = {NAN, NAN, NAN, NAN, NAN}, .difference = NAN};
    drawing d = {.m = m, .to = &standing, .first_bout = first_bout, .end_bout = end_bout};
    NB_TRY(m->ctx, find_planned(&d));
    if (standing.count < 2) return NB_OK;
    NB_TRY(m->ctx, count_missing(&d));
    NB_TRY(m->ctx, count_meetings(&d));
    NB_TRY(m->ctx, rank(&d));
    NB_GROW(m->ctx, m->out->items, m->out->count, m->room);
    m->out->items[m->out->count++] = standing;
    return NB_OK;
}

/* Over strata where the setting has several, then of each. */
static nb_status add_setting(maker *m, int setting, int first_bout, int end_bout)
{
    const nb_standings *all = m->out;
    int strata = all->contrasts.strata, count = 0;
    bool *used;
    NB_NEED(used, nb_alloc(m->ctx, (size_t)strata + 1, sizeof *used));
    for (const nb_planned *p = all->rows; p < all->rows + all->planned; p++)
        if (p->setting == setting) used[p->stratum] = true;
    for (int s = 0; s < strata; s++) count += used[s];
    if (count > 1) NB_TRY(m->ctx, add_standing(m, setting, NB_OVER_STRATA, first_bout, end_bout));
    for (int s = 0; s < strata; s++)
        if (used[s]) NB_TRY(m->ctx, add_standing(m, setting, s, first_bout, end_bout));
    return NB_OK;
}

nb_status nb_standings_make(nb_relation *relation, const nb_standing_terms *terms, nb_standings *out, nb_ctx *ctx)
{
    maker m = {.relation = relation, .terms = terms, .out = out, .ctx = ctx};
    *out = (nb_standings){.count = 0};
    NB_TRY(ctx, find_bouts(&m));
    NB_TRY(ctx, nb_contrasts_planned(relation, &out->planned, &out->rows, ctx));
    NB_TRY(ctx, nb_relation_ask(relation, "SELECT stratum_id, name FROM source ORDER BY id", NULL, &out->sources, NULL,
                                ctx));
    for (int s = 0, first = 0, end; s < out->contrasts.settings.count; s++, first = end) {
        for (end = first; end < m.bout_count && m.bouts[end].setting == s; end++) continue;
        NB_TRY(ctx, add_setting(&m, s, first, end));
    }
    return NB_OK;
}

void nb_standing_groups(const nb_ranking *s, int place, int *first, int *last)
{
    *first = *last = -1;
    for (int g = 0; g < s->group_count; g++) {
        if (place < s->groups[g].first || place > s->groups[g].last) continue;
        if (*first < 0) *first = g;
        *last = g;
    }
}
