"""The command line of a submission: a list of words with placeholders, never a shell's."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from string import Formatter

PLACEHOLDERS = {
    "input": "the folder with unit.json and the unit's data",
    "output": "the empty folder that the artifact is written to",
    "seed": "a whole number in [0, 2^31)",
    "n": "how many things to make",
    "device": "cpu or cuda:0",
    "size": "tiny, small or full",
}


def fault_in(word: str) -> str:
    """What is wrong with one word of a command, or ""."""
    if "\0" in word:
        return "holds a NUL character"
    try:
        parts = list(Formatter().parse(word))
    except ValueError as error:
        return f"has unpaired braces ({error}); write {{{{ and }}}} for plain ones"
    for _, name, layout, conversion in parts:
        if name is not None and (name not in PLACEHOLDERS or layout or conversion):
            known = ", ".join(f"{{{p}}}" for p in PLACEHOLDERS)
            return f"has the unknown placeholder {{{name}}}; use {known}, and {{{{ and }}}} for plain braces"
    return ""


def fill(command: Iterable[str], values: Mapping[str, str]) -> list[str]:
    """`command` with its placeholders replaced; every name in `PLACEHOLDERS` needs a value."""
    return [
        "".join(
            text + (values[name] if name is not None else "") for text, name, _, _ in Formatter().parse(word)
        )
        for word in command
    ]


def missing_program(command: Iterable[str], programs: Iterable[str], folder: Path) -> str:
    """The first program that is not there, or "". A name with a slash is relative to `folder`."""
    for name in (*programs, *list(command)[:1]):
        if shutil.which(str(folder / name) if "/" in name else name) is None:
            return name
    return ""
