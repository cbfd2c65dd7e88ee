/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contrast.c - see contrast.h; the pairs of a value and a baseline are read, and united by setting to the units that
 * compare.c and claim_compare.c estimate from. */
#include "answers/contrast.h"

#include "base/builder.h"
#include "base/fields.h"
#include "base/text.h"
#include "rows/columns.h"
#include "rows/statement.h"
#include "rows/run_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int value, setting;  /* their numbers */
    const char *refusal; /* see pairs.sql */
    nb_row_pair pair;
} paired_rows;

typedef struct {
    nb_relation *relation;
    const nb_contrast_terms *terms;
    nb_pair_question question;
    bool pooled; /* a setting is a scope of pairs */
    nb_contrasts *out;
    int *known_by; /* by setting, ascending */
    nb_grid rows;  /* by value, how many it has */
    int room, pair_room;
    paired_rows *pairs;
    int *unpaired, *unmet;
    nb_ctx *ctx;
} maker;

static nb_status check_columns(maker *m)
{
    const nb_column *columns = m->relation->study->columns;
    nb_pair_question *q = &m->question;
    q->by = nb_column_find(columns, m->terms->by);
    NB_REQUIRE(m->ctx, q->by && nb_is_of_method(q->by), NB_EINVAL,
               "rows cannot be compared by '%s': it is not part of a method", m->terms->by);
    q->pool = m->terms->pool ? nb_column_find(columns, m->terms->pool) : NULL;
    NB_REQUIRE(m->ctx, !m->terms->pool || (q->pool && nb_is_of_method(q->pool)), NB_EINVAL,
               "'%s' cannot be pooled: heads and trials are averaged by themselves", m->terms->pool);
    q->metric = m->out->metric = nb_column_find(columns, m->terms->metric);
    NB_REQUIRE(m->ctx, q->metric && q->metric->type == NB_COLUMN_REAL, NB_EINVAL, "'%s' is not a measured column",
               m->terms->metric);
    q->united = m->terms->united;
    q->confounded = m->terms->confounded;
    q->among = m->terms->among;
    return NB_OK;
}

/* Names what a setting is: without what is pooled. */
static nb_status name_settings(maker *m)
{
    const char **names;
    bool pooled = m->terms->pool && !m->terms->apart;
    int count = 0, all = 0;
    while (m->question.setting[all]) all++;
    NB_NEED(names, nb_alloc(m->ctx, (size_t)all + 1, sizeof *names));
    for (int i = 0; i < all; i++)
        if (!pooled || strcmp(m->question.setting[i], m->terms->pool) != 0) names[count++] = m->question.setting[i];
    m->out->setting_columns = names;
    m->pooled = pooled;
    return NB_OK;
}

/* Behind the cells of a value or setting: what it is known by among pairs, and, of a value, the setting of its first
 * row. */
enum { KNOWN_BY, FIRST_SETTING };

/* Asks for the values in these columns, each with its label, of the first row of each value or setting, as the
 * statement says. */
static nb_status ask_cells(const maker *m, const char *const *columns, const char *statement, nb_grid *answer)
{
    nb_string cells = NB_NO_TEXT;
    for (; *columns; columns++) {
        const nb_column *c = nb_column_find(m->relation->study->columns, *columns);
        NB_TRY(m->ctx, nb_cells_add(&cells, c, m->ctx));
    }
    return nb_sql_ask(m->relation, statement,
                      NB_GIVEN(NB_GIVE_PIECE("cells", cells.text), NB_GIVE_INT("pooled", m->pooled)), answer, m->ctx);
}

static nb_status find_settings(maker *m)
{
    nb_grid *settings = &m->out->settings;
    NB_TRY(m->ctx, ask_cells(m, m->out->setting_columns, "contrast.first_of_settings", settings));
    NB_NEED(m->known_by, nb_alloc(m->ctx, (size_t)settings->count + 1, sizeof *m->known_by));
    for (int i = 0; i < settings->count; i++)
        m->known_by[i] = (int)nb_grid_at(settings, i, settings->columns - 1 + KNOWN_BY)->integer;
    return NB_OK;
}

/* Checks that a method has one row where one is wanted: with columns confounded it may have several. */
static nb_status check_single(const maker *m)
{
    nb_string list = NB_NO_TEXT;
    nb_grid several;
    for (const char *const *c = m->terms->confounded; c && *c; c++)
        NB_TRY(m->ctx, nb_append_item(&list, ", ", m->ctx, "%s", *c));
    if (!*list.text) return NB_OK;
    NB_TRY(m->ctx, nb_sql_ask(m->relation, "contrast.several", NULL, &several, m->ctx));
    NB_REQUIRE(m->ctx, several.count == 0, NB_EINVAL,
               "a %s has several rows that differ only in what is named as confounded (%s): select one of them",
               m->terms->by, list.text);
    return NB_OK;
}

static const nb_cell *value_cell(const maker *m, int value, int what)
{
    return nb_grid_at(&m->out->values, value, NB_OF_COLUMN + what);
}

/* The number of rows that each value has in pairs, or would have. */
static nb_status count_rows(maker *m)
{
    return nb_sql_ask(m->relation, "contrast.row_counts", NULL, &m->rows, m->ctx);
}

static int compare_numbers(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

/* Returns the number of the setting that is known by this. */
static int find_setting(const maker *m, int known_by)
{
    const int *found =
        bsearch(&known_by, m->known_by, (size_t)m->out->settings.count, sizeof known_by, compare_numbers);
    return (int)(found - m->known_by);
}

/* Reads a pair, and checks that it has a ratio where one is wanted. */
static nb_status read_pair(const maker *m, sqlite3_stmt *s, paired_rows *p)
{
    enum {
        VALUE,
        SETTING,
        REFUSAL,
        STRATUM,
        SOURCE,
        HEAD,
        TRIAL,
        SAME,
        DRAWS,
        SKIPPED_X,
        SKIPPED_Y,
        UNTIMED_X,
        UNTIMED_Y,
        EXACT_X,
        EXACT_Y,
        DISTURBED,
        X
    };
    enum { Y = X + 1, NOISE_X, NOISE_Y, SE_X, SE_Y };
    *p = (paired_rows){sqlite3_column_int(s, VALUE),
                       find_setting(m, sqlite3_column_int(s, SETTING)),
                       NULL,
                       {.stratum = sqlite3_column_int(s, STRATUM),
                        .source = sqlite3_column_int(s, SOURCE),
                        .head = sqlite3_column_int(s, HEAD),
                        .trial = sqlite3_column_int(s, TRIAL),
                        .same = sqlite3_column_int(s, SAME),
                        .shares = sqlite3_column_int(s, DRAWS),
                        .skipped_x = sqlite3_column_int(s, SKIPPED_X),
                        .skipped_y = sqlite3_column_int(s, SKIPPED_Y),
                        .untimed_x = sqlite3_column_int(s, UNTIMED_X),
                        .untimed_y = sqlite3_column_int(s, UNTIMED_Y),
                        .exact_x = sqlite3_column_int(s, EXACT_X),
                        .exact_y = sqlite3_column_int(s, EXACT_Y),
                        .disturbed = sqlite3_column_int(s, DISTURBED),
                        .x = {nb_real_at(s, X), nb_real_at(s, NOISE_X), nb_real_at(s, SE_X)},
                        .y = {nb_real_at(s, Y), nb_real_at(s, NOISE_Y), nb_real_at(s, SE_Y)}}};
    const char *refusal = (const char *)sqlite3_column_text(s, REFUSAL);
    if (refusal) NB_NEED(p->refusal, nb_strdup(m->ctx, refusal));
    double x = p->pair.x.value, y = p->pair.y.value, least = fmin(x, y);
    NB_REQUIRE(m->ctx, m->terms->difference || isnan(x) || isnan(y) || least >= 0, NB_EINVAL,
               "%s has values below 0, such as %.3g: these have no ratio, only a difference", m->out->metric->name,
               least);
    return NB_OK;
}

static int compare_places(const void *p, const void *q)
{
    const paired_rows *x = p, *y = q;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->setting > y->setting) - (x->setting < y->setting);
}

/* The pairs with a baseline of the values from `first` on, by value and setting. */
static nb_status read_pairs(maker *m, int baseline, int first, int *count)
{
    sqlite3_stmt *s;
    const nb_sql_given *given =
        NB_GIVEN(NB_GIVE_INT("pooled", m->pooled), NB_GIVE_INT("first", first), NB_GIVE_INT("baseline", baseline),
                 {"b", NB_SQL_IS_VALUE, *value_cell(m, baseline, KNOWN_BY), NULL});
    NB_TRY(m->ctx, nb_sql_prepare(m->relation, "contrast.pairs", given, &s, m->ctx));
    for (*count = 0;; ++*count) {
        bool there;
        NB_TRY(m->ctx, nb_relation_step(m->relation, s, &there));
        if (!there) break;
        NB_GROW(m->ctx, m->pairs, *count, m->pair_room);
        NB_TRY(m->ctx, read_pair(m, s, &m->pairs[*count]));
    }
    if (*count > 0) qsort(m->pairs, (size_t)*count, sizeof *m->pairs, compare_places);
    return NB_OK;
}

/* Unites pairs first ... end - 1, which are of one setting. */
static nb_status unite(const maker *m, nb_paired *out, int first, int end)
{
    const nb_pair_terms terms = {m->terms->difference, m->out->metric->more, m->terms->failures};
    nb_row_pair *pairs;
    NB_NEED(pairs, nb_alloc(m->ctx, (size_t)(end - first) + 1, sizeof *pairs));
    for (int i = first; i < end; i++) pairs[i - first] = m->pairs[i].pair;
    return nb_pairs_unite(end - first, pairs, m->out->strata.count, &terms, out, m->ctx);
}

/* Returns the first refusal of pairs first ... end - 1; NULL: they are compared. */
static const char *find_refusal(const maker *m, int first, int end)
{
    while (first < end && !m->pairs[first].refusal) first++;
    return first < end ? m->pairs[first].refusal : NULL;
}

/* Pairs first ... end - 1 are its own. */
static nb_status add_contrast(maker *m, int baseline, int value, int setting, int first, int end, nb_contrast **added)
{
    NB_GROW(m->ctx, m->out->items, m->out->count, m->room);
    nb_contrast *c = *added = &m->out->items[m->out->count++];
    *c = (nb_contrast){.baseline = baseline, .value = value, .setting = setting};
    return unite(m, &c->of, first, end);
}

/* Says why it is no comparison, and what would make it one: to name that in which they differ. */
static nb_status refuse(const maker *m, const char *refusal, nb_contrast *c)
{
    static const char separator[] = " and ";
    nb_string allow = NB_NO_TEXT;
    NB_NEED(c->refusal, nb_refusal_tell(refusal, "the method", "the baseline", m->ctx));
    for (const char *at = refusal, *end; *at; at = *end ? end + strlen(separator) : end) {
        end = strstr(at, separator);
        if (!end) end = at + strlen(at);
        NB_TRY(m->ctx, nb_append_item(&allow, " ", m->ctx, "%s",
                                      nb_field(m->ctx, "confounded", nb_format(m->ctx, "%.*s", (int)(end - at), at))));
    }
    if (strcmp(refusal, NB_ROWS_SEEN) == 0)
        NB_NEED(c->refusal,
                nb_format(m->ctx, "%s: compare %s, or add %s", c->refusal, m->out->metric->unseen, allow.text));
    else if (*refusal)
        NB_NEED(c->refusal, nb_format(m->ctx, "%s; %s compares them anyway", c->refusal, allow.text));
    return NB_OK;
}

/* Adds contrasts of pairs first ... end - 1, which are of one value. */
static nb_status add_contrasts(maker *m, int baseline, int value, int first, int end)
{
    nb_contrast *c;
    const char *refusal;
    for (int i = first, next; i < end; i = next) {
        for (next = i; next < end && m->pairs[next].setting == m->pairs[i].setting; next++) continue;
        NB_TRY(m->ctx, add_contrast(m, baseline, value, m->pairs[i].setting, i, next, &c));
        if (!(refusal = find_refusal(m, i, next))) continue;
        c->of.unit_count = 0;
        NB_TRY(m->ctx, refuse(m, refusal, c));
    }
    return NB_OK;
}

/* Adds a refusal for a value that has no pair at all, in its first setting. */
static nb_status add_refusal(maker *m, int baseline, int value)
{
    nb_contrast *c;
    nb_grid refusal;
    const nb_sql_given *given = NB_GIVEN(NB_GIVE_NAME("refused", m->question.refused),
                                         {"a", NB_SQL_IS_VALUE, *value_cell(m, value, KNOWN_BY), NULL},
                                         {"b", NB_SQL_IS_VALUE, *value_cell(m, baseline, KNOWN_BY), NULL});
    NB_TRY(m->ctx, nb_sql_ask(m->relation, "contrast.refusal", given, &refusal, m->ctx));
    NB_TRY(m->ctx, add_contrast(m, baseline, value, find_setting(m, (int)value_cell(m, value, FIRST_SETTING)->integer),
                                0, 0, &c));
    return refuse(m, refusal.count ? nb_grid_at(&refusal, 0, 0)->text : "", c);
}

static nb_status compare_with(maker *m, int baseline, int first)
{
    int count, end = 0;
    NB_TRY(m->ctx, read_pairs(m, baseline, first, &count));
    for (int v = first; v < m->out->values.count; v++) {
        int begin = end;
        if (v == baseline) continue;
        while (end < count && m->pairs[end].value == v) end++;
        m->unpaired[v] = (int)nb_grid_at(&m->rows, v, 0)->integer - (end - begin);
        m->unmet[v] = (int)nb_grid_at(&m->rows, baseline, 0)->integer - (end - begin);
        NB_TRY(m->ctx, end > begin ? add_contrasts(m, baseline, v, begin, end) : add_refusal(m, baseline, v));
    }
    return NB_OK;
}

nb_status nb_contrasts_make(nb_relation *relation, const nb_contrast_terms *terms, nb_contrasts *out, nb_ctx *ctx)
{
    maker m = {.relation = relation, .terms = terms, .out = out, .ctx = ctx};
    *out = (nb_contrasts){.count = 0};
    NB_TRY(ctx, check_columns(&m));
    NB_TRY(ctx, nb_pairs_make(relation, &m.question, ctx));
    NB_TRY(ctx, nb_refused_make(relation, &m.question, ctx));
    out->question = m.question.name;
    NB_TRY(ctx, name_settings(&m));
    NB_TRY(ctx, check_single(&m));
    NB_TRY(ctx, nb_relation_strata(relation, &out->strata, ctx));
    NB_TRY(ctx, ask_cells(&m, (const char *const[]){terms->by, NULL}, "contrast.first_of_values", &out->values));
    NB_TRY(ctx, find_settings(&m));
    NB_NEED(m.unpaired, nb_alloc(ctx, (size_t)out->values.count + 1, sizeof *m.unpaired));
    NB_NEED(m.unmet, nb_alloc(ctx, (size_t)out->values.count + 1, sizeof *m.unmet));
    out->unpaired = m.unpaired;
    out->unmet = m.unmet;
    if (terms->baseline < 0) return NB_OK;
    NB_TRY(ctx, count_rows(&m));
    if (!terms->all_pairs) return compare_with(&m, terms->baseline, 0);
    for (int b = 0; b < out->values.count; b++) NB_TRY(ctx, compare_with(&m, b, b + 1));
    return NB_OK;
}

const nb_cell *nb_setting_cell(const nb_contrasts *c, int setting, int column, int what)
{
    return nb_grid_at(&c->settings, setting, NB_OF_COLUMN * column + what);
}

const char *nb_value_label(const nb_contrasts *c, int value)
{
    return nb_grid_at(&c->values, value, NB_OF_LABEL)->text;
}
