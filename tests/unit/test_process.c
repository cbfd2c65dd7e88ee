/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs that are started: what they are given, what they say, and how they end. A shell tells it. Functions in a
 * child: what comes back, however it ends. */
#include "testing.h"

#include "base/apart.h"
#include "base/process.h"
#include "base/scratch.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
    assert_error(*state, nb_capture(shell(*state, "exit 3"), NULL, 20, &output, *state), NB_EIO);
    assert_error(*state, nb_capture(shell(*state, "kill -TERM $$"), NULL, 20, &output, *state), NB_EIO);
    assert_error(*state, nb_capture(shell(*state, "sleep 30"), NULL, 0.1, &output, *state), NB_EIO);
    char *nobody[] = {word(*state, "no-such-program"), NULL};
    assert_error(*state, nb_capture(nobody, NULL, 20, &output, *state), NB_EIO);
    assert_error(*state, nb_capture(shell(*state, ":"), "/no/such/folder", 20, &output, *state), NB_EIO);
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
    /* NOLINT(wording): values of two variables */
    assert_string_equal(text_of(ctx, folder, "log"), "now kept\nbefore kept\n");
    char *nobody[] = {word(ctx, "no-such-program"), NULL};
    program = (nb_process){.words = nobody, .folder = folder, .log = "why"};
    run(ctx, &program, NB_NOT_STARTED);
    tell("no-such-program", text_of(ctx, folder, "why"));
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

typedef enum { RETURNS, FAILS, LEAVES, DIES, HANGS, CLOSES, BABBLES, ADDS } way;

typedef struct {
    way way;
    int count, moved;
    double *numbers, *none;
    const char *text, *no_text;
} letter;

enum { NUMBERS = 5000, PIPE = 3 };

static nb_status write_letter(void *self, nb_ctx *ctx)
{
    letter *l = self;
    if (l->way == FAILS) NB_FAIL(ctx, NB_ENUMERIC, "number?");
    if (l->way == LEAVES) exit(0);
    if (l->way == DIES) abort();
    if (l->way == CLOSES) close(PIPE);
    if (l->way == CLOSES || l->way == HANGS) pause();
    if (l->way == BABBLES && write(PIPE, "x", 1) != 1) abort();
    l->count = NUMBERS;
    NB_NEED(l->numbers, nb_alloc_reals(ctx, NUMBERS, 1));
    for (int i = 0; i < NUMBERS; i++) l->numbers[i] = i;
    NB_NEED(l->text, nb_format(ctx, "from %d", (int)getppid()));
    return NB_OK;
}

static void move_letter(void *self, nb_parcel *parcel)
{
    letter *l = self;
    nb_parcel_move(parcel, &l->count, sizeof l->count);
    l->numbers = nb_parcel_array(parcel, l->numbers, (size_t)l->count, sizeof *l->numbers);
    l->none = nb_parcel_array(parcel, l->none, SIZE_MAX, sizeof *l->none);
    l->text = nb_parcel_text(parcel, l->text);
    l->no_text = nb_parcel_text(parcel, l->no_text);
    if (++l->moved == 2 && l->way == ADDS && write(PIPE, "x", 1) != 1) abort(); /* behind what the child sends */
}

static nb_return send(nb_ctx *ctx, way how, letter *l)
{
    nb_return back;
    *l = (letter){.way = how};
    assert_ok(ctx,
              nb_errand_run(
                  &(nb_errand){.self = l, .act = write_letter, .move = move_letter, .limit_s = how == HANGS ? 0.2 : 20},
                  &back, ctx));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    return back;
}

static void test_errand(void **state)
{
    letter l;
    nb_return back = send(*state, RETURNS, &l);
    assert_int_equal(back.how, NB_RETURNED);
    assert_int_equal(back.status, NB_OK);
    assert_int_equal(l.count, NUMBERS);
    for (int i = 0; i < NUMBERS; i++) assert_true(l.numbers[i] == i);
    assert_null(l.none);
    assert_null(l.no_text);
    assert_string_equal(l.text, nb_format(*state, "from %d", (int)getpid()));
    back = send(*state, FAILS, &l);
    assert_int_equal(back.how, NB_RETURNED);
    assert_int_equal(back.status, NB_ENUMERIC);
    assert_string_equal(back.message, "number?");
    back = send(*state, LEAVES, &l);
    assert_int_equal(back.how, NB_ENDED);
    assert_int_equal(back.ending.how, 0);
    back = send(*state, DIES, &l);
    assert_int_equal(back.how, NB_ENDED);
    assert_true(WIFSIGNALED(back.ending.how) && WTERMSIG(back.ending.how) == SIGABRT);
    back = send(*state, HANGS, &l);
    assert_int_equal(back.how, NB_ENDED);
    assert_true(back.ending.timed_out);
    assert_int_equal(send(*state, CLOSES, &l).how, NB_CLOSED);
    assert_int_equal(send(*state, BABBLES, &l).how, NB_GARBLED);
    assert_int_equal(send(*state, ADDS, &l).how, NB_GARBLED);
}

/* A frame may have as many bytes as its errand says, and little more. */
static void test_size_of_a_frame(void **state)
{
    letter l = {.way = RETURNS};
    nb_return back;
    nb_errand errand = {.self = &l, .act = write_letter, .move = move_letter, .limit_s = 20, .most = 1 << 20};
    assert_ok(*state, nb_errand_run(&errand, &back, *state));
    assert_int_equal(back.how, NB_RETURNED);
    errand.most = NUMBERS * sizeof(double) / 2;
    assert_ok(*state, nb_errand_run(&errand, &back, *state));
    assert_int_equal(back.how, NB_GARBLED);
}

static int number_in(nb_ctx *ctx, const char *folder, const char *name)
{
    const char *path = nb_format(ctx, "%s/%s", folder, name);
    for (int i = 0; i < 2000 && access(path, F_OK) != 0; i++) usleep(10000);
    return atoi(text_of(ctx, folder, name));
}

/* What a program has started as a daemon lives as long as the program, whoever else ends. */
static void test_daemon_of_a_program(void **state)
{
    static const char script[] = "sh -c 'sleep 600 & echo $! >new; mv new daemon' & exec sleep 600";
    const char *folder;
    nb_ending ending;
    pid_t program, other;
    assert_ok(*state, nb_temporary_folder(&folder, *state));
    nb_process shell_program = {.words = shell(*state, script), .folder = folder};
    assert_ok(*state, nb_process_spawn(&shell_program, &program, *state));
    pid_t daemon = number_in(*state, folder, "daemon");
    assert_true(daemon > 0);
    for (int i = 0; i < 2; i++) {
        assert_ok(*state, nb_process_fork(&other, *state));
        if (other == 0) _exit(0);
        assert_ok(*state, nb_process_await(other, 20, &ending, *state));
        assert_false(ending.timed_out);
    }
    assert_int_equal(kill(daemon, 0), 0);
    nb_process_end(program, 0, false);
    assert_int_equal(kill(daemon, 0), -1);
    assert_int_equal(errno, ESRCH);
}

/* A child that stops itself goes on. */
static void test_stopped_child(void **state)
{
    pid_t pid;
    nb_ending ending;
    assert_ok(*state, nb_process_fork(&pid, *state));
    if (pid == 0) _exit(raise(SIGSTOP) == 0 ? 7 : 0);
    assert_ok(*state, nb_process_await(pid, 60, &ending, *state));
    assert_false(ending.timed_out);
    assert_int_equal(WEXITSTATUS(ending.how), 7);
}

/* The child waits for its own child, with a limit that is over while both are stopped, as a job of a batch system
 * is. */
static void test_stopped_with_its_children(void **state)
{
    enum { LIMIT_S = 4, STOPPED_S = 6, MORE_S = 1 };
    int ready[2], go[2];
    pid_t pid, inner;
    nb_ending ending;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(go), 0);
    assert_ok(*state, nb_process_fork(&pid, *state));
    if (pid == 0) {
        if (nb_process_fork(&inner, *state) != NB_OK) _exit(1);
        if (inner == 0) _exit(read(go[0], &(char){0}, 1) == 1 ? 0 : 2);
        if (write(ready[1], &inner, sizeof inner) != sizeof inner) _exit(3);
        _exit(nb_process_await(inner, LIMIT_S, &ending, *state) == NB_OK && !ending.timed_out ? 0 : 4);
    }
    assert_int_equal(read(ready[0], &inner, sizeof inner), sizeof inner);
    kill(pid, SIGSTOP);
    kill(inner, SIGSTOP);
    sleep(STOPPED_S);
    kill(pid, SIGCONT);
    kill(inner, SIGCONT);
    sleep(MORE_S);
    assert_int_equal(write(go[1], "", 1), 1);
    assert_ok(*state, nb_process_await(pid, 60, &ending, *state));
    assert_int_equal(ending.how, 0);
    for (int i = 0; i < 2; i++) close(ready[i]), close(go[i]);
}

/* Makes a folder as one of another owner's, and looks whether the next sweep takes it away. */
static bool is_swept(const char *top, const char *format, const char *host, const char *boot, const char *space,
                     long process)
{
    char path[512];
    int length = snprintf(path, sizeof path, "%.*s/nysbench-scratch-", (int)(strrchr(top, '/') - top), top);
    snprintf(path + length, sizeof path - (size_t)length, format, host, boot, space, process);
    assert_int_equal(mkdir(path, 0700), 0);
    nb_scratch_finish();
    return rmdir(path) != 0;
}

/* Machines that share a folder for temporary files see their own locks alone. */
static void test_folders_of_other_machines(void **state)
{
    static const char format[] = "%s-%s-%s-%ld-0123456789abcdef";
    const char *mine;
    char top[256], host[9], boot[9], space[32];
    assert_ok(*state, nb_temporary_folder(&mine, *state));
    snprintf(top, sizeof top, "%.*s", (int)(strrchr(mine, '/') - mine), mine);
    assert_int_equal(sscanf(strrchr(top, '/'), "/nysbench-scratch-%8[^-]-%8[^-]-%31[^-]-", host, boot, space), 3);
    assert_false(is_swept(top, format, "0a1b2c3d", boot, space, 0x7ffffffe));     /* on another machine */
    assert_false(is_swept(top, format, host, boot, space, (long)getppid()));      /* alive */
    assert_true(is_swept(top, format, host, boot, space, 0x7ffffffe));            /* no process has that number */
    assert_true(is_swept(top, format, host, "0a1b2c3d", space, (long)getppid())); /* before the machine was restarted */
}

/* A folder stays while its process lives, however many look, and goes when it is dead. */
static void test_folders_of_the_dead(void **state)
{
    int ends[2];
    pid_t pid;
    nb_ending ending;
    const char *mine, *found;
    char theirs[256] = "";
    assert_int_equal(pipe(ends), 0);
    assert_ok(*state, nb_temporary_folder(&mine, *state));
    assert_ok(*state, nb_process_fork(&pid, *state));
    if (pid == 0) {
        if (nb_temporary_folder(&found, *state) != NB_OK || access(mine, F_OK) != 0) _exit(1);
        if (write(ends[1], found, strlen(found) + 1) < 0) _exit(2);
        pause();
    }
    close(ends[1]);
    assert_true(read(ends[0], theirs, sizeof theirs - 1) > 0);
    nb_scratch_finish(); /* my own go, for a process that has ended could not need them */
    assert_int_equal(access(mine, F_OK), -1);
    assert_int_equal(access(theirs, F_OK), 0);
    nb_process_kill(pid);
    assert_ok(*state, nb_process_await(pid, 20, &ending, *state));
    assert_int_equal(access(theirs, F_OK), 0);
    assert_ok(*state, nb_temporary_folder(&mine, *state));
    assert_int_equal(access(theirs, F_OK), -1);
    close(ends[0]);
}

static int swept; /* how many more folders go just before they are locked */

/* Stands in for libc's in this program. A folder that goes is what another program's sweep does to it. */
int flock(int file, int how)
{
    char link[64], folder[512] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (swept > 0 && readlink(link, folder, sizeof folder - 1) > 0 && rmdir(folder) == 0) swept--;
    errno = 0;
    return (int)syscall(SYS_flock, file, how);
}

static void test_folder_swept_too_early(void **state)
{
    const char *folder;
    nb_scratch_finish();
    swept = 3;
    assert_ok(*state, nb_temporary_folder(&folder, *state));
    assert_int_equal(swept, 0);
    assert_int_equal(access(folder, F_OK), 0);
    nb_scratch_finish();
    swept = INT_MAX;
    assert_int_equal(nb_temporary_folder(&folder, *state), NB_EHOST);
    swept = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with_ctx(test_capture),
                                       test_with_ctx(test_spawn),
                                       test_with_ctx(test_spawn_from_a_forked_process),
                                       test_with_ctx(test_errand),
                                       test_with_ctx(test_size_of_a_frame),
                                       test_with_ctx(test_daemon_of_a_program),
                                       test_with_ctx(test_stopped_child),
                                       test_with_ctx(test_stopped_with_its_children),
                                       test_with_ctx(test_folders_of_other_machines),
                                       test_with_ctx(test_folders_of_the_dead),
                                       test_with_ctx(test_folder_swept_too_early)};
    nb_process_begin();
    int failed = run_all(tests);
    nb_process_finish();
    return failed;
}
