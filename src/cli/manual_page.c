/* SPDX-License-Identifier: GPL-3.0-or-later */
/* manual_page.c - see manual_page.h */
#include "cli/manual_page.h"

#include "base/text.h"
#include "base/version.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 4, ROFF_WIDTH = 78 };

/* Returns the character that begins there, and its bytes; a byte that begins none counts as itself. */
static unsigned take_character(const char *at, int *bytes)
{
    unsigned char first = (unsigned char)*at;
    int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
    unsigned code = more == 3 ? first & 0x07u : more == 2 ? first & 0x0fu : more ? first & 0x1fu : first;
    for (int i = 1; i <= more; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            *bytes = 1;
            return first;
        }
        code = code << 6 | ((unsigned char)at[i] & 0x3fu);
    }
    *bytes = more + 1;
    return code;
}

/* Escapes characters that have a meaning in roff, or look different on paper than in a terminal. */
static void escape_roff(FILE *out, const char *text)
{
    static const struct {
        char sign;
        const char *roff;
    } signs[] = {{'\\', "\\e"}, {'-', "\\-"}, {'\'', "\\(aq"}, {'`', "\\(ga"}, {'^', "\\(ha"}, {'~', "\\(ti"}};
    enum { SIGNS = sizeof signs / sizeof *signs };
    for (int bytes; *text; text += bytes) {
        unsigned code = take_character(text, &bytes);
        size_t s = 0;
        while (s < SIGNS && (unsigned char)signs[s].sign != code) s++;
        if (s < SIGNS)
            fputs(signs[s].roff, out);
        else if (code >= 0x80)
            fprintf(out, "\\[u%04X]", code);
        else
            fputc((int)code, out);
    }
}

void nb_manual_escape(const nb_manual_page *p, FILE *out, const char *text, bool code)
{
    if (!p->roff) {
        fputs(text, out);
        return;
    }
    if (code) fputs("\\fB", out);
    escape_roff(out, text);
    if (code) fputs("\\fR", out);
}

static char *escaped(nb_manual_page *p, const char *text, bool code)
{
    char *copy = NULL, *whole;
    size_t size;
    FILE *memory = open_memstream(&copy, &size);
    if (memory) nb_manual_escape(p, memory, text, code);
    if (!memory || fclose(memory) != 0) {
        p->status = p->status ? p->status : NB_ENOMEM;
        free(copy);
        return NULL;
    }
    whole = nb_strdup(p->ctx, copy);
    free(copy);
    if (!whole) p->status = NB_ENOMEM;
    return whole;
}

/* Words in lines, the first behind `before`, which takes `indent` columns. */
void nb_manual_fill(nb_manual_page *p, const char *before, int indent, const char *text)
{
    if (p->status != NB_OK) return;
    nb_text_fill(p->out, before, indent, p->roff ? ROFF_WIDTH : p->width, p->roff ? "\\&" : "", text);
}

static int indent_of(const nb_manual_page *p)
{
    return p->roff ? 0 : INDENT * (1 + p->depth);
}

void nb_manual_break(nb_manual_page *p)
{
    if (p->status != NB_OK) return;
    if (!p->at_start) fputs(!p->roff ? "\n" : p->depth ? ".sp\n" : ".PP\n", p->out);
    p->at_start = false;
}

void nb_manual_begin(nb_manual_page *p, const char *name, int section, const char *date)
{
    if (!p->roff) return;
    char *title = escaped(p, name, false);
    if (!title) return;
    for (char *c = title; *c; c++) *c = (char)toupper((unsigned char)*c);
    fprintf(p->out,
            ".\\\" made by 'nysbench help --man': do not edit\n.TH %s %d %s \"nysbench %s\" \"nysbench manual\"\n",
            title, section, date, NB_VERSION);
}

void nb_manual_heading(nb_manual_page *p, int level, const char *text)
{
    char *words = escaped(p, text, false);
    if (p->status != NB_OK) return;
    if (p->roff)
        fprintf(p->out, ".%s \"%s\"\n", level == 1 ? "SH" : "SS", words);
    else
        fprintf(p->out, "%s%*s%s\n", p->begun ? "\n" : "", level == 1 ? 0 : INDENT / 2, "", words);
    p->begun = p->at_start = true;
}

void nb_manual_paragraph(nb_manual_page *p, const char *text)
{
    char *words = escaped(p, text, false);
    nb_manual_break(p);
    if (words) nb_manual_fill(p, "", indent_of(p), words);
}

void nb_manual_point(nb_manual_page *p, const char *mark, const char *words)
{
    if (p->status != NB_OK) return;
    if (p->roff) fprintf(p->out, ".IP %s 4\n", *mark == '*' ? "\\(bu" : mark);
    if (!p->roff && !p->at_start && p->depth == 0) fputc('\n', p->out);
    nb_manual_fill(p, p->roff ? "" : mark, indent_of(p) + (p->roff ? 0 : (int)strlen(mark)), words);
    p->at_start = false;
}

void nb_manual_term(nb_manual_page *p, const char *term, const char *words)
{
    if (p->status != NB_OK) return;
    if (p->roff)
        fputs(".TP\n", p->out);
    else if (!p->at_start)
        fputc('\n', p->out);
    nb_manual_fill(p, "", indent_of(p), term);
    if (*words) nb_manual_fill(p, "", indent_of(p) + (p->roff ? 0 : INDENT), words);
    p->at_start = false;
}

void nb_manual_item(nb_manual_page *p, const char *term, const char *text)
{
    char *bold = escaped(p, term, true), *words = escaped(p, text, false);
    if (bold && words) nb_manual_term(p, bold, words);
}

void nb_manual_code(nb_manual_page *p, const char *text)
{
    char *lines = escaped(p, text, false);
    nb_manual_break(p);
    if (p->status != NB_OK) return;
    if (p->roff) fputs(".RS 4\n.nf\n", p->out);
    for (const char *line = lines; *line;) {
        size_t bytes = strcspn(line, "\n");
        if (p->roff && *line == '.') fputs("\\&", p->out);
        if (!p->roff && bytes > 0) fprintf(p->out, "%*s", indent_of(p) + INDENT, "");
        fprintf(p->out, "%.*s\n", (int)bytes, line);
        line += bytes + (line[bytes] == '\n');
    }
    if (p->roff) fputs(".fi\n.RE\n", p->out);
}
