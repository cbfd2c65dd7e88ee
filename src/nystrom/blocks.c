/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blocks.c - which pairs share, then B, A and the orthonormal basis of each block. */
#include "nystrom/blocks.h"

#include "base/clock.h"
#include "linalg/basis.h"
#include "linalg/linalg.h"
#include "nystrom/scene_record.h"

#include <string.h>

int nb_block_width(int m)
{
    return (m + NB_LEFT_GROUP - 1) / NB_LEFT_GROUP * NB_LEFT_GROUP;
}

int nb_block_width_single(int m)
{
    return (m + NB_SINGLE_START - 1) / NB_SINGLE_START * NB_SINGLE_START;
}

static bool begins(const nb_pair *small, const nb_pair *large)
{
    const nb_picks *s = &small->landmarks->queries, *l = &large->landmarks->queries;
    return small->kind == large->kind && small->kind != NB_KERNEL_RIDGE && s->kind == NB_TOKENS &&
           l->kind == NB_TOKENS && s->m <= l->m && memcmp(s->tokens, l->tokens, (size_t)s->m * sizeof *s->tokens) == 0;
}

static int add_block(nb_blocks *b, const nb_pair *largest)
{
    int m = largest->landmarks->queries.m;
    b->blocks[b->count] = (nb_block){.m = m, .width = nb_block_width(m), .column = b->width, .largest = largest};
    b->width += b->blocks[b->count].width;
    return b->count++;
}

/* The block that holds pair i, after all larger pairs. */
static void group(nb_blocks *b, const nb_pair *pairs, int i)
{
    for (int k = 0; k < b->count; k++)
        if (begins(&pairs[i], b->blocks[k].largest)) {
            b->block_of[i] = k;
            return;
        }
    b->block_of[i] = add_block(b, &pairs[i]);
}

/* B in place, and A for the pairs of the block: if it cannot be formed, only its pair fails. */
static nb_status form_block(const nb_scene *scene, nb_blocks *b, int k, nb_pair *pairs, bool factors, nb_ctx *ctx)
{
    const nb_block *block = &b->blocks[k];
    size_t n = (size_t)b->n, m = (size_t)block->m;
    double *q = b->q + n * (size_t)block->column;
    nb_interpolation own;
    memset(q + n * m, 0, n * ((size_t)block->width - m) * sizeof *q);
    NB_TRY(ctx, nb_factor_b(scene, block->largest->landmarks, block->largest->kind, q, &own, ctx));
    for (int i = 0; factors && i < b->pairs; i++)
        if (b->block_of[i] == k &&
            nb_factor_a(scene, pairs[i].landmarks, pairs[i].kind, q, &own, &pairs[i].factors, ctx) != NB_OK)
            NB_TRY(ctx, nb_record_failure(&pairs[i].failure, ctx));
    return NB_OK;
}

/* Finds whether the first columns of a block, of which `good` are there, are a basis for pair i: by what these columns
 * say alone. */
static nb_status serves(const nb_blocks *b, int k, int good, const nb_pair *pair, bool *full, nb_ctx *ctx)
{
    int m = pair->landmarks->queries.m;
    *full = false;
    return m > good ? NB_OK : nb_has_full_rank(b->n, m, b->blocks[k].r, b->blocks[k].m, full, ctx);
}

/* The other pairs of block k go where the columns serve them: they stay with the largest, or where those do not serve
 * it get a block together. Each of the rest gets one of its own. */
static nb_status regroup(nb_blocks *b, int k, int good, bool largest, const nb_pair *pairs, nb_ctx *ctx)
{
    int served = largest ? k : -1;
    bool full;
    for (int j = 0; j < b->pairs; j++) {
        int i = b->by_size[j];
        if (b->block_of[i] != k || &pairs[i] == b->blocks[k].largest) continue;
        NB_TRY(ctx, serves(b, k, good, &pairs[i], &full, ctx));
        int block = full && served >= 0 ? served : add_block(b, &pairs[i]);
        b->block_of[i] = block;
        b->blocks[block].alone = !full;
        if (full) served = block;
    }
    return NB_OK;
}

/* Q_B in B's place, for the largest pair of the block and all that its columns serve. If they do not serve the
 * largest, it has a basis of its own way, and the block is its alone. */
static nb_status orthonormalise(const nb_scene *scene, nb_blocks *b, int k, nb_pair *pairs, nb_ctx *ctx)
{
    const nb_block block = b->blocks[k];
    int good, rank;
    bool full;
    double *q = b->q + (size_t)b->n * (size_t)block.column;
    if (block.largest->landmarks->queries.kind != NB_TOKENS) /* which no other pair shares */
        return nb_orthonormalise(NB_COLUMNS, b->n, block.m, q, block.r, &rank, ctx);
    if (!block.alone) {
        NB_TRY(ctx, nb_orthonormalise_in_order(b->n, block.m, q, block.r, &good, ctx));
        NB_TRY(ctx, serves(b, k, good, block.largest, &full, ctx));
        NB_TRY(ctx, regroup(b, k, good, full, pairs, ctx));
        if (full) return NB_OK;
        NB_TRY(ctx, form_block(scene, b, k, pairs, false, ctx));
    }
    return nb_orthonormalise_any(b->n, block.m, q, block.r, &rank, ctx);
}

static nb_status build(const nb_scene *scene, nb_blocks *b, int k, nb_pair *pairs, nb_engine_times *times, nb_ctx *ctx)
{
    nb_block *block = &b->blocks[k];
    size_t m = (size_t)block->m;
    double start_s = nb_clock_s();
    NB_NEED(block->r, nb_alloc_reals(ctx, m, m));
    NB_TRY(ctx, form_block(scene, b, k, pairs, true, ctx));
    double formed_s = nb_clock_s();
    nb_status status = orthonormalise(scene, b, k, pairs, ctx);
    times->form_s += formed_s - start_s;
    times->orthonormal_s += nb_clock_s() - formed_s;
    return status;
}

static nb_status sort_pairs(nb_blocks *b, const nb_pair *pairs, nb_ctx *ctx)
{
    int largest = 0, count = 0;
    NB_NEED(b->by_size, nb_alloc(ctx, (size_t)b->pairs, sizeof *b->by_size));
    for (int i = 0; i < b->pairs; i++)
        if (pairs[i].landmarks->queries.m > largest) largest = pairs[i].landmarks->queries.m;
    for (int m = largest; m >= 1; m--)
        for (int i = 0; i < b->pairs; i++)
            if (pairs[i].landmarks->queries.m == m) b->by_size[count++] = i;
    return NB_OK;
}

static nb_status blocks_init(nb_blocks *b, const nb_scene *scene, int count, const nb_pair *pairs,
                             nb_product_sizes sizes, nb_ctx *ctx)
{
    *b = (nb_blocks){.n = scene->head->n,
                     .pairs = count,
                     .least = sizes.least,
                     .reach = nb_width_together(1, NB_LEFT_GROUP, sizes.smallest)};
    for (int i = 0; i < count; i++) b->reach += nb_block_width(pairs[i].landmarks->queries.m);
    NB_NEED(b->q,
            nb_alloc_raw(ctx, (size_t)b->n * (size_t)b->reach)); /* where blocks are shared, its end stays untouched */
    NB_NEED(b->blocks, nb_alloc(ctx, (size_t)count, sizeof *b->blocks));
    NB_NEED(b->block_of, nb_alloc(ctx, (size_t)count, sizeof *b->block_of));
    return sort_pairs(b, pairs, ctx);
}

nb_status nb_blocks_build(const nb_scene *scene, int count, nb_pair *pairs, nb_product_sizes sizes, nb_blocks *b,
                          nb_engine_times *times, nb_ctx *ctx)
{
    NB_TRY(ctx, blocks_init(b, scene, count, pairs, sizes, ctx));
    for (int j = 0; j < count; j++) group(b, pairs, b->by_size[j]);
    for (int k = 0; k < b->count; k++) {
        const char *failure;
        b->blocks[k].good = build(scene, b, k, pairs, times, ctx) == NB_OK;
        if (b->blocks[k].good) continue;
        NB_TRY(ctx, nb_record_failure(&failure, ctx));
        for (int i = 0; i < count; i++) { /* what fails is the largest pair's: the others get blocks of their own */
            if (b->block_of[i] != k) continue;
            if (&pairs[i] == b->blocks[k].largest)
                pairs[i].failure = failure;
            else
                b->block_of[i] = add_block(b, &pairs[i]);
        }
    }
    b->reach = b->width + nb_width_together(1, NB_LEFT_GROUP, sizes.smallest);
    memset(b->q + (size_t)b->n * (size_t)b->width, 0, (size_t)b->n * (size_t)(b->reach - b->width) * sizeof *b->q);
    return NB_OK;
}

void nb_blocks_product(const nb_blocks *b, int first, int end, const nb_stripe *s, double *out, int ld)
{
    int from = b->blocks[first].column, width = b->blocks[end - 1].column + b->blocks[end - 1].width - from;
    nb_gemm_left_together(width, s->count, s->keys, 1, b->q + (size_t)from * (size_t)b->n, b->n, s->values, s->ld, 0,
                          out + from, ld, b->least);
}

void nb_blocks_triangle(const nb_blocks *b, int pair, int m, double *r)
{
    const nb_block *block = &b->blocks[b->block_of[pair]];
    for (size_t j = 0, rows = (size_t)m; j < rows; j++)
        memcpy(r + j * rows, block->r + j * (size_t)block->m, rows * sizeof *r);
}
