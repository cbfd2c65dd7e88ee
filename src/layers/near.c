/* SPDX-License-Identifier: GPL-3.0-or-later */
/* near.c - see near.h. Of a block of queries:
 *
 * 1. The counts of clusters, less the keys around the block, are the same for all of its queries. For each query,
 *    those of its strongest keys that are not around the block are taken away too; those that are get the logit
 *    -infinity there.
 * 2. An online softmax goes over landmarks and keys around the block.
 * 3. Queries of one cluster have their strongest keys in common: another online softmax over these, in the order of
 *    clusters, is merged with the first. */
#include "layers/near.h"

#include <math.h>
#include <string.h>

enum { RUN = 32, SIDE = 8 }; /* tokens of a block in a row; patches of a block's side */

/* Tokens of a block, at most: a row of the bias of its logits. */
static int widest_block(const nb_neighbourhood *g)
{
    return g->columns == 0 ? RUN : NB_NEAR_QUERIES;
}

/* Blocks of the tokens before an image's patches. */
static int blocks_before(const nb_neighbourhood *g)
{
    return nb_blocks(g->before, NB_NEAR_QUERIES);
}

int nb_square_side(int n)
{
    int side = (int)sqrt(n);
    while (side * side > n) side--;
    while ((side + 1) * (side + 1) <= n) side++;
    return n - side * side <= NB_MOST_BEFORE ? side : 0;
}

int nb_near_blocks(const nb_neighbourhood *g)
{
    if (g->columns == 0) return nb_blocks(g->n, RUN);
    return blocks_before(g) + nb_blocks(g->rows, SIDE) * nb_blocks(g->columns, SIDE);
}

int nb_near_block_of(const nb_neighbourhood *g, int token)
{
    if (g->columns == 0) return token / RUN;
    if (token < g->before) return token / NB_NEAR_QUERIES;
    int row = (token - g->before) / g->columns, column = (token - g->before) % g->columns;
    return blocks_before(g) + row / SIDE * nb_blocks(g->columns, SIDE) + column / SIDE;
}

static int list_range(int first, int end, int *tokens)
{
    for (int i = first; i < end; i++) tokens[i - first] = i;
    return end - first;
}

/* The tokens within `reach` of a run, or the patches within `reach` of a square. */
static int list_around(const nb_neighbourhood *g, int block, int reach, int *tokens)
{
    if (g->columns == 0)
        return list_range(nb_greater(block * RUN - reach, 0), nb_lesser(block * RUN + RUN + reach, g->n), tokens);
    int across = nb_blocks(g->columns, SIDE), square = block - blocks_before(g), count = 0;
    int row = square / across * SIDE, column = square % across * SIDE;
    int left = nb_greater(column - reach, 0), right = nb_lesser(column + SIDE + reach, g->columns);
    for (int i = nb_greater(row - reach, 0); i < nb_lesser(row + SIDE + reach, g->rows); i++)
        count += list_range(g->before + i * g->columns + left, g->before + i * g->columns + right, tokens + count);
    return count;
}

int nb_near_queries(const nb_neighbourhood *g, int block, int *tokens)
{
    if (g->columns == 0 || block >= blocks_before(g)) return list_around(g, block, 0, tokens);
    return list_range(block * NB_NEAR_QUERIES, nb_lesser((block + 1) * NB_NEAR_QUERIES, g->before), tokens);
}

int nb_near_keys(const nb_neighbourhood *g, int block, int *tokens)
{
    if (!g->window) return 0;
    if (g->columns == 0 || block >= blocks_before(g)) return list_around(g, block, g->reach, tokens);
    return list_range(0, g->before, tokens);
}

int nb_near_most_keys(const nb_neighbourhood *g)
{
    if (!g->window) return 0;
    if (g->columns == 0) return nb_lesser(RUN + 2 * g->reach, g->n);
    int side = SIDE + 2 * g->reach;
    return nb_greater(g->before, nb_lesser(side, g->rows) * nb_lesser(side, g->columns));
}

/* Pairs of a token and one that is around its block, of a row of n. */
static double pairs_in_row(int n, int block, int reach)
{
    double pairs = 0;
    for (int i = 0; i < n; i += block)
        pairs += (double)nb_lesser(block, n - i) * (nb_lesser(i + block + reach, n) - nb_greater(i - reach, 0));
    return pairs;
}

double nb_near_pairs(const nb_neighbourhood *g)
{
    if (!g->window) return 0;
    if (g->columns == 0) return pairs_in_row(g->n, RUN, g->reach);
    return (double)g->before * g->before +
           pairs_in_row(g->rows, SIDE, g->reach) * pairs_in_row(g->columns, SIDE, g->reach);
}

double nb_near_work(const nb_neighbourhood *g, const nb_layer_shape *s, int m, int top)
{
    double n = s->n;
    return (n * m + nb_near_pairs(g) + n * top) * (s->d + s->dv);
}

/* Keys of a list, at most, and landmarks. */
static size_t most_listed(const nb_neighbourhood *g, int top)
{
    return (size_t)nb_near_most_keys(g) + (size_t)top;
}

static size_t room_scalars(const nb_neighbourhood *g, const nb_layer_shape *s, int m, int top)
{
    size_t each = (size_t)s->d + (size_t)s->dv;
    return (size_t)s->n + 1 + ((size_t)m + most_listed(g, 0)) * (size_t)widest_block(g) +
           each * (most_listed(g, top) + NB_BLOCK_QUERIES);
}

static size_t room_integers(const nb_neighbourhood *g, const nb_layer_shape *s, int m, int top)
{
    return most_listed(g, top) + (size_t)s->n + 2 * (size_t)m;
}

double nb_near_room_bytes(const nb_neighbourhood *g, const nb_layer_shape *s, int m, int top)
{
    return (double)(room_integers(g, s, m, top) * sizeof(int) + room_scalars(g, s, m, top) * sizeof(nb_scalar) +
                    (size_t)top * sizeof(nb_bias_edit)) +
           nb_softmax_bytes(s->d, s->dv, NB_TILE_KEYS) - (double)sizeof(nb_softmax);
}

nb_status nb_near_room_new(const nb_neighbourhood *g, const nb_layer_shape *s, int m, int top, nb_near_room *r,
                           nb_ctx *ctx)
{
    size_t n = (size_t)s->n, d = (size_t)s->d, dv = (size_t)s->dv, listed = most_listed(g, top);
    NB_NEED(r->place, nb_alloc(ctx, room_integers(g, s, m, top), sizeof *r->place));
    r->left = r->place + n;
    r->taken = r->left + m;
    r->keys = r->taken + m;
    if (top > 0) NB_NEED(r->edits, nb_alloc(ctx, (size_t)top, sizeof *r->edits));
    NB_NEED(r->logs, nb_alloc_scalars(ctx, room_scalars(g, s, m, top)));
    r->bias = r->logs + n + 1;
    r->k = r->bias + ((size_t)m + most_listed(g, 0)) * (size_t)widest_block(g);
    r->v = r->k + d * listed;
    r->q = r->v + dv * listed;
    r->out = r->q + d * NB_BLOCK_QUERIES;
    for (size_t i = 0; i <= n; i++) r->logs[i] = (nb_scalar)log((double)i);
    return nb_softmax_new(s->d, s->dv, NB_TILE_KEYS, &r->softmax, ctx);
}

/* The keys around a block. */
static int begin_list(const nb_neighbourhood *g, const nb_far *f, int block, nb_near_room *r)
{
    int count = nb_near_keys(g, block, r->keys);
    memcpy(r->left, f->counts, (size_t)f->m * sizeof *r->left);
    for (int i = 0; i < count; i++) {
        r->place[r->keys[i]] = i + 1;
        r->left[f->group[r->keys[i]]]--;
    }
    return count;
}

void nb_near_forget(const nb_near_room *r, int count)
{
    for (int i = 0; i < count; i++) r->place[r->keys[i]] = 0;
}

int nb_near_list(const nb_neighbourhood *g, const nb_far *f, int block, int owner, nb_near_room *r)
{
    const int *strongest = f->strongest + (size_t)owner * (size_t)f->top;
    int count = begin_list(g, f, block, r);
    for (int i = 0; i < f->top; i++) {
        if (r->place[strongest[i]]) continue;
        r->keys[count++] = strongest[i];
        r->place[strongest[i]] = count;
        r->left[f->group[strongest[i]]]--;
    }
    return count;
}

/* The logits' bias of landmarks, then of the keys around the block. */
static void set_bias(const nb_far *f, int width, int keys, nb_near_room *r)
{
    nb_scalar *bias = r->bias;
    for (int c = 0; c < f->m; c++, bias += width)
        for (int i = 0; i < width; i++) bias[i] = r->logs[r->left[c]] + f->bias[c];
    if (f->top > 0) memset(bias, 0, (size_t)keys * (size_t)width * sizeof *bias);
}

/* Lists in r->edits what the bias of a cluster of queries has other than that of the block: landmarks stand for its
 * strongest keys no more, and those around the block are hidden. Returns how many these are. */
static int list_edits(const nb_far *f, int owner, nb_near_room *r)
{
    const int *strongest = f->strongest + (size_t)owner * (size_t)f->top;
    int count = 0;
    for (int j = 0; j < f->top; j++) {
        int place = r->place[strongest[j]];
        if (place)
            r->edits[count++] = (nb_bias_edit){f->m + place - 1, -INFINITY};
        else
            r->taken[f->group[strongest[j]]]++;
    }
    for (int j = 0; j < f->top; j++) {
        int c = f->group[strongest[j]];
        if (!r->taken[c]) continue;
        r->edits[count++] = (nb_bias_edit){c, r->logs[r->left[c] - r->taken[c]] + f->bias[c]};
        r->taken[c] = 0;
    }
    return count;
}

/* The block's queries leave their strongest keys to nb_near_add_strongest. */
static void leave_strongest(const nb_far *f, int width, int count, const int *queries, nb_near_room *r)
{
    bool done[NB_NEAR_QUERIES] = {false};
    for (int i = 0; i < count; i++) {
        int owner = f->owner[queries[i]];
        if (done[i]) continue;
        int edits = list_edits(f, owner, r);
        for (int l = i; l < count; l++) {
            if (f->owner[queries[l]] != owner) continue;
            done[l] = true;
            for (int j = 0; j < edits; j++)
                r->bias[(size_t)r->edits[j].row * (size_t)width + (size_t)l] = r->edits[j].bias;
        }
    }
}

static bool in_a_row(int count, const int *tokens)
{
    return count > 0 && tokens[count - 1] - tokens[0] == count - 1;
}

/* The points of tokens, which ascend: where they are if these follow each other, else copied. */
static const nb_scalar *points_of(int d, const nb_scalar *x, int count, const int *tokens, nb_scalar *copies)
{
    if (in_a_row(count, tokens)) return x + (size_t)tokens[0] * (size_t)d;
    nb_scalar_gather(d, x, count, tokens, copies);
    return copies;
}

void nb_near_answer(const nb_neighbourhood *g, const nb_far *f, const nb_layer_head *head, int block,
                    nb_scalar *largest, nb_scalar *sum, nb_near_room *r)
{
    int queries[NB_NEAR_QUERIES] = {0}, count = nb_near_queries(g, block, queries), keys = begin_list(g, f, block, r),
        width = widest_block(g), d = r->softmax.d, dv = r->softmax.dv;
    nb_mask mask = {.bias = r->bias, .bias_stride = width};
    bool in_place = in_a_row(count, queries);
    nb_scalar *out = in_place ? head->out + (size_t)queries[0] * (size_t)dv : r->out;
    /* Logits get b_c + ln(keys of c that are not near), for each query without its cluster's strongest */
    set_bias(f, width, keys, r);
    if (f->top > 0) leave_strongest(f, width, count, queries, r);
    /* One softmax over the landmarks L_c with y_c, and the near keys with their values */
    nb_softmax_begin(&r->softmax, count, points_of(d, head->q, count, queries, r->q), out);
    nb_softmax_add(&r->softmax, f->m, f->landmarks, f->values, &mask);
    mask.bias += (size_t)f->m * (size_t)width;
    nb_softmax_add(&r->softmax, keys, points_of(d, head->k, keys, r->keys, r->k),
                   points_of(dv, head->v, keys, r->keys, r->v), f->top > 0 ? &mask : NULL);
    if (f->top > 0)
        nb_softmax_store(&r->softmax);
    else
        nb_softmax_end(&r->softmax, NULL);
    for (int i = 0; i < count; i++) {
        if (!in_place)
            memcpy(head->out + (size_t)queries[i] * (size_t)dv, out + (size_t)i * (size_t)dv, (size_t)dv * sizeof *out);
        if (f->top > 0) largest[queries[i]] = r->softmax.largest[i], sum[queries[i]] = r->softmax.sum[i];
    }
    nb_near_forget(r, keys);
}

/* Queries of one cluster. */
static void add_to_cluster(const nb_far *f, const nb_layer_head *head, const int *queries, int count,
                           nb_scalar *largest, nb_scalar *sum, nb_near_room *r)
{
    size_t d = (size_t)r->softmax.d, dv = (size_t)r->softmax.dv;
    const int *strongest = f->strongest + (size_t)f->owner[queries[0]] * (size_t)f->top;
    nb_scalar_gather((int)d, head->q, count, queries, r->q);
    nb_scalar_gather((int)d, head->k, f->top, strongest, r->k);
    nb_scalar_gather((int)dv, head->v, f->top, strongest, r->v);
    nb_softmax_begin(&r->softmax, count, r->q, r->out);
    nb_softmax_add(&r->softmax, f->top, r->k, r->v, NULL);
    nb_softmax_store(&r->softmax);
    for (int i = 0; i < count; i++) {
        nb_scalar *out = head->out + (size_t)queries[i] * dv;
        nb_softmax_merge(1, (int)dv, out, &largest[queries[i]], &sum[queries[i]], r->out + (size_t)i * dv,
                         &r->softmax.largest[i], &r->softmax.sum[i]);
        nb_softmax_divide(1, (int)dv, out, &sum[queries[i]]);
    }
}

void nb_near_add_strongest(const nb_far *f, const nb_layer_head *head, int first, int count, nb_scalar *largest,
                           nb_scalar *sum, nb_near_room *r)
{
    const int *queries = f->order + first;
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && f->owner[queries[end]] == f->owner[queries[i]];) end++;
        add_to_cluster(f, head, queries + i, end - i, largest, sum, r);
    }
}
