"""A stranger's way: `bench new model`, `bench check`, run, look."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench.scaffold import families
from tests.cli.conftest import Bench


@pytest.mark.parametrize("family", families())
def test_a_new_model_runs_as_it_was_written(bench: Bench, tmp_path: Path, family: str) -> None:
    assert bench("new", "model", "my-model", "--family", family).returncode == 0
    checked = bench("check", "my-model/")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    lines = checked.stdout.splitlines()
    assert len(lines) >= 6
    assert all(line.startswith("pass") for line in lines)
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"], cwd=tmp_path / "my-model", capture_output=True
    )
    assert tests.returncode == 0, tests.stdout
    done = bench("run", "--suite", family, "--size", "tiny", "--model", "my-model/", "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert re.match(r"[1-9]\d* ok, 0 failed, 0 skipped", done.stderr.splitlines()[-1])  # one per tiny task
    assert bench("new", "model", "my-model").returncode == 2  # it is there already


ADAPTER = """
import numpy as np
from bench.adapters.images import ImageGenerator
from bench.spec import ModelInfo

class Mine(ImageGenerator):
    info = ModelInfo(name="mine", version="1", families=("images",))

    def sample(self, n, *, seed, labels=None, nfe=None):
        {body}
"""


@pytest.mark.parametrize(
    ("body", "failing", "words"),
    [
        (
            "return np.random.default_rng().integers(0, 256, (n, 1, 8, 8), np.uint8)",
            "runs",
            "draw all randomness",
        ),
        (
            "import os; return np.random.default_rng(os.getpid()).integers(0, 256, (n, 1, 8, 8), np.uint8)",
            "repeats",
            "same seed, different",
        ),
        ("return np.zeros((n, 1, 8, 8), np.uint8)", "varies", "another seed, same output"),
        ("return np.random.default_rng(seed).random((n, 1, 8, 8))", "runs", "uint8"),
        (
            "return np.random.default_rng(seed).integers(0, 256, (n, 8, 8, 1), np.uint8)",
            "runs",
            "invalid_output",
        ),
        ("raise RuntimeError('my own bug')", "runs", "my own bug"),
        (
            "open('/var/tmp/escaped', 'w').close(); "
            "return np.random.default_rng(seed).integers(0, 256, (n, 1, 8, 8), np.uint8)",
            "stays inside",
            "/var/tmp/escaped",
        ),
    ],
)
def test_the_check_names_what_is_wrong(
    bench: Bench, tmp_path: Path, body: str, failing: str, words: str
) -> None:
    (tmp_path / "mine.py").write_text(ADAPTER.format(body=body))
    done = bench("check", "mine.py:Mine")
    assert done.returncode == 1, done.stdout + done.stderr
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert len(failed) == 1
    assert failing in failed[0]
    assert words in done.stdout


def test_submissions_are_part_of_every_suite(bench: Bench, tmp_path: Path) -> None:
    assert bench("new", "model", "mine", "--in", "submissions").returncode == 0
    listed = json.loads(bench("list", "models", "--json").stdout)
    assert "mine" in {row["model"] for row in listed}
    (tmp_path / "submissions" / "broken").mkdir()
    (tmp_path / "submissions" / "broken" / "submission.toml").write_text("nonsense = 1\n")
    done = bench("list", "models")
    assert done.returncode == 0
    assert "warning: submission broken was ignored" in done.stderr
