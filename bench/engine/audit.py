"""Noting which files a job opens for writing outside its folders. Python-level, for `bench check`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

NOTE = "writes_outside"
_MAX_PATHS, _MAX_LENGTH = 10, 150
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Event -> which of its arguments names what is made or changed.
_CHANGES = {"os.mkdir": 0, "os.rename": 1, "os.link": 1, "os.symlink": 1, "os.remove": 0, "os.truncate": 0}


class WriteAudit:
    """Watches this process from now on: a hook, once installed, stays until the process ends."""

    def __init__(self, allowed: Sequence[Path], forbidden: Sequence[Path] = ()) -> None:
        self._allowed = [*(path.resolve() for path in allowed), Path("/dev"), Path("/proc/self")]
        self._forbidden = [path.resolve() for path in forbidden]  # also where it lies below an allowed one
        self._outside: dict[str, None] = {}
        # Compiling an imported module to a cache file is Python's doing, not the model's.
        sys.dont_write_bytecode = True
        sys.addaudithook(self._hook)

    def outside(self) -> list[str]:
        """The first few paths, in the order in which they were touched."""
        return [path[:_MAX_LENGTH] for path in list(self._outside)[:_MAX_PATHS]]

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITING:
                self._note(path)
        elif event in _CHANGES:
            self._note(arguments[_CHANGES[event]])

    def _note(self, path: Any) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return  # an open descriptor: whoever opened it was seen
        resolved = Path(os.fsdecode(path)).resolve()
        inside = any(resolved.is_relative_to(folder) for folder in self._allowed)
        if not inside or any(resolved.is_relative_to(folder) for folder in self._forbidden):
            self._outside[str(resolved)] = None
