"""Opening one file of an artifact without following links or trusting its size."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from bench.errors import InvalidOutput


def open_plain(path: Path, max_bytes: int, label: str = "") -> BinaryIO:
    """`path` opened for reading, if it is a plain file of at most `max_bytes`; else `InvalidOutput`."""
    label = label or path.name
    try:
        # O_NONBLOCK: opening a pipe must not wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise InvalidOutput(f"there is no file {label!r} in the artifact") from None
    except OSError as error:
        raise InvalidOutput(f"{label} can't be opened as a plain file: {error.strerror}") from None
    status = os.fstat(descriptor)
    fault = "is not a plain file" if not stat.S_ISREG(status.st_mode) else ""
    if not fault and status.st_size > max_bytes:
        fault = f"has {status.st_size} bytes; at most {max_bytes} are read"
    if fault:
        os.close(descriptor)
        raise InvalidOutput(f"{label} {fault}")
    return open(descriptor, "rb")
