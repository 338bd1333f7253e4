"""Which rows count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.schema import TABLES
from bench.store import Store, rows, selection

from . import make

NEW = "b" * 64


def _store(path: Path, *attempts: dict[str, Any]) -> Store:
    """A store of attempts, each with fields of the job and of its outcome, a second apart."""
    store = Store.open(path / "r", create=True)
    with make.start(store) as run:
        for second, fields in enumerate(attempts):
            ended = {k: fields.pop(k) for k in ("status", "score", "at") if k in fields}
            job = make.planned(fields.pop("repeat", 0), **fields)
            run.add(job, make.outcome(job, **{"at": 1e9 + second, **ended}))
    return store


def _only(store: Store, **options: Any) -> dict[str, Any]:
    found = store.current(**options).to_pylist()
    assert len(found) == 1
    return found[0]


def test_the_latest_ok_attempt_counts(tmp_path: Path) -> None:
    store = _store(tmp_path, {}, {"attempt": 2}, {"attempt": 3, "status": "timeout"})
    assert (_only(store)["attempt"], _only(store)["status"]) == (2, "ok")
    past = store.history()
    assert [(p.status, p.attempts) for p in past] == [("ok", 3)]


def test_without_an_ok_attempt_the_latest_counts(tmp_path: Path) -> None:
    store = _store(tmp_path, {"status": "oom"}, {"attempt": 2, "status": "crash"})
    assert _only(store)["status"] == "crash"


def test_attempts_of_two_runs_are_ordered_by_time(tmp_path: Path) -> None:
    store = _store(tmp_path, {"score": 0.1})
    job = make.planned()
    with make.start(store) as run:
        run.add(job, make.outcome(job, score=0.2, at=1e9 - 50))
    metrics = store.metrics(store.current()).to_pylist()
    assert [m["value"] for m in metrics if m["metric"] == "score"] == [0.1]


def test_the_newest_scoring_counts_unless_one_is_stated(tmp_path: Path) -> None:
    store = _store(
        tmp_path,
        {"scoring": 2, "score": 0.2},
        {"attempt": 2, "scoring": 1, "score": 0.1},
        {"attempt": 3, "scoring": 3},
    )
    assert _only(store)["scoring"] == 3
    assert _only(store, versions={"selftest.toy": (1, 1)})["scoring"] == 1
    assert _only(store, versions={"selftest.toy": (1, 9)})["scoring"] == 3
    assert _only(store, versions={"other.task": (4, 4)})["scoring"] == 3


def test_a_failed_rescore_hides_no_number(tmp_path: Path) -> None:
    store = _store(tmp_path, {}, {"attempt": 2, "scoring": 2, "status": "error"})
    assert (_only(store)["status"], _only(store)["scoring"]) == ("ok", 1)


def test_older_task_versions_are_left_out_for_every_model(tmp_path: Path) -> None:
    store = _store(tmp_path, {"model": "one"}, {"model": "two"}, {"model": "one", "version": 2})
    assert _only(store)["model"] == "one"
    assert store.read("jobs").num_rows == 3, "they stay readable"
    assert store.current(versions={"selftest.toy": (1, 1)}).num_rows == 2


def test_an_edited_adapter_replaces_its_old_result_even_if_it_fails(tmp_path: Path) -> None:
    store = _store(tmp_path, {}, {"source": NEW, "status": "error"})
    assert (_only(store)["status"], _only(store)["model_source_sha256"]) == ("error", NEW)
    assert len(store.history()) == 2


def test_a_cancelled_attempt_replaces_nothing(tmp_path: Path) -> None:
    store = _store(tmp_path, {}, {"source": NEW, "status": "cancelled"})
    assert _only(store)["status"] == "ok"
    assert _only(_store(tmp_path / "alone", {"status": "cancelled"}))["status"] == "cancelled"


def test_undoing_an_edit_brings_the_old_result_back(tmp_path: Path) -> None:
    store = _store(tmp_path, {"score": 0.1}, {"source": NEW, "score": 0.2}, {"repeat": 1})
    old, other = make.planned().job.key, make.planned(1).job.key
    assert _only_of(store, repeat=0)["model_source_sha256"] == NEW
    store.touch([other, "unknown"])
    assert store.read("uses").num_rows == 0, "what is current anyway is not written down"
    store.touch([old, other])
    assert store.read("uses")["job_key"].to_pylist() == [old]
    assert _only_of(store, repeat=0)["job_key"] == old
    store.touch([make.planned(source=NEW).job.key])
    assert _only_of(store, repeat=0)["model_source_sha256"] == NEW
    store.compact()
    assert _only_of(store, repeat=0)["model_source_sha256"] == NEW


def _only_of(store: Store, *, repeat: int) -> dict[str, Any]:
    return next(r for r in store.current().to_pylist() if r["repeat"] == repeat)


def test_cells_are_kept_apart(tmp_path: Path) -> None:
    store = _store(tmp_path, {"repeat": 0}, {"repeat": 1}, {"repeat": 1, "model": "other"})
    assert store.current().num_rows == 3
    assert store.current(size="tiny").num_rows == 3
    assert store.current(size="full").num_rows == 0


def test_metrics_are_those_of_the_chosen_attempt_and_run(tmp_path: Path) -> None:
    store = _store(tmp_path, {"score": 0.1}, {"attempt": 2, "score": 0.2})
    values = [m["value"] for m in store.metrics(store.current()).to_pylist() if m["metric"] == "score"]
    assert values == [0.2]


def test_history_is_in_order_of_time_and_knows_the_artifact(tmp_path: Path) -> None:
    store = Store.open(tmp_path / "r", create=True)
    with make.start(store) as run:
        for repeat, at in ((0, 3e8), (1, 1e8), (2, 2e8)):
            job = make.planned(repeat)
            run.add(job, make.outcome(job, at=at, artifact_sha256=""))
    with make.start(store) as run:
        work = run.work_dir("x", 1)
        job = make.planned(3)
        sha = run.add(job, make.with_files(job, work, at=4e8), work).artifact_sha256
    assert [p.repeat for p in store.history()] == [1, 2, 0, 3]
    assert [p.artifact_sha256 for p in store.history()] == ["", "", "", sha]


ATTEMPT = st.fixed_dictionaries(
    {
        "repeat": st.integers(0, 1),
        "source": st.sampled_from(["a" * 64, NEW]),
        "version": st.integers(1, 2),
        "scoring": st.integers(1, 2),
        "attempt": st.integers(1, 3),
        "status": st.sampled_from(["ok", "error", "cancelled"]),
        "at": st.integers(1, 4),
    }
)


def _table(attempts: list[dict[str, Any]]) -> Any:
    found = []
    for number, fields in enumerate(attempts):
        job = make.planned(**{k: v for k, v in fields.items() if k not in ("status", "at")})
        run = make.run_facts(run_id=f"run-{number:02}")
        facts = rows.JobFacts(planned=job, run=run, log_path="")
        found.append(rows.job_row(make.outcome(job, status=fields["status"], at=fields["at"]), facts))
    return rows.to_table("jobs", [rows.to_batch("jobs", found)])


@settings(max_examples=60, deadline=None)
@given(st.lists(ATTEMPT, max_size=10), st.randoms(use_true_random=False))
def test_the_choice_follows_the_rules_and_not_the_order_of_rows(
    attempts: list[dict[str, Any]], random: Any
) -> None:
    uses = TABLES["uses"].empty_table()
    table = _table(attempts)
    chosen = selection.choose_current(table, uses, None, None).to_pylist()
    newest = max((a["version"] for a in attempts), default=0)
    candidates = [r for r in table.to_pylist() if r["task_version"] == newest]
    assert {r["repeat"] for r in chosen} == {r["repeat"] for r in candidates}
    for row in chosen:
        cell = [r for r in candidates if r["repeat"] == row["repeat"]]
        same = [r for r in cell if r["job_key"] == row["job_key"]]
        used = [max((r["status"] != "cancelled", r["ended_at"]) for r in group) for group in (cell, same)]
        assert used[0] == used[1], "no other key was used later"
        ok = [r for r in same if r["status"] == "ok"]
        rivals = [r for r in ok if r["scoring"] == max(o["scoring"] for o in ok)] or same
        best = max(rivals, key=lambda r: (r["attempt"], r["ended_at"], r["record_id"]))
        assert row["record_id"] == best["record_id"]
    order = list(range(len(attempts)))
    random.shuffle(order)
    again = selection.choose_current(table.take(pa.array(order, pa.int64())), uses, None, None).to_pylist()
    assert {r["record_id"] for r in again} == {r["record_id"] for r in chosen}


@pytest.mark.parametrize("table", TABLES)
def test_empty_tables_are_no_special_case(tmp_path: Path, table: str) -> None:
    store = Store.open(tmp_path / "r", create=True)
    assert store.read(table).schema == TABLES[table]
    store.touch(["a"])
    assert store.metrics(store.current()).num_rows == 0


def test_the_history_knows_of_a_failed_rescoring(tmp_path: Path) -> None:
    store = _store(
        tmp_path,
        {},
        {"attempt": 2, "scoring": 2, "status": "lost"},
        {"attempt": 3, "scoring": 2, "status": "error"},
        {"attempt": 4, "scoring": 2, "status": "cancelled"},
    )
    [past] = store.history()
    assert (past.status, past.scoring, past.attempts) == ("ok", 1, 4)
    assert (past.failed_scoring, past.failed_status) == (2, "error")


def test_an_ok_row_of_the_newest_scoring_forgets_the_failure(tmp_path: Path) -> None:
    rows = ({}, {"attempt": 2, "scoring": 2, "status": "error"}, {"attempt": 3, "scoring": 2, "score": 0.2})
    [past] = _store(tmp_path, *rows).history()
    assert (past.scoring, past.failed_scoring, past.failed_status) == (2, 0, "")
