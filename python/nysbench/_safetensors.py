# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of tensors in the safetensors format."""
import contextlib
import json
import os
import secrets
import struct

import numpy as np

from ._errors import FileError

_DTYPES = {2: "F16", 4: "F32", 8: "F64"}


def write(path, tensors, metadata):
    """A file of float16, float32 or float64 arrays by name, whole or not at all; the same bytes for the same content."""
    header, end = {"__metadata__": dict(sorted(metadata.items()))}, 0
    for name, x in tensors.items():
        header[name] = {"dtype": _DTYPES[x.itemsize], "shape": x.shape, "data_offsets": [end, end + x.nbytes]}
        end += x.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    try:
        with _replacing(path) as file:
            file.write(struct.pack("<Q", len(text)) + text)
            for x in tensors.values():
                file.write(np.ascontiguousarray(x).astype(x.dtype.newbyteorder("<"), copy=False).tobytes())
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from error


@contextlib.contextmanager
def _replacing(path):
    """A new file beside path, which takes its place at the end; if anything fails, it is removed, path is as before."""
    part = f"{os.fspath(path)}.{secrets.token_hex(8)}.part"
    try:
        with open(part, "xb") as file:
            yield file
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)
        raise
