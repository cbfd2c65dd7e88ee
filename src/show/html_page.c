/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html_page.c - see html_page.h */
#include "show/html_page.h"

#include "show/html.h"
#include "show/write_html.h"

#include <ctype.h>
#include <string.h>

/* Returns the anchor that GitHub gives a heading: small letters, '-' for a blank, no punctuation. */
static char *anchor_of(const char *text, nb_ctx *ctx)
{
    char *anchor = nb_alloc(ctx, strlen(text) + 1, 1), *out = anchor;
    for (; anchor && *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == ' ')
            *out++ = '-';
        else if (isalnum(c) || c == '-' || c == '_' || c >= 0x80)
            *out++ = (char)tolower(c);
    }
    return anchor;
}

/* Finds the anchors of the headings, by block; one that repeats has its number behind it. */
static nb_status find_anchors(const nb_page *page, const char ***anchors)
{
    const char **plain;
    NB_NEED(plain, nb_alloc(page->ctx, (size_t)page->count + 1, sizeof *plain));
    NB_NEED(*anchors, nb_alloc(page->ctx, (size_t)page->count + 1, sizeof **anchors));
    for (int i = 0; i < page->count; i++) {
        int times = 0;
        if (page->blocks[i].kind != NB_HEADING) continue;
        NB_NEED(plain[i], anchor_of(page->blocks[i].text, page->ctx));
        for (int k = 0; k < i; k++) times += plain[k] && strcmp(plain[k], plain[i]) == 0;
        (*anchors)[i] = plain[i];
        if (times > 0) NB_NEED((*anchors)[i], nb_format(page->ctx, "%s-%d", plain[i], times));
    }
    return NB_OK;
}

static void print_contents(FILE *out, const nb_page *page, const char *const *anchors)
{
    fputs("<nav aria-label=\"Contents\">\n<ul>\n", out);
    for (int i = 0; i < page->count; i++) {
        if (page->blocks[i].kind != NB_HEADING || page->blocks[i].level != 2) continue;
        fprintf(out, "<li><a href=\"#%s\">", anchors[i]);
        nb_html_print_text(out, "", page->blocks[i].text, "</a></li>\n");
    }
    fputs("</ul>\n</nav>\n", out);
}

/* Links to the headings of level 2, then the blocks. */
static nb_status print_body(FILE *out, const nb_page *page)
{
    const char **anchors;
    NB_TRY(page->ctx, page->status);
    NB_TRY(page->ctx, find_anchors(page, &anchors));
    print_contents(out, page, anchors);
    fputs("<main>\n", out);
    NB_TRY(page->ctx,
           nb_page_write(&nb_page_html_writer,
                         (nb_page_walk){.out = out, .page = page, .own = &(nb_html_state){.anchors = anchors}}));
    fputs("</main>\n", out);
    return NB_OK;
}

nb_status nb_html_print_page(FILE *out, const char *title, const nb_page *page, nb_ctx *ctx)
{
    static const char *const styles[] = {nb_asset_report_css, NULL}, *const scripts[] = {nb_asset_report_js, NULL};
    const nb_html_assets assets = {styles, scripts};
    nb_html_begin(out, title, &assets);
    NB_TRY(ctx, print_body(out, page));
    nb_html_end(out, &assets);
    return NB_OK;
}
