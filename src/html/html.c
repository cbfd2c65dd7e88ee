/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html.c - see html.h */
#include "html/html.h"

#include "html/assets.h"
#include "html/svg.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <string.h>

/* The page's own style: that of all pages, and the colours of its figures in the light and in the dark. */
static nb_status make_style(const nb_svg_colours *colours, const char **style, nb_ctx *ctx)
{
    const char *light = "", *dark = "";
    for (int i = 0; i < colours->count; i++) {
        unsigned colour = (unsigned)colours->items[i], turned = (unsigned)nb_svg_dark(colours->items[i]);
        NB_NEED(light, nb_format(ctx, "%s--c%06x:#%06x;", light, colour, colour));
        NB_NEED(dark, nb_format(ctx, "%s--c%06x:#%06x;", dark, colour, turned));
    }
    NB_NEED(*style, nb_format(ctx, "%s:root{%s}\n@media screen and (prefers-color-scheme:dark){:root{%s}}\n",
                              nb_asset_report_css, light, dark));
    return NB_OK;
}

/* A policy lets a text through by its digest: 'sha256-...'. */
static void print_source(FILE *out, const char *text)
{
    struct sha256_ctx hash;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char encoded[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE)];
    sha256_init(&hash);
    sha256_update(&hash, strlen(text), (const uint8_t *)text);
    sha256_digest(&hash, sizeof digest, digest);
    base64_encode_raw(encoded, sizeof digest, digest);
    fprintf(out, "'sha256-%.*s'", (int)sizeof encoded, encoded);
}

static void print_head(FILE *out, const char *title, const char *style)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src ",
          out);
    print_source(out, style);
    fputs("; script-src ", out);
    print_source(out, nb_asset_report_js);
    fputs("; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          out);
    nb_page_escape(out, title);
    fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n", style);
}

static nb_status read_figures(const nb_html_page *page, nb_svg_colours *colours, nb_page_drawing **drawings,
                              nb_ctx *ctx)
{
    NB_NEED(*drawings, nb_alloc(ctx, (size_t)page->figure_count + 1, sizeof **drawings));
    for (int i = 0; i < page->figure_count; i++) {
        const nb_html_figure *figure = &page->figures[i];
        const char *prefix;
        NB_NEED(prefix, nb_format(ctx, "f%d-", i + 1));
        (*drawings)[i].address = figure->address;
        NB_TRY(ctx, nb_svg_read(figure->path, prefix, figure->caption, colours, &(*drawings)[i].svg, ctx));
    }
    return NB_OK;
}

nb_status nb_html_print(FILE *out, const void *what, nb_ctx *ctx)
{
    const nb_html_page *page = what;
    nb_svg_colours colours = {.count = 0};
    nb_page_drawing *drawings;
    const char *style;
    NB_TRY(ctx, read_figures(page, &colours, &drawings, ctx));
    NB_TRY(ctx, make_style(&colours, &style, ctx));
    print_head(out, page->title, style);
    NB_TRY(ctx, nb_page_print_html(out, page->page, page->figure_count, drawings));
    fprintf(out, "<script>%s</script>\n</body>\n</html>\n", nb_asset_report_js);
    return NB_OK;
}
