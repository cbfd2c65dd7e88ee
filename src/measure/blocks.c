/* blocks.c - which pairs share, then B, A and the orthonormal basis of each block. */
#include "measure/blocks.h"

#include "base/clock.h"
#include "linalg/basis.h"

#include <string.h>

enum { GROUP = 8 };

int nb_block_width(int m)
{
    return (m + GROUP - 1) / GROUP * GROUP;
}

nb_status nb_keep_failure(const char **failure, nb_ctx *ctx)
{
    NB_NEED(*failure, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    return NB_OK;
}

static bool begins(const nb_pair *small, const nb_pair *large)
{
    const nb_picks *s = &small->landmarks->queries, *l = &large->landmarks->queries;
    return small->kind == large->kind && s->kind == NB_TOKENS && l->kind == NB_TOKENS && s->m <= l->m &&
           memcmp(s->tokens, l->tokens, (size_t)s->m * sizeof *s->tokens) == 0;
}

static int add_block(nb_blocks *b, const nb_pair *largest)
{
    int m = largest->landmarks->queries.m;
    b->blocks[b->count] = (nb_block){.m = m, .width = nb_block_width(m), .column = b->width, .largest = largest};
    b->width += b->blocks[b->count].width;
    return b->count++;
}

/* The block that holds pair i, the largest pairs first. */
static void group(nb_blocks *b, const nb_pair *pairs, int i)
{
    for (int k = 0; k < b->count; k++)
        if (begins(&pairs[i], b->blocks[k].largest)) {
            b->block_of[i] = k;
            return;
        }
    b->block_of[i] = add_block(b, &pairs[i]);
}

static void group_all(nb_blocks *b, const nb_pair *pairs)
{
    int largest = 0;
    for (int i = 0; i < b->pairs; i++)
        if (pairs[i].landmarks->queries.m > largest) largest = pairs[i].landmarks->queries.m;
    for (int m = largest; m >= 1; m--)
        for (int i = 0; i < b->pairs; i++)
            if (pairs[i].landmarks->queries.m == m) group(b, pairs, i);
}

/* B in place, A for the pairs of the block, then Q_B in B's place. An A that cannot be had is the failure
 * of its pair alone. */
static nb_status build(const nb_scene *scene, nb_blocks *b, int k, nb_pair *pairs, int *rank, nb_engine_times *times,
                       nb_ctx *ctx)
{
    nb_block *block = &b->blocks[k];
    size_t n = (size_t)b->n, m = (size_t)block->m;
    double *q = b->q + n * (size_t)block->column, start_s = nb_clock_s();
    NB_NEED(block->r, nb_alloc_reals(ctx, m, m));
    memset(q + n * m, 0, n * ((size_t)block->width - m) * sizeof *q);
    NB_TRY(ctx, nb_factor_b(scene, block->largest->landmarks, block->largest->kind, q, ctx));
    for (int i = 0; i < b->pairs; i++)
        if (b->block_of[i] == k && nb_factor_a(scene, pairs[i].landmarks, pairs[i].kind, q, &pairs[i].factors, ctx) != NB_OK)
            NB_TRY(ctx, nb_keep_failure(&pairs[i].failure, ctx));
    double formed_s = nb_clock_s();
    nb_status status = nb_orthonormalise(NB_COLUMNS, b->n, block->m, q, block->r, rank, ctx);
    times->form_s += formed_s - start_s;
    times->orthonormal_s += nb_clock_s() - formed_s;
    return status;
}

/* Where the largest B is rank-deficient its first columns need not span the
 * smaller ones, and where it fails they need not: those get blocks of their own. */
static void split(nb_blocks *b, int k, const nb_pair *pairs)
{
    for (int i = 0; i < b->pairs; i++)
        if (b->block_of[i] == k && pairs[i].landmarks->queries.m < b->blocks[k].m) b->block_of[i] = add_block(b, &pairs[i]);
}

static nb_status blocks_init(nb_blocks *b, const nb_scene *scene, int count, const nb_pair *pairs, nb_ctx *ctx)
{
    size_t capacity = 0;
    *b = (nb_blocks){.n = scene->head->n, .pairs = count};
    for (int i = 0; i < count; i++) capacity += (size_t)nb_block_width(pairs[i].landmarks->queries.m);
    NB_NEED(b->q, nb_alloc_raw(ctx, (size_t)b->n * capacity)); /* where blocks are shared, its end stays untouched */
    NB_NEED(b->blocks, nb_alloc(ctx, (size_t)count, sizeof *b->blocks));
    NB_NEED(b->block_of, nb_alloc(ctx, (size_t)count, sizeof *b->block_of));
    return NB_OK;
}

nb_status nb_blocks_build(const nb_scene *scene, int count, nb_pair *pairs, nb_blocks *b, nb_engine_times *times,
                          nb_ctx *ctx)
{
    NB_TRY(ctx, blocks_init(b, scene, count, pairs, ctx));
    group_all(b, pairs);
    for (int k = 0; k < b->count; k++) {
        int rank = 0;
        b->blocks[k].good = build(scene, b, k, pairs, &rank, times, ctx) == NB_OK;
        const char *failure = NULL;
        if (!b->blocks[k].good) NB_TRY(ctx, nb_keep_failure(&failure, ctx));
        if (failure || rank < b->blocks[k].m) split(b, k, pairs);
        for (int i = 0; i < count; i++)
            if (b->block_of[i] == k && failure) pairs[i].failure = failure;
    }
    return NB_OK;
}
