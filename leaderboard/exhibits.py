"""Pictures and small tables that scores left in the store: checked, then copied onto the site."""

from __future__ import annotations

import json
import re
import struct
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.leaderboard.records import JobRecord
from bench.spec import Exhibit

PNG = b"\x89PNG\r\n\x1a\n"
MAX_BYTES = 4 * 2**20
_HASH = re.compile(r"[0-9a-f]{8,64}\Z")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}\Z")


def site_path(job: JobRecord, exhibit: Exhibit) -> str:
    """Where an exhibit lies below the site's root; "" if its name cannot be trusted."""
    parts = exhibit.file.split("/")
    if not all(_FILE.match(p) for p in parts):
        return ""
    if not _HASH.match(job.job_key) or not _HASH.match(job.score_id):
        return ""
    return "/".join(["exhibits", job.job_key[:16], job.score_id[:16], *parts])


def source_path(job: JobRecord, exhibit: Exhibit) -> Path | None:
    """The exhibit's file in the store; None if there is none or it is not what it should be."""
    if not site_path(job, exhibit):
        return None
    root = (job.store / "exhibits").resolve()
    path = (root / job.job_key / job.score_id[:16] / exhibit.file).resolve()
    if not path.is_relative_to(root) or not path.is_file() or path.stat().st_size > MAX_BYTES:
        return None
    if exhibit.kind == "image":
        with path.open("rb") as file:
            if file.read(len(PNG)) != PNG:
                return None
    return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One image on a page: where it lies below the site's root, and what it shows."""

    source: str
    label: str
    href: str  # page the label links to, below the edition's root; "" for none
    alt: str
    width: int
    height: int


def picture(job: JobRecord, exhibit: Exhibit, *, label: str, href: str, alt: str) -> Picture | None:
    """The picture of an image exhibit; None if the file is not a usable PNG."""
    path = source_path(job, exhibit)
    if path is None or exhibit.kind != "image":
        return None
    width, height = _png_size(path)
    source = site_path(job, exhibit)
    return Picture(source=source, label=label, href=href, alt=alt, width=width, height=height)


def _png_size(path: Path) -> tuple[int, int]:
    """Width and height from the header, so that pages do not jump while pictures load."""
    with path.open("rb") as file:
        head = file.read(24)
    width, height = struct.unpack(">II", head[16:24]) if len(head) == 24 else (0, 0)
    return min(width, 10_000), min(height, 10_000)


def images(jobs: Iterable[JobRecord]) -> Iterable[tuple[JobRecord, Exhibit, str]]:
    """Every usable picture of `jobs`, with its path on the site."""
    for job in jobs:
        for exhibit in job.exhibits:
            if exhibit.kind == "image" and source_path(job, exhibit) is not None:
                yield job, exhibit, site_path(job, exhibit)


def load(job: JobRecord, exhibit: Exhibit) -> Any:
    """The content of a table or series; None if it cannot be read."""
    path = source_path(job, exhibit)
    if path is None:
        return None
    try:
        return json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        print(f"exhibit {path} is not readable JSON; left out", file=sys.stderr)
        return None
