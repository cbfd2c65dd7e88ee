/* SPDX-License-Identifier: GPL-3.0-or-later */
/* study.c - see study.h */
#include "components/study.h"

#include "base/text.h"
#include "components/registry.h"

#include <sqlite3.h>
#include <string.h>

const nb_study *nb_study_standard(void)
{
    const nb_entry *e = nb_studies.entries;
    while (!((const nb_study *)e->component)->standard) e++; /* there is one, see the conformance test */
    return (const nb_study *)e->component;
}

bool nb_study_defaults(const nb_study *study, const char *column, const char *value)
{
    const nb_axis *a = nb_axis_of_column(study, column);
    const char *initial = !a ? NULL : a->standard ? a->standard() : a->initial;
    for (const nb_option *o = study->component.options; o->key; o++)
        if (strcmp(o->key, column) == 0) initial = o->initial;
    return initial && strcmp(initial, value) == 0;
}

const nb_study *nb_study_of(const nb_column *columns)
{
    for (const nb_entry *e = nb_studies.entries; e->component; e++)
        if (((const nb_study *)e->component)->columns == columns) return (const nb_study *)e->component;
    return NULL;
}

const nb_column *nb_study_metric(const nb_study *study)
{
    for (const nb_column *c = study->columns; c->name; c++)
        if (c->measure && c->type == NB_COLUMN_REAL && !c->integer) return c;
    return NULL;
}

int nb_axis_count(const nb_study *study)
{
    int count = 0;
    while (study->axes[count].key) count++;
    return count;
}

const nb_axis *nb_axis_of_column(const nb_study *study, const char *column)
{
    for (const nb_axis *axis = study->axes; axis->key; axis++)
        if (strcmp(axis->column, column) == 0) return axis;
    return NULL;
}

bool nb_axis_has_list(const nb_axis *axis)
{
    return axis->type == NB_AXIS_COMPONENT || axis->type == NB_AXIS_REAL;
}

const nb_registry *nb_column_registry(const nb_column *columns, const char *name)
{
    const nb_study *study = nb_study_of(columns);
    const nb_axis *axis = study ? nb_axis_of_column(study, name) : NULL;
    if (axis) return axis->registry;
    for (const nb_registry *const *r = nb_registries; *r; r++)
        if (strcmp((*r)->kind, name) == 0) return *r;
    return NULL;
}

nb_status nb_columns_with_labels(const nb_column *columns, const nb_column **all, nb_ctx *ctx)
{
    int count = nb_column_count(columns);
    nb_column *made;
    NB_NEED(made, nb_alloc(ctx, 2 * (size_t)count + 1, sizeof *made));
    memcpy(made, columns, (size_t)count * sizeof *made);
    for (const nb_column *c = columns; c->name; c++) {
        nb_column label = {.type = NB_COLUMN_TEXT, .offset = c->offset};
        if (!nb_column_registry(columns, c->name)) continue;
        NB_NEED(label.name, nb_format(ctx, "%s" NB_LABEL_END, c->name));
        NB_NEED(label.help, nb_format(ctx,
                                      "what tables and figures call the %s (there with a mark, if it is an oracle): "
                                      "its label in the config, or one made from its options; no two of a run have the "
                                      "same; only in rows of runs",
                                      c->name));
        made[count++] = label;
    }
    *all = made;
    return NB_OK;
}

static const nb_column *column_of(const nb_study *s, const char *name, nb_column_type type)
{
    const nb_column *column = nb_column_find(s->columns, name);
    return column && column->type == type ? column : NULL;
}

/* A column of an axis has the type of its values, and is part of the row's identity. */
static bool shows(const nb_study *s, const nb_axis *axis)
{
    nb_column_type type = axis->type == NB_AXIS_INTEGER ? NB_COLUMN_INT
                          : axis->type == NB_AXIS_REAL  ? NB_COLUMN_REAL
                                                        : NB_COLUMN_TEXT;
    const nb_column *column = column_of(s, axis->column, type);
    return column && column->identity;
}

static const char *lacks_axis(const nb_study *s, int index)
{
    const nb_axis *axis = &s->axes[index];
    if (!axis->column || !shows(s, axis))
        return "for each axis a column of its name and type, which is part of the identity";
    if (index == NB_AXIS_PROBLEM && axis->registry != &nb_problems) return "NB_AXIS_PROBLEMS as its first axis";
    if (axis->type == NB_AXIS_COMPONENT && !axis->registry) return "a registry for each axis of components";
    if (axis->type == NB_AXIS_WORD && !axis->words) return "words for each axis of words";
    if (axis->type == NB_AXIS_INTEGER && (axis->lo < 0 || axis->hi > 1000000))
        return "a range from 0 to 1000000 for each axis of integers";
    if (axis->type == NB_AXIS_REAL && !(axis->lo < axis->hi)) return "a range for each axis of real numbers";
    return NULL;
}

const size_t nb_study_texts[] = {0};

const char *nb_study_lacks(const nb_study *s)
{
    static const char *const common[] = {"experiment", "problem", "status", "reason"};
    const char *lacks = NULL;
    int axis = 0;
    if (s->standard) return "standard = false: the program has its standard study";
    if (!s->axes || !s->axes[0].key) return "axes";
    if (!s->columns) return "columns";
    if (!s->phases || !s->levels) return "phases and levels";
    if (s->row_size < sizeof(nb_row) || s->row_size > NB_MOST_ROW)
        return "a row_size from that of nb_row to NB_MOST_ROW";
    if (s->result_offset < sizeof(nb_row) || s->result_offset + s->result_size > s->row_size)
        return "a result within its row, behind NB_ROW_FIRST";
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (!column_of(s, common[i], NB_COLUMN_TEXT)) return "the columns experiment, problem, status and reason";
    for (const nb_column *c = s->columns; c->name; c++)
        if (nb_text_ends(c->name, NB_LABEL_END))
            return "columns whose names do not end in _label, as those of labels do";
    for (; s->axes[axis].key && axis < NB_MOST_AXES && !lacks; axis++) lacks = lacks_axis(s, axis);
    if (axis == NB_MOST_AXES) return "an end of its axes";
    if (!lacks && s->baseline >= 0 && (s->baseline >= axis || s->axes[s->baseline].type != NB_AXIS_COMPONENT))
        return "a baseline that is -1, or one of its axes of components";
    return lacks;
}

/* Whether SQL reads the name as that of a column wherever the rows' statements have it: some words are none after AS,
 * and others, such as current_date, are a value of their own. */
static bool is_column_in_sql(sqlite3 *db, const char *name, nb_ctx *ctx)
{
    sqlite3_stmt *s = NULL;
    const char *sql = nb_format(ctx,
                                "DROP TABLE IF EXISTS t; CREATE TABLE t (%s REAL, UNIQUE (%s)); ALTER TABLE t RENAME "
                                "TO u; CREATE TABLE t (x); ALTER TABLE t ADD COLUMN %s REAL; DROP TABLE u; "
                                "INSERT INTO t (%s) VALUES (6.5); UPDATE t SET %s = 7.5",
                                name, name, name, name, name);
    const char *query = nb_format(ctx, "SELECT %s, t.%s AS %s FROM t ORDER BY %s", name, name, name, name);
    bool good = sql && query && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(db, query, -1, &s, NULL) == SQLITE_OK && sqlite3_step(s) == SQLITE_ROW &&
                sqlite3_column_double(s, 0) == 7.5 && sqlite3_column_double(s, 1) == 7.5;
    sqlite3_finalize(s);
    return good;
}

/* Returns why a column cannot have the name; NULL: it can. */
static const char *refuse_name(const nb_study *study, const nb_column *c, sqlite3 *db, nb_ctx *ctx)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    static const char *const taken[] = {"position", "wanted", "inputs", "manifest", "run",     "id",  "number",
                                        "alone",    "draws",  "opens",  "rowid",    "_rowid_", "oid", NULL};
    enum { MOST = 60 };
    size_t length = strlen(c->name);
    if (length == 0 || length > MOST || c->name[strspn(c->name, letters)] || strchr("0123456789", *c->name))
        return "expected up to 60 of a-z, 0-9 and '_', the first no digit";
    if (nb_text_among(c->name, taken) || nb_text_ends(c->name, "_id"))
        return "the tables and views of rows have columns of that name already";
    if (nb_column_find(study->columns, c->name) != c) return "it stands there twice";
    return is_column_in_sql(db, c->name, ctx) ? NULL : "it is a word of SQL";
}

static void close_database(void *db)
{
    sqlite3_close_v2(db);
}

nb_status nb_study_check_names(const nb_study *study, const char *file, nb_ctx *ctx)
{
    sqlite3 *db;
    nb_mark mark = nb_ctx_mark(ctx);
    int code = sqlite3_open(":memory:", &db);
    NB_REQUIRE(ctx, db, NB_ENOMEM, "out of memory: a database");
    NB_TRY(ctx, nb_defer(ctx, close_database, db));
    NB_REQUIRE(ctx, code == SQLITE_OK, NB_EHOST, "a database in memory: %s", sqlite3_errmsg(db));
    for (const nb_column *c = study->columns; c->name; c++) {
        const char *why = refuse_name(study, c, db, ctx);
        NB_REQUIRE(ctx, !why, NB_EINVAL, "%s: study '%s': a column cannot be called '%s': %s", file,
                   study->component.name, c->name, why);
    }
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_status nb_output_names(const nb_registry *registry, const char *study, const char *const **names, nb_ctx *ctx)
{
    size_t count = 0;
    const char **all;
    for (const nb_entry *e = registry->entries; e->component; e++) count++;
    NB_NEED(all, nb_alloc(ctx, count + 1, sizeof *all));
    count = 0;
    for (const nb_entry *e = registry->entries; e->component; e++)
        if (strcmp(((const nb_output *)e->component)->study, study) == 0) all[count++] = e->component->name;
    *names = all;
    return NB_OK;
}
