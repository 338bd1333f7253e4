"""Files as messages, for machines that share no file system.

A message is a four-byte length, a JSON list of [name, offset, size, executable], and the bytes of all of
them. It can hold plain files and nothing else: a link or a device has no form in it. Names come from other
machines and are checked before anything is written.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from bench.errors import BenchError
from bench.keys import digest

PIECE_BYTES = 16 * 2**20
_LENGTH = struct.Struct(">I")
_MAX_HEAD = 64 * 2**20


class ParcelError(BenchError):
    """A message that is none, or that would write outside its folder."""


@dataclass(frozen=True, slots=True)
class _Piece:
    name: str
    offset: int
    data: bytes
    executable: bool


def fingerprint(files: Mapping[str, Path]) -> str:
    """SHA-256 over names and contents; the same as of an artifact folder with these files."""
    return digest({name: _sha256(path) for name, path in files.items()})


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def messages(files: Mapping[str, Path], limit: int = PIECE_BYTES) -> Iterator[bytes]:
    """`files` (relative name -> path) as messages with at most about `limit` bytes each, at least one."""
    batch: list[_Piece] = []
    size = sent = 0
    for piece in _pieces(files, limit):
        if batch and size + len(piece.data) > limit:
            yield _encode(batch)
            batch, size, sent = [], 0, sent + 1
        batch.append(piece)
        size += len(piece.data)
    if batch or not sent:
        yield _encode(batch)


def message(files: Mapping[str, Path]) -> bytes:
    """`files` as one message."""
    return _encode(list(_pieces(files, limit=-1)))


def _pieces(files: Mapping[str, Path], limit: int) -> Iterator[_Piece]:
    for name, path in files.items():
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            executable, offset = bool(os.fstat(file.fileno()).st_mode & 0o100), 0
            while data := file.read(limit):
                yield _Piece(name, offset, data, executable)
                offset += len(data)
            if not offset:
                yield _Piece(name, 0, b"", executable)


def _encode(pieces: Iterable[_Piece]) -> bytes:
    pieces = list(pieces)
    head = json.dumps([[p.name, p.offset, len(p.data), p.executable] for p in pieces]).encode()
    return b"".join([_LENGTH.pack(len(head)), head, *(p.data for p in pieces)])


def unpack(content: bytes, folder: Path, *, tops: Iterable[str] | None = None) -> None:
    """Write what a message holds below `folder`; with `tops`, only under these names in it.

    `folder` must be one that nobody else writes to. Raises `ParcelError`; what was written until then stays.
    """
    allowed = None if tops is None else frozenset(tops)
    for piece in _decode(content):
        parts = _checked(piece.name)
        if allowed is not None and parts[0] not in allowed:
            raise ParcelError(f"the message holds {piece.name[:200]!r}, which nobody asked for")
        _append(folder.joinpath(*parts), piece)


def _decode(content: bytes) -> Iterator[_Piece]:
    view = memoryview(content)
    try:
        (length,) = _LENGTH.unpack_from(view)
        if length > _MAX_HEAD:
            raise ValueError(f"a head of {length} bytes")
        entries = json.loads(bytes(view[_LENGTH.size : _LENGTH.size + length]))
        if not isinstance(entries, list):
            raise ValueError("its head is no list")
        table = [(str(name), int(at), int(size), bool(runs)) for name, at, size, runs in entries]
    except (ValueError, TypeError, struct.error, RecursionError) as error:
        raise ParcelError(f"not a message with files: {error}") from None
    place = _LENGTH.size + length
    if any(size < 0 or at < 0 for _, at, size, _ in table) or sum(t[2] for t in table) != len(view) - place:
        raise ParcelError("not a message with files: its sizes do not add up")
    for name, offset, size, executable in table:
        yield _Piece(name, offset, bytes(view[place : place + size]), executable)
        place += size


def _checked(name: str) -> tuple[str, ...]:
    parts = PurePosixPath(name).parts
    if not parts or name != "/".join(parts) or "\0" in name or {"/", "..", "."} & set(parts):
        raise ParcelError(f"the message holds the file name {name[:200]!r}; expected a path below its folder")
    return parts


def _append(path: Path, piece: _Piece) -> None:
    """Write one piece at the end of its file, which must be as long as the pieces before it."""
    how = (
        os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC | (os.O_APPEND if piece.offset else os.O_CREAT | os.O_EXCL)
    )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(path, how, 0o755 if piece.executable else 0o644), "wb") as file:
            if os.fstat(file.fileno()).st_size != piece.offset:
                raise ParcelError(f"a piece of {piece.name[:200]!r} is missing")
            file.write(piece.data)
    except (FileExistsError, FileNotFoundError, NotADirectoryError, UnicodeEncodeError) as error:
        raise ParcelError(f"the message holds {piece.name[:200]!r} twice, or in pieces: {error}") from None
