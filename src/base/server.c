/* SPDX-License-Identifier: GPL-3.0-or-later */
/* server.c - two pipes and a pidfd for each program: its end is seen even where something that it has started keeps the
 * pipe open. Its log is emptied before each question, and so holds what was said of this one. */
#include "base/server.h"

#include "base/builder.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/last_words.h"
#include "base/process.h"
#include "base/scratch.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOG "stderr.txt"

enum { VERSION = 1, LONGEST = 1 << 16, LONGEST_NAME = 80 }; /* of the protocol; bytes of a line, and of a name */

typedef struct {
    nb_ctx *memory; /* of the texts here, and of the folder; NULL: nobody is at this place */
    const char *name, *folder, *log;
    const char *called; /* by itself, or NULL */
    pid_t pid;
    int in, out, pidfd; /* what is written to it and read from it */
    bool ready;         /* it has said so */
    unsigned long used; /* the larger, the later */
} server;

typedef struct {
    char text[LONGEST + 1];
    size_t count;
} buffer;

/* The process's own, as its children are. */
static struct {
    pid_t owner;
    unsigned long turn;
    server all[NB_SERVERS];
    buffer heard;
} here;

typedef enum { ANSWERED, LATE, ENDED, LONG, NO_OBJECT, MORE } outcome;

typedef struct { /* what is asked, and what became of it */
    const nb_service *service;
    const char *name, *question;
    nb_reply *reply;
    nb_ctx *ctx;
} dialogue;

/* In a forked process the parent's are not its own. */
static void know_oneself(void)
{
    if (here.owner == getpid()) return;
    memset(&here, 0, sizeof here);
    here.owner = getpid();
}

static void close_input(server *s)
{
    if (s->in >= 0) close(s->in);
    s->in = -1;
}

static nb_ending stop(server *s, double patience_s)
{
    close_input(s);
    nb_ending ending = nb_process_end(s->pid, patience_s, true);
    close(s->out);
    close(s->pidfd);
    s->pid = 0;
    return ending;
}

static void forget(server *s)
{
    if (s->pid) stop(s, 1);
    nb_ctx_free(s->memory);
    *s = (server){.memory = NULL};
}

/* Makes the name that identifies a program. */
static nb_status name_of(const nb_service *service, const char **name, nb_ctx *ctx)
{
    nb_string all = NB_NO_TEXT;
    NB_TRY(ctx, nb_append(&all, ctx, "%s", service->variable ? service->variable : ""));
    for (int i = 0; service->words[i]; i++) NB_TRY(ctx, nb_append(&all, ctx, "\n%s", service->words[i]));
    *name = all.text;
    return NB_OK;
}

/* Returns the slot of the program of that name, or one for it: an empty one, else the least recently used. */
static server *find(const char *name)
{
    server *oldest = here.all;
    for (int i = 0; i < NB_SERVERS; i++)
        if (here.all[i].memory && strcmp(here.all[i].name, name) == 0) return &here.all[i];
    for (int i = 0; i < NB_SERVERS; i++) {
        if (!here.all[i].memory) return &here.all[i];
        if (here.all[i].used < oldest->used) oldest = &here.all[i];
    }
    forget(oldest);
    return oldest;
}

/* True if it runs, and has said nothing unasked. */
static bool is_waiting(const server *s)
{
    struct pollfd polled[] = {{.fd = s->out, .events = POLLIN}, {.fd = s->pidfd, .events = POLLIN}};
    return s->ready && poll(polled, 2, 0) == 0;
}

static nb_status start_in(server *s, const dialogue *d, nb_ctx *memory)
{
    nb_process program = {.words = d->service->words,
                          .log = LOG,
                          .variable = d->service->variable,
                          .pipes = {[STDIN_FILENO] = &s->in, [STDOUT_FILENO] = &s->out}};
    NB_NEED(s->name, nb_strdup(memory, d->name));
    NB_TRY(memory, nb_temporary_folder(&program.folder, memory));
    NB_NEED(s->log, nb_format(memory, "%s/" LOG, program.folder));
    s->folder = program.folder;
    NB_TRY(memory, nb_process_spawn(&program, &s->pid, memory));
    s->pidfd = nb_pidfd_open(s->pid);
    int reason = errno;
    if (s->pidfd >= 0 && fcntl(s->in, F_SETFL, O_NONBLOCK) == 0) return NB_OK;
    stop(s, 0);
    NB_FAIL(memory, NB_EHOST, "a process cannot be waited for: %s", strerror(reason));
}

/* Its memory is no part of ctx's, which is released before it ends. */
static nb_status start(server *s, const dialogue *d)
{
    nb_ctx *memory = nb_ctx_new();
    NB_REQUIRE(d->ctx, memory, NB_ENOMEM, "out of memory: a server");
    *s = (server){.memory = memory};
    nb_status status = start_in(s, d, memory);
    if (status == NB_OK) return NB_OK;
    nb_error_set(d->ctx, status, __FILE__, __LINE__, "%s", nb_error_message(memory));
    nb_ctx_free(memory);
    *s = (server){.memory = NULL};
    return status;
}

static outcome read_line(const server *s, double end_s, buffer *b)
{
    for (b->count = 0; b->count < LONGEST;) {
        struct pollfd polled[] = {{.fd = s->out, .events = POLLIN}, {.fd = s->pidfd, .events = POLLIN}};
        if (!nb_poll_until(polled, 2, end_s)) return LATE;
        if (!polled[0].revents && poll(polled, 1, 0) <= 0) return ENDED; /* it may have written in between */
        ssize_t got = read(s->out, b->text + b->count, LONGEST - b->count);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return ENDED;
        char *newline = memchr(b->text + b->count, '\n', (size_t)got);
        b->count += (size_t)got;
        b->text[b->count] = '\0';
        if (newline) return newline + 1 == b->text + b->count ? ANSWERED : MORE;
    }
    return LONG;
}

/* write() to a pipe that may have no reader any more, which is an error whatever SIGPIPE does in this process. */
static ssize_t write_anyway(int fd, const char *bytes, size_t count)
{
    const struct timespec now = {.tv_sec = 0};
    sigset_t broken, before;
    sigemptyset(&broken);
    sigaddset(&broken, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken, &before);
    ssize_t written = write(fd, bytes, count);
    int why = errno;
    while (written < 0 && why == EPIPE && !sigismember(&before, SIGPIPE) && sigtimedwait(&broken, NULL, &now) < 0 &&
           errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return written;
}

/* Its pipe holds 64 KiB: what does not read a longer question is late. */
static outcome write_question(const server *s, const char *question, double end_s)
{
    for (size_t length = strlen(question), sent = 0; sent < length;) {
        struct pollfd polled[] = {{.fd = s->in, .events = POLLOUT}, {.fd = s->pidfd, .events = POLLIN}};
        if (!nb_poll_until(polled, 2, end_s)) return LATE;
        ssize_t written = polled[1].revents ? -1 : write_anyway(s->in, question + sent, length - sent);
        if (polled[1].revents || (written < 0 && errno != EAGAIN && errno != EINTR)) return ENDED;
        if (written > 0) sent += (size_t)written;
    }
    return ANSWERED;
}

/* The object in the line that was heard. */
static nb_status parse(const buffer *b, json_t **object, nb_ctx *ctx)
{
    json_t *any = json_loadb(b->text, b->count, JSON_REJECT_DUPLICATES, NULL);
    *object = json_is_object(any) ? any : NULL;
    if (*object) return nb_defer_json(ctx, any);
    json_decref(any);
    return NB_OK;
}

/* Says how it went wrong, in a few words; `ending` is known after it was ended. */
static nb_status describe(const dialogue *d, outcome o, bool ready, const nb_ending *ending, const char **text)
{
    enum { SHOWN = 60 };
    const buffer *b = &here.heard;
    double limit_s = ready ? d->service->timeout_s : d->service->start_s;
    const char *more = b->count > SHOWN ? "..." : "", *wanted = ready ? "an object" : "{\"ready\": 1}",
               *line_end = memchr(b->text, '\n', b->count);
    int shown = line_end && line_end - b->text < SHOWN ? (int)(line_end - b->text) : SHOWN;
    if (o == LATE)
        NB_NEED(*text, nb_format(d->ctx, "not %s after %g s", ready ? "done" : "ready", limit_s));
    else if (o == LONG)
        NB_NEED(*text,
                nb_format(d->ctx, "wrote '%.*s%s', %d bytes without the end of a line", SHOWN, b->text, more, LONGEST));
    else if (o == NO_OBJECT)
        NB_NEED(*text, nb_format(d->ctx, "wrote '%.*s%s'; expected a line of JSON, %s", shown, b->text,
                                 b->count > (size_t)shown + 1 ? "..." : "", wanted));
    else if (o == MORE)
        NB_NEED(*text, nb_format(d->ctx, "wrote '%.*s%s'; expected one line, %s, and nothing behind it", SHOWN, b->text,
                                 more, wanted));
    else if (ending->timed_out)
        *text = "closed its standard output";
    else
        NB_TRY(d->ctx, nb_ending_text(ending, limit_s, text, d->ctx));
    if (!**text) *text = ready ? "ended without an answer" : "ended before it was ready";
    return NB_OK;
}

/* Records the trouble, with what the program has said itself. */
static nb_status complain(const dialogue *d, const char *text, const char *folder, pid_t pid)
{
    char *trouble;
    NB_NEED(trouble, nb_format(d->ctx, "%s%s", text, d->reply->said));
    nb_hide_chance(trouble, folder, pid);
    d->reply->trouble = trouble;
    return NB_OK;
}

/* Ends it, and says why. */
static nb_status give_up(server *s, const dialogue *d, outcome o)
{
    const char *text;
    pid_t pid = s->pid;
    nb_ending ending = stop(s, o == ENDED ? 1 : 0);
    nb_status status = describe(d, o, s->ready, &ending, &text);
    if (status == NB_OK) status = nb_last_words(s->log, s->folder, pid, &d->reply->said, d->ctx);
    if (status == NB_OK) status = complain(d, text, s->folder, pid);
    forget(s);
    return status;
}

/* True for {"ready": VERSION}, and a name that may stand in a message. */
static bool is_ready(const json_t *object)
{
    const json_t *name = json_object_get(object, "name");
    const char *text = json_string_value(name);
    return json_integer_value(json_object_get(object, "ready")) == VERSION &&
           (!name || (text && *text && strlen(text) <= LONGEST_NAME && nb_text_is_clean(text, "")));
}

static nb_status get_ready(server *s, const dialogue *d)
{
    json_t *object = NULL;
    double begun_s = nb_clock_s();
    NB_TRY(d->ctx, start(s, d));
    outcome o = read_line(s, nb_awake_s() + d->service->start_s, &here.heard);
    if (o == ANSWERED) NB_TRY(d->ctx, parse(&here.heard, &object, d->ctx));
    if (o == ANSWERED && !is_ready(object)) o = NO_OBJECT;
    if (o != ANSWERED) return give_up(s, d, o);
    const char *called = json_string_value(json_object_get(object, "name"));
    if (called) NB_NEED(s->called, nb_strdup(s->memory, called));
    s->ready = true;
    d->reply->start_s = nb_clock_s() - begun_s;
    return NB_OK;
}

static nb_status ask(server *s, const dialogue *d)
{
    json_t *object = NULL;
    double end_s = nb_awake_s() + d->service->timeout_s;
    here.heard.count = 0;
    if (truncate(s->log, 0) != 0 && errno != ENOENT)
        NB_FAIL(d->ctx, NB_EIO, "the log of a server cannot be emptied: %s", strerror(errno));
    s->used = ++here.turn;
    if (s->called) NB_NEED(d->reply->name, nb_strdup(d->ctx, s->called));
    outcome o = write_question(s, d->question, end_s);
    if (o == ANSWERED) o = read_line(s, end_s, &here.heard);
    if (o == ANSWERED) NB_TRY(d->ctx, parse(&here.heard, &object, d->ctx));
    const json_t *error = json_object_get(object, "error");
    if (o == ANSWERED && (!object || (error && !json_is_string(error)))) o = NO_OBJECT;
    if (o != ANSWERED) return give_up(s, d, o);
    NB_TRY(d->ctx, nb_last_words(s->log, s->folder, s->pid, &d->reply->said, d->ctx));
    if (error) return complain(d, json_string_value(error), s->folder, s->pid); /* and it stays alive */
    d->reply->answer = object;
    return NB_OK;
}

nb_status nb_server_ask(const nb_service *service, const json_t *question, nb_reply *reply, nb_ctx *ctx)
{
    dialogue d = {.service = service, .reply = reply, .ctx = ctx};
    know_oneself();
    *reply = (nb_reply){.said = ""};
    char *text = json_dumps(question, JSON_COMPACT);
    NB_REQUIRE(ctx, text, NB_ENOMEM, "out of memory: a question");
    NB_TRY(ctx, nb_defer(ctx, free, text));
    NB_NEED(d.question, nb_format(ctx, "%s\n", text));
    NB_TRY(ctx, name_of(service, &d.name, ctx));
    server *s = find(d.name);
    if (s->memory && !is_waiting(s)) forget(s);
    if (s->memory) NB_TRY(ctx, ask(s, &d));
    if (s->memory) return NB_OK;
    reply->trouble = NULL;
    NB_TRY(ctx, get_ready(s, &d));
    return s->memory ? ask(s, &d) : NB_OK;
}

nb_status nb_server_try(const nb_service *service, const char **trouble, nb_ctx *ctx)
{
    nb_reply reply = {.said = ""};
    dialogue d = {.service = service, .reply = &reply, .ctx = ctx};
    know_oneself();
    *trouble = NULL;
    NB_TRY(ctx, name_of(service, &d.name, ctx));
    server *s = find(d.name);
    if (s->memory && is_waiting(s)) return NB_OK;
    if (s->memory) forget(s);
    NB_TRY(ctx, get_ready(s, &d));
    if (s->memory) forget(s);
    *trouble = reply.trouble;
    return NB_OK;
}

void nb_servers_end(void)
{
    know_oneself();
    for (int i = 0; i < NB_SERVERS; i++)
        if (here.all[i].memory) close_input(&here.all[i]);
    for (int i = 0; i < NB_SERVERS; i++)
        if (here.all[i].memory) forget(&here.all[i]);
}

int nb_servers_count(void)
{
    int count = 0;
    know_oneself();
    for (int i = 0; i < NB_SERVERS; i++) count += here.all[i].memory != NULL;
    return count;
}
