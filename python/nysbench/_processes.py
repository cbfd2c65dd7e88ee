# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes between Python and the program: the command `nysbench` of a wheel, and what a session and a worker start.

    python _processes.py end-with PID PROGRAM [ARGUMENT ...]    a program that ends with the process that has started it
    python _processes.py bridge NAME COPIES                     joins a worker of a run with the session that runs it

A worker starts a bridge, by way of bridge/nysbench-function, as a program that stays alive and answers questions
(docs/plugins.md). It hands them on to the session, through the socket $NYSBENCH_SESSION, each with the time of the
system's monotonic clock before it, and answers what the session answers. Where there is no session, as in a run that is
repeated from the shell, it becomes a server of the function's copy, COPIES/NAME.pkl.

All need nothing but the standard library, and of that little, to start fast: importing socket takes longer than
Python's own start."""
import _socket
import os
import sys
import time

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main():
    """Does not return. What the program prints calls it as the user did: by its name alone where that is in PATH."""
    folder, name = os.path.split(sys.argv[0])
    first = next((place for place in os.get_exec_path() if os.access(os.path.join(place, name), os.X_OK)), None)
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nysbench")
    os.environ.setdefault("NYSBENCH_PYTHON", sys.executable)  # which has the package
    os.execv(program, [name if first == folder else sys.argv[0], *sys.argv[1:]])


def end_with(parent, *program):
    """Becomes a program, which is ended when its parent is."""
    import ctypes
    import signal
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != int(parent):
        sys.exit("nysbench: the Python session has ended")
    os.execv(program[0], program)


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


def bridge(name, copies):
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
    if sys.argv[1] == "bridge":
        bridge(*sys.argv[2:])
    else:
        end_with(*sys.argv[2:])
