# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong in the library, as exceptions with the library's messages."""


class Error(Exception):
    """All that nysbench raises, but for TypeError where an argument is of no use as what it is to be."""


class ArgumentError(Error, ValueError):
    """An argument, a spec or an option is not what is allowed, or an attention refuses such heads."""


class ShapeError(Error, ValueError):
    """Shapes do not agree."""


class NumericError(Error, ValueError):
    """NaN or Inf in the input, or a factorisation failed."""


class OutOfMemoryError(Error, MemoryError):
    """Memory ran out."""


class FileError(Error, OSError):
    """A file, or the program."""


class HostError(Error, OSError):
    """The machine gives no thread."""


class InternalError(Error, RuntimeError):
    """A broken invariant of the library: please report it."""


# By nysbench_status.
_CLASSES = {1: ArgumentError, 2: OutOfMemoryError, 3: ShapeError, 4: NumericError, 5: FileError, 6: InternalError, 7: HostError}


def error(status, message):
    """The exception for a status other than NYSBENCH_OK."""
    return _CLASSES.get(status, InternalError)(message or f"the library ended with status {status}")
