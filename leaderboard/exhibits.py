"""Pictures that scores left in the store: checked, then copied onto the site under the hash of their content.

Equal pictures of several models (a sheet of the reference data) are one file.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from bench.leaderboard.records import JobRecord
from bench.spec import Exhibit

PNG = b"\x89PNG\r\n\x1a\n"
MAX_BYTES = 4 * 2**20
_HASH = re.compile(r"[0-9a-f]{8,64}\Z")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One image on a page: where it lies below the site's root, and what it shows."""

    source: str
    label: str
    href: str  # page the label links to, below the edition's root; "" for none
    alt: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class _Png:
    digest: str
    width: int
    height: int


def source_path(job: JobRecord, exhibit: Exhibit) -> Path | None:
    """The exhibit's file in the store; None if there is none, or it is too large or lies elsewhere."""
    if not _HASH.match(job.job_key) or not _HASH.match(job.score_id):
        return None
    if not all(_FILE.match(part) for part in exhibit.file.split("/")):
        return None
    root = (job.store / "exhibits").resolve()
    path = (root / job.job_key / job.score_id[:16] / exhibit.file).resolve()
    if not path.is_relative_to(root) or not path.is_file() or path.stat().st_size > MAX_BYTES:
        return None
    return path


def content(jobs: Iterable[JobRecord], name: str) -> Any:
    """What the first good repeat left under the exhibit `name`, read from its JSON; None if nothing usable."""
    for job in sorted(jobs, key=lambda j: j.repeat):
        for exhibit in job.exhibits if job.ok else ():
            if exhibit.name != name or (path := source_path(job, exhibit)) is None:
                continue
            try:
                return json.loads(path.read_text("utf-8"))
            except (OSError, ValueError, RecursionError):
                continue
    return None


def records(jobs: Iterable[JobRecord], name: str) -> list[dict[str, Any]]:
    """The records of a table left under the exhibit `name`; empty if there is none."""
    found = content(jobs, name)
    return [r for r in found if isinstance(r, dict)] if isinstance(found, list) else []


def numeric_records(jobs: Iterable[JobRecord], name: str, numbers: Sequence[str]) -> list[dict[str, Any]]:
    """Those records whose `numbers` are numbers, whatever a foreign store holds."""
    return [row for row in records(jobs, name) if all(is_number(row.get(key)) for key in numbers)]


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number that can be drawn."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300


def images(jobs: Iterable[JobRecord]) -> Iterable[tuple[JobRecord, Exhibit]]:
    """Every usable picture of `jobs`."""
    for job in jobs:
        for exhibit in job.exhibits:
            if exhibit.kind == "image" and _png(job, exhibit) is not None:
                yield job, exhibit


def files(jobs: Iterable[JobRecord]) -> dict[str, Path]:
    """Path on the site -> source, for every usable picture of `jobs`."""
    found: dict[str, Path] = {}
    for job, exhibit in images(jobs):
        png, source = _png(job, exhibit), source_path(job, exhibit)
        if png is not None and source is not None:
            found.setdefault(_site_path(png), source)
    return found


def picture(job: JobRecord, exhibit: Exhibit, *, label: str, alt: str, href: str = "") -> Picture | None:
    """The picture of an image exhibit; None if the file is not a usable PNG."""
    png = _png(job, exhibit) if exhibit.kind == "image" else None
    if png is None:
        return None
    return Picture(
        source=_site_path(png), label=label, href=href, alt=alt, width=png.width, height=png.height
    )


def _site_path(png: _Png) -> str:
    return f"exhibits/{png.digest[:24]}.png"


def _png(job: JobRecord, exhibit: Exhibit) -> _Png | None:
    path = source_path(job, exhibit)
    return _read_png(path, path.stat().st_mtime_ns) if path is not None else None


@lru_cache(maxsize=4096)
def _read_png(path: Path, _modified: int) -> _Png | None:
    """Hash and size in pixels, so that pages do not jump while pictures load; None if it is no PNG."""
    content = path.read_bytes()
    if not content.startswith(PNG) or len(content) < 24:
        return None
    width, height = struct.unpack(">II", content[16:24])
    return _Png(hashlib.sha256(content).hexdigest(), min(width, 10_000), min(height, 10_000))
