"""The verbs that only look."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.cli.conftest import Bench


@pytest.mark.parametrize("kind", ["models", "tasks", "datasets", "suites"])
def test_lists_come_as_table_and_as_json(bench: Bench, kind: str) -> None:
    table, data = bench("list", kind), bench("list", kind, "--json")
    assert table.returncode == data.returncode == 0
    rows = json.loads(data.stdout)
    assert len(rows) == len(table.stdout.splitlines()) - 1
    assert "selftest" not in table.stdout


def test_describe_tells_everything_declared(bench: Bench) -> None:
    text = bench("describe", "images.fidelity").stdout
    for word in ("chamfer", "digits", "mnist5k", "tiny", "small", "full", "protocol"):
        assert word in text
    card = json.loads(bench("describe", "kde", "--json").stdout)
    assert card["kind"] == "model"
    assert card["families"] == ["images"]


def test_status_counts_jobs(bench: Bench, finished_run: Path) -> None:
    rows = json.loads(bench("status", "--json", cwd=finished_run).stdout)
    assert {(r["status"], r["jobs"]) for r in rows} == {("ok", 2), ("error", 2), ("skipped", 2)}
    assert "selftest.echo" in bench("status", cwd=finished_run).stdout


def test_env_names_versions(bench: Bench) -> None:
    facts = json.loads(bench("env", "--json").stdout)
    assert facts["python_version"] == sys.version.split()[0]
    assert facts["packages"]["torch"].startswith("2.")


def test_verify_passes_a_sound_store_and_fails_a_damaged_one(
    bench: Bench, finished_run: Path, tmp_path: Path
) -> None:
    assert bench("verify", cwd=finished_run).returncode == 0
    subprocess.run(["cp", "-r", str(finished_run / "results"), str(tmp_path)], check=True)
    [damaged, *_] = sorted((tmp_path / "results").glob("artifacts/*/*/*"))
    damaged.chmod(0o644)
    damaged.write_bytes(b"something else")
    done = bench("verify")
    assert done.returncode == 1
    assert damaged.parent.parent.name in done.stdout


def test_version(bench: Bench) -> None:
    assert bench("--version").stdout.startswith("bench 0.")


def test_serve_answers_over_http(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text("<p>hello</p>")
    command = [sys.executable, "-m", "bench", "serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            address = server.stdout.readline().split()[0]
            assert urllib.request.urlopen(address, timeout=10).read() == b"<p>hello</p>"
        finally:
            server.terminate()
