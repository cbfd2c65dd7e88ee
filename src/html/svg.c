/* SPDX-License-Identifier: GPL-3.0-or-later */
/* svg.c - read by expat, written anew from what is allowed. Groups that hold nothing, of which gnuplot writes many, are
 * left out, and so are blanks between elements. */
#include "html/svg.h"

#include "base/files.h"
#include "report/page.h"

#include <expat.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Words between blanks. */
static const char elements[] = " svg g defs title desc path polygon polyline rect circle ellipse line text tspan use "
                               "filter feFlood feComposite clipPath ";
static const char attributes[] =
    " viewBox width height x y x1 y1 x2 y2 dx dy r rx ry cx cy d points transform class opacity fill-opacity "
    "stroke-opacity fill-rule stroke-width stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray "
    "stroke-dashoffset shape-rendering font-family font-size font-style font-weight text-anchor text-decoration "
    "baseline-shift dominant-baseline textLength lengthAdjust rotate filterUnits flood-opacity in in2 operator result "
    "xml:space ";
static const char painted[] = " fill stroke color flood-color ";
static const char dropped[] = " xmlns xmlns:xlink version role aria-label pointer-events "; /* the page says its own */
static const struct {
    const char *name;
    int colour;
} names[] = {{"black", 0x000000}, {"white", 0xffffff}, {"lightgrey", 0xd3d3d3}, {"lightgray", 0xd3d3d3},
             {"grey", 0x808080},  {"gray", 0x808080},  {"red", 0xff0000}};

enum { MOST_OPEN = 64 };

typedef struct {
    const char *path, *prefix, *label;
    XML_Parser parser;
    FILE *out;
    nb_svg_colours *colours;
    int depth, texts; /* open elements; those of them that hold text */
    int skipped;      /* those that are left out */
    int waiting;      /* groups that are open and have nothing in them yet */
    char *groups[MOST_OPEN];
    nb_status status;
    nb_ctx *ctx;
} reader;

static bool among(const char *list, const char *name)
{
    char word[64];
    int length = snprintf(word, sizeof word, " %s ", name);
    return length < (int)sizeof word && strstr(list, word);
}

static void stop(reader *r, nb_status status)
{
    r->status = status;
    XML_StopParser(r->parser, XML_FALSE);
}

/* Expat 2.9 has the same under another name, and warns of the old one. */
static unsigned long line_of(const reader *r)
{
#if XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION < 9
    return (unsigned long)XML_GetCurrentLineNumber(r->parser);
#else
    return (unsigned long)XML_GetCurrentLineNumber64(r->parser);
#endif
}

static nb_status refuse(const reader *r, const char *what, const char *name)
{
    NB_FAIL(r->ctx, NB_EIO, "%s:%lu: a figure may not have the %s '%.80s'", r->path, line_of(r), what, name);
}

static nb_status add_colour(nb_svg_colours *c, int colour, nb_ctx *ctx)
{
    for (int i = 0; i < c->count; i++)
        if (c->items[i] == colour) return NB_OK;
    NB_GROW(ctx, c->items, c->count, c->room);
    c->items[c->count++] = colour;
    return NB_OK;
}

/* #rrggbb, rgb(r, g, b), or one of the names; -1: none of these. */
static int read_colour(const char *text)
{
    int r, g, b, end = 0;
    if (*text == '#' && strlen(text) == 7 && strspn(text + 1, "0123456789abcdefABCDEF") == 6)
        return (int)strtol(text + 1, NULL, 16);
    if (sscanf(text, "rgb( %d , %d , %d )%n", &r, &g, &b, &end) == 3 && end > 0 && !text[end] &&
        ((r | g | b) & ~0xff) == 0)
        return r << 16 | g << 8 | b;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, text) == 0) return names[i].colour;
    return -1;
}

static nb_status print_paint(reader *r, FILE *out, const char *name, const char *value)
{
    int colour = read_colour(value);
    if (strcmp(value, "none") == 0 || strcmp(value, "currentColor") == 0) {
        fprintf(out, " %s=\"%s\"", name, value);
        return NB_OK;
    }
    if (colour < 0) return refuse(r, "colour", value);
    fprintf(out, " %s=\"var(--c%06x)\"", name, (unsigned)colour);
    return add_colour(r->colours, colour, r->ctx);
}

/* "#id" or "url(#id)": to something of the figure. */
static nb_status print_reference(const reader *r, FILE *out, const char *name, const char *value)
{
    bool url = strncmp(value, "url(#", 5) == 0 && strcspn(value, ")") + 1 == strlen(value);
    if (!url && *value != '#') return refuse(r, "reference", value);
    fprintf(out, " %s=\"%s#%s", name, url ? "url(" : "", r->prefix);
    nb_page_escape(out, value + (url ? 5 : 1));
    fputc('"', out);
    return NB_OK;
}

static nb_status print_attribute(reader *r, FILE *out, const char *name, const char *value)
{
    if (among(dropped, name)) return NB_OK;
    if (among(painted, name)) return print_paint(r, out, name, value);
    if (strcmp(name, "xlink:href") == 0 || strcmp(name, "href") == 0) return print_reference(r, out, "href", value);
    if (strcmp(name, "filter") == 0 || strcmp(name, "clip-path") == 0) return print_reference(r, out, name, value);
    bool id = strcmp(name, "id") == 0;
    if (!id && !among(attributes, name)) return refuse(r, "attribute", name);
    fprintf(out, " %s=\"%s", name, id ? r->prefix : "");
    nb_page_escape(out, value);
    fputc('"', out);
    return NB_OK;
}

static nb_status print_tag(reader *r, FILE *out, const char *name, const char **pairs)
{
    fprintf(out, "<%s", name);
    for (; *pairs; pairs += 2) NB_TRY(r->ctx, print_attribute(r, out, pairs[0], pairs[1]));
    if (r->depth == 0) {
        fputs(" role=\"img\" aria-label=\"", out);
        nb_page_escape(out, r->label);
        fputc('"', out);
    }
    fputc('>', out);
    return NB_OK;
}

/* Keeps the tag of a group until there is something in it. */
static nb_status hold(reader *r, const char **pairs)
{
    size_t size;
    NB_REQUIRE(r->ctx, r->waiting < MOST_OPEN, NB_EIO, "%s:%lu: more than %d groups within each other", r->path,
               line_of(r), MOST_OPEN);
    FILE *out = open_memstream(&r->groups[r->waiting], &size);
    NB_REQUIRE(r->ctx, out, NB_ENOMEM, "out of memory: a figure");
    nb_status status = print_tag(r, out, "g", pairs);
    if (fclose(out) != 0 && status == NB_OK) status = NB_ENOMEM;
    r->waiting++;
    return status;
}

static void release(reader *r)
{
    for (int i = 0; i < r->waiting; i++) {
        fputs(r->groups[i], r->out);
        free(r->groups[i]);
    }
    r->waiting = 0;
}

static bool holds_text(const char *name)
{
    return strcmp(name, "text") == 0 || strcmp(name, "tspan") == 0 || strcmp(name, "title") == 0 ||
           strcmp(name, "desc") == 0;
}

static nb_status start_element(reader *r, const char *name, const char **pairs)
{
    if (!among(elements, name) || (r->depth == 0) != (strcmp(name, "svg") == 0)) return refuse(r, "element", name);
    bool group = strcmp(name, "g") == 0;
    if (!group) release(r);
    NB_TRY(r->ctx, group ? hold(r, pairs) : print_tag(r, r->out, name, pairs));
    r->depth++;
    r->texts += holds_text(name);
    return NB_OK;
}

/* The title of the whole figure, which is gnuplot's; the page has its own. */
static bool is_title(const reader *r, const char *name)
{
    return r->depth == 1 && (strcmp(name, "title") == 0 || strcmp(name, "desc") == 0);
}

static void on_start(void *data, const char *name, const char **pairs)
{
    reader *r = data;
    if (r->skipped > 0 || is_title(r, name)) {
        r->skipped++;
        return;
    }
    nb_status status = start_element(r, name, pairs);
    if (status != NB_OK) stop(r, status);
}

static void on_end(void *data, const char *name)
{
    reader *r = data;
    if (r->skipped > 0) {
        r->skipped--;
        return;
    }
    r->depth--;
    r->texts -= holds_text(name);
    if (r->waiting > 0 && strcmp(name, "g") == 0)
        free(r->groups[--r->waiting]);
    else
        fprintf(r->out, "</%s>", name);
}

static void on_text(void *data, const char *text, int length)
{
    reader *r = data;
    if (r->texts == 0 || r->skipped > 0) return;
    for (int i = 0; i < length; i++) nb_page_escape_character(r->out, text[i]);
}

/* A document type may define entities, which no figure needs. */
static void on_doctype(void *data, const char *name, const char *system, const char *public, int has_subset)
{
    reader *r = data;
    (void)system, (void)public, (void)has_subset;
    stop(r, refuse(r, "document type", name));
}

static nb_status parse(reader *r, const char *text)
{
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetCharacterDataHandler(r->parser, on_text);
    XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
    enum XML_Status parsed = XML_Parse(r->parser, text, (int)strlen(text), 1);
    NB_TRY(r->ctx, r->status);
    NB_REQUIRE(r->ctx, parsed == XML_STATUS_OK, NB_EIO, "%s:%lu: is not an SVG figure: %s", r->path, line_of(r),
               XML_ErrorString(XML_GetErrorCode(r->parser)));
    return NB_OK;
}

nb_status nb_svg_read(const char *path, const char *prefix, const char *label, nb_svg_colours *colours,
                      const char **svg, nb_ctx *ctx)
{
    reader r = {.path = path, .prefix = prefix, .label = label, .colours = colours, .ctx = ctx};
    const char *text;
    char *printed;
    size_t size;
    NB_TRY(ctx, nb_read_file(path, &text, ctx));
    NB_REQUIRE(ctx, r.out = open_memstream(&printed, &size), NB_ENOMEM, "out of memory: a figure");
    r.parser = XML_ParserCreate(NULL);
    nb_status status = r.parser ? parse(&r, text) : NB_ENOMEM;
    XML_ParserFree(r.parser);
    while (r.waiting > 0) free(r.groups[--r.waiting]);
    bool whole = fclose(r.out) == 0;
    NB_TRY(ctx, nb_defer(ctx, free, printed));
    NB_TRY(ctx, status);
    NB_REQUIRE(ctx, whole, NB_ENOMEM, "out of memory: a figure");
    *svg = printed;
    return NB_OK;
}

/* Of an sRGB colour, from 0 to 1 (WCAG 2). */
static double luminance(int colour)
{
    static const double weights[] = {0.2126, 0.7152, 0.0722};
    double sum = 0;
    for (int i = 0; i < 3; i++) {
        double c = (colour >> (16 - 8 * i) & 0xff) / 255.0;
        sum += weights[i] * (c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4));
    }
    return sum;
}

/* From `a` to `b`, share 0 to 1. */
static int mix(int a, int b, double share)
{
    int mixed = 0;
    for (int shift = 16; shift >= 0; shift -= 8) {
        double x = a >> shift & 0xff, y = b >> shift & 0xff;
        mixed |= (int)lround(x + (y - x) * share) << shift;
    }
    return mixed;
}

int nb_svg_dark(int colour)
{
    enum { INK = 0xe4e6eb, PAPER = 0x16181d, WHITE = 0xffffff }; /* report.css has them too */
    const double least = 5 * (luminance(PAPER) + 0.05) - 0.05;   /* a contrast of 5 to 1 */
    int r = colour >> 16, g = colour >> 8 & 0xff, b = colour & 0xff;
    double share = 0;
    if (r == g && g == b) return mix(INK, PAPER, r / 255.0);
    while (luminance(mix(colour, WHITE, share)) < least) share += 0.05;
    return mix(colour, WHITE, share);
}
