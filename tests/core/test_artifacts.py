"""Artifact folders and arrays are read without trust."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.artifacts import artifact_digest, load_npz, manifest, regular_files
from bench.errors import InvalidOutput


def test_digest_is_that_of_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a.txt").write_bytes(b"one")
    (tmp_path / "b" / "c.bin").write_bytes(b"four")
    (tmp_path / "empty").mkdir()
    hashes = {
        "a.txt": hashlib.sha256(b"one").hexdigest(),
        "b/c.bin": hashlib.sha256(b"four").hexdigest(),
    }
    text = json.dumps(hashes, sort_keys=True, separators=(",", ":"))
    assert artifact_digest(tmp_path) == (hashlib.sha256(text.encode()).hexdigest(), 7)
    assert manifest(tmp_path)["b/c.bin"] == (hashes["b/c.bin"], 4)


def test_digest_sees_names_and_bytes_only(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    before = artifact_digest(tmp_path)
    os.utime(tmp_path / "a", (1, 1))
    (tmp_path / "a").chmod(0o600)
    assert artifact_digest(tmp_path) == before
    (tmp_path / "a").rename(tmp_path / "b")
    assert artifact_digest(tmp_path) != before


def _hard_link(folder: Path) -> None:
    (folder / "x").write_bytes(b"x")
    os.link(folder / "x", folder / "bad")


@pytest.mark.parametrize(
    ("make", "cause"),
    [
        (lambda d: (d / "bad").symlink_to("/etc/passwd"), "link or a special file"),
        (lambda d: (d / "bad").symlink_to("/etc"), "link or a special file"),
        (lambda d: (d / "bad").symlink_to("nowhere"), "link or a special file"),
        (lambda d: os.mkfifo(d / "bad"), "link or a special file"),
        (_hard_link, "hard link"),
    ],
)
def test_what_is_no_plain_file_is_refused(tmp_path: Path, make: Callable[[Path], None], cause: str) -> None:
    make(tmp_path)
    with pytest.raises(InvalidOutput, match=cause):
        artifact_digest(tmp_path)


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(InvalidOutput, match="must be a folder"):
        artifact_digest(tmp_path / "link")


def test_names_that_are_no_text_are_refused(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(bytes(tmp_path) + b"/\xff")).write_bytes(b"")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    with pytest.raises(InvalidOutput, match="UTF-8"):
        artifact_digest(tmp_path)


def test_number_of_files_is_limited(tmp_path: Path) -> None:
    for i in range(4):
        (tmp_path / str(i)).touch()
    assert len(list(regular_files(tmp_path, max_files=4))) == 4
    with pytest.raises(InvalidOutput, match="more than 3"):
        list(regular_files(tmp_path, max_files=3))


def test_arrays_come_back(tmp_path: Path) -> None:
    arrays = {
        "a": np.arange(6, dtype=np.uint8).reshape(2, 3),
        "s": np.array(["x", "yz"]),
        "f": np.asfortranarray(np.ones((2, 3))),
        "empty": np.zeros((0, 4), np.float32),
        "scalar": np.float64(2.0),
    }
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "x.npz", **arrays)
        loaded = load_npz(tmp_path / "x.npz", ["a", "s", "f"], optional=["empty", "scalar", "absent"])
        assert set(loaded) == set(arrays)
        for name, array in loaded.items():
            np.testing.assert_array_equal(array, arrays[name])
            assert array.dtype == np.asarray(arrays[name]).dtype


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _zip(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


_GOOD = _npy(np.zeros(10))


@pytest.mark.parametrize(
    ("members", "cause"),
    [
        ({"b.npy": _GOOD}, "lacks the array 'a'; it has \\['b'\\]"),
        ({"a": b"", "a.npy": _GOOD}, "twice"),
        ({"a.npy": b"not an array"}, "can't be read as npz|damaged"),
        ({"a.npy": b""}, "can't be read as npz|damaged"),
        ({"a.npy": _GOOD[:-8]}, "announces 208 bytes but holds 200"),
        ({"a.npy": _GOOD + b"more"}, "announces 208 bytes but holds 212"),
        ({"a.npy": _GOOD.replace(b"(10,)", b"(-1,)")}, "x.npz"),
        ({"a.npy": _GOOD.replace(b"'<f8'", b"'|O' ").replace(b"(10,)", b"(26,)")}, "Python objects"),
        ({"a.npy": _GOOD.replace(b"'<f8'", b"'|V0'")}, "without size"),
        ({"a.npy": _GOOD.replace(b"<f8", b"zzz")}, "x.npz"),
        ({"a.npy": b"\x93NUMPY\x09\x00" + _GOOD[8:]}, "array format"),
    ],
)
def test_damaged_or_forged_arrays_are_refused(tmp_path: Path, members: dict[str, bytes], cause: str) -> None:
    _zip(tmp_path / "x.npz", members)
    with pytest.raises(InvalidOutput, match=cause):
        load_npz(tmp_path / "x.npz", ["a"])


def test_pickles_are_not_run(tmp_path: Path) -> None:
    trap = tmp_path / "sprung"

    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return (open, (str(trap), "w"))

    array = np.empty(1, dtype=object)
    array[0] = Trap()
    np.savez(tmp_path / "x.npz", a=array)
    with pytest.raises(InvalidOutput, match="Python objects"):
        load_npz(tmp_path / "x.npz", ["a"])
    assert not trap.exists()


def test_bombs_are_refused_before_they_go_off(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", a=np.zeros(2**20))
    assert (tmp_path / "x.npz").stat().st_size < 2**16
    with pytest.raises(InvalidOutput, match=r"x\.npz unpacks to 8388\d+ bytes"):
        load_npz(tmp_path / "x.npz", ["a"], max_bytes=2**20)
    with pytest.raises(InvalidOutput, match=r"has \d+ bytes; at most 100"):
        load_npz(tmp_path / "x.npz", ["a"], max_bytes=100)


def test_no_file_a_link_and_no_archive(tmp_path: Path) -> None:
    with pytest.raises(InvalidOutput, match=r"no file 'x\.npz'"):
        load_npz(tmp_path / "x.npz", ["a"])
    (tmp_path / "x.npz").symlink_to("/etc/passwd")
    with pytest.raises(InvalidOutput, match="not a plain file"):
        load_npz(tmp_path / "x.npz", ["a"])
    (tmp_path / "y.npz").write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(InvalidOutput, match=r"y\.npz can't be read"):
        load_npz(tmp_path / "y.npz", ["a"])


@given(position=st.integers(0, 10_000), value=st.integers(0, 255))
@settings(deadline=None, max_examples=150)
def test_one_wrong_byte_never_escapes(
    tmp_path_factory: pytest.TempPathFactory, position: int, value: int
) -> None:
    path = tmp_path_factory.mktemp("npz") / "x.npz"
    np.savez_compressed(path, a=np.arange(50.0))
    data = bytearray(path.read_bytes())
    data[position % len(data)] = value
    path.write_bytes(data)
    try:
        loaded = load_npz(path, ["a"])
    except InvalidOutput:
        return
    assert loaded["a"].size == 50
