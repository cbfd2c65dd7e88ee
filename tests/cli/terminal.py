#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""terminal.py [--size COLUMNSxROWS] [--at SECONDS ACTION]... [--log FILE] -- COMMAND... - runs the command on a terminal of that
size (80x24), and prints the lines that stand on its screen in the end, those that have left it at the top included. ACTION is
size=COLUMNSxROWS, signal=NUMBER, type=TEXT (^C for the key) or show, which prints the screen at that time behind a line
"--- SECONDS". The log says of each drawing when it was. Exit status: the command's."""
import fcntl, os, pty, re, select, struct, sys, termios, time


class Screen:
    """As much of ECMA-48 as nysbench uses; anything else is an error. What a narrower terminal breaks stays broken."""

    def __init__(self, columns, rows):
        self.columns, self.rows, self.lines, self.row, self.column, self.pending = columns, rows, [""], 0, 0, ""

    def put(self, text):
        text = self.pending + text
        self.pending = ""
        at = 0
        while at < len(text):
            c = text[at]
            if c == "\033":
                found = re.match(r"\033\[(\d*)([A-Za-z])", text[at:])
                if not found and len(text) - at < 8:
                    self.pending = text[at:]
                    return
                if not found:
                    sys.exit(f"unknown sequence: {text[at:at + 12]!r}")
                self.do(found[2], int(found[1] or 1))
                at += len(found[0])
                continue
            at += 1
            if c == "\r":
                self.column = 0
            elif c == "\n":
                self.down()
            elif c == "\a":
                pass
            elif c >= " ":
                if self.column == self.columns:
                    self.column = 0
                    self.down()
                line = self.lines[self.row].ljust(self.column)
                self.lines[self.row] = line[:self.column] + c + line[self.column + 1:]
                self.column += 1

    def down(self):
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append("")

    def do(self, what, count):
        if what == "A":
            self.row = max(self.row - count, len(self.lines) - self.rows, 0)
        elif what == "m":  # bold, and back
            pass
        elif what in "KJ":
            self.lines[self.row] = self.lines[self.row][:self.column]
            if what == "J":
                del self.lines[self.row + 1:]
        else:
            sys.exit(f"unknown sequence: {what}")

    def resize(self, columns, rows):
        """Lines that are too long now go on in the next one, and the cursor stays at the end of its line."""
        broken, row = [], 0
        for i, line in enumerate(self.lines):
            parts = [line[k:k + columns] for k in range(0, max(len(line), 1), columns)]
            broken += parts
            if i == self.row:
                row = len(broken) - 1
        self.lines, self.row, self.column = broken, row, len(broken[row])
        self.columns, self.rows = columns, rows


def size_of(text):
    return tuple(int(n) for n in text.split("x"))


arguments, size, actions, log = sys.argv[1:], (80, 24), [], None
while arguments[0] != "--":
    if arguments[0] == "--size":
        size = size_of(arguments[1])
        del arguments[:2]
    elif arguments[0] == "--log":
        log = open(arguments[1], "w")
        del arguments[:2]
    elif arguments[0] == "--at":
        actions.append((float(arguments[1]), arguments[2]))
        del arguments[:3]
command = arguments[1:]

pid, terminal = pty.fork()
if pid == 0:
    os.environ.pop("COLUMNS", None)
    os.environ["TERM"] = os.environ.get("SCREEN_TERM", "xterm")
    time.sleep(0.1)  # until the size is set
    os.execvp(command[0], command)


def set_size(columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


set_size(*size)
screen, start = Screen(*size), time.monotonic()
actions.sort()
while True:
    ready = select.select([terminal], [], [], 0.02)[0]
    if ready:
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        screen.put(data.decode("utf-8", "replace"))
        if log and b"\r[" in data:
            print(f"{time.monotonic() - start:.3f}", file=log)
    while actions and time.monotonic() - start >= actions[0][0]:
        when, action = actions.pop(0)
        name, _, value = action.partition("=")
        if name == "size":
            set_size(*size_of(value))
            screen.resize(*size_of(value))
        elif name == "signal":
            os.kill(pid, int(value))
        elif name == "type":
            os.write(terminal, value.replace("^C", "\x03").encode())
        else:
            print(f"--- {when}", *(line.rstrip() for line in screen.lines), sep="\n")
_, how = os.waitpid(pid, 0)
if log:
    log.close()
print("---", *(line.rstrip() for line in screen.lines), sep="\n")
sys.exit(os.waitstatus_to_exitcode(how) % 256)
