"""Models that live outside the package: a file and a class, or a folder with `submission.toml`.

Nothing submitted is imported here. What a file says of itself is read by `bench.probe` in a child
process; what a folder says of itself is data.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.errors import UsageError
from bench.registry import Registered, Registry, unknown
from bench.sources import folder_files, local_files, parse
from bench.spec import ModelInfo, Resources, check_name
from bench.work import Source

CARD = "submission.toml"
PROBE_TIMEOUT_S = 120.0
_TEXT_FIELDS = ("name", "version", "title", "summary", "license", "url", "paper")
_LIST_FIELDS = ("families", "requires", "training_data", "tags")
_FIELDS = (*_TEXT_FIELDS, *_LIST_FIELDS, "kind", "entry", "params", "n_parameters", "resources")


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
    """Register every submission below `folder`; a broken one costs a warning, not the command."""
    if not folder.is_dir():
        return
    for card in sorted(folder.glob(f"*/{CARD}")):
        try:
            registry.add(from_folder(card.parent))
        except UsageError as error:
            registry.warnings.append(f"submission {card.parent.name} was ignored: {error}")


def from_folder(folder: Path) -> Registered[ModelInfo]:
    """The model described by `folder`/submission.toml."""
    card = folder / CARD
    if not card.is_file():
        raise UsageError(f"{folder} has no {CARD}; `bench new model NAME` writes one")
    data = _read_card(card)
    kind = data.pop("kind", "class")
    if kind != "class":
        raise UsageError(f"{card}: kind {kind!r} is not known; use 'class'")
    file_name, _, class_name = str(data.pop("entry", "")).partition(":")
    file = _class_file(folder / file_name, class_name, where=str(card))
    if not file.is_relative_to(folder.resolve()):
        raise UsageError(f"{card}: entry {file_name!r} lies outside the folder")
    info = _info(data, where=str(card), entry=class_name)
    return Registered(
        info=info,
        origin=str(card),
        source=Source(entry=class_name, file=str(file)),
        files=tuple(str(p) for p in folder_files(folder.resolve())),
        search_path=(str(folder.resolve()),),
    )


def _from_file(path: Path, class_name: str) -> Registered[ModelInfo]:
    file = _class_file(path, class_name, where=str(path))
    answer = _probe(file, class_name)
    return Registered(
        info=_info(answer, where=f"{path}: {class_name}.info", entry=class_name),
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


def _read_card(card: Path) -> dict[str, Any]:
    text = card.read_text(encoding="utf-8", errors="replace")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{card}: {error}") from error
    for key in data:
        if key not in _FIELDS:
            raise UsageError(f"{card}:{line_of(text, key)}: {unknown_key(key, _FIELDS)}")
    return data


def _info(data: Mapping[str, Any], where: str, entry: str) -> ModelInfo:
    """A checked `ModelInfo` from the data of a card; every wrong type is named."""
    fields: dict[str, Any] = {"entry": entry}
    for name in _TEXT_FIELDS:
        fields[name] = _typed(data, name, str, "", where)
    for name in _LIST_FIELDS:
        values = _typed(data, name, (list, tuple), (), where)
        if not all(isinstance(v, str) for v in values):
            raise UsageError(f"{where}: {name!r} must be a list of strings, got {values!r}")
        fields[name] = tuple(values)
    fields["params"] = _typed(data, "params", dict, {}, where)
    fields["n_parameters"] = _typed(data, "n_parameters", (int, type(None)), None, where)
    resources = _typed(data, "resources", (dict, type(None)), None, where)
    try:
        fields["resources"] = Resources(**resources) if resources else None
    except TypeError as error:
        raise UsageError(f"{where}: resources: {error}") from error
    if not fields["version"] or not fields["families"]:
        raise UsageError(f"{where}: 'name', 'version' and 'families' are needed")
    check_name(fields["name"], "model")
    return ModelInfo(**fields)


def _typed(data: Mapping[str, Any], name: str, types: Any, default: Any, where: str) -> Any:
    value = data.get(name, default)
    if isinstance(value, bool) or not isinstance(value, types):
        raise UsageError(f"{where}: {name!r} has the wrong type, got {value!r}")
    return value


def unknown_key(key: str, known: tuple[str, ...]) -> str:
    """The message for a key that a TOML file should not have, with the nearest one."""
    return unknown("key", key, known).partition(" (see")[0]


def line_of(text: str, key: str) -> int:
    """The line on which `key` is set in a TOML text (1 if it cannot be found)."""
    pattern = re.compile(rf"\s*\[*\"?{re.escape(key)}\b")
    return next((i for i, line in enumerate(text.splitlines(), start=1) if pattern.match(line)), 1)
