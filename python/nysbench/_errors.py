# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong in the library, as exceptions with the library's messages, and what is doubtful, as warnings."""
import os
import sys
import warnings

_FOLDER = os.path.dirname(__file__) + os.sep


class Error(Exception):
    """All that nysbench raises, but for TypeError (an argument of the wrong type) and ImportError (what is missing)."""


class ArgumentError(Error, ValueError):
    """An argument, a spec or an option is not what is allowed, or an attention refuses such heads."""


class ShapeError(Error, ValueError):
    """Shapes do not agree."""


class NumericError(Error, ValueError):
    """NaN or Inf in the input, or a factorisation failed."""


class OutOfMemoryError(Error, MemoryError):
    """Memory ran out."""


class FileError(Error, OSError):
    """A file or the program could not be read or run."""


class HostError(Error, OSError):
    """A thread could not be started."""


class InternalError(Error, RuntimeError):
    """A mistake in the library: please report it."""


def warn(message):
    """A UserWarning at the line outside of the package from which it was called."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_code.co_filename.startswith(_FOLDER):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


# By nysbench_status.
_CLASSES = {1: ArgumentError, 2: OutOfMemoryError, 3: ShapeError, 4: NumericError, 5: FileError, 6: InternalError,
            7: HostError}


def error(status, message):
    """The exception for a status other than NYSBENCH_OK."""
    return _CLASSES.get(status, InternalError)(message or f"the library ended with status {status}")
