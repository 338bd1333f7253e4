"""Facts about where results come from."""

from __future__ import annotations

import importlib.metadata
import json
import platform
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from bench import provenance
from bench.keys import digest


def test_facts_are_those_of_this_installation() -> None:
    facts = provenance.collect(["bench", "run"])
    assert facts.bench_version == importlib.metadata.version("generative-bench")
    assert facts.torch_version == importlib.metadata.version("torch")
    assert facts.python_version == platform.python_version()
    assert facts.argv_sha256 == digest(["bench", "run"])
    packages = json.loads(facts.packages)
    assert packages["numpy"] == importlib.metadata.version("numpy")
    assert list(packages) == sorted(packages)


def test_cuda_version_is_what_torch_says() -> None:
    (version_file,) = (p for p in importlib.metadata.files("torch") or () if str(p) == "torch/version.py")
    said = runpy.run_path(str(version_file.locate()))
    assert provenance.torch_cuda_version() == (said["cuda"] or "")


def test_nothing_heavy_is_imported() -> None:
    code = (
        "import sys; from bench.provenance import environment; environment();"
        "print([m for m in ('torch', 'numpy', 'pyarrow', 'pandas') if m in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"


def test_no_environment_variable_and_no_host_if_anonymous(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "hunter2hunter2")
    monkeypatch.setattr("socket.gethostname", lambda: "secret-host")
    assert provenance.environment()["hostname"] == "secret-host"
    text = json.dumps(provenance.environment(anonymous=True))
    assert "secret-host" not in text
    assert "hunter2" not in json.dumps(provenance.environment())


def _git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_git_state_of_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert provenance.git_state(tmp_path) == ("", None)
    monkeypatch.delenv("GIT_DIR")
    _git(tmp_path, "init", "--quiet")
    assert provenance.git_state(tmp_path) == ("", None), "no commit yet"
    (tmp_path / "file").write_text("1")
    _git(tmp_path, "add", "file")
    _git(tmp_path, "commit", "--quiet", "-m", "first")
    sha = _git(tmp_path, "rev-parse", "HEAD")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    assert provenance.git_state(tmp_path) == (sha, False)
    (tmp_path / "untracked").touch()
    assert provenance.git_state(tmp_path) == (sha, False)
    (tmp_path / "file").write_text("2")
    assert provenance.git_state(tmp_path) == (sha, True)
    (tmp_path / "inside").mkdir()
    assert provenance.git_state(tmp_path / "inside") == ("", None), "a folder within another checkout"


def test_a_missing_git_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.setenv("PATH", "")
    assert provenance.git_state(tmp_path) == ("", None)
