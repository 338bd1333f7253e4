"""Runs the real command in a child process, as a user would."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Bench = Callable[..., subprocess.CompletedProcess[str]]


def run_bench(*args: object, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bench", *map(str, args)],
        cwd=cwd,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "200", "CUDA_VISIBLE_DEVICES": "", **environ},
        timeout=300,
    )


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """`bench(*args)` in an empty folder."""

    def call(*args: object, cwd: Path = tmp_path, **environ: str) -> subprocess.CompletedProcess[str]:
        return run_bench(*args, cwd=cwd, **environ)

    return call


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store in `results`: a good model, a failing one and one that is skipped."""
    folder = tmp_path_factory.mktemp("finished")
    done = run_bench(
        *("run", "--suite", "selftest", "--size", "tiny", "--workers", 1, "--site", "site"),
        *("--model", "selftest-uniform", "--model", "selftest-raise", "--model", "selftest-needs-module"),
        cwd=folder,
    )
    (folder / "stderr").write_text(done.stderr)
    (folder / "exit_code").write_text(str(done.returncode))
    return folder
