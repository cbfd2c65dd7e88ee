/* SPDX-License-Identifier: GPL-3.0-or-later */
/* told.h - sentences of the program are golden: a test tells what it asked and what was said, and at the end of the
 * test all that it has told must be its section of tests/golden/unit/FILE.txt. After a change of words
 * `tests/golden.sh --renew FILE` writes the sections of tests/unit/FILE.c anew.
 *
 * A test that fails or is skipped is not compared. Names of temporary folders become /WORK, numbers of functions that a
 * program adds become #; a test tells no other text that differs between machines, kernels, builds or runs. */
#ifndef NB_TOLD_H
#define NB_TOLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    char file[64];                 /* FILE */
    const struct CMUnitTest *test; /* the one that runs */
    FILE *out;                     /* writes to `text`, which fflush makes whole */
    char *text;
    size_t size;
} telling;

/* A file without a name that holds the text. */
static inline FILE *told_file(const char *text)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0 && fflush(file) == 0);
    return file;
}

/* Up to `end`; bytes that a text file should not have are told by their numbers, blanks at the end of a line too, and
 * of a question the ends of lines. */
static inline void tell_bytes(const char *text, const char *end, bool asked)
{
    for (; text < end; text++) {
        bool last = text[1] == '\0' || text[1] == '\n';
        if ((*text == '\n' && !asked) || (*text > ' ' && *text <= '~') || (*text == ' ' && !last))
            putc(*text, telling.out);
        else
            fprintf(telling.out, "\\x%02x", (unsigned char)*text);
    }
}

static inline void tell_text(const char *text, bool asked)
{
    static const char chance[] = "((/[A-Za-z0-9._-]+)*/nysbench-(scratch|data)-[A-Za-z0-9-]+(/[0-9]+)?)"
                                 "|callback\\(id=[0-9]+";
    regex_t pattern;
    regmatch_t at[2];
    assert_int_equal(regcomp(&pattern, chance, REG_EXTENDED), 0);
    for (; regexec(&pattern, text, 2, at, 0) == 0; text += at[0].rm_eo) {
        tell_bytes(text, text + at[0].rm_so, asked);
        fputs(at[1].rm_so < 0 ? "callback(id=#" : "/WORK", telling.out);
    }
    tell_bytes(text, text + strlen(text), asked);
    regfree(&pattern);
}

/* Adds what was said, NULL if nothing, when something was asked. */
static inline void tell(const char *asked, const char *said)
{
    if (!telling.out) fail_msg("no test runs: main returns run_all");
    fputs(*asked ? "$ " : "$", telling.out);
    tell_text(asked, true);
    putc('\n', telling.out);
    if (said) tell_text(said, false);
    fputs(said && *said ? "\n\n" : "\n", telling.out);
}

/* The section of the test that runs, which the caller frees. */
static inline char *told_before(const char *path)
{
    char *section, *line = NULL;
    size_t size, room = 0;
    bool within = false;
    FILE *golden = fopen(path, "r"), *out = open_memstream(&section, &size);
    assert_non_null(out);
    while (golden && getline(&line, &room, golden) >= 0) {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, "=== ", 4) == 0)
            within = length == 4 + strlen(telling.test->name) && !strncmp(line + 4, telling.test->name, length - 4);
        else if (within)
            fputs(line, out);
    }
    free(line);
    if (golden) fclose(golden);
    fclose(out);
    return section;
}

static inline void renew_told(const char *path)
{
    char command[512];
    FILE *now;
    if (!telling.size && access(path, F_OK) != 0) return;
    now = told_file(telling.text);
    snprintf(command, sizeof command, "tests/support/section.sh put %s '%s' /dev/fd/%d", path, telling.test->name,
             fileno(now));
    assert_int_equal(system(command), 0);
    fclose(now);
}

static inline void compare_told(const char *path)
{
    char *before = told_before(path), command[512];
    bool differs = strcmp(before, telling.text) != 0;
    if (differs) {
        FILE *files[2] = {told_file(before), told_file(telling.text)};
        snprintf(command, sizeof command, "diff -u --label '%s, %s' --label now /dev/fd/%d /dev/fd/%d >&2", path,
                 telling.test->name, fileno(files[0]), fileno(files[1]));
        if (system(command) < 0) fputs("diff cannot be run\n", stderr);
        for (int i = 0; i < 2; i++) fclose(files[i]);
    }
    free(before);
    if (differs)
        fail_msg("other words than in %s; if that is meant, tests/golden.sh --renew %s, and commit what it writes",
                 path, telling.file);
}

static inline int begin_telling(void **state)
{
    telling.test = *state;
    telling.out = open_memstream(&telling.text, &telling.size);
    *state = telling.test->initial_state;
    return !telling.out ? -1 : telling.test->setup_func ? telling.test->setup_func(state) : 0;
}

static inline bool renews(void)
{
    const char *golden = getenv("GOLDEN");
    return golden && strcmp(golden, "renew") == 0;
}

static inline void told_path(char *path, size_t size)
{
    snprintf(path, size, "tests/golden/unit/%s.txt", telling.file);
}

static inline void run_telling(void **state)
{
    char path[128];
    telling.test->test_func(state);
    assert_int_equal(fflush(telling.out), 0);
    told_path(path, sizeof path);
    if (renews())
        renew_told(path);
    else
        compare_told(path);
}

static inline int end_telling(void **state)
{
    fclose(telling.out);
    free(telling.text);
    telling.out = NULL, telling.text = NULL;
    return telling.test->teardown_func ? telling.test->teardown_func(state) : 0;
}

/* Drops the sections of tests that are no more. */
static inline int keep_told(const struct CMUnitTest *tests, size_t count)
{
    char path[128], command[256];
    told_path(path, sizeof path);
    if (access(path, F_OK) != 0) return 0;
    snprintf(command, sizeof command, "tests/support/section.sh keep %s", path);
    FILE *names = popen(command, "w");
    if (!names) return -1;
    for (size_t i = 0; i < count; i++) fprintf(names, "%s\n", tests[i].name);
    return pclose(names);
}

static inline int run_all_of(const char *path, const struct CMUnitTest *tests, size_t count)
{
    struct CMUnitTest *each = calloc(count, sizeof *each);
    const char *file = strrchr(path, '/') + 1;
    if (!each) return -1;
    snprintf(telling.file, sizeof telling.file, "%.*s", (int)strcspn(file, "."), file);
    for (size_t i = 0; i < count; i++)
        each[i] = (struct CMUnitTest){.name = tests[i].name,
                                      .test_func = run_telling,
                                      .setup_func = begin_telling,
                                      .teardown_func = end_telling,
                                      .initial_state = (void *)(uintptr_t)&tests[i]};
    int failed = _cmocka_run_group_tests(telling.file, each, count, NULL, NULL);
    free(each);
    if (!failed && renews()) failed = keep_told(tests, count);
    return failed;
}

/* Runs an array of tests; main returns what this returns. */
#define run_all(tests) run_all_of(__FILE__, tests, sizeof(tests) / sizeof *(tests))

#endif
