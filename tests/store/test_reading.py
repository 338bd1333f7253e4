"""One table out of many files, whatever else lies among them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from bench import schema
from bench.store import Layout, Store, reading

from . import make


def _file(store: Store, table: str = "jobs") -> Path:
    return (reading.part_files(store.layout, table) + reading.compact_files(store.layout, table))[0]


def test_columns_and_rows_can_be_chosen(tmp_path: Path) -> None:
    store = make.filled(tmp_path / "r")
    assert store.read("jobs", ["repeat"]).schema.names == ["repeat"]
    assert store.read("jobs", ["task"]).schema.field("task").type == pa.dictionary(pa.int32(), pa.string())
    assert store.read("jobs", ["repeat"], {"repeat": 1}).to_pydict() == {"repeat": [1]}
    assert store.read("jobs", ["status"], {"repeat": (0, 2), "model": "gaussian"}).num_rows == 2
    assert store.read("jobs", ["repeat"], {"limit": None}).num_rows == 3
    assert store.read("jobs", ["repeat"], {"model": "other"}).num_rows == 0


@pytest.mark.parametrize("arguments", [(["nope"], None), (None, {"nope": 1})])
def test_an_unknown_column_is_named(tmp_path: Path, arguments: tuple[list[str], dict[str, int]]) -> None:
    with pytest.raises(KeyError, match="nope"):
        Store.open(tmp_path / "r", create=True).read("jobs", *arguments)


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _flip(path: Path) -> None:
    """Damage the data and leave the footer, so that the file opens."""
    content = bytearray(path.read_bytes())
    content[200:600] = bytes(400)
    path.write_bytes(content)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _text(path: Path) -> None:
    path.write_text("this is no table")


def _stranger(path: Path) -> None:
    pq.write_table(pa.table({"record_id": ["1"], "colour": ["red"]}), path)


def _wrong_types(path: Path) -> None:
    table = pq.read_table(path)
    index = table.column_names.index("attempt")
    pq.write_table(table.set_column(index, "attempt", pa.array(["first"] * table.num_rows)), path)


def _nameless(path: Path) -> None:
    table = pq.read_table(path)
    index = table.column_names.index("job_key")
    pq.write_table(table.set_column(index, "job_key", pa.nulls(table.num_rows, pa.string())), path)


@pytest.mark.parametrize(
    ("spoil", "kind"),
    [
        (_truncate, "damaged"), (_flip, "damaged"), (_empty, "damaged"), (_text, "damaged"),
        (_stranger, "foreign"), (_wrong_types, "foreign"), (_nameless, "foreign"),
    ],
)  # fmt: skip
def test_a_bad_file_costs_only_its_own_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], spoil: Callable[[Path], None], kind: str
) -> None:
    store = make.filled(tmp_path / "r", n=1)
    bad = store.path / "parts" / "jobs" / "bad.parquet"
    pq.write_table(store.read("jobs"), bad)
    spoil(bad)
    assert store.read("jobs").num_rows == 1
    assert store.read("jobs", ["status"]).num_rows == 1
    assert store.current().num_rows == 1
    said = capsys.readouterr().err
    assert said.count("bad.parquet") == 1, "said once, not at every reading"
    assert kind in said
    problem = next(p for p in store.verify() if p.path == "parts/jobs/bad.parquet")
    assert problem.kind == kind


def test_a_file_of_another_type_is_foreign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = make.filled(tmp_path / "r", n=1)
    (store.path / "parts" / "jobs" / "notes.txt").write_text("hello")
    assert store.read("jobs").num_rows == 1
    assert "notes.txt" in capsys.readouterr().err


def test_columns_of_a_newer_bench_do_not_disturb(tmp_path: Path) -> None:
    store = make.filled(tmp_path / "r", n=2)
    path = _file(store)
    table = pq.read_table(path)
    pq.write_table(table.append_column("colour", pa.array(["red"] * table.num_rows)), path)
    assert store.read("jobs").schema == schema.JOBS
    assert store.read("jobs").num_rows == 2
    assert store.verify() == []


def test_rows_of_an_older_bench_have_nulls_in_new_columns(tmp_path: Path) -> None:
    store = make.filled(tmp_path / "r", n=2)
    old = store.read("jobs").drop_columns(["score_id", "flags", "scoring", "duration_s"])
    ids = pc.binary_join_element_wise(old["record_id"], "x", "")
    old = old.set_column(old.column_names.index("record_id"), "record_id", ids)
    # Written with plain strings and other widths, as other tools do.
    plain = [
        pa.field(f.name, pa.large_string() if pa.types.is_dictionary(f.type) else f.type) for f in old.schema
    ]
    pq.write_table(old.cast(pa.schema(plain)), store.path / "parts" / "jobs" / "old.parquet")
    table = store.read("jobs")
    assert table.schema == schema.JOBS
    assert table.num_rows == 4
    assert table["score_id"].null_count >= 2
    assert table["scoring"].null_count == 2
    assert store.current().num_rows == 2
    assert {past.scoring for past in store.history()} == {1}


def test_duplicates_are_dropped(tmp_path: Path) -> None:
    store = make.filled(tmp_path / "r")
    pq.write_table(store.read("metrics"), store.path / "parts" / "metrics" / "again.parquet")
    assert store.read("metrics").num_rows == 6
    assert store.read("metrics", ["value"]).num_rows == 6


def test_temporary_files_are_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = make.filled(tmp_path / "r", n=1)
    (store.path / "parts" / "jobs" / ".x.parquet.123.tmp").write_bytes(b"half")
    assert store.read("jobs").num_rows == 1
    assert capsys.readouterr().err == ""


def test_a_file_that_vanishes_while_reading_is_looked_for_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store.open(tmp_path / "r", create=True)
    run = make.start(store)
    for repeat in range(4):
        run.add(job := make.planned(repeat), make.outcome(job))
        run.flush()
    files = reading.part_files(store.layout, "jobs")
    assert len(files) == 4
    original, compacted = reading.read_file, []

    def compacting_in_between(path: Path, *arguments: object, **options: object) -> pa.Table:
        if path == files[2] and not compacted:
            compacted.append(store.compact())
        return original(path, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "read_file", compacting_in_between)
    assert store.read("jobs").num_rows == 4
    assert compacted == [8]
    run.close(exit_code=0)


def test_a_compaction_during_the_listing_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that changes while it is listed may show neither the new file nor the old ones."""
    store = Store.open(tmp_path / "r", create=True)
    run = make.start(store)
    for repeat in range(2):
        run.add(job := make.planned(repeat), make.outcome(job))
        run.flush()
    listings = {"part_files": 0, "compact_files": 0}

    def blind_at_first(name: str) -> Callable[[Layout, str], list[Path]]:
        original = getattr(reading, name)

        def listing(layout: Layout, table: str) -> list[Path]:
            listings[name] += 1
            return [] if listings[name] == 1 else original(layout, table)

        return listing

    store.compact()
    for name in listings:
        monkeypatch.setattr(reading, name, blind_at_first(name))
    assert store.read("jobs").num_rows == 2
    run.close(exit_code=0)
