/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The decision about OpenBLAS's kernels, on made-up machines. What each CPU can
 * do and what OpenBLAS 0.3.21 chooses there is from its driver/others/dynamic.c;
 * that Opteron's and Bulldozer's kernels die on Zen 3 (3DNow!, FMA4) was tried. */
#include "testing.h"

#include "linalg/blas.h"

static const nb_blas_situation zen3 = {.amd = true, .avx = true, .avx2_fma = true, .running = "Zen"};
static const nb_blas_situation zen4 = {.amd = true, .avx = true, .avx2_fma = true, .avx512 = true, .running = "Zen"};
static const nb_blas_situation xeon = {.avx = true, .avx2_fma = true, .avx512 = true, .running = "Prescott"};
static const nb_blas_situation excavator = {
    .amd = true, .avx = true, .avx2_fma = true, .fma4 = true, .running = "Excavator"};
static const nb_blas_situation old = {.running = "Nehalem"};

static nb_blas_decision decide(nb_ctx *ctx, nb_blas_situation s)
{
    nb_blas_decision d;
    assert_ok(ctx, nb_blas_decide(&s, &d, ctx));
    return d;
}

static void test_worse_kernels_are_replaced(void **state)
{
    nb_blas_situation s = xeon;
    assert_string_equal(decide(*state, s).core_type, "SkylakeX");
    s.running = "Haswell";
    assert_string_equal(decide(*state, s).core_type, "SkylakeX");
    s.avx512 = false;
    s.running = "Prescott";
    assert_string_equal(decide(*state, s).core_type, "Haswell");
    s.amd = true;
    assert_string_equal(decide(*state, s).core_type, "Zen");
    assert_string_equal(decide(*state, zen4).core_type, "SkylakeX"); /* as OpenBLAS from 0.3.21 on chooses itself */
}

static void test_right_or_newer_kernels_are_left(void **state)
{
    static const char *const running[] = {"SkylakeX", "Cooperlake", "Sapphirerapids", "SomethingNew"};
    nb_blas_situation s = xeon;
    for (size_t i = 0; i < 4; i++) {
        s.running = running[i];
        assert_null(decide(*state, s).core_type);
    }
    assert_null(decide(*state, zen3).core_type);
    assert_null(decide(*state, old).core_type);
    assert_null(decide(*state, excavator).core_type);
    s = zen3;
    s.running = "Haswell";
    assert_null(decide(*state, s).core_type); /* the same level */
}

static void test_the_user_wins(void **state)
{
    nb_blas_situation s = xeon;
    s.core_type = s.running = "Haswell";
    assert_null(decide(*state, s).core_type);
    s.core_type = "haswell";
    assert_null(decide(*state, s).core_type);
    s = zen3;
    s.core_type = s.running = "Nehalem";
    assert_null(decide(*state, s).core_type);
    assert_true(decide(*state, s).set_threads);
    s = excavator;
    s.core_type = "Steamroller";
    assert_null(decide(*state, s).core_type);
    s = xeon;
    s.core_type = s.running = "Cooperlake"; /* it runs, so the CPU can */
    assert_null(decide(*state, s).core_type);
    s = xeon;
    s.core_type = "";
    assert_string_equal(decide(*state, s).core_type, "SkylakeX");
}

static void refused(nb_ctx *ctx, nb_blas_situation s, const char *core_type)
{
    nb_blas_decision d;
    s.core_type = core_type;
    assert_error_of(core_type, ctx, nb_blas_decide(&s, &d, ctx), NB_EINVAL);
}

static void test_what_the_cpu_cannot_do_is_refused(void **state)
{
    refused(*state, zen3, "SkylakeX");
    refused(*state, xeon, "Bulldozer");
    refused(*state, xeon, "SapphireRapids"); /* needs more than is looked at */
    refused(*state, old, "Haswell");
    refused(*state, xeon, "Cooperlake");
    refused(*state, zen3, "Skylake");
    refused(*state, zen3, " Zen");
}

static void test_instructions_of_old_amds(void **state)
{
    static const char *const lost[] = {"Opteron",    "Opteron_SSE3", "Bulldozer",
                                       "Piledriver", "Steamroller",  "Excavator"};
    nb_blas_decision d;
    nb_blas_situation s = zen3;
    for (size_t i = 0; i < 6; i++) refused(*state, zen3, lost[i]);
    s.core_type = "Foo";
    assert_int_equal(nb_blas_decide(&s, &d, *state), NB_EINVAL);
    for (size_t i = 0; i < 6; i++) assert_null(strstr(nb_error_message(*state), lost[i]));
}

static void test_threads_and_the_second_start(void **state)
{
    nb_blas_situation s = zen3;
    assert_true(decide(*state, s).set_threads);
    s.threads_set = true;
    assert_false(decide(*state, s).set_threads);
    s = xeon;
    s.again = true;
    assert_null(decide(*state, s).core_type);
    assert_false(decide(*state, s).set_threads);
}

static void test_description(void **state)
{
    nb_blas_info info;
    (void)state;
    nb_blas_describe(&info);
    assert_non_null(strstr(info.config, "OpenBLAS"));
    assert_true(info.int_bits == 32 || info.int_bits == 64);
    assert_false(info.restarted);
    assert_true(info.threads >= 1 && strlen(info.kernels) > 1 && strlen(info.best) > 1);
    if (strcmp(info.kernels, info.best) == 0) assert_false(info.worse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_worse_kernels_are_replaced),
        test_with_ctx(test_right_or_newer_kernels_are_left),
        test_with_ctx(test_the_user_wins),
        test_with_ctx(test_what_the_cpu_cannot_do_is_refused),
        test_with_ctx(test_instructions_of_old_amds),
        test_with_ctx(test_threads_and_the_second_start),
        test_with_ctx(test_description),
    };
    return run_all(tests);
}
