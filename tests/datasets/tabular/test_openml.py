"""OpenML: descriptions, ARFF and Parquet files from a local server that answers like the real one."""

from __future__ import annotations

import hashlib
import io
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bench.datasets.tabular import loading, openml
from bench.datasets.tabular.arff import read_arff
from bench.datasets.tabular.tabarena import TABARENA, OpenMLTable
from bench.errors import MissingRequirement

TABLE = OpenMLTable(
    77, 770, "Fish-soup", "class", "binary", 60, 4, "CC BY 4.0", "UCI", 2020, "https://x.invalid"
)
NAME = "openml-fish-soup"
HEAD = """% a comment
@RELATION fish
@ATTRIBUTE row_id NUMERIC
@ATTRIBUTE 'body weight' REAL
@attribute count integer
@attribute taste {'very good', bad, "it's odd"}
@attribute class {yes,no}

@DATA
"""
TASTES = ("bad", "'very good'")
ROWS = "".join(
    f"{i},{'?' if i % 9 == 0 else i / 4},{i % 3},{TASTES[i % 2]},{('yes', 'no')[i % 2]}\n" for i in range(60)
)
ARFF = (HEAD + ROWS).encode()


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: dict[str, bytes] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def publish(self, data: bytes, **fields: Any) -> None:
        about = {
            "id": "77",
            "name": "Fish-soup",
            "format": "ARFF",
            "url": f"{self.url}/data/fish",
            "md5_checksum": hashlib.md5(data).hexdigest(),
            "default_target_attribute": "class",
            "row_id_attribute": "row_id",
            **fields,
        }
        self.bodies["/api/v1/json/data/77"] = json.dumps({"data_set_description": about}).encode()
        self.bodies["/data/fish"] = data


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        body = self.server.bodies.get(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        return


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    running = Server()
    thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("BENCH_MIRROR", raising=False)
    monkeypatch.setenv("BENCH_ALLOW_DOWNLOAD", "1")
    monkeypatch.setenv("BENCH_OPENML", running.url)
    monkeypatch.setitem(openml.TABLES, NAME, TABLE)
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


def test_the_list() -> None:
    assert len(TABARENA) == len(openml.TABLES) == 45
    tasks = [table.task for table in TABARENA]
    assert [tasks.count(task) for task in ("binary", "multiclass", "regression")] == [27, 5, 13]
    assert min(t.rows for t in TABARENA) == 748
    assert max(t.rows for t in TABARENA) == 150_000
    assert (min(t.columns for t in TABARENA), max(t.columns for t in TABARENA)) == (5, 1_777)
    assert openml.TABLES["openml-diabetes130us"].target == "EarlyReadmission"


def test_arff_from_the_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.publish(ARFF)
    table = loading.load(NAME)
    assert table.frame.shape == (60, 4)
    assert [column.kind for column in table.schema.columns] == [
        "numeric",
        "integer",
        "categorical",
        "categorical",
    ]
    assert table.schema.task == "binary"
    assert table.frame["body weight"].isna().sum() == 7
    assert table.schema.column("taste").categories == ("bad", "very good")
    server.bodies.clear()
    monkeypatch.delenv("BENCH_ALLOW_DOWNLOAD")
    assert loading.absence(NAME) is None
    pd.testing.assert_frame_equal(loading.load(NAME).frame, table.frame)


def test_parquet_from_the_server(server: Server) -> None:
    frame = pd.DataFrame(
        {"w": np.arange(60) / 4, "n": np.arange(60.0) % 3, "t": pd.Categorical(["a", "b"] * 30)}
    )
    frame["class"] = pd.Categorical(["no", "yes"] * 30)
    stream = io.BytesIO()
    frame.to_parquet(stream)
    server.publish(stream.getvalue(), format="parquet", row_id_attribute=None)
    table = loading.load(NAME)
    assert [column.kind for column in table.schema.columns] == [
        "numeric",
        "integer",
        "categorical",
        "categorical",
    ]
    pd.testing.assert_frame_equal(table.frame, frame.astype({"n": "int64"}))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"md5_checksum": "0" * 32}, "has MD5 .*, OpenML states 0000"),
        ({"md5_checksum": None}, "OpenML states none"),
        ({"name": "Fish-stew"}, "describes .*Fish-stew"),
        ({"id": "78"}, "describes .*78"),
        ({"row_id_attribute": "class"}, "no column 'class'"),
        ({"row_id_attribute": None}, r"has shape \(60, 5\), expected \(60, 4\)"),
        ({"url": "http://data.invalid/fish"}, "needs https"),
        ({"url": "ftp://data.invalid/fish"}, "will not download"),
    ],
)
def test_wrong_answers(server: Server, fields: dict[str, Any], reason: str) -> None:
    server.publish(ARFF, **fields)
    with pytest.raises(MissingRequirement, match=reason):
        loading.load(NAME)


@pytest.mark.parametrize("body", [b"", b"{}", b"[1]", b"<html>"])
def test_answers_that_are_no_description(server: Server, body: bytes) -> None:
    server.publish(ARFF)
    server.bodies["/api/v1/json/data/77"] = body
    with pytest.raises(MissingRequirement, match="not an OpenML description"):
        loading.load(NAME)


def test_offline_names_the_files(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BENCH_ALLOW_DOWNLOAD")
    reason = loading.absence(NAME)
    assert reason is not None
    assert "data-77.arff" in reason
    with pytest.raises(MissingRequirement, match=r"data-77\.json"):
        loading.load(NAME)


def arff(text: str) -> pd.DataFrame:
    return read_arff(io.StringIO(text), "file.arff")


def test_arff_quoting_and_sparse_rows() -> None:
    frame = arff(
        "@relation r\n@attribute 'a b' string\n@attribute n numeric\n@attribute c {x, 'y,z'}\n@data\n"
        "'it\\'s, so', 1.5, 'y,z'\n\"two words\" , ?, x\n?,1e3,?\n{1 7, 2 'y,z'}\n"
    )
    assert frame["a b"].tolist() == ["it's, so", "two words", None, "0"]
    assert frame["n"].tolist()[0:3:2] == [1.5, 1000.0]
    assert frame["c"].tolist() == ["y,z", "x", np.nan, "y,z"]
    assert frame["c"].cat.categories.tolist() == ["x", "y,z"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "@relation r\n@attribute a numeric\n",
        "@relation r\n@attribute a numeric\n@data\n1,2\n",
        "@relation r\n@attribute a numeric\n@data\nx\n",
        "@relation r\n@attribute a {x}\n@data\ny\n",
        "@relation r\n@attribute a relational\n@data\ny\n",
        "hello\n",
    ],
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(MissingRequirement, match=r"file\.arff: not an ARFF file"):
        arff(text)
