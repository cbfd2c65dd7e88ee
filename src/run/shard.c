/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shard.c - longest processing time first (Graham, SIAM J. Appl. Math. 17, 1969):
 * the units in descending order of their predicted time, each to the shard that has
 * least so far. The longest shard takes at most 4/3 of what is possible. */
#include "run/shard.h"

#include "base/numbers.h"
#include "run/prediction.h"

#include <gsl/gsl_statistics_double.h>
#include <stdlib.h>

nb_status nb_shard_parse(const char *text, const char *source, nb_shard *shard, nb_ctx *ctx)
{
    long long index, count;
    const char *slash = nb_integer_at(text, 1, NB_MOST_SHARDS, &index);
    NB_REQUIRE(ctx, slash && *slash == '/' && nb_parse_integer(slash + 1, index, NB_MOST_SHARDS, &count), NB_EINVAL,
               "%s '%s': expected I/N, whole numbers with 1 <= I <= N <= %d", source, text, NB_MOST_SHARDS);
    *shard = (nb_shard){(int)index, (int)count};
    return NB_OK;
}

typedef struct {
    nb_unit rows;
    double seconds;
} job;

/* The longer first; of two alike the one that the plan has first. */
static int compare(const void *a, const void *b)
{
    const job *x = a, *y = b;
    if (x->seconds != y->seconds) return x->seconds > y->seconds ? -1 : 1;
    return (x->rows.first > y->rows.first) - (x->rows.first < y->rows.first);
}

/* The units in descending order of their time at that rate. */
static nb_status find_jobs(const nb_plan *plan, double rate, job **jobs, int *count, nb_ctx *ctx)
{
    nb_unit *units;
    NB_TRY(ctx, nb_units_find(plan, NULL, &units, count, ctx));
    NB_NEED(*jobs, nb_alloc(ctx, (size_t)*count, sizeof **jobs));
    for (int i = 0; i < *count; i++) {
        nb_cost cost = nb_cost_of(plan, &units[i], NULL);
        (*jobs)[i] = (job){units[i], nb_cost_s(&cost, rate)};
    }
    qsort(*jobs, (size_t)*count, sizeof **jobs, compare);
    return NB_OK;
}

nb_status nb_shards_assign(const nb_plan *plan, int count, int **of, nb_ctx *ctx)
{
    job *jobs;
    double *seconds;
    int job_count;
    NB_NEED(*of, nb_alloc(ctx, (size_t)plan->row_count, sizeof **of));
    NB_NEED(seconds, nb_alloc_reals(ctx, (size_t)count, 1));
    NB_TRY(ctx, find_jobs(plan, NB_USUAL_RATE, &jobs, &job_count, ctx));
    for (int j = 0; j < job_count; j++) {
        size_t least = gsl_stats_min_index(seconds, 1, (size_t)count);
        seconds[least] += jobs[j].seconds;
        for (int row = jobs[j].rows.first; row < jobs[j].rows.end; row++) (*of)[row] = (int)least + 1;
    }
    return NB_OK;
}

nb_status nb_shards_seconds(const nb_plan *plan, const int *of, int count, double rate, double **seconds, nb_ctx *ctx)
{
    job *jobs;
    int job_count;
    NB_NEED(*seconds, nb_alloc_reals(ctx, (size_t)count + 1, 1));
    NB_TRY(ctx, find_jobs(plan, rate, &jobs, &job_count, ctx));
    for (int j = 0; j < job_count; j++) (*seconds)[of[jobs[j].rows.first]] += jobs[j].seconds;
    return NB_OK;
}

nb_status nb_shard_plan(const nb_plan *plan, const int *of, int index, nb_plan *part, nb_ctx *ctx)
{
    *part = *plan;
    part->row_count = 0;
    NB_NEED(part->rows, nb_alloc(ctx, (size_t)plan->row_count, sizeof *part->rows));
    for (int i = 0; i < plan->row_count; i++)
        if (of[i] == index) part->rows[part->row_count++] = plan->rows[i];
    return NB_OK;
}
