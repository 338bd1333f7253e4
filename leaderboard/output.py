"""The folder a site is written to: files appear whole, unchanged ones are left alone, stale ones go.

A list of the files written lies beside them; only files on the list of the build before are ever removed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import uuid
from pathlib import Path

from bench.errors import StoreError

MANIFEST = "manifest.json"


class SiteFolder:
    """Writes below `root` and remembers what it wrote."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files: dict[str, int] = {}  # path below root -> bytes
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"cannot create the site in {root}: {error}; choose another --out") from error

    def write(self, name: str, content: str | bytes) -> None:
        """Write one file, unless it already has this content."""
        data = content.encode("utf-8") if isinstance(content, str) else content
        path = self._place(name, len(data))
        if not (path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data):
            temporary = self._temporary(path)
            temporary.write_bytes(data)
            os.replace(temporary, path)

    def copy(self, name: str, source: Path) -> None:
        """Copy one file, unless one of the same size and an equal or newer time is already there."""
        status = source.stat()
        path = self._place(name, status.st_size)
        if (
            path.is_file()
            and path.stat().st_size == status.st_size
            and path.stat().st_mtime >= status.st_mtime
        ):
            return
        temporary = self._temporary(path)
        shutil.copyfile(source, temporary)
        os.replace(temporary, path)

    def finish(self) -> None:
        """Remove what the build before wrote and this one did not, and write the new list."""
        for name in sorted(self._previous() - self.files.keys() - {MANIFEST}):
            path = self.root / name
            with contextlib.suppress(OSError):
                path.unlink()
                path.parent.rmdir()  # succeeds for empty folders only
        listing = json.dumps({"files": sorted({*self.files, MANIFEST})}, indent=0)
        self.write(MANIFEST, listing + "\n")

    def _place(self, name: str, size: int) -> Path:
        path = self.root / name
        self.files[name] = size
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def _temporary(self, path: Path) -> Path:
        return path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")

    def _previous(self) -> set[str]:
        try:
            listed = json.loads((self.root / MANIFEST).read_text("utf-8"))["files"]
        except (OSError, ValueError, KeyError, TypeError):
            return set()
        root = self.root.resolve()
        safe = (str(name) for name in listed if isinstance(name, str))
        return {name for name in safe if (root / name).parent.resolve().is_relative_to(root)}
