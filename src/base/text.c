/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.c - UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#include "base/text.h"

#include "base/columns.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Bytes of the character that begins there; 0: none does. */
static size_t character(const unsigned char *at)
{
    unsigned char first = *at, lowest = 0x80, highest = 0xbf;
    size_t bytes = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (first == 0xe0) lowest = 0xa0;
    if (first == 0xed) highest = 0x9f;
    if (first == 0xf0) lowest = 0x90;
    if (first == 0xf4) highest = 0x8f;
    for (size_t i = 1; i < bytes; i++) { /* the end of the text, 0, is below all */
        if (at[i] < lowest || at[i] > highest) return 0;
        lowest = 0x80;
        highest = 0xbf;
    }
    return bytes;
}

static bool is_control(const unsigned char *at, size_t bytes)
{
    return (bytes == 1 && (*at < ' ' || *at == 0x7f)) || (bytes == 2 && at[0] == 0xc2 && at[1] < 0xa0);
}

/* Writes the clean text of the next character, or of a byte that belongs to none; returns how many bytes of the text
 * that was. */
static size_t next_piece(const unsigned char *at, const char *kept, char piece[16], size_t *made)
{
    size_t bytes = character(at), taken = bytes ? bytes : 1;
    *made = 0;
    if (bytes > 0 && (!is_control(at, bytes) || (bytes == 1 && strchr(kept, *at))))
        memcpy(piece, at, *made = bytes);
    else
        for (size_t i = 0; i < taken; i++) *made += (size_t)snprintf(piece + *made, 16 - *made, "\\x%02x", at[i]);
    return taken;
}

size_t nb_text_clean(const char *text, const char *kept, char *out, size_t size)
{
    char piece[16];
    size_t length = 0, made;
    if (size > 0) *out = '\0';
    for (const unsigned char *at = (const unsigned char *)text; *at; length += made) {
        at += next_piece(at, kept, piece, &made);
        if (length + made >= size) size = 0; /* nothing is added behind a gap */
        if (size > 0) memcpy(out + length, piece, made);
        if (size > 0) out[length + made] = '\0';
    }
    return length;
}

void nb_text_print(FILE *out, const char *text, size_t bytes, const char *kept)
{
    char piece[16];
    size_t made, plain = 0;
    while (plain < bytes && text[plain] >= ' ' && text[plain] < 0x7f) plain++; /* printable ASCII */
    fwrite(text, 1, plain, out);
    text += plain;
    bytes -= plain;
    for (size_t done = 0; done < bytes && text[done]; fwrite(piece, 1, made, out))
        done += next_piece((const unsigned char *)text + done, kept, piece, &made);
}

size_t nb_text_character(const char *at)
{
    return *at ? character((const unsigned char *)at) : 0;
}

int nb_text_characters(const char *text, size_t bytes)
{
    int count = 0;
    for (size_t i = 0; i < bytes; i++) count += (text[i] & 0xc0) != 0x80;
    return count;
}

bool nb_text_is_control(const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;
    return is_control(byte, character(byte));
}

bool nb_text_is_clean(const char *text, const char *kept)
{
    for (const unsigned char *at = (const unsigned char *)text; *at;) {
        size_t bytes = character(at);
        if (bytes == 0 || (is_control(at, bytes) && !(bytes == 1 && strchr(kept, *at)))) return false;
        at += bytes;
    }
    return true;
}

bool nb_text_same(const char *a, const char *b)
{
    bool quoted = false;
    for (;; a++, b++) {
        while (!quoted && *a == ' ') a++;
        while (!quoted && *b == ' ') b++;
        if (*a != *b) return false;
        if (!*a) return true;
        if (*a == '\\' && a[1] && a[1] == b[1])
            a++, b++;
        else if (*a == '"')
            quoted = !quoted;
    }
}

const char *nb_text_of_odd(double number)
{
    return isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

const char *nb_article(const char *noun)
{
    return *noun && strchr("aeiou", *noun) ? "an" : "a";
}

/* Returns the columns of the next character, or of a byte that belongs to none; *bytes: how many bytes that is. */
static int next_columns(const char *text, size_t *bytes)
{
    static const unsigned char bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07}; /* of the first byte, by the number of bytes */
    const unsigned char *at = (const unsigned char *)text;
    size_t found = character(at);
    uint32_t code = at[0] & bits[found];
    for (size_t i = 1; i < found; i++) code = code << 6 | (at[i] & 0x3f);
    *bytes = found ? found : 1;
    return found ? nb_columns_of(code) : 1;
}

int nb_text_columns_in(const char *text, size_t bytes)
{
    int columns = 0;
    for (size_t at = 0, taken; at < bytes && text[at]; at += taken) columns += next_columns(text + at, &taken);
    return columns;
}

int nb_text_columns(const char *text)
{
    return nb_text_columns_in(text, SIZE_MAX);
}

size_t nb_text_start(const char *text, int columns)
{
    size_t at = 0, taken;
    while (text[at] && (columns -= next_columns(text + at, &taken)) >= 0) at += taken;
    return at;
}

const char *nb_text_end(const char *text, int columns)
{
    int left = nb_text_columns(text);
    while (*text) {
        size_t bytes;
        int own = next_columns(text, &bytes);
        if (own > 0 && left <= columns) break;
        left -= own;
        text += bytes;
    }
    return text;
}

int nb_text_longest_word(const char *text)
{
    int longest = 0;
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t bytes = strcspn(text, " ");
        int width = nb_text_columns_in(text, bytes);
        longest = width > longest ? width : longest;
        text += bytes;
    }
    return longest;
}

bool nb_text_line(const char **at, int width, const char **line, int *bytes)
{
    const char *from = *at, *end = from;
    for (const char *next = from; *next;) { /* behind each word */
        const char *word = next + strspn(next, " ");
        next = word + strcspn(word, " ");
        if (end > from && nb_text_columns_in(from, (size_t)(next - from)) > width) break;
        if (next > word) end = next;
    }
    *line = from;
    *bytes = (int)(end - from);
    *at = end + strspn(end, " ");
    return end > from;
}

void nb_text_wrap(FILE *out, int used, int indent, int width, const char *text)
{
    const char *line;
    int bytes;
    for (bool first = true; nb_text_line(&text, (width > 0 ? width : INT_MAX) - (first ? used : indent), &line, &bytes);
         first = false) {
        if (!first) fprintf(out, "\n%*s", indent, "");
        fwrite(line, 1, (size_t)bytes, out);
    }
}

void nb_text_print_lines(FILE *out, const char *lead, int indent, int width, const char *text)
{
    fputs(lead, out);
    nb_text_wrap(out, nb_text_columns(lead), indent, width, text);
    fputc('\n', out);
}

bool nb_text_ends(const char *text, const char *ending)
{
    size_t length = strlen(text), of = strlen(ending);
    return length > of && strcmp(text + length - of, ending) == 0;
}

int nb_text_count(const char *const *list)
{
    int count = 0;
    while (list && list[count]) count++;
    return count;
}

int nb_text_index(const char *text, const char *const *list)
{
    for (int i = 0; list && list[i]; i++)
        if (strcmp(list[i], text) == 0) return i;
    return -1;
}

bool nb_text_among(const char *text, const char *const *list)
{
    return nb_text_index(text, list) >= 0;
}

int nb_text_compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}
