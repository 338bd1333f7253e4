"""Files as messages: what goes in comes out, and nothing else is ever written."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.artifacts import artifact_digest
from bench.engine import parcel
from bench.engine.parcel import ParcelError

NAMES = st.lists(st.text("abß .-", min_size=1, max_size=4), min_size=1, max_size=3).map("/".join)


def _write(folder: Path, contents: dict[str, bytes]) -> dict[str, Path]:
    files = {}
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        files[name] = path
    return files


def _raw(head: object, body: bytes = b"") -> bytes:
    text = json.dumps(head).encode()
    return struct.pack(">I", len(text)) + text + body


@given(st.lists(st.binary(max_size=40), max_size=6), st.integers(1, 50))
@settings(deadline=None, max_examples=60)
def test_files_arrive_whatever_the_size_of_a_message(
    tmp_path_factory: pytest.TempPathFactory, contents: list[bytes], limit: int
) -> None:
    root = tmp_path_factory.mktemp("parcel")
    named = {f"d{i % 2}/file {i}": content for i, content in enumerate(contents)}
    files = _write(root / "from", named)
    target = root / "to"
    target.mkdir()
    sent = list(parcel.messages(files, limit))
    assert sent
    for content in sent:
        parcel.unpack(content, target)
    assert {n: (target / n).read_bytes() for n in named} == named
    assert parcel.fingerprint(files) == artifact_digest(target)[0]


def test_the_bit_that_makes_a_program_survives(tmp_path: Path) -> None:
    files = _write(tmp_path / "from", {"run.sh": b"#!/bin/sh\n", "data": b""})
    files["run.sh"].chmod(0o700)
    parcel.unpack(parcel.message(files), tmp_path / "to")
    assert (tmp_path / "to" / "run.sh").stat().st_mode & 0o100
    assert not (tmp_path / "to" / "data").stat().st_mode & 0o100


def test_links_are_not_followed_on_the_way_in(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/hostname")
    with pytest.raises(OSError, match="Too many levels"):
        parcel.message({"link": tmp_path / "link"})


@pytest.mark.parametrize(
    "name",
    ["", "/etc/passwd", "../up", "a/../../up", "a//b", "./a", "a/", "a/./b", "nul\0", "..", "\ud800"],
)
def test_names_that_leave_the_folder_are_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "deep" / "folder"
    folder.mkdir(parents=True)
    with pytest.raises(ParcelError):
        parcel.unpack(_raw([[name, 0, 1, False]], b"x"), folder)
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\0",
        b"\xff\xff\xff\xff",
        struct.pack(">I", 3) + b"{{{",
        _raw({}),
        _raw([["a", 0, 1]], b"x"),
        _raw([["a", 0, -1, False]]),
        _raw([["a", 0, 5, False]], b"x"),
        _raw([["a", 0, 1, False]], b"xx"),
        _raw([["a", -1, 1, False]], b"x"),
        _raw([["a", 7, 1, False]], b"x"),
        _raw([["a", 0, 1, False], ["a", 0, 1, False]], b"xx"),
        _raw([["a", 0, 1, False], ["a/b", 0, 1, False]], b"xx"),
    ],
)
def test_what_is_no_message_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ParcelError):
        parcel.unpack(content, tmp_path)


def test_only_what_was_asked_for_is_unpacked(tmp_path: Path) -> None:
    content = _raw([["artifact/a", 0, 1, False], ["scratch/b", 0, 1, False]], b"xy")
    with pytest.raises(ParcelError, match="nobody asked for"):
        parcel.unpack(content, tmp_path, tops=["artifact"])
    assert not (tmp_path / "scratch").exists()


def test_a_planted_link_is_not_written_through(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a").symlink_to(tmp_path / "outside")
    with pytest.raises(ParcelError):
        parcel.unpack(_raw([["a", 0, 1, False]], b"x"), tmp_path / "in")
    assert not (tmp_path / "outside").exists()


@given(NAMES)
@settings(deadline=None, max_examples=60)
def test_nothing_is_written_outside(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    root = tmp_path_factory.mktemp("names")
    inner = root / "inner"
    inner.mkdir()
    try:
        parcel.unpack(_raw([[name, 0, 1, False]], b"x"), inner)
    except ParcelError:
        assert not any(p.is_file() for p in root.rglob("*"))
    else:
        assert [p for p in root.rglob("*") if p.is_file()] == [inner.joinpath(*name.split("/"))]
