/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.c - see report.h */
#include "show/report.h"

#include "base/files.h"
#include "components/registry.h"
#include "show/html_page.h"
#include "answers/caveats.h"
#include "rows/columns.h"
#include "rows/open.h"
#include "rows/statement.h"
#include "rows/run_facts.h"
#include "show/claims_print.h"
#include "show/compare_print.h"
#include "show/page_record.h"
#include "show/query.h"
#include "show/table.h"
#include "run/run_folder.h"

#include <math.h>
#include <string.h>

typedef struct { /* a run */
    const char *folder, *name, *question, *day;
    const nb_study *study;
    nb_store store;
    nb_relation *relation;
    nb_claim_results claims;
    nb_ctx *own; /* of what follows, until it is shown */
    nb_comparison compared;
    nb_texts caveats;
    nb_pictures pictures;
    int rows, ok, wrong, planned;
} part;

typedef struct {
    nb_report *report;
    nb_page *page;
    int level; /* of a part's heading */
    const char *place;
    nb_ctx *ctx;
} maker;

/* Along which the methods are compared as a whole: the first axis of integers that several values of are planned; NULL:
 * there is none. */
static nb_status find_pool(const part *p, const char **pool, nb_ctx *ctx)
{
    *pool = NULL;
    for (const nb_axis *a = p->study->axes; !*pool && a->key; a++) {
        nb_grid values;
        if (a->type != NB_AXIS_INTEGER || a->scene) continue;
        NB_TRY(ctx, nb_relation_values(p->relation, a->column, NULL, &values, ctx));
        if (values.count > 1) *pool = a->column;
    }
    return NB_OK;
}

/* Compares as a run does at its end, but pooled over m, except for times. */
static nb_status compare(part *p, nb_ctx *ctx)
{
    const nb_column *metric = nb_study_metric(p->study);
    const char *pool = NULL;
    NB_NEED(p->own, nb_ctx_child(ctx));
    if (metric && !metric->time) NB_TRY(ctx, find_pool(p, &pool, p->own));
    return nb_compare_methods(p->relation, NB_BOOTSTRAPS, pool, &p->compared, p->own);
}

/* Adds what the mean of a comparison hides. */
static nb_status add_hidden(part *p, nb_ctx *ctx)
{
    const nb_comparison *c = &p->compared;
    int heads = 0, pooled = 0, trials = 0;
    for (int i = 0; i < c->count; i++) {
        heads += c->items[i].conflict != NULL;
        pooled += c->items[i].change != NULL;
        trials += c->items[i].far_trial != NULL;
    }
    const int counts[] = {heads, pooled, trials};
    const char *effects[] = {"a method is better than the baseline on one head and worse on another", "",
                             "one trial is far from the others"};
    if (pooled > 0) NB_NEED(effects[1], nb_format(ctx, "the effect changes sign with %s", c->terms->contrast.pool));
    for (int i = 0; i < 3; i++)
        if (counts[i] > 0)
            NB_TRY(ctx, nb_caveats_add(&p->caveats,
                                       nb_format(ctx, "In %d line%s of the comparison %s: see the warnings there.",
                                                 counts[i], counts[i] == 1 ? "" : "s", effects[i])));
    return NB_OK;
}

/* Finds how many rows there are, how they ended, and when the first was measured. */
static nb_status count_rows(part *p, nb_ctx *ctx)
{
    nb_grid a;
    NB_TRY(ctx, nb_sql_ask(p->relation, "report.counts", NULL, &a, ctx));
    int *const counts[] = {&p->rows, &p->ok, &p->planned, &p->wrong};
    for (int i = 0; i < 4; i++) *counts[i] = (int)nb_grid_at(&a, 0, i)->integer;
    p->day = nb_grid_at(&a, 0, 4)->text;
    return NB_OK;
}

static nb_status load(const char *folder, part *p, nb_ctx *ctx)
{
    const nb_given_labels *labels;
    nb_claim *claims;
    int claim_count;
    const char *baseline;
    *p = (part){.folder = folder};
    NB_TRY(ctx, nb_run_open(folder, &p->store, &labels, ctx));
    NB_TRY(ctx, nb_relation_open(&p->relation, &p->store, labels, ctx));
    p->study = p->store.study;
    NB_TRY(ctx, count_rows(p, ctx));
    NB_REQUIRE(ctx, p->rows > 0, NB_EIO, "%s: the run has no rows", folder);
    NB_TRY(ctx, nb_relation_experiment(p->relation, &p->name, ctx));
    NB_TRY(ctx, nb_run_setting(folder, "question", &p->question, ctx));
    NB_TRY(ctx, nb_run_baseline(folder, &baseline, ctx));
    NB_TRY(ctx, nb_relation_take_baseline(p->relation, baseline, ctx));
    NB_TRY(ctx, nb_run_claims(folder, p->study, &claim_count, &claims, ctx));
    NB_TRY(ctx, nb_claims_ask(p->relation, claim_count, claims, &p->claims, ctx));
    NB_TRY(ctx, nb_caveats_find(p->relation, &p->store, &p->caveats, ctx));
    NB_TRY(ctx, compare(p, ctx));
    NB_TRY(ctx, add_hidden(p, ctx));
    return nb_pictures_find(folder, p->relation, &p->pictures, ctx);
}

/* Begins a section, whose own headings are deeper. Sections before it that have nothing in them are taken away. */
static void begin(const maker *m, int level, const char *title)
{
    nb_page *page = m->page;
    for (; page->count > 0 && page->blocks[page->count - 1].kind == NB_HEADING; page->count--)
        if (page->blocks[page->count - 1].level < level) break;
    page->deeper = 0;
    nb_page_heading(page, level, "%s", title);
    page->deeper = level == NB_PAGE_FOLDED ? NB_PAGE_DEEPEST : m->level;
}

static void add_summary(const maker *m, const part *p)
{
    if (p->planned > 0)
        nb_page_paragraph(m->page, "This run is not finished: %d of its %d rows have not been measured yet.",
                          p->planned, p->rows);
    nb_page_paragraph(m->page, "%s%s%d rows of the study %s: %d ok, %d skipped, %d went wrong.", p->day,
                      *p->day ? ": " : "", p->rows, p->study->component.name, p->ok,
                      p->rows - p->ok - p->wrong - p->planned, p->wrong);
}

static nb_status add_claims(const maker *m, const part *p)
{
    const char *counts;
    if (p->claims.count == 0) return NB_OK;
    NB_TRY(m->ctx, nb_claims_tell_tally(1, &p->claims, &counts, m->ctx));
    begin(m, m->level + 1, "Claims");
    nb_page_paragraph(m->page, "Of %d claim%s: %s.", p->claims.count, p->claims.count == 1 ? "" : "s", counts);
    for (int i = 0; i < p->claims.count; i++)
        nb_page_note(m->page, nb_claim_verdicts[p->claims.results[i].answer.verdict], "%s",
                     p->claims.results[i].claim->says);
    return nb_claims_show(m->page, NB_CLAIMS_TABLE, 1, &p->claims, m->ctx);
}

static void add_caveats(const maker *m, const part *p)
{
    begin(m, m->level + 1, "Caveats");
    if (p->caveats.count == 0) nb_page_paragraph(m->page, "None found.");
    for (int i = 0; i < p->caveats.count; i++) nb_page_item(m->page, "%s", p->caveats.items[i]);
}

static nb_status add_pictures(const maker *m, const part *p)
{
    if (p->pictures.count == 0 && !p->pictures.undrawn) return NB_OK;
    begin(m, m->level + 1, "Figures");
    m->report->undrawn |= p->pictures.undrawn;
    if (p->pictures.undrawn)
        nb_page_paragraph(m->page, "Figures are missing: gnuplot, which draws them, was not there.");
    for (int i = 0; i < p->pictures.count; i++) {
        const nb_picture *picture = &p->pictures.items[i];
        const char *address;
        NB_TRY(m->ctx, nb_address_of(m->place, picture->path, &address, m->ctx));
        nb_page_picture(m->page, picture->path, address, "%s", picture->caption);
    }
    return NB_OK;
}

static nb_status add_comparison(const maker *m, part *p)
{
    const nb_comparison *c = &p->compared;
    if (c->count > 0) {
        begin(m, m->level + 1, "Compared with the baseline");
        NB_TRY(m->ctx, nb_compare_show(m->page, c, &(nb_compare_view){.by_model = true}, p->own));
        begin(m, NB_PAGE_FOLDED, "The same with all numbers, and what they mean");
        NB_TRY(m->ctx, nb_compare_show(m->page, c, &(nb_compare_view){true, true}, p->own));
    }
    nb_ctx_release(p->own, 0);
    return NB_OK;
}

/* Adds the tables that a run ends with, then the others, folded. */
static nb_status add_tables(const maker *m, const part *p)
{
    begin(m, m->level + 1, "Tables");
    NB_TRY(m->ctx, nb_tables_show(m->page, 0, p->relation, m->ctx));
    for (const nb_entry *e = nb_tables.entries; e->component; e++) {
        const nb_table *table = (const nb_table *)e->component;
        const char *title;
        if (table->place != 0 || strcmp(table->study, p->study->component.name) != 0) continue;
        NB_NEED(title, nb_format(m->ctx, "%s: %s", table->component.name, table->component.summary));
        begin(m, NB_PAGE_FOLDED, title);
        NB_TRY(m->ctx, nb_table_show(m->page, table, p->relation, m->ctx));
    }
    return NB_OK;
}

/* Adds the rows that went wrong by status and reason, with the labels of the first of each group. */
static nb_status add_wrong(const maker *m, const part *p)
{
    nb_string axes = NB_NO_TEXT;
    const char *sql, *label;
    for (const nb_axis *a = p->study->axes + 1; a->key; a++) {
        bool component = a->type == NB_AXIS_COMPONENT;
        NB_NEED(label, nb_format(m->ctx, "%s_label", a->column));
        NB_TRY(m->ctx, nb_sql_append(&axes, component ? "report.component" : "report.number",
                                     NB_GIVEN(NB_GIVE_NAME("label", label), NB_GIVE_TEXT("text", a->column),
                                              NB_GIVE_NAME("column", a->column)),
                                     m->ctx));
    }
    NB_TRY(m->ctx, nb_sql_fill("report.wrong", NB_GIVEN(NB_GIVE_PIECE("axes", axes.text)), &sql, m->ctx));
    begin(m, m->level + 1, "Rows without a result");
    return nb_query_show(p->relation, sql, m->page, m->ctx);
}

/* The experiment is that of the run's file, or what the last call kept of it. */
static nb_status add_measured(const maker *m, const part *p)
{
    const char *path, *text;
    begin(m, m->level + 1, "How it was measured");
    m->page->deeper = 0;
    NB_TRY(m->ctx, nb_query_tell(p->relation, nb_sql_text("measured"), m->page, m->ctx));
    NB_TRY(m->ctx, nb_run_path(p->folder, NB_CONFIG_FILE, &path, m->ctx));
    NB_TRY(m->ctx, nb_relation_text(p->relation, nb_sql_text("report.config"), &text, m->ctx));
    if (nb_is_file(path)) NB_TRY(m->ctx, nb_read_file(path, &text, m->ctx));
    if (!text || !*text) return NB_OK;
    begin(m, NB_PAGE_FOLDED, "The experiment, with every value written out");
    nb_page_verbatim(m->page, text);
    return NB_OK;
}

static nb_status add_part(const maker *m, part *p)
{
    m->page->deeper = 0;
    nb_page_heading(m->page, m->level, "%s", p->name);
    if (p->question) nb_page_paragraph(m->page, "%s", p->question);
    add_summary(m, p);
    NB_TRY(m->ctx, add_claims(m, p));
    add_caveats(m, p);
    NB_TRY(m->ctx, add_pictures(m, p));
    NB_TRY(m->ctx, add_comparison(m, p));
    NB_TRY(m->ctx, add_tables(m, p));
    NB_TRY(m->ctx, add_wrong(m, p));
    return add_measured(m, p);
}

static nb_status add_overview(const maker *m, int count, part *const *parts)
{
    static const nb_page_head columns[] = {{"run", NB_PAGE_LABEL},      {"question", NB_PAGE_PROSE},
                                           {"study", NB_PAGE_LABEL},    {"rows", NB_PAGE_NUMBER},
                                           {"ok", NB_PAGE_NUMBER},      {"wrong", NB_PAGE_NUMBER},
                                           {"to come", NB_PAGE_NUMBER}, {"claims", NB_PAGE_PROSE},
                                           {"caveats", NB_PAGE_NUMBER}, {"measured", NB_PAGE_WORD}};
    nb_page_heading(m->page, 1, "%s", m->report->title);
    nb_page_table(m->page);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        nb_page_column(m->page, columns[i].kind, "%s", columns[i].text);
    for (int i = 0; i < count; i++) {
        const part *p = parts[i];
        const char *claims;
        NB_TRY(m->ctx, nb_claims_tell_tally(1, &p->claims, &claims, m->ctx));
        nb_page_row(m->page);
        nb_page_cell(m->page, "%s", p->name);
        nb_page_cell(m->page, "%s", p->question ? p->question : "");
        nb_page_cell(m->page, "%s", p->study->component.name);
        for (int k = 0; k < 4; k++)
            nb_page_number(m->page, "%.0f", (const int[]){p->rows, p->ok, p->wrong, p->planned}[k]);
        nb_page_cell(m->page, "%s", *claims ? claims : "none");
        nb_page_number(m->page, "%.0f", p->caveats.count);
        nb_page_cell(m->page, "%s", p->day);
    }
    return NB_OK;
}

nb_status nb_report_make(int count, const char *const *folders, const char *place, nb_report *report, nb_ctx *ctx)
{
    maker m = {.report = report, .page = &report->page, .level = count > 1 ? 2 : 1, .place = place, .ctx = ctx};
    part **parts;
    *report = (nb_report){.undrawn = false};
    nb_page_make(m.page, ctx);
    NB_NEED(parts, nb_alloc(ctx, (size_t)count, sizeof *parts));
    for (int i = 0; i < count; i++) {
        NB_NEED(parts[i], nb_alloc(ctx, 1, sizeof **parts));
        NB_TRY(ctx, load(folders[i], parts[i], ctx));
    }
    report->title = parts[0]->name;
    if (count > 1) NB_NEED(report->title, nb_format(ctx, "%d runs", count));
    if (count > 1) NB_TRY(ctx, add_overview(&m, count, parts));
    for (int i = 0; i < count; i++) NB_TRY(ctx, add_part(&m, parts[i]));
    return NB_OK;
}

nb_status nb_report_print_markdown(FILE *out, const void *what, nb_ctx *ctx)
{
    const nb_report *report = what;
    (void)ctx;
    return nb_page_print(out, &report->page, NB_PAGE_MARKDOWN, 0);
}

nb_status nb_report_print_html(FILE *out, const void *what, nb_ctx *ctx)
{
    const nb_report *report = what;
    return nb_html_print_page(out, report->title, &report->page, ctx);
}
