/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pidfd.h - a file descriptor of a process, by its system call: glibc has had a function for it only since 2.36. */
#ifndef NB_PIDFD_H
#define NB_PIDFD_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Readable once the process has ended; closed by exec. -1 with errno if there is none. */
static inline int nb_pidfd_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

#endif
