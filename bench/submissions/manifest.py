"""The list of files that `bench submit` copied and checked, kept beside them, and the check against it."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bench.errors import UsageError
from bench.sources import folder_files

MANIFEST = ".bench-manifest.json"  # hidden, hence no part of the submission's own files
_REMEDY = "submit it again: `bench remove NAME`, then `bench submit FOLDER`"


def write(folder: Path, facts: Mapping[str, Any]) -> None:
    """Record the files of `folder` as they are now, with `facts` about the submission."""
    files = {p.relative_to(folder).as_posix(): _record(p) for p in folder_files(folder)}
    text = json.dumps({"format": 1, **facts, "files": files}, indent=1, sort_keys=True) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")


def verify(folder: Path) -> None:
    """Raise `UsageError`, naming a file, if `folder` is not what was submitted.

    A folder without a manifest was put there by hand and is taken as it is. Files whose size and times are
    as recorded are not read again.
    """
    recorded = _recorded(folder / MANIFEST)
    if recorded is None:
        return
    found = {p.relative_to(folder).as_posix(): p for p in folder_files(folder)}
    for name in sorted(recorded.keys() | found.keys()):
        if name not in found:
            raise UsageError(f"its file {name!r} was removed after it was submitted; {_REMEDY}")
        if name not in recorded:
            raise UsageError(f"its file {name!r} was added after it was submitted; {_REMEDY}")
        if not _is_same(found[name], recorded[name]):
            raise UsageError(f"its file {name!r} was changed after it was submitted; {_REMEDY}")


def total(files: Iterable[Path]) -> int:
    """Bytes of `files` together."""
    return sum(path.lstat().st_size for path in files)


def _record(path: Path) -> dict[str, Any]:
    status = path.lstat()
    return {
        "sha256": _sha256(path),
        "bytes": status.st_size,
        "times": [status.st_mtime_ns, status.st_ctime_ns],
    }


def _is_same(path: Path, record: Any) -> bool:
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode) or status.st_size != record["bytes"]:
        return False
    unread = record["times"] == [status.st_mtime_ns, status.st_ctime_ns]
    return unread or _sha256(path) == str(record["sha256"])


def _sha256(path: Path) -> str:
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _recorded(path: Path) -> dict[str, dict[str, Any]] | None:
    if not os.path.lexists(path):
        return None
    try:
        files = json.loads(path.read_text(encoding="utf-8"))["files"]
        return {str(n): {k: f[k] for k in ("sha256", "bytes", "times")} for n, f in files.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"its {MANIFEST} cannot be read ({type(error).__name__}); {_REMEDY}") from None
