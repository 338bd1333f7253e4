"""Taking a submission in: its files are copied, checked as copied, and appear all at once or not at all."""

from __future__ import annotations

import dataclasses
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.artifacts import regular_files
from bench.errors import InvalidOutput, UsageError
from bench.registry import Registered, Registry
from bench.sources import is_counted
from bench.spec import ModelInfo
from bench.submissions import manifest
from bench.submissions.card import CARD, read_card
from bench.submissions.loading import from_folder, submitted
from bench.submissions.sealing import seal

_STAGING = ".staging-"
_STALE_S = 86_400.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How large a submission may be."""

    file_mb: int = 2048
    total_mb: int = 8192
    files: int = 50_000


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A copy of a submission on its way into the submissions folder."""

    folder: Path
    model: Registered[ModelInfo]
    parent: Path

    def accept(self, justification: str = "") -> Path:
        """Record the files, and give the copy its name; `justification` says why it was not checked."""
        info = self.model.info
        facts = {"name": info.name, "version": info.version, "kind": info.form, "unchecked": justification}
        manifest.write(self.folder, facts)
        target = self.parent / info.name
        if os.path.lexists(target):
            raise UsageError(f"{target} was made meanwhile; nothing was submitted")
        os.rename(self.folder, target)
        return target


@contextmanager
def staged(folder: Path, parent: Path, registry: Registry, limits: Limits | None = None) -> Iterator[Staged]:
    """A copy of `folder` in a hidden folder below `parent`, removed again unless it is accepted.

    Raises `UsageError` for a name that is taken (`registry` holds all that are), for links, special files and
    paths that leave the folder, and for more or larger files than `limits` allow.
    """
    name = read_model(folder).info.name
    _check_name_is_free(name, parent, registry)
    parent.mkdir(parents=True, exist_ok=True)
    _sweep(parent)
    copy = parent / f"{_STAGING}{secrets.token_hex(8)}"
    copy.mkdir()
    try:
        _copy(folder, copy, limits or Limits())
        model = _sealed(copy, folder)
        if model.info.name != name:
            raise UsageError(f"{folder} was changed while it was copied; nothing was submitted")
        model = dataclasses.replace(model, origin=str(folder / CARD))  # the copy's name says nothing
        yield Staged(folder=copy, model=model, parent=parent)
    finally:
        shutil.rmtree(copy, ignore_errors=True)


def _sealed(copy: Path, original: Path) -> Registered[ModelInfo]:
    """The model in `copy`; of artifacts every declared hash has been compared with the files."""
    if read_card(copy / CARD).kind == "artifacts":
        changed = seal(copy, only_missing=True).changed
        if changed:
            raise UsageError(
                f"artifact {changed[0].path} is not the one whose hash the card gives; if it is meant, "
                f"`bench seal {original}` takes its new hash"
            )
    return from_folder(copy)


def read_model(folder: Path) -> Registered[ModelInfo]:
    """The model that `folder` describes; hashes that its artifacts still lack are filled in first."""
    if not (folder / CARD).is_file():
        raise UsageError(f"{folder} is no folder with {CARD}; `bench new model NAME` writes one")
    if read_card(folder / CARD).kind == "artifacts":
        seal(folder, only_missing=True)
    return from_folder(folder)


def remove(name: str, parent: Path) -> Path:
    """Remove the submission called `name` (of its card, or of its folder) from `parent`."""
    for folder in submitted(parent):
        if folder.name == name or _name_of(folder) == name:
            rest = parent / f"{_STAGING}{secrets.token_hex(8)}"
            os.rename(folder, rest)  # at once: nobody sees half of it
            shutil.rmtree(rest)
            return folder
    known = ", ".join(f.name for f in submitted(parent)) or "none"
    raise UsageError(f"there is no submission {name!r} in {parent}; there are: {known}")


def _name_of(folder: Path) -> str:
    try:
        return str(read_card(folder / CARD).data.get("name", ""))
    except (UsageError, OSError):
        return ""


def _check_name_is_free(name: str, parent: Path, registry: Registry) -> None:
    taken = registry.models.get(name)
    if taken is not None:
        raise UsageError(
            f"the name {name!r} is taken by {taken.origin}; choose another one, or remove that first"
        )
    if os.path.lexists(parent / name):
        raise UsageError(f"{parent / name} exists already; `bench remove {name}` removes it")


def _copy(source: Path, target: Path, limits: Limits) -> None:
    """Copy the files of `source` that count, without following anything."""
    root = source.resolve()
    n_bytes = 0
    for n_files, path in enumerate(_files(root, limits), start=1):
        inner = path.relative_to(root)
        n_bytes += _copy_file(path, target / inner, inner.as_posix(), limits)
        if n_bytes > limits.total_mb * 2**20:
            raise UsageError(f"{source} holds over {limits.total_mb} MB in all, the limit for one submission")
        if n_files > limits.files:
            raise UsageError(f"{source} holds more than {limits.files} files, the limit for one submission")


def _files(root: Path, limits: Limits) -> Iterator[Path]:
    """The card, and the files beside it; of artifacts only those that are declared."""
    card = read_card(root / CARD)
    folders = [root]
    if card.kind == "artifacts":
        yield root / CARD
        folders = [root / unit.path for unit in from_folder(root).units if unit.sha256]
    for folder in folders:
        _check_way(root, folder)
        try:
            found = regular_files(folder, limits.files, skip=lambda p: not is_counted(p.relative_to(root)))
            yield from (path for path in found if card.kind != "artifacts" or path != root / CARD)
        except InvalidOutput as error:
            raise UsageError(f"{folder}: {error}") from None


def _check_way(root: Path, folder: Path) -> None:
    """No link may stand between the submission and a folder in it."""
    if folder.resolve() != folder:
        raise UsageError(f"{folder.relative_to(root)} is reached through a link; put a plain folder there")


def _copy_file(source: Path, target: Path, name: str, limits: Limits) -> int:
    target.parent.mkdir(parents=True, exist_ok=True)
    # O_NOFOLLOW: the file may have been swapped for a link since it was listed.
    with open(os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as old:
        status = os.fstat(old.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            raise UsageError(f"{name!r} is not a plain file any more")
        if status.st_size > limits.file_mb * 2**20:
            raise UsageError(f"{name!r} has over {limits.file_mb} MB, the limit for one file")
        with target.open("xb") as new:
            shutil.copyfileobj(old, new, 2**20)
            os.fchmod(new.fileno(), 0o755 if status.st_mode & 0o100 else 0o644)
    return status.st_size


def _sweep(parent: Path) -> None:
    """Remove what a submit that was killed left behind a day ago or earlier."""
    for folder in parent.glob(f"{_STAGING}*"):
        if time.time() - folder.lstat().st_mtime > _STALE_S:
            shutil.rmtree(folder, ignore_errors=True)
