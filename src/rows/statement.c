/* SPDX-License-Identifier: GPL-3.0-or-later */
/* statement.c - see statement.h */
#include "rows/statement.h"

#include <string.h>

/* Adds a text between quotes, which are doubled in it. */
static nb_status add_quoted(nb_string *sql, const char *text, char quote, nb_ctx *ctx)
{
    char from[] = {quote, 0}, to[] = {quote, quote, 0};
    if (strchr(text, quote)) NB_NEED(text, nb_replaced(ctx, text, from, to));
    NB_TRY(ctx, nb_append_bytes(sql, ctx, &quote, 1));
    NB_TRY(ctx, nb_append_bytes(sql, ctx, text, strlen(text)));
    return nb_append_bytes(sql, ctx, &quote, 1);
}

enum { NAME_QUOTE = '"', TEXT_QUOTE = '\'' };

static nb_status add_name(nb_string *sql, const char *name, nb_ctx *ctx)
{
    return *name ? add_quoted(sql, name, NAME_QUOTE, ctx) : nb_append(sql, ctx, "NULL");
}

/* Adds text ... end - 1 for each name. */
static nb_status add_each(nb_string *sql, const char *const *names, char quote, const char *text, const char *end,
                          nb_ctx *ctx)
{
    for (; *names; names++) {
        const char *from = text, *at;
        while ((at = memchr(from, '@', (size_t)(end - from)))) {
            NB_TRY(ctx, nb_append_bytes(sql, ctx, from, (size_t)(at - from)));
            NB_TRY(ctx, quote == NAME_QUOTE ? add_name(sql, *names, ctx) : add_quoted(sql, *names, quote, ctx));
            from = at + 1;
        }
        NB_TRY(ctx, nb_append_bytes(sql, ctx, from, (size_t)(end - from)));
    }
    return NB_OK;
}

/* `text` ... end - 1: what stands behind the colon of {word: text}. */
static nb_status add_word(nb_string *sql, const nb_sql_given *g, const char *text, const char *end, nb_ctx *ctx)
{
    if (g->kind != NB_SQL_IS_VALUE && !g->value.text && nb_ctx_exhausted(ctx))
        return NB_ENOMEM; /* it could not be made */
    NB_REQUIRE(ctx, g->value.text || g->kind == NB_SQL_IS_VALUE, NB_EBUG, "SQL is given no text for {%s}", g->word);
    switch (g->kind) {
    case NB_SQL_IS_NAME: return add_name(sql, g->value.text, ctx);
    case NB_SQL_IS_TEXT: return add_quoted(sql, g->value.text, TEXT_QUOTE, ctx);
    case NB_SQL_IS_NAMES: return add_each(sql, g->names, NAME_QUOTE, text, end, ctx);
    case NB_SQL_IS_TEXTS: return add_each(sql, g->names, TEXT_QUOTE, text, end, ctx);
    case NB_SQL_IS_VALUE: return nb_append(sql, ctx, "%lld", g->value.integer);
    default: return nb_append_bytes(sql, ctx, g->value.text, strlen(g->value.text));
    }
}

static const nb_sql_given *find_given(const nb_sql_given *g, const char *word, size_t length)
{
    for (; g && g->word; g++)
        if ((g->kind != NB_SQL_IS_VALUE || g->value.type == NB_CELL_INT) && strlen(g->word) == length &&
            memcmp(g->word, word, length) == 0)
            return g;
    return NULL;
}

nb_status nb_sql_fill(const char *statement, const nb_sql_given *given, const char **out, nb_ctx *ctx)
{
    nb_string sql = NB_NO_TEXT;
    const char *text = nb_sql_text(statement);
    NB_REQUIRE(ctx, text, NB_EBUG, "no file of SQL has '%s'", statement);
    for (const char *open, *end; (open = strchr(text, '{')) && (end = strchr(open, '}')); text = end + 1) {
        size_t length = strcspn(open + 1, ":}");
        const nb_sql_given *g = find_given(given, open + 1, length);
        const char *each = open + 1 + length + (open[1 + length] == ':');
        NB_REQUIRE(ctx, g, NB_EBUG, "the SQL '%s' is not given {%.*s}", statement, (int)length, open + 1);
        NB_TRY(ctx, nb_append_bytes(&sql, ctx, text, (size_t)(open - text)));
        NB_TRY(ctx, add_word(&sql, g, each, end, ctx));
    }
    NB_TRY(ctx, nb_append_bytes(&sql, ctx, text, strlen(text)));
    *out = sql.text;
    return NB_OK;
}

nb_status nb_sql_append(nb_string *list, const char *statement, const nb_sql_given *given, nb_ctx *ctx)
{
    const char *piece;
    NB_TRY(ctx, nb_sql_fill(statement, given, &piece, ctx));
    return nb_append_bytes(list, ctx, piece, strlen(piece));
}

/* The relation, whose statements have these values too. */
static nb_relation with_values(const nb_relation *r, const nb_sql_given *given)
{
    nb_relation own = *r;
    own.given = given;
    return own;
}

nb_status nb_sql_ask(const nb_relation *r, const char *statement, const nb_sql_given *given, nb_grid *answer,
                     nb_ctx *ctx)
{
    const nb_relation own = with_values(r, given);
    const char *sql;
    NB_TRY(ctx, nb_sql_fill(statement, given, &sql, ctx));
    return nb_relation_ask(&own, sql, answer, ctx);
}

nb_status nb_sql_run(const nb_relation *r, const char *statement, const nb_sql_given *given, nb_ctx *ctx)
{
    const nb_relation own = with_values(r, given);
    const char *sql;
    NB_TRY(ctx, nb_sql_fill(statement, given, &sql, ctx));
    return nb_relation_run_file(&own, sql, ctx);
}

nb_status nb_sql_prepare(const nb_relation *r, const char *statement, const nb_sql_given *given,
                         sqlite3_stmt **prepared, nb_ctx *ctx)
{
    const nb_relation own = with_values(r, given);
    const char *sql;
    NB_TRY(ctx, nb_sql_fill(statement, given, &sql, ctx));
    return nb_relation_prepare(&own, sql, NULL, prepared, ctx);
}
