/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that stay alive: shell scripts that answer with their process number, so that a test sees which one did. */
#include "testing.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/last_words.h"
#include "base/process.h"
#include "base/scratch.h"
#include "base/server.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY "echo '{\"ready\": 1}'; "
#define ANSWER "echo \"{\\\"pid\\\": $$}\"; "
#define X60 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define EACH(does) READY "while read -r line; do " does " done"

/* It is late after that: 20 times what a shell needs here, so that a busy machine does not fail the test. */
enum { PATIENCE_S = 20 };

static nb_service service(nb_ctx *ctx, const char *script)
{
    char **words = nb_alloc(ctx, 4, sizeof *words);
    assert_non_null(words);
    words[0] = nb_strdup(ctx, "sh");
    words[1] = nb_strdup(ctx, "-c");
    words[2] = nb_strdup(ctx, script);
    return (nb_service){.words = words, .start_s = PATIENCE_S, .timeout_s = PATIENCE_S};
}

static nb_reply ask(nb_ctx *ctx, const nb_service *s, const char *word)
{
    nb_reply reply;
    json_t *question = json_pack("{s:s}", "do", word);
    assert_ok(ctx, nb_server_ask(s, question, &reply, ctx));
    json_decref(question);
    assert_true(!reply.answer != !reply.trouble);
    return reply;
}

static pid_t answered(nb_ctx *ctx, const nb_service *s, const char *word)
{
    nb_reply reply = ask(ctx, s, word);
    if (!reply.answer) fail_msg("%s", reply.trouble);
    return (pid_t)json_integer_value(json_object_get(reply.answer, "pid"));
}

static void assert_trouble(nb_ctx *ctx, const nb_service *s, const char *word)
{
    nb_reply reply = ask(ctx, s, word);
    assert_non_null(reply.trouble);
    tell(s->words[1] ? s->words[2] : s->words[0], reply.trouble);
}

static bool runs(pid_t pid)
{
    return kill(pid, 0) == 0 || errno != ESRCH;
}

static void test_one_program_answers_all(void **state)
{
    nb_service s = service(*state, EACH("case $line in *tell*) echo told >&2 ;; esac; " ANSWER));
    nb_reply first = ask(*state, &s, "one");
    assert_true(first.start_s > 0);
    pid_t pid = (pid_t)json_integer_value(json_object_get(first.answer, "pid"));
    assert_true(pid > 1);
    for (int i = 0; i < 20; i++) assert_int_equal(answered(*state, &s, "again"), pid);
    nb_reply reply = ask(*state, &s, "tell");
    assert_string_equal(reply.said, ": told");
    assert_close(reply.start_s, 0, 0);
    assert_string_equal(ask(*state, &s, "again").said, ""); /* of this question */
    assert_int_equal(nb_servers_count(), 1);
    assert_true(runs(pid));
    nb_servers_end();
    assert_int_equal(nb_servers_count(), 0);
    assert_false(runs(pid));
    assert_int_not_equal(answered(*state, &s, "one"), pid);
}

static void test_the_question_arrives_and_its_folder_goes(void **state)
{
    nb_service s = service(*state, EACH("printf '%s\\n' \"$line\" >question; echo \"{\\\"in\\\": \\\"$(pwd)\\\"}\";"));
    const char *text, *folder;
    s.variable = "NB_TEST_SERVER=x";
    nb_reply reply = ask(*state, &s, "a \"b\" \\ c");
    folder = nb_strdup(*state, json_string_value(json_object_get(reply.answer, "in")));
    assert_ok(*state, nb_read_file(nb_format(*state, "%s/question", folder), &text, *state));
    assert_string_equal(text, "{\"do\":\"a \\\"b\\\" \\\\ c\"}\n");
    nb_servers_end();
    assert_int_equal(access(folder, F_OK), -1);
}

static void test_it_may_say_its_name(void **state)
{
    static const char *const bad[] = {"7", "\"\"", "\"a\\u0001b\"", "\"" X60 X60 "\""};
    nb_service named =
        service(*state, "echo '{\"ready\": 1, \"name\": \"mine\"}'; read -r line; echo '{\"error\": \"no\"}'");
    nb_reply reply = ask(*state, &named, "any");
    assert_string_equal(reply.name, "mine");
    assert_string_equal(reply.trouble, "no");
    nb_service silent = service(*state, EACH(ANSWER));
    assert_null(ask(*state, &silent, "any").name);
    for (int i = 0; i < 4; i++) {
        nb_service s = service(*state, nb_format(*state, "echo '{\"ready\": 1, \"name\": %s}'; read -r line", bad[i]));
        assert_trouble(*state, &s, "any");
    }
    nb_servers_end();
}

/* In a forked process, as a worker is one, which hands over what it has told. */
static void in_a_worker(void **state, void (*test)(void **state))
{
    pid_t pid;
    nb_ending ending;
    FILE *its = tmpfile();
    assert_non_null(its);
    assert_ok(*state, nb_process_fork(&pid, *state));
    if (pid == 0) {
        test(state);
        _exit(fflush(telling.out) || fputs(telling.text, its) < 0 || fflush(its));
    }
    assert_ok(*state, nb_process_await(pid, 3 * PATIENCE_S, &ending, *state));
    assert_false(ending.timed_out);
    assert_int_equal(ending.how, 0);
    rewind(its);
    for (int byte; (byte = getc(its)) != EOF;) putc(byte, telling.out);
    fclose(its);
}

static void error_is_no_end(void **state)
{
    nb_service s = service(*state, EACH("case $line in *bad*) echo $$ 0x7ffd12345678 in $(pwd) >&2; "
                                        "echo \"{\\\"error\\\": \\\"not in $(pwd)\\\"}\" ;; *) " ANSWER ";; esac;"));
    pid_t pid = answered(*state, &s, "good");
    /* Numbers of fewer than four digits stay: they may mean anything. */
    const char *number = pid > 999 ? "#" : nb_format(*state, "%d", (int)pid);
    /* NOLINT(wording): the words are the test's */
    assert_string_equal(ask(*state, &s, "bad").trouble, nb_format(*state, "not in .: %s 0x# in .", number));
    assert_int_equal(answered(*state, &s, "good"), pid);
}

static void test_an_error_is_no_end(void **state)
{
    in_a_worker(state, error_is_no_end);
}

static void test_death_between_questions(void **state)
{
    nb_service s = service(*state, EACH(ANSWER));
    pid_t pid = answered(*state, &s, "one");
    kill(pid, SIGKILL);
    pid_t next = answered(*state, &s, "two");
    assert_int_not_equal(next, pid);
    assert_int_equal(answered(*state, &s, "three"), next);
    assert_int_equal(nb_servers_count(), 1);
    nb_service once = service(*state, READY "read -r line; " ANSWER "exit 3");
    for (int i = 0; i < 5; i++) answered(*state, &once, "each of a new one");
}

/* What was asked before is no reason to fail: one that does not get over its second question answers all. What fails
 * on its first question has failed. */
static void test_the_same_question_is_asked_of_a_new_one(void **state)
{
    nb_service second = service(*state, READY "read -r line; " ANSWER "read -r line; echo why >&2; exit 4");
    for (int i = 0; i < 4; i++) answered(*state, &second, "any");
    nb_service junk = service(*state, READY "read -r line; " ANSWER "read -r line; echo junk; read -r line");
    for (int i = 0; i < 4; i++) answered(*state, &junk, "any");
    nb_service first = service(*state, READY "read -r line; echo why >&2; exit 4");
    for (int i = 0; i < 2; i++) assert_trouble(*state, &first, "any");
    nb_service bad = service(*state, EACH("case $line in *bad*) exit 5 ;; esac; " ANSWER));
    answered(*state, &bad, "good");
    assert_trouble(*state, &bad, "bad");
    answered(*state, &bad, "good");
}

static void test_ends(void **state)
{
    static const char *const cases[] = {
        READY "read -r line",
        READY "read -r line; kill -9 $$",
        READY "read -r line; exec >&-; echo oops >&2; sleep 30.2",
        "exit 0",
        "echo no >&2; exit 2",
        "echo hello; read -r line",
        "echo '{\"ready\": 2}'; read -r line",
        READY "read -r line; echo '[1]'; read -r line",
        READY "read -r line; echo '{\"error\": 3}'; read -r line",
        READY "read -r line; printf '{}\\n{}\\n'; read -r line",
        READY "read -r line; printf '{}x'; exit 1",
        READY "read -r line; head -c 70000 /dev/zero | tr '\\0' x; sleep 30.2",
        READY "sleep 30.2 & read -r line; exit 7", /* what it has started holds its output open */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nb_service s = service(*state, cases[i]);
        double begun_s = nb_clock_s();
        assert_trouble(*state, &s, "any");
        assert_at_most(nb_clock_s() - begun_s, PATIENCE_S / 2.0); /* it was not waited for */
        assert_int_equal(nb_servers_count(), 0);
    }
}

static void test_ends_in_a_worker(void **state)
{
    in_a_worker(state, test_ends);
}

static void test_late(void **state)
{
    nb_service s = service(*state, EACH("case $line in *sleep*) sleep 30.3 ;; esac; " ANSWER));
    pid_t pid = answered(*state, &s, "any");
    s.timeout_s = 0.2;
    assert_trouble(*state, &s, "sleep");
    assert_false(runs(pid));
    s.timeout_s = PATIENCE_S;
    answered(*state, &s, "any");
    nb_service deaf = service(*state, "trap '' TERM; " READY "while :; do sleep 30.3; done");
    deaf.timeout_s = 0.2;
    assert_trouble(*state, &deaf, "any");
    nb_service slow = service(*state, "sleep 30.3");
    slow.start_s = 0.2;
    assert_trouble(*state, &slow, "any");
}

static void test_late_in_a_worker(void **state)
{
    in_a_worker(state, test_late);
}

/* A pipe holds 64 KiB. */
static void test_long_question(void **state)
{
    char *text = nb_alloc(*state, 300001, 1);
    memset(text, 'a', 300000);
    nb_service reader = service(*state, EACH("echo \"{\\\"pid\\\": ${#line}}\";"));
    assert_int_equal(answered(*state, &reader, text), 300000 + strlen("{\"do\":\"\"}"));
    nb_service other = service(*state, READY "sleep 30.4");
    other.timeout_s = 0.2;
    assert_trouble(*state, &other, text);
    nb_service gone = service(*state, READY "exec <&-; exit 6");
    assert_trouble(*state, &gone, text);
    nb_service left = service(*state, READY "exec 3<&0; sleep 30.4 <&3 & exit 6"); /* what it has started could read */
    assert_trouble(*state, &left, text);
}

static void test_long_question_in_a_worker(void **state)
{
    in_a_worker(state, test_long_question);
}

static void test_many_at_a_time(void **state)
{
    nb_service s[NB_SERVERS + 1];
    pid_t pid[NB_SERVERS + 1];
    for (int i = 0; i <= NB_SERVERS; i++) s[i] = service(*state, nb_format(*state, ": %d; " EACH(ANSWER), i));
    for (int i = 0; i < NB_SERVERS; i++) pid[i] = answered(*state, &s[i], "one");
    assert_int_equal(answered(*state, &s[0], "two"), pid[0]); /* now the second has not been used for longest */
    answered(*state, &s[NB_SERVERS], "one");
    assert_int_equal(nb_servers_count(), NB_SERVERS);
    assert_false(runs(pid[1]));
    assert_int_equal(answered(*state, &s[0], "three"), pid[0]);
    assert_int_not_equal(answered(*state, &s[1], "two"), pid[1]);
}

/* As in a worker: it has servers of its own, which end with it, however that ends. */
static void test_in_a_forked_process(void **state)
{
    pid_t worker, theirs;
    int ends[2];
    nb_ending ending;
    nb_service s = service(*state, EACH(ANSWER));
    pid_t ours = answered(*state, &s, "one");
    assert_int_equal(pipe(ends), 0);
    assert_ok(*state, nb_process_fork(&worker, *state));
    if (worker == 0) {
        if (nb_servers_count() != 0) _exit(1);
        theirs = answered(*state, &s, "one");
        if (theirs == ours || answered(*state, &s, "two") != theirs) _exit(2);
        if (write(ends[1], &theirs, sizeof theirs) != sizeof theirs) _exit(3);
        raise(SIGKILL);
    }
    assert_ok(*state, nb_process_await(worker, PATIENCE_S, &ending, *state));
    assert_true(WIFSIGNALED(ending.how) && WTERMSIG(ending.how) == SIGKILL);
    assert_int_equal(read(ends[0], &theirs, sizeof theirs), sizeof theirs);
    assert_false(runs(theirs));
    assert_int_equal(answered(*state, &s, "two"), ours);
    close(ends[0]);
    close(ends[1]);
}

static void test_not_started(void **state)
{
    char *words[] = {nb_strdup(*state, "no-such-program"), NULL};
    nb_service s = {.words = words, .start_s = PATIENCE_S, .timeout_s = PATIENCE_S};
    assert_trouble(*state, &s, "any");
}

static int end_all(void **state)
{
    nb_servers_end();
    return free_ctx(state);
}

/* NOLINT(wording): the words are the test's */
static void assert_words(const char *log, size_t bytes, const char *expected, nb_ctx *ctx)
{
    const char *folder, *path, *words;
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    path = nb_format(ctx, "%s/log", folder);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_int_equal(fwrite(log, 1, bytes, out), bytes);
    assert_int_equal(fclose(out), 0);
    assert_ok(ctx, nb_last_words(path, folder, 1, &words, ctx));
    assert_string_equal(words, expected);
    assert_ok(ctx, nb_last_words(nb_format(ctx, "%s/none", folder), folder, 1, &words, ctx));
    assert_string_equal(words, "");
}

/* The log is one line: what is no text, line ends and blanks at the end do not cut it short. */
static void test_last_words(void **state)
{
    static const char log[] = "first\0 of\ttwo\nlast \n";
    assert_words(log, sizeof log - 1, ": first of two|last", *state);
    assert_words("", 0, "", *state);
    assert_words("\n \n", 3, "", *state);
}

/* Of a long one the start is kept, where Node has its message behind lines of the source, and the end, where Python has
 * it. Blanks and long lines leave it room. */
static void test_start_and_end_of_a_long_log(void **state)
{
    char log[8192], expected[1024], *source = nb_format(*state, "%*s", 300, "");
    for (size_t i = 0; i < 300; i++) source[i] = "\xc3\xa4"[i % 2]; /* letters of two bytes */
    for (int lines = 40; lines <= 160; lines *= 2) {                /* less and more than is read at once */
        snprintf(log, sizeof log, "/tmp/x.js:3\na%s\n%*s^\n\nError: bad\n", source, 200, "");
        for (int i = 0; i < lines; i++) strcat(log, "    at Object.<anonymous> (x.js:3:7)\n");
        strcat(log, "\nthe last line\n");
        snprintf(expected, sizeof expected, ": /tmp/x.js:3|a%.156s...|^|Error: bad", source);
        for (size_t at = strlen(expected) - 2; at + 33 <= 400; at += 33)
            strcat(expected, "|at Object.<anonymous> (x.js:3:7)");
        strcat(expected, "|...");
        for (size_t at = 14; at + 33 <= 400; at += 33) strcat(expected, "|at Object.<anonymous> (x.js:3:7)");
        strcat(expected, "|the last line");
        assert_words(log, strlen(log), expected, *state);
    }
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN); /* as in main */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_program_answers_all, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_it_may_say_its_name, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_the_question_arrives_and_its_folder_goes, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_an_error_is_no_end, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_death_between_questions, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_the_same_question_is_asked_of_a_new_one, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_ends, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_ends_in_a_worker, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_late, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_last_words, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_start_and_end_of_a_long_log, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_late_in_a_worker, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_long_question, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_long_question_in_a_worker, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_many_at_a_time, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_in_a_forked_process, make_ctx, end_all),
        cmocka_unit_test_setup_teardown(test_not_started, make_ctx, end_all),
    };
    nb_process_begin();
    int failed = run_all(tests);
    nb_process_finish();
    return failed;
}
