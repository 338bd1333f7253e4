"""The log file of one job: everything it prints, up to a size, with the middle left out beyond it."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from bench.work import LOG_LIMIT

_NOTE_ROOM = 200


class CappedLog:
    """Writes the first half of the limit at once, keeps the last half in memory until `close`.

    A full disk costs log lines, not jobs: what can't be written is dropped.
    """

    def __init__(self, path: Path, limit: int = LOG_LIMIT) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb", buffering=0)
        self._head_left = limit // 2
        self._tail_room = max(0, limit - limit // 2 - _NOTE_ROOM)
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._elided = 0

    def write(self, data: bytes) -> None:
        """Take bytes as they come; they need not be text."""
        if self._head_left:
            head, data = data[: self._head_left], data[self._head_left :]
            self._put(head)
            self._head_left -= len(head)
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
            self._trim()

    def _trim(self) -> None:
        while self._tail_size > self._tail_room:
            over = self._tail_size - self._tail_room
            first = self._tail.popleft()
            cut = min(over, len(first))
            if cut < len(first):
                self._tail.appendleft(first[cut:])
            self._tail_size -= cut
            self._elided += cut

    def close(self) -> None:
        """Write the kept end and close the file; may be called twice."""
        if self._file.closed:
            return
        if self._elided:
            self._put(f"\n[... {self._elided} bytes left out ...]\n".encode())
        for chunk in self._tail:
            self._put(chunk)
        with suppress(OSError):
            self._file.close()

    def _put(self, data: bytes) -> None:
        left = memoryview(data)
        with suppress(OSError):
            while left:
                left = left[self._file.write(left) or 0 :]

    def __enter__(self) -> CappedLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
