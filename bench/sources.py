"""Fingerprints of source code: which files make up an adapter, and what they hash to.

Editing an adapter, or a module it imports from its own surroundings, must invalidate its results;
editing anything else must not. Files are read as text and never executed.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from bench.errors import BenchError, UsageError
from bench.keys import digest

_IGNORED = {"__pycache__", ".git", ".venv", "node_modules"}


def hash_files(files: Iterable[Path], root: Path) -> str:
    """SHA-256 of one file's bytes, or of the canonical list of (relative name, SHA-256) of several."""
    hashes = {p.relative_to(root).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}
    return next(iter(hashes.values())) if len(hashes) == 1 else digest(hashes)


def hash_entry(entry: str) -> str:
    """The fingerprint of an importable "module:Class": its file and what it imports from its package.

    The package is the module's parent, so `bench.models.images.vae` covers its private helpers in
    `bench.models.images` but not the rest of the bench.
    """
    module = entry.partition(":")[0]
    package = module.rpartition(".")[0]
    files = _closure(_module_file(module), lambda name: _sibling(name, package))
    return hash_files(files, Path(min(files, key=lambda p: len(p.parts))).parent)


def local_files(file: Path) -> list[Path]:
    """`file` and the modules beside it that it imports, directly or not."""
    folder = file.parent
    return _closure(file, lambda name: _beside(name, folder))


def folder_files(folder: Path) -> list[Path]:
    """All regular files below `folder`, sorted, without caches and hidden files."""
    return sorted(p for p in folder.rglob("*") if p.is_file() and is_counted(p.relative_to(folder)))


def is_counted(relative: Path) -> bool:
    """Whether a file or folder of a submission is part of it: caches, environments, hidden files are not."""
    return not any(part in _IGNORED or part.startswith(".") for part in relative.parts)


def _module_file(module: str) -> Path:
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError as error:
        raise BenchError(f"module {module!r} does not exist: {error}") from error
    if spec is None or spec.origin is None:
        raise BenchError(f"module {module!r} does not exist or has no source file")
    return Path(spec.origin)


def _closure(start: Path, locate: Callable[[str], Path | None]) -> list[Path]:
    found, waiting = {start}, [start]
    while waiting:
        for name in _imported(waiting.pop()):
            path = locate(name)
            if path is not None and path not in found:
                found.add(path)
                waiting.append(path)
    return sorted(found)


def _imported(file: Path) -> Iterator[str]:
    """Dotted names that a file imports anywhere; `from a import b` yields both a and a.b."""
    if file.suffix != ".py":
        return
    for node in ast.walk(parse(file)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def parse(file: Path) -> ast.Module:
    """The syntax tree of `file`; a syntax error is a `UsageError` with file and line."""
    try:
        return ast.parse(file.read_bytes(), filename=str(file))
    except SyntaxError as error:
        raise UsageError(f"{file}:{error.lineno}: syntax error: {error.msg}") from error
    except ValueError as error:
        raise UsageError(f"{file} is not Python source: {error}") from error


def _sibling(name: str, package: str) -> Path | None:
    if name.startswith("."):
        name = package + "." + name.lstrip(".")
    if not package or not name.startswith(package + "."):
        return None
    try:
        spec = importlib.util.find_spec(name)
    except (ModuleNotFoundError, AttributeError):
        return None  # `from module import attribute`
    return Path(spec.origin) if spec is not None and spec.origin else None


def _beside(name: str, folder: Path) -> Path | None:
    parts = name.lstrip(".").split(".")
    base = folder.joinpath(*parts)
    for candidate in (base.with_suffix(".py"), base / "__init__.py"):
        if parts[0] and candidate.is_file():
            return candidate
    return None
