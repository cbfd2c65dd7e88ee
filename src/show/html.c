/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html.c - see html.h */
#include "show/html.h"

#include "show/write_html.h"

#include <ctype.h>
#include <nettle/base64.h>
#include <nettle/sha2.h>
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
        nb_html_print_escaped(out, page->blocks[i].text);
        fputs("</a></li>\n", out);
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

/* A policy lets texts through by their digests: 'sha256-...'. */
static void print_sources(FILE *out, const char *const *texts)
{
    for (; *texts; texts++) {
        struct sha256_ctx hash;
        uint8_t digest[SHA256_DIGEST_SIZE];
        char encoded[BASE64_ENCODE_RAW_LENGTH(SHA256_DIGEST_SIZE)];
        sha256_init(&hash);
        sha256_update(&hash, strlen(*texts), (const uint8_t *)*texts);
        sha256_digest(&hash, sizeof digest, digest);
        base64_encode_raw(encoded, sizeof digest, digest);
        fprintf(out, " 'sha256-%.*s'", (int)sizeof encoded, encoded);
    }
}

void nb_html_begin(FILE *out, const char *title, const nb_html_assets *assets)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src",
          out);
    print_sources(out, assets->styles);
    fputs("; script-src", out);
    print_sources(out, assets->scripts);
    fputs("; img-src data:; base-uri 'none'; form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
          out);
    nb_html_print_escaped(out, title);
    fputs("</title>\n", out);
    for (const char *const *style = assets->styles; *style; style++) fprintf(out, "<style>%s</style>\n", *style);
    fputs("</head>\n<body>\n", out);
}

void nb_html_end(FILE *out, const nb_html_assets *assets)
{
    for (const char *const *script = assets->scripts; *script; script++) fprintf(out, "<script>%s</script>\n", *script);
    fputs("</body>\n</html>\n", out);
}

nb_status nb_html_print(FILE *out, const char *title, const nb_page *page, nb_ctx *ctx)
{
    static const char *const styles[] = {nb_asset_report_css, NULL}, *const scripts[] = {nb_asset_report_js, NULL};
    const nb_html_assets assets = {styles, scripts};
    nb_html_begin(out, title, &assets);
    NB_TRY(ctx, print_body(out, page));
    nb_html_end(out, &assets);
    return NB_OK;
}
