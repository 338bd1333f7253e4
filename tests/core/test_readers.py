"""Pictures, tables and text of strangers: what is wrong is named by file, row or line."""

import gzip
import io
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, PngImagePlugin

from bench.artifacts import load_json_lines, load_lines, load_parquet, load_pictures
from bench.errors import InvalidOutput

GRAY = np.random.default_rng(0).integers(0, 256, (5, 7), np.uint8)
COLOUR = np.random.default_rng(1).integers(0, 256, (5, 7, 3), np.uint8)


def encoded(pixels: np.ndarray, layout: str = "PNG", **options: Any) -> bytes:
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, layout, **options)
    return out.getvalue()


def folder_with(root: Path, **files: bytes) -> Path:
    folder = root / "images"
    for name, content in files.items():
        path = folder / name.replace("__", ".").replace("_in_", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def test_pictures_are_read_in_order_of_their_paths(tmp_path: Path) -> None:
    folder = folder_with(
        tmp_path,
        b__png=encoded(GRAY),
        a_in_z__png=encoded(255 - GRAY),
        c__webp=encoded(COLOUR[..., 0], "PNG"),
    )
    (folder / "c.webp").rename(folder / "c.PNG")
    images = load_pictures(folder, shape=(1, 5, 7))
    assert images.dtype == np.uint8
    assert np.array_equal(images, np.stack([255 - GRAY, GRAY, COLOUR[..., 0]])[:, None])


def test_colour_pictures_become_channels_first(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, a__png=encoded(COLOUR), b__webp=encoded(COLOUR, "WEBP", lossless=True))
    folder_with(tmp_path, c__jpg=encoded(COLOUR, "JPEG", quality=100, subsampling=0))
    images = load_pictures(folder, shape=(3, 5, 7))
    assert images.shape == (3, 3, 5, 7)
    for image in images[:2]:
        assert np.array_equal(image, COLOUR.transpose(2, 0, 1))
    assert np.abs(images[2].astype(int) - COLOUR.transpose(2, 0, 1)).mean() < 5


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def raw_png(width: int, height: int, rows: bytes, *more: bytes) -> bytes:
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return b"".join(
        (b"\x89PNG\r\n\x1a\n", header, *more, chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    )


def animated() -> bytes:
    out = io.BytesIO()
    frames = [Image.fromarray(GRAY), Image.fromarray(255 - GRAY)]
    frames[0].save(out, "PNG", save_all=True, append_images=frames[1:])
    return out.getvalue()


def with_text() -> bytes:
    """A comment that unpacks to 100 MB."""
    comment = b"Comment\0\0" + zlib.compress(b"x" * 100_000_000)
    return raw_png(7, 5, b"".join(b"\0" + row.tobytes() for row in GRAY), chunk(b"zTXt", comment))


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("x__png", lambda: encoded(GRAY[:4]), "images/x.png is 7 x 4 pixels .* expected 7 x 5"),
        ("x__png", lambda: encoded(COLOUR), "images/x.png has the mode 'RGB'; expected 'L'"),
        ("x__png", lambda: encoded(GRAY.astype(np.uint16)), "has the mode 'I;16'"),
        ("x__png", lambda: encoded(GRAY > 9), "has the mode '1'"),
        ("x__png", lambda: encoded(GRAY)[:-30], "images/x.png can't be read as PNG"),
        ("x__png", lambda: b"", "can't be read as PNG"),
        ("x__png", lambda: encoded(GRAY, "JPEG"), "can't be read as PNG"),
        ("x__png", lambda: b"GIF89a" + bytes(100), "can't be read as PNG"),
        ("x__png", lambda: raw_png(9_000, 9_000, bytes(9_001 * 9_000)), "is 9000 x 9000 pixels"),
        ("x__png", lambda: raw_png(2**31 - 1, 2**31 - 1, b""), "images/x.png"),
        ("x__png", lambda: raw_png(7, 5, b"\0"), "can't be read as PNG"),
        ("x__png", with_text, "can't be read as PNG"),
        ("x__png", animated, "is an animation"),
        ("x__png", lambda: encoded(GRAY) + bytes(2**21), "bytes; at most"),
        ("x__gif", lambda: encoded(GRAY, "GIF"), "images/x.gif is no picture"),
        ("x__svg", lambda: b"<svg/>", "is no picture"),
        ("in_in_README", lambda: b"text", "images/in/README is no picture"),
    ],
)
def test_a_bad_picture_is_named(tmp_path: Path, name: str, content: Callable[[], bytes], words: str) -> None:
    folder = folder_with(tmp_path, a__png=encoded(GRAY), **{name: content()})
    with pytest.raises(InvalidOutput, match=words):
        load_pictures(folder, shape=(1, 5, 7))


def test_a_png_comment_of_normal_size_is_no_harm(tmp_path: Path) -> None:
    info = PngImagePlugin.PngInfo()
    info.add_text("Comment", "made by hand", zip=True)
    folder = folder_with(tmp_path, a__png=encoded(GRAY, pnginfo=info))
    assert np.array_equal(load_pictures(folder, shape=(1, 5, 7))[0, 0], GRAY)


def test_links_and_too_many_pictures_are_refused(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, a__png=encoded(GRAY), b__png=encoded(GRAY))
    with pytest.raises(InvalidOutput, match="more than 1 files"):
        load_pictures(folder, shape=(1, 5, 7), max_files=1)
    (folder / "c.png").symlink_to("a.png")
    with pytest.raises(InvalidOutput, match=r"'c.png' is a link"):
        load_pictures(folder, shape=(1, 5, 7))


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 255))
def test_a_spoilt_picture_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, at: int, byte: int
) -> None:
    content = bytearray(encoded(GRAY))
    content[at % len(content)] = byte
    folder = folder_with(tmp_path_factory.mktemp("spoilt"), a__png=bytes(content))
    message = "images/a.png"
    try:
        assert load_pictures(folder, shape=(1, 5, 7)).shape == (1, 1, 5, 7)
    except InvalidOutput as error:
        message = str(error)
    assert "images/a.png" in message


def table_at(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def test_columns_are_read_in_plain_types(tmp_path: Path) -> None:
    path = table_at(
        tmp_path / "t.parquet", a=[1, 2], b=pa.array([0.5, 1.5], pa.float32()), c=["x", "ü"], d=[True, False]
    )
    found = load_parquet(path, {"c": "text", "a": "float", "d": "bool", "b": "float"})
    assert list(found) == ["c", "a", "d", "b"]
    assert found["a"].dtype == found["b"].dtype == np.float64
    assert found["c"].tolist() == ["x", "ü"]
    assert found["d"].tolist() == [True, False]
    assert load_parquet(path, {"a": "int"})["a"].dtype == np.int64


@pytest.mark.parametrize(
    ("columns", "wanted", "words"),
    [
        ({"a": [1.0, 2.0, None, None]}, {"a": "float"}, r"t.parquet\[a\] is empty in row 2; 2 values"),
        ({"a": [1.0, float("nan")]}, {"a": "float"}, r"t.parquet\[a\] is nan in row 1"),
        ({"a": [1.0, float("-inf")]}, {"a": "float"}, r"t.parquet\[a\] is -inf in row 1"),
        ({"a": [1.5]}, {"a": "int"}, r"t.parquet\[a\] holds double; expected int"),
        ({"a": ["1"]}, {"a": "float"}, "holds string; expected float"),
        ({"a": [[1.0]]}, {"a": "float"}, "holds list.* expected float"),
        ({"a": [1]}, {"b": "int"}, r"t.parquet lacks the column 'b'.* it has \['a'\]"),
        ({"a": pa.array([0, 2**64 - 1], pa.uint64())}, {"a": "int"}, "above 2\\^63 - 1 in row 1"),
        ({"a": list(range(11))}, {"a": "int"}, "has 11 rows; at most 10 are read"),
    ],
)
def test_a_bad_column_is_named_with_its_row(tmp_path: Path, columns: Any, wanted: Any, words: str) -> None:
    path = table_at(tmp_path / "t.parquet", **columns)
    with pytest.raises(InvalidOutput, match=words):
        load_parquet(path, wanted, max_rows=10)


def test_text_that_is_none_is_named_with_its_row(tmp_path: Path) -> None:
    path = table_at(tmp_path / "t.parquet", a=["fine", "spoilt"])
    content = path.read_bytes()
    assert content.count(b"spoilt") >= 1
    path.write_bytes(content.replace(b"spoilt", b"s\xff\xffilt"))
    with pytest.raises(InvalidOutput, match=r"t.parquet\[a\] is not UTF-8 in row 1, at byte 1"):
        load_parquet(path, {"a": "text"})


def test_a_table_that_unpacks_to_much_is_refused(tmp_path: Path) -> None:
    path = table_at(tmp_path / "t.parquet", a=np.zeros(1_000_000))
    assert path.stat().st_size < 100_000
    with pytest.raises(InvalidOutput, match="unpacks to more than 1000000 bytes"):
        load_parquet(path, {"a": "float"}, max_bytes=1_000_000)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 255), st.booleans())
def test_a_spoilt_table_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, at: int, byte: int, cut: bool
) -> None:
    path = table_at(tmp_path_factory.mktemp("spoilt") / "t.parquet", a=[1.0, 2.0], c=["x", "y"])
    content = bytearray(path.read_bytes())
    content[at % len(content)] = byte
    path.write_bytes(bytes(content[: at % len(content)] if cut else content))
    message = "t.parquet"
    try:
        found = load_parquet(path, {"a": "float", "c": "text"})
        assert np.isfinite(found["a"]).all()
    except InvalidOutput as error:
        message = str(error)
    assert "t.parquet" in message


def test_lines_come_without_their_ends(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_bytes("eins\r\nzwei\n\nvier ü\u2028".encode())
    assert load_lines(tmp_path / "t.txt") == ["eins", "zwei", "", "vier ü\u2028"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{}\n\xff\n", "t.jsonl:2: not UTF-8 at byte 0"),
        (b"{}\n" + b"x" * 2_000, "t.jsonl:2: the line is over 1000 bytes"),
        (b"{}\n" * 6, "t.jsonl has more than 5 lines"),
        (b"{}\n\n{", "t.jsonl:3: not JSON"),
        (b'{"a": NaN}', "t.jsonl:1: not JSON: NaN is not a number of JSON"),
        (b"[1]", "t.jsonl:1: expected a JSON object, got list"),
        (b"[" * 900, "t.jsonl:1: not JSON"),
        (gzip.compress(b"{}", mtime=0), "t.jsonl:1: not UTF-8"),
        (b"x" * 20_000, "has 20000 bytes; at most 10000 are read"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "t.jsonl").write_bytes(content)
    with pytest.raises(InvalidOutput, match=words):
        load_json_lines(tmp_path / "t.jsonl", max_lines=5, max_line_bytes=1_000, max_bytes=10_000)


def test_objects_are_read_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"a": 1}\n\n{"a": "ü"}')
    assert load_json_lines(tmp_path / "t.jsonl") == [{"a": 1}, {"a": "ü"}]


@pytest.mark.parametrize("read", [load_lines, lambda path: load_parquet(path, {"a": "int"})])
def test_only_plain_files_are_opened(tmp_path: Path, read: Callable[[Path], Any]) -> None:
    (tmp_path / "link").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe")
    for name, words in (
        ("link", "link can't be opened as a plain file"),
        ("pipe", "pipe is not a plain file"),
    ):
        with pytest.raises(InvalidOutput, match=words):
            read(tmp_path / name)
    with pytest.raises(InvalidOutput, match="there is no file 'gone'"):
        read(tmp_path / "gone")
    with pytest.raises(InvalidOutput, match="is not a plain file"):
        read(tmp_path)
