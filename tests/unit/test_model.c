/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A model's program: a shell script that answers with what a file holds, and writes down what it was asked. What the
 * lines mean is said in docs/models.md. */
#include "testing.h"

#include "base/scratch.h"
#include "base/server.h"
#include "data/model.h"

/* It is late after that: many times what a shell needs here, so that a busy machine does not fail the test. */
enum { PATIENCE_S = 20 };

#define SCRIPT "echo '{\"ready\": 1}'\nwhile read -r line; do printf %s \"$line\" >\"$2\"; cat \"$1\"; done\n"
#define REST "\"layers\": 5, \"heads\": 4, \"n\": 16, \"d\": 3"
#define SOURCES "\"sources\": [\"a\", \"b\"]"
#define NAMED "\"model\": \"tiny\", "
#define BLIND "\"causal\": false, "

static const char *folder; /* of the test at hand */

static void put(const char *name, const char *text)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fprintf(file, "%s\n", text) > 0);
    assert_int_equal(fclose(file), 0);
}

static const char *asked(nb_ctx *ctx)
{
    char path[4096], *text = nb_alloc(ctx, 4096, 1);
    snprintf(path, sizeof path, "%s/asked", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(text);
    assert_non_null(fgets(text, 4096, file));
    assert_int_equal(fclose(file), 0);
    return text;
}

static nb_model_program start(nb_ctx *ctx)
{
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    put("say.sh", SCRIPT);
    char *run = nb_format(ctx, "sh %s/say.sh %s/answer %s/asked", folder, folder, folder);
    assert_non_null(run);
    return (nb_model_program){run, PATIENCE_S};
}

static void test_which_layers(void **state)
{
    static const struct {
        const char *text;
        int count, chosen, first, last;
    } known[] = {{"all", 5, 5, 0, 4}, {"half", 5, 3, 0, 4}, {"half", 6, 3, 0, 4}, {"half", 1, 1, 0, 0},
                 {"all", 1, 1, 0, 0}, {"0", 5, 1, 0, 0},    {"4", 5, 1, 4, 4},    {NULL, 0, 0, 0, 0}};
    static const char *const wrong[] = {"5", "-1", "", "some", "0x1", "1 ", "half ", NULL};
    nb_ctx *ctx = *state;
    int chosen, *layers;
    for (int i = 0; known[i].text; i++) {
        assert_ok(ctx, nb_model_layers(known[i].text, known[i].count, &chosen, &layers, ctx));
        assert_int_equal(chosen, known[i].chosen);
        assert_int_equal(layers[0], known[i].first);
        assert_int_equal(layers[chosen - 1], known[i].last);
    }
    for (int i = 0; wrong[i]; i++)
        assert_error_of(wrong[i], ctx, nb_model_layers(wrong[i], 5, &chosen, &layers, ctx), NB_EINVAL);
}

static void test_a_description(void **state)
{
    nb_ctx *ctx = *state;
    nb_model m;
    nb_model_program p = start(ctx);
    put("answer", "{" NAMED REST ", " BLIND SOURCES "}");
    assert_ok(ctx, nb_model_describe(&p, &m, ctx));
    assert_string_equal(asked(ctx), "{\"do\":\"describe\"}");
    assert_string_equal(m.name, "tiny");
    assert_int_equal(m.layers, 5);
    assert_int_equal(m.key_heads, 4);
    assert_int_equal(m.dv, 3);
    assert_int_equal(m.source_count, 2);
    assert_string_equal(m.sources[1], "b");
    assert_true(isnan(m.pass_s) && !m.causal);
    put("answer", "{" NAMED REST
                  ", \"key_heads\": 2, \"dv\": 7, \"causal\": true, \"seconds\": 0.25, \"more\": [], " SOURCES "}");
    assert_ok(ctx, nb_model_describe(&p, &m, ctx));
    assert_int_equal(m.key_heads, 2);
    assert_int_equal(m.dv, 7);
    assert_true(m.pass_s == 0.25 && m.causal);
    put("answer", "{\"model\": \"a\\nb\", " REST ", " BLIND "\"sources\": [\"c\\td\"]}");
    assert_ok(ctx, nb_model_describe(&p, &m, ctx));
    assert_string_equal(m.name, "a\\x0ab"); /* as all texts from outside */
    assert_string_equal(m.sources[0], "c\\x09d");
    nb_servers_end();
}

static void test_descriptions_that_are_wrong(void **state)
{
    static const char *const wrong[] = {
        "{" REST ", " BLIND SOURCES "}",
        "{\"model\": \"\", " REST ", " BLIND SOURCES "}",
        "{" NAMED "\"layers\": 0, \"heads\": 4, \"n\": 16, \"d\": 3, " BLIND SOURCES "}",
        "{" NAMED "\"layers\": 5, \"heads\": 4.5, \"n\": 16, \"d\": 3, " BLIND SOURCES "}",
        "{" NAMED "\"layers\": 5, \"heads\": 4, \"n\": 1e30, \"d\": 3, " BLIND SOURCES "}",
        "{" NAMED "\"layers\": 5, \"heads\": 4, \"n\": 16, " BLIND SOURCES "}",
        "{" NAMED REST ", \"key_heads\": 3, " BLIND SOURCES "}",
        "{" NAMED REST ", \"dv\": -1, " BLIND SOURCES "}",
        "{" NAMED REST ", " SOURCES "}",
        "{" NAMED REST ", \"causal\": 0, " SOURCES "}",
        "{" NAMED REST ", " BLIND "\"sources\": []}",
        "{" NAMED REST ", " BLIND "\"sources\": [\"a\", 1]}",
        "{" NAMED REST ", " BLIND "\"sources\": [\"a\", \"a\"]}",
        "{" NAMED REST ", " BLIND "\"seconds\": -1, " SOURCES "}",
        "{" NAMED "\"layers\": 1048576, \"heads\": 4, \"n\": 16, \"d\": 3, " BLIND SOURCES "}",
        "{\"error\": \"there is no such model\"}",
        "[]",
        NULL};
    nb_ctx *ctx = *state;
    nb_model m;
    nb_model_program p = start(ctx);
    for (int i = 0; wrong[i]; i++) {
        put("answer", wrong[i]);
        nb_status status = nb_model_describe(&p, &m, ctx);
        assert_true(status == NB_EINVAL || status == NB_EIO);
        assert_error_of(wrong[i], ctx, status, status);
    }
    p.run = "sh -c \"";
    assert_error(ctx, nb_model_describe(&p, &m, ctx), NB_EINVAL);
    nb_servers_end();
}

static void test_effects(void **state)
{
    static const char *const names[] = {"model_error", "kl", NULL};
    static const struct {
        const char *answer, *status;
        double values[2];
    } known[] = {{"{\"model_error\": 0.5, \"kl\": null}", "ok", {0.5, NAN}},
                 {"{\"kl\": -1}", "ok", {NAN, -1}},
                 {"{\"skipped\": \"formless\"}", "skipped", {NAN, NAN}},
                 {"{\"diverged\": \"infinite\"}", "diverged", {NAN, NAN}},
                 {"{\"error\": \"torn\"}", "failed", {NAN, NAN}},
                 {"{\"model_error\": 0.5, \"colour\": 1}", "failed", {NAN, NAN}},
                 {"{\"model_error\": \"0.5\"}", "failed", {NAN, NAN}},
                 {"{\"skipped\": 1}", "failed", {NAN, NAN}},
                 {"{\"model_error\": null}", "failed", {NAN, NAN}},
                 {"{}", "failed", {NAN, NAN}},
                 {"nonsense", "failed", {NAN, NAN}},
                 {"{\"model_error\": NaN}", "failed", {NAN, NAN}},
                 {NULL, NULL, {0, 0}}};
    nb_ctx *ctx = *state;
    nb_model_program p = start(ctx);
    nb_model_question q = {.source = 3,
                           .layer_count = 2,
                           .layers = (int[]){0, 2},
                           .attention = "streamed(tile=128)",
                           .seed = 20260101,
                           .trial = 4,
                           .plugins = (const char *const[]){NULL}};
    for (int i = 0; known[i].answer; i++) {
        double values[2] = {7, 7};
        nb_model_outcome outcome;
        put("answer", known[i].answer);
        assert_ok(ctx, nb_model_ask_effect(&p, &q, names, values, &outcome, ctx));
        assert_string_equal(outcome.status, known[i].status);
        assert_true(!outcome.reason == (strcmp(known[i].status, "ok") == 0));
        if (outcome.reason) tell(known[i].answer, outcome.reason);
        for (int v = 0; v < 2; v++)
            assert_true(isnan(known[i].values[v]) ? isnan(values[v]) : values[v] == known[i].values[v]);
    }
    assert_string_equal(asked(ctx), "{\"do\":\"effect\",\"source\":3,\"layers\":[0,2],\"attention\":"
                                    "\"streamed(tile=128)\",\"seed\":20260101,\"trial\":4}");
    nb_servers_end();
}

static void test_heads_that_are_not_there(void **state)
{
    nb_ctx *ctx = *state;
    nb_model m = {.heads = 4, .key_heads = 4, .n = 16, .d = 3, .dv = 3};
    nb_model_program p = start(ctx);
    put("answer", "{}");
    assert_int_equal(nb_model_write_heads(&p, &m, 1, 1, (int[]){2}, "/nonexistent/heads.safetensors", ctx), NB_EIO);
    nb_error_clear(ctx);
    assert_string_equal(asked(ctx), "{\"do\":\"heads\",\"source\":1,\"layers\":[2],"
                                    "\"file\":\"/nonexistent/heads.safetensors\"}");
    nb_servers_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_which_layers),
        test_with_ctx(test_a_description),
        test_with_ctx(test_descriptions_that_are_wrong),
        test_with_ctx(test_effects),
        test_with_ctx(test_heads_that_are_not_there),
    };
    return run_all(tests);
}
