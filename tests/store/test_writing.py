"""From outcomes to rows and files."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import schema
from bench.artifacts import artifact_digest
from bench.spec import Exhibit, Measure, canonical_json
from bench.store import Store, rows
from bench.work import MeasureRow

from . import make


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path / "results", create=True)


def test_an_outcome_comes_back_as_it_was(store: Store, tmp_path: Path) -> None:
    job = make.planned(2, title="Täst", n_parameters=7)
    ended = make.with_files(
        job, tmp_path / "work", at=1.5e9, flags=("contraction",), notes={"k": 5}, hostname="node7", cpu_s=2.5
    )
    with make.start(store, engine="local") as run:
        stored = run.add(job, ended, tmp_path / "work")
    assert stored == ended
    table = store.read("jobs")
    assert table.schema == schema.JOBS
    row = table.to_pylist()[0]
    for name in ("task", "model", "dataset", "repeat", "suite_seed", "size", "limit", "model_source_sha256"):
        assert row[name] == getattr(job.job, name)
    for name in ("status", "attempt", "cpu_s", "hostname", "artifact_sha256", "artifact_bytes", "n_samples"):
        assert row[name] == getattr(ended, name)
    assert row["ended_at"] == datetime.fromtimestamp(1.5e9, UTC)
    assert (row["family"], row["data"], row["engine"], row["stages"]) == (
        "selftest", "generated", "local", "collect+score",
    )  # fmt: skip
    assert row["unit_seed"] == job.unit.seed
    assert json.loads(row["model_info"])["title"] == "Täst"
    assert json.loads(row["task_info"])["metrics"][0]["name"] == job.task.info.metrics[0].name
    assert json.loads(row["dataset_info"])["license"] == job.dataset.info.license
    assert json.loads(row["flags"]) == ["contraction"]
    assert json.loads(row["notes"]) == {"k": 5}
    assert json.loads(row["exhibits"]) == [dataclasses.asdict(ended.exhibits[0])]
    assert row["bench_version"]
    assert json.loads(row["packages"])["pyarrow"]


def test_metrics_come_back_with_interval_or_reason(store: Store) -> None:
    job = make.planned()
    facet = MeasureRow(metric="distance", facet="k=3", measure=Measure(value=2.0, ci_method="t"))
    ended = make.outcome(job)
    with make.start(store) as run:
        run.add(job, dataclasses.replace(ended, rows=(*ended.rows, facet)))
    table = store.metrics(store.current())
    assert table.schema == schema.METRICS
    found = {(r["metric"], r["facet"]): r for r in table.to_pylist()}
    assert found["score", ""]["value"] == 0.5
    assert (found["score", ""]["ci_low"], found["score", ""]["ci_high"], found["score", ""]["n"]) == (
        0.4,
        0.6,
        9,
    )
    assert (found["score", ""]["primary"], found["distance", ""]["primary"]) == (True, False)
    assert found["distance", ""]["value"] is None
    assert found["distance", ""]["reason"] == "too few samples"
    assert (found["distance", "k=3"]["value"], found["distance", "k=3"]["direction"]) == (2.0, "min")


def test_files_are_where_the_row_says(store: Store, tmp_path: Path) -> None:
    job = make.planned()
    with make.start(store) as run:
        work = run.work_dir(job.job.key, 1)
        log = run.log_path(job.job.key, 1)
        log.write_text("hello")
        ended = make.with_files(job, work, log_path=str(log))
        run.add(job, ended, work)
    row = store.current().to_pylist()[0]
    artifact = store.artifact_dir(job.job.key, row["artifact_sha256"])
    assert artifact_digest(artifact)[0] == row["artifact_sha256"]
    assert (artifact / "out.txt").read_text() == "made by a model"
    assert (store.exhibit_dir(job.job.key, row["score_id"]) / "grid.png").read_bytes() == b"png"
    assert (store.path / row["log_path"]).read_text() == "hello"
    samples = store.samples(row["run_id"], job.job.key, 1)
    assert samples is not None
    assert samples.to_pydict() == {"sample_id": [0, 1, 2, 3], "score": list(np.linspace(0, 1, 4, dtype="f4"))}
    assert samples.schema.metadata[b"job_key"].decode() == job.job.key
    assert store.samples(row["run_id"], job.job.key, 2) is None
    assert not (run.folder / "running").exists()


def test_an_equal_artifact_is_kept_and_another_lies_beside_it(store: Store) -> None:
    job, again = make.planned(), make.planned(attempt=2)
    with make.start(store) as run:
        for planned, text in ((job, "a"), (again, "a"), (make.planned(attempt=3), "b")):
            work = run.work_dir(planned.job.key, planned.attempt)
            run.add(planned, make.with_files(planned, work, text), work)
    folders = sorted((store.path / "artifacts" / job.job.key).iterdir())
    assert len(folders) == 2
    assert sorted(f.joinpath("out.txt").read_text() for f in folders) == ["a", "b"]
    assert store.read("jobs").num_rows == 3


def test_rescoring_keeps_the_artifact(store: Store) -> None:
    first = make.planned()
    with make.start(store) as run:
        work = run.work_dir(first.job.key, 1)
        sha = run.add(first, make.with_files(first, work), work).artifact_sha256
    second = make.planned(scoring=2, attempt=2, stages=("score",))
    with make.start(store) as run:
        run.add(second, make.outcome(second, score=0.6, artifact_sha256=sha), run.work_dir(second.job.key, 2))
    row = store.current().to_pylist()[0]
    assert (row["scoring"], row["stages"], row["artifact_sha256"]) == (2, "score", sha)
    assert store.verify() == []


def test_rows_arrive_while_the_run_goes_on(store: Store) -> None:
    run = make.start(store)
    first = make.planned(0)
    run.add(first, make.outcome(first))
    assert run.stored == 1, "the first outcome is not kept waiting"
    for repeat in range(1, 51):
        job = make.planned(repeat)
        run._quiet_until = float("inf")
        run.add(job, make.outcome(job))
    assert run.stored == 51, "fifty outcomes are never kept waiting"
    assert store.read("jobs").num_rows == 51
    job = make.planned(51)
    run._quiet_until = float("inf")
    run.add(job, make.outcome(job))
    assert run.stored == 51
    run._quiet_until = 0.0
    run.flush_if_due()
    assert run.stored == 52
    run.close(exit_code=0)


def test_the_run_describes_itself_at_start_and_end(store: Store) -> None:
    run = store.start_run(
        argv=["bench", "run"], settings={"size": "tiny"}, plan=[{"job": "k", "action": "run"}]
    )
    description = json.loads((run.folder / "run.json").read_text())
    assert description["end"] is None
    assert description["plan"] == [{"job": "k", "action": "run"}]
    run.close(exit_code=1)
    run.close(exit_code=0)
    description = json.loads((run.folder / "run.json").read_text())
    assert (description["exit_code"], description["stored"], description["argv"]) == (1, 0, ["bench", "run"])
    assert description["end"] >= description["start"]
    assert description["environment"]["python_version"]
    assert not list((store.path / "locks").glob("run.*"))


@pytest.mark.parametrize(("error", "code"), [(KeyboardInterrupt(), 130), (RuntimeError("x"), 1), (None, 0)])
def test_leaving_the_with_block_ends_the_run(store: Store, error: BaseException | None, code: int) -> None:
    job = make.planned()
    with contextlib.suppress(KeyboardInterrupt, RuntimeError), make.start(store) as run:
        run.add(job, make.outcome(job))
        if error:
            raise error
    assert json.loads((run.folder / "run.json").read_text())["exit_code"] == code
    assert store.read("jobs").num_rows == 1


def test_anonymous_runs_name_no_host(store: Store) -> None:
    job = make.planned()
    with make.start(store, anonymous=True) as run:
        run.add(job, make.outcome(job, hostname="secret-host", worker="secret-host:1"))
    row = store.read("jobs").to_pylist()[0]
    assert (row["hostname"], row["worker"]) == ("", "")
    everything = b"".join(p.read_bytes() for p in store.path.rglob("*") if p.is_file())
    assert b"secret-host" not in everything
    assert json.loads((run.folder / "run.json").read_text())["environment"]["hostname"] == ""


def test_environment_variables_are_never_stored(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "hunter2hunter2")
    job = make.planned()
    with make.start(store) as run:
        run.add(job, make.outcome(job))
    assert not any(b"hunter2" in p.read_bytes() for p in store.path.rglob("*") if p.is_file())


def test_samples_can_be_left_out(store: Store) -> None:
    job = make.planned()
    with make.start(store, keep_samples=False) as run:
        work = run.work_dir(job.job.key, 1)
        run.add(job, make.with_files(job, work), work)
    assert store.samples(run.run_id, job.job.key, 1) is None
    assert store.verify() == []


GARBAGE = "a\ud800b\x1b[31m\x00c\u202ed</script>\r\n\ttail"


def test_garbage_in_text_is_made_plain(store: Store) -> None:
    job = make.planned(title=GARBAGE, tags=(GARBAGE,))
    texts = dict.fromkeys(
        ("error_type", "error_message", "traceback", "signal", "hostname", "device"), GARBAGE
    )
    ended = make.outcome(
        job, status="error", notes={GARBAGE: GARBAGE, "x": float("nan")}, flags=(GARBAGE,), **texts
    )
    with make.start(store) as run:
        run.add(job, ended)
    row = store.read("jobs").to_pylist()[0]
    assert row["status"] == "error"
    assert row["error_message"] == "a�b�[31m�c\u202ed</script>�\n\ttail"
    notes = json.loads(row["notes"])
    assert notes.pop("x") == "nan"
    for text in (*(row[name] for name in texts), *notes, *notes.values(), *json.loads(row["flags"])):
        assert "\x1b" not in text
        assert "\x00" not in text
        text.encode("utf-8")
    assert "\\u001b" not in row["model_info"]


@given(st.text(st.characters(exclude_categories=())), st.integers(2, 50), st.booleans())
def test_plain_text_is_always_valid_and_short(text: str, limit: int, keep_end: bool) -> None:
    plain = rows.plain_text(text, limit, keep_end=keep_end)
    plain.encode("utf-8")
    assert len(plain) <= limit
    assert not any(ord(c) < 32 and c not in "\n\t" for c in plain)
    assert rows.plain_text(plain, limit) == plain


def test_long_text_is_cut_where_it_says_least(store: Store) -> None:
    job = make.planned()
    ended = make.outcome(
        job,
        status="error",
        error_message="m" * 9_000,
        traceback="t" * 20_000 + "END",
        notes={"n": ["x" * 500] * 200},
    )
    with make.start(store) as run:
        run.add(job, ended)
    row = store.read("jobs").to_pylist()[0]
    assert len(row["error_message"]) == 2_000
    assert len(row["traceback"]) == 8_000
    assert row["traceback"].endswith("END")
    assert "too_long" in json.loads(row["notes"])


def _row(**changes: object) -> tuple[MeasureRow, ...]:
    fields = {"metric": "score", "facet": "", "measure": Measure(value=0.5)} | changes
    return (MeasureRow(**fields),)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"rows": _row(measure=Measure(value=float("nan")))}, "finite"),
        ({"rows": _row(measure=Measure(value=0.5, ci_high=float("inf")))}, "finite"),
        ({"rows": _row(metric="bonus")}, "'bonus' is not declared"),
        ({"rows": _row() * 2}, "given twice"),
        ({"rows": _row(measure=Measure(value=0.5, n=2**70))}, "does not fit"),
        ({"artifact_bytes": 2**70}, "does not fit"),
    ],
)
def test_values_that_cannot_be_are_invalid_output(
    store: Store, broken: dict[str, object], message: str
) -> None:
    good, bad = make.planned(0), make.planned(1)
    with make.start(store) as run:
        run.add(good, make.outcome(good))
        stored = run.add(bad, dataclasses.replace(make.outcome(bad), **broken))  # type: ignore[arg-type]
    assert stored.status == "invalid_output"
    found = {r["job_key"]: r for r in store.read("jobs").to_pylist()}
    assert found[good.job.key]["status"] == "ok"
    assert found[bad.job.key]["status"] == "invalid_output"
    assert message in found[bad.job.key]["error_message"]
    assert set(store.read("metrics")["job_key"].to_pylist()) == {good.job.key}


def _link(work: Path) -> None:
    (work / "artifact" / "link").symlink_to("/etc/passwd")


def _link_folder(work: Path) -> None:
    (work / "artifact").rename(work / "elsewhere")
    (work / "artifact").symlink_to(work / "elsewhere")


def _pipe(work: Path) -> None:
    os.mkfifo(work / "artifact" / "pipe")


def _remove(work: Path) -> None:
    (work / "artifact").rename(work / "gone")


def _break_samples(work: Path) -> None:
    (work / "samples.npz").write_bytes(b"PK not really")


def _pickled_samples(work: Path) -> None:
    np.savez(work / "samples.npz", sample_ids=np.array([object()]), allow_pickle=True)


def _ragged_samples(work: Path) -> None:
    np.savez(work / "samples.npz", sample_ids=np.arange(3), score=np.zeros(4, "f4"))


def _no_exhibit(work: Path) -> None:
    (work / "exhibits" / "grid.png").unlink()


@pytest.mark.parametrize(
    "damage",
    [_link, _link_folder, _pipe, _remove, _break_samples, _pickled_samples, _ragged_samples, _no_exhibit],
)
def test_files_that_break_the_contract_are_invalid_output(store: Store, damage) -> None:  # type: ignore[no-untyped-def]
    job = make.planned()
    with make.start(store) as run:
        work = run.work_dir(job.job.key, 1)
        ended = make.with_files(job, work)
        damage(work)
        stored = run.add(job, ended, work)
    assert stored.status == "invalid_output"
    assert stored.error_message
    row = store.read("jobs").to_pylist()[0]
    assert (row["status"], row["artifact_sha256"], row["n_samples"]) == ("invalid_output", None, None)
    assert store.read("metrics").num_rows == 0
    assert store.verify() == []


@pytest.mark.parametrize("file", ["../../store.json", "/etc/passwd", ""])
def test_exhibits_outside_their_folder_are_refused(store: Store, file: str) -> None:
    job = make.planned()
    with make.start(store) as run:
        work = run.work_dir(job.job.key, 1)
        bad = Exhibit(name="grid", kind="image", file=file, caption="")
        ended = dataclasses.replace(make.with_files(job, work), exhibits=(bad,))
        assert run.add(job, ended, work).status == "invalid_output"


def test_text_sample_ids(store: Store, tmp_path: Path) -> None:
    job = make.planned()
    with make.start(store) as run:
        work = run.work_dir(job.job.key, 1)
        ended = make.with_files(job, work)
        np.savez(work / "samples.npz", sample_ids=np.array(["ä", "b"]), score=np.array([0, 1], "f4"))
        run.add(job, ended, work)
    samples = store.samples(run.run_id, job.job.key, 1)
    assert samples is not None
    assert samples["sample_id"].to_pylist() == ["ä", "b"]


def test_work_of_a_killed_run_is_removed_by_the_next(store: Store) -> None:
    pid = os.fork()
    if pid == 0:
        work = make.start(store).work_dir("a" * 64, 1)
        (work / "half").write_text("x")
        os._exit(9)
    os.waitpid(pid, 0)
    assert len(list(store.path.glob("runs/*/running/*/half"))) == 1
    live = make.start(store)
    assert not list(store.path.glob("runs/*/running/*"))
    kept = live.work_dir("b" * 64, 1)
    make.start(store).close(exit_code=0)
    assert kept.is_dir(), "the work of a live run stays"
    live.close(exit_code=0)


def test_equal_facts_have_equal_json() -> None:
    assert rows.plain_json({"b": 1, "a": (1, 2)}, 100) == canonical_json({"a": [1, 2], "b": 1})
