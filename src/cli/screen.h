/* SPDX-License-Identifier: GPL-3.0-or-later */
/* screen.h - some lines at the end of a terminal, on standard error, that are drawn again in their place. */
#ifndef NB_SCREEN_H
#define NB_SCREEN_H

#include <stddef.h>

enum { NB_SCREEN_LINES = 24, NB_SCREEN_BYTES = 640 }; /* at most; of a line, with its 0 */

typedef struct {
    int count; /* of the lines that stand there; the cursor is at the start of the first */
} nb_screen;

/* Of the terminal, as COLUMNS in the environment or the terminal says; 80 and 24 if neither does. A line may have one
 * column less: in the last one some terminals go on to the next line. */
void nb_screen_size(int *columns, int *rows);

/* The columns of a text in UTF-8: two for a character that is wide in most fonts. */
int nb_screen_columns(const char *text);

/* As many whole characters of the text as have room in so many columns, the middle left out ("abc...xyz") if there are
 * more; `out` has `size` bytes. */
void nb_screen_shorten(const char *text, int columns, char *out, size_t size);

/* Draws these lines in the place of those that are there, whatever a terminal of another size has made of them; none is
 * wider than nb_screen_size allows. */
void nb_screen_draw(nb_screen *screen, int count, const char *const *lines);

/* Removes the lines; the cursor is where the first one began. */
void nb_screen_clear(nb_screen *screen);

/* Goes on to what is below them, for good. */
void nb_screen_leave(nb_screen *screen);

#endif
