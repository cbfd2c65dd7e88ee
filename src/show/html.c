/* SPDX-License-Identifier: GPL-3.0-or-later */
/* html.c - see html.h */
#include "show/html.h"

#include <nettle/base64.h>
#include <nettle/sha2.h>
#include <string.h>

static void print_character(FILE *out, char character)
{
    switch (character) {
    case '&': fputs("&amp;", out); break;
    case '<': fputs("&lt;", out); break;
    case '>': fputs("&gt;", out); break;
    case '"': fputs("&quot;", out); break;
    default: fputc(character, out);
    }
}

void nb_html_print_text(FILE *out, const char *begin, const char *text, const char *end)
{
    fputs(begin, out);
    for (; *text; text++) print_character(out, *text);
    fputs(end, out);
}

void nb_html_print_method(FILE *out, const char *label)
{
    for (; *label; label++) {
        if (*label == '(') fputs("<wbr>", out);
        print_character(out, *label);
        if (*label == '_' || *label == '=') fputs("<wbr>", out);
    }
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
    nb_html_print_text(out, "", title, "</title>\n");
    for (const char *const *style = assets->styles; *style; style++) fprintf(out, "<style>%s</style>\n", *style);
    fputs("</head>\n<body>\n", out);
}

void nb_html_end(FILE *out, const nb_html_assets *assets)
{
    for (const char *const *script = assets->scripts; *script; script++) fprintf(out, "<script>%s</script>\n", *script);
    fputs("</body>\n</html>\n", out);
}
