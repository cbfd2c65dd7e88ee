/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pidfd.h - opens a file descriptor of a process by its system call, since glibc has a function for it only from 2.36
 * on. */
#ifndef NB_PIDFD_H
#define NB_PIDFD_H

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* Returns a descriptor that becomes readable when the process ends, closed by exec; -1 with errno on failure. */
static inline int nb_pidfd_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

#endif
