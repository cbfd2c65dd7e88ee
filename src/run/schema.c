/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schema.c - see schema.h */
#include "run/schema.h"

#include "base/version.h"

#include <stdio.h>
#include <string.h>

bool nb_sql_leaves_out(nb_sql_form f, const nb_column *c)
{
    bool result = nb_column_is_measured(c);
    switch (f) {
    case NB_SQL_DEFINITIONS:
    case NB_SQL_NAMES: return false;
    case NB_SQL_IDENTITY:
    case NB_SQL_PAIRED: return !c->identity;
    case NB_SQL_PLANNED:
    case NB_SQL_PARAMETERS: return result;
    case NB_SQL_TOLD:
    case NB_SQL_UNCHANGED: return result || c->identity || strcmp(c->name, "status") == 0;
    case NB_SQL_ASSIGNMENTS: return !result && strcmp(c->name, "status") != 0; /* the plan has written the others */
    case NB_SQL_KEPT:
    case NB_SQL_CLEARED: return !result;
    }
    return true;
}

static const struct {
    const char *mark, *text;
} forms[] = {[NB_SQL_DEFINITIONS] = {"@DEFINITIONS", "NAME TYPE"},
             [NB_SQL_NAMES] = {"@NAMES", "NAME"},
             [NB_SQL_IDENTITY] = {"@IDENTITY", "NAME"},
             [NB_SQL_PLANNED] = {"@PLANNED", "NAME"},
             [NB_SQL_PARAMETERS] = {"@PARAMETERS", "?NUMBER"},
             [NB_SQL_TOLD] = {"@TOLD", "NAME = excluded.NAME"},
             [NB_SQL_ASSIGNMENTS] = {"@ASSIGNMENTS", "NAME = ?NUMBER"},
             [NB_SQL_KEPT] = {"@KEPT", "NAME = CASE WHEN " NB_SQL_KEEP " THEN NAME END"},
             [NB_SQL_CLEARED] = {"@CLEARED", "NAME = NULL"},
             [NB_SQL_PAIRED] = {"@PAIRED", "old.NAME = new.NAME"},
             [NB_SQL_UNCHANGED] = {"@UNCHANGED", "old.NAME IS new.NAME"}};

const char *nb_sql_columns(nb_sql_form f, const nb_column *of, nb_ctx *ctx)
{
    static const char *const types[] = {[NB_COLUMN_TEXT] = "TEXT",
                                        [NB_COLUMN_INT] = "INTEGER",
                                        [NB_COLUMN_SEED] = "INTEGER",
                                        [NB_COLUMN_REAL] = "REAL"};
    const char *all = "", *between = f == NB_SQL_PAIRED || f == NB_SQL_UNCHANGED ? " AND " : ", ";
    for (const nb_column *c = of; c->name && all; c++) {
        char number[16];
        if (nb_sql_leaves_out(f, c)) continue;
        snprintf(number, sizeof number, "%d", (int)(c - of) + 1);
        const char *one = nb_replaced(ctx, forms[f].text, "NUMBER", number);
        if (one) one = nb_replaced(ctx, one, "TYPE", types[c->type]);
        if (one) one = nb_replaced(ctx, one, "NAME", c->name);
        all = one ? nb_format(ctx, "%s%s%s", all, *all ? between : "", one) : NULL;
    }
    return all;
}

const char *nb_sql_expand(const nb_study *study, const char *sql, nb_ctx *ctx)
{
    for (size_t f = 0; sql && f < sizeof forms / sizeof *forms; f++) {
        if (!strstr(sql, forms[f].mark)) continue;
        const char *columns = nb_sql_columns((nb_sql_form)f, study->columns, ctx);
        sql = columns ? nb_replaced(ctx, sql, forms[f].mark, columns) : NULL;
    }
    return sql;
}

/* Large pages: a row has 600 bytes, and is written, journalled and written again by the page. */
const char *nb_sql_tables(const nb_study *study, nb_ctx *ctx)
{
    return nb_format(ctx,
                     "PRAGMA page_size = 16384; BEGIN; "
                     "CREATE TABLE manifests (id INTEGER PRIMARY KEY, build TEXT NOT NULL, executable TEXT NOT NULL, "
                     "text TEXT NOT NULL);"
                     "CREATE TABLE results (position INTEGER, wanted INTEGER, inputs TEXT NOT NULL, "
                     "manifest INTEGER REFERENCES manifests (id), @DEFINITIONS, UNIQUE (@IDENTITY, " NB_SQL_DATA "));"
                     "CREATE INDEX positions ON results (position);" NB_SQL_VIEW ";"
                     "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); INSERT INTO meta VALUES ('study', '%s'); "
                     "PRAGMA user_version = %d; COMMIT",
                     study->component.name, NB_STORE_FORMAT);
}
