"""What may be a results folder, and what must stop a run before anything is computed."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench.errors import StoreError, UsageError
from bench.store import Store


def test_a_new_store_is_made_and_opened_again(tmp_path: Path) -> None:
    made = Store.open(tmp_path / "deep" / "results", create=True)
    assert (made.path / "store.json").read_text() == '{"format": 1}\n'
    assert Store.open(made.path).read("jobs").num_rows == 0
    assert Store.open(made.path).current().num_rows == 0
    assert Store.open(made.path).history() == []


def test_an_empty_folder_becomes_a_store_but_a_used_one_does_not(tmp_path: Path) -> None:
    Store.open(tmp_path, create=True)
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter1.tex").touch()
    with pytest.raises(StoreError, match=r"not empty.*chapter1\.tex"):
        Store.open(other, create=True)
    assert [p.name for p in other.iterdir()] == ["chapter1.tex"]


def test_no_store_is_a_usage_error_that_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no results in .*bench run"):
        Store.open(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_a_newer_format_names_both_versions(tmp_path: Path) -> None:
    (tmp_path / "store.json").write_text('{"format": 7}')
    with pytest.raises(UsageError, match=r"format 7.*up to 1") as caught:
        Store.open(tmp_path, create=True)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": "1"}', '{"format": 0}', "\xff"])
def test_an_unreadable_store_file_is_a_store_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "store.json").write_text(content, "latin-1")
    with pytest.raises(StoreError, match=r"store\.json"):
        Store.open(tmp_path)


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "results").touch()
    with pytest.raises(StoreError, match="is a file") as caught:
        Store.open(tmp_path / "results", create=True)
    assert caught.value.exit_code == 3


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot write"):
        Store.open(tmp_path / "file" / "results", create=True)


def test_probe_leaves_nothing_behind(tmp_path: Path) -> None:
    store = Store.open(tmp_path, create=True)
    store.probe(min_free_mb=0)
    assert [p.name for p in tmp_path.iterdir()] == ["store.json"]


def test_probe_finds_too_little_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.open(tmp_path, create=True)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100 * 2**20))
    with pytest.raises(StoreError, match=r"only 100 MB free.*512 MB"):
        store.probe()
    store.probe(min_free_mb=99)


def test_probe_finds_a_store_that_is_gone(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "r", create=True)
    shutil.rmtree(store.path)
    with pytest.raises(StoreError, match="cannot write"):
        store.probe()
