# SPDX-License-Identifier: GPL-3.0-or-later
"""Joins a worker of a run with the Python session that has started the run: python _bridge.py NAME COPIES

A worker starts it, by way of bridge/nysbench-function, as a program that stays alive and answers questions
(docs/plugins.md). It hands them on to the session, through the socket $NYSBENCH_SESSION, each with the time of the
system's monotonic clock before it, and answers what the session answers. Where there is no session, as in a run that is
repeated from the shell, it becomes a server of the function's copy, COPIES/NAME.pkl. Needs nothing but the standard
library, and of that little, to start fast: importing socket takes longer than Python's own start."""
import _socket
import os
import sys
import time


def reach(address, do):
    """Calls bind or connect of a socket with a short path to the address, since one has 107 bytes at most: by way of a
    descriptor of its folder."""
    folder = os.open(os.path.dirname(address), os.O_PATH | os.O_DIRECTORY)
    try:
        do(f"/proc/self/fd/{folder}/{os.path.basename(address)}")
    finally:
        os.close(folder)


def relay(session, name):
    answers = open(session.fileno(), "rb", closefd=False)
    session.sendall(name.encode() + b"\n")
    answer = answers.readline()
    while answer:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
        question = sys.stdin.buffer.readline()
        if not question:
            return
        session.sendall(b"%r %s" % (time.monotonic(), question))
        answer = answers.readline()
    sys.exit("the Python session has ended")


def main(name, copies):
    address = os.environ.get("NYSBENCH_SESSION")
    copy = os.path.join(copies, name + ".pkl")
    if address:
        session = _socket.socket(_socket.AF_UNIX)
        reach(address, session.connect)
        relay(session, name)
    elif os.path.isfile(copy):
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
        os.execv(sys.executable, [sys.executable, "-m", "nysbench.serve", copy])
    else:
        sys.exit(f"the function {name} was in a Python session, and there is no copy of it, as cloudpickle makes: "
                 "call nysbench.run again in the session that has it")


if __name__ == "__main__":
    main(*sys.argv[1:])
