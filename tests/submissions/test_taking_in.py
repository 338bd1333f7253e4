"""Sealing, copying and recording submissions, without running them."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from bench.artifacts import artifact_digest
from bench.errors import UsageError
from bench.registry import Registry
from bench.submissions import from_folder, manifest
from bench.submissions.sealing import seal
from bench.submissions.submitting import Limits, remove, staged
from tests.submissions.conftest import command_card, write_submission
from tests.submissions.test_cards import artifacts, table


def submit(
    folder: Path, parent: Path, limits: Limits | None = None, registry: Registry | None = None
) -> Path:
    with staged(folder, parent, registry or Registry(), limits) as copy:
        return copy.accept("not checked in this test")


@pytest.fixture
def command(tmp_path: Path) -> Path:
    folder = write_submission(tmp_path / "mine", command_card("./run.sh", "{output}"), run__sh="#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "data").mkdir()
    (folder / "data" / "weights.bin").write_bytes(b"w" * 100)
    return folder


def test_what_counts_is_copied_with_its_right_to_run(tmp_path: Path, command: Path) -> None:
    for name in (".git/config", "__pycache__/x.pyc", ".venv/bin/python", ".hidden", "node_modules/m.js"):
        (command / name).parent.mkdir(parents=True, exist_ok=True)
        (command / name).write_text("x")
    (command / ".venv" / "link").symlink_to("/etc")  # not copied, hence not refused
    target = submit(command, tmp_path / "submissions")
    files = sorted(p.relative_to(target).as_posix() for p in target.rglob("*") if p.is_file())
    assert files == [".bench-manifest.json", "data/weights.bin", "run.sh", "submission.toml"]
    assert os.access(target / "run.sh", os.X_OK)
    assert not os.access(target / "submission.toml", os.X_OK)
    recorded = json.loads((target / ".bench-manifest.json").read_text())
    assert (recorded["name"], recorded["kind"], recorded["version"]) == ("mine", "command", "1")
    assert sorted(recorded["files"]) == files[1:]
    manifest.verify(target)
    assert from_folder(target).files == tuple(str(target / f) for f in ("data/weights.bin", "run.sh"))


def _hard_link(folder: Path) -> None:
    os.link(folder / "run.sh", folder / "again.sh")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda f: (f / "l").symlink_to("/etc/passwd"), "'l' is a link"),
        (lambda f: (f / "data" / "l").symlink_to("/etc"), "'data/l' is a link"),
        (_hard_link, "hard link"),
        (lambda f: os.mkfifo(f / "pipe"), "'pipe' is a link or a special file"),
    ],
)
def test_links_and_special_files_are_refused(
    tmp_path: Path, command: Path, spoil: Callable[[Path], None], words: str
) -> None:
    spoil(command)
    with pytest.raises(UsageError, match=words):
        submit(command, tmp_path / "submissions")
    assert list((tmp_path / "submissions").iterdir()) == []


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (Limits(file_mb=0), "the limit for one file"),
        (Limits(total_mb=0), "over 0 MB in all"),
        (Limits(files=2), "more than 2 files"),
    ],
)
def test_limits_are_stated(tmp_path: Path, command: Path, limits: Limits, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        submit(command, tmp_path / "submissions", limits)
    assert list((tmp_path / "submissions").iterdir()) == []


def test_what_is_not_accepted_leaves_nothing(tmp_path: Path, command: Path) -> None:
    with staged(command, tmp_path / "submissions", Registry()) as copy:
        assert (copy.folder / "run.sh").is_file()
        assert from_folder(copy.folder).info == copy.model.info
    assert list((tmp_path / "submissions").iterdir()) == []


def test_of_two_at_once_one_wins(tmp_path: Path, command: Path) -> None:
    parent = tmp_path / "submissions"
    with staged(command, parent, Registry()) as late:
        submit(command, parent)
        with pytest.raises(UsageError, match="was made meanwhile"):
            late.accept()
    assert [p.name for p in parent.iterdir()] == ["mine"]
    with pytest.raises(UsageError, match="`bench remove mine`"):
        submit(command, parent)


def test_remove_finds_broken_submissions_by_folder(tmp_path: Path, command: Path) -> None:
    parent = tmp_path / "submissions"
    submit(command, parent)
    (parent / "mine").rename(parent / "renamed")
    assert remove("mine", parent).name == "renamed"
    shutil.copytree(command, parent / "other")
    (parent / "other" / "submission.toml").write_text("nonsense = 1\n")
    assert remove("other", parent).name == "other"
    for name in ("other", "..", "../mine", ""):
        with pytest.raises(UsageError, match="there is no submission"):
            remove(name, parent)
    assert command.is_dir()


def test_only_declared_artifacts_are_copied_and_missing_hashes_filled_in(tmp_path: Path) -> None:
    folder = artifacts(tmp_path, table(sha256="") + table(repeat=1, path="never-made", sha256=""))
    (folder / "inputs").mkdir()
    (folder / "inputs" / "large").write_bytes(b"x")
    target = submit(folder, tmp_path / "submissions")
    assert sorted(p.name for p in target.iterdir()) == [".bench-manifest.json", "a", "submission.toml"]
    made, absent = from_folder(target).units
    assert made.sha256 == artifact_digest(folder / "a")[0]
    assert absent.sha256 == ""


def test_a_wrong_hash_is_never_replaced_in_silence(tmp_path: Path) -> None:
    folder = artifacts(tmp_path, table())
    before = (folder / "submission.toml").read_text()
    with pytest.raises(UsageError, match="artifact a is not the one whose hash the card gives"):
        submit(folder, tmp_path / "submissions")
    assert (folder / "submission.toml").read_text() == before


def test_a_way_through_a_link_is_refused(tmp_path: Path) -> None:
    folder = artifacts(tmp_path, table(sha256="", path="way/a"))
    (folder / "way").symlink_to(folder)
    with pytest.raises(UsageError, match="reached through a link"):
        submit(folder, tmp_path / "submissions")


@pytest.mark.parametrize(
    "text",
    [
        table(sha256=""),
        table(sha256=None),
        table(sha256=None).rstrip("\n"),
        table(sha256="") + "\n# the end\n",
        table(sha256=None) + "\n# the end\n[params]\nsha256 = 'not this'\n",
        '\n[params]\nsha256 = "not this"\n' + table(sha256="") + table(sha256=None, repeat=1, path="b"),
    ],
)
def test_sealing_changes_hashes_and_nothing_else(tmp_path: Path, text: str) -> None:
    folder = artifacts(tmp_path, text)
    before = (folder / "submission.toml").read_text()
    found = seal(folder)
    sha256 = artifact_digest(folder / "a")[0]
    assert [unit.sha256 for unit in found.filled] == [sha256]
    after = (folder / "submission.toml").read_text()
    rest = [line for line in after.splitlines() if not line.startswith("sha256 = ")]
    assert rest == [line for line in before.splitlines() if not line.startswith("sha256 = ")]
    again = seal(folder)
    assert [unit.sha256 for unit in again.kept] == [sha256]
    assert (folder / "submission.toml").read_text() == after
    (folder / "a" / "x").write_bytes(b"other")
    assert [unit.path for unit in seal(folder).changed] == ["a"]


def test_a_card_that_cannot_be_edited_by_line_is_left_alone(tmp_path: Path) -> None:
    fields = 'task = "t.t", dataset = "d", size = "tiny", repeat = 0, seed = 1, path = "a"'
    folder = artifacts(tmp_path, f"units = [{{{fields}}}]\n")
    before = (folder / "submission.toml").read_text()
    with pytest.raises(UsageError, match="cannot be edited line by line"):
        seal(folder)
    assert (folder / "submission.toml").read_text() == before


def test_empty_artifacts_are_not_sealed(tmp_path: Path) -> None:
    folder = artifacts(tmp_path, table(sha256=""))
    (folder / "a" / "x").unlink()
    with pytest.raises(UsageError, match="holds no data"):
        seal(folder)
