"""`bench run`: what it prints, what it stores, how it exits."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from bench.store import Store
from tests.cli.conftest import Bench

SELFTEST = ("run", "--suite", "selftest", "--size", "tiny", "--workers", 1)
GOOD = ("--model", "selftest-uniform")


@pytest.fixture
def copied_run(finished_run: Path, tmp_path: Path) -> Path:
    """A private copy of the finished run."""
    shutil.copytree(finished_run / "results", tmp_path / "results")
    return tmp_path


def actions(done: subprocess.CompletedProcess[str]) -> Counter[tuple[str, str, str]]:
    jobs = json.loads(done.stdout)["jobs"]
    return Counter((j["model"], j["action"], j["reason"]) for j in jobs)


def test_one_failing_model_does_not_hurt_the_others(finished_run: Path) -> None:
    assert (finished_run / "exit_code").read_text() == "1"
    last = (finished_run / "stderr").read_text().splitlines()[-1]
    assert re.fullmatch(r"2 ok, 2 failed, 2 skipped, 0 cached \(\d+\.\d s\) -> results", last)
    rows = Store.open(finished_run / "results").current().to_pylist()
    assert Counter((r["model"], r["status"]) for r in rows) == {
        ("selftest-uniform", "ok"): 2,
        ("selftest-raise", "error"): 2,
        ("selftest-needs-module", "skipped"): 2,
    }


def test_plain_progress_has_one_line_per_job_and_no_control_characters(finished_run: Path) -> None:
    text = (finished_run / "stderr").read_text()
    assert sum(line.startswith("[") for line in text.splitlines()) == 4
    assert all(c.isprintable() or c == "\n" for c in text)
    assert "2 skipped: needs module module_that_does_not_exist (pip install" in text


def test_metrics_are_stored_with_their_values(finished_run: Path) -> None:
    store = Store.open(finished_run / "results")
    metrics = store.metrics(store.current()).to_pylist()
    own = [m for m in metrics if not m["facet"]]
    assert Counter(m["metric"] for m in own) == {"mean": 2, "spread": 2}
    assert all(0.0 <= m["value"] <= 1.0 for m in metrics)


def test_a_run_leaves_its_site_complete(finished_run: Path) -> None:
    text = (finished_run / "site" / "index.html").read_text()
    assert "selftest-uniform" in text
    assert "selftest-raise" in text


def test_a_second_run_runs_nothing_and_says_so(bench: Bench, copied_run: Path) -> None:
    done = bench(*SELFTEST, *GOOD)
    assert done.returncode == 0
    assert "nothing to run: everything is stored already" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("0 ok, 0 failed, 0 skipped, 2 cached")
    assert len(list((copied_run / "results" / "runs").iterdir())) == 1  # no empty run was recorded


def test_earlier_failures_keep_the_exit_code_and_are_retried_on_request(
    bench: Bench, copied_run: Path
) -> None:
    done = bench(*SELFTEST, "--model", "selftest-raise")
    assert done.returncode == 1
    assert "--retry-failed runs them again" in done.stderr
    assert bench(*SELFTEST, "--model", "selftest-raise", "--allow-failures", "--retry-failed").returncode == 0
    attempts = Store.open(copied_run / "results").read("jobs", ["attempt"], {"model": "selftest-raise"})
    assert sorted(attempts["attempt"].to_pylist()) == [1, 1, 2, 2]


def test_dry_run_gives_the_reasons_and_runs_nothing(bench: Bench, copied_run: Path) -> None:
    models = (
        *GOOD,
        "--model",
        "selftest-raise",
        "--model",
        "selftest-needs-module",
        "--model",
        "selftest-nan",
    )
    before = sorted(copied_run.rglob("*"))
    done = bench(*SELFTEST, *models, "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    found = actions(done)
    assert found["selftest-uniform", "cached", "cached"] == 2
    assert found["selftest-raise", "cached", "failed before (error); --retry-failed runs it again"] == 2
    assert found["selftest-nan", "run", "new"] == 2
    assert sum(n for (model, action, _), n in found.items() if action == "skip" and "module" in model) == 2
    assert sorted(copied_run.rglob("*")) == before
    text = bench(*SELFTEST, *models, "--dry-run").stdout
    assert "new" in text
    assert "2 to run, 0 to rescore, 4 cached, 2 to skip" in text


def test_editing_an_adapter_runs_exactly_its_jobs_again(bench: Bench, copied_run: Path) -> None:
    file = copied_run / "mine.py"
    file.write_text(
        "from bench.selftest import Uniform\n"
        "from bench.spec import ModelInfo\n"
        "class Mine(Uniform):\n"
        "    info = ModelInfo(name='mine', version='1', families=('selftest',))\n"
    )
    command = (*SELFTEST, *GOOD, "--model", "mine.py:Mine")
    assert bench(*command).stderr.splitlines()[-1].startswith("2 ok, 0 failed, 0 skipped, 2 cached")
    file.write_text(file.read_text() + "# edited\n")
    assert actions(bench(*command, "--dry-run", "--json")) == {
        ("mine", "run", "adapter changed"): 2,
        ("selftest-uniform", "cached", "cached"): 2,
    }
    assert bench(*command).stderr.splitlines()[-1].startswith("2 ok, 0 failed, 0 skipped, 2 cached")


def test_same_seed_same_numbers_whatever_the_number_of_workers(bench: Bench, tmp_path: Path) -> None:
    values = {}
    for name, workers in (("one", 1), ("two", 2)):
        done = bench(
            "run", "--suite", "selftest", "--size", "tiny", *GOOD, "--workers", workers, "--out", name
        )
        assert done.returncode == 0, done.stderr
        store = Store.open(tmp_path / name)
        rows = store.metrics(store.current()).to_pylist()
        values[name] = {(r["repeat"], r["metric"]): r["value"] for r in rows}
    assert values["one"] == values["two"]
    assert len(values["one"]) == 4


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_run_in_order(tmp_path: Path, number: signal.Signals, code: int) -> None:
    models = ("--model", "selftest-polluter", "--model", "selftest-slow")
    command = [sys.executable, "-m", "bench", *map(str, SELFTEST), *models]
    env = {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=env)
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if line.startswith("[2/4]"):  # the two good ones are done, a slow one is running
            time.sleep(1.0)
            process.send_signal(number)
            break
    text = "".join(lines) + process.communicate(timeout=60)[1]
    assert process.returncode == code, text
    assert "stopping: running jobs are killed" in text
    rows = Store.open(tmp_path / "results").read("jobs", ["model", "status"]).to_pylist()
    counts = Counter((r["model"], r["status"]) for r in rows)
    assert counts["selftest-polluter", "ok"] == 2
    assert counts["selftest-slow", "cancelled"] >= 1
    assert actions_after(tmp_path)["selftest-slow", "run", "not finished before (cancelled)"] >= 1


def actions_after(folder: Path) -> Counter[tuple[str, str, str]]:
    from tests.cli.conftest import run_bench

    return actions(run_bench(*SELFTEST, "--model", "selftest-slow", "--dry-run", "--json", cwd=folder))


def test_fail_fast_stops_at_the_first_failure(bench: Bench, tmp_path: Path) -> None:
    done = bench(*SELFTEST, "--model", "selftest-raise", "--model", "selftest-slow", "--fail-fast")
    assert done.returncode == 1
    assert "stopping at the first failure" in done.stderr
    rows = Store.open(tmp_path / "results").read("jobs", ["status"])["status"].to_pylist()
    assert Counter(rows)["error"] == 1
    assert "ok" not in rows


def test_the_inline_engine_runs_here_and_says_that_isolation_is_off(bench: Bench) -> None:
    command = ("run", "--suite", "selftest", "--size", "tiny", *GOOD, "--engine", "inline")
    done = bench(*command)
    assert done.returncode == 0, done.stderr
    assert "without isolation" in done.stderr
    assert bench(*command, "--force", "--workers", 2).returncode == 2


def test_rescoring_needs_no_model(bench: Bench, copied_run: Path) -> None:
    before = Store.open(copied_run / "results")
    old = {(r["repeat"], r["metric"]): r["value"] for r in before.metrics(before.current()).to_pylist()}
    done = bench("rescore")
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].startswith("2 ok, 0 failed, 0 skipped, 0 cached")
    store = Store.open(copied_run / "results")
    rows = [r for r in store.current().to_pylist() if r["status"] == "ok"]
    assert {r["stages"] for r in rows} == {"score"}
    new = {(r["repeat"], r["metric"]): r["value"] for r in store.metrics(store.current()).to_pylist()}
    assert new == old
    nothing = bench("rescore", "--outdated")
    assert nothing.returncode == 0
    assert nothing.stderr.splitlines()[-1].startswith("0 ok")
    assert bench("rescore", "--model", "nobody").returncode == 2


def test_json_progress_is_one_object_per_line(bench: Bench) -> None:
    done = bench(*SELFTEST, *GOOD, "--progress", "json")
    events = [json.loads(line) for line in done.stderr.splitlines()[:-1]]
    assert Counter(e["event"] for e in events if e["event"] in ("start", "finish")) == {
        "start": 1,
        "finish": 2,
    }
    assert {e["status"] for e in events if e["event"] == "finish"} == {"ok"}
