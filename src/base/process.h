/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process.h - child processes that end with the program and leave nothing running. */
#ifndef NB_PROCESS_H
#define NB_PROCESS_H

#include "base/ctx.h"

#include <sys/types.h>

typedef struct {
    int how;        /* wait status, as waitpid returns it */
    bool timed_out; /* it got SIGTERM, and SIGKILL a second later if needed */
} nb_ending;

/* Forks. *pid is 0 in the child, which has no signal blocked, caught or ignored, leads a session of its own without a
 * terminal, and must end with _exit or exec. In the parent *pid is the child's guard: a process that ends with the
 * child's status, after it has ended all descendants of the child, in whatever session or group, and removed their
 * temporary folders. It does so as well if this process ends first, even by SIGKILL. NB_EHOST if the system cannot
 * create a process. */
nb_status nb_process_fork(pid_t *pid, nb_ctx *ctx);

/* A program to start; fields left 0 are optional. */
typedef struct {
    char *const *words;       /* words[0] is looked up in PATH if it has no '/' */
    const char *folder;       /* its working folder; NULL: this process's */
    int in, out;              /* its standard input and output; 0: /dev/null */
    int err;                  /* its standard error; 0: ours */
    const char *log;          /* file in its folder that its standard error is appended to; NULL: `err` is used */
    const char *variable;     /* NAME=VALUE added to our environment */
    char *const *environment; /* its whole environment, NULL-terminated; NULL: ours with `variable` */
    bool outlives;            /* it, or work that it hands over to others, may outlive this program */
} nb_process;

enum { NB_NOT_STARTED = 127 };

/* Forks likewise and executes the program, with no other descriptor open. If it cannot be started the child ends with
 * status NB_NOT_STARTED, and the log says why. */
nb_status nb_process_spawn(const nb_process *program, pid_t *pid, nb_ctx *ctx);

/* Waits for such a child, timeout_s at most, and leaves neither its processes nor a zombie. If a guarded process
 * started the program (in a group of its own), only that group is ended here; processes that left the group end with
 * the guarded process. */
nb_status nb_process_await(pid_t pid, double timeout_s, nb_ending *ending, nb_ctx *ctx);

/* Ends a child of nb_process_fork: waits `patience_s` for it to end by itself; then, if `ask`, sends SIGTERM and waits
 * a second; then sends SIGKILL. */
nb_ending nb_process_end(pid_t pid, double patience_s, bool ask);

/* Kills a child of nb_process_fork and its descendants without waiting. */
void nb_process_kill(pid_t pid);

/* Called now and then: restarts the janitor if it is gone. */
nb_status nb_process_watch(nb_ctx *ctx);

/* Called first in main: makes this process the parent of processes whose guard was killed, so that it can end them.
 * Does nothing if the process had children from the start, whose descendants it would take for its own. */
void nb_process_begin(void);

/* Called last in main: ends remaining processes and removes the temporary folders. */
void nb_process_finish(void);

/* Describes an ending: "exit status 3", "killed by signal 11 (Segmentation fault)", "not done after 2 s"; "" for
 * success. */
nb_status nb_ending_text(const nb_ending *ending, double timeout_s, const char **text, nb_ctx *ctx);
/* Describes a program's ending: "sh: exit status 3", "sh cannot be started: is it installed, and in PATH?". */
nb_status nb_program_ending(const char *program, const nb_ending *ending, double timeout_s, const char **text,
                            nb_ctx *ctx);

#endif
