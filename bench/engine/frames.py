"""Messages between processes: a four-byte length and a JSON text, over any descriptor."""

from __future__ import annotations

import json
import os
import struct
from typing import Any

_LENGTH = struct.Struct(">I")
MAX_FRAME = 64 * 2**20
_CHUNK = 2**18


class FrameError(Exception):
    """The bytes on a descriptor are not frames."""


def write_frame(fd: int, value: Any) -> None:
    """Write `value` to `fd` as one frame, blocking until it is out."""
    text = json.dumps(value, separators=(",", ":")).encode()
    if len(text) > MAX_FRAME:
        raise FrameError(f"a message of {len(text)} bytes is over the limit of {MAX_FRAME}")
    data = memoryview(_LENGTH.pack(len(text)) + text)
    while data:
        data = data[os.write(fd, data) :]


class FrameReader:
    """Takes frames apart as bytes arrive. The descriptor may be blocking or not."""

    def __init__(self, fd: int) -> None:
        self.fd = fd
        self.at_end = False
        self._buffer = bytearray()

    def read(self) -> list[Any]:
        """Read what is there (blocks only if nothing is and `fd` is blocking); complete frames, in order.

        Raises `FrameError` for bytes that are no frame.
        """
        try:
            data = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return []
        except OSError:  # the other side of a socket or terminal went away
            data = b""
        self.at_end = not data
        self._buffer += data
        return self._complete()

    def _complete(self) -> list[Any]:
        frames = []
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > MAX_FRAME:
                raise FrameError(f"a message claims {length} bytes; the limit is {MAX_FRAME}")
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                break
            try:
                frames.append(json.loads(self._buffer[_LENGTH.size : end]))
            except (ValueError, RecursionError) as error:
                raise FrameError(f"a message is not JSON: {error}") from None
            del self._buffer[:end]
        return frames
