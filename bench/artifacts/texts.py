"""Reading text line by line, with limits on lines and their lengths."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.artifacts.files import open_plain
from bench.errors import InvalidOutput

MAX_TEXT_BYTES = 2 * 2**30
MAX_LINES = 10_000_000
MAX_LINE_BYTES = 2**20


def load_lines(
    path: Path,
    *,
    max_lines: int = MAX_LINES,
    max_line_bytes: int = MAX_LINE_BYTES,
    max_bytes: int = MAX_TEXT_BYTES,
) -> list[str]:
    """The lines of the UTF-8 file `path` without their ends ("\\n" or "\\r\\n").

    Raises `InvalidOutput` naming the file, and the line that is too long or not UTF-8.
    """
    return [text for _, text in _lines(path, max_lines, max_line_bytes, max_bytes)]


def load_json_lines(
    path: Path,
    *,
    max_lines: int = MAX_LINES,
    max_line_bytes: int = MAX_LINE_BYTES,
    max_bytes: int = MAX_TEXT_BYTES,
) -> list[dict[str, Any]]:
    """The JSON objects of `path`, one a line; empty lines are passed over. Numbers are finite.

    Raises `InvalidOutput` naming the file and line.
    """
    return [
        _object(text, f"{path.name}:{number}")
        for number, text in _lines(path, max_lines, max_line_bytes, max_bytes)
        if text.strip()
    ]


def _lines(path: Path, max_lines: int, max_line_bytes: int, max_bytes: int) -> Iterator[tuple[int, str]]:
    with open_plain(path, max_bytes) as file:
        number = 0
        while raw := file.readline(max_line_bytes + 1):
            number += 1
            if number > max_lines:
                raise InvalidOutput(f"{path.name} has more than {max_lines} lines")
            if len(raw) > max_line_bytes:
                raise InvalidOutput(f"{path.name}:{number}: the line is over {max_line_bytes} bytes")
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise InvalidOutput(f"{path.name}:{number}: not UTF-8 at byte {error.start}") from None
            yield number, text.removesuffix("\n").removesuffix("\r")


def _object(text: str, place: str) -> dict[str, Any]:
    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InvalidOutput(f"{place}: not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidOutput(f"{place}: expected a JSON object, got {type(value).__name__}")
    return value


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")
