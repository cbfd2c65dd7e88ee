/* SPDX-License-Identifier: GPL-3.0-or-later */
/* relation.c - see relation.h. The rows are read once, in the order of the plan; what groups them becomes numbers, so
 * that SQL sorts and joins by these and not by long texts.
 *
 * 1. Each text of the identity gets a number, each row its key.
 * 2. Components get their labels, panels their titles.
 * 3. The view `run` joins these with the stored rows. */
#include "report/relation.h"

#include "attentions/attention.h"
#include "base/text.h"
#include "components/registry.h"
#include "cores/core.h"
#include "kernels/kernel.h"
#include "partitions/partition.h"
#include "problems/problem.h"
#include "report/functions.h"
#include "config/labels.h"
#include "run/schema.h"
#include "strategies/strategy.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static nb_status fail(const nb_relation *r, const char *what)
{
    int code = sqlite3_errcode(r->store->db) & 0xff;
    nb_status status = code == SQLITE_ERROR || code == SQLITE_AUTH ? NB_EINVAL
                       : code == SQLITE_NOMEM                      ? NB_ENOMEM
                                                                   : NB_EIO;
    NB_FAIL(r->ctx, status, "%s: %s%s", what, code == SQLITE_AUTH ? "a query can only read: " : "",
            sqlite3_errmsg(r->store->db));
}

nb_status nb_relation_run(const nb_relation *r, const char *sql)
{
    if (!sql) return NB_ENOMEM;
    return sqlite3_exec(r->store->db, sql, NULL, NULL, NULL) == SQLITE_OK ? NB_OK : fail(r, "the views of the rows");
}

static void finalize(void *statement)
{
    sqlite3_finalize(statement);
}

static void bind_parameters(const nb_relation *r, sqlite3_stmt *s)
{
    int baseline = sqlite3_bind_parameter_index(s, ":baseline"), m = sqlite3_bind_parameter_index(s, ":m"),
        question = sqlite3_bind_parameter_index(s, ":question");
    if (baseline > 0) sqlite3_bind_text(s, baseline, r->baseline, -1, SQLITE_STATIC);
    if (m > 0) sqlite3_bind_int(s, m, r->m);
    if (question > 0) sqlite3_bind_text(s, question, r->question, -1, SQLITE_STATIC);
}

nb_status nb_relation_prepare(const nb_relation *r, const char *sql, const char **rest, sqlite3_stmt **s, nb_ctx *ctx)
{
    if (sqlite3_prepare_v2(r->store->db, sql, -1, s, rest) != SQLITE_OK) return fail(r, "SQL");
    if (!*s) return NB_OK;
    bind_parameters(r, *s);
    return nb_defer(ctx, finalize, *s);
}

nb_status nb_relation_run_file(const nb_relation *r, const char *sql, nb_ctx *ctx)
{
    while (*sql) {
        sqlite3_stmt *s = NULL;
        nb_mark mark = nb_ctx_mark(ctx);
        NB_TRY(ctx, nb_relation_prepare(r, sql, &sql, &s, ctx));
        if (s && sqlite3_step(s) != SQLITE_DONE) return fail(r, "the views of the rows");
        nb_ctx_release(ctx, mark);
    }
    return NB_OK;
}

/* An older store may lack a column. */
static bool has_column(const nb_relation *r, const char *name)
{
    return sqlite3_table_column_metadata(r->store->db, r->several ? "temp" : "main", strchr(r->rows, '.') + 1, name,
                                         NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* Returns the name of a column, or NULL, in SQL, where the rows do not have it. */
static const char *optional(const nb_relation *r, const char *name)
{
    return has_column(r, name) ? name : "NULL";
}

/* 1. Keys. */

static const nb_column run_column = {
    .name = "run", .type = NB_COLUMN_TEXT, .identity = true, .help = "the folder of the run"};

/* Texts of the scene that are no problem: "kernel". */
static bool is_of_scene(const nb_relation *r, int kind)
{
    const nb_axis *a = nb_axis_of_column(r->study, r->kinds[kind]->name);
    return a && a->scene && kind != r->problem;
}

/* Columns of the rows as they are read, before the texts of the identity, what is narrow, and the identity's numbers
 * but for the trial. */
enum { ID, POSITION, HEAD, TRIAL, N, D, STATUS, MODEL, LAYER, SOURCE, KINDS };

enum { NUMBER = 12, NUMBERS = 2 * NB_MOST_TEXTS }; /* characters of a number as text; numbers of a row */
typedef char numbers[NUMBERS * NUMBER + 1];

typedef struct { /* what is known of a spec */
    bool draws;
    bool apart;          /* of a run: its sources do not share their draws */
    const char *stratum; /* of a problem, that of drawn data; NULL: their model is it */
    const char *alike;   /* of a problem, what its kind of data is */
    int first;           /* number of its first row */
    bool open;           /* it has a result, or may get one */
} facts;

typedef struct {
    nb_relation *r;
    sqlite3_stmt *row, *insert;
    nb_texts heads, lines;
    int identity;                /* how many numbers the identity has */
    bool of_data[NB_MOST_TEXTS]; /* kinds of texts that say which data a row is of */
    numbers data;                /* which data the last row was of, and what follows from it: */
    int panel, stratum, source;
    facts *facts[NB_MOST_TEXTS]; /* by spec */
    int room[NB_MOST_TEXTS];
    nb_ctx *scratch;
} keys;

static const char *text_at(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text ? text : "";
}

/* Writes a number to the base 64 and a blank at the end of a text: printf takes longer. Returns the new end. */
static char *add_number(char *end, long long number)
{
    unsigned long long left = (unsigned long long)number;
    do *end++ = (char)('0' + (left & 63));
    while (left >>= 6);
    *end++ = ' ';
    *end = 0;
    return end;
}

static char *add_value(char *end, sqlite3_stmt *s, int column)
{
    double x = sqlite3_column_double(s, column);
    long long number = sqlite3_column_int64(s, column);
    if (sqlite3_column_type(s, column) == SQLITE_NULL) return stpcpy(end, "- ");
    if (sqlite3_column_type(s, column) == SQLITE_FLOAT) memcpy(&number, &x, sizeof number);
    return add_number(end, number);
}

/* Returns whether it says how a file of heads is read. */
static bool is_of_reading(const nb_option *o)
{
    return !o->names_files && !o->selects_head;
}

/* Returns what files of heads of one kind agree in: the model, the layer, the shape, and the problem's options except
 * the file and the head. For other data it is the problem itself. */
static nb_status kind_of(sqlite3_stmt *row, const char *problem, const nb_choice *choice, const char **kind,
                         nb_ctx *ctx)
{
    *kind = problem;
    if (sqlite3_column_type(row, MODEL) == SQLITE_NULL || !choice) return NB_OK;
    NB_NEED(*kind, nb_format(ctx, "%s, layer %s, n = %d, d = %d", text_at(row, MODEL), text_at(row, LAYER),
                             sqlite3_column_int(row, N), sqlite3_column_int(row, D)));
    for (const nb_option *o = choice->component->options; o->key; o++) {
        const char *text;
        if (!is_of_reading(o)) continue;
        NB_TRY(ctx, nb_option_text(choice->options, o, 0, &text, ctx));
        NB_NEED(*kind, nb_format(ctx, "%s, %s = %s", *kind, o->key, text));
    }
    return NB_OK;
}

/* NULL where the component is not in this program. */
static nb_status choose(const nb_registry *registry, const char *spec, nb_choice *room, const nb_choice **choice,
                        nb_ctx *ctx)
{
    bool there;
    *choice = NULL;
    if (!registry) return NB_OK;
    NB_TRY(ctx, nb_choice_recall(registry, spec, room, &there, ctx));
    if (there) *choice = room;
    return NB_OK;
}

static const nb_registry *registry_of(const nb_relation *r, int kind)
{
    return nb_column_registry(r->study->columns, r->kinds[kind]->name);
}

/* Returns whether a component draws; one that the program does not know may. An attention draws by itself: its strategy
 * and core stand beside it. */
static bool draws(const nb_relation *r, const nb_registry *registry, const nb_choice *c)
{
    bool attends = registry == &nb_attentions;
    if (!attends && nb_column_find(r->study->columns, "attention")) return false;
    if (attends) return !c || nb_attention_traits(c) & NB_ATTENTION_RANDOM;
    if (registry == &nb_strategies) return !c || nb_strategy_traits(c) & NB_RANDOM;
    if (registry == &nb_cores) return !c || nb_core_traits(c) & NB_CORE_RANDOM;
    return registry == &nb_partitions && (!c || ((const nb_partition *)c->component)->random);
}

/* The row is the first that has the spec. */
static nb_status look_at(const keys *k, int kind, const char *spec, facts *f)
{
    const nb_relation *r = k->r;
    const nb_registry *registry = registry_of(r, kind);
    nb_choice room;
    const nb_choice *choice;
    NB_TRY(r->ctx, choose(registry, spec, &room, &choice, r->ctx));
    *f = (facts){.draws = draws(r, registry, choice), .first = -1};
    f->apart = r->kinds[kind] == &run_column && !nb_text_among(spec, r->shared);
    if (kind != r->problem) return NB_OK;
    const char *label = nb_given_label_of(r->labels, &nb_problems, spec);
    if (choice && ((const nb_problem *)choice->component)->random) f->stratum = label ? label : choice->label;
    return kind_of(k->row, spec, choice, &f->alike, r->ctx);
}

static nb_status number_spec(keys *k, int kind, int *number)
{
    nb_texts *specs = &k->r->specs[kind];
    int known = specs->count;
    NB_TRY(specs->ctx, nb_texts_number(specs, text_at(k->row, KINDS + kind), number));
    if (*number < known) return NB_OK;
    NB_GROW(specs->ctx, k->facts[kind], *number, k->room[kind]);
    return look_at(k, kind, specs->items[*number], &k->facts[kind][*number]);
}

/* Finds what follows from the texts of a row's data: a panel, a stratum and a source. */
static nb_status number_data(keys *k, const int *kinds)
{
    nb_relation *r = k->r;
    nb_ctx *s = k->scratch;
    const facts *f = &k->facts[r->problem][kinds[r->problem]];
    const char *text = f->alike, *name = f->stratum, *spec = text_at(k->row, KINDS + r->problem);
    if (!name) name = sqlite3_column_type(k->row, MODEL) == SQLITE_NULL ? NB_NO_MODEL : text_at(k->row, MODEL);
    nb_mark mark = nb_ctx_mark(s);
    for (int i = 0; i < r->kind_count; i++)
        if (is_of_scene(r, i)) NB_NEED(text, nb_format(s, "%s, %d", text, kinds[i]));
    NB_TRY(s, nb_texts_number(&r->panels, text, &k->panel));
    NB_GROW(r->ctx, r->drawn, r->strata.count, r->drawn_room);
    NB_TRY(s, nb_texts_number(&r->strata, name, &k->stratum));
    r->drawn[k->stratum] = f->stratum;
    if (f->stratum)
        NB_NEED(text, nb_format(s, "%d %s\ntrial %d", k->stratum, spec, sqlite3_column_int(k->row, TRIAL)));
    else
        NB_NEED(text, nb_format(s, "%d \n%s", k->stratum,
                                sqlite3_column_type(k->row, SOURCE) == SQLITE_NULL ? spec : text_at(k->row, SOURCE)));
    NB_TRY(s, nb_texts_number(&r->sources, text, &k->source));
    nb_ctx_release(s, mark);
    return NB_OK;
}

/* Sets kinds, and what rows have in common: their head, the line of those that differ in the trial alone, and data. */
static nb_status number_row(keys *k, int *kinds, int *head, int *line)
{
    const nb_relation *r = k->r;
    numbers of_head = "", of_line = "", data = "";
    char *line_end = of_line, *data_end = data;
    for (int i = 0; i < r->kind_count; i++) {
        NB_TRY(r->ctx, number_spec(k, i, &kinds[i]));
        line_end = add_number(line_end, kinds[i]);
        if (k->of_data[i]) data_end = add_number(data_end, kinds[i]);
    }
    for (int i = 1; i <= k->identity; i++) line_end = add_value(line_end, k->row, sqlite3_column_count(k->row) - i);
    add_value(add_number(of_head, kinds[r->problem]), k->row, HEAD);
    NB_TRY(r->ctx, nb_texts_number(&k->heads, of_head, head));
    NB_TRY(r->ctx, nb_texts_number(&k->lines, of_line, line));
    add_value(add_number(data_end, *head), k->row, TRIAL);
    if (strcmp(data, k->data) != 0) NB_TRY(r->ctx, number_data(k, kinds));
    strcpy(k->data, data);
    return NB_OK;
}

static nb_status add_key(keys *k, int number)
{
    const nb_relation *r = k->r;
    int kinds[NB_MOST_TEXTS] = {0}, head, line, lines = k->lines.count, to = 0,
        trial = sqlite3_column_int(k->row, TRIAL);
    const char *status = text_at(k->row, STATUS);
    bool drawn = trial > 0, apart = !r->several && !*r->shared,
         open = strcmp(status, "ok") == 0 || strcmp(status, "planned") == 0;
    NB_TRY(r->ctx, number_row(k, kinds, &head, &line));
    for (int i = 0; i < r->kind_count; i++) {
        facts *f = &k->facts[i][kinds[i]];
        drawn = drawn || f->draws;
        apart = apart || f->apart;
        if (f->first < 0) f->first = number;
        f->open = f->open || open;
    }
    drawn = drawn && !apart && !k->facts[r->problem][kinds[r->problem]].stratum; /* not other data */
    const int made[] = {head, k->panel, k->stratum, k->source, line, drawn, line == lines};
    sqlite3_bind_value(k->insert, ++to, sqlite3_column_value(k->row, ID));
    sqlite3_bind_int(k->insert, ++to, number);
    for (int i = POSITION; i <= TRIAL; i++) sqlite3_bind_value(k->insert, ++to, sqlite3_column_value(k->row, i));
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) sqlite3_bind_int(k->insert, ++to, made[i]);
    for (int i = 0; i < r->kind_count; i++) sqlite3_bind_int(k->insert, ++to, kinds[i]);
    for (int from = KINDS + r->kind_count; from < sqlite3_column_count(k->row) - k->identity; from++)
        sqlite3_bind_value(k->insert, ++to, sqlite3_column_value(k->row, from));
    sqlite3_bind_int(k->insert, ++to, 0);
    return nb_relation_add(r, k->insert, "");
}

/* Returns whether many queries ask the column of each row, and it has few bytes: then it stands in `key`, so that they
 * read no whole row. */
static bool is_in_key(const nb_study *study, const nb_column *c)
{
    const nb_column *metric = nb_study_metric(study);
    const char *const compared[] = {metric ? metric->name : NULL, metric ? metric->noise : NULL,
                                    metric ? metric->se : NULL, metric ? metric->unseen : NULL,
                                    metric ? metric->trivial : NULL};
    bool narrow =
        c->type == NB_COLUMN_INT || (c->identity && c->type == NB_COLUMN_REAL) || strcmp(c->name, "status") == 0;
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
        narrow = narrow || (compared[i] && strcmp(c->name, compared[i]) == 0);
    return narrow;
}

/* Lists what `key` has behind what each study's has: of its columns, numbers of texts and what is narrow, and of what a
 * row has for them. */
static nb_status list_own(const nb_relation *r, const char **columns, const char **values)
{
    *columns = *values = "";
    for (int i = 0; i < r->kind_count; i++) {
        NB_NEED(*columns, nb_format(r->ctx, "%s, %s_id INTEGER", *columns, r->kinds[i]->name));
        NB_NEED(*values, nb_format(r->ctx, "%s, %s", *values, r->kinds[i]->name));
    }
    for (const nb_column *c = r->study->columns; c->name; c++) {
        if (!is_in_key(r->study, c) || strcmp(c->name, "head") == 0 || strcmp(c->name, "trial") == 0) continue;
        NB_NEED(*columns, nb_format(r->ctx, "%s, %s %s", *columns, c->name,
                                    c->type == NB_COLUMN_INT    ? "INTEGER"
                                    : c->type == NB_COLUMN_REAL ? "REAL"
                                                                : "TEXT"));
        NB_NEED(*values, nb_format(r->ctx, "%s, %s", *values, optional(r, c->name)));
    }
    return NB_OK;
}

/* Lists the numbers of the identity but for the trial. */
static nb_status list_identity(keys *k, const char **columns)
{
    const nb_relation *r = k->r;
    *columns = "";
    for (const nb_column *c = r->study->columns; c->name; c++) {
        if (!c->identity || c->type == NB_COLUMN_TEXT || strcmp(c->name, "trial") == 0) continue;
        NB_NEED(*columns, nb_format(r->ctx, "%s, %s", *columns, c->name));
        k->identity++;
    }
    NB_REQUIRE(r->ctx, r->kind_count + k->identity <= NUMBERS, NB_EBUG, "the identity has more than %d columns",
               NUMBERS);
    return NB_OK;
}

static nb_status make_keys(keys *k, const char *which)
{
    nb_relation *r = k->r;
    const char *identity, *columns, *values, *sql;
    NB_NEED(k->scratch, nb_ctx_child(r->ctx));
    nb_texts_init(&k->heads, k->scratch);
    nb_texts_init(&k->lines, k->scratch);
    NB_TRY(r->ctx, list_identity(k, &identity));
    for (int i = 0; i < r->kind_count; i++)
        k->of_data[i] = i == r->problem || r->kinds[i] == &run_column || is_of_scene(r, i);
    NB_TRY(r->ctx, list_own(r, &columns, &values));
    NB_NEED(sql, nb_format(r->ctx,
                           "id INTEGER PRIMARY KEY, number INTEGER, position INTEGER, head INTEGER, trial INTEGER, "
                           "head_id INTEGER, panel_id INTEGER, stratum_id INTEGER, source_id INTEGER, line_id INTEGER, "
                           "draws INTEGER, opens INTEGER%s, alone INTEGER",
                           columns));
    NB_TRY(r->ctx, nb_relation_table(r, "key", sql, &k->insert, k->scratch));
    NB_NEED(
        sql,
        nb_format(
            r->ctx,
            "SELECT rowid, position, head, trial, n, d, status, %s, %s, %s%s%s FROM %s WHERE position IS NOT NULL%s "
            "ORDER BY position",
            optional(r, "model"), optional(r, "layer"), optional(r, "source"), values, identity, r->rows, which));
    NB_TRY(r->ctx, nb_relation_prepare(r, sql, NULL, &k->row, k->scratch));
    for (int count = 0;; count++) {
        bool there;
        NB_TRY(r->ctx, nb_relation_step(r, k->row, &there));
        if (!there) break;
        NB_TRY(r->ctx, add_key(k, count));
    }
    nb_ctx_release(k->scratch, 0);
    return nb_relation_run(r,
                           "UPDATE key SET alone = 1 WHERE line_id NOT IN (SELECT line_id FROM key WHERE trial > 0)");
}

/* 2. Names. */

/* The component with all options but one, as its identity or its label has them. */
static nb_status without(const nb_choice *choice, const nb_option *except, bool label, const char **out, nb_ctx *ctx)
{
    const char *text = "", *value;
    for (const nb_option *o = choice->component->options; o->key; o++) {
        if (o == except) continue;
        NB_TRY(ctx, nb_option_text(choice->options, o, label ? 0 : 17, &value, ctx));
        if (label && o->initial && strcmp(value, o->initial) == 0) continue;
        NB_NEED(text, nb_format(ctx, "%s%s%s=%s", text, *text ? ", " : "", o->key, value));
    }
    NB_NEED(*out,
            *text ? nb_format(ctx, "%s(%s)", choice->component->name, text) : nb_strdup(ctx, choice->component->name));
    return NB_OK;
}

/* NaN of a text or a word. */
static double number_of(const nb_choice *choice, const nb_option *o)
{
    const char *field = (const char *)choice->options + o->offset;
    if (o->type == NB_OPTION_REAL) return *(const double *)field;
    return o->type == NB_OPTION_INT && *(const int *)field > NB_SECOND ? (double)*(const int *)field : NAN;
}

/* Returns whether the option is a size: of a drawn problem `n`, of a file `max_n`, of an attention what it says. */
static bool is_size(const nb_registry *registry, const nb_choice *choice, const nb_option *o)
{
    size_t length = strlen(o->key);
    const char *size = registry == &nb_attentions ? ((const nb_attention *)choice->component)->size : NULL;
    if (registry != &nb_problems) return size && strcmp(o->key, size) == 0;
    return o->type == NB_OPTION_INT &&
           (strcmp(o->key, "n") == 0 || (length > 2 && strcmp(o->key + length - 2, "_n") == 0));
}

static nb_status add_options(const nb_relation *r, sqlite3_stmt *s, int kind, int id, const nb_choice *choice)
{
    for (const nb_option *o = choice->component->options; o->key; o++) {
        const char *value, *rest, *label;
        nb_mark mark = nb_ctx_mark(r->ctx);
        NB_TRY(r->ctx, nb_option_text(choice->options, o, 17, &value, r->ctx));
        NB_TRY(r->ctx, without(choice, o, false, &rest, r->ctx));
        NB_TRY(r->ctx, without(choice, o, true, &label, r->ctx));
        NB_TRY(r->ctx, nb_relation_add(r, s, "tttttiiri", r->kinds[kind]->name, o->key, value, rest, label, id,
                                       (int)(o - choice->component->options), number_of(choice, o),
                                       is_size(registry_of(r, kind), choice, o)));
        nb_ctx_release(r->ctx, mark);
    }
    return NB_OK;
}

static bool reads_files(const nb_choice *c)
{
    const nb_option *o = c->component->options;
    while (o->key && !o->names_files) o++;
    return o->key;
}

/* inputs <- by spec of the problem that reads files, how it reads them, in what others of the run read them otherwise:
 * "max_n = 12, permute = true"; NULL of other problems. */
static nb_status name_inputs(const nb_relation *r, const nb_texts *specs, const char **inputs)
{
    const nb_component *reader = NULL;
    nb_choice *choices;
    const char **texts;
    NB_NEED(choices, nb_alloc(r->ctx, (size_t)specs->count + 1, sizeof *choices));
    NB_NEED(texts, nb_alloc(r->ctx, (size_t)specs->count + 1, sizeof *texts));
    for (int i = 0; i < specs->count; i++) {
        const nb_choice *c;
        NB_TRY(r->ctx, choose(&nb_problems, specs->items[i], &choices[i], &c, r->ctx));
        if (!c || !reads_files(c) || (reader && c->component != reader)) continue;
        reader = c->component;
        inputs[i] = "";
    }
    for (const nb_option *o = reader ? reader->options : NULL; o && o->key; o++) {
        const char *any = NULL;
        bool differ = false;
        for (int i = 0; i < specs->count && is_of_reading(o); i++) {
            if (!inputs[i]) continue;
            NB_TRY(r->ctx, nb_option_text(choices[i].options, o, 0, &texts[i], r->ctx));
            differ = differ || (any && strcmp(any, texts[i]) != 0);
            any = texts[i];
        }
        for (int i = 0; i < specs->count && differ; i++)
            if (inputs[i])
                NB_NEED(inputs[i],
                        nb_format(r->ctx, "%s%s%s = %s", inputs[i], *inputs[i] ? ", " : "", o->key, texts[i]));
    }
    return NB_OK;
}

static nb_status add_component(const keys *k, sqlite3_stmt *s, sqlite3_stmt *options, int kind, int id,
                               const char *label, const char *input)
{
    const nb_relation *r = k->r;
    const facts *f = &k->facts[kind][id];
    const nb_registry *registry = registry_of(r, kind);
    const char *spec = r->specs[kind].items[id], *full = nb_given_label_of(r->labels, registry, spec);
    nb_choice room;
    const nb_choice *choice;
    NB_TRY(r->ctx, choose(registry, spec, &room, &choice, r->ctx));
    const nb_kernel *kernel = choice && registry == &nb_kernels ? (const nb_kernel *)choice->component : NULL;
    unsigned strategy = choice && registry == &nb_strategies ? nb_strategy_traits(choice) : 0,
             core = choice && registry == &nb_cores ? nb_core_traits(choice) : 0,
             attention = choice && registry == &nb_attentions ? nb_attention_traits(choice) : 0;
    if (!full) full = choice && choice->component->options->key ? choice->full : label;
    NB_TRY(r->ctx, nb_relation_add(r, s, "tttttiiiiiiiiiiiit", r->kinds[kind]->name, spec, label, full,
                                   choice ? choice->component->name : NULL, id, kind, f->first, f->open,
                                   (strategy & NB_ORACLE || core & NB_CORE_ORACLE),
                                   (strategy & NB_RANDOM || core & NB_CORE_RANDOM), ((core & NB_CORE_FILTER) != 0),
                                   ((attention & NB_ATTENTION_EXACT) != 0), (choice && choice->plain),
                                   (kernel && kernel->points), (kernel && kernel->low_rank),
                                   (!kernel || kernel->stochastic), input));
    return choice ? add_options(r, options, kind, id, choice) : NB_OK;
}

static nb_status make_components(const keys *k)
{
    const nb_relation *r = k->r;
    sqlite3_stmt *component, *option;
    nb_mark mark = nb_ctx_mark(r->ctx);
    NB_TRY(r->ctx,
           nb_relation_table(
               r, "component",
               "kind TEXT, spec TEXT, label TEXT, full TEXT, name TEXT, id INTEGER, kind_place INTEGER, first_row "
               "INTEGER, has_result INTEGER, oracle INTEGER, random INTEGER, filter INTEGER, exact INTEGER, plain "
               "INTEGER, one_set INTEGER, low_rank INTEGER, stochastic INTEGER, input TEXT, PRIMARY KEY (kind, id)",
               &component, r->ctx));
    NB_TRY(r->ctx, nb_relation_table(r, "option",
                                     "kind TEXT, key TEXT, value TEXT, rest TEXT, rest_label TEXT, id INTEGER, place "
                                     "INTEGER, number REAL, size INTEGER, PRIMARY KEY (kind, id, place)",
                                     &option, r->ctx));
    for (int kind = 0; kind < r->kind_count; kind++) {
        const nb_registry *registry = registry_of(r, kind);
        const nb_texts *specs = &r->specs[kind];
        const char **labels, **inputs;
        NB_NEED(labels, nb_alloc(r->ctx, (size_t)specs->count + 1, sizeof *labels));
        NB_NEED(inputs, nb_alloc(r->ctx, (size_t)specs->count + 1, sizeof *inputs));
        if (kind == r->problem) NB_TRY(r->ctx, name_inputs(r, specs, inputs));
        for (int i = 0; i < specs->count; i++) labels[i] = specs->items[i];
        if (registry) NB_TRY(r->ctx, nb_labels_apart(registry, r->labels, specs->count, specs->items, labels, r->ctx));
        for (int i = 0; i < specs->count; i++)
            NB_TRY(r->ctx, add_component(k, component, option, kind, i, labels[i], inputs[i]));
    }
    nb_ctx_release(r->ctx, mark);
    return nb_relation_run(
        r, "UPDATE component SET input = NULL WHERE input IS NOT NULL AND NOT EXISTS (SELECT 1 FROM (SELECT "
           "DISTINCT stratum_id, problem_id FROM key) JOIN component AS c ON c.kind = 'problem' AND c.id = "
           "problem_id GROUP BY stratum_id HAVING min(c.input) < max(c.input))");
}

static nb_status make_sources(const nb_relation *r)
{
    sqlite3_stmt *stratum, *source;
    const char **labels;
    nb_mark mark = nb_ctx_mark(r->ctx);
    NB_NEED(labels, nb_alloc(r->ctx, (size_t)r->strata.count + 1, sizeof *labels));
    NB_TRY(r->ctx, nb_label_strata(r->strata.count, r->strata.items, r->drawn, labels, r->ctx));
    NB_TRY(r->ctx, nb_relation_table(r, "stratum", "id INTEGER PRIMARY KEY, name TEXT, label TEXT, drawn INTEGER",
                                     &stratum, r->ctx));
    NB_TRY(r->ctx,
           nb_relation_table(r, "source", "id INTEGER PRIMARY KEY, stratum_id INTEGER, name TEXT", &source, r->ctx));
    for (int i = 0; i < r->strata.count; i++)
        NB_TRY(r->ctx, nb_relation_add(r, stratum, "itti", i, r->strata.items[i], labels[i], r->drawn[i]));
    for (int i = 0; i < r->sources.count; i++) {
        const char *text = r->sources.items[i];
        NB_TRY(r->ctx, nb_relation_add(r, source, "iit", i, atoi(text), strchr(text, '\n') + 1));
    }
    nb_ctx_release(r->ctx, mark);
    return NB_OK;
}

static nb_status count_panels(const nb_relation *r)
{
    const char *names = "";
    for (int i = 0; i < r->kind_count; i++)
        if (is_of_scene(r, i))
            NB_NEED(names, nb_format(r->ctx, "%s, r.%s AS %s, k.%s_id AS %s_id", names, r->kinds[i]->name,
                                     r->kinds[i]->name, r->kinds[i]->name, r->kinds[i]->name));
    return nb_relation_run(
        r, nb_format(r->ctx,
                     "CREATE TEMP TABLE panel AS SELECT c.*, '' AS title, k.problem_id AS problem_id, k.stratum_id AS "
                     "stratum_id, CASE WHEN problems = 1 THEN r.problem END AS problem, %s AS model, %s AS layer, "
                     "%s AS rows, r.n AS n, r.d AS d%s FROM (SELECT panel_id AS id, count(DISTINCT "
                     "problem_id) AS problems, count(DISTINCT source_id) AS sources, count(DISTINCT head_id) "
                     "AS heads, max(trial) + 1 AS trials, min(position) AS first FROM key GROUP BY panel_id) "
                     "AS c JOIN %s AS r ON r.position = c.first JOIN key AS k ON k.id = r.rowid "
                     "ORDER BY c.first; CREATE UNIQUE INDEX panels ON panel (id)",
                     optional(r, "model"), optional(r, "layer"), optional(r, "rows"), names, r->rows));
}

/* A title begins with the label of its one problem, or of several files with the model and how many sources they are
 * of. No two titles are the same: those facts of their data that differ among such are added, but for the number of a
 * kernel, whose label the title has. */
static nb_status make_panels(nb_relation *r)
{
    const char **problems, **labels, *scene = "''", *sql;
    nb_grid a;
    sqlite3_stmt *name;
    nb_mark mark = nb_ctx_mark(r->ctx);
    NB_TRY(r->ctx, count_panels(r));
    NB_TRY(r->ctx, nb_relation_ask(r, "SELECT id, problem_id FROM panel ORDER BY id", &a, r->ctx));
    NB_NEED(problems, nb_alloc(r->ctx, (size_t)a.count + 1, sizeof *problems));
    NB_NEED(labels, nb_alloc(r->ctx, (size_t)a.count + 1, sizeof *labels));
    for (int i = 0; i < a.count; i++) problems[i] = r->specs[r->problem].items[nb_grid_at(&a, i, 1)->integer];
    NB_TRY(r->ctx, nb_labels_apart(&nb_problems, r->labels, a.count, problems, labels, r->ctx));
    NB_TRY(r->ctx, nb_relation_table(r, "named", "id INTEGER PRIMARY KEY, label, alike", &name, r->ctx));
    for (int i = 0; i < a.count; i++) {
        int id = (int)nb_grid_at(&a, i, 0)->integer;
        NB_TRY(r->ctx, nb_relation_add(r, name, "itt", id, labels[i], r->panels.items[id]));
    }
    for (int i = 0; i < r->kind_count; i++)
        if (is_of_scene(r, i))
            NB_NEED(scene, nb_format(r->ctx,
                                     "%s || CASE WHEN (SELECT count(DISTINCT %s_id) FROM panel) > 1 THEN ', ' || "
                                     "(SELECT label FROM component WHERE kind = '%s' AND id = %s_id) ELSE '' END",
                                     scene, r->kinds[i]->name, r->kinds[i]->name, r->kinds[i]->name));
    NB_NEED(
        sql,
        nb_format(
            r->ctx,
            "UPDATE panel SET title = CASE WHEN problems = 1 THEN (SELECT label FROM named WHERE named.id = "
            "panel.id) ELSE (SELECT label FROM stratum WHERE id = stratum_id) || coalesce(' layer ' || layer, '') || "
            "', ' || sources || ' sources' END || %s || CASE WHEN rows <> 'all' THEN ', rows: ' || rows ELSE '' END; "
            "CREATE TEMP TABLE fact AS SELECT n.id AS panel_id, f.key AS place, f.value AS text FROM named AS "
            "n JOIN json_each('[' || replace(json_quote(alike), ', ', '\",\"') || ']') AS f; "
            "CREATE TEMP TABLE apart AS SELECT DISTINCT f.* FROM panel AS p JOIN panel AS o ON o.title = "
            "p.title AND o.id <> p.id JOIN fact AS f ON f.panel_id = p.id LEFT JOIN fact AS g ON "
            "g.panel_id = o.id AND g.place = f.place WHERE g.text IS NOT f.text AND f.text GLOB "
            "'*[^0-9]*'; "
            "UPDATE panel SET title = title || coalesce((SELECT group_concat(', ' || text, '') FROM "
            "(SELECT text FROM apart WHERE panel_id = panel.id ORDER BY place)), '')",
            scene));
    NB_TRY(r->ctx, nb_relation_run(r, sql));
    nb_ctx_release(r->ctx, mark);
    return nb_relation_run(r, "DROP TABLE named; DROP TABLE fact; DROP TABLE apart");
}

/* 3. The view of the rows. Joins that a query does not look at cost nothing: they are to one row each, and
 * outer, which SQLite leaves out, but for a query that groups: that asks `key`, or a materialized part of `run`. */

/* One column for all measures. */
static nb_status make_measured(const nb_relation *r)
{
    const char *names = "", *cases = "";
    int at = 0;
    for (const nb_column *c = r->study->columns; c->name; c++, at++) {
        if (!c->measure || c->time || c->type != NB_COLUMN_REAL) continue;
        NB_NEED(names, nb_format(r->ctx, "%s%s (%d, '%s')", names, *names ? "," : "", at, c->name));
        if (has_column(r, c->name)) NB_NEED(cases, nb_format(r->ctx, "%s WHEN %d THEN r.%s", cases, at, c->name));
    }
    if (!*cases) return NB_OK;
    return nb_relation_run(
        r, nb_format(r->ctx,
                     "CREATE TEMP TABLE measure (place INTEGER PRIMARY KEY, name TEXT); "
                     "INSERT INTO measure VALUES %s; CREATE TEMP VIEW measured AS SELECT k.id AS id, name AS "
                     "measure, place, CASE place%s END AS x FROM key AS k JOIN %s AS r ON r.rowid = k.id "
                     "JOIN measure",
                     names, cases, r->rows));
}

static nb_status make_view(const nb_relation *r)
{
    static const char *const origins[] = {"model", "layer", "source"}; /* which a study's rows may lack */
    const char *columns = "", *joins = "";
    for (const nb_column *c = r->study->columns; c->name; c++) {
        const char *table = !has_column(r, c->name) ? "" : is_in_key(r->study, c) ? "k." : "r.";
        NB_NEED(columns, nb_format(r->ctx, "%s%s%s%s AS %s", columns, *columns ? ", " : "", table, optional(r, c->name),
                                   c->name));
    }
    for (int i = 0; i < 3; i++)
        if (!nb_column_find(r->study->columns, origins[i]))
            NB_NEED(columns, nb_format(r->ctx, "%s, NULL AS %s", columns, origins[i]));
    for (int i = 0; i < r->kind_count; i++) {
        const char *name = r->kinds[i]->name;
        NB_NEED(columns, nb_format(r->ctx, "%s, k.%s_id AS %s_id", columns, name, name));
        if (!registry_of(r, i)) continue;
        NB_NEED(columns, nb_format(r->ctx, "%s, c%d.label AS %s_label", columns, i, name));
        NB_NEED(joins, nb_format(r->ctx, "%s LEFT JOIN component AS c%d ON c%d.kind = '%s' AND c%d.id = k.%s_id", joins,
                                 i, i, name, i, name));
    }
    return nb_relation_run(
        r, nb_format(
               r->ctx,
               "CREATE TEMP VIEW run AS SELECT %s%s, k.number AS number, k.position AS position, k.id AS id, "
               "head_id, panel_id, stratum_id, source_id, line_id, alone, draws, opens FROM key AS k LEFT JOIN %s AS r "
               "ON r.rowid = k.id%s",
               r->several ? "r.run AS run, " : "", columns, r->rows, joins));
}

/* Names the components of a method that have no result, where others of their kind have one, and why the first row has
 * none. */
static nb_status make_without(const nb_relation *r)
{
    const char *reason = optional(r, "reason"), *kinds = "''";
    for (int i = 0; i < r->kind_count; i++)
        if (i != r->problem && registry_of(r, i))
            NB_NEED(kinds, nb_format(r->ctx, "%s, '%s'", kinds, r->kinds[i]->name));
    return nb_relation_run(
        r, nb_format(
               r->ctx,
               "CREATE TEMP VIEW without AS SELECT kind, 'NO RESULT: ' || listed(c.label, c.id) || ' (' || status || "
               "coalesce(': ' || nullif(%s, ''), '') || ').' AS text FROM component AS c JOIN run ON run.number = "
               "c.first_row WHERE NOT c.has_result AND kind IN (%s) AND EXISTS (SELECT 1 FROM key WHERE status = 'ok') "
               "GROUP BY kind_place, status, %s ORDER BY kind_place, min(c.id)",
               reason, kinds, reason));
}

static nb_status make_unfinished(const nb_relation *r)
{
    return nb_relation_run(
        r, "CREATE TEMP VIEW unfinished AS SELECT 'only ' || count(CASE WHEN status <> 'planned' THEN 1 END) || ' of ' "
           "|| count(*) || ' rows have been run' AS text FROM key HAVING count(CASE WHEN status = 'planned' THEN 1 "
           "END) > 0");
}

/* Drops what was made of other rows, or by another relation of the same store: all but that, its own view and which
 * rows are there. */
static nb_status drop_all(const nb_relation *r)
{
    nb_grid a;
    NB_TRY(r->ctx,
           nb_relation_ask(r,
                           "SELECT 'DROP ' || type || ' temp.' || name FROM temp.sqlite_schema WHERE type IN "
                           "('table', 'view') AND name NOT IN ('results', 'gathered', 'kept_rows') ORDER BY name",
                           &a, r->ctx));
    for (int i = 0; i < a.count; i++) NB_TRY(r->ctx, nb_relation_run(r, nb_grid_at(&a, i, 0)->text));
    return NB_OK;
}

/* All that follows from the rows; `which`: "" or a condition, of those that stay. */
static nb_status make(nb_relation *r, const char *which)
{
    keys k = {.r = r};
    for (int i = 0; i < r->kind_count; i++) nb_texts_init(&r->specs[i], r->ctx);
    nb_texts *const texts[] = {&r->strata, &r->sources, &r->panels};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) nb_texts_init(texts[i], r->ctx);
    for (int i = 0; i < NB_MOST_MADE; i++) r->made[i][1] = NULL;
    NB_TRY(r->ctx, drop_all(r));
    NB_TRY(r->ctx, nb_relation_run(r, "BEGIN"));
    NB_TRY(r->ctx, make_keys(&k, which));
    NB_TRY(r->ctx, make_components(&k));
    NB_TRY(r->ctx, make_sources(r));
    NB_TRY(r->ctx, make_panels(r));
    NB_TRY(r->ctx, make_view(r));
    NB_TRY(r->ctx, make_without(r));
    NB_TRY(r->ctx, make_unfinished(r));
    NB_TRY(r->ctx, make_measured(r));
    return nb_relation_run(r, "COMMIT");
}

/* Rows of all stores in a table of the first one's connection, each run's behind those before. */
static nb_status gather_rows(const nb_relation *r, int count, nb_store *const *stores, const char *const *names)
{
    const char *columns, *sql;
    int fields = nb_column_count(r->study->columns), before = 0;
    sqlite3_stmt *insert, *select;
    nb_mark mark = nb_ctx_mark(r->ctx);
    NB_NEED(columns, nb_sql_columns(NB_SQL_NAMES, r->study->columns, r->ctx));
    NB_NEED(sql, nb_format(r->ctx, "run, position, %s", columns));
    NB_TRY(r->ctx, nb_relation_table(r, "gathered", sql, &insert, r->ctx));
    NB_NEED(sql, nb_format(r->ctx, "SELECT position, %s FROM results WHERE position IS NOT NULL ORDER BY position",
                           columns));
    for (int i = 0; i < count; i++) {
        int code, last = before;
        NB_REQUIRE(r->ctx, sqlite3_prepare_v2(stores[i]->db, sql, -1, &select, NULL) == SQLITE_OK, NB_EIO, "%s: %s",
                   names[i], sqlite3_errmsg(stores[i]->db));
        NB_TRY(r->ctx, nb_defer(r->ctx, finalize, select));
        sqlite3_bind_text(insert, 1, names[i], -1, SQLITE_STATIC);
        while ((code = sqlite3_step(select)) == SQLITE_ROW) {
            sqlite3_bind_int(insert, 2, before + sqlite3_column_int(select, 0));
            for (int c = 0; c < fields; c++) sqlite3_bind_value(insert, 3 + c, sqlite3_column_value(select, 1 + c));
            NB_TRY(r->ctx, nb_relation_add(r, insert, ""));
            last = before + sqlite3_column_int(select, 0) + 1;
        }
        NB_REQUIRE(r->ctx, code == SQLITE_DONE, NB_EIO, "%s: %s", names[i], sqlite3_errmsg(stores[i]->db));
        before = last;
    }
    nb_ctx_release(r->ctx, mark);
    return nb_relation_run(r, "CREATE INDEX gathered_positions ON gathered (position)");
}

static nb_status add_kinds(nb_relation *r)
{
    if (r->several) r->kinds[r->kind_count++] = &run_column;
    for (const nb_column *c = r->study->columns; c->name; c++) {
        if (!c->identity || c->type != NB_COLUMN_TEXT) continue;
        NB_REQUIRE(r->ctx, r->kind_count < NB_MOST_TEXTS, NB_EBUG, "rows have more than %d texts in their identity",
                   NB_MOST_TEXTS);
        if (strcmp(c->name, "problem") == 0) r->problem = r->kind_count;
        r->kinds[r->kind_count++] = c;
    }
    return NB_OK;
}

static nb_status find_shared(nb_relation *r, int count, nb_store *const *stores, const char *const *names)
{
    int shared = 0, draws;
    NB_NEED(r->shared, nb_alloc(r->ctx, (size_t)count + 1, sizeof *r->shared));
    for (int i = 0; i < count; i++) {
        NB_TRY(r->ctx, nb_store_draws(stores[i], &draws, r->ctx));
        if (draws == NB_DRAWS_SHARED) r->shared[shared++] = names[i];
    }
    return NB_OK;
}

nb_status nb_relation_gather(nb_relation **out, int count, nb_store *const *stores, const char *const *names,
                             const nb_given_labels *labels, nb_ctx *ctx)
{
    nb_relation *r;
    NB_NEED(r, nb_alloc(ctx, 1, sizeof *r));
    *r = (nb_relation){.store = stores[0],
                       .rows = count > 1 ? "temp.gathered" : "main.results",
                       .several = count > 1,
                       .study = stores[0]->study,
                       .labels = labels};
    NB_NEED(r->ctx, nb_ctx_child(ctx)); /* views come to be while callers release what they made */
    for (int i = 1; i < count; i++)
        NB_REQUIRE(ctx, stores[i]->study == r->study, NB_EINVAL,
                   "%s is a run of the study %s, %s of %s: only runs of one "
                   "study can be asked together",
                   names[0], r->study->component.name, names[i], stores[i]->study->component.name);
    NB_TRY(ctx, find_shared(r, count, stores, names));
    NB_TRY(ctx, add_kinds(r));
    NB_NEED(r->memory, nb_ctx_child(ctx));
    nb_texts_init(&r->views, r->ctx);
    NB_TRY(ctx, nb_functions_add(r->store->db, ctx));
    if (r->study->add_functions) NB_TRY(ctx, r->study->add_functions(r->store->db, ctx));
    NB_TRY(ctx, nb_relation_run(r, "PRAGMA query_only = 0; PRAGMA temp_store = FILE; PRAGMA cache_size = -65536; "
                                   "PRAGMA temp.cache_size = -262144"));
    if (r->several) NB_TRY(ctx, gather_rows(r, count, stores, names));
    NB_TRY(ctx, make(r, ""));
    *out = r;
    return NB_OK;
}

nb_status nb_relation_open(nb_relation **out, nb_store *store, const nb_given_labels *labels, nb_ctx *ctx)
{
    const char *unnamed = "";
    return nb_relation_gather(out, 1, &store, &unnamed, labels, ctx);
}

/* Asking. */

nb_status nb_relation_step(const nb_relation *r, sqlite3_stmt *s, bool *there)
{
    int code = sqlite3_step(s);
    *there = code == SQLITE_ROW;
    return *there || code == SQLITE_DONE ? NB_OK : fail(r, "SQL");
}

const char *nb_sql_text(const char *name)
{
    const nb_sql_file *f = nb_sql_files;
    while (*f->study || strcmp(f->name, name) != 0) f++;
    return f->text;
}

void nb_cell_bind(sqlite3_stmt *s, int parameter, const nb_cell *cell)
{
    if (cell->type == NB_CELL_INT)
        sqlite3_bind_int64(s, parameter, cell->integer);
    else if (cell->type == NB_CELL_REAL)
        sqlite3_bind_double(s, parameter, cell->real);
    else
        sqlite3_bind_text(s, parameter, cell->text, -1, SQLITE_STATIC);
}

/* texts: those of other rows, most of which are the same. */
static nb_status read_cell(sqlite3_stmt *s, int column, nb_grid *a, nb_texts *texts)
{
    const char *text = NULL;
    int number;
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_INTEGER: return nb_grid_int(a, sqlite3_column_int64(s, column));
    case SQLITE_FLOAT: return nb_grid_real(a, sqlite3_column_double(s, column));
    case SQLITE_TEXT:
        NB_TRY(a->ctx, nb_texts_number(texts, text_at(s, column), &number));
        text = texts->items[number];
        break;
    default: break;
    }
    NB_TRY(a->ctx, nb_grid_text(a, text));
    if (sqlite3_column_type(s, column) == SQLITE_BLOB) a->cells[a->filled - 1].type = NB_CELL_BLOB;
    return NB_OK;
}

nb_status nb_relation_table(const nb_relation *r, const char *table, const char *columns, sqlite3_stmt **insert,
                            nb_ctx *ctx)
{
    const char *values = "?", *unique = strstr(columns, ", PRIMARY KEY"), *sql;
    for (const char *at = columns; (at = strchr(at, ',')) && at != unique; at++)
        NB_NEED(values, nb_format(ctx, "%s, ?", values));
    NB_NEED(sql, nb_format(ctx, "DROP TABLE IF EXISTS temp.%s; CREATE TEMP TABLE %s (%s)%s", table, table, columns,
                           unique ? " WITHOUT ROWID" : ""));
    NB_TRY(ctx, nb_relation_run(r, sql));
    NB_NEED(sql, nb_format(ctx, "INSERT INTO temp.%s VALUES (%s)", table, values));
    return nb_relation_prepare(r, sql, NULL, insert, ctx);
}

nb_status nb_relation_add(const nb_relation *r, sqlite3_stmt *insert, const char *types, ...)
{
    bool there;
    va_list values;
    va_start(values, types);
    for (int i = 1; *types; types++, i++)
        if (*types == 'i')
            sqlite3_bind_int(insert, i, va_arg(values, int));
        else if (*types == 'r')
            sqlite3_bind_double(insert, i, va_arg(values, double));
        else
            sqlite3_bind_text(insert, i, va_arg(values, const char *), -1, SQLITE_STATIC);
    va_end(values);
    nb_status status = nb_relation_step(r, insert, &there);
    sqlite3_reset(insert);
    return status;
}

/* Returns the place of what has this name, or a free one. */
static int find_made(const nb_relation *r, const char *name)
{
    int i = 0;
    while (i < NB_MOST_MADE && r->made[i][0] && strcmp(r->made[i][0], name) != 0) i++;
    return i;
}

bool nb_relation_has(const nb_relation *r, const char *name, const char *of)
{
    int i = find_made(r, name);
    return i < NB_MOST_MADE && r->made[i][1] && strcmp(r->made[i][1], of) == 0;
}

nb_status nb_relation_note(nb_relation *r, const char *name, const char *of, nb_ctx *ctx)
{
    int i = find_made(r, name);
    NB_REQUIRE(ctx, i < NB_MOST_MADE, NB_EBUG, "more than %d things made of rows", NB_MOST_MADE);
    NB_NEED(r->made[i][0], nb_strdup(r->memory, name));
    r->made[i][1] = NULL;
    if (of) NB_NEED(r->made[i][1], nb_strdup(r->memory, of));
    return NB_OK;
}

nb_status nb_relation_make(nb_relation *r, const char *table, const char *sql, nb_ctx *ctx)
{
    if (nb_relation_has(r, table, sql)) return NB_OK;
    NB_TRY(ctx, nb_relation_note(r, table, NULL, ctx));
    NB_TRY(ctx, nb_relation_run(r, nb_format(ctx, "DROP TABLE IF EXISTS temp.%s", table)));
    NB_TRY(ctx, nb_relation_run(r, sql));
    return nb_relation_note(r, table, sql, ctx);
}

/* Forgets the rows and their memory, but not the columns. */
static void empty(nb_grid *a, nb_texts *texts)
{
    nb_ctx_release(a->ctx, 0);
    nb_texts_init(texts, a->ctx);
    a->cells = NULL;
    a->count = a->filled = a->room = 0;
}

/* alone: nothing may follow the statement. `take` is given each row alone, and the grid is empty then; NULL: it keeps
 * all. */
static nb_status ask_next(const nb_relation *r, const char **sql, bool alone, nb_grid *a, nb_row_taker *take,
                          void *self, nb_ctx *ctx)
{
    sqlite3_stmt *s = NULL;
    const char **names;
    nb_texts texts;
    bool there = true;
    *a = (nb_grid){.ctx = ctx};
    NB_TRY(ctx, nb_relation_prepare(r, *sql, sql, &s, ctx));
    *sql += strspn(*sql, " \t\r\n");
    if (!s) return NB_OK;
    NB_REQUIRE(ctx, !alone || !**sql, NB_EINVAL, "SQL: one statement at a time: '%.40s' is one too many", *sql);
    NB_NEED(names, nb_alloc(ctx, (size_t)sqlite3_column_count(s) + 1, sizeof *names));
    for (int c = 0; c < sqlite3_column_count(s); c++) NB_NEED(names[c], nb_strdup(ctx, sqlite3_column_name(s, c)));
    NB_TRY(ctx, nb_grid_make(a, names, ctx));
    if (take) NB_NEED(a->ctx, nb_ctx_child(ctx));
    nb_texts_init(&texts, a->ctx);
    for (;;) {
        NB_TRY(ctx, nb_relation_step(r, s, &there));
        if (!there) break;
        for (int c = 0; c < a->columns; c++) NB_TRY(ctx, read_cell(s, c, a, &texts));
        if (take) NB_TRY(ctx, take(self, a));
        if (take) empty(a, &texts);
    }
    sqlite3_reset(s);
    return NB_OK;
}

nb_status nb_relation_ask_alone(const nb_relation *r, const char *sql, nb_grid *a, nb_row_taker *take, void *self,
                                nb_ctx *ctx)
{
    return ask_next(r, &sql, true, a, take, self, ctx);
}

nb_status nb_relation_ask_next(const nb_relation *r, const char **sql, nb_grid *a, nb_ctx *ctx)
{
    return ask_next(r, sql, false, a, NULL, NULL, ctx);
}

nb_status nb_relation_ask(const nb_relation *r, const char *sql, nb_grid *a, nb_ctx *ctx)
{
    return nb_relation_ask_next(r, &sql, a, ctx);
}

nb_status nb_relation_text(const nb_relation *r, const char *sql, const char **text, nb_ctx *ctx)
{
    nb_grid a;
    NB_TRY(ctx, nb_relation_ask(r, sql, &a, ctx));
    *text = a.count > 0 ? nb_grid_at(&a, 0, 0)->text : NULL;
    return NB_OK;
}

nb_status nb_relation_experiment(const nb_relation *r, const char **name, nb_ctx *ctx)
{
    return nb_relation_text(r, "SELECT experiment FROM run WHERE number = 0", name, ctx);
}

nb_status nb_relation_unfinished(const nb_relation *r, const char **text, nb_ctx *ctx)
{
    return nb_relation_text(r, "SELECT text FROM unfinished", text, ctx);
}

nb_status nb_relation_strata(const nb_relation *r, nb_grid *strata, nb_ctx *ctx)
{
    return nb_relation_ask(r, "SELECT name, label, drawn FROM stratum ORDER BY id", strata, ctx);
}

nb_status nb_key_sql(const nb_column *c, const char **sql, nb_ctx *ctx)
{
    bool text = c->type == NB_COLUMN_TEXT;
    NB_NEED(*sql, nb_format(ctx, text && c->identity ? "%s_id" : text ? "coalesce(%s, '')" : "%s", c->name));
    return NB_OK;
}

nb_status nb_keys_add(const char **list, const nb_column *c, nb_ctx *ctx)
{
    const char *key;
    NB_TRY(ctx, nb_key_sql(c, &key, ctx));
    NB_NEED(*list, nb_format(ctx, "%s%s%s", *list, **list ? ", " : "", key));
    return NB_OK;
}

bool nb_is_of_method(const nb_column *c)
{
    static const char *const data[] = {"problem", "head", "trial", NULL};
    return c->identity && c->type != NB_COLUMN_SEED && !nb_text_among(c->name, data);
}

nb_disturbance nb_disturbance_of(const nb_study *study, const nb_column *c)
{
    if (c->disturbed) return (nb_disturbance){c->disturbed, "other programs", "column load"};
    if (!c->time || study->exclusive) return (nb_disturbance){"0", "", ""};
    return (nb_disturbance){"id IN (SELECT r.rowid FROM main.results AS r WHERE r.manifest IN (SELECT m.id FROM "
                            "main.manifests AS m WHERE json_extract(m.text, '$.jobs') > 1))",
                            "other workers", "--jobs 1 avoids them"};
}

nb_status nb_label_sql(const nb_column *c, const char **sql, nb_ctx *ctx)
{
    if (c->identity && c->type == NB_COLUMN_TEXT)
        NB_NEED(*sql, nb_format(ctx,
                                "(SELECT label || CASE WHEN oracle AND kind = 'strategy' THEN '" NB_ORACLE_MARK
                                "' ELSE '' END FROM component WHERE kind = '%s' AND id = run.%s_id)",
                                c->name, c->name));
    else
        NB_NEED(*sql,
                nb_format(ctx, c->type == NB_COLUMN_REAL ? "shown('%%.4g', run.%s)" : "CAST(run.%s AS TEXT)", c->name));
    return NB_OK;
}

nb_status nb_relation_values(const nb_relation *r, const char *column, const char *among, nb_grid *values, nb_ctx *ctx)
{
    const char *key, *value = "v", *sql;
    const nb_column *c = nb_column_find(r->study->columns, column);
    bool numbered = c->identity && c->type == NB_COLUMN_TEXT, of_line = c->identity && strcmp(column, "trial") != 0;
    if (numbered) NB_NEED(value, nb_format(ctx, "(SELECT spec FROM component WHERE kind = '%s' AND id = v)", column));
    NB_TRY(ctx, nb_key_sql(c, &key, ctx));
    if (numbered && !among) /* in this order, and with no row to look at */
        NB_NEED(sql, nb_format(ctx, "SELECT spec, quote(id) FROM component WHERE kind = '%s' ORDER BY id", column));
    else
        NB_NEED(sql, nb_format(ctx,
                               "WITH meant AS MATERIALIZED (SELECT %s AS v, number FROM run WHERE %s) "
                               "SELECT %s, quote(v) FROM meant GROUP BY v ORDER BY min(number)",
                               key,
                               among     ? among
                               : of_line ? "opens"
                                         : "1",
                               value));
    return nb_relation_ask(r, sql, values, ctx);
}

nb_status nb_relation_choose(const nb_relation *r, const char *table, const char *where, nb_ctx *ctx)
{
    return nb_relation_run(r, nb_format(ctx,
                                        "DROP TABLE IF EXISTS temp.%s; CREATE TEMP TABLE %s (id INTEGER PRIMARY KEY); "
                                        "INSERT INTO %s SELECT id FROM run WHERE %s ORDER BY id",
                                        table, table, table, where));
}

nb_status nb_relation_keep(nb_relation *r, const char *where, nb_ctx *ctx)
{
    NB_TRY(ctx, nb_relation_choose(r, "kept_rows", where, ctx));
    return make(r, " AND rowid IN (SELECT id FROM temp.kept_rows)");
}
