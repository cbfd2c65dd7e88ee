/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Contexts, specs, options, mistakes and random streams. What is expected
 * follows from the grammar and the headers' promises. */
#include "testing.h"

static void test_arena_releases_to_mark(void **state)
{
    nb_ctx *ctx = *state;
    double *a = nb_alloc_reals(ctx, 3, 5);
    assert_non_null(a);
    assert_int_equal((uintptr_t)a % 64, 0);
    for (int i = 0; i < 15; i++) assert_true(a[i] == 0);
    nb_mark mark = nb_ctx_mark(ctx);
    for (int i = 0; i < 200; i++) assert_non_null(nb_alloc(ctx, 10, 7));
    nb_ctx_release(ctx, mark);
    assert_int_equal(nb_ctx_blocks(ctx), 1);
}

static void test_arena_refuses_overflow(void **state)
{
    nb_ctx *ctx = *state;
    assert_null(nb_alloc(ctx, SIZE_MAX / 2, 3));
    assert_error_of("nb_alloc(ctx, SIZE_MAX / 2, 3)", ctx, nb_error_status(ctx), NB_ENOMEM);
    assert_null(nb_alloc_reals(ctx, SIZE_MAX / 4, 8));
}

static void test_kth_allocation_fails(void **state)
{
    nb_ctx *ctx = *state;
    nb_ctx_fail_alloc(ctx, 3);
    assert_non_null(nb_alloc(ctx, 1, 1));
    assert_non_null(nb_alloc(ctx, 1, 1));
    assert_null(nb_alloc(ctx, 1, 1));
    assert_non_null(nb_alloc(ctx, 1, 1));
}

static int destroyed;
static void count_destroyed(void *ptr)
{
    destroyed += *(int *)ptr;
}

static void test_deferred_objects_are_destroyed_last_first(void **state)
{
    nb_ctx *ctx = *state;
    int one = 1, ten = 10;
    destroyed = 0;
    nb_mark mark = nb_ctx_mark(ctx);
    assert_ok(ctx, nb_defer(ctx, count_destroyed, &one));
    nb_ctx_fail_alloc(ctx, 1);
    assert_int_equal(nb_defer(ctx, count_destroyed, &ten), NB_ENOMEM);
    assert_int_equal(destroyed, 10);
    nb_ctx_release(ctx, mark);
    assert_int_equal(destroyed, 11);
}

static nb_status inner(nb_ctx *ctx)
{
    NB_FAIL(ctx, NB_EDIM, "rows %d", 7);
}

static nb_status outer(nb_ctx *ctx)
{
    NB_TRY(ctx, inner(ctx));
    return NB_OK;
}

static void test_first_error_stays_with_its_trace(void **state)
{
    nb_ctx *ctx = *state;
    assert_int_equal(outer(ctx), NB_EDIM);
    assert_int_equal(nb_error_set(ctx, NB_EIO, "f", 1, "second"), NB_EIO);
    assert_string_equal(nb_error_message(ctx), "rows 7");
    assert_non_null(strstr(nb_error_trace(ctx), "inner(ctx)"));
}

static void test_child_shares_errors_not_memory(void **state)
{
    nb_ctx *ctx = *state, *child = nb_ctx_child(ctx);
    assert_non_null(child);
    nb_mark mark = nb_ctx_mark(ctx);
    assert_non_null(nb_alloc(child, 1, 1));
    nb_ctx_release(ctx, mark);
    assert_int_equal(nb_ctx_blocks(child), 1);
    assert_int_equal(inner(child), NB_EDIM);
    assert_string_equal(nb_error_message(ctx), "rows 7");
}

/* Bytes as they were asked for, those of children too; the most since the last watch. */
static void test_bytes_held(void **state)
{
    nb_ctx *ctx = *state;
    assert_int_equal(nb_ctx_held(ctx), 0);
    assert_int_equal(nb_ctx_most(ctx), 0);
    assert_non_null(nb_alloc(ctx, 3, 7));
    nb_mark mark = nb_ctx_mark(ctx);
    assert_non_null(nb_alloc_raw(ctx, 100));
    assert_int_equal(nb_ctx_held(ctx), 821);
    nb_ctx_release(ctx, mark);
    assert_int_equal(nb_ctx_held(ctx), 21);
    assert_int_equal(nb_ctx_most(ctx), 821);
    nb_ctx_watch(ctx);
    assert_int_equal(nb_ctx_most(ctx), 21);
    assert_int_equal(nb_ctx_held(ctx), 21);
    nb_ctx *child = nb_ctx_child(ctx);
    assert_non_null(child);
    assert_non_null(nb_alloc(child, 1, 64));
    assert_non_null(nb_alloc(child, 0, 8));
    assert_int_equal(nb_ctx_held(ctx), 85);
    assert_int_equal(nb_ctx_held(child), 85);
    nb_ctx_release(child, 0);
    assert_int_equal(nb_ctx_held(ctx), 21);
    assert_int_equal(nb_ctx_most(ctx), 85);
    nb_ctx_fail_alloc(ctx, 1);
    assert_null(nb_alloc(ctx, 1, 1000));
    nb_error_clear(ctx);
    assert_null(nb_alloc(ctx, SIZE_MAX / 2, 3));
    nb_error_clear(ctx);
    assert_int_equal(nb_ctx_held(ctx), 21);
    assert_int_equal(nb_ctx_most(ctx), 85);
    nb_ctx_release(ctx, 0);
    assert_int_equal(nb_ctx_held(ctx), 0);
}

static nb_spec *parse(nb_ctx *ctx, const char *text, nb_mistakes *mistakes)
{
    nb_spec *spec = NULL;
    *mistakes = (nb_mistakes){.ctx = ctx};
    assert_ok(ctx, nb_spec_parse(text, (nb_place){"f", 1, 1}, &spec, mistakes, ctx));
    return spec;
}

static void test_spec_values(void **state)
{
    nb_mistakes m;
    nb_spec *s = parse(*state, " a ( x = -1.5e-3 , y=\"b, \\\"c\\\" \\\\\", z=[1, two],w=k(u=v) ) ", &m);
    assert_non_null(s);
    assert_string_equal(s->name, "a");
    assert_int_equal(s->count, 4);
    assert_string_equal(s->arguments[0].value.text, "-1.5e-3");
    assert_string_equal(s->arguments[1].value.text, "b, \"c\" \\");
    assert_int_equal(s->arguments[2].value.count, 2);
    assert_string_equal(s->arguments[2].value.items[1].text, "two");
    assert_string_equal(s->arguments[3].value.spec->arguments[0].value.text, "v");
    assert_int_equal(parse(*state, "a()", &m)->count, 0);
}

static void test_spec_mistakes_have_places(void **state)
{
    static const char *const bad[] = {
        "",
        "a(",
        "a(x)",
        "a(x=1",
        "a(x=1,)",
        "a(x=\"1)",
        "a(x=[1)",
        "a b",
        "a(x=)",
        "a(x= 'b')",
        "a(x=[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]])",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nb_mistakes m;
        assert_null(parse(*state, bad[i], &m));
        assert_int_equal(m.count, 1);
        tell(bad[i], m.texts[0]);
    }
}

static void test_spec_lists_expand(void **state)
{
    nb_ctx *ctx = *state;
    nb_mistakes m;
    nb_spec *s = parse(ctx, "a(x=[1, 2], y=b(z=[3, 4, 5]))", &m), **all;
    int count;
    assert_ok(ctx, nb_spec_expand(s, &all, &count, ctx));
    assert_int_equal(count, 6);
    assert_string_equal(all[0]->arguments[0].value.text, "1");
    assert_string_equal(all[1]->arguments[1].value.spec->arguments[0].value.text, "4");
    assert_string_equal(all[5]->arguments[0].value.text, "2");
    s = parse(ctx, "a(x=[])", &m);
    assert_null(s);
}

static void test_same_options_have_the_same_canonical_text(void **state)
{
    nb_choice a = choose(&nb_strategies, "kmeans(restarts=4,init=plusplus)", *state);
    nb_choice b = choose(&nb_strategies, " kmeans( init = plusplus , restarts = 04 )", *state);
    assert_string_equal(a.canonical, b.canonical);
    assert_string_equal(a.label, "kmeans(restarts=4)");
    nb_choice again = choose(&nb_strategies, a.canonical, *state);
    assert_string_equal(again.canonical, a.canonical);
    nb_choice svd = choose(&nb_cores, "svd(rcond=1e-5)", *state);
    assert_string_equal(svd.canonical, "svd(rcond=1.0000000000000001e-05, rank=all)");
    assert_string_equal(svd.label, "svd(rcond=1e-05)");
}

/* A spec as an option's value may be quoted, as one within another too; its mistakes keep their places. */
static void test_a_spec_may_be_quoted(void **state)
{
    static const char *const texts[] = {
        "nystrom(core=exact_rows(of=iterative(steps=5)))",
        "nystrom(core=\"exact_rows(of=iterative(steps=5))\")",
        "nystrom(core=exact_rows(of=\"iterative(steps=5)\"))",
        "nystrom(core=\" exact_rows ( of = \\\" iterative(steps=5) \\\" ) \")",
    };
    static const char *const bad[] = {
        "nystrom(core=\"iterative(step=6)\")",
        "nystrom(core=\"iterative(steps=6\")",
        "nystrom(core=\"iterativ\")",
        "nystrom(core=\"\")",
        "nystrom(core=\"iterative(steps=[6, 7])\")",
        "nystrom(landmarks=\"6\")",
    };
    nb_ctx *ctx = *state;
    assert_string_equal(choose(&nb_attentions, "nystrom(core=\"svd\", strategy=\"uniform\")", ctx).canonical,
                        choose(&nb_attentions, "nystrom(strategy=uniform, core=svd)", ctx).canonical);
    for (size_t i = 1; i < sizeof texts / sizeof *texts; i++)
        assert_string_equal(choose(&nb_attentions, texts[i], ctx).canonical,
                            choose(&nb_attentions, texts[0], ctx).canonical);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nb_mistakes m = {.ctx = ctx};
        nb_choices choices = {.count = 0};
        assert_ok(ctx, nb_choices_add(&choices, &nb_attentions, bad[i], (nb_place){"f", 2, 1}, &m, ctx));
        assert_int_equal(m.count, 1);
        tell(bad[i], m.texts[0]);
    }
}

/* An option that is newer than published rows is named where it is not at its default, and reads back. */
static void test_newer_options_are_silent_at_their_default(void **state)
{
    nb_choice usual = choose(&nb_strategies, "kmeans", *state);
    nb_choice told = choose(&nb_strategies, "kmeans(weights=equal)", *state);
    nb_choice other = choose(&nb_strategies, "kmeans(weights=attention, rows=all)", *state);
    assert_null(strstr(usual.canonical, "weights"));
    assert_string_equal(told.canonical, usual.canonical);
    assert_non_null(strstr(other.canonical, "weights=attention, rows=all"));
    assert_string_equal(choose(&nb_strategies, other.canonical, *state).canonical, other.canonical);
    assert_string_equal(choose(&nb_strategies, other.resolved, *state).canonical, other.canonical);
}

/* A problem's data are seeded neither by its defaults, nor by what selects a head or permutes tokens, nor by where its
 * file was found. */
static void test_data_are_seeded_by_what_draws_them(void **state)
{
    static const char *const known[][2] = {
        {"gaussian(n=48, permute=true, label=L)", "gaussian(n=48)"},
        {"gaussian(scale=0.1)", "gaussian(scale=0.10000000000000001)"},
        {"gaussian", "gaussian"},
        {"heads(file=\"a b/x, (y).npy\", head=3, max_n=12, permute=true, causal=auto)",
         "heads(file=\"a b/x, (y).npy\", max_n=12)"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *drawn;
        nb_choice choice = choose(&nb_problems, known[i][0], *state);
        for (const nb_option *o = choice.component->options; o->key; o++)
            if (o->names_files) *(const char **)(void *)((char *)choice.options + o->offset) = "/elsewhere/x.npy";
        assert_ok(*state, nb_choice_drawn(&choice, &drawn, *state));
        assert_string_equal(drawn, known[i][1]);
    }
    const char *drawn;
    nb_choice outside = nb_choice_named(&(nb_component){.name = "x"}, NULL, "mine(n=1");
    assert_ok(*state, nb_choice_drawn(&outside, &drawn, *state));
    assert_string_equal(drawn, "mine(n=1");
}

/* A label names a choice and is no part of what it is; where several have one, what they differ in follows. */
static void test_a_label_is_no_part_of_a_choice(void **state)
{
    nb_ctx *ctx = *state;
    nb_mistakes m = {.ctx = ctx};
    nb_choices choices = {.count = 0};
    const char *written;
    nb_choice plain = choose(&nb_strategies, "kmeans(restarts=4)", ctx);
    nb_choice named = choose(&nb_strategies, "kmeans(label=\"a, \\\"b\\\" = c\", restarts=4)", ctx);
    assert_string_equal(named.canonical, plain.canonical);
    assert_string_equal(named.resolved, plain.resolved);
    assert_string_equal(named.label, "a, \"b\" = c");
    assert_ok(ctx, nb_choice_full(&named, &written, ctx));
    assert_string_equal(written, named.label);
    assert_ok(ctx, nb_choice_full(&plain, &written, ctx));
    assert_string_equal(written, "kmeans(init=plusplus, restarts=4)");
    assert_ok(ctx, nb_choice_written(&named, &written, ctx));
    assert_string_equal(choose(&nb_strategies, written, ctx).given, named.given);
    assert_ok(ctx, nb_choice_written(&plain, &written, ctx));
    assert_string_equal(written, plain.resolved);
    assert_ok(ctx, nb_choices_list(&choices, &nb_strategies, "kmeans(restarts=[1, 4], init=random, label=L)",
                                   (nb_place){"e.yaml", 1, 1}, &m, ctx));
    assert_int_equal(m.count, 0);
    assert_string_equal(choices.items[0].label, "L, restarts=1");
    assert_string_equal(choices.items[1].given, "L, restarts=4");
}

static void test_an_integer_may_have_two_words(void **state)
{
    nb_ctx *ctx = *state;
    nb_mistakes m = {.ctx = ctx};
    nb_choices choices = {.count = 0};
    assert_non_null(strstr(choose(&nb_strategies, "profile", ctx).canonical, "rows=auto"));
    assert_non_null(strstr(choose(&nb_strategies, "profile(rows=all)", ctx).canonical, "rows=all"));
    assert_non_null(strstr(choose(&nb_strategies, "profile(rows=17)", ctx).canonical, "rows=17"));
    assert_ok(ctx, nb_choices_add(&choices, &nb_strategies, "profile(rows=some)", (nb_place){"e.yaml", 7, 3}, &m, ctx));
    assert_int_equal(m.count, 1);
    tell("profile(rows=some)", m.texts[0]);
}

static void test_all_mistakes_of_a_spec_are_told(void **state)
{
    nb_ctx *ctx = *state;
    nb_mistakes m = {.ctx = ctx};
    nb_choices choices = {.count = 0};
    assert_ok(ctx, nb_choices_add(&choices, &nb_strategies,
                                  "kmeans(restart=4, init=pluplus, iterations=0, snap=none, snap=none)",
                                  (nb_place){"e.yaml", 7, 3}, &m, ctx));
    assert_int_equal(m.count, 4);
    for (int i = 0; i < m.count; i++) tell("kmeans(...)", m.texts[i]);
    m = (nb_mistakes){.ctx = ctx};
    assert_ok(ctx, nb_choices_add(&choices, &nb_strategies, "kmens", (nb_place){"e.yaml", 1, 1}, &m, ctx));
    tell("kmens", m.texts[0]);
    assert_int_equal(choices.count, 0);
}

static void test_bad_numbers_are_refused(void **state)
{
    static const char *const bad[] = {"svd(rcond=nan)",       "svd(rcond=inf)",
                                      "svd(rcond=1e-3x)",     "svd(rcond=-1e-9)",
                                      "svd(rcond=1.5)",       "svd(rcond=true)",
                                      "svd(rcond=f(x=1))",    "svd(rcond=\"0.5\")",
                                      "iterative(steps=6.5)", "iterative(steps=99999999999999999999)",
                                      "iterative(steps=6k)"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nb_choice choice;
        assert_int_equal(nb_choice_parse(&nb_cores, bad[i], &choice, *state), NB_EINVAL);
        nb_error_clear(*state);
    }
}

static void test_hint_names_the_nearest_or_all(void **state)
{
    static const char *const names[] = {"strategies", "cores", "kernels", NULL};
    tell("stratgies", nb_hint("stratgies", names, *state));
    tell("xyzzy", nb_hint("xyzzy", names, *state));
    static const char *const many[] = {"abcdefgh", "bcdefgh", "cdefgh", "defgh", "efgh", "fgh",   "gh",
                                       "xy1",      "xz22",    "y",      "x",     "zzzz", "yxzzy", NULL};
    /* xy1 and xz22 are at distance 6, y, x, zzzz and yxzzy at 7: of equally near names the first come first. */
    const char *hint = nb_hint("xyz~~~~~", many, *state);
    tell("xyz~~~~~", hint);
    assert_non_null(strstr(hint, ": xy1, xz22, y"));
}

/* As a program of five lines in Python has it, from FNV-1a and the finalizer as they are published. */
static void test_source_seeds(void **state)
{
    (void)state;
    assert_int_equal(nb_source_seed(20260101, "minilm", "opticks"), 4055348870495378962);
    assert_int_equal(nb_source_seed(20260101, NULL, "opticks"), 3963139971320876969);
    assert_int_equal(nb_source_seed(1, "minilm", "opticks"), 5157514805833760832);
    assert_int_equal(nb_source_seed(20260101, "minilm", "opticks-b"), 5252040068204379039);
}

static unsigned long first_draw(nb_ctx *ctx, nb_stream stream)
{
    gsl_rng *rng;
    assert_ok(ctx, nb_random_new(&rng, ctx));
    nb_random_seed(rng, &stream);
    return gsl_rng_get(rng);
}

/* Each part of a stream's name gives other numbers, the same name the same. The
 * number was also had from NumPy (RandomState) and the hash written in Python: a
 * change would silently alter all
 * published results. */
static void test_streams(void **state)
{
    nb_stream s = {.seed = 20260101, .trial = 3, .role = "queries", .component = "uniform", .m = 0};
    unsigned long base = first_draw(*state, s);
    assert_int_equal(base, first_draw(*state, s));
    nb_stream others[] = {s, s, s, s, s, s};
    others[0].seed++;
    others[1].trial++;
    others[2].role = "keys";
    others[3].component = "uniform2";
    others[4].m = 8;
    others[5].role = "queriesu";
    others[5].component = "niform";
    for (size_t i = 0; i < 6; i++) assert_int_not_equal(base, first_draw(*state, others[i]));
    assert_int_equal(base, 0x731c23e0);
}

/* What is added stands in order, once, while there is room. */
static void test_registry_add(void **state)
{
    static const nb_component a = {.name = "a"}, b = {.name = "b"}, c = {.name = "c"}, d = {.name = "d"};
    nb_entry entries[4] = {{"b", &b}};
    const nb_registry registry = {.kind = "kind", .plural = "kinds", .entries = entries, .room = 4};
    assert_ok(*state, nb_registry_add(&registry, "c", &c, *state));
    assert_ok(*state, nb_registry_add(&registry, "a", &a, *state));
    const nb_component *const expected[] = {&a, &b, &c, NULL};
    for (int i = 0; i < 4; i++) assert_ptr_equal(entries[i].component, expected[i]);
    assert_error(*state, nb_registry_add(&registry, "b", &b, *state), NB_EINVAL);
    assert_error(*state, nb_registry_add(&registry, "d", &d, *state), NB_EINVAL);
    assert_ptr_equal(nb_registry_find(&registry, "c"), &c);
    assert_null(nb_registry_find(&registry, "d"));
}

/* A component has its file's name: not a part of it, nor more, nor another. */
static void test_registry_check(void **state)
{
    static const char *const wrong[] = {"uniform", "aa", "aaaa", "aaa.c", ""};
    nb_component c = {.name = "aaa"};
    nb_entry entries[] = {{"strategies/aaa.c", &c}, {0}};
    const nb_registry registry = {.kind = "strategy", .entries = entries};
    assert_ok(*state, nb_registry_check(&registry, *state));
    entries[0].file = "aaa";
    assert_ok(*state, nb_registry_check(&registry, *state));
    entries[0].file = "strategies/aaa.c";
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        c.name = wrong[i];
        assert_error_of(wrong[i], *state, nb_registry_check(&registry, *state), NB_EINVAL);
    }
}

/* One byte behind a block is seen, alive or freed, for sizes about the alignment. */
static void test_overrun(void **state)
{
    (void)state;
    for (size_t size = 0; size <= 130; size += size % 64 > 1 && size % 64 < 62 ? 20 : 1)
        for (int freed = 0; freed < 2; freed++) {
            nb_ctx *ctx = nb_ctx_new();
            volatile char *block = nb_alloc(ctx, size, 1);
            assert_ok(ctx, nb_defer(ctx, free, malloc(size + 1))); /* foreign: no guard is looked for */
            assert_false(nb_ctx_overrun(ctx));
            block[size] = 0;
            if (freed) nb_ctx_release(ctx, 0);
            assert_true(nb_ctx_overrun(ctx));
            nb_ctx_free(ctx);
        }
}

/* What was there stays, whatever room it moves to; where there is none it stays where it is. */
static void test_grown_array(void **state)
{
    int *items = NULL, capacity = 0, count = 0;
    for (; count < 100; count++) {
        int before = capacity;
        items = nb_grown(*state, items, sizeof *items, count, &capacity);
        assert_non_null(items);
        assert_true(capacity > count && (capacity == before || count == before));
        items[count] = 3 * count;
    }
    for (int i = 0; i < count; i++) assert_int_equal(items[i], 3 * i);
    count = capacity;
    nb_ctx_fail_alloc(*state, 1);
    assert_null(nb_grown(*state, items, sizeof *items, count, &capacity));
    assert_int_equal(capacity, count);
    assert_int_equal(items[99], 297);
    nb_error_clear(*state);
    capacity = (1 << 30) + 1; /* objects of no bytes: of others there would be no room */
    assert_non_null(nb_grown(*state, items, 0, capacity, &capacity));
    assert_int_equal(capacity, INT_MAX);
    assert_null(nb_grown(*state, items, 0, capacity, &capacity));
    assert_error(*state, nb_error_status(*state), NB_ENOMEM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_arena_releases_to_mark),
        test_with_ctx(test_arena_refuses_overflow),
        test_with_ctx(test_kth_allocation_fails),
        test_with_ctx(test_deferred_objects_are_destroyed_last_first),
        test_with_ctx(test_first_error_stays_with_its_trace),
        test_with_ctx(test_child_shares_errors_not_memory),
        test_with_ctx(test_bytes_held),
        test_with_ctx(test_spec_values),
        test_with_ctx(test_spec_mistakes_have_places),
        test_with_ctx(test_spec_lists_expand),
        test_with_ctx(test_same_options_have_the_same_canonical_text),
        test_with_ctx(test_a_spec_may_be_quoted),
        test_with_ctx(test_newer_options_are_silent_at_their_default),
        test_with_ctx(test_data_are_seeded_by_what_draws_them),
        test_with_ctx(test_a_label_is_no_part_of_a_choice),
        test_with_ctx(test_an_integer_may_have_two_words),
        test_with_ctx(test_all_mistakes_of_a_spec_are_told),
        test_with_ctx(test_bad_numbers_are_refused),
        test_with_ctx(test_hint_names_the_nearest_or_all),
        test_with_ctx(test_streams),
        cmocka_unit_test(test_source_seeds),
        test_with_ctx(test_registry_add),
        test_with_ctx(test_registry_check),
        cmocka_unit_test(test_overrun),
        test_with_ctx(test_grown_array),
    };
    return run_all(tests);
}
