/* SPDX-License-Identifier: GPL-3.0-or-later */
/* server.h - a program that stays alive and answers questions one at a time, as JSON objects of one line each.
 *
 * 1. The first question starts it in a new folder; it writes {"ready": 1} when it can answer, perhaps with "name", what
 *    messages are to call it, a text of one line.
 * 2. It reads a question from its standard input and writes an answer to its standard output: an object, or {"error":
 *    "why"}. Arrays go through files that the question names.
 * 3. It ends at the end of its input, and is killed if the asking process ends. Each process has its own servers.
 *
 * An answer must depend on its question alone. A program that ends, writes anything else or is late is therefore ended,
 * and the next question starts it again; if it had already answered questions before that failure, the failed question
 * is put once more to the new one, since earlier questions are no reason to fail. */
#ifndef NB_SERVER_H
#define NB_SERVER_H

#include "base/ctx.h"

#include <jansson.h>

enum { NB_SERVERS = 16 }; /* most servers of a process at a time; for one more, the least recently used is ended */

/* The program, and its time limits. Two services with equal words and variable share one program. */
typedef struct {
    char *const *words;   /* as in nb_process */
    const char *variable; /* NAME=VALUE in its environment; NULL: none */
    /* limits for becoming ready, and for answering; after them SIGTERM, and SIGKILL a second later */
    double start_s, timeout_s;
} nb_service;

typedef struct {
    json_t *answer;      /* an object, owned by ctx; NULL: there is none */
    const char *trouble; /* why there is no answer, in one line: "not done after 2 s: ..." */
    const char *said;    /* its standard error since the question, as nb_last_words gives it; part of `trouble` */
    const char *name;    /* what it calls itself; NULL: it does not say */
    double start_s;      /* seconds spent on starting it before the question; 0: it was running */
} nb_reply;

/* Asks `question`, an object; from one thread at a time. NB_EHOST if the system gives no process, pipe or folder. A
 * failure of the program is no error, but the reply's `trouble`. */
nb_status nb_server_ask(const nb_service *service, const json_t *question, nb_reply *reply, nb_ctx *ctx);

/* Starts the program, unless it runs, and ends it when it is ready. *trouble: why it cannot be used, as in a reply;
 * NULL: it can. NB_EHOST as nb_server_ask. */
nb_status nb_server_try(const nb_service *service, const char **trouble, nb_ctx *ctx);

/* Ends all servers of this process: waits a second, sends SIGTERM, waits another, sends SIGKILL. */
void nb_servers_end(void);

/* Returns how many servers run. */
int nb_servers_count(void);

#endif
