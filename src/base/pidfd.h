/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pidfd.h - waiting for the end of a process, whoever has started it. */
#ifndef NB_PIDFD_H
#define NB_PIDFD_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Returns a descriptor that becomes readable when the process ends, closed by exec; -1 with errno on failure. It is
 * opened by its system call, since glibc has a function for it only from 2.36 on. */
static inline int nb_pidfd_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

#endif
