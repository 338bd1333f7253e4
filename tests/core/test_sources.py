"""An edit of an adapter changes its fingerprint; an edit elsewhere does not."""

from pathlib import Path

import pytest

from bench.errors import UsageError
from bench.sources import folder_files, hash_entry, hash_files, local_files


def test_one_file_hashes_to_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text("abc")
    # SHA-256 of "abc" is the example of FIPS 180
    assert hash_files([file], tmp_path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_local_imports_count_and_others_do_not(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import os\nimport helper\nfrom deep.inner import thing\n")
    (tmp_path / "helper.py").write_text("import further\n")
    (tmp_path / "further.py").write_text("import helper  # a cycle\n")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "inner.py").write_text("thing = 1\n")
    (tmp_path / "unrelated.py").write_text("x = 1\n")
    names = {p.relative_to(tmp_path).as_posix() for p in local_files(tmp_path / "model.py")}
    assert names == {"model.py", "helper.py", "further.py", "deep/inner.py"}


def test_relative_imports_and_function_bodies_count(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("def f():\n    from .helper import x\n    return x\n")
    (tmp_path / "helper.py").write_text("x = 1\n")
    assert len(local_files(tmp_path / "model.py")) == 2


def test_a_changed_helper_changes_the_fingerprint(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("import helper\n")
    (tmp_path / "helper.py").write_text("x = 1\n")
    before = hash_files(local_files(tmp_path / "model.py"), tmp_path)
    (tmp_path / "helper.py").write_text("x = 2\n")
    assert hash_files(local_files(tmp_path / "model.py"), tmp_path) != before


def test_a_folder_counts_without_caches_and_hidden_files(tmp_path: Path) -> None:
    for name in ("a.py", "data/b.bin", "__pycache__/a.pyc", ".git/config", ".hidden"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    assert [p.relative_to(tmp_path).as_posix() for p in folder_files(tmp_path)] == ["a.py", "data/b.bin"]


def test_builtin_models_are_told_apart() -> None:
    assert hash_entry("bench.models.images.kde:KernelDensity") != hash_entry("bench.models.images.ppca:PPCA")


def test_a_syntax_error_names_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    file.write_text("x = 1\ndef (:\n")
    with pytest.raises(UsageError, match=r"m\.py:2: syntax error"):
        local_files(file)
