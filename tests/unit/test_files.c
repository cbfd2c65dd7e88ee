/* SPDX-License-Identifier: GPL-3.0-or-later */
/* test_files.c - files that are replaced whole or not at all, and messages that are
 * longer than their room. */
#include "base/files.h"
#include "base/scratch.h"
#include "config/yaml.h"
#include "testing.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yaml.h>

/* The first half, then the process is killed. */
static nb_status die(FILE *out, const void *what, nb_ctx *ctx)
{
    (void)ctx;
    fputs(what, out);
    fflush(out);
    raise(SIGKILL);
    return NB_OK;
}

static nb_status give_up(FILE *out, const void *what, nb_ctx *ctx)
{
    fputs(what, out);
    NB_FAIL(ctx, NB_EIO, "no more");
}

static void assert_content(const char *path, const char *expected)
{
    char text[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, expected);
}

static void test_write_is_whole_or_not(void **state)
{
    int how;
    nb_ctx *ctx = *state;
    const char *folder, *path;
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    path = nb_format(ctx, "%s/file", folder);
    for (int old = 0; old < 2; old++) {
        pid_t child = fork();
        if (child == 0) _exit(nb_write_file(path, die, "half", ctx) == NB_OK ? 0 : 1);
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
        if (old) assert_content(path, "whole");
        if (!old) assert_int_equal(access(path, F_OK), -1);
        assert_ok(ctx, nb_write_file(path, nb_print_whole, "whole", ctx));
        assert_content(path, "whole");
    }
    assert_error(ctx, nb_write_file(path, give_up, "half", ctx), NB_EIO);
    assert_content(path, "whole");
}

/* A name may have 255 bytes, and so may the temporary one. */
static void test_write_names(void **state)
{
    nb_ctx *ctx = *state;
    const char *folder, *path;
    char name[257];
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    memset(name, 'n', 255);
    name[255] = '\0';
    path = nb_format(ctx, "%s/%s", folder, name);
    assert_ok(ctx, nb_write_file(path, nb_print_whole, "text", ctx));
    assert_content(path, "text");
    assert_error(ctx, nb_write_file(nb_format(ctx, "%sn", path), nb_print_whole, "text", ctx), NB_EIO);
    assert_error(ctx, nb_write_file(folder, nb_print_whole, "text", ctx), NB_EIO);
    assert_error(ctx, nb_write_file(nb_format(ctx, "%s/none/x", folder), nb_print_whole, "text", ctx), NB_EIO);
}

/* What is no file is written to, not replaced. */
static void test_write_to_a_device(void **state)
{
    nb_ctx *ctx = *state;
    const char *folder, *path;
    struct stat info;
    int how;
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    path = nb_format(ctx, "%s/pipe", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        char text[16] = "";
        FILE *in = fopen(path, "r");
        _exit(in && fread(text, 1, sizeof text - 1, in) == 4 && strcmp(text, "text") == 0 ? 0 : 1);
    }
    assert_ok(ctx, nb_write_file(path, nb_print_whole, "text", ctx));
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    assert_true(stat(path, &info) == 0 && S_ISFIFO(info.st_mode));
}

static void cut(char *out, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void cut(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    nb_print_cut(out, size, format, args);
    va_end(args);
}

static void test_long_messages_keep_their_end(void **state)
{
    char text[12];
    (void)state;
    cut(text, sizeof text, "%s", "");
    assert_string_equal(text, "");
    cut(text, sizeof text, "%s: %s", "12345", "6789"); /* 11 bytes: just enough */
    assert_string_equal(text, "12345: 6789");
    cut(text, sizeof text, "%s: %s", "12345", "67890");
    assert_string_equal(text, "1234...7890");
    char *big = malloc(5001);
    assert_non_null(big);
    memset(big, 'x', 5000);
    big[5000] = '\0';
    assert_int_equal(nb_error_set(*state, NB_EIO, "", 0, "%s: nothing", big), NB_EIO);
    assert_non_null(strstr(nb_error_message(*state), "xxx...xxx"));
    assert_non_null(strstr(nb_error_message(*state), "x: nothing"));
    nb_error_clear(*state);
    free(big);
}

static void assert_reads_back(const char *text)
{
    char *buffer = NULL;
    size_t size = 0;
    yaml_parser_t parser;
    yaml_document_t document;
    FILE *out = open_memstream(&buffer, &size);
    assert_non_null(out);
    nb_yaml_print_quoted(out, text);
    fclose(out);
    assert_true(yaml_parser_initialize(&parser));
    yaml_parser_set_input_string(&parser, (const unsigned char *)buffer, size);
    assert_true(yaml_parser_load(&parser, &document));
    assert_non_null(yaml_document_get_root_node(&document));
    assert_string_equal((const char *)yaml_document_get_root_node(&document)->data.scalar.value, text);
    assert_null(strchr(buffer, '\n'));
    yaml_document_delete(&document);
    yaml_parser_delete(&parser);
    free(buffer);
}

/* Every character up to U+FFFF that UTF-8 has, alone and between others. */
static void test_yaml_text_reads_back(void **state)
{
    (void)state;
    assert_reads_back("");
    assert_reads_back("  a: \"b\" \\ 'c' #d  ");
    for (unsigned c = 1; c < 0x10000; c++) {
        char text[16], alone[4] = {(char)c, 0, 0, 0};
        if (c >= 0xd800 && c < 0xe000) continue;
        if (c >= 0x80) alone[0] = (char)(0xc0 | c >> 6), alone[1] = (char)(0x80 | (c & 63));
        if (c >= 0x800)
            alone[0] = (char)(0xe0 | c >> 12), alone[1] = (char)(0x80 | (c >> 6 & 63)),
            alone[2] = (char)(0x80 | (c & 63));
        snprintf(text, sizeof text, "a %s b", alone);
        assert_reads_back(alone);
        assert_reads_back(text);
    }
    assert_reads_back("\xf0\x9f\x98\x80");
}

static void test_print_text(void **state)
{
    nb_ctx *ctx = *state;
    const char *text, *texts[] = {"", "one\ntwo"};
    for (int i = 0; i < 2; i++) {
        assert_ok(ctx, nb_print_text(nb_print_whole, texts[i], &text, ctx));
        assert_string_equal(text, texts[i]);
    }
    assert_error(ctx, nb_print_text(give_up, "half", &text, ctx), NB_EIO);
}

/* A path, its folder and its stem; a dot that begins a name begins no ending. */
static void test_paths(void **state)
{
    static const char *const known[][3] = {
        {"a.b/c.d", "a.b", "c"}, {"c.d.e", ".", "c.d"}, {"/c", "/", "c"}, {"a/.c", "a", ".c"}, {"a//c", "a/", "c"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const char *folder, *stem;
        assert_ok(*state, nb_folder_of(known[i][0], &folder, *state));
        assert_ok(*state, nb_stem_of(known[i][0], &stem, *state));
        assert_string_equal(folder, known[i][1]);
        assert_string_equal(stem, known[i][2]);
    }
}

static void test_names_of_a_folder(void **state)
{
    nb_ctx *ctx = *state;
    const char *folder, *path, **names;
    static const char *const there[] = {"b.x", "a.x", ".c.x", ".x", "d.y", "x"};
    int count;
    assert_ok(ctx, nb_temporary_folder(&folder, ctx));
    for (size_t i = 0; i < sizeof there / sizeof *there; i++) {
        assert_non_null(path = nb_format(ctx, "%s/%s", folder, there[i]));
        assert_ok(ctx, nb_write_file(path, nb_print_whole, "", ctx));
    }
    assert_ok(ctx, nb_folder_names(folder, ".x", &count, &names, ctx));
    assert_int_equal(count, 2);
    assert_string_equal(names[0], "a.x");
    assert_string_equal(names[1], "b.x");
    assert_ok(ctx, nb_folder_names(folder, NULL, &count, &names, ctx));
    assert_int_equal(count, 6);
    assert_ok(ctx, nb_folder_names(nb_format(ctx, "%s/none", folder), NULL, &count, &names, ctx));
    assert_int_equal(count, -1);
    assert_error(ctx, nb_folder_names(path, NULL, &count, &names, ctx), NB_EIO);
}

static void test_replaced(void **state)
{
    assert_string_equal(nb_replaced(*state, "-a--b-", "-", "+-+"), "+-+a+-++-+b+-+");
    assert_string_equal(nb_replaced(*state, "aaa", "aa", ""), "a");
    assert_string_equal(nb_replaced(*state, "abc", "d", "e"), "abc");
    assert_string_equal(nb_replaced(*state, "", "d", "e"), "");
}

/* What the process may not have is no property of the file. */
static void test_no_more_descriptors(void **state)
{
    const char *folder, *path, *text;
    struct rlimit before, none;
    assert_ok(*state, nb_temporary_folder(&folder, *state));
    path = nb_format(*state, "%s/none", folder);
    assert_error(*state, nb_read_file(path, &text, *state), NB_EIO);
    nb_error_clear(*state);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    nb_status status = nb_read_file(path, &text, *state);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_error_of("no more descriptors", *state, status, NB_EHOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        test_with_ctx(test_write_is_whole_or_not),
        test_with_ctx(test_write_names),
        test_with_ctx(test_write_to_a_device),
        test_with_ctx(test_long_messages_keep_their_end),
        test_with_ctx(test_yaml_text_reads_back),
        test_with_ctx(test_print_text),
        test_with_ctx(test_paths),
        test_with_ctx(test_names_of_a_folder),
        test_with_ctx(test_replaced),
        test_with_ctx(test_no_more_descriptors),
    };
    return run_all(tests);
}
