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

/* NULL when out of memory. */
static const char *first_line(const char *statement, nb_ctx *ctx)
{
    const char *text = nb_sql_text(statement);
    return nb_format(ctx, "%.*s", (int)strcspn(text, "\n"), text);
}

const char *nb_sql_columns(nb_sql_form f, const nb_column *of, nb_ctx *ctx)
{
    static const char *const types[] = {[NB_COLUMN_TEXT] = "schema.text",
                                        [NB_COLUMN_INT] = "schema.integer",
                                        [NB_COLUMN_SEED] = "schema.integer",
                                        [NB_COLUMN_REAL] = "schema.real"};
    bool compares = f == NB_SQL_PAIRED || f == NB_SQL_UNCHANGED;
    const char *all = "", *text = first_line(forms[f], ctx);
    for (const nb_column *c = of; c->name && all; c++) {
        char number[16];
        if (nb_sql_leaves_out(f, c)) continue;
        const char *type = first_line(types[c->type], ctx);
        snprintf(number, sizeof number, "%d", (int)(c - of) + 1);
        const char *one = text && type ? nb_replaced(ctx, text, "{type}", type) : NULL;
        if (one) one = nb_replaced(ctx, one, "{number}", number);
        if (one) one = nb_replaced(ctx, one, "{name}", c->name);
        all = one ? nb_format(ctx, "%s%s%s", all, *all && !compares ? ", " : "", one) : NULL;
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
