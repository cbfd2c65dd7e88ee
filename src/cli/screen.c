/* SPDX-License-Identifier: GPL-3.0-or-later */
/* screen.c - see screen.h. The sequences are those of ECMA-48: up (CUU), erase to the end of the line (EL) and of the
 * screen (ED). */
#include "cli/screen.h"

#include "base/numbers.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void nb_screen_size(int *columns, int *rows)
{
    const char *told = getenv("COLUMNS");
    struct winsize size = {0};
    *columns = 0;
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) size = (struct winsize){0};
    if (told) nb_parse_int(told, 1, INT_MAX, columns);
    if (*columns <= 0) *columns = size.ws_col > 0 ? size.ws_col : 80;
    *rows = size.ws_row > 0 ? size.ws_row : 24;
}

static int bytes_at(const char *text)
{
    int bytes = 1;
    while ((text[bytes] & 0xc0) == 0x80) bytes++;
    return bytes;
}

/* From U+1100 on: Hangul, CJK, emoji; what is narrow among them costs a column, no more. */
static int columns_at(const char *text)
{
    return (unsigned char)*text >= 0xe2 || ((unsigned char)*text == 0xe1 && (unsigned char)text[1] >= 0x84) ? 2 : 1;
}

int nb_screen_columns(const char *text)
{
    int columns = 0;
    for (; *text; text += bytes_at(text)) columns += columns_at(text);
    return columns;
}

/* The end of the longest beginning that has room; the beginning of the longest end. */
static const char *first_part(const char *text, int columns)
{
    while (*text && (columns -= columns_at(text)) >= 0) text += bytes_at(text);
    return text;
}

static const char *last_part(const char *text, int columns)
{
    int more = nb_screen_columns(text) - columns;
    for (; *text && more > 0; text += bytes_at(text)) more -= columns_at(text);
    return text;
}

void nb_screen_shorten(const char *text, int columns, char *out, size_t size)
{
    static const char dots[] = "...";
    int room = columns - (int)strlen(dots);
    if (columns < 0) columns = 0;
    if (nb_screen_columns(text) <= columns)
        snprintf(out, size, "%s", text);
    else if (room < 2)
        snprintf(out, size, "%.*s", (int)(first_part(text, columns) - text), text);
    else
        snprintf(out, size, "%.*s%s%s", (int)(first_part(text, room / 2) - text), text, dots,
                 last_part(text, room - room / 2));
}

/* How far the cursor is below the first line. */
static int rows_down(const nb_screen *s)
{
    int columns, rows, down = 0;
    nb_screen_size(&columns, &rows);
    for (int i = 0; i < s->count; i++) down += s->columns[i] > 0 ? (s->columns[i] + columns - 1) / columns : 1;
    return down > 0 ? down - 1 : 0;
}

static void to_start(const nb_screen *s)
{
    int down = rows_down(s);
    if (down > 0) fprintf(stderr, "\033[%dA", down);
    fputc('\r', stderr);
}

void nb_screen_draw(nb_screen *s, int count, const char *const *lines)
{
    if (count > NB_SCREEN_LINES) count = NB_SCREEN_LINES;
    to_start(s);
    for (int i = 0; i < count; i++) {
        fprintf(stderr, "%s%s", lines[i], i < count - 1 ? "\033[K\r\n" : "\033[J");
        s->columns[i] = nb_screen_columns(lines[i]);
    }
    s->count = count;
}

void nb_screen_clear(nb_screen *s)
{
    if (s->count == 0) return;
    to_start(s);
    fputs("\033[J", stderr);
    s->count = 0;
}

void nb_screen_leave(nb_screen *s)
{
    if (s->count > 0) fputc('\n', stderr);
    s->count = 0;
}
