"""The idx format of the MNIST family: a big-endian header, then unsigned bytes."""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING

from bench.errors import MissingRequirement

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_UNSIGNED_BYTE = 8


def parse(content: bytes, *, dimensions: int, source: str) -> npt.NDArray[np.uint8]:
    """The read-only uint8 array in `content`; `source` names the file in errors.

    Header: two zero bytes, the element type (8 = unsigned byte), the number of dimensions, then one
    4-byte size a dimension. `MissingRequirement` if anything but exactly that array is there.
    """
    import numpy as np

    if len(content) < 4 or content[:2] != b"\0\0":
        raise MissingRequirement(
            f"{source}: not an idx file, it starts with {content[:4].hex() or 'nothing'}"
        )
    kind, found = content[2], content[3]
    if kind != _UNSIGNED_BYTE or found != dimensions:
        raise MissingRequirement(
            f"{source}: expected unsigned bytes (type 8) in {dimensions} dimensions, "
            f"got type {kind} in {found}"
        )
    header = 4 + 4 * dimensions
    if len(content) < header:
        raise MissingRequirement(f"{source}: cut off inside the header, {len(content)} of {header} bytes")
    shape = struct.unpack(f">{dimensions}I", content[4:header])
    if len(content) != header + math.prod(shape):
        raise MissingRequirement(
            f"{source}: shape {shape} needs {header + math.prod(shape):,} bytes, got {len(content):,}"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=header).reshape(shape)
