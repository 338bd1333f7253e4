"""Finding, unpacking, downloading and verifying files, against a real local HTTP server."""

import gzip
import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from bench.datasets import cache
from bench.errors import MissingRequirement

CONTENT = bytes(range(256)) * 40
WRONG = CONTENT[::-1]


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: dict[str, bytes] = {}
        self.announced: dict[str, int] = {}
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        body = self.server.bodies.get(self.path)
        if body is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(self.server.announced.get(self.path, len(body))))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        return


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    thread = threading.Thread(target=running.serve_forever, daemon=True)
    thread.start()
    yield running
    running.shutdown()
    running.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BENCH_ALLOW_DOWNLOAD", "1")
    monkeypatch.delenv("BENCH_MIRROR", raising=False)


def wanted(url: str) -> cache.RemoteFile:
    return cache.RemoteFile(
        name="thing.bin",
        group="things",
        url=url,
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
        remedy="apt install things",
    )


def leftovers(folder: Path) -> list[str]:
    return [p.name for p in folder.rglob("*") if p.is_file() and p.name != "thing.bin"]


def test_download_is_stored_and_asked_for_only_once(server: Server, tmp_path: Path) -> None:
    server.bodies["/thing.bin"] = CONTENT
    file = wanted(f"{server.url}/thing.bin")
    first = cache.fetch(file)
    assert first == tmp_path / "cache" / "things" / "thing.bin"
    assert first.read_bytes() == CONTENT
    assert cache.fetch(file) == first
    assert server.asked == ["/thing.bin"]
    assert leftovers(tmp_path) == []


def test_gzipped_download_is_unpacked(server: Server, tmp_path: Path) -> None:
    server.bodies["/thing.bin.gz"] = gzip.compress(CONTENT)
    assert cache.fetch(wanted(f"{server.url}/thing.bin.gz")).read_bytes() == CONTENT
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        ("/thing.bin", WRONG, "SHA-256"),
        ("/thing.bin", CONTENT[:-1], "10,239 bytes, expected 10,240"),
        ("/thing.bin", CONTENT + b"x", "more than the expected 10,240 bytes"),
        ("/thing.bin.gz", gzip.compress(WRONG), "SHA-256"),
        ("/thing.bin.gz", gzip.compress(CONTENT)[:-20], "not a complete gzip file"),
        ("/thing.bin.gz", b"<html>not here</html>", "not a complete gzip file"),
        ("/thing.bin.gz", gzip.compress(CONTENT + bytes(10**6)), "more than the expected 10,240 bytes"),
    ],
)
def test_wrong_download_is_refused_and_leaves_nothing(
    server: Server, tmp_path: Path, path: str, body: bytes, message: str
) -> None:
    server.bodies[path] = body
    with pytest.raises(MissingRequirement, match=message):
        cache.fetch(wanted(server.url + path))
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_connection_cut_in_the_middle_is_refused(server: Server, tmp_path: Path) -> None:
    server.bodies["/thing.bin"] = CONTENT[:5000]
    server.announced["/thing.bin"] = len(CONTENT)
    with pytest.raises(MissingRequirement, match=r"5,000 bytes|IncompleteRead"):
        cache.fetch(wanted(f"{server.url}/thing.bin"))
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []


def test_missing_address_names_address_and_mirror(server: Server) -> None:
    with pytest.raises(MissingRequirement, match=r"/thing\.bin failed \(HTTP Error 404.*BENCH_MIRROR"):
        cache.fetch(wanted(f"{server.url}/thing.bin"))


def test_local_addresses_are_not_downloads(tmp_path: Path) -> None:
    (tmp_path / "thing.bin").write_bytes(CONTENT)
    with pytest.raises(MissingRequirement, match="only http and https"):
        cache.fetch(wanted((tmp_path / "thing.bin").as_uri()))


def test_nothing_is_downloaded_unasked(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.bodies["/thing.bin"] = CONTENT
    monkeypatch.delenv("BENCH_ALLOW_DOWNLOAD")
    file = wanted(f"{server.url}/thing.bin")
    with pytest.raises(MissingRequirement) as caught:
        cache.fetch(file)
    assert str(caught.value) == cache.locate(file)
    for part in ("thing.bin", "apt install things", "BENCH_MIRROR", file.url, "--allow-download"):
        assert part in str(caught.value)
    assert server.asked == []


@pytest.mark.parametrize("subfolder", ["", "things"])
@pytest.mark.parametrize("packed", [False, True])
def test_mirror_serves_without_network(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subfolder: str, packed: bool
) -> None:
    folder = tmp_path / "mirror" / subfolder
    folder.mkdir(parents=True)
    if packed:
        (folder / "thing.bin.gz").write_bytes(gzip.compress(CONTENT))
    else:
        (folder / "thing.bin").write_bytes(CONTENT)
    monkeypatch.setenv("BENCH_MIRROR", str(tmp_path / "mirror"))
    file = wanted(f"{server.url}/thing.bin")
    assert cache.locate(file) is None
    assert cache.fetch(file).read_bytes() == CONTENT
    assert cache.fetch(file).read_bytes() == CONTENT
    assert server.asked == []


def test_wrong_file_in_the_mirror_is_named_not_passed_over(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.bodies["/thing.bin"] = CONTENT
    (tmp_path / "thing.bin").write_bytes(WRONG)
    monkeypatch.setenv("BENCH_MIRROR", str(tmp_path))
    with pytest.raises(MissingRequirement, match=r"thing\.bin: has SHA-256"):
        cache.fetch(wanted(f"{server.url}/thing.bin"))


def test_explicit_folder_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("mine", "mirror"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "thing.bin").write_bytes(CONTENT)
    monkeypatch.setenv("BENCH_MIRROR", str(tmp_path / "mirror"))
    file = wanted("http://127.0.0.1:9/thing.bin")
    assert cache.fetch(file, explicit=tmp_path / "mine") == tmp_path / "mine" / "thing.bin"
    assert cache.fetch(file) == tmp_path / "mirror" / "thing.bin"


def test_damaged_cache_is_replaced(server: Server, tmp_path: Path) -> None:
    server.bodies["/thing.bin"] = CONTENT
    damaged = tmp_path / "cache" / "things" / "thing.bin"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(WRONG)
    assert cache.fetch(wanted(f"{server.url}/thing.bin")) == damaged
    assert damaged.read_bytes() == CONTENT


def test_damaged_cache_is_replaced_from_a_packed_copy(tmp_path: Path) -> None:
    damaged = tmp_path / "cache" / "things" / "thing.bin"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(WRONG)
    (tmp_path / "system").mkdir()
    (tmp_path / "system" / "thing.bin.gz").write_bytes(gzip.compress(CONTENT))
    file = wanted("http://127.0.0.1:9/thing.bin")
    assert cache.fetch(file, system=[tmp_path / "system"]).read_bytes() == CONTENT


def test_unusable_cache_folder_says_which_variable_to_set(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.bodies["/thing.bin"] = CONTENT
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "file"))
    with pytest.raises(MissingRequirement, match="BENCH_CACHE"):
        cache.fetch(wanted(f"{server.url}/thing.bin"))


def unpinned(url: str) -> cache.RemoteFile:
    return cache.RemoteFile(name="data.bin", group="g", url=url, sha256="", size=20_000)


def test_unknown_content_is_recorded_on_first_use_and_enforced_later(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_ALLOW_DOWNLOAD", "1")
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    server.bodies["/data.bin"] = CONTENT
    path = cache.fetch(unpinned(f"{server.url}/data.bin"))
    assert path.read_bytes() == CONTENT
    assert (path.parent / "data.bin.sha256").read_text().strip() == hashlib.sha256(CONTENT).hexdigest()
    path.unlink()
    server.bodies["/data.bin"] = WRONG
    with pytest.raises(MissingRequirement, match="expected"):
        cache.fetch(unpinned(f"{server.url}/data.bin"))
    server.bodies["/data.bin"] = CONTENT
    assert cache.fetch(unpinned(f"{server.url}/data.bin")).read_bytes() == CONTENT


def test_unknown_content_has_a_limit_and_needs_https(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_ALLOW_DOWNLOAD", "1")
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    server.bodies["/data.bin"] = bytes(20_001)
    with pytest.raises(MissingRequirement, match="more than the expected 20,000 bytes"):
        cache.fetch(unpinned(f"{server.url}/data.bin"))
    with pytest.raises(MissingRequirement, match="needs https"):
        cache.fetch(unpinned("http://example.invalid/data.bin"))


def test_content_from_elsewhere_is_verified_before_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    digest = hashlib.sha256(CONTENT).hexdigest()
    file = cache.RemoteFile(name="data.bin", group="g", url="", sha256=digest, size=len(CONTENT))
    with pytest.raises(MissingRequirement, match="archive: the content has SHA-256"):
        cache.keep(file, WRONG, source="archive")
    assert not cache.is_near(file)
    assert cache.keep(file, CONTENT, source="archive").read_bytes() == CONTENT
    assert cache.is_near(file)
