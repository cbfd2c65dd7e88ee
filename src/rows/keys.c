/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keys.c - see keys.h */
#include "rows/keys.h"

#include "base/builder.h"
#include "base/text.h"
#include "rows/columns.h"
#include "rows/panels.h"
#include "rows/made_tables.h"
#include "rows/statement.h"
#include "rows/virtual_table.h"

#include <string.h>

/* Columns of the rows as they are read, before the texts of the identity and its numbers but for the trial. */
enum { ID, POSITION, HEAD, TRIAL, N, D, OPEN, MODEL, LAYER, SOURCE, KINDS };

enum { BEFORE_KINDS = 9 }; /* columns that `numbered` has before the numbers of these texts */

enum { NUMBER = 12, NUMBERS = 2 * NB_MOST_TEXTS }; /* characters of a number as text; numbers of a row */
typedef char numbers[NUMBERS * NUMBER + 1];

typedef struct {
    sqlite3_int64 first; /* id */
    bool apart;          /* it has a row of a trial above 0, or one would have other data or draws */
} row_line;

typedef struct {
    nb_relation *r;
    nb_names *names;
    sqlite3_stmt *row, *insert_stretch;
    int count; /* rows that have been read */
    nb_texts heads, lines;
    row_line *of_lines; /* by line */
    int line_room;
    int identity;                /* how many numbers the identity has */
    bool of_data[NB_MOST_TEXTS]; /* kinds of texts that say which data a row is of */
    numbers data;                /* which data the last row was of, and what follows from it: */
    nb_data_ids ids;
    nb_ctx *scratch;
} keys;

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

/* Returns a text of the row; NULL: it has none. */
static const char *text_or_null(sqlite3_stmt *s, int column)
{
    return (const char *)sqlite3_column_text(s, column);
}

static nb_data_origin origin_of(const keys *k)
{
    return (nb_data_origin){.problem = nb_text_at(k->row, KINDS + k->r->problem),
                            .model = text_or_null(k->row, MODEL),
                            .layer = nb_text_at(k->row, LAYER),
                            .source = text_or_null(k->row, SOURCE),
                            .n = sqlite3_column_int(k->row, N),
                            .d = sqlite3_column_int(k->row, D),
                            .trial = sqlite3_column_int(k->row, TRIAL)};
}

static nb_status number_spec(keys *k, int kind, int *number)
{
    bool known;
    NB_TRY(k->r->ctx, nb_names_number(k->names, kind, nb_text_at(k->row, KINDS + kind), number, &known));
    if (known) return NB_OK;
    nb_data_origin origin = origin_of(k);
    return nb_names_look_at(k->names, kind, *number, &origin);
}

static nb_status number_data(keys *k, const int *kinds)
{
    nb_data_origin origin = origin_of(k);
    return nb_data_number(k->r, &origin, nb_fact_of(k->names, k->r->problem, kinds[k->r->problem]), kinds, &k->ids,
                          k->scratch);
}

/* Sets kinds, and what rows have in common: their head, the line of those that differ in the trial alone, and data;
 * *others: the data are not those of the row before. */
static nb_status number_row(keys *k, int *kinds, int *head, int *line, bool *others)
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
    *others = strcmp(data, k->data) != 0;
    if (*others) NB_TRY(r->ctx, number_data(k, kinds));
    strcpy(k->data, data);
    return NB_OK;
}

static nb_status add_stretch(keys *k, int number, int problem, int head)
{
    int to = 0;
    sqlite3_bind_int(k->insert_stretch, ++to, number);
    for (int i = ID; i <= POSITION; i++) sqlite3_bind_value(k->insert_stretch, ++to, sqlite3_column_value(k->row, i));
    sqlite3_bind_value(k->insert_stretch, ++to, sqlite3_column_value(k->row, TRIAL));
    const int made[] = {problem, head, k->ids.panel, k->ids.source};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++) sqlite3_bind_int(k->insert_stretch, ++to, made[i]);
    return nb_relation_add(k->r, k->insert_stretch, "");
}

static nb_status note_line(keys *k, int line, bool opens, bool apart)
{
    NB_GROW(k->scratch, k->of_lines, line, k->line_room);
    if (opens) k->of_lines[line] = (row_line){sqlite3_column_int64(k->row, ID), false};
    k->of_lines[line].apart = k->of_lines[line].apart || apart;
    return NB_OK;
}

/* made <- the numbers of the row at hand. */
static nb_status make_row(keys *k, int number, sqlite3_int64 *made)
{
    const nb_relation *r = k->r;
    int kinds[NB_MOST_TEXTS] = {0}, head, line, lines = k->lines.count, trial = sqlite3_column_int(k->row, TRIAL);
    bool others, drawn = trial > 0, apart = !r->several && !*r->shared, open = sqlite3_column_int(k->row, OPEN);
    NB_TRY(r->ctx, number_row(k, kinds, &head, &line, &others));
    if (others) NB_TRY(r->ctx, add_stretch(k, number, kinds[r->problem], head));
    bool other_data = nb_fact_of(k->names, r->problem, kinds[r->problem])->stratum, redrawn = other_data;
    for (int i = 0; i < r->kind_count; i++) {
        nb_spec_facts *f = nb_fact_of(k->names, i, kinds[i]);
        drawn = drawn || f->draws;
        redrawn = redrawn || (f->draws && f->choice);
        apart = apart || f->apart;
        if (f->first < 0) f->first = number;
        f->open = f->open || open;
    }
    NB_TRY(r->ctx, note_line(k, line, line == lines, trial > 0 || redrawn));
    drawn = drawn && !apart && !other_data;
    const int first[] = {number, head, k->ids.panel, k->ids.stratum, k->ids.source, line, drawn, line == lines};
    *made++ = sqlite3_column_int64(k->row, ID);
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) *made++ = first[i];
    for (int i = 0; i < r->kind_count; i++) *made++ = kinds[i];
    return NB_OK;
}

static nb_status next_row(void *self, sqlite3_int64 *made, bool *there)
{
    keys *k = self;
    NB_TRY(k->r->ctx, nb_relation_step(k->r, k->row, there));
    return *there ? make_row(k, k->count++, made) : NB_OK;
}

bool nb_is_in_key(const nb_study *study, const nb_column *c)
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

/* Columns of `key` that not every study has; each list ends with NULL. */
typedef struct {
    const char **ids;           /* numbers of texts */
    const char **whole, **real; /* what SQL takes from the stored rows, by type */
    const char **stored;        /* both, but for what an older store lacks */
} own_columns;

static nb_status list_own(const nb_relation *r, own_columns *own)
{
    int whole = 0, real = 0, stored = 0;
    const char ***const lists[] = {&own->ids, &own->whole, &own->real, &own->stored};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        NB_NEED(*lists[i], nb_alloc(r->ctx, (size_t)nb_column_count(r->study->columns) + 2, sizeof **lists[i]));
    for (int i = 0; i < r->kind_count; i++) NB_NEED(own->ids[i], nb_format(r->ctx, "%s_id", r->kinds[i]->name));
    for (const nb_column *c = r->study->columns; c->name; c++) {
        if (!nb_is_in_key(r->study, c) || c->type == NB_COLUMN_TEXT) continue;
        if (c->type == NB_COLUMN_INT) own->whole[whole++] = c->name;
        if (c->type == NB_COLUMN_REAL) own->real[real++] = c->name;
        if (nb_rows_have(r, c->name)) own->stored[stored++] = c->name;
    }
    return NB_OK;
}

/* Lists the numbers of the identity but for the trial. */
static nb_status list_identity(keys *k, const char **names)
{
    const nb_relation *r = k->r;
    for (const nb_column *c = r->study->columns; c->name; c++) {
        if (!c->identity || c->type == NB_COLUMN_TEXT || strcmp(c->name, "trial") == 0) continue;
        NB_REQUIRE(r->ctx, r->kind_count + k->identity < NUMBERS, NB_EBUG, "the identity has more than %d columns",
                   NUMBERS);
        names[k->identity++] = c->name;
    }
    return NB_OK;
}

/* Rows that stand for all trials: each is the only one of its line. */
static nb_status stand_for_all(const keys *k)
{
    sqlite3_stmt *update;
    NB_TRY(k->scratch, nb_sql_prepare(k->r, "keys.stand_for_all", NULL, &update, k->scratch));
    for (int i = 0; i < k->lines.count; i++) {
        if (k->of_lines[i].apart) continue;
        sqlite3_bind_int64(update, 1, k->of_lines[i].first);
        NB_TRY(k->scratch, nb_relation_add(k->r, update, ""));
    }
    return NB_OK;
}

nb_status nb_keys_make(nb_names *names, bool some)
{
    nb_relation *r = names->relation;
    keys made = {.r = r, .names = names}, *k = &made;
    const char *texts[NB_MOST_TEXTS + 1] = {NULL}, *identity[NUMBERS + 1] = {NULL}, *chosen = "";
    own_columns own;
    sqlite3_stmt *add_keys;
    NB_NEED(k->scratch, nb_ctx_child(r->ctx));
    nb_texts_init(&k->heads, k->scratch);
    nb_texts_init(&k->lines, k->scratch);
    NB_TRY(r->ctx, list_identity(k, identity));
    for (int i = 0; i < r->kind_count; i++) {
        texts[i] = r->kinds[i]->name;
        k->of_data[i] = i == r->problem || nb_is_of_runs(r, i) || nb_is_of_scene(r, i);
    }
    NB_TRY(r->ctx, list_own(r, &own));
    if (some) NB_TRY(r->ctx, nb_sql_fill("keys.of_chosen", NULL, &chosen, r->ctx));
    const nb_sql_given *given = NB_GIVEN(
        NB_GIVE_NAME("model", nb_column_or_null(r, "model")), NB_GIVE_NAME("layer", nb_column_or_null(r, "layer")),
        NB_GIVE_NAME("source", nb_column_or_null(r, "source")), NB_GIVE_NAMES("texts", texts),
        NB_GIVE_NAMES("numbers", identity), NB_GIVE_NAMES("ids", own.ids), NB_GIVE_NAMES("whole", own.whole),
        NB_GIVE_NAMES("real", own.real), NB_GIVE_NAMES("stored", own.stored), NB_GIVE_PIECE("rows", r->rows),
        NB_GIVE_PIECE("of_chosen", chosen));
    nb_virtual_table numbered = {
        .name = "numbered", .columns = BEFORE_KINDS + r->kind_count, .next = next_row, .self = k};
    NB_TRY(r->ctx, nb_sql_run(r, "keys.key", given, r->ctx));
    NB_TRY(r->ctx, nb_table_make(r, "stretch", "keys.stretch", NULL, &k->insert_stretch, k->scratch));
    NB_TRY(r->ctx, nb_sql_fill("keys.numbered", given, &numbered.definition, k->scratch));
    NB_TRY(r->ctx, nb_virtual_table_add(r, &numbered, k->scratch));
    NB_TRY(r->ctx, nb_sql_prepare(r, "keys.rows", given, &k->row, k->scratch));
    NB_TRY(r->ctx, nb_sql_prepare(r, "keys.add_keys", given, &add_keys, k->scratch));
    NB_TRY(r->ctx, nb_relation_add(r, add_keys, "")); /* it reads `numbered`, that is next_row */
    NB_TRY(r->ctx, some ? nb_sql_run(r, "keys.stand_as_before", NULL, r->ctx) : stand_for_all(k));
    nb_ctx_release(k->scratch, 0);
    return NB_OK;
}
