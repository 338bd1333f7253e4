"""Artifact folders: which files are in them, and their fingerprint. Links and special files are refused."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.errors import InvalidOutput
from bench.keys import digest

MAX_FILES = 10_000
MAX_ARTIFACT_BYTES = 8 * 2**30  # in all, of one artifact
NOTES_FILE = "notes.json"  # written by the bench: what `collect` returned


def artifact_digest(folder: Path) -> tuple[str, int]:
    """(SHA-256 hex, total bytes) of the files below `folder`.

    The hash is that of the canonical JSON of {relative path: SHA-256 of the bytes}; empty folders, modes
    and times do not count. Raises `InvalidOutput` as `regular_files` does.
    """
    files = manifest(folder)
    return digest({name: sha for name, (sha, _) in files.items()}), sum(size for _, size in files.values())


def manifest(folder: Path) -> dict[str, tuple[str, int]]:
    """Relative path -> (SHA-256 hex, bytes) of every file below `folder`."""
    found = {}
    for path in regular_files(folder):
        # O_NOFOLLOW: the file may have been swapped for a link since it was listed.
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
            sha = hashlib.file_digest(file, "sha256").hexdigest()
            found[path.relative_to(folder).as_posix()] = (sha, os.fstat(file.fileno()).st_size)
    return found


def regular_files(
    folder: Path, max_files: int = MAX_FILES, *, skip: Callable[[Path], bool] = lambda path: False
) -> Iterator[Path]:
    """The files below `folder`, sorted within each folder; what `skip` names is passed over unseen.

    Raises `InvalidOutput` for links (soft or hard), special files, names that are not UTF-8, and more than
    `max_files` entries: an artifact that points outside itself is not a result.
    """
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise InvalidOutput(f"{folder.name!r} must be a folder, not a link or a file")
    waiting, seen = [folder], 0
    while waiting:
        inner: list[Path] = []
        for path in sorted(waiting.pop().iterdir()):
            if skip(path):
                continue
            seen += 1
            if seen > max_files:
                raise InvalidOutput(f"{folder.name!r} holds more than {max_files} files and folders")
            if _is_folder(path, path.relative_to(folder).as_posix()):
                inner.append(path)
            else:
                yield path
        waiting += reversed(inner)


def _is_folder(path: Path, name: str) -> bool:
    if not _is_text(name):
        raise InvalidOutput(f"the file name {name.encode('utf-8', 'replace')!r} is not valid UTF-8")
    status = path.lstat()
    if stat.S_ISDIR(status.st_mode):
        return True
    if not stat.S_ISREG(status.st_mode):
        raise InvalidOutput(f"{name!r} is a link or a special file; write plain files and folders only")
    if status.st_nlink > 1:
        raise InvalidOutput(f"{name!r} is a hard link to a file that has other names; write a copy")
    return False


def _is_text(name: str) -> bool:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
