"""What must be the same on two machines, if numbers of one are to stand beside numbers of the other."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import platform
from collections.abc import Mapping
from pathlib import Path

from bench.keys import digest
from bench.provenance import DISTRIBUTION

# Parts of the bench that no job runs: they may differ.
_APART = {"cli", "leaderboard", "store"}
_WORDS = {"bench": "bench", "code": "the code of the bench", "torch": "torch", "distributed": "distributed"}


@functools.cache
def facts() -> Mapping[str, str]:
    """Versions of what computes, and a hash over the bench's own sources, taken once per process."""
    return {
        "bench": _version(DISTRIBUTION),
        "python": ".".join(platform.python_version_tuple()[:2]),
        "torch": _version("torch"),
        "distributed": _version("distributed"),
        "code": _code(),
    }


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _code() -> str:
    """A hash over all source files that take part in a job."""
    root = Path(__file__).resolve().parents[1]
    tops = sorted(p for p in root.iterdir() if p.name not in _APART)
    files = [f for top in tops for f in (sorted(top.rglob("*.py")) if top.is_dir() else [top])]
    return digest(
        {
            f.relative_to(root).as_posix(): hashlib.sha256(f.read_bytes()).hexdigest()
            for f in files
            if f.suffix == ".py"
        }
    )[:12]


def difference(there: Mapping[str, str], here: Mapping[str, str]) -> str:
    """What keeps two machines from working together, with the remedy; "" if nothing does."""
    names = [name for name in here if there.get(name) != here[name]]
    if not names:
        return ""
    found = ", ".join(
        f"{_WORDS.get(name, name)} {there.get(name, 'unknown')} instead of {here[name]}" for name in names
    )
    remedy = "install the same commit of the bench" if names == ["code"] else "install the same versions"
    return f"it has {found}; {remedy} on both sides"
