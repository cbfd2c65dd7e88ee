# SPDX-License-Identifier: GPL-3.0-or-later
"""on_terminal.py COLUMNS COMMAND... - what the command writes to a terminal of that width, byte by byte but for the
returns before newlines. Exit status: the command's."""

import fcntl
import os
import pty
import struct
import sys
import termios

columns, *command = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("4H", 24, int(columns), 0, 0))
    os.execvp(command[0], command)
written = b""
try:
    while part := os.read(terminal, 65536):
        written += part
except OSError:  # the command has ended
    pass
sys.stdout.buffer.write(written.replace(b"\r\n", b"\n"))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) % 256)
