# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the wheel, as pip asks it to (PEP 517 and PEP 660; pyproject.toml names this file).

The wheel takes along what `make` has built beside this folder, or what is in $NYSBENCH_BUILD: the library, the program
and what the program reads. With them it has a command, and is for this machine's kind alone; without them it is pure
Python and looks for an installed library. An editable install finds them in ../build.
"""
import base64
import hashlib
import os
import re
import sysconfig
import time
import zipfile
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python below 3.11
    import tomli as tomllib

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("NYSBENCH_BUILD", HERE.parent / "build"))
READ = ("docs", "experiments", "include", "manual", "plots", "templates")  # by the program, beside itself
BUILT = [path for path in (BUILD / name for name in ("libnysbench.so", "nysbench", *READ)) if path.exists()]
COMMAND = "[console_scripts]\nnysbench = nysbench._processes:main\n"  # only with the program beside it
EPOCH = 315532800  # 1980, where the times of a zip file begin


class UnsupportedOperation(Exception):
    """What PEP 517 lets a backend raise."""


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {f"nysbench/{name}": path for name, path in modules()}
    files.update((f"nysbench/{name}", path) for root in BUILT for name, path in under(root, root.name))
    with_command = BUILD / "nysbench" in BUILT
    return write_wheel(wheel_directory, files, platform() if BUILT else "any", with_command)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {"nysbench.pth": f"{HERE}\n"}, "any", False)


def build_sdist(sdist_directory, config_settings=None):
    raise UnsupportedOperation("the package is built from the whole tree: make dist packs its sources")


def modules():
    """Pairs of a name in the package and its file."""
    return under(HERE / "nysbench", ".")


def under(root, name):
    """The files of a folder, or the file itself: pairs of a name and a path, sorted. What is hidden or compiled is
    left."""
    if not root.is_dir():
        return [(name, root)]
    found = []
    for folder, folders, files in os.walk(root, followlinks=True):
        folders[:] = sorted(one for one in folders if one[0] != "." and one != "__pycache__")
        inner = Path(name, Path(folder).relative_to(root))
        found += [((inner / one).as_posix(), Path(folder, one)) for one in sorted(files) if one[0] != "."]
    return found


def platform():
    return re.sub("[-.]", "_", sysconfig.get_platform())


def write_wheel(directory, files, kind, with_command):
    """Writes a wheel of files, paths or texts by their names; its name. kind: the platform, or any."""
    version = re.search(r'^#define NB_VERSION "(.*)"$', (HERE.parent / "src/base/version.h").read_text(), re.M).group(1)
    info, wheel = f"nysbench-{version}.dist-info", f"nysbench-{version}-py3-none-{kind}.whl"
    files[f"{info}/METADATA"] = metadata(version)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: nysbench {version}\n"
                              f"Root-Is-Purelib: {str(kind == 'any').lower()}\nTag: py3-none-{kind}\n")
    if with_command:
        files[f"{info}/entry_points.txt"] = COMMAND
    recorded = []
    with zipfile.ZipFile(Path(directory, wheel), "w", zipfile.ZIP_DEFLATED) as packed:
        for name, what in files.items():
            recorded.append(add(packed, name, what))
        add(packed, f"{info}/RECORD", "".join(recorded) + f"{info}/RECORD,,\n")
    return wheel


def metadata(version):
    """The project of pyproject.toml, as core metadata."""
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}",
             f"Summary: {project['description']}", f"License: {project['license']['text']}",
             f"Requires-Python: {project['requires-python']}"]
    lines += [f"Requires-Dist: {need}" for need in project["dependencies"]]
    for extra, needs in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {need} ; extra == "{extra}"' for need in needs)]
    return "\n".join(lines) + "\n"


def add(packed, name, what):
    """Adds a file; its line of RECORD."""
    data, mode = (what.encode(), 0o644) if isinstance(what, str) else (what.read_bytes(), what.stat().st_mode & 0o777)
    changed = EPOCH if isinstance(what, str) else what.stat().st_mtime
    entry = zipfile.ZipInfo(name, time.gmtime(max(EPOCH, int(os.environ.get("SOURCE_DATE_EPOCH", changed))))[:6])
    entry.external_attr = (0o100000 | mode) << 16
    packed.writestr(entry, data, zipfile.ZIP_DEFLATED)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"
