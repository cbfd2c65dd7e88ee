# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads and writes .npy files of 64-bit numbers without NumPy, which takes ten times as long to start as Python: for
the programs that `command` calls in tests."""
import array
import struct

KINDS = {"<i8": "q", "<f8": "d"}


def save(path, dtype, shape, values):
    """dtype: <i8 or <f8; values: all of them, row by row."""
    head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (dtype, "".join(f"{n}, " for n in shape))
    head = head.ljust(117) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() +
                   array.array(KINDS[dtype], values).tobytes())


def load(path):
    """dtype, shape, and the values, row by row."""
    with open(path, "rb") as file:
        data = file.read()
    begin = 10 + struct.unpack("<H", data[8:10])[0]
    head = eval(data[10:begin])
    assert data[:8] == b"\x93NUMPY\x01\x00" and not head["fortran_order"]
    values = array.array(KINDS[head["descr"]])
    values.frombytes(data[begin:])
    return head["descr"], head["shape"], values
