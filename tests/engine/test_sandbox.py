"""What a model can and cannot do inside a sandbox, by each way in which one can be made."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bench.engine import LocalEngine, namespaces, sandbox
from bench.errors import MissingRequirement
from bench.spec import Resources
from bench.testing import build_order
from bench.work import Outcome, Source, WorkOrder

if not sys.platform.startswith("linux"):
    pytest.skip("the sandbox needs Linux", allow_module_level=True)

WAIT_S = 120
EXPLORER = '''
import ctypes, json, os, pathlib, socket, subprocess
from bench.selftest import Uniform

def attempt(what):
    try:
        return str(what())
    except Exception as error:
        return f"{type(error).__name__}: {error}"

def escape():
    """A user namespace of its own gives new privileges; what was locked stays so."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(0x10000000 | 0x20000):
        return "no namespace"
    flags = ctypes.c_ulong(1 << 5 | 1 << 12)  # remount, bind: without read-only
    libc.mount(b"none", b"/", None, flags, None)
    return attempt(lambda: pathlib.Path(PLACES["home"]).write_text("x"))

class Mine(Uniform):
    def setup(self, ctx):
        own = ctx.artifact_dir
        found = {name: attempt(lambda: pathlib.Path(path).write_text("x")) for name, path in PLACES.items()}
        setting = pathlib.Path("/proc/sys/vm/swappiness")
        found["setting"] = attempt(lambda: setting.write_text(setting.read_text()))
        found["read"] = attempt(lambda: pathlib.Path(PLACES["source"]).read_text()[:8])
        found["network"] = attempt(lambda: socket.create_connection(("127.0.0.1", PORT), 5))
        found["shm"] = attempt(lambda: pathlib.Path("/dev/shm/bench-sandbox-test").write_text("x"))
        found["null"] = attempt(lambda: open("/dev/null", "w").write("x"))
        found["cache"] = attempt(lambda: (ctx.cache_dir / "kept").write_text("x"))
        found["seen"] = attempt(lambda: (ctx.cache_dir.parent / "fashion" / "data").read_text())
        found["poison"] = attempt(lambda: (ctx.cache_dir.parent / "fashion" / "data").write_text("bad"))
        found["capabilities"] = attempt(lambda: [
            line.split()[1] for line in open("/proc/self/status") if line.startswith(("CapEff", "CapBnd"))
        ])
        found["processes"] = attempt(lambda: sum(name.isdigit() for name in os.listdir("/proc")))
        found["child"] = attempt(lambda: subprocess.run(["touch", PLACES["home"]]).returncode)
        found["remount"] = attempt(lambda: subprocess.run(
            ["mount", "-o", "remount,rw", "/"], capture_output=True).returncode)
        child = os.fork()
        if child == 0:
            (own / "escape.json").write_text(json.dumps(escape()))
            os._exit(0)
        os.waitpid(child, 0)
        (own / "found.json").write_text(json.dumps(found))
'''


@pytest.fixture(scope="module", params=["processes", "files", "bubblewrap"])
def way(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> sandbox.Way:
    """One way to make a sandbox, if it works here."""
    folder = tmp_path_factory.mktemp("way")
    name: sandbox.Way = request.param
    if name == "bubblewrap":
        if not sandbox._bubblewrap_works(folder):
            pytest.skip("bubblewrap is not installed, or not allowed here")
    elif why := sandbox._try(folder, own_processes=name == "processes"):
        pytest.skip(f"user namespaces are not allowed here: {why}")
    return name


def engine_that_finds(answer: str, folder: Path, patch: pytest.MonkeyPatch) -> LocalEngine:
    """An engine whose supervisor, when it looks for a way to make a sandbox, gets the expression `answer`."""
    (folder / "sitecustomize.py").write_text(
        "from bench.engine import sandbox\n"
        "from bench.errors import MissingRequirement\n"
        "def absent():\n    raise MissingRequirement('no sandbox today')\n"
        f"sandbox.find_way = lambda: {answer}\n"
    )
    patch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    return LocalEngine(1)


@pytest.fixture(scope="module")
def confined(way: sandbox.Way, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalEngine]:
    folder = tmp_path_factory.mktemp("confined")
    with pytest.MonkeyPatch.context() as patch:
        engine = engine_that_finds(repr(way), folder, patch)
        try:
            assert run(engine, build_order("uniform", folder)).status == "ok"  # its supervisor is started
            yield engine
        finally:
            engine.shutdown(kill=True)


def run(engine: LocalEngine, order: WorkOrder) -> Outcome:
    return engine.submit(order).result(timeout=WAIT_S)


def explorer(root: Path, port: int) -> WorkOrder:
    """A job that tries everything and tells in its artifact how it went."""
    for folder in ("cache/fashion", "cache/collect", "home"):
        (root / folder).mkdir(parents=True)
    (root / "cache" / "fashion" / "data").write_text("true data")
    (root / "cache" / "collect" / "left").write_text("by an earlier job")
    places = {
        "home": str(root / "home" / "file"),
        "root": "/bench-sandbox-test",
        "source": str(root / "mine.py"),
        "shared_cache": str(root / "cache" / "fashion" / "data"),
    }
    (root / "mine.py").write_text(EXPLORER.replace("PLACES", repr(places)).replace("PORT", str(port)))
    source = Source(entry="Mine", file=str(root / "mine.py"))
    return build_order("uniform", root, model=source, search_path=(str(root),), sandbox=True)


def test_what_a_model_can_do(way: sandbox.Way, confined: LocalEngine, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        order = explorer(tmp_path, server.getsockname()[1])
        outcome = run(confined, order)
    assert outcome.status == "ok", outcome
    artifact = Path(order.work_dir, "artifact")
    found: dict[str, Any] = json.loads((artifact / "found.json").read_text())
    for place in ("home", "root", "source", "shared_cache", "setting"):
        assert "Read-only file system" in found[place], (place, found[place])
    assert "Connection refused" in found["network"]
    assert found["child"] == "1"
    assert found["remount"] != "0"
    assert "Read-only file system" in json.loads((artifact / "escape.json").read_text()) or (
        way == "bubblewrap" and json.loads((artifact / "escape.json").read_text()) == "no namespace"
    )
    assert set(json.loads(found["capabilities"].replace("'", '"'))) == {"0" * 16}
    if way != "files":
        assert int(found["processes"]) <= 3
    # And what it may:
    assert found["read"] == "\nimport "
    assert (found["shm"], found["null"], found["cache"]) == ("1", "1", "1")
    assert found["seen"] == "true data"
    assert "Read-only file system" in found["poison"]
    # Nothing of it is left.
    assert sorted(p.name for p in (tmp_path / "home").iterdir()) == []
    assert (tmp_path / "cache" / "fashion" / "data").read_text() == "true data"
    assert [p.name for p in (tmp_path / "cache" / "collect").iterdir()] == ["left"]
    assert not Path("/dev/shm/bench-sandbox-test").exists()


def test_the_numbers_are_the_same(confined: LocalEngine, tmp_path: Path) -> None:
    free, held = (run(confined, build_order("uniform", tmp_path, sandbox=yes)) for yes in (False, True))
    assert held.status == "ok", held
    assert (held.rows, held.artifact_sha256) == (free.rows, free.artifact_sha256)
    assert held.cpu_s is not None
    assert held.cpu_s > 0


SHORT = Resources(memory_mb=2048, timeout_s=2.0)
ENDINGS = {
    "raise": ("error", None, ""),
    "sys-exit": ("error", None, ""),
    "exit-3": ("crash", 3, ""),
    "segfault": ("crash", None, "SIGSEGV"),
    "abort": ("crash", None, "SIGABRT"),
    "fill-memory": ("oom", None, "SIGTERM"),
    "grandchildren": ("ok", None, ""),
    "sleep": ("timeout", None, "SIGTERM"),
    "ignore-sigterm": ("timeout", None, "SIGKILL"),
}


def test_jobs_end_as_they_do_outside(way: sandbox.Way, confined: LocalEngine, tmp_path: Path) -> None:
    names = [n for n in ENDINGS if way != "bubblewrap" or n in ("exit-3", "segfault", "fill-memory")]
    futures = {name: confined.submit(build_order(name, tmp_path, sandbox=True)) for name in names}
    found = {name: future.result(timeout=WAIT_S) for name, future in futures.items()}
    assert {n: (o.status, o.exit_code, o.signal) for n, o in found.items()} == {n: ENDINGS[n] for n in names}


def test_a_model_cannot_reach_its_supervisor(way: sandbox.Way, confined: LocalEngine, tmp_path: Path) -> None:
    if way != "processes":
        pytest.skip("only with a table of processes of its own; bubblewrap's is the same")
    supervisor = confined._drivers[0].pid
    outcome = run(confined, build_order("kill-supervisor", tmp_path, sandbox=True, limits=SHORT))
    assert outcome.status == "timeout"
    assert confined._drivers[0].pid == supervisor


def test_without_a_sandbox_a_job_that_asked_for_one_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_that_finds("absent()", tmp_path, monkeypatch)
    try:
        order = build_order("uniform", tmp_path, sandbox=True)
        outcome = run(engine, order)
        assert (outcome.status, outcome.stage) == ("skipped", "collect")
        assert outcome.error_message == "no sandbox today"
        assert list(Path(order.work_dir, "artifact").iterdir()) == []
        assert run(engine, build_order("uniform", tmp_path)).status == "ok"
    finally:
        engine.shutdown(kill=True)


@pytest.mark.slow
def test_children_that_are_started_instead_of_forked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if why := sandbox._try(tmp_path, own_processes=True):
        pytest.skip(f"user namespaces are not allowed here: {why}")
    monkeypatch.setenv("BENCH_NO_FORK", "1")
    engine = LocalEngine(1)
    try:
        assert run(engine, build_order("uniform", tmp_path, sandbox=True)).status == "ok"
        segfault = run(engine, build_order("segfault", tmp_path, sandbox=True))
        assert (segfault.status, segfault.signal) == ("crash", "SIGSEGV")
    finally:
        engine.shutdown(kill=True)


def test_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "_try", lambda *_, **__: "unshare: Operation not permitted")
    monkeypatch.setattr(sandbox, "_bubblewrap_works", lambda _: False)
    sandbox.find_way.cache_clear()
    try:
        with pytest.raises(MissingRequirement, match=r"Operation not permitted.*apt install bubblewrap"):
            sandbox.find_way()
    finally:
        sandbox.find_way.cache_clear()


def test_a_kernel_without_the_new_mount_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if why := sandbox._try(tmp_path, own_processes=True):
        pytest.skip(f"user namespaces are not allowed here: {why}")
    monkeypatch.setattr(namespaces, "_set_attributes", lambda *_, **__: False)
    inside = tmp_path / "inside"
    inside.mkdir()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            namespaces.confine([inside], own_processes=True, shm_mb=1)
            (inside / "may").touch()
            for place in (tmp_path, Path("/dev/shm").parent, Path.home()):
                with contextlib.suppress(OSError):
                    (place / "bench-sandbox-test").touch()
                    code = 2
            code = 0 if code == 1 else code
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (inside / "may").is_file()
    assert not (tmp_path / "bench-sandbox-test").exists()


def test_the_private_cache_shows_data_but_not_what_models_left(tmp_path: Path) -> None:
    order = build_order("uniform", tmp_path)
    shared = Path(order.cache_dir)
    for folder in ("fashion/deep", "collect", "score"):
        (shared / folder).mkdir(parents=True)
    (shared / "single").write_text("1")
    (shared / "fashion" / "images").write_text("2")
    (shared / "collect" / "left").write_text("3")
    private = sandbox.make_private_cache(order)
    assert sorted(p.relative_to(private).as_posix() for p in private.rglob("*")) == [
        "collect", "fashion", "fashion/deep", "fashion/images", "single",
    ]  # fmt: skip
    assert (private / "fashion" / "images").read_text() == "2"
    (private / "fashion" / "new").write_text("private")
    assert sorted(p.name for p in (shared / "fashion").iterdir()) == ["deep", "images"]
