"""Reading GGUF version 3: metadata and tensors of the types float32, Q4_1 and Q8_0, as float32 arrays."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

_SCALARS = {0: "B", 1: "b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "?", 10: "<Q", 11: "<q", 12: "<d"}
_TEXT, _ARRAY = 8, 9
_FLOAT32, _Q4_1, _Q8_0 = 0, 3, 8
_BLOCK = 32  # values quantised together
_BYTES = {_Q4_1: 20, _Q8_0: 34}


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a tensor lies: shape (outermost first), type, offset in the data."""

    shape: tuple[int, ...]
    kind: int
    offset: int


class GgufFile:
    """An open file: `metadata` by key, tensors by name.

    The format has dozens of versions and types, of which those of the pinned model are read; `NotImplementedError`
    names any other, which is a sound file that this reader was not written for.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as stream:
            self._data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        self._at = 0
        if self._data[:4] != b"GGUF":
            raise ValueError(f"{path.name} is not a GGUF file")
        self._at = 4
        version, tensors, entries = (self._scalar(kind) for kind in (4, 10, 10))
        if version != 3:
            # See the class: other files are sound, but not read here.
            raise NotImplementedError(f"{path.name} has GGUF version {version}; version 3 is read")
        self.metadata: dict[str, Any] = {}
        for _ in range(entries):
            key = self._text()
            self.metadata[key] = self._value(self._scalar(4))
        self._places = dict(self._place() for _ in range(tensors))
        alignment = int(self.metadata.get("general.alignment", 32))
        self._start = -(-self._at // alignment) * alignment

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tensors."""
        return tuple(self._places)

    def tensor(self, name: str) -> npt.NDArray[np.float32]:
        """The tensor `name` as a new float32 array, its outermost axis first."""
        place = self._places[name]
        count = int(np.prod(place.shape))
        begin = self._start + place.offset
        if place.kind == _FLOAT32:
            return np.frombuffer(self._data, "<f4", count, begin).reshape(place.shape).astype(np.float32)
        if place.kind not in _BYTES:
            # See the class: other files are sound, but not read here.
            raise NotImplementedError(
                f"tensor {name} has GGUF type {place.kind}; 0 (F32), 3 (Q4_1) and 8 (Q8_0) are read"
            )
        blocks = count // _BLOCK
        raw = np.frombuffer(self._data, np.uint8, blocks * _BYTES[place.kind], begin).reshape(blocks, -1)
        values = _q4_1(raw) if place.kind == _Q4_1 else _q8_0(raw)
        return values.reshape(place.shape)

    def _scalar(self, kind: int) -> Any:
        form = _SCALARS[kind]
        (value,) = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return value

    def _text(self) -> str:
        length = self._scalar(10)
        self._at += length
        return self._data[self._at - length : self._at].decode("utf-8")

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind == _ARRAY:
            inner, length = self._scalar(4), self._scalar(10)
            return [self._value(inner) for _ in range(length)]
        if kind not in _SCALARS:
            # See the class: other files are sound, but not read here.
            raise NotImplementedError(f"GGUF metadata of type {kind}")
        return self._scalar(kind)

    def _place(self) -> tuple[str, _Place]:
        name = self._text()
        axes = self._scalar(4)
        shape = tuple(self._scalar(10) for _ in range(axes))[::-1]  # stored innermost first
        kind, offset = self._scalar(4), self._scalar(10)
        return name, _Place(shape, kind, offset)


def _half(raw: npt.NDArray[np.uint8], at: int) -> npt.NDArray[np.float32]:
    return np.ascontiguousarray(raw[:, at : at + 2]).view("<f2").astype(np.float32)


def _q4_1(raw: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """Scale, minimum, 16 bytes: low nibbles are the values 0 to 15 of the block, high ones 16 to 31."""
    nibbles = np.concatenate([raw[:, 4:] & 15, raw[:, 4:] >> 4], axis=1).astype(np.float32)
    return nibbles * _half(raw, 0) + _half(raw, 2)


def _q8_0(raw: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    """Scale and 32 signed bytes."""
    return raw[:, 2:].view(np.int8).astype(np.float32) * _half(raw, 0)
