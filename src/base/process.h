/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process.h - child processes that end with this one, and leave nothing running if it is there to see them end. */
#ifndef NB_PROCESS_H
#define NB_PROCESS_H

#include "base/ctx.h"
#include "base/pidfd.h"

#include <sys/types.h>
#include <unistd.h>

typedef struct {
    int how;        /* wait status, as waitpid returns it */
    bool timed_out; /* it did not end by itself: it got SIGTERM if asked, and then SIGKILL if needed */
} nb_ending;

/* Forks. *pid is 0 in the child, which has no signal blocked, caught or ignored, leads a session of its own without a
 * terminal, is killed when this process ends, has no temporary folders (scratch.h), and must end with _exit or exec.
 * Call it while this process has one thread. NB_EHOST if the system cannot create a process. */
nb_status nb_process_fork(pid_t *pid, nb_ctx *ctx);

/* A program to start; fields left 0 are optional. */
typedef struct {
    char *const *words;       /* words[0] is looked up in PATH if it has no '/' */
    const char *folder;       /* its working folder; NULL: this process's */
    const char *log;          /* file in its folder that its standard error is appended to; NULL: ours, or a pipe */
    const char *variable;     /* NAME=VALUE added to our environment */
    char *const *environment; /* its whole environment, NULL-terminated; NULL: ours with `variable` */
    /* by its standard streams: where nb_process_spawn puts this process's end of a pipe to it; NULL: /dev/null for its
     * input and output */
    int *pipes[STDERR_FILENO + 1];
} nb_process;

enum { NB_NOT_STARTED = 127 };

/* Forks likewise and executes the program, with no other descriptor open. If it cannot be started the child ends with
 * status NB_NOT_STARTED, and the log says why. NB_EHOST also if a pipe cannot be made. */
nb_status nb_process_spawn(const nb_process *program, pid_t *pid, nb_ctx *ctx);

typedef struct {
    char *bytes; /* with a zero behind them */
    size_t count, room;
    bool closed; /* nobody has the pipe open any more */
} nb_said;

/* Seconds by a clock that stands still while this process is stopped, as a batch system does with a job that has to
 * make room: time limits are of this clock. Children are stopped with it, or it continues them. */
double nb_awake_s(void);

/* Waits until one of the descriptors is ready, or until end_s by nb_awake_s; returns whether one is. */
struct pollfd;
bool nb_poll_until(struct pollfd *polled, int count, double end_s);

/* For who waits by other means, NB_SLICE_S seconds at a time: called after a wait that began at begun_s by nb_clock_s
 * and should have taken planned_s at most. Returns true if this process was stopped meanwhile. Continues children that
 * have been stopped, for longer than a few seconds, while this process was not. */
enum { NB_SLICE_S = 1 };
bool nb_note_wait(double begun_s, double planned_s);

/* Reads what such a child writes into a pipe, little more than `most` bytes: until the pipe is closed, the child has
 * ended or limit_s seconds are over. What the child has started may keep the pipe open. ctx owns the bytes. */
enum { NB_MOST_HEARD = 1 << 28 };
nb_status nb_process_hear(pid_t pid, int pipe, double limit_s, size_t most, nb_said *said, nb_ctx *ctx);

/* Waits for such a child to end, timeout_s at most; then sends SIGTERM to its group, and SIGKILL a second later. Leaves
 * neither a zombie nor anything that the child has started, in whatever session or group. */
nb_status nb_process_await(pid_t pid, double timeout_s, nb_ending *ending, nb_ctx *ctx);

/* The same, without SIGTERM unless `ask`. */
nb_ending nb_process_end(pid_t pid, double patience_s, bool ask);

/* Kills such a child without waiting. */
void nb_process_kill(pid_t pid);

/* Called first in main: makes this process the parent of processes whose parent has ended, so that it can end them.
 * Does nothing if the process had children from the start, whose descendants it would take for its own. */
void nb_process_begin(void);

/* Called last in main: ends the remaining processes and removes the temporary folders of this and of dead ones. */
void nb_process_finish(void);

/* Describes an ending: "exit status 3", "killed by signal 11 (Segmentation fault)", "not done after 2 s"; "" for
 * success. */
nb_status nb_ending_text(const nb_ending *ending, double timeout_s, const char **text, nb_ctx *ctx);
/* Describes a program's ending: "sh: exit status 3", "sh cannot be started: is it installed, and in PATH?". */
nb_status nb_program_ending(const char *program, const nb_ending *ending, double timeout_s, const char **text,
                            nb_ctx *ctx);
/* Describes the ending of a process while it was at `what`: "the core was killed by signal 6 (Aborted)", "the core was
 * not done after 2 s, and did not end at SIGTERM"; also if it ended with status 0. */
nb_status nb_ending_sentence(const char *what, const nb_ending *ending, double timeout_s, const char **text,
                             nb_ctx *ctx);

/* True if it was killed by a signal that somebody outside may have sent, such as the system when memory is short. */
bool nb_ended_from_outside(const nb_ending *ending);

/* Runs words[0], looked up in PATH if it has no '/', in that folder (NULL: the current one), without a shell and with
 * an empty standard input. Captures its standard output, at most 256 MiB; standard error is ours. NB_EIO if it cannot
 * be started, does not end within limit_s, or ends with a status other than 0. */
nb_status nb_capture(char *const *words, const char *folder, double limit_s, const char **output, nb_ctx *ctx);

#endif
