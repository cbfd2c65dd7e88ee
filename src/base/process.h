/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process.h - child processes that end with the program, and leave nothing running. */
#ifndef NB_PROCESS_H
#define NB_PROCESS_H

#include "base/ctx.h"

#include <sys/types.h>

typedef struct {
    int how;        /* waitpid's */
    bool timed_out; /* it was told to end, and killed if it did not within a second */
} nb_ending;

/* fork(): *pid is 0 in the child, which has no signal blocked, caught or ignored, leads a session that no terminal
 * sends signals to, and must end with _exit or exec. In the parent *pid is its guard's, a process that ends as the
 * child did, and before that ends all that has come from the child, whatever session or group it is in, and removes
 * its temporary folders; so it does when this process ends first, by SIGKILL too. NB_EHOST if the system gives no
 * process. */
nb_status nb_process_fork(pid_t *pid, nb_ctx *ctx);

/* A program to be started; fields left 0 are optional. */
typedef struct {
    char *const *words;       /* words[0] is looked for in PATH if it has no '/' */
    const char *folder;       /* its current one; NULL: this process's */
    int in, out;              /* its standard input and output; 0: there is nothing to read, and nobody reads it */
    int err;                  /* its standard error; 0: ours */
    const char *log;          /* the file, in its folder, that its standard error is put behind; NULL: that of `err` */
    const char *variable;     /* NAME=VALUE in its environment, beside ours */
    char *const *environment; /* all of it, and NULL at the end; NULL: ours, with `variable` */
    bool outlives;            /* it, or what it hands over to others, may outlive this program */
} nb_program;

enum { NB_NOT_STARTED = 127 };

/* The same, and then that program, with nothing else open. If it cannot be started that ends
 * with status NB_NOT_STARTED, and the log says why. */
nb_status nb_process_spawn(const nb_program *program, pid_t *pid, nb_ctx *ctx);

/* Waits for such a child, timeout_s at most. Nothing of it is left, nor a zombie; of a
 * program that a guarded process has started (which is in a group of its own) nothing of its
 * group, and what has left that ends with the guarded process. */
nb_status nb_process_await(pid_t pid, double timeout_s, nb_ending *ending, nb_ctx *ctx);

/* Ends a child of nb_process_fork, which has `patience_s` to end by itself; then, if it is asked, SIGTERM and a
 * second more, then SIGKILL. */
nb_ending nb_process_end(pid_t pid, double patience_s, bool ask);

/* The same, begun: a child of nb_process_fork and all that came from it is killed. */
void nb_process_kill(pid_t pid);

/* Called now and then: makes sure that a janitor runs, which cleans up when this process is killed. */
nb_status nb_process_watch(nb_ctx *ctx);

/* Called first in main: processes left by a killed guard become this process's to end. Does nothing if the process
 * had children from the start, since their descendants would be taken for its own. */
void nb_process_begin(void);

/* Last thing in main: ends what is left, and removes the temporary folders. */
void nb_process_finish(void);

/* "exit status 3", "killed by signal 11 (Segmentation fault)", "not done after 2 s";
 * "" where all went well. */
nb_status nb_ending_text(const nb_ending *ending, double timeout_s, const char **text, nb_ctx *ctx);
/* The same of a program: "sh: exit status 3", "sh cannot be started: is it installed, and in PATH?". */
nb_status nb_program_ending(const char *program, const nb_ending *ending, double timeout_s, const char **text,
                            nb_ctx *ctx);

#endif
