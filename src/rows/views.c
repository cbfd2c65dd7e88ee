/* SPDX-License-Identifier: GPL-3.0-or-later */
/* views.c - see views.h */
#include "rows/views.h"

#include "rows/estimates.h"
#include "rows/pairs.h"
#include "rows/row_views.h"
#include "rows/statement.h"

#include <string.h>
#include <strings.h>

/* Returns the next file of views of the study, behind `f`; NULL: there is none. */
static const nb_sql_file *next_view(const nb_relation *r, const nb_sql_file *f)
{
    for (f = f ? f + 1 : nb_sql_files; f->study; f++)
        if (strcmp(f->study, r->study->component.name) == 0 && strcmp(f->folder, "views") == 0) return f;
    return NULL;
}

/* NULL: the study has none of this name. */
static const nb_sql_file *find_view(const nb_relation *r, const char *name)
{
    const nb_sql_file *view = next_view(r, NULL);
    while (view && strcmp(view->name, name) != 0) view = next_view(r, view);
    return view;
}

/* Makes the views of a file, and first those that it needs, unless they are there. */
static nb_status make_study_view(nb_relation *r, const nb_sql_file *view, nb_ctx *ctx)
{
    int number;
    if (nb_texts_find(&r->views, view->name) >= 0) return NB_OK;
    NB_TRY(ctx, nb_relation_need(r, view->text, ctx));
    NB_TRY(ctx, nb_texts_number(&r->views, view->name, &number));
    return nb_relation_run_file(r, view->text, ctx);
}

static const char look[] = "look";

nb_status nb_looks_make(nb_relation *r, nb_ctx *ctx)
{
    const nb_sql_file *view = find_view(r, look);
    return view ? make_study_view(r, view, ctx) : NB_OK;
}

nb_status nb_views_forget(nb_relation *r, bool but_looks)
{
    int number;
    nb_texts_init(&r->views, r->ctx);
    return but_looks && find_view(r, look) ? nb_texts_number(&r->views, look, &number) : NB_OK;
}

static const char pairs_of[] = "pairs:", refused_of[] = "refused:", estimates_of[] = "estimates:";

/* Returns whether it is a view of every study, which is there. */
static bool is_of_all(const nb_relation *r, const char *name)
{
    return sqlite3_table_column_metadata(r->store->db, "temp", name, NULL, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

/* Makes the estimates of a view of pairs, whose file has its name or is needed before, unless they are there. */
static nb_status need_estimates(nb_relation *r, const char *name, nb_ctx *ctx)
{
    int number;
    const char *view = name + strlen(estimates_of);
    if (find_view(r, view)) NB_TRY(ctx, nb_view_need(r, view, ctx));
    if (nb_texts_find(&r->views, name) >= 0) return NB_OK;
    NB_TRY(ctx, nb_texts_number(&r->views, name, &number));
    return nb_estimates_make(r, view, ctx);
}

static const char measured[] = "measured";

/* Makes the view of every study that few need, unless it is there. */
static nb_status need_measured(nb_relation *r, nb_ctx *ctx)
{
    int number;
    if (nb_texts_find(&r->views, measured) >= 0) return NB_OK;
    NB_TRY(ctx, nb_texts_number(&r->views, measured, &number));
    return nb_measured_make(r);
}

nb_status nb_view_need(nb_relation *r, const char *name, nb_ctx *ctx)
{
    if (strcmp(name, measured) == 0) return need_measured(r, ctx);
    if (strncmp(name, estimates_of, strlen(estimates_of)) == 0) return need_estimates(r, name, ctx);
    if (strncmp(name, pairs_of, strlen(pairs_of)) == 0) return nb_pairs_need(r, name + strlen(pairs_of), false, ctx);
    if (strncmp(name, refused_of, strlen(refused_of)) == 0)
        return nb_pairs_need(r, name + strlen(refused_of), true, ctx);
    const nb_sql_file *view = find_view(r, name);
    if (!view && is_of_all(r, name)) return NB_OK;
    NB_REQUIRE(ctx, view, NB_EBUG, "no view '%s' in the study %s", name, r->study->component.name);
    return make_study_view(r, view, ctx);
}

nb_status nb_relation_need(nb_relation *r, const char *sql, nb_ctx *ctx)
{
    static const char begin[] = "-- needs:";
    const char *line = strstr(sql, begin);
    if (!line) return NB_OK;
    line += strlen(begin);
    const char *end = line + strcspn(line, "\n");
    for (line += strspn(line, " "); line < end; line += strspn(line, " ")) {
        size_t length = strcspn(line, " \n");
        const char *name;
        NB_NEED(name, nb_format(ctx, "%.*s", (int)length, line));
        NB_TRY(ctx, nb_view_need(r, name, ctx));
        line += length;
    }
    return NB_OK;
}

/* Returns whether a query may ask for what `views` makes: it has its name, or a longer word. */
static bool speaks_of(const char *sql, const char *views)
{
    static const char begin[] = "CREATE TEMP ";
    for (const char *at = views; (at = strstr(at, begin));) {
        at += strlen(begin) + strcspn(at + strlen(begin), " ") + 1; /* TABLE, VIEW */
        size_t length = strcspn(at, " (\n");
        for (const char *s = sql; *s; s++)
            if (strncasecmp(s, at, length) == 0) return true;
    }
    return false;
}

/* Makes the views that a query speaks of; NULL: all. */
static nb_status need_views(nb_relation *r, const char *sql, nb_ctx *ctx)
{
    if (!sql || speaks_of(sql, nb_sql_text("row_views.measure"))) NB_TRY(ctx, need_measured(r, ctx));
    for (const nb_sql_file *view = next_view(r, NULL); view; view = next_view(r, view))
        if (!sql || speaks_of(sql, view->text)) NB_TRY(ctx, make_study_view(r, view, ctx));
    return NB_OK;
}

static int only_reads(void *self, int action, const char *a, const char *b, const char *database, const char *trigger)
{
    (void)self, (void)a, (void)b, (void)database, (void)trigger;
    return action == SQLITE_SELECT || action == SQLITE_READ || action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE
               ? SQLITE_OK
               : SQLITE_DENY;
}

nb_status nb_relation_ask_freely(nb_relation *r, const char *sql, nb_grid *answer, nb_row_taker *take, void *self,
                                 nb_ctx *ctx)
{
    NB_TRY(ctx, need_views(r, sql, ctx));
    sqlite3_set_authorizer(r->store->db, only_reads, NULL);
    nb_status status = nb_relation_ask_alone(r, sql, answer, take, self, ctx);
    nb_store_restrict(r->store);
    NB_TRY(ctx, status);
    NB_REQUIRE(ctx, answer->columns > 0, NB_EINVAL, "SQL: expected a SELECT");
    return NB_OK;
}

nb_status nb_relation_views(nb_relation *r, nb_grid *answer, nb_ctx *ctx)
{
    NB_TRY(ctx, need_views(r, NULL, ctx));
    return nb_sql_ask(r, "open.views", NULL, answer, ctx);
}
