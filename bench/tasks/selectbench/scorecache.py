"""Scores that were computed once: a SQLite file for the user's own, a Parquet file for what ships."""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from bench.datasets.selectbench.receptors import Receptor
from bench.errors import UsageError
from bench.spec import canonical_json
from bench.tasks.selectbench.engines.base import Score
from bench.tasks.selectbench.protonate import RULES_VERSION
from bench.tasks.selectbench.settings import DockSettings

PREPARATION = 1  # raise it with any change of conformers.py that could change a start conformer
_WAIT_S = 60.0
_COLUMNS = ("key", "target", "smiles", "inchikey", "role", "engine", "value", "conformers", "cpu_s", "flags",
            "error", "fault")  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One molecule on one target under one protocol: what a score belongs to."""

    smiles: str
    inchikey: str
    receptor: Receptor
    settings: DockSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineId:
    """An engine and the versions of what its scores depend on."""

    name: str
    version: str

    @property
    def text(self) -> str:
        """The engine and the libraries that prepare ligands, with versions."""
        return f"{self.name} {self.version}, rdkit {_version('rdkit')}, meeko {_version('meeko')}"


@lru_cache(maxsize=8)
def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def score_key(pair: Pair, engine: EngineId) -> str:
    """SHA-256 (hex) over everything that the score depends on."""
    receptor = pair.receptor
    content = {
        "engine": engine.text,
        "receptor": receptor.sha256,
        "box": [*receptor.center, *receptor.size],
        "inchikey": pair.inchikey,
        "smiles": pair.smiles,
        "protonation": RULES_VERSION,
        "preparation": PREPARATION,
        "settings": pair.settings.as_key(),
    }
    return hashlib.sha256(canonical_json(content).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedScore:
    """A row: the score and, for people who read the file, what it is of."""

    key: str
    target: str
    smiles: str
    inchikey: str
    role: str
    engine: str
    score: Score


def row_of(pair: Pair, engine: EngineId, score: Score) -> CachedScore:
    """The row under which `score` is kept."""
    return CachedScore(
        key=score_key(pair, engine),
        target=pair.receptor.target,
        smiles=pair.smiles,
        inchikey=pair.inchikey,
        role=pair.settings.role,
        engine=engine.text,
        score=score,
    )


class ScoreCache:
    """Finished scores in a SQLite file that several processes may use at once.

    A score is there for good once `put` has returned, so a killed run loses the pair it was at and no other.
    Faults of the engine are never kept: they are tried again. `shipped` are read-only Parquet files looked at
    first.
    """

    def __init__(self, path: Path, *, shipped: Iterable[Path] = ()) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, timeout=_WAIT_S, isolation_level=None)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute("CREATE TABLE IF NOT EXISTS scores (key TEXT PRIMARY KEY, row TEXT NOT NULL)")
        self._shipped: dict[str, Score] = {}
        for file in shipped:
            self._shipped |= _shipped_scores(file)

    def get(self, key: str) -> Score | None:
        """The score kept under `key`."""
        if key in self._shipped:
            return self._shipped[key]
        row = self._db.execute("SELECT row FROM scores WHERE key = ?", (key,)).fetchone()
        return _score(json.loads(row[0])) if row else None

    def put(self, row: CachedScore) -> None:
        """Keep a score; one that is there already stays."""
        if row.score.fault != "engine":
            self._db.execute(
                "INSERT OR IGNORE INTO scores VALUES (?, ?)",
                (row.key, json.dumps(_flat(row), allow_nan=False)),
            )

    def rows(self) -> Iterator[CachedScore]:
        """The user's own rows, ordered by key."""
        for (text,) in self._db.execute("SELECT row FROM scores ORDER BY key"):
            yield _row(json.loads(text))

    def export(self, path: Path) -> int:
        """Write the user's own rows as Parquet; returns how many."""
        return write_rows(path, self.rows())

    def take_in(self, path: Path) -> int:
        """Add the rows of a Parquet file written by `export`; returns how many were new."""
        before = self._count()
        for row in read_rows(path):
            self.put(row)
        return self._count() - before

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _count(self) -> int:
        return int(self._db.execute("SELECT COUNT(*) FROM scores").fetchone()[0])


def open_cache(folder: Path, *, shipped: Iterable[Path] = ()) -> contextlib.closing[ScoreCache]:
    """The cache below a job's cache folder, to be used in a `with` statement."""
    return contextlib.closing(ScoreCache(folder / "selectbench" / "scores.sqlite", shipped=shipped))


def write_rows(path: Path, rows: Iterable[CachedScore]) -> int:
    """Write rows as Parquet, ordered by target, molecule and key; returns how many."""
    flat = sorted((_flat(row) for row in rows), key=lambda r: (r["target"], r["smiles"], r["key"]))
    columns = {name: [row[name] for row in flat] for name in _COLUMNS}
    types = {"value": pa.float64(), "cpu_s": pa.float64(), "conformers": pa.list_(pa.float64()),
             "flags": pa.list_(pa.string())}  # fmt: skip
    table = pa.table({n: pa.array(columns[n], types.get(n, pa.string())) for n in _COLUMNS})
    pq.write_table(table, path, compression="zstd", use_dictionary=True)
    return len(flat)


def read_rows(path: Path) -> list[CachedScore]:
    """The rows of a Parquet file; `UsageError` if it is not one written by `write_rows`."""
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise UsageError(f"{path} can't be read as a file of scores: {error}") from None
    missing = [name for name in _COLUMNS if name not in table.column_names]
    if missing:
        raise UsageError(f"{path} is no file of scores: it lacks the column {missing[0]!r}")
    return [_row(row) for row in table.select(_COLUMNS).to_pylist()]


@lru_cache(maxsize=4)
def _shipped_scores(path: Path) -> Mapping[str, Score]:
    return {row.key: row.score for row in read_rows(path)} if path.is_file() else {}


def _flat(row: CachedScore) -> dict[str, object]:
    content = asdict(row.score)
    content.pop("pose")
    names = ("key", "target", "smiles", "inchikey", "role", "engine")
    return {**{name: getattr(row, name) for name in names}, **content}


def _row(flat: Mapping[str, object]) -> CachedScore:
    names = ("key", "target", "smiles", "inchikey", "role", "engine")
    return CachedScore(**{name: str(flat[name]) for name in names}, score=_score(flat))


def _score(flat: Mapping[str, object]) -> Score:
    value = flat["value"]
    return Score(
        value=None if value is None else float(value),  # type: ignore[arg-type]
        conformers=tuple(flat["conformers"]),  # type: ignore[arg-type]
        cpu_s=float(flat["cpu_s"]),  # type: ignore[arg-type]
        flags=tuple(flat["flags"]),  # type: ignore[arg-type]
        error=str(flat["error"]),
        fault=flat["fault"],  # type: ignore[arg-type]
    )
