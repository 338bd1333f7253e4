"""docs/publishing.md: its commands are run in order, as they stand; and a store that was edited is refused."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "publishing.md"
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": programs, "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "200"}
    return subprocess.run(
        ["sh", "-e", "-c", script], cwd=folder, env=environ, capture_output=True, text=True, timeout=300
    )


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a store of ours in `results` and another's in `theirs`."""
    folder = tmp_path_factory.mktemp("publishing")
    for model, store in (("selftest-uniform", "results"), ("selftest-extra", "theirs")):
        command = f"bench run --suite selftest --model {model} --size tiny --workers 1 --allow-failures"
        done = run(f"{command} --results {store}", folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_the_page_works_as_it_stands(stores: Path, tmp_path: Path) -> None:
    shutil.copytree(stores, tmp_path, dirs_exist_ok=True)
    said = ""
    for language, file, content in ((m[1], m[2], m[3]) for m in _BLOCK.finditer(PAGE.read_text())):
        if file:
            (tmp_path / file).write_text(content)
        elif language == "sh":
            done = run(content, tmp_path)
            assert done.returncode == 0, content + done.stdout + done.stderr
            said += done.stdout + done.stderr
    assert "theirs: every file is as it was written" in said
    assert "2 new jobs from 1 stores" in said
    assert "6 results, 1 of them failed" in said
    assert "ours (in this data)" in said or "no spread" in said
    assert re.search(r"(decided: |cannot stop early on )\S*images\.fidelity / digits", said)
    assert "imported" in (tmp_path / "site/index.html").read_text()  # of size small
    merged = (tmp_path / "site/tiny/index.html").read_text()
    assert "selftest-extra" in merged
    assert "selftest-uniform" in merged


def test_an_edited_store_is_refused(stores: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    shutil.copytree(stores / "theirs", theirs)
    shutil.copytree(stores / "results", tmp_path / "results")
    artifact = next(p for p in (theirs / "artifacts").rglob("*") if p.is_file())
    artifact.chmod(0o644)
    artifact.write_bytes(artifact.read_bytes() + b"x")
    before = sorted(p.name for p in (tmp_path / "results").rglob("*"))
    done = run("bench verify --results theirs && bench merge theirs --results results", tmp_path)
    assert done.returncode == 1
    assert "artifact" in done.stdout
    assert sorted(p.name for p in (tmp_path / "results").rglob("*")) == before
