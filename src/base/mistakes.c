/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mistakes.c - the collected mistakes, and the nearest valid name: least edit distance (Levenshtein 1966) of at most a
 * third of the name's length, at least 2, else one that has what was given as a part. */
#include "base/mistakes.h"

#include "base/builder.h"
#include "base/lookalikes.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

nb_place nb_place_shift(nb_place place, int columns)
{
    if (place.line > 0) place.column += columns;
    return place;
}

/* Names the first lookalike in a message, which quotes what is wrong, unless the message itself does. */
static nb_status explain(const char *message, const char **explained, nb_ctx *ctx)
{
    const char *found = nb_lookalike(message, SIZE_MAX), *told;
    *explained = message;
    if (!found) return NB_OK;
    NB_NEED(told, nb_lookalike_told(found, ctx));
    const char *join = message[strlen(message) - 1] == '?' ? " The" : "; the";
    if (!strstr(message, told)) NB_NEED(*explained, nb_format(ctx, "%s%s text has %s", message, join, told));
    return NB_OK;
}

static char *located(nb_ctx *ctx, nb_place place, const char *message)
{
    if (!place.source) return nb_strdup(ctx, message);
    if (place.line == 0) return nb_format(ctx, "%s: %s", place.source, message);
    return nb_format(ctx, "%s:%d:%d: %s", place.source, place.line, place.column, message);
}

nb_status nb_mistakes_add(nb_mistakes *mistakes, nb_place place, const char *format, ...)
{
    char message[1024];
    const char *explained;
    va_list args;
    va_start(args, format);
    nb_print_cut(message, sizeof message, format, args);
    va_end(args);
    NB_TRY(mistakes->ctx, explain(message, &explained, mistakes->ctx));
    NB_GROW(mistakes->ctx, mistakes->texts, mistakes->count, mistakes->capacity);
    char *text;
    NB_NEED(text, located(mistakes->ctx, place, explained));
    mistakes->texts[mistakes->count++] = text;
    return NB_OK;
}

nb_status nb_mistakes_append(nb_mistakes *mistakes, const nb_mistakes *others)
{
    for (int i = 0; i < others->count; i++) {
        NB_GROW(mistakes->ctx, mistakes->texts, mistakes->count, mistakes->capacity);
        mistakes->texts[mistakes->count++] = others->texts[i];
    }
    return NB_OK;
}

nb_status nb_mistakes_take(nb_mistakes *mistakes, nb_place place, nb_status status)
{
    if (status == NB_OK || status == NB_ENOMEM) return status;
    char message[1024];
    snprintf(message, sizeof message, "%s", nb_error_message(mistakes->ctx));
    nb_error_clear(mistakes->ctx);
    return nb_mistakes_add(mistakes, place, "%s", message);
}

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Edit distance of two names; names longer than the row count as far apart. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 64 };
    size_t na = strlen(a), nb = strlen(b);
    int row[LONGEST + 1];
    if (na > LONGEST || nb > LONGEST) return LONGEST;
    for (size_t j = 0; j <= nb; j++) row[j] = (int)j;
    for (size_t i = 1; i <= na; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= nb; j++) {
            int above = row[j];
            row[j] = least(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[nb];
}

/* Returns the nearest name by spelling, of equally near ones the first; of those that come behind the name at `last` in
 * this order, -1: of all. -1: there is none. */
static int nearest(const char *given, const char *const *names, int last)
{
    int last_distance = last < 0 ? -1 : distance(given, names[last]), best = -1, best_distance = 0;
    for (int i = 0; names[i]; i++) {
        int d = distance(given, names[i]);
        if ((d > last_distance || (d == last_distance && i > last)) && (best < 0 || d < best_distance))
            best = i, best_distance = d;
    }
    return best;
}

/* Returns the name that papers use for it, if there is one. */
static const char *synonym(const char *given, const char *const *names)
{
    static const struct {
        const char *symbol, *name;
    } known[] = {{"m", "landmarks"}, {"X", "core"},    {"X", "cores"},   {"S", "kernel"},
                 {"S", "kernels"},   {"pinv", "core"}, {"pinv", "cores"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (const char *const *name = names; strcmp(known[i].symbol, given) == 0 && *name; name++)
            if (strcmp(*name, known[i].name) == 0) return *name;
    return NULL;
}

/* Returns the first name of which as much is given as tells one from another; NULL: none. */
static const char *completed(const char *given, const char *const *names)
{
    enum { TELLING = 3 };
    while (*names && !strstr(*names, given)) names++;
    return strlen(given) >= TELLING ? *names : NULL;
}

const char *nb_near(const char *given, const char *const *names)
{
    const char *same = synonym(given, names);
    int best = nearest(given, names, -1), limit = best < 0 ? 0 : (int)strlen(names[best]) / 3;
    bool near = best >= 0 && distance(given, names[best]) <= (limit > 2 ? limit : 2);
    return same ? same : near ? names[best] : completed(given, names);
}

const char *nb_hint(const char *given, const char *const *names, nb_ctx *ctx)
{
    enum { FEW = 12, LISTED = 3 };
    const char *near = nb_near(given, names);
    int count = 0;
    if (near) return nb_format(ctx, "; did you mean '%s'?", near);
    if (!*names) return "; there are none";
    while (names[count]) count++;
    nb_string list = NB_NO_TEXT;
    for (int i = 0, at = -1; i < (count > FEW ? LISTED : count); i++) {
        at = count > FEW ? nearest(given, names, at) : i;
        if (nb_append_item(&list, ", ", ctx, "%s", names[at]) != NB_OK) return NULL;
    }
    return nb_format(ctx, "; %s: %s", count > FEW ? "the nearest" : "allowed", list.text);
}
