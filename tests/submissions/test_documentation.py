"""docs/submitting.md: its commands are run in order, as they stand."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.submissions.conftest import is_harmless

PAGE = Path(__file__).resolve().parents[2] / "docs" / "submitting.md"
_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str, str]]:
    """(language, name of a file or "", content) of every block, in order."""
    return [(m[1], m[2] or "", m[3]) for m in _BLOCK.finditer(PAGE.read_text())]


@pytest.mark.slow
def test_the_page_works_as_it_stands(tmp_path: Path) -> None:
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environ = {**os.environ, "PATH": programs, "CUDA_VISIBLE_DEVICES": "", "COLUMNS": "200"}
    said = ""
    for language, file, content in blocks():
        if file:
            (tmp_path / file).parent.mkdir(exist_ok=True)
            (tmp_path / file).write_text(content)
        elif language == "sh":
            done = subprocess.run(
                ["sh", "-e", "-c", content],
                cwd=tmp_path,
                env=environ,
                capture_output=True,
                text=True,
                timeout=300,
            )
            assert done.returncode == 0, content + done.stdout + done.stderr
            said += done.stdout + done.stderr
    assert is_harmless(said)
    assert "3 ok, 0 failed" in said
    assert "FAIL" not in said
    assert said.count("submitted as submissions/") == 3
    assert "same output for every seed, as its tag says" in said
    assert (tmp_path / "site" / "model" / "my-artifacts.html").is_file()
    assert not (tmp_path / "submissions" / "my-artifacts").exists()
