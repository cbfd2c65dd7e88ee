/* SPDX-License-Identifier: GPL-3.0-or-later */
/* screen.c - see screen.h. The sequences are those of ECMA-48: up (CUU), erase to the end of the line (EL) and of the
 * screen (ED); and DEC's private mode 7, in which a line that is too long goes on in the next one.
 *
 * What a terminal of another size makes of old lines is its own affair: one cuts them, another breaks them, or joins
 * again what it broke, so that nobody can count the rows from the last line up to the first. But they leave the cursor
 * in its place in the text, as long as that is on the screen; so it waits at the start of the first line. */
#include "commands/screen.h"

#include "base/numbers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

int nb_terminal_columns(int file)
{
    enum { MOST = 100000 };
    const char *told = getenv("COLUMNS");
    struct winsize size;
    int columns;
    if (told && nb_parse_int(told, 1, MOST, &columns)) return columns;
    return ioctl(file, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void nb_screen_size(int *columns, int *rows)
{
    struct winsize size;
    *columns = nb_terminal_columns(STDERR_FILENO);
    if (*columns == 0) *columns = 80;
    *rows = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
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

/* Returns the end of the longest beginning that has room; the beginning of the longest end. */
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

/* In one piece, lest the size change in the midst of it; what was made for a wider terminal is cut, not broken. An old
 * line is erased first, else tmux remembers that it had broken it and joins it to the next when there is room again. */
void nb_screen_draw(nb_screen *s, int count, const char *const *lines)
{
    char text[NB_SCREEN_LINES * (NB_SCREEN_BYTES + 8) + 32];
    if (count > NB_SCREEN_LINES) count = NB_SCREEN_LINES;
    int bytes = sprintf(text, "\r\033[?7l");
    for (int i = 0; i < count; i++) {
        const char *end = i < count - 1 ? "\r\n" : "\033[J";
        bytes += sprintf(text + bytes, "\033[K%.*s%s", NB_SCREEN_BYTES - 1, lines[i], end);
    }
    bytes += sprintf(text + bytes, "\033[?7h\r");
    if (count > 1) bytes += sprintf(text + bytes, "\033[%dA", count - 1);
    fwrite(text, 1, (size_t)bytes, stderr);
    s->count = count;
}

void nb_screen_clear(nb_screen *s)
{
    if (s->count > 0) fputs("\r\033[J", stderr);
    s->count = 0;
}

void nb_screen_leave(nb_screen *s)
{
    for (; s->count > 0; s->count--) fputc('\n', stderr);
}
