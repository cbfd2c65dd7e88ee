# SPDX-License-Identifier: GPL-3.0-or-later
"""The structs that the package declares have the layout of nysbench.h: a C program, made from their names and fields,
prints the compiler's sizes and offsets."""
import ctypes
import os
import re
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

import tap
from nysbench import _library

HEADER = Path(__file__).resolve().parents[2] / "src" / "api"
STRUCTS = [found for found in vars(_library).values()
           if isinstance(found, type) and issubclass(found, ctypes.Structure) and found is not ctypes.Structure]


def declared(struct):
    """{"NAME": its size, "NAME.FIELD": (offset, size)} as ctypes lays them out; NAME is the struct's in C."""
    name = struct.__doc__
    fields = {f"{name}.{field}": (getattr(struct, field).offset, getattr(struct, field).size)
              for field, *_ in struct._fields_}
    return {name: (0, ctypes.sizeof(struct)), **fields}


def of_compiler(names):
    """The same from a C compiler, for these names."""
    lines = []
    for name in names:
        struct, _, field = name.partition(".")
        offset = f"offsetof({struct}, {field})" if field else "(size_t)0"
        size = f"sizeof(({struct} *)0)->{field}" if field else f"sizeof({struct})"
        lines.append(f'printf("{name} %zu %zu\\n", {offset}, {size});')
    includes = [f"#include <{name}.h>" for name in ("stddef", "stdio", "nysbench")]
    text = "\n".join([*includes, "int main(void)", "{", *lines, "}", ""])
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "layout")
        command = [*shlex.split(os.environ.get("CC", "cc")), f"-I{HEADER}", "-x", "c", "-", "-o", program]
        subprocess.run(command, input=text, encoding="utf-8", check=True)
        printed = subprocess.run([program], capture_output=True, encoding="utf-8", check=True).stdout
    return {name: (int(offset), int(size)) for name, offset, size in map(str.split, printed.splitlines())}


class Layout(unittest.TestCase):
    def test_sizes_and_offsets(self):
        text = (HEADER / "nysbench.h").read_text(encoding="utf-8")
        names = re.findall(r"^typedef struct \{.*?^\} (\w+);", text, re.S | re.M)
        self.assertEqual(sorted(struct.__doc__ for struct in STRUCTS), sorted(names))
        for struct in STRUCTS:
            with self.subTest(struct.__doc__):
                found = declared(struct)
                self.assertEqual(found, of_compiler(found))

    def test_a_mistake_is_seen(self):
        """A field of another type, and one too few at the end."""
        fields = _library.Cost._fields_
        for wrong in ([("seconds", ctypes.c_float), *fields[1:]], fields[:-1]):
            struct = type("Wrong", (ctypes.Structure,), {"__doc__": _library.Cost.__doc__, "_fields_": wrong})
            found = declared(struct)
            self.assertNotEqual(found, of_compiler(found))


if __name__ == "__main__":
    tap.main()
