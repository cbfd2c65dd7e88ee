/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that are started: what they are given, what they say, and how they end. A shell tells it. */
#include "testing.h"

#include "base/capture.h"
#include "base/process.h"
#include "base/scratch.h"

#include <sys/wait.h>
#include <unistd.h>

static char *word(nb_ctx *ctx, const char *text)
{
    char *copy = nb_strdup(ctx, text);
    assert_non_null(copy);
    return copy;
}

static char **shell(nb_ctx *ctx, const char *script)
{
    char **words = nb_alloc(ctx, 4, sizeof *words);
    assert_non_null(words);
    words[0] = word(ctx, "sh");
    words[1] = word(ctx, "-c");
    words[2] = word(ctx, script);
    return words;
}

static const char *said(nb_ctx *ctx, const char *folder, const char *script)
{
    const char *output;
    assert_ok(ctx, nb_capture(shell(ctx, script), folder, 20, &output, ctx));
    return output;
}

static const char *text_of(nb_ctx *ctx, const char *folder, const char *name)
{
    const char *path = nb_format(ctx, "%s/%s", folder, name);
    char *text = nb_alloc(ctx, 256, 1);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    assert_true(fread(text, 1, 255, in) < 255);
    fclose(in);
    return text;
}

static void test_capture(void **state)
{
    const char *folder, *output;
    assert_ok(*state, nb_temporary_folder(&folder, *state));
    assert_string_equal(said(*state, NULL, "printf 'two\nlines'"), "two\nlines");
    assert_string_equal(
        said(*state, folder, "pwd -P"),
        nb_format(*state, "%s\n", said(*state, NULL, nb_format(*state, "cd '%s'; printf %%s \"$(pwd -P)\"", folder))));
    assert_string_equal(said(*state, NULL, "cat"), ""); /* there is nothing to read */
    assert_int_equal(strlen(said(*state, NULL, "head -c 100000 /dev/zero | tr '\\0' x")), 100000);
    assert_error(*state, nb_capture(shell(*state, "exit 3"), NULL, 20, &output, *state), NB_EIO, "sh: exit status 3");
    assert_error(*state, nb_capture(shell(*state, "kill -TERM $$"), NULL, 20, &output, *state), NB_EIO,
                 "sh: killed by signal 15");
    assert_error(*state, nb_capture(shell(*state, "sleep 30"), NULL, 0.1, &output, *state), NB_EIO,
                 "sh: not done after 0.1 s");
    char *nobody[] = {word(*state, "no-such-program"), NULL};
    assert_error(*state, nb_capture(nobody, NULL, 20, &output, *state), NB_EIO,
                 "no-such-program cannot be started: is it installed, and in PATH?");
    assert_error(*state, nb_capture(shell(*state, ":"), "/no/such/folder", 20, &output, *state), NB_EIO,
                 "sh cannot be started");
}

static void run(nb_ctx *ctx, const nb_process *program, int status)
{
    pid_t pid;
    nb_ending ending;
    assert_ok(ctx, nb_process_spawn(program, &pid, ctx));
    assert_ok(ctx, nb_process_await(pid, 20, &ending, ctx));
    assert_false(ending.timed_out);
    assert_true(WIFEXITED(ending.how));
    assert_int_equal(WEXITSTATUS(ending.how), status);
}

/* The second run finds the log of the first; the variable takes the place of another of its name, and no other's. */
static void assert_spawns(nb_ctx *ctx)
{
    const char *folder;
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    setenv("NB_TEST_GIVEN", "before", 1);
    setenv("NB_TEST_GIVEN_TOO", "kept", 1);
    nb_process program = {.words = shell(ctx, "echo $NB_TEST_GIVEN $NB_TEST_GIVEN_TOO >&2; echo lost"),
                          .folder = folder,
                          .log = "log",
                          .variable = "NB_TEST_GIVEN=now"};
    run(ctx, &program, 0);
    program.variable = NULL;
    run(ctx, &program, 0);
    assert_string_equal(text_of(ctx, folder, "log"), "now kept\nbefore kept\n");
    char *nobody[] = {word(ctx, "no-such-program"), NULL};
    program = (nb_process){.words = nobody, .folder = folder, .log = "why"};
    run(ctx, &program, NB_NOT_STARTED);
    assert_string_equal(text_of(ctx, folder, "why"), "no-such-program: cannot be started: No such file or directory");
}

static void test_spawn(void **state)
{
    assert_spawns(*state);
}

static void test_spawn_from_a_forked_process(void **state)
{
    pid_t pid;
    nb_ending ending;
    assert_ok(*state, nb_process_fork(&pid, *state));
    if (pid == 0) {
        assert_spawns(*state);
        _exit(0);
    }
    assert_ok(*state, nb_process_await(pid, 60, &ending, *state));
    assert_false(ending.timed_out);
    assert_int_equal(ending.how, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_capture), test_with_ctx(test_spawn),
                                       test_with_ctx(test_spawn_from_a_forked_process)};
    nb_process_begin();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    nb_process_finish();
    return failed;
}
