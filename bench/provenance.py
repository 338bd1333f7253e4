"""Where a result comes from: versions, platform and command, as facts that go into every row.

Nothing heavy is imported (torch's versions are read from its files) and no environment variable is kept.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import socket
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.keys import digest
from bench.spec import canonical_json

DISTRIBUTION = "generative-bench"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Facts about the process that writes results; "" and None mean "not known"."""

    bench_version: str
    git_sha: str  # of the bench's own checkout, "" if it is installed without one
    git_dirty: bool | None  # tracked files differ from that commit
    python_version: str
    platform: str
    torch_version: str
    cuda_version: str
    packages: str  # JSON object, distribution -> version, sorted
    argv_sha256: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def collect(argv: Sequence[str]) -> Provenance:
    """The facts of this process, started with `argv`."""
    packages = installed_packages()
    sha, dirty = git_state(Path(__file__).resolve().parents[1])
    return Provenance(
        bench_version=packages.get(DISTRIBUTION, ""),
        git_sha=sha,
        git_dirty=dirty,
        python_version=platform.python_version(),
        platform=f"{platform.system()}-{platform.release()}-{platform.machine()}",
        torch_version=packages.get("torch", ""),
        cuda_version=torch_cuda_version(),
        packages=canonical_json(dict(packages)),
        argv_sha256=digest(list(argv)),
    )


def environment(*, anonymous: bool = False, facts: Provenance | None = None) -> dict[str, Any]:
    """What `bench env` and run.json show: `facts` (collected if None) and the machine, as JSON.

    With `anonymous` without the host name.
    """
    known = (facts or collect(())).as_dict()
    known["packages"] = json.loads(known["packages"])
    del known["argv_sha256"]
    machine = {"hostname": "" if anonymous else socket.gethostname(), "cpus": os.cpu_count()}
    return machine | known


@functools.cache
def installed_packages() -> Mapping[str, str]:
    """Name and version of every installed distribution; of two with one name, the one that is imported."""
    found: dict[str, str] = {}
    for distribution in importlib.metadata.distributions():
        card = distribution.metadata  # parsed anew at each access
        name = card["Name"]
        if name:
            found.setdefault(name.lower(), card["Version"])
    return found


def torch_cuda_version() -> str:
    """The CUDA version torch was built for, read from its `version.py` without importing it; "" for none."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return ""
    try:
        text = Path(spec.origin).with_name("version.py").read_text("utf-8")
    except OSError:
        return ""
    match = re.search(r"^cuda\b[^=\n]*=\s*['\"]([^'\"]+)['\"]", text, re.MULTILINE)
    return match[1] if match else ""


def git_state(root: Path) -> tuple[str, bool | None]:
    """(commit, whether tracked files differ from it) of the checkout whose top is `root`; ("", None) if none.

    A repository that merely contains an installed bench (a virtual environment in it) does not count.
    """
    if not (root / ".git").exists():
        return "", None
    sha = _git(root, "rev-parse", "HEAD")
    changes = _git(root, "status", "--porcelain", "--untracked-files=no")
    if not sha:
        return "", None
    return sha.strip(), None if changes is None else bool(changes.strip())


def _git(root: Path, *arguments: str) -> str | None:
    """Output of a git command that reads only; None if git is missing, refuses or hangs."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments],
            env=environment, capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
