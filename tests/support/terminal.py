#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""terminal.py [--size COLUMNSxROWS] [--resized HOW] [--drawn COUNT ACTION | --seen TEXT ACTION]... [--log FILE] --
COMMAND... - runs the command on a terminal of that size (80x24), and prints the lines that stand on its screen in the
end, those that have left it at the top included. HOW says what another width does to lines: it cuts them (as xterm
does), rewraps them (as VTE and tmux do), or breaks those that are too long for good (the default). The actions are done
one after another, each once so many more drawings are there or a line has the text. ACTION is size=COLUMNSxROWS,
late=COLUMNSxROWS (while what was drawn for the old size is on its way), signal=NUMBER, stop (until signal=18),
type=TEXT (^C for the key), touch=FILE or show, which prints the screen behind a line "---". The log says of each
drawing when it was. Exit status: the command's."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time


class Line:
    def __init__(self, text="", goes_on=False):
        self.text, self.goes_on = text, goes_on


class Screen:
    """As much of ECMA-48 as nysbench uses, and autowrap; anything else is an error."""

    def __init__(self, columns, rows, resized):
        self.columns, self.rows, self.resized = columns, rows, resized
        self.lines, self.row, self.column, self.wrap, self.pending, self.drawn = [Line()], 0, 0, True, "", 0

    def put(self, text):
        text = self.pending + text
        self.pending = ""
        at = 0
        while at < len(text):
            c = text[at]
            if c == "\033":
                found = re.match(r"\033\[(\??\d*)([A-Za-z])", text[at:])
                if not found and len(text) - at < 8:
                    self.pending = text[at:]
                    return
                if not found:
                    sys.exit(f"unknown sequence: {text[at:at + 12]!r}")
                self.do(found[2], found[1])
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
                self.put_character(c)

    def put_character(self, c):
        if self.column == self.columns and self.wrap:
            self.lines[self.row].goes_on = True
            self.column = 0
            self.down()
        self.column = min(self.column, self.columns - 1)
        line = self.lines[self.row]
        text = line.text.ljust(self.column)
        line.text = text[:self.column] + c + text[self.column + 1:]
        self.column += 1

    def down(self):
        self.row += 1
        if self.row == len(self.lines):
            self.lines.append(Line())

    def do(self, what, number):
        if what == "A":
            self.row = max(self.row - int(number or 1), len(self.lines) - self.rows, 0)
        elif what == "m":  # bold, and back
            pass
        elif number == "?7" and what in "lh":
            self.wrap = what == "h"
        elif what in "KJ":
            self.lines[self.row] = Line(self.lines[self.row].text[:self.column])
            if what == "J":
                self.drawn += self.column > 0
                del self.lines[self.row + 1:]
        else:
            sys.exit(f"unknown sequence: {number}{what}")

    def resize(self, columns, rows):
        """The cursor stays where it is in its line."""
        whole = [""]
        for i, line in enumerate(self.lines):
            if i == self.row:
                cursor, offset = len(whole) - 1, len(whole[-1]) + self.column
            whole[-1] += line.text
            if not line.goes_on or self.resized != "rewraps":
                whole.append("")
        self.lines = []
        for i, text in enumerate(whole[:-1]):
            starts = [0] if self.resized == "cuts" else range(0, max(len(text), 1), columns)
            if i == cursor:
                part = min(offset // columns, len(starts) - 1)
                self.row, self.column = len(self.lines) + part, min(offset - part * columns, columns)
            self.lines += [Line(text[k:k + columns], k + columns < len(text)) for k in starts]
        self.row = max(self.row, len(self.lines) - rows)
        self.columns, self.rows = columns, rows

    def show(self):
        print("---", *(line.text.rstrip() for line in self.lines), sep="\n")


def size_of(text):
    return tuple(int(n) for n in text.split("x"))


arguments, size, resized, actions, log = sys.argv[1:], (80, 24), "breaks", [], None
while arguments[0] != "--":
    option, value = arguments[:2]
    del arguments[:2]
    if option == "--size":
        size = size_of(value)
    elif option == "--resized":
        resized = value
    elif option == "--log":
        log = open(value, "w")
    elif option == "--drawn":
        actions.append((int(value), None, arguments.pop(0)))
    elif option == "--seen":
        actions.append((0, value, arguments.pop(0)))
command = arguments[1:]

pid, terminal = pty.fork()
if pid == 0:
    os.environ.pop("COLUMNS", None)
    os.environ["TERM"] = os.environ.get("SCREEN_TERM", "xterm")
    time.sleep(0.1)  # until the size is set
    os.execvp(command[0], command)


def is_ready(seconds):
    return bool(select.select([terminal], [], [], seconds)[0])


def receive():
    """EOFError: the command has ended."""
    try:
        data = os.read(terminal, 65536)
    except OSError:
        data = b""
    if not data:
        raise EOFError
    before = screen.drawn
    screen.put(data.decode("utf-8", "replace"))
    if log and screen.drawn > before:
        print(f"{time.monotonic() - start:.3f}", file=log)


def set_size(columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def act(name, value):
    if name == "stop":
        os.kill(pid, signal.SIGSTOP)
        os.waitpid(pid, os.WUNTRACED)
    while is_ready(0.05):  # else half a drawing may be on its way
        receive()
    if name == "late":
        is_ready(None)
    if name in ("size", "late"):
        set_size(*size_of(value))
        screen.resize(*size_of(value))
    elif name == "signal":
        os.kill(pid, int(value))
    elif name == "type":
        os.write(terminal, value.replace("^C", "\x03").encode())
    elif name == "touch":
        open(value, "w").close()
    elif name == "show":
        screen.show()


set_size(*size)
screen, start, seen = Screen(*size, resized), time.monotonic(), 0
try:
    while True:
        if is_ready(0.02):
            receive()
        while actions:
            drawings, text, _ = actions[0]
            if screen.drawn - seen < drawings or (text and not any(text in line.text for line in screen.lines)):
                break
            name, _, value = actions.pop(0)[2].partition("=")
            act(name, value)
            seen = screen.drawn
except EOFError:
    pass
_, how = os.waitpid(pid, 0)
if log:
    log.close()
screen.show()
if actions:
    print(f"not done: {actions}", file=sys.stderr)
    sys.exit(99)  # which no program here ends with
sys.exit(os.waitstatus_to_exitcode(how) % 256)
