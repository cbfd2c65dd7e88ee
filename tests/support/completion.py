#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""completion.py SHELL SCRIPT FOLDER - types into bash, zsh or fish on a terminal of its own, in FOLDER, with nysbench
in PATH and the completion SCRIPT, and prints the cases, a line each, in which what stands on the line after the Tab key
is not what is expected; exit status 1 if there are any."""
import os
import pty
import re
import select
import sys
import time

shell, script, folder = sys.argv[1:]
script = os.path.realpath(script)

# Typed before the Tab, and what may be on the line behind it.
CASES = [
    ("nysbench pla", "nysbench plan "),
    ("nysbench run --dry", "nysbench run --dry-run "),
    ("nysbench select --side q", "nysbench select --side queries "),
    ("nysbench select --strategy kme", "nysbench select --strategy kmeans "),
    ("nysbench plan x.yaml --set stu", "nysbench plan x.yaml --set study="),
    ("nysbench plan one", "nysbench plan one.yaml "),
    ("nysbench plan 'with a", "nysbench plan 'with a blank.yaml' "),
    ("nysbench plot results/do", "nysbench plot results/done/"),
    ("nysbench nothing x", "nysbench nothing x"),
]
START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             f"PS1='$ '; bind 'set bell-style none'; bind 'set enable-bracketed-paste off'; source '{script}'; "
             r"""bind -x '"\C-g": printf "\nLINE=<%s>\n" "$READLINE_LINE"'"""),
    "zsh": (["zsh", "-f", "-i"],
            f"PS1='$ '; fpath=('{os.path.dirname(script)}' $fpath); autoload -Uz compinit; compinit -u -D; "
            "unsetopt beep; setopt no_auto_remove_slash; show() { print -r; print -r \"LINE=<$BUFFER>\" }; zle -N "
            "show; bindkey '^G' show"),
    "fish": (["fish", "--no-config", "-i"],
             f"function fish_prompt; echo '$ '; end; set -g fish_autosuggestion_enabled 0; source '{script}'; "
             r"bind \cg 'echo; echo LINE=\<(commandline)\>'"),
}


class Terminal:
    def __init__(self, words):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.environ.update(TERM="xterm", HOME=folder, COLUMNS="200", LC_ALL="C.UTF-8")
            os.execvp(words[0], words)

    def send(self, text):
        os.write(self.fd, text.encode())

    def read_until(self, pattern, limit_s=60):
        seen, end = "", time.monotonic() + limit_s
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    seen += os.read(self.fd, 65536).decode(errors="replace")
                except OSError:
                    break
            found = re.search(pattern, seen, re.S)
            if found:
                return found
        sys.exit(f"{shell} does not answer: {seen[-2000:]!r}")

    def close(self):
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def line_of(terminal, wanted):
    """The line as soon as it is one of those, or as it is after half a minute, which a busy machine may take."""
    for _ in range(300):
        terminal.send("\x07")
        line = terminal.read_until(r"LINE=<([^>]*)>").group(1)
        if line in wanted:
            break
        time.sleep(0.1)
    return line


def after_tab(terminal, typed, expected):
    terminal.send("\x15")
    line_of(terminal, [""])
    terminal.send(typed)
    line_of(terminal, [typed])
    terminal.send("\t")
    return line_of(terminal, expected)


words, setup = START[shell]
terminal = Terminal(words)
terminal.send(setup + "\r")
terminal.send("echo read'y'\r")
terminal.read_until("ready")
time.sleep(0.5)
wrong = 0
for typed, *expected in CASES:
    got = after_tab(terminal, typed, expected)
    if got not in expected:
        wrong += 1
        print(f"{shell}: {typed!r}: {got!r}, expected {expected[0]!r}")
terminal.close()
sys.exit(1 if wrong else 0)
