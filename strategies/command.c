/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.c - landmarks from any program, in Python or anything else (data/asking.h).
 *
 * It finds in the folder of the pick
 *     points.npy    the points, float64 (n, d)
 *     request.json  m, side ("queries", "keys", "joint", "shared" or "both", see nb_pairing), seed, n, d, causal
 * and leaves picks.npy: integers of shape (m,), which are tokens, or floats of shape
 * (m, d), which are points.
 *
 * With the pairing `both` it finds queries.npy and keys.npy, float64 (n, d) each, instead of points.npy, and leaves
 * query_picks.npy and key_picks.npy, tokens in both or points in both; or picks.npy alone, tokens that serve both
 * sides.
 *
 * With `serve` the answer {"done": "picks"} says that it has left the files as above, {"done": "groups"} that their
 * integers, of shape (n,), are the groups of the tokens.
 *
 * select_s includes the files, a few ms, and starting the program, for a Python with NumPy some 0.1 s; but not the
 * start of a server, which its first pick would have alone, nor waited_s. */
#include "strategy.h"

#include "base/builder.h"
#include "data/asking.h"
#include "nystrom/picks_file.h"

static const nb_option options[] = {NB_ASKING_OPTIONS(
    "its picks are the same in all trials", "makes all picks of a worker; `python3 -m nysbench.serve FILE.py` is one")};

enum { PICKS, GROUPS };
static const char *const done[] = {[PICKS] = "picks", [GROUPS] = "groups", NULL};

typedef struct {
    const nb_points *points, *keys; /* the pairing `both`: the queries and the keys; else keys is NULL */
    nb_picks *picks, *of_keys;      /* of these points */
    int m;
    const nb_asking *program;
    nb_question question;
} call;

static nb_status open(call *c, nb_ctx *ctx)
{
    const nb_points *p = c->points;
    const char *side = c->keys ? nb_pairing_names[NB_BOTH] : nb_side_names[p->side];
    unsigned long seed = c->program->deterministic ? 0 : gsl_rng_get(nb_ctx_rng(ctx));
    json_t *request = json_pack("{s:i, s:s, s:I, s:i, s:i, s:b}", "m", c->m, "side", side, "seed", (json_int_t)seed,
                                "n", p->n, "d", p->d, "causal", (int)nb_scene_head(p->scene)->causal);
    nb_status status = nb_question_open(&c->question, c->program, request, ctx);
    c->question.done = done;
    return status;
}

static nb_status add_points(call *c, const char *name, const nb_points *p, nb_ctx *ctx)
{
    return nb_question_add(&c->question, name, p->n, p->d, p->x, ctx);
}

/* left: picks.npy, query_picks.npy and key_picks.npy, NULL where there is none: the first alone or, with `both`, the
 * two others. */
static nb_status find_picks(const call *c, const char *left[3], nb_ctx *ctx)
{
    static const char *const names[3] = {"picks.npy", "query_picks.npy", "key_picks.npy"};
    const char *who = c->question.who, *said = c->question.said;
    nb_string came = NB_NO_TEXT;
    for (int i = 0; i < (c->keys ? 3 : 1); i++) {
        NB_TRY(ctx, nb_question_find(&c->question, names[i], &left[i], ctx));
        if (left[i]) NB_TRY(ctx, nb_append_item(&came, ", ", ctx, "%s", names[i]));
    }
    NB_REQUIRE(ctx, c->keys || left[0], NB_EIO, "%s: left no picks.npy%s", who, said);
    NB_REQUIRE(ctx, left[0] ? !left[1] && !left[2] : left[1] && left[2], NB_EIO,
               "%s: left %s; allowed are query_picks.npy and key_picks.npy, or picks.npy alone, tokens that serve both "
               "sides%s",
               who, *came.text ? came.text : "no picks", said);
    return NB_OK;
}

static nb_status load_groups(const char *const left[3], const call *c, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_picks_load_groups(left[1] ? left[1] : left[0], c->m, c->points->n, c->picks, ctx));
    if (left[2]) return nb_picks_load_groups(left[2], c->m, c->points->n, c->of_keys, ctx);
    if (c->keys) *c->of_keys = *c->picks;
    return NB_OK;
}

static nb_status load(const call *c, nb_ctx *ctx)
{
    const nb_points *p = c->points;
    const char *left[3] = {NULL};
    NB_TRY(ctx, find_picks(c, left, ctx));
    const char *of_queries = left[1] ? left[1] : left[0];
    nb_status status = c->question.left == GROUPS ? load_groups(left, c, ctx)
                       : c->keys ? nb_picks_load_sides(of_queries, left[2], c->m, p->d, p->n, c->picks, c->of_keys, ctx)
                                 : nb_picks_load(left[0], c->m, p->d, p->n, c->picks, ctx);
    return nb_question_read(&c->question, status, ctx);
}

static nb_status ask(call *c, nb_ctx *ctx)
{
    NB_TRY(ctx, open(c, ctx));
    NB_TRY(ctx, add_points(c, c->keys ? "queries.npy" : "points.npy", c->points, ctx));
    if (c->keys) NB_TRY(ctx, add_points(c, "keys.npy", c->keys, ctx));
    nb_status status = nb_question_ask(&c->question, ctx);
    nb_scene_leave_out(c->points->scene, c->question.spared_s);
    NB_TRY(ctx, status);
    return load(c, ctx);
}

static nb_status pick(const nb_points *points, int m, const void *opts, nb_picks *picks, nb_ctx *ctx)
{
    call c = {.points = points, .picks = picks, .m = m, .program = opts};
    nb_status status = ask(&c, ctx);
    return nb_question_end(&c.question, status, ctx);
}

static nb_status pick_both(const nb_points *queries, const nb_points *keys, int m, const void *opts,
                           nb_picks *of_queries, nb_picks *of_keys, nb_ctx *ctx)
{
    call c = {.points = queries, .keys = keys, .picks = of_queries, .of_keys = of_keys, .m = m, .program = opts};
    nb_status status = ask(&c, ctx);
    return nb_question_end(&c.question, status, ctx);
}

static unsigned traits_of(const void *opts)
{
    return (((const nb_asking *)opts)->deterministic ? 0 : NB_RANDOM) | NB_ELSEWHERE;
}

static nb_status ready(const void *opts, nb_ctx *ctx)
{
    return nb_asking_ready(opts, ctx);
}

static const char *const references[] = {"the program that it runs; the .npy format (NumPy enhancement proposal 1)",
                                         NULL};

const nb_strategy nb_strategy_command = {
    .component = {"command", "landmarks that a program of your own picks, through files", references, options,
                  sizeof(nb_asking)},
    .traits = NB_RANDOM | NB_ELSEWHERE,
    .pairing = NB_JOINT,
    .traits_of = traits_of,
    .pick = pick,
    .pick_both = pick_both,
    .ready = ready,
};
