/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schema.c - see schema.h */
#include "run/schema.h"

#include "base/version.h"
#include "run/sql_files.h"

#include <stdio.h>
#include <string.h>

bool nb_sql_leaves_out(nb_sql_form f, const nb_column *c)
{
    bool result = nb_column_is_measured(c);
    switch (f) {
    case NB_SQL_DEFINITIONS:
    case NB_SQL_LACKING:
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

static const char *const forms[] = {[NB_SQL_DEFINITIONS] = "schema.definitions", [NB_SQL_NAMES] = "schema.names",
                                    [NB_SQL_IDENTITY] = "schema.identity",       [NB_SQL_PLANNED] = "schema.planned",
                                    [NB_SQL_PARAMETERS] = "schema.parameters",   [NB_SQL_TOLD] = "schema.told",
                                    [NB_SQL_ASSIGNMENTS] = "schema.assignments", [NB_SQL_KEPT] = "schema.kept",
                                    [NB_SQL_CLEARED] = "schema.cleared",         [NB_SQL_PAIRED] = "schema.paired",
                                    [NB_SQL_UNCHANGED] = "schema.unchanged",     [NB_SQL_LACKING] = "schema.lacking"};

const char *nb_sql_columns(nb_sql_form f, const nb_column *of, nb_ctx *ctx)
{
    static const char *const types[] = {[NB_COLUMN_TEXT] = "TEXT",
                                        [NB_COLUMN_INT] = "INTEGER",
                                        [NB_COLUMN_SEED] = "INTEGER",
                                        [NB_COLUMN_REAL] = "REAL"};
    const char *all = "", *between = f == NB_SQL_PAIRED || f == NB_SQL_UNCHANGED ? " AND " : ", ";
    const char *line = nb_sql_text(forms[f]), *text = nb_format(ctx, "%.*s", (int)strcspn(line, "\n"), line);
    for (const nb_column *c = of; c->name && all; c++) {
        char number[16];
        if (nb_sql_leaves_out(f, c)) continue;
        snprintf(number, sizeof number, "%d", (int)(c - of) + 1);
        const char *one = text ? nb_replaced(ctx, text, "{number}", number) : NULL;
        if (one) one = nb_replaced(ctx, one, "{type}", types[c->type]);
        if (one) one = nb_replaced(ctx, one, "{name}", c->name);
        all = one ? nb_format(ctx, "%s%s%s", all, *all ? between : "", one) : NULL;
    }
    return all;
}

const char *nb_sql_expand(const nb_column *columns, const char *sql, nb_ctx *ctx)
{
    char word[32], version[16];
    for (size_t f = 0; sql && f < sizeof forms / sizeof *forms; f++) {
        snprintf(word, sizeof word, "{%s}", strchr(forms[f], '.') + 1);
        if (!strstr(sql, word)) continue;
        const char *list = nb_sql_columns((nb_sql_form)f, columns, ctx);
        sql = list ? nb_replaced(ctx, sql, word, list) : NULL;
    }
    snprintf(version, sizeof version, "%d", NB_STORE_FORMAT);
    return sql && strstr(sql, "{version}") ? nb_replaced(ctx, sql, "{version}", version) : sql;
}
