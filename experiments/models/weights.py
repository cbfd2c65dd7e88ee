# SPDX-License-Identifier: GPL-3.0-or-later
"""Weights as the packages have them, as NumPy arrays: safetensors, PyTorch's, ONNX, CTranslate2 and GGUF, by name."""
import collections
import json
import math
import pickle
import struct
import zipfile

import numpy as np


class WeightsError(ValueError):
    """A file that is not what its reader reads."""


def safetensors(path):
    """float32 arrays of a .safetensors file; copies."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    kinds = {"F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in kinds:
            raise WeightsError(f"{path}: tensor {name}: type {entry['dtype']}; allowed: {', '.join(kinds)}")
        start, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[start:end], kinds[entry["dtype"]]).reshape(entry["shape"])
    return tensors


def write_safetensors(path, tensors, **metadata):
    """Writes arrays of float32 or float16, {name: array}, each C-contiguous in the file, with texts about them."""
    header, place = {"__metadata__": metadata} if metadata else {}, 0
    for name, array in tensors.items():
        end = place + array.nbytes
        kind = {4: "F32", 2: "F16"}[array.itemsize]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [place, end]}
        place = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for array in tensors.values():
            file.write(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).data)


class _State(pickle.Unpickler):
    """Reads the pickle of a dict of PyTorch's tensors. Their numbers are stored elsewhere, so that it makes arrays that
    are filled later: `storages`, by name. It makes nothing else that a pickle may ask for."""
    KINDS = {"FloatStorage": "<f4", "HalfStorage": "<f2", "LongStorage": "<i8"}

    def __init__(self, file, path):
        super().__init__(file)
        self.storages, self._path = {}, path

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return self._tensor
        if module == "torch" and name in self.KINDS:
            return self.KINDS[name]
        raise WeightsError(f"{self._path}: asks for {module}.{name}; allowed: tensors of {', '.join(self.KINDS)}")

    def persistent_load(self, key):
        _, kind, name, _, size, *_ = key
        return self.storages.setdefault(name, np.empty(size, kind))

    @staticmethod
    def _tensor(storage, start, shape, strides, *_):
        strides = [storage.itemsize * stride for stride in strides]
        return np.lib.stride_tricks.as_strided(storage[start:], shape, strides)


def torch_state(path):
    """The arrays of a file that torch.save wrote from a dict of tensors: a zip file, or what PyTorch before 1.6 wrote."""
    with open(path, "rb") as file:
        if zipfile.is_zipfile(file):
            with zipfile.ZipFile(file) as archive:
                (pickled,) = (name for name in archive.namelist() if name.endswith("/data.pkl"))
                with archive.open(pickled) as stream:
                    state = _State(stream, path)
                    tensors = state.load()
                for name, storage in state.storages.items():
                    storage[:] = np.frombuffer(archive.read(f"{pickled.removesuffix('.pkl')}/{name}"), storage.dtype)
            return tensors
        file.seek(0)
        for _ in range(3):  # a magic number, the version, and how the machine stores numbers
            _State(file, path).load()
        state = _State(file, path)
        tensors = state.load()
        for name in _State(file, path).load():
            storage = state.storages[name]
            (size,) = struct.unpack("<q", file.read(8))
            if size != storage.size:
                raise WeightsError(f"{path}: storage {name} has {size} numbers; its tensors need {storage.size}")
            storage[:] = np.frombuffer(file.read(storage.nbytes), storage.dtype)
    return tensors


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def _fields(data):
    """(number, value) of each field of a protocol buffer: integers, or memoryviews of what has a length."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        if key & 7 == 0:
            value, at = _varint(data, at)
        elif key & 7 == 2:
            size, at = _varint(data, at)
            value, at = data[at:at + size], at + size
        elif key & 7 in (1, 5):
            size = 8 if key & 7 == 1 else 4
            value, at = data[at:at + size], at + size
        else:
            raise WeightsError(f"protocol buffer: wire type {key & 7} at byte {at}")
        yield key >> 3, value


def _all(message, number):
    return [value for field, value in _fields(message) if field == number]


def onnx(path):
    """(tensors, nodes): the float32 initializers of an ONNX file by name, and {name of a node: [names of its inputs]},
    since exported matrices have no other name than their product's."""
    with open(path, "rb") as file:
        graph = _all(memoryview(file.read()), 7)[0]
    tensors = {}
    for tensor in _all(graph, 5):
        shape = [value for field, value in _fields(tensor) if field == 1]
        if _all(tensor, 2) == [1]:
            name, raw = bytes(_all(tensor, 8)[0]).decode(), _all(tensor, 9)[0]
            tensors[name] = np.frombuffer(raw, "<f4").reshape(shape)
    nodes = {bytes(_all(node, 3)[0]).decode(): [bytes(name).decode() for name in _all(node, 1)]
             for node in _all(graph, 1) if _all(node, 3)}
    return tensors, nodes


def ctranslate2(path, prefix):
    """float32 arrays of a CTranslate2 model.bin (version 6, float16 or float32) whose names start with prefix."""
    kinds = {0: "<f4", 1: "i1", 2: "<i2", 3: "<i4", 4: "<f2"}
    tensors = {}
    with open(path, "rb") as file:
        def number(kind):
            return struct.unpack("<" + kind, file.read(struct.calcsize(kind)))[0]

        def text():
            return file.read(number("H")).rstrip(b"\0").decode()

        version, specification, _ = number("I"), text(), number("I")
        if version != 6:
            raise WeightsError(f"{path}: {specification} of version {version}; this reader's is 6")
        for _ in range(number("I")):
            name = text()
            shape = [number("I") for _ in range(number("B"))]
            kind, size = number("B"), number("I")
            data = file.read(size)
            if not name.startswith(prefix):
                continue
            if kind not in kinds:
                raise WeightsError(f"{path}: tensor {name}: type {kind}")
            array = np.frombuffer(data, kinds[kind]).reshape(shape)
            tensors[name] = array.astype(np.float32) if kinds[kind] == "<f2" else array
    return tensors


def _q4_1(blocks):
    """20 bytes for 32 weights: a float16 scale and least value, and numbers 0 ... 15."""
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    least = blocks[:, 2:4].copy().view("<f2").astype(np.float32)
    return scale * np.concatenate([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], axis=1).astype(np.float32) + least


def _q8_0(blocks):
    """34 bytes for 32 weights: a float16 scale and signed bytes."""
    return blocks[:, :2].copy().view("<f2").astype(np.float32) * blocks[:, 2:].view(np.int8).astype(np.float32)


# GGUF's number of a type: (bytes of a block, weights in it, what turns blocks into weights).
_QUANTISED = {3: (20, 32, _q4_1), 8: (34, 32, _q8_0)}


class _Gguf:
    """The reader of one GGUF file's header."""
    KINDS = "B b H h I i f ? string array Q q d".split()

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, kind):
        (value,) = struct.unpack_from("<" + kind, self.data, self.at)
        self.at += struct.calcsize("<" + kind)
        return value

    def text(self):
        size = self.number("Q")
        self.at += size
        return bytes(self.data[self.at - size:self.at]).decode()

    def value(self, kind):
        name = self.KINDS[kind]
        if name == "string":
            return self.text()
        if name == "array":
            inner = self.number("I")
            return [self.value(inner) for _ in range(self.number("Q"))]
        return self.number(name)


def gguf(path):
    """(metadata, tensors): tensors as float32, quantised ones dequantised."""
    data = np.fromfile(path, np.uint8)
    reader = _Gguf(memoryview(data))
    if bytes(data[:4]) != b"GGUF" or (reader.number("I"), reader.number("I"))[1] != 3:
        raise WeightsError(f"{path}: not a GGUF file of version 3")
    count, pairs = reader.number("Q"), reader.number("Q")
    metadata = {}
    for _ in range(pairs):
        name = reader.text()
        metadata[name] = reader.value(reader.number("I"))
    entries = []
    for _ in range(count):
        name = reader.text()
        shape = [reader.number("Q") for _ in range(reader.number("I"))][::-1]
        entries.append((name, shape, reader.number("I"), reader.number("Q")))
    alignment = metadata.get("general.alignment", 32)
    start = -(-reader.at // alignment) * alignment
    return metadata, {name: _gguf_tensor(data[start + offset:], path, name, shape, kind)
                      for name, shape, kind, offset in entries}


def _gguf_tensor(data, path, name, shape, kind):
    size = math.prod(shape)
    if kind == 0:
        return data[:4 * size].view("<f4").reshape(shape)
    if kind not in _QUANTISED:
        raise WeightsError(f"{path}: tensor {name}: type {kind}; allowed: 0, {', '.join(map(str, _QUANTISED))}")
    width, weights, dequantise = _QUANTISED[kind]
    return dequantise(data[:size // weights * width].reshape(-1, width)).reshape(shape)
