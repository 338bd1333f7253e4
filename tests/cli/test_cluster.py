"""`bench run --engine dask` and `bench worker`, as users start them."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bench.engine.processes import descendants
from bench.store import Store
from tests.cli.conftest import Bench
from tests.cluster import WAIT_S, Cluster, until

pytest.importorskip("distributed", reason="needs the extra [cluster]")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
DOCUMENT = Path(__file__).parents[2] / "docs" / "cluster.md"
SELFTEST = ("run", "--suite", "selftest", "--size", "tiny")


def start(folder: Path, *args: object, **environ: str) -> subprocess.Popen[str]:
    """A coordinator whose messages go to `stderr` in its folder."""
    with (folder / "stderr").open("w") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "bench", *map(str, args)],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=out,
            text=True,
            env={**os.environ, "CUDA_VISIBLE_DEVICES": "", **environ},
        )


def said(folder: Path) -> str:
    return (folder / "stderr").read_text()


def statuses(folder: Path) -> Counter[tuple[str, str]]:
    rows = Store.open(folder / "results").read("jobs", ["model", "status"]).to_pylist()
    return Counter((r["model"].removeprefix("selftest-"), r["status"]) for r in rows)


def numbers(results: Path) -> dict[Any, Any]:
    """Everything that was measured, and the hashes of what it was measured on."""
    store = Store.open(results)
    jobs = store.current()
    cells = ("model", "task", "dataset", "repeat")
    artifacts = {tuple(r[c] for c in cells): r["artifact_sha256"] for r in jobs.to_pylist()}
    metrics = store.metrics(jobs).to_pylist()
    values = {
        (*(r[c] for c in cells), r["metric"], r["facet"]): (r["value"], r["ci_low"], r["ci_high"], r["n"])
        for r in metrics
    }
    return {**artifacts, **values}


@pytest.mark.slow
def test_same_numbers_bit_for_bit_whoever_computes_them(
    bench: Bench, tmp_path: Path, cluster: Cluster
) -> None:
    images = ("flow", "vae-16", "gmm-50")
    models = [w for m in (*images, "selftest-uniform", "selftest-polluter") for w in ("--model", m)]
    command = ("run", "--suite", "images", "--suite", "selftest", "--size", "tiny", *models)
    found = {}
    for engine, workers in (("local", 1), ("local", 4), ("dask", 1), ("dask", 4)):
        where = ("--scheduler", cluster.address) if engine == "dask" else ()
        name = f"{engine}-{workers}"
        done = bench(*command, "--engine", engine, *where, "--workers", workers, "--out", name)
        assert done.returncode == 0, done.stderr
        found[name] = numbers(tmp_path / name)
    assert len(found["local-1"]) > 100
    for name, values in found.items():
        assert values == found["local-1"], name
    used = {r["worker"] for r in Store.open(tmp_path / "dask-4").current().to_pylist()}
    assert len({worker.partition(".")[0] for worker in used}) == 2, used  # both processes took part


def blocks() -> dict[str, str]:
    """The commands of the documentation by terminal."""
    return dict(re.findall(r"```console (terminal-\d)\n(.*?)```", DOCUMENT.read_text(), re.DOTALL))


def test_the_two_terminals_of_the_documentation(tmp_path: Path) -> None:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", 8786))
        except OSError:
            pytest.skip("port 8786 of the documented example is taken on this machine")
    terminals = blocks()
    assert sorted(terminals) == ["terminal-1", "terminal-2"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environ = {**os.environ, "PATH": path, "CUDA_VISIBLE_DEVICES": ""}
    running = []
    for text in terminals.values():
        [line] = text.strip().splitlines()
        running.append(
            subprocess.Popen(
                shlex.split(line),
                cwd=tmp_path,
                env=environ,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
        )
    outputs = [process.communicate(timeout=300)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0], outputs
    assert re.search(r"[1-9]\d* ok, 0 failed, 0 skipped", outputs[0])
    assert "waiting for workers: bench worker --scheduler tcp://127.0.0.1:8786" in outputs[0]
    assert "2 slots at tcp://127.0.0.1:8786" in outputs[1]
    assert "the scheduler at tcp://127.0.0.1:8786 is gone; so is this worker" in outputs[1]
    assert Store.open(tmp_path / "results").verify() == []


def test_sigkill_of_the_coordinator_ends_its_jobs_and_loses_nothing(tmp_path: Path, cluster: Cluster) -> None:
    models = ("--model", "selftest-polluter", "--model", "selftest-slow")
    command = (*SELFTEST, *models, "--engine", "dask", "--scheduler", cluster.address, "--workers", 1)
    process = start(tmp_path, *command)
    try:
        until(lambda: "[2/4]" in said(tmp_path))  # the good ones are done
        until(cluster.strays)  # a slow one is running
        until(lambda: statuses(tmp_path)["polluter", "ok"] == 2)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    until(lambda: cluster.strays() == [], 15)
    assert all(worker.poll() is None for worker in cluster.workers)
    assert statuses(tmp_path) == {("polluter", "ok"): 2}
    again = start(tmp_path, *SELFTEST, *models[:2], "--model", "selftest-uniform", *command[-6:])
    assert again.wait(WAIT_S) == 0, said(tmp_path)
    assert said(tmp_path).splitlines()[-1].startswith("2 ok, 0 failed, 0 skipped, 2 cached")


def test_workers_end_with_a_coordinator_that_is_killed(tmp_path: Path) -> None:
    own = Cluster(tmp_path / "own")
    process = start(tmp_path, *SELFTEST, "--model", "selftest-slow", "--engine", "dask")
    try:
        until(lambda: "bench worker --scheduler " in said(tmp_path))
        address = said(tmp_path).split("--scheduler ")[1].split()[0]
        worker = own.start_worker(address, "--workers", "1")
        until(lambda: len(descendants(worker.pid)) == 2)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert worker.wait(30) == 0
        until(lambda: own.everyone() == [], 10)
        assert f"the scheduler at {address} is gone" in own.output("worker-0")
    finally:
        process.kill()
        own.stop()


def test_a_scheduler_that_is_killed_is_reported_and_its_jobs_run_later(tmp_path: Path) -> None:
    own = Cluster(tmp_path / "own")
    command = (*SELFTEST, "--model", "selftest-slow", "--engine", "dask", "--workers", 1)
    try:
        process = start(tmp_path, *command, "--scheduler", own.start_scheduler())
        worker = own.start_worker("", "--workers", "1")
        until(own.strays)
        assert own.scheduler is not None
        own.scheduler.send_signal(signal.SIGKILL)
        assert process.wait(WAIT_S) == 1, said(tmp_path)
        assert f"the scheduler at {own.address} is gone" in said(tmp_path)
        assert said(tmp_path).splitlines()[-1].startswith("0 ok, 1 failed")
        assert statuses(tmp_path)["slow", "lost"] == 1
        assert statuses(tmp_path)["slow", "ok"] == 0
        worker.wait(WAIT_S)
        until(lambda: own.everyone() == [], 10)
    finally:
        own.stop()
    again = start(tmp_path, *SELFTEST, "--model", "selftest-slow", "--workers", 2)
    assert again.wait(WAIT_S) == 0, said(tmp_path)
    assert statuses(tmp_path)["slow", "ok"] == 2


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (("worker",), 2, "--scheduler"),
        (("worker", "--scheduler", "nowhere"), 2, "--scheduler 'nowhere' is no address"),
        (("worker", "--scheduler", "http://h:1"), 2, "expected HOST:PORT or tcp://HOST:PORT"),
        (("worker", "--scheduler", "127.0.0.1:9", "--gpus", "0"), 2, "there is no GPU '0'"),
        (
            ("worker", "--scheduler", "tcp://127.0.0.1:9", "--death-timeout", "1", "--workers", "1"),
            1,
            "no scheduler answered at tcp://127.0.0.1:9 within 1 s",
        ),
        ((*SELFTEST, "--engine", "dask", "--scheduler", "host"), 2, "--scheduler 'host' is no address"),
        ((*SELFTEST, "--engine", "dask", "--listen", "8786"), 2, "--listen '8786' is no address"),
        ((*SELFTEST, "--engine", "dask", "--device", "cuda:1"), 2, "`bench worker --gpus` says which"),
        ((*SELFTEST, "--engine", "inline", "--sandbox"), 2, "--sandbox needs processes of their own"),
    ],
)
def test_what_cannot_be_done(
    bench: Bench, tmp_path: Path, args: tuple[str, ...], code: int, words: str
) -> None:
    done = bench(*args)
    assert done.returncode == code, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "results").glob("runs/*"))


def test_without_the_extra_both_say_what_to_install(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.util as u\nreal = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'distributed' else real(name, *rest)\n"
    )
    for args in ((*SELFTEST, "--engine", "dask"), ("worker", "--scheduler", "127.0.0.1:9")):
        done = bench(*args, PYTHONPATH=os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]))
        assert done.returncode == 2, done.stderr
        assert "pip install 'generative-bench[cluster]'" in done.stderr
