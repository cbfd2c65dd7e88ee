/* SPDX-License-Identifier: GPL-3.0-or-later */
/* screen.h - lines at the end of a terminal, on standard error, that are redrawn in place. */
#ifndef NB_SCREEN_H
#define NB_SCREEN_H

#include <stddef.h>

enum { NB_SCREEN_LINES = 24, NB_SCREEN_BYTES = 640 }; /* most lines; most bytes of a line, with its 0 */

typedef struct {
    int count; /* number of lines shown; the cursor is at the start of the first */
} nb_screen;

/* Returns the columns of a terminal: COLUMNS of the environment, else what the terminal behind the file says; 0:
 * neither does. */
int nb_terminal_columns(int file);

/* Returns the size of the terminal of standard error, or 80 and 24. A line may have one column less, since in the last
 * column some terminals wrap. */
void nb_screen_size(int *columns, int *rows);

/* Returns the columns of a text in UTF-8: two for a character that is wide in most fonts. */
int nb_screen_columns(const char *text);

/* Copies as many whole characters of the text as fit into so many columns, leaving out the middle ("abc...xyz") if
 * needed; `out` has `size` bytes. */
void nb_screen_shorten(const char *text, int columns, char *out, size_t size);

/* Draws these lines in place of those shown, even if the terminal was resized since; none may be wider than
 * nb_screen_size allows. */
void nb_screen_draw(nb_screen *screen, int count, const char *const *lines);

/* Removes the lines; the cursor stays where the first one began. */
void nb_screen_clear(nb_screen *screen);

/* Leaves the lines as they are, and moves below them. */
void nb_screen_leave(nb_screen *screen);

#endif
