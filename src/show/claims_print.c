/* SPDX-License-Identifier: GPL-3.0-or-later */
/* claims_print.c - see claims_print.h. The answers become one table, `answer`: a row for each claim, then for each of
 * its models, then for each part and its models. What is printed are queries of it in files of SQL. */
#include "show/claims_print.h"

#include "base/builder.h"
#include "rows/made_tables.h"
#include "show/csv.h"
#include "show/query.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const char columns[] =
    "number, claim, part, parts, run, runs, models, sources, heads, family, disturbed, timed, estimate, low, high, "
    "more, slack, lowest, highest, experiment, id, says, source, claim_text, untested, row, name, label, why, "
    "disturber, disturber_hint, measured, form, expectation, verdict, ordered";

typedef struct {
    const nb_relation *relation;
    sqlite3_stmt *insert;
    int run, runs, number, claim;
    const char *experiment;
    const nb_claim_result *result;
    nb_ctx *ctx;
} filler;

void nb_claims_tally(int runs, const nb_claim_results *results, int tally[NB_CLAIM_VERDICTS])
{
    memset(tally, 0, NB_CLAIM_VERDICTS * sizeof *tally);
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count; i++) tally[results[r].results[i].answer.verdict]++;
}

nb_status nb_claims_tell_tally(int runs, const nb_claim_results *results, const char **text, nb_ctx *ctx)
{
    int tally[NB_CLAIM_VERDICTS];
    nb_string all = NB_NO_TEXT;
    nb_claims_tally(runs, results, tally);
    for (int v = 0; v < NB_CLAIM_VERDICTS; v++)
        if (tally[v] > 0) NB_TRY(ctx, nb_append_item(&all, ", ", ctx, "%d %s", tally[v], nb_claim_verdicts[v]));
    *text = all.text;
    return NB_OK;
}

static nb_status add_answer(filler *f, const char *row, int part, const nb_claim_answer *a)
{
    const nb_claim *c = f->result->claim;
    const int integers[] = {f->number++, f->claim, part,      f->result->part_count, f->run,  f->runs, a->model_count,
                            a->sources,  a->heads, a->family, a->disturbed,          a->timed};
    const double reals[] = {a->estimate, a->low, a->high, a->more, a->slack, c->low, c->high};
    const char *const texts[] = {f->experiment,
                                 c->id,
                                 c->says,
                                 c->source,
                                 c->text,
                                 c->untested,
                                 row,
                                 a->name,
                                 a->label,
                                 a->why,
                                 a->disturbance.who,
                                 a->disturbance.hint,
                                 nb_claim_quantity(c)};
    const char *const words[] = {nb_claim_forms[c->form], nb_claim_expectations[c->expectation],
                                 nb_claim_verdicts[a->verdict]};
    int at = 0;
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) sqlite3_bind_int(f->insert, ++at, integers[i]);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) sqlite3_bind_double(f->insert, ++at, reals[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        const char *clean = NULL;
        if (texts[i]) NB_NEED(clean, nb_clean(f->ctx, texts[i], "\t\r\n"));
        sqlite3_bind_text(f->insert, ++at, clean, -1, SQLITE_STATIC);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        sqlite3_bind_text(f->insert, ++at, words[i], -1, SQLITE_STATIC);
    sqlite3_bind_int(f->insert, ++at, c->order);
    NB_TRY(f->ctx, nb_relation_add(f->relation, f->insert, ""));
    for (int m = 0; m < a->model_count; m++) NB_TRY(f->ctx, add_answer(f, "model", part, &a->models[m]));
    return NB_OK;
}

static nb_status prepare(int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    filler f = {.relation = results[0].relation, .runs = runs, .ctx = ctx};
    NB_TRY(ctx, nb_relation_table(f.relation, "answer", columns, &f.insert, ctx));
    for (int r = 0; r < runs; r++)
        for (int i = 0; i < results[r].count; i++, f.claim++) {
            f.result = &results[r].results[i];
            f.experiment = results[r].experiment;
            f.run = r;
            NB_TRY(ctx, add_answer(&f, "claim", 0, &f.result->answer));
            for (int p = 0; p < f.result->part_count; p++)
                NB_TRY(ctx, add_answer(&f, "part", p + 1, &f.result->parts[p]));
        }
    return nb_relation_run(f.relation, nb_sql_text("claims_told"));
}

nb_status nb_claims_show(nb_page *page, nb_claims_form form, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    static const char *const files[] = {"claims", "claims_lines", "claims_table"};
    const char *tally;
    NB_TRY(ctx, nb_claims_tell_tally(runs, results, &tally, ctx));
    if (!*tally) return NB_OK;
    NB_TRY(ctx, prepare(runs, results, ctx));
    if (form == NB_CLAIMS_LINES) nb_page_heading(page, 2, "Claims: %s", tally);
    NB_TRY(ctx, nb_query_tell(results[0].relation, nb_sql_text(files[form]), page, ctx));
    if (form == NB_CLAIMS_PARTS) nb_page_heading(page, 4, "Claims: %s", tally);
    return NB_OK;
}

nb_status nb_claims_print_csv(FILE *out, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    nb_grid grid;
    NB_TRY(ctx, prepare(runs, results, ctx));
    NB_TRY(ctx, nb_relation_ask(results[0].relation, nb_sql_text("claims_rows"), &grid, ctx));
    return nb_grid_print_csv(out, &grid, ctx);
}

/* An answer's objects in the lists of those that they belong to. */
static int nest(const nb_grid *a, json_t *list)
{
    json_t *above[3] = {NULL};
    int failed = !list;
    for (int i = 0; i < a->count && !failed; i++) {
        int depth = (int)nb_grid_at(a, i, 0)->integer;
        above[depth] = json_loads(nb_grid_at(a, i, 2)->text, 0, NULL);
        json_t *place = depth == 0 ? list : json_object_get(above[depth - 1], nb_grid_at(a, i, 1)->text);
        failed = json_array_append_new(place, above[depth]);
    }
    return failed;
}

nb_status nb_claims_print_json(FILE *out, int runs, const nb_claim_results *results, nb_ctx *ctx)
{
    nb_grid a;
    NB_TRY(ctx, prepare(runs, results, ctx));
    NB_TRY(ctx, nb_relation_ask(results[0].relation, nb_sql_text("claims_json"), &a, ctx));
    json_t *list = json_array();
    int failed = nest(&a, list) || (json_dumpf(list, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) && !ferror(out));
    json_decref(list);
    fputc('\n', out);
    NB_REQUIRE(ctx, !failed, NB_ENOMEM, "the claims cannot be written as JSON");
    return NB_OK;
}
