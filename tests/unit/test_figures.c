/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_figures.c - figures and tables of rows that never change, tests/golden/figures/rows*.csv, byte for byte as they
 * are kept beside these. UPDATE_GOLDEN=1 build/tests/test_figures writes them anew, for a look at git diff. */
#include "pages.h"
#include "stored_rows.h"

#include "base/files.h"
#include "base/scratch.h"
#include "show/figure.h"
#include "show/query.h"
#include "show/table.h"
#include "components/study.h"

#include <string.h>

#define GOLDEN "tests/golden/figures"

/* The next field, without its quotes, and what follows. */
static const char *field(nb_ctx *ctx, const char **at)
{
    size_t length = 0;
    char *text = nb_alloc(ctx, strcspn(*at, "\n") + 1, 1);
    bool quoted = **at == '"';
    assert_non_null(text);
    *at += quoted;
    for (; quoted || (**at != ',' && **at != '\n'); ++*at) {
        if (quoted && **at == '"' && *++*at != '"') break;
        assert_int_not_equal(**at, '\0');
        text[length++] = **at;
    }
    return text;
}

/* A column that the file does not have, since it is newer, stays empty. */
static void read_cell(nb_ctx *ctx, const nb_column *column, const char **at, nb_row *row)
{
    const char *text = field(ctx, at);
    char *to = (char *)row + column->offset;
    switch (column->type) {
    case NB_COLUMN_TEXT: *(const char **)to = *text ? text : NULL; break;
    case NB_COLUMN_INT: *(int *)to = atoi(text); break;
    case NB_COLUMN_SEED: *(long long *)to = atoll(text); break;
    case NB_COLUMN_REAL: *(double *)to = *text ? strtod(text, NULL) : NAN; break;
    }
    ++*at;
}

static nb_row_list empty_rows(const nb_study *study, int count, nb_ctx *ctx)
{
    nb_row_list rows = {.count = count, .columns = study->columns, .row_size = study->row_size};
    rows.bytes = nb_alloc(ctx, (size_t)count + 1, study->row_size);
    assert_non_null(rows.bytes);
    for (int i = 0; i < count; i++)
        for (const nb_column *c = study->columns; c->name; c++)
            if (c->type == NB_COLUMN_REAL) *(double *)((char *)nb_row_at(&rows, i) + c->offset) = NAN;
    return rows;
}

/* The rows that are kept of a study: rows.csv, or rows_STUDY.csv of those that are not the standard one. */
static nb_row_list golden_rows(const nb_study *study, nb_ctx *ctx)
{
    const char *text, *at,
        *path = study->standard ? GOLDEN "/rows.csv" : nb_format(ctx, GOLDEN "/rows_%s.csv", study->component.name);
    const nb_column *columns[128];
    int count = -1, width = 0;
    assert_ok(ctx, nb_read_file(path, &text, ctx));
    for (at = text; *at; at++) count += *at == '\n';
    for (at = text; width == 0 || at[-1] == ','; at++) {
        columns[width] = nb_column_find(study->columns, field(ctx, &at));
        assert_non_null(columns[width++]);
    }
    nb_row_list rows = empty_rows(study, count, ctx);
    for (int i = 0; i < count; i++)
        for (int c = 0; c < width; c++) {
            read_cell(ctx, columns[c], &at, nb_row_at(&rows, i));
            assert_true(at[-1] == (c + 1 < width ? ',' : '\n'));
        }
    assert_int_equal(*at, '\0');
    return rows;
}

static nb_relation *golden_relation(const nb_study *study, nb_ctx *ctx)
{
    const nb_row_list rows = golden_rows(study, ctx);
    return relation_of(study, &rows, ctx);
}

static const nb_study *study_of(const char *name)
{
    const nb_component *study = nb_registry_find(&nb_studies, name);
    assert_non_null(study);
    return (const nb_study *)study;
}

static nb_status print(FILE *out, const void *text, nb_ctx *ctx)
{
    (void)ctx;
    fputs(text, out);
    return NB_OK;
}

static void compare(nb_ctx *ctx, const char *name, const char *text)
{
    const char *path = nb_format(ctx, GOLDEN "/%s", name), *wanted;
    if (getenv("UPDATE_GOLDEN")) assert_ok(ctx, nb_write_file(path, print, text, ctx));
    assert_ok(ctx, nb_read_file(path, &wanted, ctx));
    if (strcmp(text, wanted) != 0) fail_msg("%s is another one now:\n%s", path, text);
}

/* For people and for programs; of two tables, in all forms. */
static void test_tables(void **state)
{
    nb_ctx *ctx = *state;
    for (const nb_entry *e = nb_tables.entries; e->component; e++) {
        const nb_table *table = (const nb_table *)e->component;
        const char *name = e->component->name;
        nb_relation *relation = golden_relation(study_of(table->study), ctx);
        nb_page page;
        nb_grid grid;
        nb_page_make(&page, ctx);
        assert_ok(ctx, nb_table_show(&page, table, relation, ctx));
        assert_ok(ctx, nb_query_fill(relation, table->sql, &grid, ctx));
        assert_true(page.count > 0 && grid.count > 0);
        compare(ctx, nb_format(ctx, "table_%s.txt", name), page_text(&page, NB_PAGE_TEXT, 0, ctx));
        compare(ctx, nb_format(ctx, "table_%s.csv", name), csv_text(&grid, ctx));
        if (strcmp(name, "errors") != 0 && strcmp(name, "bounds") != 0) continue;
        compare(ctx, nb_format(ctx, "table_%s_80.txt", name), page_text(&page, NB_PAGE_TEXT, 80, ctx));
        compare(ctx, nb_format(ctx, "table_%s.md", name), page_text(&page, NB_PAGE_MARKDOWN, 0, ctx));
        compare(ctx, nb_format(ctx, "table_%s.json", name), json_text(&grid, ctx));
    }
}

/* A head twice would be one key in JSON. */
static void test_heads(void **state)
{
    for (const nb_entry *e = nb_tables.entries; e->component; e++) {
        const nb_table *table = (const nb_table *)e->component;
        nb_relation *relation = golden_relation(study_of(table->study), *state);
        nb_grid grid;
        assert_ok(*state, nb_query_fill(relation, table->sql, &grid, *state));
        for (int i = 0; i < grid.columns; i++)
            for (int k = 0; k < i; k++) assert_string_not_equal(grid.names[i], grid.names[k]);
    }
}

/* All but those that make something of a run again. */
static void test_figures(void **state)
{
    nb_drawing drawing = {.experiment = "golden"};
    assert_ok(*state, nb_temporary_folder(&drawing.folder, *state));
    for (const nb_entry *e = nb_figures.entries; e->component; e++) {
        const nb_figure *figure = (const nb_figure *)e->component;
        const char *text;
        int figures;
        if (figure->again) continue;
        drawing.relation = golden_relation(study_of(figure->study), *state);
        assert_ok(*state, nb_graph_draw(figure, &drawing, &figures, *state));
        assert_true(figures > 0);
        assert_ok(*state,
                  nb_read_file(nb_format(*state, "%s/%s.csv", drawing.folder, e->component->name), &text, *state));
        compare(*state, nb_format(*state, "figure_%s.csv", e->component->name), text);
    }
}

/* gnuplot counts the blocks of a figure's data, one for each series of each panel, two empty lines apart, and the
 * script has their numbers. */
static void test_blocks(void **state)
{
    const nb_figure *figure = (const nb_figure *)nb_registry_find(&nb_figures, "error");
    nb_drawing drawing = {.experiment = "golden", .relation = golden_relation(study_of("error"), *state)};
    const char *data, *script;
    int figures, blocks = 1, most = -1;
    assert_ok(*state, nb_temporary_folder(&drawing.folder, *state));
    assert_ok(*state, nb_graph_draw(figure, &drawing, &figures, *state));
    assert_ok(*state, nb_read_file(nb_format(*state, "%s/error_iterative.dat", drawing.folder), &data, *state));
    assert_ok(*state, nb_read_file(nb_format(*state, "%s/error_iterative.gp", drawing.folder), &script, *state));
    for (const char *at = data; (at = strstr(at, "\n\n\n")); at += 3) blocks++;
    for (const char *at = strchr(strstr(script, " block["), '=') + 2; *at != ']';) {
        char *end;
        int number = (int)strtol(at + 1, &end, 10);
        most = number > most ? number : most;
        at = end;
    }
    assert_int_equal(blocks, most + 1);
    assert_true(blocks > 2);
}

/* The first core in single precision, whose twin in double stays; where there is none, some row. */
static int row_to_lose(const nb_study *study, const nb_row_list *rows)
{
    const nb_column *core = nb_column_find(study->columns, "core");
    for (int i = 0; core && i < rows->count; i++) {
        const char *text = *(const char **)((char *)nb_row_at(rows, i) + core->offset);
        if (text && strstr(text, "precision=float")) return i;
    }
    return rows->count / 2;
}

static const char *drawn(const nb_figure *figure, const nb_row_list *rows, nb_ctx *ctx)
{
    nb_drawing drawing = {.experiment = "golden", .relation = relation_of(study_of(figure->study), rows, ctx)};
    const char *text;
    int figures;
    assert_ok(ctx, nb_temporary_folder(&drawing.folder, ctx));
    assert_ok(ctx, nb_graph_draw(figure, &drawing, &figures, ctx));
    assert_ok(ctx, nb_read_file(nb_format(ctx, "%s/%s.csv", drawing.folder, figure->component.name), &text, ctx));
    return text;
}

/* A row that has diverged is as one that is not there. */
static void test_diverged(void **state)
{
    static const char *const names[] = {"precision", "effect"};
    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        const nb_figure *figure = (const nb_figure *)nb_registry_find(&nb_figures, names[f]);
        const nb_study *study = study_of(figure->study);
        nb_row_list rows = golden_rows(study, *state);
        int lost = row_to_lose(study, &rows);
        nb_row *row = nb_row_at(&rows, lost);
        row->status = "diverged";
        for (const nb_column *c = study->columns; c->name; c++)
            if (c->type == NB_COLUMN_REAL && !c->identity && strcmp(c->name, "landmark_condition") != 0)
                *(double *)((char *)row + c->offset) = NAN;
        const char *diverged = drawn(figure, &rows, *state);
        rows.count--;
        memmove(row, nb_row_at(&rows, lost + 1), (size_t)(rows.count - lost) * study->row_size);
        assert_string_equal(diverged, drawn(figure, &rows, *state));
    }
}

/* Two models that begin with the same word have their whole names, whatever a third is called. */
static void test_names_of_models(void **state)
{
    const nb_study *study = study_of("forward");
    const nb_table *table = (const nb_table *)nb_registry_find(&nb_tables, "latency");
    nb_row_list rows = golden_rows(study, *state);
    nb_grid grid;
    for (int i = 0; i < rows.count; i++) {
        nb_row *row = nb_row_at(&rows, i);
        row->model = row->n == 64 ? "twin_one" : row->n == 128 ? "twin_two" : "other";
        row->problem = "heads(file=x.safetensors)";
    }
    nb_relation *relation = relation_of(study, &rows, *state);
    assert_ok(*state, nb_query_fill(relation, table->sql, &grid, *state));
    const char *text = csv_text(&grid, *state);
    /* NOLINT(wording): how many heads each has */
    assert_true(strstr(text, "\"twin_one, 1 head") && strstr(text, "\"twin_two, 2 heads"));
}

/* Rows that are all alike in what a figure or a table needs have nothing for it, and no rows have nothing for any. */
static void test_nothing(void **state)
{
    nb_drawing drawing = {.experiment = "golden"};
    assert_ok(*state, nb_temporary_folder(&drawing.folder, *state));
    for (const nb_entry *e = nb_figures.entries; e->component; e++) {
        const nb_figure *figure = (const nb_figure *)e->component;
        const nb_study *study = study_of(figure->study);
        int figures = 1;
        if (figure->again) continue;
        const nb_row_list none = empty_rows(study, 0, *state);
        drawing.relation = relation_of(study, &none, *state);
        assert_ok(*state, nb_graph_draw(figure, &drawing, &figures, *state));
        assert_int_equal(figures, 0);
    }
}

static void check_record(const nb_component *c, const char *study)
{
    assert_true(*c->summary && c->references[0] && !c->options->key && c->options_size == 0);
    assert_true(study && *study);
}

/* Every record is whole, and no two tables have one file or one place. */
static void test_records(void **state)
{
    assert_ok(*state, nb_registry_check(&nb_figures, *state));
    assert_ok(*state, nb_registry_check(&nb_tables, *state));
    for (const nb_entry *e = nb_figures.entries; e->component; e++) {
        const nb_figure *figure = (const nb_figure *)e->component;
        check_record(e->component, figure->study);
        assert_non_null(figure->sql);
    }
    for (const nb_entry *e = nb_tables.entries; e->component; e++) {
        const nb_table *table = (const nb_table *)e->component;
        check_record(e->component, table->study);
        assert_non_null(table->sql);
        for (const nb_entry *other = nb_tables.entries; other < e; other++) {
            const nb_table *before = (const nb_table *)other->component;
            if (strcmp(before->study, table->study) != 0) continue;
            assert_true(table->place == 0 || table->place != before->place);
            assert_true(!table->file || !before->file || strcmp(table->file, before->file) != 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_records),         test_with_ctx(test_tables),
                                       test_with_ctx(test_heads),           test_with_ctx(test_figures),
                                       test_with_ctx(test_blocks),          test_with_ctx(test_diverged),
                                       test_with_ctx(test_names_of_models), test_with_ctx(test_nothing)};
    return run_all(tests);
}
