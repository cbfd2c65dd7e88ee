/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html.c - see html.h */
#include "html/html.h"

#include "base/files.h"
#include "html/assets.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <string.h>

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

static void print_head(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src ",
          out);
    print_source(out, nb_asset_report_css);
    fputs("; script-src ", out);
    print_source(out, nb_asset_report_js);
    fputs("; img-src data:; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          out);
    nb_page_escape(out, title);
    fprintf(out, "</title>\n<style>%s</style>\n</head>\n<body>\n", nb_asset_report_css);
}

/* A browser runs no script of an image, and fetches nothing for it. */
static nb_status read_figures(const nb_html_page *page, nb_page_drawing **drawings, nb_ctx *ctx)
{
    NB_NEED(*drawings, nb_alloc(ctx, (size_t)page->figure_count + 1, sizeof **drawings));
    for (int i = 0; i < page->figure_count; i++) {
        const char *svg;
        char *base64;
        NB_TRY(ctx, nb_read_file(page->figures[i].path, &svg, ctx));
        NB_NEED(base64, nb_alloc(ctx, BASE64_ENCODE_RAW_LENGTH(strlen(svg)) + 1, 1));
        base64_encode_raw(base64, strlen(svg), (const uint8_t *)svg);
        (*drawings)[i] = (nb_page_drawing){page->figures[i].address, base64};
    }
    return NB_OK;
}

nb_status nb_html_print(FILE *out, const void *what, nb_ctx *ctx)
{
    const nb_html_page *page = what;
    nb_page_drawing *drawings;
    NB_TRY(ctx, read_figures(page, &drawings, ctx));
    print_head(out, page->title);
    NB_TRY(ctx, nb_page_print_html(out, page->page, page->figure_count, drawings));
    fprintf(out, "<script>%s</script>\n</body>\n</html>\n", nb_asset_report_js);
    return NB_OK;
}
