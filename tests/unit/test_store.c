/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a plan is made from, and what a store keeps of rows, of those who measured them,
 * and of what they were measured on. */
#include "planning.h"

#include "base/digest.h"
#include "base/scratch.h"
#include "components/registry.h"
#include "run/inputs.h"
#include "run/store.h"
#include "config/config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

/* FIPS 180-2, appendix B: the digests of "abc" and of 56 letters; and of nothing. */
static void test_digest(void **state)
{
    static const char *const known[][2] = {{"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
                                           {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                                            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
                                           {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}};
    nb_ctx *ctx = *state;
    const char *folder, *path, *sha256;
    long long bytes;
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    path = nb_format(ctx, "%s/file", folder);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        write_file(path, known[i][0]);
        assert_ok(ctx, nb_digest_file(path, &sha256, &bytes, ctx));
        assert_string_equal(sha256, known[i][1]);
        assert_int_equal(bytes, strlen(known[i][0]));
    }
    assert_error(ctx, nb_digest_file(folder, &sha256, &bytes, ctx), NB_EIO);
    assert_error(ctx, nb_digest_file("/nonexistent", &sha256, &bytes, ctx), NB_EIO);
}

/* Ten rows: five trials under two strategies, the second with files. */
static nb_plan make_plan(const char *strategy, nb_ctx *ctx)
{
    const nb_override overrides[] = {{"problems", "[\"gaussian(n=30, d=4)\"]"},
                                     {"strategies", nb_format(ctx, "[uniform, '%s']", strategy)},
                                     {"factors", "nystromformer"},
                                     {"metrics", "[error]"},
                                     {"landmarks", "3"},
                                     {"trials", "5"},
                                     {"cores", "svd"}};
    nb_plan plan = plan_with(sizeof overrides / sizeof *overrides, overrides, ctx);
    assert_int_equal(plan.row_count, 10);
    return plan;
}

static const char *inputs_of(const nb_plan *plan, int row, nb_ctx *ctx)
{
    const char *digests = NULL;
    assert_ok(ctx, nb_inputs_of_row(plan, row, &digests, ctx));
    return digests;
}

static void test_inputs(void **state)
{
    nb_ctx *ctx = *state;
    const char *folder, *script, *other;
    struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    script = nb_format(ctx, "%s/a script.py", folder);
    other = nb_format(ctx, "%s/other", folder);
    write_file(script, "abc");
    write_file(other, "");
    nb_plan plan = make_plan(
        nb_format(ctx, "command(run=\"true ''%s'' %s -x ''%s'' %s/none\")", script, other, script, folder), ctx);
    assert_int_equal(plan.inputs->count, 2);
    assert_string_equal(plan.inputs->items[0].path, script);
    assert_string_equal(inputs_of(&plan, 0, ctx), "");
    assert_string_equal(inputs_of(&plan, 1, ctx), "ba7816bf8f01cfea+e3b0c44298fc1c14+ba7816bf8f01cfea");
    assert_ok(ctx, nb_inputs_check(plan.inputs, ctx));
    assert_int_equal(utimensat(AT_FDCWD, script, times, 0), 0); /* touched, not changed */
    assert_ok(ctx, nb_inputs_check(plan.inputs, ctx));
    write_file(script, "abd");
    assert_error(ctx, nb_inputs_check(plan.inputs, ctx), NB_EIO);
    write_file(script, "abc");
    assert_ok(ctx, nb_inputs_check(plan.inputs, ctx));
    assert_int_equal(unlink(other), 0);
    assert_error(ctx, nb_inputs_check(plan.inputs, ctx), NB_EIO);
}

static const char *const nothing[] = {NULL};
static const nb_manifest a = {{"build-a", "aaaaaaaaaaaaaaaa", "kernels K"}, "{\"arithmetic\": \"kernels K\"}"};
static const nb_manifest b = {{"build-b", "bbbbbbbbbbbbbbbb", "kernels K"},
                              "{\"arithmetic\": \"kernels K\", \"b\": 1}"};
static const nb_manifest rebuilt = {{"build-a", "cccccccccccccccc", "kernels K"}, "{\"arithmetic\": \"kernels K\"}"};
static const nb_manifest l = {{"build-a", "aaaaaaaaaaaaaaaa", "kernels L"}, "{\"arithmetic\": \"kernels L\"}"};

static nb_store open_store(const char *folder, nb_ctx *ctx)
{
    nb_store store;
    assert_ok(ctx,
              nb_store_open(nb_format(ctx, "%s/store", folder), true, &nb_study_error.run.config.study, &store, ctx));
    return store;
}

static int plan_store(nb_store *store, const nb_plan *plan, const nb_manifest *as, bool mixed, const char *const *retry,
                      nb_ctx *ctx)
{
    bool *pending;
    int count = -1;
    assert_ok(ctx, nb_store_plan(store, plan, &(nb_terms){.program = &as->program, .mixed = mixed, .retry = retry},
                                 &pending, &count, ctx));
    return count;
}

static void write_rows(nb_store *store, const nb_plan *plan, const nb_manifest *as, const char *status, int first,
                       int end, nb_ctx *ctx)
{
    nb_store_sign(store, as);
    assert_ok(ctx, nb_store_begin(store, ctx));
    for (int i = first; i < end; i++) {
        nb_error_row row;
        nb_plan_row(plan, i, &row);
        row.status = status;
        row.measures.error = 0.385 + i;
        assert_ok(ctx, nb_store_write(store, i, plan->config->wanted, &row.row, ctx));
    }
    assert_ok(ctx, nb_store_commit(store, ctx));
}

static void expect_signatures(nb_store *store, const long long expected[10], nb_ctx *ctx)
{
    long long *found;
    int count;
    assert_ok(ctx, nb_store_signatures(store, &count, &found, ctx));
    assert_int_equal(count, 10);
    for (int i = 0; i < 10; i++) assert_int_equal(found[i], expected[i]);
}

/* A manifest is there once however often it signs; other programs are refused, and nothing is changed by that. */
static void test_signatures(void **state)
{
    nb_ctx *ctx = *state;
    const char *folder;
    bool *pending;
    int count;
    nb_standing standing;
    nb_signed *by;
    nb_signed *manifests;
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    nb_plan plan = make_plan("segment_means", ctx);
    nb_store store = open_store(folder, ctx);
    assert_int_equal(plan_store(&store, &plan, &a, false, nothing, ctx), 10);
    write_rows(&store, &plan, &a, "ok", 0, 2, ctx);
    assert_error(
        ctx, nb_store_plan(&store, &plan, &(nb_terms){.program = &b.program, .retry = nothing}, &pending, &count, ctx),
        NB_EINVAL);
    assert_error(
        ctx,
        nb_store_plan(&store, &plan, &(nb_terms){.program = &rebuilt.program, .retry = nothing}, &pending, &count, ctx),
        NB_EINVAL);
    assert_error(
        ctx, nb_store_plan(&store, &plan, &(nb_terms){.program = &l.program, .retry = nothing}, &pending, &count, ctx),
        NB_EINVAL);
    assert_ok(ctx, nb_store_standing(&store, &plan, NULL, NULL, &standing, ctx));
    assert_int_equal(standing.done, 2);
    assert_int_equal(plan_store(&store, &plan, &b, true, nothing, ctx), 8);
    write_rows(&store, &plan, &b, "failed", 2, 5, ctx);
    write_rows(&store, &plan, &a, "crashed", 5, 7, ctx);
    expect_signatures(&store, (long long[]){1, 1, 2, 2, 2, 1, 1, 0, 0, 0}, ctx);
    assert_ok(ctx, nb_store_manifests(&store, &count, &manifests, ctx));
    assert_int_equal(count, 2);
    assert_int_equal(manifests[0].rows, 4);
    assert_int_equal(manifests[1].rows, 3);
    assert_string_equal(manifests[1].manifest.text, b.text);
    assert_ok(ctx, nb_store_programs(&store, &count, &by, ctx));
    assert_int_equal(count, 2);
    assert_int_equal(by[0].rows, 4);
    assert_string_equal(by[1].manifest.program.build, "build-b");
    assert_int_equal(plan_store(&store, &plan, &a, true, (const char *const[]){"failed", NULL}, ctx), 6);
    expect_signatures(&store, (long long[]){1, 1, 0, 0, 0, 1, 1, 0, 0, 0}, ctx);
}

/* Rows that are retried have no numbers until they are measured; what is planned is no one's. */
static void test_retry(void **state)
{
    nb_ctx *ctx = *state;
    const char *folder;
    nb_row_list rows;
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    nb_plan plan = make_plan("segment_means", ctx);
    nb_store store = open_store(folder, ctx);
    plan_store(&store, &plan, &a, false, nothing, ctx);
    write_rows(&store, &plan, &a, "ok", 0, 4, ctx);
    write_rows(&store, &plan, &a, "timeout", 4, 6, ctx);
    write_rows(&store, &plan, &a, "diverged", 6, 10, ctx);
    assert_int_equal(plan_store(&store, &plan, &a, false, nothing, ctx), 0);
    assert_int_equal(plan_store(&store, &plan, &a, false, (const char *const[]){"timeout", "crashed", NULL}, ctx), 2);
    assert_ok(ctx, nb_store_rows(&store, &rows, ctx));
    for (int i = 0; i < 10; i++) {
        bool again = i == 4 || i == 5;
        const nb_error_row *row = (const nb_error_row *)nb_row_at(&rows, i);
        assert_string_equal(row->status, again ? "planned" : i < 4 ? "ok" : "diverged");
        if (again)
            assert_true(isnan(row->measures.error));
        else
            assert_close(row->measures.error, 0.385 + i, 0);
    }
}

/* Rows of a file that has changed give way to new ones, and come back with the file. */
static void test_replaced(void **state)
{
    nb_ctx *ctx = *state;
    const char *folder, *script;
    nb_signed *old;
    int count;
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    script = nb_format(ctx, "%s/script", folder);
    write_file(script, "abc");
    const char *strategy = nb_format(ctx, "command(run=\"true %s\")", script);
    nb_plan plan = make_plan(strategy, ctx);
    nb_store store = open_store(folder, ctx);
    plan_store(&store, &plan, &a, false, nothing, ctx);
    write_rows(&store, &plan, &a, "ok", 0, 10, ctx);
    write_file(script, "abd");
    nb_plan changed = make_plan(strategy, ctx);
    assert_int_equal(plan_store(&store, &changed, &a, false, nothing, ctx), 5);
    assert_ok(ctx, nb_store_find_replaced(&store, &count, &old, ctx));
    assert_int_equal(count, 1);
    assert_int_equal(old[0].hidden, 5);
    write_rows(&store, &changed, &b, "ok", 1, 2, ctx);
    assert_ok(ctx, nb_store_find_replaced(&store, &count, &old, ctx));
    assert_int_equal(old[0].hidden, 4);
    expect_signatures(&store, (long long[]){1, 2, 1, 0, 1, 0, 1, 0, 1, 0}, ctx);
    assert_int_equal(plan_store(&store, &plan, &a, false, nothing, ctx), 0);
    expect_signatures(&store, (long long[]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, ctx);
    assert_ok(ctx, nb_store_find_replaced(&store, &count, &old, ctx));
    assert_int_equal(count, 0);
}

/* Rows change their places from plan to plan and keep their results; what is as planned is not written again. */
static void test_places(void **state)
{
    nb_ctx *ctx = *state;
    const char *folder, *before, *after;
    long long bytes;
    nb_row_list rows;
    nb_standing standing;
    bool pending[15];
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    nb_plan plan = make_plan("kmeans", ctx), other = make_plan("farthest_point", ctx);
    nb_store store = open_store(folder, ctx);
    plan_store(&store, &plan, &a, false, nothing, ctx);
    write_rows(&store, &plan, &a, "ok", 0, 9, ctx);
    assert_ok(ctx, nb_digest_file(store.path, &before, &bytes, ctx));
    assert_int_equal(plan_store(&store, &plan, &a, false, nothing, ctx), 1);
    assert_ok(ctx, nb_digest_file(store.path, &after, &bytes, ctx));
    assert_string_equal(before, after);
    assert_int_equal(plan_store(&store, &other, &a, false, nothing, ctx), 5);
    memset(pending, true, sizeof pending);
    assert_ok(ctx, nb_store_standing(&store, &plan, nothing, pending, &standing, ctx));
    assert_int_equal(standing.done, 9);
    for (int i = 0; i < 10; i++) assert_int_equal(pending[i], i == 9);
    const nb_override overrides[] = {{"problems", "[\"gaussian(n=30, d=4)\"]"},
                                     {"strategies", "[farthest_point, kmeans, uniform]"},
                                     {"factors", "nystromformer"},
                                     {"metrics", "[error]"},
                                     {"landmarks", "3"},
                                     {"trials", "5"},
                                     {"cores", "svd"}};
    nb_plan all = plan_with(sizeof overrides / sizeof *overrides, overrides, ctx);
    assert_int_equal(plan_store(&store, &all, &a, false, nothing, ctx), 6);
    assert_ok(ctx, nb_store_rows(&store, &rows, ctx));
    assert_int_equal(rows.count, 15);
    for (int i = 0; i < 15; i++) {
        const nb_error_row *row = (const nb_error_row *)nb_row_at(&rows, i);
        int old = 2 * (i / 3) + (i % 3 == 1); /* its place in the first plan: uniform, kmeans */
        if (i % 3 == 0 || old == 9)
            assert_string_equal(row->status, "planned");
        else
            assert_close(row->measures.error, 0.385 + old, 0);
    }
    assert_int_equal(plan_store(&store, &plan, &a, false, nothing, ctx), 1);
    assert_ok(ctx, nb_store_rows(&store, &rows, ctx));
    assert_int_equal(rows.count, 10);
}

/* Whoever has read a store leaves it to its writer, though it is still open. */
static void test_readers(void **state)
{
    nb_ctx *ctx = *state;
    const char *folder, *path;
    nb_store reader;
    nb_row_list rows;
    nb_signed *manifests;
    nb_signed *by;
    nb_standing standing;
    long long *ids;
    int count;
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    nb_plan plan = make_plan("segment_means", ctx);
    nb_store store = open_store(folder, ctx);
    plan_store(&store, &plan, &a, false, nothing, ctx);
    write_rows(&store, &plan, &a, "ok", 0, 5, ctx);
    path = store.path;
    assert_ok(ctx, nb_store_open(path, false, NULL, &reader, ctx));
    assert_ok(ctx, nb_store_rows(&reader, &rows, ctx));
    assert_ok(ctx, nb_store_signatures(&reader, &count, &ids, ctx));
    assert_ok(ctx, nb_store_manifests(&reader, &count, &manifests, ctx));
    assert_ok(ctx, nb_store_programs(&reader, &count, &by, ctx));
    assert_ok(ctx, nb_store_standing(&reader, &plan, NULL, NULL, &standing, ctx));
    sqlite3_busy_timeout(store.db, 100);
    write_rows(&store, &plan, &a, "ok", 5, 10, ctx);
}

/* Whatever SQL it is given, a reader changes nothing in the file; its own tables it may. */
static void test_reader_writes_nothing(void **state)
{
    static const char *const writes[] = {"DELETE FROM results",
                                         "UPDATE meta SET value = 'x'",
                                         "INSERT INTO meta VALUES ('x', 'y')",
                                         "CREATE TABLE more (x)",
                                         "CREATE VIEW more AS SELECT 1",
                                         "DROP TABLE manifests",
                                         "ALTER TABLE results ADD COLUMN x",
                                         "UPDATE sqlite_master SET sql = ''",
                                         "ATTACH ':memory:' AS other",
                                         "CREATE TEMP TRIGGER t AFTER INSERT ON meta BEGIN SELECT 1; END; "
                                         "DELETE FROM manifests"};
    nb_ctx *ctx = *state;
    const char *folder;
    nb_store reader;
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    nb_plan plan = make_plan("segment_means", ctx);
    nb_store store = open_store(folder, ctx);
    plan_store(&store, &plan, &a, false, nothing, ctx);
    assert_ok(ctx, nb_store_open(store.path, false, NULL, &reader, ctx));
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
        assert_int_not_equal(sqlite3_exec(reader.db, writes[i], NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_exec(reader.db,
                                  "CREATE TEMP TABLE own (x); INSERT INTO own SELECT 1; CREATE TEMP VIEW seen AS "
                                  "SELECT * FROM own, results; DROP VIEW seen; DROP TABLE own",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
}

static void test_names_of_columns(void **state)
{
    nb_ctx *ctx = *state;
    for (const nb_entry *e = nb_studies.entries; e->component; e++)
        assert_ok(ctx, nb_study_check_names((const nb_study *)e->component, e->file, ctx));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_digest),           test_with_ctx(test_inputs),
        test_with_ctx(test_signatures),       test_with_ctx(test_retry),
        test_with_ctx(test_replaced),         test_with_ctx(test_places),
        test_with_ctx(test_readers),          test_with_ctx(test_reader_writes_nothing),
        test_with_ctx(test_names_of_columns),
    };
    return run_all(tests);
}
