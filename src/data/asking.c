/* SPDX-License-Identifier: GPL-3.0-or-later */
/* asking.c - see asking.h */
#include "data/asking.h"

#include "base/builder.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/last_words.h"
#include "base/process.h"
#include "base/scratch.h"
#include "base/server.h"
#include "base/text.h"
#include "base/words.h"
#include "data/tensor.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG "stderr.txt"

/* Finds the folder in which nysbench was called, as far as this process knows. */
static nb_status current_folder(const char **here, nb_ctx *ctx)
{
    char *path = getcwd(NULL, 0);
    NB_REQUIRE(ctx, path, NB_EIO, "the current folder is not known: %s", strerror(errno));
    *here = path;
    return nb_defer(ctx, free, path);
}

/* The words of `run` as the program is to see them, and `last`, or NULL. */
nb_status nb_asking_words(const char *run, const char *last, char ***words, const char **variable, nb_ctx *ctx)
{
    int count;
    char **given;
    const char *here;
    NB_TRY(ctx, current_folder(&here, ctx));
    NB_TRY(ctx, nb_words_split(run, &count, &given, ctx));
    NB_NEED(*words, nb_alloc(ctx, (size_t)count + 2, sizeof **words));
    for (int i = 0; i < count; i++) NB_TRY(ctx, nb_word_absolute(given, i, here, &(*words)[i], ctx));
    if (last) NB_NEED((*words)[count], nb_strdup(ctx, last));
    NB_NEED(*variable, nb_format(ctx, "NYSBENCH_FOLDER=%s", here));
    return NB_OK;
}

nb_status nb_question_open(nb_question *q, const nb_asking *program, json_t *question, nb_ctx *ctx)
{
    *q = (nb_question){
        .program = program, .who = program->run, .question = question, .said = "", .mark = nb_ctx_mark(ctx)};
    NB_REQUIRE(ctx, question, NB_ENOMEM, "out of memory: a question");
    NB_TRY(ctx, nb_defer_json(ctx, question));
    return nb_temporary_folder(&q->folder, ctx);
}

nb_status nb_question_add(nb_question *q, const char *name, int rows, int columns, const double *values, nb_ctx *ctx)
{
    const char *path;
    NB_NEED(path, nb_format(ctx, "%s/%s", q->folder, name));
    q->bytes += (size_t)rows * (size_t)columns * sizeof *values;
    return nb_npy_save_reals(path, 2, (int64_t[]){rows, columns}, values, ctx);
}

nb_status nb_question_add_floats(nb_question *q, const char *name, int rank, const int64_t *shape, size_t each,
                                 const void *values, nb_ctx *ctx)
{
    const char *path;
    size_t bytes = each;
    NB_NEED(path, nb_format(ctx, "%s/%s", q->folder, name));
    for (int i = 0; i < rank; i++) bytes *= (size_t)shape[i];
    q->bytes += bytes;
    return nb_npy_save_floats(path, rank, shape, each, values, ctx);
}

static nb_status print_text(FILE *out, const void *text, nb_ctx *ctx)
{
    NB_REQUIRE(ctx, text, NB_ENOMEM, "out of memory: request.json");
    fprintf(out, "%s\n", (const char *)text);
    return NB_OK;
}

static nb_status write_request(const nb_question *q, nb_ctx *ctx)
{
    const char *path;
    NB_NEED(path, nb_format(ctx, "%s/request.json", q->folder));
    char *text = json_dumps(q->question, JSON_INDENT(2));
    nb_status status = nb_write_file(path, print_text, text, ctx);
    free(text);
    return status;
}

/* Reads the answer that a program which is not served may leave. */
static nb_status read_answer(nb_question *q, nb_ctx *ctx)
{
    const char *path;
    json_error_t error;
    NB_TRY(ctx, nb_question_find(q, "answer.json", &path, ctx));
    if (!path) return NB_OK;
    json_t *answer = json_load_file(path, 0, &error);
    if (answer) NB_TRY(ctx, nb_defer_json(ctx, answer));
    NB_REQUIRE(ctx, json_is_object(answer), NB_EIO, "%s: answer.json: expected a JSON object%s%s%s", q->who,
               answer ? "" : ": ", answer ? "" : error.text, q->said);
    q->answer = answer;
    return NB_OK;
}

/* The program for this question alone. */
static nb_status run(nb_question *q, nb_ctx *ctx)
{
    const nb_asking *p = q->program;
    pid_t pid;
    nb_ending ending;
    char **words;
    const char *end, *log;
    nb_process program = {.folder = q->folder, .log = LOG};
    NB_TRY(ctx, write_request(q, ctx));
    NB_TRY(ctx, nb_asking_words(p->run, q->folder, &words, &program.variable, ctx));
    program.words = words;
    NB_NEED(log, nb_format(ctx, "%s/" LOG, q->folder));
    NB_TRY(ctx, nb_process_spawn(&program, &pid, ctx));
    NB_TRY(ctx, nb_process_await(pid, p->timeout, &ending, ctx));
    NB_TRY(ctx, nb_ending_text(&ending, p->timeout, &end, ctx));
    NB_TRY(ctx, nb_last_words(log, q->folder, pid, &q->said, ctx));
    NB_REQUIRE(ctx, !*end, NB_EIO, "%s: %s%s", q->who, end, q->said);
    return read_answer(q, ctx);
}

/* Any JSON value as a text for messages. */
static nb_status write_value(const nb_question *q, const json_t *value, const char **out, nb_ctx *ctx)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    NB_REQUIRE(ctx, text, NB_ENOMEM, "out of memory: an answer");
    *out = text;
    NB_TRY(ctx, nb_defer(ctx, free, text));
    nb_hide_chance(text, q->folder, 0);
    return NB_OK;
}

/* Finds what the program says that it has left. */
static nb_status find_left(nb_question *q, const json_t *answer, nb_ctx *ctx)
{
    const char *word = json_string_value(json_object_get(answer, "done")), *text;
    nb_string allowed = NB_NO_TEXT;
    for (q->left = 0; q->done[q->left]; q->left++) {
        if (word && strcmp(word, q->done[q->left]) == 0) return NB_OK;
        NB_TRY(ctx, nb_append_item(&allowed, ", ", ctx, "{\"done\": \"%s\"}", q->done[q->left]));
    }
    NB_TRY(ctx, write_value(q, answer, &text, ctx));
    NB_FAIL(ctx, NB_EIO, "%s: answered %.60s; allowed are %s and {\"error\": \"why\"}%s", q->who, text, allowed.text,
            q->said);
}

nb_status nb_question_seconds(const nb_question *q, const char *key, double *seconds, nb_ctx *ctx)
{
    const json_t *value = json_object_get(q->answer, key);
    const char *text;
    *seconds = NAN;
    if (!value) return NB_OK;
    NB_TRY(ctx, write_value(q, value, &text, ctx));
    NB_REQUIRE(ctx, json_is_number(value) && json_number_value(value) >= 0, NB_EIO,
               "%s: answered with %s %.60s; allowed are seconds, 0 or more%s", q->who, key, text, q->said);
    *seconds = json_number_value(value);
    return NB_OK;
}

nb_status nb_question_text(const nb_question *q, const char *key, const char **text, nb_ctx *ctx)
{
    enum { MOST = 80 };
    const json_t *value = json_object_get(q->answer, key);
    const char *found = json_string_value(value), *written;
    *text = NULL;
    if (!value) return NB_OK;
    NB_TRY(ctx, write_value(q, value, &written, ctx));
    NB_REQUIRE(ctx, found && strlen(found) <= MOST && nb_text_is_clean(found, ""), NB_EIO,
               "%s: answered with %s %.100s; allowed is a text of at most %d bytes, in one line%s", q->who, key,
               written, MOST, q->said);
    *text = *found ? found : NULL;
    return NB_OK;
}

/* The program that answers all questions: its start is no part of this one. */
static nb_status serve(nb_question *q, nb_ctx *ctx)
{
    const nb_asking *p = q->program;
    nb_service service = {.start_s = p->start, .timeout_s = p->timeout};
    nb_reply reply;
    char **words, *text;
    double waited_s;
    NB_TRY(ctx, nb_asking_words(p->run, NULL, &words, &service.variable, ctx));
    service.words = words;
    NB_REQUIRE(ctx, json_object_set_new(q->question, "folder", json_string(q->folder)) == 0, NB_EHOST,
               "%s: the name of a temporary folder is no UTF-8", q->folder);
    double asked_s = nb_clock_s();
    NB_TRY(ctx, nb_server_ask(&service, q->question, &reply, ctx));
    asked_s = nb_clock_s() - asked_s - reply.start_s;
    q->spared_s = reply.start_s;
    NB_NEED(text, nb_strdup(ctx, reply.answer ? reply.said : reply.trouble));
    nb_hide_chance(text, q->folder, 0);
    q->said = text;
    if (reply.name) q->who = reply.name;
    NB_REQUIRE(ctx, reply.answer, NB_EIO, "%s: %s", q->who, text);
    q->answer = reply.answer;
    NB_TRY(ctx, find_left(q, reply.answer, ctx));
    /* What the question waited for others is spared, at most asked_s */
    NB_TRY(ctx, nb_question_seconds(q, "waited_s", &waited_s, ctx));
    if (waited_s > 0) q->spared_s += fmin(waited_s, asked_s);
    return NB_OK;
}

nb_status nb_question_ask(nb_question *q, nb_ctx *ctx)
{
    nb_ctx_wait(ctx);
    return q->program->serve ? serve(q, ctx) : run(q, ctx);
}

nb_status nb_question_find(const nb_question *q, const char *name, const char **path, nb_ctx *ctx)
{
    NB_NEED(*path, nb_format(ctx, "%s/%s", q->folder, name));
    if (!nb_is_file(*path)) *path = NULL;
    return NB_OK;
}

nb_status nb_question_read(const nb_question *q, nb_status status, nb_ctx *ctx)
{
    char *message;
    if (status == NB_OK || status == NB_ENOMEM) return status;
    NB_NEED(message, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    size_t length = strlen(q->folder); /* names of files in the folder are told without it */
    for (char *at = message; (at = strstr(at, q->folder));) {
        char *rest = at + length + (at[length] == '/');
        memmove(at, rest, strlen(rest) + 1);
    }
    NB_FAIL(ctx, status, "%s: %s%s", q->who, message, q->said);
}

/* Copies what is in the question's folder, with the question, into a new one of that folder. */
static nb_status copy_folder(const nb_question *q, const char *into, nb_ctx *ctx)
{
    const char **names, *from, *to;
    char *kept;
    int count;
    NB_TRY(ctx, write_request(q, ctx));
    NB_TRY(ctx, nb_make_folder(into, ctx));
    NB_NEED(kept, nb_format(ctx, "%s/call-XXXXXX", into));
    NB_REQUIRE(ctx, mkdtemp(kept), NB_EHOST, "%s: %s", into, strerror(errno));
    NB_TRY(ctx, nb_folder_names(q->folder, NULL, &count, &names, ctx));
    for (int i = 0; i < count; i++) {
        NB_NEED(from, nb_format(ctx, "%s/%s", q->folder, names[i]));
        NB_NEED(to, nb_format(ctx, "%s/%s", kept, names[i]));
        if (nb_is_file(from)) NB_TRY(ctx, nb_copy_file(from, to, ctx));
    }
    return NB_OK;
}

/* Keeps the folder of a call that failed, for its user to look at, where NYSBENCH_KEEP says so. */
static nb_status keep_failed(const nb_question *q, nb_status status, nb_ctx *ctx)
{
    const char *into = getenv("NYSBENCH_KEEP"), *why;
    if (!into || !*into) return status;
    NB_NEED(why, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    nb_status kept = copy_folder(q, into, ctx);
    if (kept == NB_OK) NB_FAIL(ctx, status, "%s", why);
    const char *trouble;
    NB_NEED(trouble, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    NB_FAIL(ctx, NB_EHOST, "NYSBENCH_KEEP=%s: the folder of a failed call cannot be kept: %s; the call failed with: %s",
            into, trouble, why);
}

nb_status nb_question_end(const nb_question *q, nb_status status, nb_ctx *ctx)
{
    enum { LEAST = 1 << 12 }; /* for what is no array */
    if (status == NB_OK || status == NB_ENOMEM || status == NB_EHOST) return status;
    status = keep_failed(q, status, ctx);
    if (status == NB_ENOMEM || status == NB_EHOST) return status;
    nb_ctx_release(ctx, q->mark);
    return nb_scratch_end(2 * q->bytes + LEAST, status, ctx);
}

/* True for programs that run a script named in their first argument. */
static bool is_interpreter(const char *program)
{
    static const char *const names[] = {"python", "pypy", "Rscript", "julia", "perl", "ruby", "node",
                                        "lua",    "php",  "bash",    "dash",  "zsh",  "sh",   NULL};
    const char *slash = strrchr(program, '/'), *stem = slash ? slash + 1 : program;
    for (int i = 0; names[i]; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(stem, names[i], length) == 0 && !stem[length + strspn(stem + length, "0123456789.")]) return true;
    }
    return false;
}

/* The word that names a script for an interpreter, perhaps behind `env NAME=VALUE...`; 0: none does for sure. Behind an
 * option may be its value, and behind -c, -e or -m is none, unless it is -m nysbench.serve. */
static int find_script(int count, char *const *words)
{
    const char *slash = strrchr(words[0], '/');
    int i = 0;
    if (strcmp(slash ? slash + 1 : words[0], "env") == 0)
        for (i = 1; i < count && strchr(words[i], '=');) i++;
    if (i + 1 >= count || !is_interpreter(words[i])) return 0;
    i++;
    if (i + 2 < count && strcmp(words[i], "-m") == 0 && strcmp(words[i + 1], "nysbench.serve") == 0) i += 2;
    return *words[i] != '-' ? i : 0;
}

static nb_status find_program(const char *name, const char *here, nb_ctx *ctx)
{
    const char *path = getenv("PATH"), *file;
    if (strchr(name, '/')) {
        NB_NEED(file,
                *name == '/' ? name : nb_format(ctx, "%s/%s", here, name + (strncmp(name, "./", 2) == 0 ? 2 : 0)));
        NB_REQUIRE(ctx, access(file, F_OK) == 0, NB_EIO, "there is no program %s", file);
        NB_REQUIRE(ctx, nb_is_file(file) && access(file, X_OK) == 0, NB_EIO,
                   "%s is not executable: chmod +x makes it so, or put before it what runs it, such as python3", file);
        return NB_OK;
    }
    for (; path && *path; path += strcspn(path, ":"), path += *path == ':') {
        int length = (int)strcspn(path, ":");
        NB_NEED(file, nb_format(ctx, "%.*s/%s", length ? length : 1, length ? path : ".", name));
        if (nb_is_file(file) && access(file, X_OK) == 0) return NB_OK;
    }
    NB_FAIL(ctx, NB_EIO, "there is no program '%s' in PATH; for one in the current folder, write ./%s", name, name);
}

static nb_status find_parts(const char *run, nb_ctx *ctx)
{
    const char *here, *file;
    char **words;
    int count;
    NB_TRY(ctx, nb_words_split(run, &count, &words, ctx));
    NB_TRY(ctx, current_folder(&here, ctx));
    NB_TRY(ctx, find_program(words[0], here, ctx));
    const char *script = words[find_script(count, words)];
    if (script == words[0] || nb_is_file(script) || (*script == '/' && access(script, F_OK) == 0)) return NB_OK;
    NB_NEED(file, *script == '/' ? script : nb_format(ctx, "%s/%s", here, script));
    NB_REQUIRE(ctx, access(file, F_OK) != 0, NB_EIO, "%s is a folder, which has to be named by its absolute path",
               file);
    NB_FAIL(ctx, NB_EIO, "there is no file %s", file);
}

/* NB_EIO if the program does not get ready. */
static nb_status try_server(const nb_asking *p, nb_ctx *ctx)
{
    nb_service service = {.start_s = p->start, .timeout_s = p->timeout};
    const char *trouble;
    char **words;
    NB_TRY(ctx, nb_asking_words(p->run, NULL, &words, &service.variable, ctx));
    service.words = words;
    NB_TRY(ctx, nb_server_try(&service, &trouble, ctx));
    NB_REQUIRE(ctx, !trouble, NB_EIO, "%s", trouble);
    return NB_OK;
}

nb_status nb_asking_ready(const nb_asking *program, nb_ctx *ctx)
{
    const char *reason;
    nb_status status = find_parts(program->run, ctx);
    if (status == NB_OK && program->serve) status = try_server(program, ctx);
    if (status == NB_OK || status == NB_ENOMEM) return status;
    NB_NEED(reason, nb_strdup(ctx, nb_error_message(ctx)));
    nb_error_clear(ctx);
    NB_FAIL(ctx, status, "command: run = %s: %s", program->run, reason);
}
