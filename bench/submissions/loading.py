"""From a path to a registered model.

Nothing submitted is imported here. What a file says of itself is read by `bench.probe` in a child
process; what a folder says of itself is data.
"""

from __future__ import annotations

import ast
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from bench.errors import UsageError
from bench.registry import Registered, Registry
from bench.sources import folder_files, local_files, parse
from bench.spec import ModelInfo
from bench.submissions import manifest
from bench.submissions.card import CARD, Card, model_info, read_card
from bench.submissions.command import fault_in
from bench.submissions.units import check_folders, declared_units
from bench.work import Source

PROBE_TIMEOUT_S = 120.0
_MOST_WORDS = 1_000


def is_path(text: str) -> bool:
    """Whether `--model TEXT` names a file or folder rather than a registered model."""
    return ".py:" in text or text.endswith(".py") or "/" in text or Path(text, CARD).is_file()


def from_path(text: str) -> Registered[ModelInfo]:
    """The model behind FILE.py:Class or FOLDER; any fault is a `UsageError` with file and line."""
    if ".py" in text:
        file_name, _, class_name = text.partition(":")
        return _from_file(Path(file_name), class_name)
    folder = Path(text)
    if not folder.is_dir():
        raise UsageError(f"{text} is neither a file FILE.py:Class nor a folder with {CARD}")
    return from_folder(folder)


def add_folder(registry: Registry, folder: Path) -> None:
    """Register every submission below `folder`; a broken one costs a warning, not the command.

    So does one whose files are not those that `bench submit` checked.
    """
    for inner in submitted(folder):
        try:
            manifest.verify(inner)
            registry.add(from_folder(inner))
        except (UsageError, OSError) as error:
            registry.warnings.append(f"submission {inner.name} was ignored: {error}")


def submitted(folder: Path) -> list[Path]:
    """The folders of all submissions below `folder`, good or broken, without half-made ones."""
    if not folder.is_dir():
        return []
    return sorted(card.parent for card in folder.glob(f"*/{CARD}") if not card.parent.name.startswith("."))


def from_folder(folder: Path) -> Registered[ModelInfo]:
    """The model described by `folder`/submission.toml."""
    path = folder / CARD
    if not path.is_file():
        raise UsageError(f"{folder} has no {CARD}; `bench new model NAME` writes one")
    card = read_card(path)
    read = {"class": _class, "command": _command, "artifacts": _artifacts}[card.kind]
    return read(card, folder.resolve())


def _class(card: Card, root: Path) -> Registered[ModelInfo]:
    file_name, _, class_name = card.get("entry", str, "").partition(":")
    try:
        file = _class_file(root / file_name, class_name, where=card.where)
    except (OSError, ValueError) as error:  # a name that is too long, or holds a NUL
        raise card.fault("entry", f"entry {file_name[:80]!r} is no file name: {error}") from None
    if not file.is_relative_to(root):
        raise card.fault("entry", f"entry {file_name!r} lies outside the folder")
    return Registered(
        info=model_info(card, entry=class_name),
        origin=card.where,
        source=Source(entry=class_name, file=str(file)),
        files=_code(root),
        runs=(file.relative_to(root).as_posix(), class_name),
        search_path=(str(root),),
    )


def _command(card: Card, root: Path) -> Registered[ModelInfo]:
    words = card.data.get("command")
    if not isinstance(words, list) or not 0 < len(words) <= _MOST_WORDS or not all(map(_is_word, words)):
        example = '["python3", "generate.py", "{input}", "{output}", "{seed}", "{n}"]'
        raise card.fault("command", f"'command' must be a list of words, e.g. {example}")
    for word in words:
        fault = fault_in(word)
        if fault:
            line = _line_of_word(card, word)
            raise UsageError(f"{card.where}:{line}: the word {word[:80]!r} of 'command' {fault}")
    if fault_in(words[0]) or "{" in words[0]:
        raise card.fault("command", "the first word of 'command' is a program; it takes no placeholder")
    info = model_info(card, entry=shlex.join(words)[:500])
    return Registered(
        info=info,
        origin=card.where,
        source=Source(
            entry=info.entry, file=str(root), kind="command", command=tuple(words), programs=info.programs
        ),
        files=_code(root),
        runs=tuple(words),
        search_path=(str(root),),
    )


def _is_word(word: Any) -> bool:
    return isinstance(word, str) and word != ""


def _line_of_word(card: Card, word: str) -> int:
    """The line of a word of the command, which may span lines; as TOML writes simple strings."""
    lines = card.text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.lstrip().startswith("command")), 0)
    quoted = (f'"{word}"', f"'{word}'")
    hits = (i for i in range(start, len(lines)) if any(q in lines[i] for q in quoted))
    return next(hits, start) + 1


def _artifacts(card: Card, root: Path) -> Registered[ModelInfo]:
    units = declared_units(card)
    check_folders(card, root, units)
    return Registered(
        info=model_info(card, entry=""),
        origin=card.where,
        source=Source(entry="", kind="artifacts"),
        search_path=(str(root),),
        units=units,
    )


def _code(root: Path) -> tuple[str, ...]:
    """What the source hash covers: all but the card, whose title and limits change no result."""
    return tuple(str(p) for p in folder_files(root) if p != root / CARD)


def _from_file(path: Path, class_name: str) -> Registered[ModelInfo]:
    file = _class_file(path, class_name, where=str(path))
    answer = _probe(file, class_name)
    return Registered(
        info=model_info(Card(where=f"{path}: {class_name}.info", data=answer), entry=class_name),
        origin=f"{path}:{class_name}",
        source=Source(entry=class_name, file=str(file)),
        files=tuple(str(p) for p in local_files(file)),
        search_path=(str(file.parent),),
    )


def _class_file(path: Path, class_name: str, where: str) -> Path:
    """The resolved file, after checking by its syntax tree that it defines or imports `class_name`."""
    if not path.is_file():
        raise UsageError(f"{where}: file {path} does not exist")
    tree = parse(path)
    classes = [n.name for n in tree.body if isinstance(n, ast.ClassDef)]
    if not class_name:
        raise UsageError(
            f"{where}: say which class, as {path}:CLASS; it defines {', '.join(classes) or 'none'}"
        )
    imported = [a.asname or a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names]
    if class_name not in classes + imported:
        raise UsageError(f"{path}:1: no class {class_name!r}; it defines {', '.join(classes) or 'no class'}")
    return path.resolve()


def _probe(file: Path, class_name: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.probe", str(file), class_name]
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=PROBE_TIMEOUT_S, stdin=subprocess.DEVNULL, check=False
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"{file}: importing it took longer than {PROBE_TIMEOUT_S:.0f} s") from None
    try:
        answer = json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        raise UsageError(f"{file}: importing it ended the process (exit code {done.returncode})") from None
    if "error" in answer:
        raise UsageError(answer["error"])
    info: dict[str, Any] = answer["info"]
    return info
