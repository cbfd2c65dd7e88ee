/* process.h - child processes that cannot outstay their welcome. */
#ifndef NB_PROCESS_H
#define NB_PROCESS_H

#include "base/ctx.h"

#include <sys/types.h>

typedef struct {
    int how;        /* waitpid's */
    bool timed_out; /* it was told to end, and killed where it did not within a second */
} nb_ending;

/* fork(): *pid is 0 in the child. That leads a process group of its own, has no
 * signal blocked, caught or ignored, and is killed when its parent dies. It must end with _exit or exec. */
nb_status nb_process_fork(pid_t *pid, nb_ctx *ctx);

/* The same, and then the program words[0], looked for in PATH where it has no '/', in
 * that folder, with `variable`, NAME=VALUE, in its environment, `log` there as its standard
 * error and nothing else open. Where it cannot be started that ends with status 127, and
 * the log says why. */
nb_status nb_process_spawn(char *const *words, const char *folder, const char *log, const char *variable, pid_t *pid, nb_ctx *ctx);

/* Waits for such a child, timeout_s at most. No process of its group is left, nor
 * a zombie. */
nb_status nb_process_await(pid_t pid, double timeout_s, nb_ending *ending, nb_ctx *ctx);

/* Ends a child that leads a session (setsid), for which it has `patience_s` to end by
 * itself; then, where it is asked, SIGTERM and a second more, then SIGKILL. Whatever it
 * has started in that session is killed, and it is no zombie afterwards. */
nb_ending nb_process_end(pid_t pid, double patience_s, bool ask);

/* "exit status 3", "killed by signal 11 (Segmentation fault)", "not done after 2 s";
 * "" where all went well. */
nb_status nb_ending_text(const nb_ending *ending, double timeout_s, const char **text, nb_ctx *ctx);

#endif
