"""Reader of ARFF, the text format of OpenML: attribute types are kept, nominal values as categories."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TextIO

import numpy as np
import pandas as pd

from bench.errors import MissingRequirement

_NAME = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s{]+))\s*""")
_VALUE = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^,]*?))\s*(?:,|$)""")
_ITEM = re.compile(r"""\s*(\d+)\s+((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^,]*?))\s*(?:,|$)""")
_ESCAPE = re.compile(r"\\(.)")
_NUMBERS = ("numeric", "real", "integer")


class Attribute(NamedTuple):
    """Name, type in lower case ("numeric", "nominal", "string", "date") and the levels of a nominal one."""

    name: str
    type: str
    levels: tuple[str, ...] = ()


def read_arff(stream: TextIO, source: str) -> pd.DataFrame:
    """Numbers as float64, nominal values as category in the declared order, text as objects; "?" is missing.

    Rows may be dense or sparse ("{0 1.5, 3 yes}"). `MissingRequirement` naming `source` and the line if
    anything else is there.
    """
    attributes: list[Attribute] = []
    try:
        lines = _lines(stream)
        for number, line in lines:
            keyword = line.split(None, 1)[0].lower()
            if keyword == "@attribute":
                attributes.append(_attribute(line[len("@attribute") :]))
            elif keyword == "@data":
                break
            elif keyword != "@relation":
                raise ValueError(f"line {number}: {line[:40]!r}")
        else:
            raise ValueError("no @data")
        columns: list[list[str | None]] = [[] for _ in attributes]
        for number, line in lines:
            _append(columns, attributes, line, number)
        frames = [_column(values, a) for values, a in zip(columns, attributes, strict=True)]
    except (ValueError, IndexError) as error:
        raise MissingRequirement(f"{source}: not an ARFF file that can be read ({error})") from error
    frame = pd.concat(frames, axis=1) if frames else pd.DataFrame()
    frame.columns = pd.Index([a.name for a in attributes])
    return frame


def _lines(stream: TextIO) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(stream, 1):
        text = line.strip()
        if text and not text.startswith("%"):
            yield number, text


def _attribute(text: str) -> Attribute:
    match = _NAME.match(text)
    if match is None:
        raise ValueError(f"attribute {text[:40]!r}")
    name, kind = _plain(match), text[match.end() :].strip()
    if kind.startswith("{"):
        return Attribute(name, "nominal", tuple(value or "" for value in _values(kind.strip("{}"))))
    word = kind.split()[0].lower() if kind else ""
    if word in _NUMBERS:
        return Attribute(name, "numeric")
    if word in ("string", "date"):
        return Attribute(name, word)
    raise ValueError(f"attribute {name!r} of type {kind[:40]!r}")


def _values(text: str) -> list[str | None]:
    """Comma-separated values, quoted or not; an unquoted "?" is None."""
    if "'" not in text and '"' not in text and "\\" not in text:
        return [None if part == "?" else part for part in map(str.strip, text.split(","))]
    found: list[str | None] = []
    position = 0
    while position <= len(text):
        match = _VALUE.match(text, position)
        if match is None:
            raise ValueError(f"values {text[position : position + 40]!r}")
        found.append(None if match[3] == "?" else _plain(match))
        if not match.group().endswith(","):
            break
        position = match.end()
    return found


def _plain(match: re.Match[str]) -> str:
    quoted = match[1] if match[1] is not None else match[2]
    return match[3] if quoted is None else _ESCAPE.sub(r"\1", quoted)


def _append(columns: list[list[str | None]], attributes: list[Attribute], line: str, number: int) -> None:
    if line.startswith("{") and line.endswith("}"):
        values: list[str | None] = [a.levels[0] if a.levels else "0" for a in attributes]
        for item in _ITEM.finditer(line[1:-1]):
            (values[int(item[1])],) = _values(item[2])
    else:
        values = list(_values(line))
    if len(values) != len(columns):
        raise ValueError(f"line {number}: {len(values)} values for {len(columns)} attributes")
    for column, entry in zip(columns, values, strict=True):
        column.append(entry)


def _column(values: list[str | None], attribute: Attribute) -> pd.Series:
    if attribute.type == "numeric":
        return pd.Series(np.array([np.nan if v is None else float(v) for v in values], dtype=np.float64))
    if attribute.type == "nominal":
        strange = set(values) - {None, *attribute.levels}
        if strange:
            raise ValueError(f"attribute {attribute.name!r}: undeclared {sorted(map(str, strange))[:3]}")
        return pd.Series(pd.Categorical(values, categories=list(dict.fromkeys(attribute.levels))))
    return pd.Series(values, dtype=object)
