"""What a job takes along to another machine, and what comes back from there.

An order speaks of folders on the coordinator's machine. Here it is rewritten for private folders on the
worker; sources and artifacts travel as messages (`bench.engine.parcel`). Results come back as bytes up to a
limit; beyond it through the coordinator's own folder, if the worker can see that, or else without what is
large, and with a note.
"""

from __future__ import annotations

import dataclasses
import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bench.artifacts import regular_files
from bench.engine import parcel
from bench.errors import InvalidOutput
from bench.work import LOG_LIMIT, Outcome, WorkOrder

RESULT_BYTES = 64 * 2**20  # that come back through the network, log included
LOG = "job.log"
NOTE = "not_kept"
_SIGN = ".bench-shared"
_PARTS = ("samples", "artifact", "exhibits")  # in the order in which they are given up


@dataclass(frozen=True, slots=True)
class Bundle:
    """Files that a job needs on its machine, known by their content."""

    sha256: str
    files: Mapping[str, Path]


def source_root(order: WorkOrder) -> Path | None:
    """The folder that the sources of a submission lie in; None for a model of an installed package."""
    if not order.model.file or "collect" not in order.stages:
        return None
    if order.model.kind == "class":
        return Path(order.search_path[0]) if order.search_path else Path(order.model.file).parent
    return Path(order.model.file)


def bundle_of(order: WorkOrder) -> Bundle | None:
    """What must travel: the sources to collect with, or the artifact to score. None if nothing must."""
    if "collect" not in order.stages:
        root = Path(order.artifact_dir)
        return _bundle({p.relative_to(root).as_posix(): p for p in regular_files(root)})
    root_or_none = source_root(order)
    if root_or_none is None:
        return None
    root = root_or_none
    if order.model.kind == "artifacts":
        return _bundle({p.relative_to(root).as_posix(): p for p in regular_files(root)})
    files = order.files or (order.model.file,)
    return _bundle({os.path.relpath(file, root): Path(file) for file in files})


def _bundle(files: Mapping[str, Path]) -> Bundle:
    return Bundle(parcel.fingerprint(files), files)


def localise(order: WorkOrder, *, root: Path, bundle: Path | None, cache_dir: Path, device: str) -> WorkOrder:
    """`order` for this machine: to work in `root`, with what travelled to the folder `bundle`."""
    changes: dict[str, object] = {
        "work_dir": str(root / "work"),
        "log_path": str(root / LOG),
        "cache_dir": str(cache_dir),
        "device": device,
        "files": (),
    }
    if bundle is not None and "collect" not in order.stages:
        changes["artifact_dir"] = str(bundle)
    base = source_root(order)
    if bundle is not None and base is not None:
        file = bundle / os.path.relpath(order.model.file, base)
        changes["model"] = dataclasses.replace(order.model, file=os.path.normpath(file))
        changes["search_path"] = (str(bundle),) if order.search_path else ()
    return dataclasses.replace(order, **changes)  # type: ignore[arg-type]


def put_sign(folder: Path) -> str:
    """Mark `folder`, so that a worker can tell that it sees this very folder; returns what the mark says."""
    text = secrets.token_hex(16)
    (folder / _SIGN).write_text(text)
    return text


def is_shared(folder: Path, sign: str) -> bool:
    """Whether `folder` of another machine is this one's, too."""
    with suppress(OSError):
        return bool(sign) and (folder / _SIGN).read_text() == sign
    return False


def pack_result(outcome: Outcome, order: WorkOrder, shared: Path | None) -> tuple[Outcome, bytes, bool]:
    """What a finished job sends home: its outcome, one message with its files and log, and False.

    Files too large for that are copied to `shared` (then True), or left out: the outcome then says so.
    """
    work = Path(order.work_dir)
    parts = {name: files for name in _PARTS if (files := _part(name, outcome, work))}
    log = Path(order.log_path)
    sizes = {name: sum(p.lstat().st_size for p in files.values()) for name, files in parts.items()}
    room = RESULT_BYTES - (min(log.stat().st_size, LOG_LIMIT) if log.is_file() else 0)
    is_copied = False
    if sum(sizes.values()) > room:
        is_copied = shared is not None and _copy(parts, shared)
        if is_copied:
            parts.clear()
        else:
            outcome = _without(outcome, parts, sizes, room)
    files = {name: path for part in parts.values() for name, path in part.items()}
    if log.is_file():
        files[LOG] = log
    return outcome, parcel.message(files), is_copied


def _part(name: str, outcome: Outcome, work: Path) -> dict[str, Path]:
    """The files of one part by their name in `work`. One that holds a link is left behind, as if it were gone."""
    if name == "samples":
        return {outcome.samples_file: work / outcome.samples_file} if outcome.samples_file else {}
    wanted = outcome.artifact_sha256 if name == "artifact" else outcome.exhibits
    if not wanted or not (work / name).is_dir() or (work / name).is_symlink():
        return {}
    with suppress(InvalidOutput):
        return {p.relative_to(work).as_posix(): p for p in regular_files(work / name)}
    return {}


def _copy(parts: Mapping[str, Mapping[str, Path]], shared: Path) -> bool:
    """Put all parts into a folder that both machines see; False if that fails."""
    try:
        for name, path in (item for part in parts.values() for item in part.items()):
            target = shared / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target, follow_symlinks=False)
    except OSError:
        return False
    return True


def _without(
    outcome: Outcome, parts: dict[str, dict[str, Path]], sizes: Mapping[str, int], room: int
) -> Outcome:
    """Give up parts until the rest fits, the least missed first."""
    given_up: list[str] = []
    left = sum(sizes.values())
    for name in list(parts):
        if left > room:
            del parts[name]
            left -= sizes[name]
            given_up.append(name)
    what = ", ".join(f"{name} ({sizes[name] / 2**20:.0f} MB)" for name in given_up)
    limit = RESULT_BYTES // 2**20
    note = f"{what}: over {limit} MB in all, and the worker does not see the results folder"
    changes: dict[str, object] = {"notes": {**outcome.notes, NOTE: note}}
    if "samples" in given_up:
        changes |= {"samples_file": "", "n_samples": None}
    if "artifact" in given_up:
        changes |= {"artifact_sha256": "", "artifact_bytes": None}
    if "exhibits" in given_up:
        changes |= {"exhibits": ()}
    return dataclasses.replace(outcome, **changes)  # type: ignore[arg-type]


def unpack_result(outcome: Outcome, order: WorkOrder, content: bytes, is_copied: bool) -> Outcome:
    """At home: put what came back where `order` says; with `is_copied`, large parts lie there already."""
    work = Path(order.work_dir)
    (work / _SIGN).unlink(missing_ok=True)
    tops = [LOG] if is_copied else [LOG, "artifact", "exhibits", outcome.samples_file]
    parcel.unpack(content, work, tops=[top for top in tops if top])
    if outcome.artifact_bytes == 0:
        (work / "artifact").mkdir(exist_ok=True)  # no file, no folder: but an empty artifact is one
    if (work / LOG).is_file():
        Path(order.log_path).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(work / LOG, order.log_path)
    return dataclasses.replace(outcome, log_path=order.log_path)
