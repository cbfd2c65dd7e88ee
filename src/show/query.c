/* SPDX-License-Identifier: GPL-3.0-or-later */
/* query.c - see query.h */
#include "show/query.h"

#include "rows/statement.h"
#include "rows/views.h"
#include "show/marked_cells.h"

#include <string.h>

static bool among(const char *names, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = names; at && (at = strstr(at, name)); at += length)
        if ((at == names || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return true;
    return false;
}

nb_status nb_query_fill(nb_relation *r, const char *sql, nb_grid *a, nb_ctx *ctx)
{
    const nb_comment *comments;
    NB_TRY(ctx, nb_relation_need(r, sql, ctx));
    NB_TRY(ctx, nb_query_comments(sql, &comments, ctx));
    const char *flags = nb_comment_text(comments, "flags");
    NB_TRY(ctx, nb_relation_ask(r, sql, a, ctx));
    NB_TRY(ctx, nb_answer_widen(a, ctx));
    for (int i = 0; i < a->count * a->columns; i++)
        if (a->cells[i].type == NB_CELL_INT && among(flags, a->names[i % a->columns])) a->cells[i].type = NB_CELL_FLAG;
    return NB_OK;
}

/* `view`: "", the query itself is asked. */
static nb_status has_rows(nb_relation *r, const char *view, const char *sql, bool *any, nb_ctx *ctx)
{
    sqlite3_stmt *s;
    NB_TRY(ctx, *view ? nb_view_need(r, view, ctx) : nb_relation_need(r, sql, ctx));
    nb_mark mark = nb_ctx_mark(ctx);
    if (*view)
        NB_TRY(ctx, nb_sql_prepare(r, "made_tables.any", NB_GIVEN(NB_GIVE_NAME("table", view)), &s, ctx));
    else
        NB_TRY(ctx, nb_relation_prepare(r, sql, NULL, &s, ctx));
    NB_TRY(ctx, nb_relation_step(r, s, any));
    nb_ctx_release(ctx, mark);
    return NB_OK;
}

nb_status nb_query_has_rows(nb_relation *r, const char *sql, bool *any, nb_ctx *ctx)
{
    const nb_comment *comments;
    NB_TRY(ctx, nb_query_comments(sql, &comments, ctx));
    const char *enough = nb_comment_text(comments, "suffices");
    *any = false;
    if (*enough) NB_TRY(ctx, has_rows(r, enough, sql, any, ctx));
    return *any ? NB_OK : has_rows(r, nb_comment_text(comments, "exists"), sql, any, ctx);
}

static bool is_sentence(const nb_grid *a)
{
    const char *name = a->columns > 0 ? a->names[0] : "";
    nb_page_use use;
    return nb_is_paragraph(name, &use) || strcmp(name, "item") == 0 || strcmp(name, "note") == 0 ||
           strcmp(name, "verbatim") == 0 || strncmp(name, "heading ", 8) == 0 || strcmp(name, "kind") == 0;
}

/* Adds each as of the kind that the first column is named, or of the one that stands there. `sql` begins with the
 * comments before the query. */
static nb_status add_sentences(nb_page *page, const char *sql, nb_grid *a)
{
    const nb_comment *comments;
    bool each = strcmp(a->names[0], "kind") == 0;
    NB_TRY(a->ctx, nb_query_comments(sql, &comments, a->ctx));
    NB_TRY(a->ctx, nb_cells_tell(a, comments, a->ctx));
    for (int i = 0; i < a->count; i++) {
        const char *kind = each ? nb_grid_at(a, i, 0)->text : a->names[0], *text = nb_grid_at(a, i, each)->text;
        nb_page_use use;
        if (!text)
            continue;
        else if (nb_is_paragraph(kind, &use))
            nb_page_prose(page, use, "%s", text);
        else if (strcmp(kind, "item") == 0)
            nb_page_item(page, "%s", text);
        else if (strcmp(kind, "note") == 0)
            nb_page_note(page, !each && a->columns > 1 ? nb_grid_at(a, i, 1)->text : NULL, "%s", text);
        else if (strncmp(kind, "heading ", 8) == 0)
            nb_page_heading(page, kind[8] - '0', "%s", text);
        else if (strcmp(kind, "verbatim") == 0)
            nb_page_verbatim(page, text);
        else
            NB_FAIL(a->ctx, NB_EBUG, "a query has a sentence of the kind '%s', and there is none", kind);
    }
    return NB_OK;
}

/* Shows an answer with the comments before `sql`. */
static nb_status show_answer(nb_page *page, const char *sql, const nb_grid *a, nb_ctx *ctx)
{
    const nb_comment *comments;
    if (a->count == 0) return NB_OK;
    NB_TRY(ctx, nb_query_comments(sql, &comments, ctx));
    return nb_answer_show(page, comments, a, ctx);
}

/* Shows the first query's answer, for people too where no other query makes a table. */
static nb_status show_first(const nb_relation *r, const char *sql, nb_page *page, nb_ctx *ctx)
{
    nb_grid a;
    NB_TRY(ctx, nb_relation_ask(r, sql, &a, ctx));
    return show_answer(page, sql, &a, ctx);
}

nb_status nb_query_show(nb_relation *r, const char *sql, nb_page *page, nb_ctx *ctx)
{
    sqlite3_stmt *first;
    const char *rest;
    bool any, shown = false;
    NB_TRY(ctx, nb_query_has_rows(r, sql, &any, ctx));
    if (!any) return NB_OK;
    NB_TRY(ctx, nb_relation_need(r, sql, ctx));
    NB_TRY(ctx, nb_relation_prepare(r, sql, &rest, &first, ctx));
    while (*rest) {
        const char *at = rest;
        nb_grid a;
        if (strncmp(at, "--", 2) == 0) NB_TRY(ctx, nb_relation_need(r, at, ctx));
        NB_TRY(ctx, nb_relation_ask_next(r, &rest, &a, ctx));
        if (!is_sentence(&a))
            NB_TRY(ctx, show_answer(page, strncmp(at, "--", 2) == 0 ? at : sql, &a, ctx));
        else if (!shown)
            NB_TRY(ctx, show_first(r, sql, page, ctx));
        shown = true;
        if (is_sentence(&a)) NB_TRY(ctx, add_sentences(page, at, &a));
    }
    return shown ? NB_OK : show_first(r, sql, page, ctx);
}

nb_status nb_query_tell(const nb_relation *r, const char *sql, nb_page *page, nb_ctx *ctx)
{
    while (*sql) {
        const char *at = sql;
        nb_grid a;
        NB_TRY(ctx, nb_relation_ask_next(r, &sql, &a, ctx));
        if (is_sentence(&a))
            NB_TRY(ctx, add_sentences(page, at, &a));
        else
            NB_TRY(ctx, show_answer(page, at, &a, ctx));
    }
    return NB_OK;
}
