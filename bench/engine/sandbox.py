"""Stronger isolation of `collect`, where the system offers it (`bench run --sandbox`).

Inside, a model sees no network, no process of others, and files that it can only read, but for the private
folder of its job. The cache is a private copy made of links: what a model writes there is gone with it.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Literal

from bench.engine import namespaces
from bench.errors import MissingRequirement
from bench.work import WorkOrder

#: How a job is confined: by namespaces of its own, with or without a table of processes, or by bubblewrap.
Way = Literal["processes", "files", "bubblewrap"]
NOTICES: dict[Way, str] = {
    "processes": "sandbox: models see no network and no other process, and change nothing but their folders",
    "files": "sandbox: models see no network and change nothing but their folders; they can see and end other "
    "processes of this user, since this system allows no private /proc",
    "bubblewrap": "sandbox: by bubblewrap; each job starts a new interpreter, which takes seconds",
}
CACHE = "cache"  # in the work folder
_PROBE_TIMEOUT_S = 20.0
_STAGES = {"collect", "score"}


@functools.cache
def find_way() -> Way:
    """The strongest way that works here, tried out. Raises `MissingRequirement` if none does."""
    if not sys.platform.startswith("linux"):
        raise MissingRequirement("--sandbox needs Linux; here a model can be confined by a container only")
    with tempfile.TemporaryDirectory(prefix="bench-sandbox-") as folder:
        why = ""
        ways: tuple[Way, ...] = ("processes", "files")
        for way in ways:
            why = _try(Path(folder), own_processes=way == "processes")
            if not why:
                return way
        if _bubblewrap_works(Path(folder)):
            return "bubblewrap"
    raise MissingRequirement(
        f"--sandbox is not possible here: user namespaces are not allowed ({why}) and bubblewrap is "
        f"{'not installed' if shutil.which('bwrap') is None else 'not allowed either'}. Install it (apt install "
        "bubblewrap, dnf install bubblewrap), or allow them (sysctl kernel.unprivileged_userns_clone=1, "
        "kernel.apparmor_restrict_unprivileged_userns=0, user.max_user_namespaces=10000)"
    )


def _try(folder: Path, *, own_processes: bool) -> str:
    """Confine a child of this process; "" or why that failed."""
    hear, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            namespaces.confine([folder], own_processes=own_processes, shm_mb=1)
            (folder / f"{own_processes}").touch()
            os._exit(0)
        except BaseException as error:
            os.write(tell, str(error).encode()[:500])
        finally:
            os._exit(1)
    os.close(tell)
    with os.fdopen(hear, "rb") as pipe:
        why = pipe.read().decode(errors="replace")
    status = os.waitpid(pid, 0)[1]
    return "" if status == 0 else why or f"a trial ended with status {status}"


def _bubblewrap_works(folder: Path) -> bool:
    with suppress(OSError, subprocess.SubprocessError):
        words = [*bubblewrap_words(folder), "true"]
        done = subprocess.run(words, capture_output=True, timeout=_PROBE_TIMEOUT_S, check=False)
        return done.returncode == 0
    return False


def bubblewrap_words(work_dir: Path) -> list[str]:
    """The command line that starts what follows it in a sandbox with `work_dir` to write to."""
    folder = os.path.realpath(work_dir)
    return [
        *("bwrap", "--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--die-with-parent"),
        *("--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--tmpfs", "/dev/shm", "--proc", "/proc"),
        *("--remount-ro", "/proc"),
        *("--bind", folder, folder, "--chdir", folder, "--cap-drop", "ALL", "--"),
    ]


def enter(order: WorkOrder, way: Way) -> None:
    """Confine this process, which is to collect for `order`. Raises `MissingRequirement` if that fails."""
    if way == "bubblewrap":
        return  # it was started inside
    try:
        namespaces.confine(
            [Path(order.work_dir)], own_processes=way == "processes", shm_mb=order.job.resources.memory_mb
        )
    except OSError as error:
        raise MissingRequirement(f"--sandbox failed on this machine: {error}") from None


def make_private_cache(order: WorkOrder) -> Path:
    """A cache folder for one job: it shows what the shared one holds, and keeps what is written to itself.

    Data sets of the shared cache are there as links. What earlier jobs left there is not.
    """
    private, shared = Path(order.work_dir, CACHE), Path(os.path.realpath(order.cache_dir))
    (private / "collect").mkdir(parents=True)
    for entry in sorted(shared.iterdir()) if shared.is_dir() else ():
        if entry.is_file():
            (private / entry.name).symlink_to(entry)
        elif entry.name not in _STAGES:
            (private / entry.name).mkdir()
            for inner in sorted(entry.iterdir()):
                (private / entry.name / inner.name).symlink_to(inner)
    return private
