/* SPDX-License-Identifier: GPL-3.0-or-later */
/* server.h - a program that stays alive and answers questions, one at a time: JSON objects, a line each.
 *
 * It is started by the first question, in a new folder, and says {"ready": 1} when it can answer. From then on it reads
 * a line from its standard input and writes a line to its standard output: an object, {"error": "why"} where it has no
 * answer. Arrays go through files that a question names. It ends when its input does, and is killed when the process
 * ends that asked; each process has its own.
 *
 * Answers are meant to depend on the question alone. So a program that ends, writes anything else or is late is ended,
 * and the next question starts another; and where it had answered before, the same question is asked again, of a new
 * one: what it was asked before is no reason to fail. */
#ifndef NB_SERVER_H
#define NB_SERVER_H

#include "base/ctx.h"

#include <jansson.h>

enum { NB_SERVERS = 16 }; /* that a process has at a time, at most: for one more, the one not used for longest ends */

/* Which program, and how long it may take; two services with equal words and variable are served by one program. */
typedef struct {
    char *const *words;        /* as nb_program's */
    const char *variable;      /* NAME=VALUE in its environment; NULL: none */
    double start_s, timeout_s; /* until it is ready; until it has answered. Then it is told to end, and killed a second
                                  later */
} nb_service;

typedef struct {
    json_t *answer;      /* an object, owned by ctx; NULL: there is none */
    const char *trouble; /* and this is why, in one line: "not done after 2 s: ..." */
    const char *said;    /* the end of what it has written to its standard error since the question, as nb_last_words
                            has it; part of `trouble` */
    double start_s;      /* seconds that starting took, before the question was asked; 0: it ran already */
} nb_reply;

/* Asks. `question` is an object. From one thread at a time. NB_EHOST if the system gives no process, no pipe and no
 * folder; what the program does wrong is no error, but the reply's trouble. */
nb_status nb_server_ask(const nb_service *service, const json_t *question, nb_reply *reply, nb_ctx *ctx);

/* Starts the program, unless it runs, and ends it when it is ready: *trouble <- why it cannot be used, as in a reply;
 * NULL: it can. NB_EHOST as nb_server_ask. */
nb_status nb_server_try(const nb_service *service, const char **trouble, nb_ctx *ctx);

/* Ends all that this process has: they have a second to end by themselves, then SIGTERM, a second later SIGKILL. */
void nb_servers_end(void);

/* How many run. */
int nb_servers_count(void);

#endif
