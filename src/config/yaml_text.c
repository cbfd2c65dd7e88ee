/* SPDX-License-Identifier: GPL-3.0-or-later */
/* yaml_text.c - escapes what YAML 1.1 does not take as it is: quotes and backslashes, control
 * characters (U+0000 to U+001F, U+007F to U+009F), and five more, of which it refuses
 * three and takes two for the end of a line. */
#include "config/yaml.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *bytes, *escape;
} refused[] = {{"\xe2\x80\xa8", "\\u2028"},
               {"\xe2\x80\xa9", "\\u2029"},
               {"\xef\xbb\xbf", "\\ufeff"},
               {"\xef\xbf\xbe", "\\ufffe"},
               {"\xef\xbf\xbf", "\\uffff"}};

/* Returns the bytes of a character that has to be escaped, all but the ASCII ones; 0: of no such. */
static size_t escape(FILE *out, const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    if (byte[0] == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0) { /* U+0080 to U+009F */
        fprintf(out, "\\x%02x", byte[1]);
        return 2;
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        size_t length = strlen(refused[i].bytes);
        if (strncmp(text, refused[i].bytes, length) != 0) continue;
        fputs(refused[i].escape, out);
        return length;
    }
    return 0;
}

void nb_yaml_print_quoted(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text) {
        size_t length = escape(out, text);
        text += length;
        if (length) continue;
        if (*text == '"' || *text == '\\') fputc('\\', out);
        if (iscntrl((unsigned char)*text))
            fprintf(out, "\\x%02x", (unsigned char)*text);
        else
            fputc(*text, out);
        text++;
    }
    fputc('"', out);
}
