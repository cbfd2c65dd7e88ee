/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paper.c - see paper.h */
#include "show/paper.h"

#include "base/builder.h"
#include "show/paper_parts.h"

#include <string.h>

typedef struct {
    const nb_page *page;
    nb_page *paper;                            /* has room for as many blocks as the page has */
    const nb_page_block *above, *title, *used; /* headings: of level 2, below that, of the table before */
    const char *shared;                        /* what the headings of a table that is several of the page's agree in */
    bool goes_on;                              /* likewise, as did those of the table before */
    int top;                                   /* the block below the heading of level 2 */
    int tables;                                /* so far */
    nb_ctx *ctx;
} maker;

/* The page ends with a heading that is not there. */
static const nb_page_block *block_at(const nb_page *page, int i)
{
    static const nb_page_block none = {.kind = NB_HEADING};
    return i >= 0 && i < page->count ? &page->blocks[i] : &none;
}

static bool is_paragraph(const nb_page *page, int i)
{
    return block_at(page, i)->kind == NB_PARAGRAPH;
}

/* Returns whether a paragraph is of the caption of a table below it. */
static bool leads(const nb_page_block *b)
{
    return b->kind == NB_PARAGRAPH && (b->use == NB_PAGE_SHARED || b->use == NB_PAGE_ABOVE);
}

/* Returns whether a paragraph says what the table above it holds, and is of its caption. */
static bool holds(const nb_page_block *b)
{
    return b->kind == NB_PARAGRAPH && b->use == NB_PAGE_HOLDS;
}

/* Returns whether the block is of the caption of a table, from which only paragraphs part it. */
static bool is_above(const nb_page *page, int i)
{
    if (!leads(block_at(page, i))) return false;
    while (is_paragraph(page, i)) i++;
    return block_at(page, i)->table && block_at(page, i)->table->row_count > 0;
}

/* Returns whether the block, which is below a table and others of its own, is the table's too. */
static bool is_own(const nb_page *page, int i)
{
    return block_at(page, i)->kind == NB_NOTE || (is_paragraph(page, i) && !is_above(page, i));
}

/* Returns the first of the paragraphs that stand right above a part. */
static int first_above(const nb_page *page, const nb_paper_part *part)
{
    int i = part->at;
    while (is_paragraph(page, i - 1)) i--;
    return i;
}

/* Returns whether the same stands right above all parts. */
static bool share_above(const nb_page *page, int count, const nb_paper_part *parts)
{
    int first = first_above(page, &parts[0]), lines = parts[0].at - first;
    bool same = true;
    for (int p = 1; p < count && same; p++) {
        int own = first_above(page, &parts[p]);
        same = parts[p].at - own == lines;
        for (int i = 0; i < lines && same; i++)
            same = strcmp(page->blocks[own + i].text, page->blocks[first + i].text) == 0;
    }
    return same;
}

static nb_page_block *add_block(const maker *m, const nb_page_block *block)
{
    nb_page_block *added = &m->paper->blocks[m->paper->count++];
    *added = *block;
    return added;
}

typedef struct {
    nb_string text;
    bool stop; /* it ends with a sentence, which has its own stop */
} caption;

static nb_status add_piece(caption *c, bool sentence, const char *text, nb_ctx *ctx)
{
    const char *joint = c->stop ? " " : sentence ? ". " : "; ";
    if (!*text) return NB_OK;
    c->stop = sentence;
    return nb_append_item(&c->text, joint, ctx, "%s", text);
}

/* Adds those of the blocks first ... end - 1 that are wanted. */
static nb_status add_paragraphs(const maker *m, caption *c, bool (*wanted)(const nb_page_block *), int first, int end)
{
    for (int i = first; i < end; i++) {
        const nb_page_block *b = &m->page->blocks[i];
        if (wanted(b)) NB_TRY(m->ctx, add_piece(c, b->use != NB_PAGE_SHARED, b->text, m->ctx));
    }
    return NB_OK;
}

/* Makes the caption of parts below which the blocks up to `end` are their own. */
static nb_status make_caption(const maker *m, int count, const nb_paper_part *parts, int end, nb_page_block *table)
{
    const nb_page_block *title = parts[0].heading;
    const char *own = count > 1 ? m->shared : title ? title->text : "";
    int common = m->top, first = first_above(m->page, &parts[0]), below = parts[count - 1].at + 1;
    caption c = {NB_NO_TEXT, false};
    while (is_paragraph(m->page, common) && common < first) common++;
    if (m->above) NB_TRY(m->ctx, nb_append(&c.text, m->ctx, "%s", m->above->text));
    if (*own) NB_TRY(m->ctx, nb_append_item(&c.text, ": ", m->ctx, "%s", own));
    if (count > 1 && m->goes_on) NB_TRY(m->ctx, add_piece(&c, false, "continued", m->ctx));
    NB_TRY(m->ctx, add_paragraphs(m, &c, leads, m->top, common));
    if (share_above(m->page, count, parts)) NB_TRY(m->ctx, add_paragraphs(m, &c, leads, first, parts[0].at));
    NB_TRY(m->ctx, add_paragraphs(m, &c, holds, below, end));
    if (c.text.length > 0 && !c.stop) NB_TRY(m->ctx, nb_append(&c.text, m->ctx, "."));
    table->text = c.text.text;
    if (m->above) table->formula = m->above->formula;
    return NB_OK;
}

/* Adds what stands above each of several tables in one, unless the caption has it. */
static nb_status add_leads(const maker *m, int count, const nb_paper_part *parts)
{
    for (int p = 0; p < count && !share_above(m->page, count, parts); p++)
        for (int i = first_above(m->page, &parts[p]); i < parts[p].at; i++) {
            const char *text;
            if (!leads(&m->page->blocks[i])) continue;
            NB_NEED(text, nb_format(m->ctx, "%s: %s", parts[p].name, m->page->blocks[i].text));
            add_block(m, &(nb_page_block){.kind = NB_NOTE, .mark = "", .text = text});
        }
    return NB_OK;
}

/* Adds the blocks below a table, first ... end - 1, that its caption does not have. */
static void add_below(const maker *m, int first, int end)
{
    for (int i = first; i < end; i++) {
        const nb_page_block *b = &m->page->blocks[i];
        if (holds(b)) continue;
        nb_page_block *added = add_block(m, b);
        if (b->use != NB_PAGE_ASIDE) added->kind = NB_NOTE;
    }
}

/* Adds the table of a block, with those that are one with it and what belongs to it; *at <- the last of them. */
static nb_status add_table(maker *m, int *at)
{
    const nb_page *page = m->page;
    nb_page_block *table = add_block(m, &page->blocks[*at]);
    const char *shared = NULL;
    nb_paper_part *parts;
    NB_NEED(parts, nb_alloc(m->ctx, (size_t)(page->count - *at), sizeof *parts));
    int count = nb_paper_find_parts(page, *at, m->title, m->title != m->used, parts);
    int below = parts[count - 1].at + 1, end = below;
    if (count > 1) NB_TRY(m->ctx, nb_paper_name_parts(count, parts, &shared, m->ctx));
    if (count > 1) NB_TRY(m->ctx, nb_paper_join_parts(count, parts, &table->table, m->ctx));
    while (is_own(page, end)) end++;
    m->goes_on = shared && m->shared && strcmp(shared, m->shared) == 0;
    m->shared = shared;
    m->title = m->used = parts[count - 1].heading;
    m->tables++;
    NB_TRY(m->ctx, make_caption(m, count, parts, end, table));
    if (page->name) table->mark = page->name;
    if (page->name && m->tables > 1) NB_NEED(table->mark, nb_format(m->ctx, "%s-%d", page->name, m->tables));
    NB_TRY(m->ctx, add_leads(m, count, parts));
    add_below(m, below, end);
    *at = end - 1;
    return NB_OK;
}

static void see_heading(maker *m, const nb_page_block *heading, int at)
{
    m->title = heading;
    if (heading->level > 2) return;
    m->above = heading;
    m->top = at + 1;
    m->title = NULL;
    m->shared = NULL;
}

nb_status nb_paper_make(const nb_page *page, nb_page *paper)
{
    maker m = {.page = page, .paper = paper, .ctx = page->ctx};
    *paper = (nb_page){.ctx = page->ctx, .capacity = page->count};
    NB_NEED(paper->blocks, nb_alloc(page->ctx, (size_t)page->count + 1, sizeof *paper->blocks));
    for (int i = 0; i < page->count; i++) {
        const nb_page_block *b = &page->blocks[i];
        if (b->kind == NB_HEADING) see_heading(&m, b, i);
        if (b->table && b->table->row_count > 0)
            NB_TRY(page->ctx, add_table(&m, &i));
        else if (!b->table && !is_above(page, i))
            add_block(&m, b)->kind = b->kind == NB_NOTE ? NB_PARAGRAPH : b->kind;
    }
    return NB_OK;
}
