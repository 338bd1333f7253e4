"""Tables made elsewhere: what is read, what is refused, and that nothing is written twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bench.cli.app import app
from bench.errors import UsageError
from bench.importing import TableMap, import_table, safe_name
from bench.store import Store

LONG = """model,task,fold,metric,value,higher_is_better,error
A,Adult,0,auc,0.9,true,
A,Adult,1,auc,0.8,true,
B b,Adult,0,auc,0.7,true,
B b,Adult,1,auc,,true,out of memory
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "store", create=True)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(text)
    return path


def test_a_long_table_becomes_jobs_and_failures(tmp_path: Path, store: Store) -> None:
    how = TableMap(family="automl", columns={"repeat": "fold"}, baselines=("A",))
    done = import_table(write(tmp_path, LONG), store, how)
    assert (done.jobs, done.failed, done.known) == (4, 1, 0)
    rows = {(r["model"], r["repeat"]): r for r in store.current().to_pylist()}
    assert set(rows) == {("a", 0), ("a", 1), ("b-b", 0), ("b-b", 1)}
    bad = rows["b-b", 1]
    assert (bad["status"], bad["error_message"], bad["engine"]) == ("error", "out of memory", "imported")
    assert rows["a", 0]["baseline"]
    values = store.metrics(store.current()).to_pylist()
    assert {(v["model"], v["repeat"]): v["value"] for v in values} == {
        ("a", 0): 0.9,
        ("a", 1): 0.8,
        ("b-b", 0): 0.7,
    }
    assert store.verify() == []


def test_the_same_table_again_adds_nothing(tmp_path: Path, store: Store) -> None:
    how = TableMap(family="automl", columns={"repeat": "fold"})
    path = write(tmp_path, LONG)
    import_table(path, store, how)
    again = import_table(path, store, how)
    assert (again.jobs, again.known) == (0, 4)
    changed = import_table(write(tmp_path, LONG.replace("0.9", "0.95")), store, how)
    assert changed.jobs == 4  # another file is another source
    assert max(v["value"] for v in store.metrics(store.current()).to_pylist()) == 0.95


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        (LONG, {"repeat": "seed"}, "no column 'seed' for repeat; it has model, task, fold"),
        (LONG, {"colour": "fold"}, "unknown role 'colour'"),
        (LONG.replace("model,", "system,"), {}, "no column for model"),
        (LONG.replace("0.9,", "good,"), {}, "value 'good' is not a number"),
        (LONG.replace("A,Adult,1", "A,Adult,0"), {"repeat": "fold"}, "two values of 'auc'"),
        (
            LONG.replace("A,Adult,0,auc,0.9,true", "A,Adult,0,auc,0.9,false"),
            {"repeat": "fold"},
            "two directions",
        ),
        (LONG.replace("B b", "a"), {"repeat": "fold"}, "would both be called 'a'"),
        ("model,value\n", {}, "no rows"),
    ],
)
def test_what_cannot_be_read_is_refused_before_anything_is_written(
    text: str, columns: dict[str, str], message: str, tmp_path: Path, store: Store
) -> None:
    with pytest.raises(UsageError, match=message):
        import_table(write(tmp_path, text), store, TableMap(family="automl", columns=columns))
    assert store.current().num_rows == 0


def test_names_are_made_safe_and_stay_apart() -> None:
    assert safe_name("KDDCup09_appetency") == "kddcup09_appetency"
    assert safe_name("../../etc") == "etc"
    assert safe_name("☃").startswith("x-")
    assert safe_name("a" * 100) != safe_name("a" * 99)
    assert len(safe_name("a" * 100)) <= 40


def test_the_command_imports_a_wide_table(tmp_path: Path) -> None:
    path = write(tmp_path, "model,acc,loss\nx,0.5,1.0\ny,0.6,\n")
    store = tmp_path / "results"
    arguments = ["import", str(path), "--family", "toy", "--metric", "acc:max:0:1", "--metric", "loss:min"]
    done = CliRunner().invoke(app, [*arguments, "--results", str(store)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "2 results, 0 of them failed" in done.output
    values = Store.open(store).read("metrics").to_pylist()
    assert {(v["model"], v["metric"]): v["value"] for v in values} == {
        ("x", "acc"): 0.5, ("x", "loss"): 1.0, ("y", "acc"): 0.6, ("y", "loss"): None,
    }  # fmt: skip
    with pytest.raises(UsageError, match="use COLUMN:max"):
        CliRunner().invoke(
            app, ["import", str(path), "--family", "toy", "--metric", "acc"], catch_exceptions=False
        )
