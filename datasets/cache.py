"""Files that do not travel with the bench: found, unpacked or downloaded, and always verified.

Order of search: an explicit folder, the mirror folder (environment variable BENCH_MIRROR), the cache
(BENCH_CACHE, or the platform's cache folder), folders of system packages, and last the URL, which is
asked only with `--allow-download` (BENCH_ALLOW_DOWNLOAD=1). Whatever is written goes to a temporary name
first, so that a half-written file is never taken for a whole one.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import secrets
import sys
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import IO

from bench.errors import MissingRequirement

_BLOCK = 1 << 20
_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteFile:
    """A file with known content. Copies named `name` or `name`.gz are accepted in any folder searched.

    `sha256` and `size` are those of the uncompressed content, because packagers recompress. Where they are
    not known (""), what is found first is recorded in the cache, in `name`.sha256, and nothing else is
    accepted from then on; `size` is then the most that will be downloaded.
    """

    name: str
    group: str  # folder of the file in the mirror and in the cache, e.g. "fashion"
    url: str  # a name ending in ".gz" is unpacked
    sha256: str
    size: int
    remedy: str = ""  # another way to get it, e.g. "apt install dataset-fashion-mnist"


def cache_folder() -> Path:
    """BENCH_CACHE, or `generative-bench` in the platform's cache folder."""
    if chosen := os.environ.get("BENCH_CACHE"):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "generative-bench"


def download_allowed() -> bool:
    """Whether BENCH_ALLOW_DOWNLOAD says yes; the default is no."""
    return os.environ.get("BENCH_ALLOW_DOWNLOAD", "").lower() in {"1", "true", "yes"}


def locate(file: RemoteFile, *, explicit: Path | None = None, system: Iterable[Path] = ()) -> str | None:
    """None if `fetch` has somewhere to take the file from (looks at names only), else reason and remedy."""
    if download_allowed() or any(True for _ in _copies(file, explicit, system)):
        return None
    return _absence(file, explicit, system)


def is_near(file: RemoteFile, *, explicit: Path | None = None, system: Iterable[Path] = ()) -> bool:
    """Whether there is a copy, right or wrong, in one of the folders searched."""
    return any(True for _ in _copies(file, explicit, system))


def keep(file: RemoteFile, content: bytes, *, source: str) -> Path:
    """Put uncompressed `content`, which came from `source`, into the cache once it is verified."""
    return _store(
        file, lambda out: _copy(io.BytesIO(content), out, limit=file.size, source=source), source=source
    )


def fetch(file: RemoteFile, *, explicit: Path | None = None, system: Iterable[Path] = ()) -> Path:
    """Path of an uncompressed copy whose size and SHA-256 are right.

    A wrong copy in a folder the user controls is an error that names it, never silently passed over; a
    wrong copy in the cache is replaced. `MissingRequirement` if there is no copy or it cannot be had.
    """
    system = tuple(system)
    for path in _copies(file, explicit, system):
        if path.suffix == ".gz":
            return _unpacked(path, file)
        fault = _fault(path, file)
        if fault is None:
            return path
        if path.parent != _cached(file).parent:
            raise MissingRequirement(f"{path}: {fault}; replace or remove it")
    if not download_allowed():
        raise MissingRequirement(_absence(file, explicit, system))
    return _downloaded(file)


def _unpacked(path: Path, file: RemoteFile) -> Path:
    """An unpacked copy of the gzip file `path` in the cache; one that is already there is as good."""
    cached = _cached(file)
    if cached.is_file() and _fault(cached, file) is None:
        return cached
    return _store(file, lambda out: _gunzip(path, out, file), source=str(path))


def _downloaded(file: RemoteFile) -> Path:
    if not file.sha256 and not _is_safe(file.url):
        raise MissingRequirement(f"will not download {file.url!r}: content not known beforehand needs https")
    if not file.url.endswith(".gz"):
        return _store(file, lambda out: _download(file.url, out, file.size), source=file.url)
    with _temporary(_cached(file)) as packed:
        with packed.open("wb") as out:
            _download(file.url, out, 2 * file.size + _BLOCK)
        return _store(file, lambda out: _gunzip(packed, out, file), source=file.url)


def _is_safe(url: str) -> bool:
    """Whether nobody on the way can have changed what comes from `url`."""
    parts = urllib.parse.urlsplit(url)
    return parts.scheme == "https" or parts.hostname in ("127.0.0.1", "localhost", "::1")


def _cached(file: RemoteFile) -> Path:
    return cache_folder() / file.group / file.name


def _folders(file: RemoteFile, explicit: Path | None, system: Iterable[Path]) -> Iterator[Path]:
    if explicit is not None:
        yield explicit
    if mirror := os.environ.get("BENCH_MIRROR"):
        yield Path(mirror).expanduser() / file.group
        yield Path(mirror).expanduser()
    yield _cached(file).parent
    yield from system


def _copies(file: RemoteFile, explicit: Path | None, system: Iterable[Path]) -> Iterator[Path]:
    for folder in _folders(file, explicit, system):
        for path in (folder / file.name, folder / f"{file.name}.gz"):
            if path.is_file():
                yield path


def _absence(file: RemoteFile, explicit: Path | None, system: Iterable[Path]) -> str:
    looked = ", ".join(str(folder) for folder in _folders(file, explicit, system))
    ways = [file.remedy] if file.remedy else []
    ways.append("put it into a folder named by BENCH_MIRROR")
    ways.append(f"allow the download of {file.url} (--allow-download or BENCH_ALLOW_DOWNLOAD=1)")
    return f"no file {file.name} in {looked}; remedy: {'; or '.join(ways)}"


def _fault(path: Path, file: RemoteFile) -> str | None:
    """What is wrong with the content of `path`, or None."""
    size = path.stat().st_size
    if file.sha256 and size != file.size:
        return f"has {size:,} bytes, expected {file.size:,}"
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    expected = file.sha256 or _recorded(file, digest.hexdigest())
    if digest.hexdigest() != expected:
        return f"has SHA-256 {digest.hexdigest()}, expected {expected}"
    return None


def _recorded(file: RemoteFile, found: str) -> str:
    """The SHA-256 seen when a file without known content was first used; `found` if that is now."""
    record = _cached(file).with_name(f"{file.name}.sha256")
    try:
        return record.read_text().strip()
    except FileNotFoundError:
        with _temporary(record) as part:
            part.write_text(f"{found}\n")
            part.replace(record)
        return found


def _store(file: RemoteFile, write: Callable[[IO[bytes]], None], *, source: str) -> Path:
    """Let `write` fill a temporary file, verify it and move it into the cache."""
    target = _cached(file)
    with _temporary(target) as part:
        with part.open("wb") as out:
            write(out)
        fault = _fault(part, file)
        if fault:
            raise MissingRequirement(f"{source}: the content {fault}; the copy is damaged or another version")
        part.replace(target)
    return target


@contextmanager
def _temporary(target: Path) -> Iterator[Path]:
    """A private name beside `target`, gone afterwards unless it was moved."""
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        part.touch(exist_ok=False)
    except OSError as error:
        raise MissingRequirement(
            f"cannot write to the cache folder {target.parent} ({error.strerror}); "
            "name a writable one in BENCH_CACHE"
        ) from error
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def _gunzip(path: Path, out: IO[bytes], file: RemoteFile) -> None:
    try:
        with gzip.open(path, "rb") as stream:
            _copy(stream, out, limit=file.size, source=str(path))
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise MissingRequirement(f"{path}: not a complete gzip file ({error}); replace it") from error


def _download(url: str, out: IO[bytes], limit: int) -> None:
    if not url.startswith(("http://", "https://")):
        raise MissingRequirement(f"will not download {url!r}: only http and https addresses are used")
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as response:
            _copy(response, out, limit=limit, source=url)
    except (OSError, HTTPException) as error:
        raise MissingRequirement(
            f"download of {url} failed ({error}); put the file into a folder named by BENCH_MIRROR instead"
        ) from error


def _copy(stream: IO[bytes] | gzip.GzipFile, out: IO[bytes], *, limit: int, source: str) -> None:
    """Copy at most `limit` bytes: neither a gzip bomb nor a wrong address may fill the disk."""
    done = 0
    while block := stream.read(_BLOCK):
        done += len(block)
        if done > limit:
            raise MissingRequirement(f"{source}: holds more than the expected {limit:,} bytes; not used")
        out.write(block)
