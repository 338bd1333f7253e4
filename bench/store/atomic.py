"""How files reach the store: complete and durable, or not at all.

A file is written to `.<name>.<uuid>.tmp` beside its place, flushed, fsynced and renamed, then its folder
is fsynced. Rewriting in place loses the file when the process is killed at the wrong moment.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from bench.artifacts import regular_files
from bench.errors import StoreError

MANY_FILES = 64  # above this one sync of everything is cheaper than an fsync per file


def write_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Let `write` fill a temporary file and give it the name `path`; `StoreError` leaves no file behind."""
    with storing(path):
        make_folder(path.parent)
        temporary = temporary_name(path)
        try:
            with temporary.open("xb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        sync_folder(path.parent)


def install_tree(source: Path, target: Path, *, keep_source: bool = False) -> None:
    """Move (or copy) the folder `source` to `target`, which appears complete; an existing `target` is kept.

    Works across file systems. Links and special files are refused with `InvalidOutput`, nothing moved.
    """
    files = list(regular_files(source))
    with storing(target):
        if target.exists():
            return
        make_folder(target.parent)
        temporary = temporary_name(target)
        try:
            _place(source, temporary, keep_source)
            _sync_tree(temporary, len(files))
            os.rename(temporary, target)
        except BaseException as error:
            shutil.rmtree(temporary, ignore_errors=True)
            if isinstance(error, OSError) and target.exists():
                return  # another run finished the same content first
            raise
        sync_folder(target.parent)


def temporary_name(path: Path) -> Path:
    return path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")


def is_temporary(path: Path) -> bool:
    return path.name.startswith(".") and path.name.endswith(".tmp")


def make_folder(folder: Path) -> None:
    """`mkdir -p` whose new entries survive a power cut."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def storing(path: Path) -> Iterator[None]:
    """Turn a failing system call into a `StoreError` that says what could not be written and why."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        remedy = "free some space" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "check the folder"
        raise StoreError(f"cannot write {path}: {reason}; {remedy} and run again to resume") from error


def _place(source: Path, target: Path, keep_source: bool) -> None:
    if not keep_source:
        try:
            os.rename(source, target)
            return
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
    shutil.copytree(source, target, symlinks=True)


def _sync_tree(folder: Path, n_files: int) -> None:
    if n_files > MANY_FILES:
        os.sync()
        return
    for path in [folder, *folder.rglob("*")]:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
