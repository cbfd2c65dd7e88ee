/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_page.c - pages as text and Markdown: small ones by hand, and random tables at many widths, of which no line may
 * be too wide, no cell lost, and no two rows alike. */
#include "pages.h"

#include <gsl/gsl_rng.h>
#include <math.h>

/* NOLINT(wording): the words are those that a test has put on the page */
static void expect(const nb_page *page, nb_page_form form, int width, const char *expected, nb_ctx *ctx)
{
    assert_string_equal(page_text(page, form, width, ctx), expected);
}

static void make_small(nb_page *page, nb_ctx *ctx)
{
    nb_page_make(page, ctx);
    nb_page_heading(page, 2, "Errors of %s", "a|b");
    nb_page_paragraph(page, "n = %d, <d> = 4", 48);
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_LABEL, "landmarks");
    nb_page_column(page, NB_PAGE_NUMBER, "%d", 4);
    nb_page_column(page, NB_PAGE_NUMBER, "%d", 8);
    nb_page_band(page, "core", "six|steps_");
    nb_page_row(page);
    nb_page_cell(page, "uniform");
    nb_page_numeral(page, "(", "0.91", ")~");
    nb_page_number(page, "%.3g", 0.7);
    nb_page_band(page, NULL, NULL);
    nb_page_row(page);
    nb_page_cell(page, "best");
    nb_page_note(page, NULL, "no test: %d sources", 3);
    nb_page_note(page, "~", "rounding noise");
    nb_page_paragraph(page, "1. is no list");
    nb_page_item(page, "one");
}

static const char small_text[] = "Errors of a|b\n"
                                 "n = 48, <d> = 4\n"
                                 "  landmarks      4      8\n"
                                 "  six|steps_\n"
                                 "    uniform  (0.91)~  0.7\n"
                                 "  best\n"
                                 "  no test: 3 sources\n"
                                 "  ~ rounding noise\n"
                                 "\n"
                                 "1. is no list\n"
                                 "  one\n";

static void test_text(void **state)
{
    nb_page page;
    make_small(&page, *state);
    expect(&page, NB_PAGE_TEXT, 0, small_text, *state);
    expect(&page, NB_PAGE_TEXT, 25, small_text, *state);
}

static void test_markdown(void **state)
{
    nb_page page;
    make_small(&page, *state);
    expect(&page, NB_PAGE_MARKDOWN, 0,
           "## Errors of a|b\n\n"
           "n = 48, \\<d> = 4\n\n"
           "| core | landmarks | 4 | 8 |\n"
           "|---|---|---:|---:|\n"
           "| six\\|steps\\_ | uniform | (0.91)\\~ | 0.7 |\n"
           "|  | best |  |  |\n\n"
           "* no test: 3 sources\n"
           "* **\\~** rounding noise\n\n"
           "1\\. is no list\n\n"
           "* one\n",
           *state);
}

static void add_titled(nb_page *page, const char *title, int rows)
{
    nb_page_title(page, 3, title);
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_LABEL, "x");
    for (int i = 0; i < rows; i++) {
        nb_page_row(page);
        nb_page_cell(page, "y");
    }
}

/* A caption has the items, a line each, that the titles of two tables share; a part's name has the others. */
static void test_latex_titles(void **state)
{
    static const struct {
        const char *titles[4], *expected;
    } known[] = {{{"core a\npairing p\nfactors f", "core a\npairing p\nfactors g", "core a\npairing q\nfactors f",
                   "core a\npairing q\nfactors g"},
                  "<h: core a, pairing p><factors f><factors g><h: core a, pairing q><factors f><factors g>"},
                 {{"a\nb", "a\nc\nb", "a\nc\nb", "a\nb"}, "<h><a, b><a, c, b><h; continued><a, c, b><a, b>"},
                 {{"u(n=48, d=8)\nb", "u(n=65, d=8)\nb", "u(n=48), v", "u(n=48), w"},
                  "<h: b><u(n=48, d=8)><u(n=65, d=8)><h><u(n=48), v><u(n=48), w>"},
                 {{"one", "two", "u(a)", "u(a, b)"}, "<h><one><two><h; continued><u(a)><u(a, b)>"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char found[400] = "";
        nb_page page;
        nb_page_make(&page, *state);
        nb_page_heading(&page, 2, "h");
        for (int t = 0; t < 4; t++) add_titled(&page, known[i].titles[t], 15);
        for (const char *at = page_text(&page, NB_PAGE_LATEX, 0, *state); *at; at += strcspn(at, "\n") + 1) {
            const char *begin = strncmp(at, "\\caption{", 9) == 0 ? at + 9 : at;
            const char *end = begin > at ? strstr(begin, ".}\n") : strstr(at, " & y ");
            if (end && end > at && end < strchr(at, '\n') + (begin > at))
                snprintf(found + strlen(found), sizeof found - strlen(found), "<%.*s>", (int)(end - begin), begin);
        }
        assert_string_equal(found, known[i].expected);
    }
}

/* What is for a paper is what was said of a paragraph, whatever its text and wherever below the table it stands. */
static void test_latex_uses(void **state)
{
    nb_page page;
    nb_page_make(&page, *state);
    nb_page_prose(&page, NB_PAGE_SHARED, "shared by --all:");
    nb_page_paragraph(&page, "an aside");
    add_titled(&page, "part", 1);
    nb_page_note(&page, "*", "a mark");
    nb_page_prose(&page, NB_PAGE_REMARK, "refused; --confounded compares");
    nb_page_prose(&page, NB_PAGE_HOLDS, "medians:");
    nb_page_paragraph(&page, "In the table.");
    nb_page_item(&page, "one");
    expect(&page, NB_PAGE_LATEX, 0,
           "% \\usepackage{booktabs,siunitx}\n"
           "% shared by --all:\n"
           "% an aside\n"
           "% part\n"
           "\\begin{table}\n\\centering\n"
           "\\caption{part; shared by --all:. medians:}\n"
           "\\begin{tabular}{l}\n\\toprule\n{x} \\\\\n\\midrule\ny \\\\\n\\bottomrule\n\\end{tabular}\n"
           "\\par\\footnotesize * a mark\n"
           "\\par\\footnotesize refused; --confounded compares\n"
           "% In the table.\n"
           "\\end{table}\n"
           "% one\n",
           *state);
}

/* A paragraph that belongs to a table is not lost where the next table could be one with it. */
static void test_latex_between(void **state)
{
    static const struct {
        nb_page_use use;
        int tables;
        const char *found; /* NOLINT(wording): the words are the test's */
    } known[] = {{NB_PAGE_HOLDS, 2, "\\caption{one. it holds}"},
                 {NB_PAGE_REMARK, 2, "\\par\\footnotesize it holds\n\\end{table}"},
                 {NB_PAGE_ABOVE, 1, "\\par\\footnotesize two: it holds\n\\end{table}"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        nb_page page;
        int tables = 0;
        nb_page_make(&page, *state);
        add_titled(&page, "one", 1);
        if (known[i].tables == 2) nb_page_prose(&page, known[i].use, "it holds");
        nb_page_title(&page, 3, "two");
        if (known[i].tables == 1) nb_page_prose(&page, known[i].use, "it holds");
        nb_page_table(&page);
        nb_page_column(&page, NB_PAGE_LABEL, "x");
        nb_page_row(&page);
        nb_page_cell(&page, "y");
        const char *latex = page_text(&page, NB_PAGE_LATEX, 0, *state);
        for (const char *at = latex; (at = strstr(at, "\\begin{table}")); at++) tables++;
        assert_int_equal(tables, known[i].tables);
        assert_non_null(strstr(latex, known[i].found));
    }
}

/* A formula is what was said to be one, whatever bars the text has; what is right above all parts is of the caption. */
static void test_latex_captions(void **state)
{
    for (int differ = 0; differ < 2; differ++) {
        nb_page page;
        nb_page_make(&page, *state);
        nb_page_heading(&page, 2, "|a|_F of |S - X|_F / |S|_F by |b|_F");
        nb_page_formula(&page, "|S - X|_F / |S|_F");
        for (int i = 0; i < 2; i++) {
            nb_page_title(&page, 3, i == 0 ? "one" : "two");
            nb_page_prose(&page, NB_PAGE_SHARED, "n = %d", differ * i);
            nb_page_table(&page);
            nb_page_column(&page, NB_PAGE_LABEL, "x");
            nb_page_row(&page);
            nb_page_cell(&page, "y");
        }
        const char *latex = page_text(&page, NB_PAGE_LATEX, 0, *state);
        const char *heading =
            "{\\textbar{}a\\textbar{}\\_F of $\\|S - X\\|_F / \\|S\\|_F$ by \\textbar{}b\\textbar{}\\_F";
        assert_non_null(strstr(latex, nb_format(*state, "%s%s.}\n", heading, differ ? "" : "; n = 0")));
        assert_int_equal(strstr(latex, " one: n = 0\n") != NULL, differ);
        assert_int_equal(strstr(latex, " two: n = 1\n") != NULL, differ);
    }
}

/* A number is what was added as one, whatever a text looks like: all else stands in braces among numbers. */
static void test_latex_cells(void **state)
{
    nb_page page;
    nb_page_make(&page, *state);
    nb_page_table(&page);
    nb_page_column(&page, NB_PAGE_LABEL, "m");
    for (int c = 0; c < 6; c++) nb_page_column(&page, NB_PAGE_NUMBER, "%d", c);
    nb_page_row(&page);
    nb_page_cell(&page, "16");
    nb_page_cell(&page, "16");
    nb_page_numeral(&page, "(", "2.385", ")*");
    nb_page_numeral(&page, "3/5", "", "*");
    nb_page_number(&page, "%.2f", -0.001);
    nb_page_number(&page, "%.3g", NAN);
    nb_page_number(&page, "%.3g", INFINITY);
    const char *latex = page_text(&page, NB_PAGE_LATEX, 0, *state);
    assert_non_null(strstr(latex, "16 & {16} & {(}2.385{)*} & {3/5*} & 0.00 & {-} & {inf} \\\\\n"));
}

/* Bold is decoration: without its sequences, the same. */
static void test_terminal(void **state)
{
    nb_page page;
    int sequences = 0;
    make_small(&page, *state);
    char *text = nb_strdup(*state, page_text(&page, NB_PAGE_TERMINAL, 0, *state)), *to = text;
    for (const char *at = text; *at; at++)
        if (*at == '\033')
            at = strchr(at, 'm'), sequences++;
        else
            *to++ = *at;
    *to = '\0';
    assert_string_equal(text, small_text);
    assert_int_equal(sequences, 2 + 2 * 3);
}

/* A list of names and sentences: these go on below; what begins with blanks keeps them. */
static void test_prose(void **state)
{
    nb_page page;
    nb_page_make(&page, *state);
    nb_page_table(&page);
    nb_page_headless(&page);
    nb_page_column(&page, NB_PAGE_LABEL, "key");
    nb_page_column(&page, NB_PAGE_PROSE, "value");
    nb_page_row(&page);
    nb_page_cell(&page, "flags");
    nb_page_cell(&page, "  - one of many and a few more");
    nb_page_row(&page);
    nb_page_cell(&page, "id");
    nb_page_cell(&page, "0123456789012345678901234567890123456789");
    expect(&page, NB_PAGE_TEXT, 33,
           "  flags    - one of many and a\n"
           "         few more\n"
           "  id     0123456789012345678901234567890123456789\n",
           *state);
    nb_page_flush(&page);
    expect(&page, NB_PAGE_TEXT, 31,
           "flags    - one of many and a\n"
           "       few more\n"
           "id     0123456789012345678901234567890123456789\n",
           *state);
    expect(&page, NB_PAGE_MARKDOWN, 0,
           "| key | value |\n|---|---|\n| flags |   - one of many and a few more |\n"
           "| id | 0123456789012345678901234567890123456789 |\n",
           *state);
}

/* Numbers stand below each other beside labels of narrow, wide and combining characters; what is cut is cut at a
 * column, and not between a letter and its mark. */
static void test_columns(void **state)
{
    static const char *const labels[] = {"ab", "要約の方法", "cafe\u0301", "Ａ한"};
    nb_page page;
    nb_page_make(&page, *state);
    nb_page_table(&page);
    nb_page_column(&page, NB_PAGE_LABEL, "方法");
    nb_page_column(&page, NB_PAGE_NUMBER, "誤差");
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++) {
        nb_page_row(&page);
        nb_page_cell(&page, "%s", labels[i]);
        nb_page_cell(&page, "0.%zu", i);
    }
    expect(&page, NB_PAGE_TEXT, 0,
           "  方法        誤差\n"
           "  ab           0.0\n"
           "  要約の方法   0.1\n"
           "  cafe\u0301         0.2\n"
           "  Ａ한         0.3\n",
           *state);
    nb_page_make(&page, *state);
    nb_page_table(&page);
    nb_page_column(&page, NB_PAGE_LABEL, "l");
    nb_page_column(&page, NB_PAGE_NUMBER, "n");
    for (int i = 1; i < 3; i++) {
        nb_page_row(&page);
        nb_page_cell(&page, "要約の方法についての長い名前%d", i);
        nb_page_cell(&page, "0.%d", i);
    }
    expect(&page, NB_PAGE_TEXT, 20,
           "  l               n\n"
           "  要約...名前1  0.1\n"
           "  要約...名前2  0.2\n",
           *state);
}

static void test_empty(void **state)
{
    nb_page page;
    nb_page_make(&page, *state);
    expect(&page, NB_PAGE_TEXT, 80, "", *state);
    nb_page_table(&page);
    nb_page_column(&page, NB_PAGE_LABEL, "a");
    expect(&page, NB_PAGE_TEXT, 80, "", *state);
    expect(&page, NB_PAGE_MARKDOWN, 80, "", *state);
}

/* What comes from outside: control characters, a fence in a text. */
static void test_outside(void **state)
{
    nb_page page;
    nb_page_make(&page, *state);
    nb_page_paragraph(&page, "%s", "a\nb\033[1m");
    nb_page_verbatim(&page, "x: 1\n```\n");
    expect(&page, NB_PAGE_TEXT, 80, "a\\x0ab\\x1b[1m\nx: 1\n```\n", *state);
    expect(&page, NB_PAGE_MARKDOWN, 80, "a\\\\x0ab\\\\x1b[1m\n\n````\nx: 1\n```\n````\n", *state);
}

/* The first mistake is kept: of memory, or a cell too many. */
static void test_failures(void **state)
{
    nb_ctx *ctx = *state;
    nb_page page;
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(out);
    for (nb_page_form form = NB_PAGE_TEXT; form <= NB_PAGE_HTML; form++)
        for (long k = 1, left = 0; left == 0; k++) {
            nb_ctx_fail_alloc(ctx, k);
            make_small(&page, ctx);
            nb_status status = nb_page_print(out, &page, form, 12);
            left = nb_ctx_fail_alloc(ctx, 0);
            if (left > 0) break;
            assert_int_equal(status, NB_ENOMEM);
            nb_error_clear(ctx);
            nb_ctx_forget_exhausted(ctx);
        }
    nb_page_make(&page, ctx);
    nb_page_table(&page);
    nb_page_column(&page, NB_PAGE_LABEL, "a");
    nb_page_row(&page);
    nb_page_cell(&page, "1");
    nb_page_cell(&page, "2");
    assert_error(ctx, nb_page_print(out, &page, NB_PAGE_TEXT, 0), NB_EBUG);
    fclose(out);
}

/* Columns of a random table: a label, then numbers, then prose. */
enum { MOST_ROWS = 12, MOST_COLUMNS = 9 };
typedef struct {
    int rows, numbers;
    const char *labels[MOST_ROWS];
} random_table;

/* Labels that differ at their start, in their middle or at their end; some in characters of two columns. */
static const char *random_label(gsl_rng *r, int row, nb_ctx *ctx)
{
    static const char fill[] = "(abcdefghij=klmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz)";
    static const char wide[] = "漢字仮名交文漢字仮名交文漢字仮名交文漢字仮名交文";
    int length = (int)gsl_rng_uniform_int(r, 50);
    switch (gsl_rng_uniform_int(r, 4)) {
    case 0: return nb_format(ctx, "%d%.*s", row, length, fill);
    case 1: return nb_format(ctx, "x%.*s%d%.*s", length / 2, fill, row, length / 2, fill);
    case 2: return nb_format(ctx, "e\u0301%.*s%d", 3 * (length / 2), wide, row);
    default: return nb_format(ctx, "x%.*s%d", length, fill, row);
    }
}

/* Each cell has a text that no other has. */
static void make_random(nb_page *page, random_table *t, gsl_rng *r, nb_ctx *ctx)
{
    nb_page_make(page, ctx);
    t->rows = 1 + (int)gsl_rng_uniform_int(r, MOST_ROWS);
    t->numbers = 1 + (int)gsl_rng_uniform_int(r, MOST_COLUMNS);
    nb_page_table(page);
    nb_page_column(page, NB_PAGE_LABEL, "label");
    for (int c = 0; c < t->numbers; c++)
        nb_page_column(page, NB_PAGE_NUMBER, "h%.*s", (int)gsl_rng_uniform_int(r, 9), "eadheadhead");
    nb_page_column(page, NB_PAGE_PROSE, "prose");
    bool bands = gsl_rng_uniform_int(r, 2);
    for (int i = 0; i < t->rows; i++) {
        if (bands) nb_page_band(page, "band", i < 5 ? "one" : NULL);
        t->labels[i] = random_label(r, i, ctx);
        nb_page_row(page);
        nb_page_cell(page, "%s", t->labels[i]);
        for (int c = 0; c < t->numbers; c++) {
            nb_page_cell(page, "%d.%d", 1000 + i, 10 + c);
            if (gsl_rng_uniform_int(r, 3) == 0) nb_page_mark(page, "*");
        }
        nb_page_cell(page, "w%da w%db é%dc and %.*s", i, i, i, (int)gsl_rng_uniform_int(r, 60),
                     "some more words of which there may be rather many in a row, all of them short");
    }
}

/* In columns. Of this file's characters those of three bytes are wide, and U+0301 is a combining mark. */
static int width_of(const char *line, size_t bytes)
{
    int width = 0;
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)line[i];
        width += byte >= 0xe0 ? 2 : byte == 0xcc ? 0 : (byte & 0xc0) != 0x80;
    }
    return width;
}

/* No line is wider but for a single word (and, in a list of rows, the head before it), and none ends in a blank. */
static void check_lines(const char *text, int width)
{
    for (const char *line = text; *line; line = strchr(line, '\n') + 1) {
        size_t bytes = strcspn(line, "\n"), from = strspn(line, " ");
        bool word = !memchr(line + from, ' ', bytes - from);
        if (width_of(line, bytes) > width && !word) fail_msg("wider than %d:\n%s", width, text);
        if (bytes > 0 && line[bytes - 1] == ' ') fail_msg("blank at the end:\n%s", text);
    }
}

/* The first word of the line that has the text. */
static const char *label_of(const char *text, const char *cell, nb_ctx *ctx)
{
    const char *line = strstr(text, cell);
    assert_non_null(line);
    while (line > text && line[-1] != '\n') line--;
    line += strspn(line, " ");
    return nb_format(ctx, "%.*s", (int)strcspn(line, " \n"), line);
}

/* All cells are there, once, and those of one row behind a label that no other row has. */
static void check_cells(const char *text, const random_table *t, nb_ctx *ctx)
{
    const char *shown[MOST_ROWS];
    bool records = strstr(text, "label: ") || strstr(text, "label:\n");
    for (int i = 0; i < t->rows; i++)
        for (int c = 0; c < t->numbers; c++) {
            const char *cell = nb_format(ctx, "%d.%d", 1000 + i, 10 + c);
            const char *label = label_of(text, cell, ctx);
            assert_null(strstr(strstr(text, cell) + 1, cell));
            if (c == 0) shown[i] = label;
            if (!records) assert_string_equal(label, shown[i]);
        }
    for (int i = 0; i < t->rows; i++) {
        for (const char *word = "abc"; *word; word++)
            assert_non_null(strstr(text, nb_format(ctx, *word == 'c' ? "é%d%c" : "w%d%c", i, *word)));
        for (int k = 0; k < i && !records; k++) assert_string_not_equal(shown[i], shown[k]);
        if (records) assert_non_null(strstr(text, t->labels[i]));
    }
}

static void test_widths(void **state)
{
    nb_ctx *ctx = *state;
    gsl_rng *r = gsl_rng_alloc(gsl_rng_mt19937);
    int whole = 0, records = 0;
    for (int k = 0; k < 60; k++) {
        nb_mark mark = nb_ctx_mark(ctx);
        nb_page page;
        random_table t;
        make_random(&page, &t, r, ctx);
        for (int width = 20; width <= 200; width += 1 + k % 7) {
            const char *text = page_text(&page, NB_PAGE_TEXT, width, ctx);
            check_lines(text, width);
            check_cells(text, &t, ctx);
            records += strstr(text, "label: ") != NULL;
            whole += strstr(text, t.labels[0]) != NULL;
        }
        nb_ctx_release(ctx, mark);
    }
    assert_true(whole > 100);
    assert_true(records > 0);
    gsl_rng_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_text),          test_with_ctx(test_markdown),    test_with_ctx(test_latex_titles),
        test_with_ctx(test_latex_uses),    test_with_ctx(test_latex_cells), test_with_ctx(test_latex_captions),
        test_with_ctx(test_latex_between), test_with_ctx(test_terminal),    test_with_ctx(test_empty),
        test_with_ctx(test_prose),         test_with_ctx(test_columns),     test_with_ctx(test_outside),
        test_with_ctx(test_failures),      test_with_ctx(test_widths)};
    return run_all(tests);
}
