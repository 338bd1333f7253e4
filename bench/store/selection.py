"""Which of all stored rows count: the final row of a key, and the current row of a place in the tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from bench.planned import Past
from bench.store.reading import rows_of, select
from bench.work import FAILED

Versions = Mapping[str, tuple[int, int]]  # task -> (version, scoring)

CELL = ("model", "task", "dataset", "size", "repeat", "limit", "suite_seed")
COLUMNS = ("record_id", "job_key", "attempt", "status", "scoring", "task_version", "ended_at", *CELL)


class _Row(NamedTuple):
    """What decides about a row, and where it stands in the table (`at`)."""

    at: int
    record_id: str
    job_key: str
    attempt: int
    status: str
    scoring: int
    task_version: int
    ended_at: float
    cell: tuple[Any, ...]

    def order(self, scoring: int | None = None) -> tuple[Any, ...]:
        """Sorts the row that counts last: ok before failed, then by scoring, attempt, time and id.

        A stated `scoring` comes before any other; without an ok row the latest attempt counts.
        """
        ok = self.status == "ok"
        by_scoring = (self.scoring == scoring, self.scoring) if ok else (False, 0)
        return (ok, by_scoring, self.attempt, self.ended_at, self.record_id)


def final_rows(jobs: pa.Table) -> pa.Table:
    """One row per job key, in order of time: its latest ok attempt of the newest scoring, else its latest."""
    rows = [_final(group, None) for group in _grouped(_rows(jobs), lambda row: row.job_key).values()]
    rows.sort(key=lambda row: (row.ended_at, row.record_id))
    return jobs.take(pa.array([row.at for row in rows], pa.int64()))


def choose_current(jobs: pa.Table, uses: pa.Table, versions: Versions | None, size: str | None) -> pa.Table:
    """One row of `jobs` per cell (see `CELL`), of the current versions.

    Of each task only rows of the version in `versions` count (of the newest stored, if it is not named
    there). In a cell the key used last counts: code, parameters and data as the model was last run.
    """
    if size is not None:
        jobs = select(jobs, {"size": size})
    rows = _of_current_versions(_rows(jobs), versions or {})
    used_at = last_use(rows, uses)
    chosen = []
    for cell, group in _grouped(rows, lambda row: row.cell).items():
        by_key = _grouped(group, lambda row: row.job_key)
        key = max(by_key, key=lambda k: (used_at[k], k))
        scoring = versions[cell[1]][1] if versions and cell[1] in versions else None
        chosen.append(_final(by_key[key], scoring))
    return jobs.take(pa.array(sorted(row.at for row in chosen), pa.int64()))


def last_use(rows: Iterable[_Row], uses: pa.Table) -> dict[str, tuple[bool, float]]:
    """When each key was last run, or found to need no run. Cancelled attempts count only if alone."""
    last: dict[str, tuple[bool, float]] = {}
    for row in rows:
        use = (row.status != "cancelled", row.ended_at)
        last[row.job_key] = max(last.get(row.job_key, use), use)
    for key, at in rows_of(uses, ("job_key", "used_at")):
        if key in last:
            last[key] = max(last[key], (True, _seconds(at)))
    return last


def replaced_keys(jobs: pa.Table, uses: pa.Table, keys: Iterable[str]) -> list[str]:
    """Those of `keys` with rows that were replaced in their cell by a key used later."""
    rows = _rows(jobs)
    used_at = last_use(rows, uses)
    newest: dict[tuple[Any, ...], str] = {}
    for row in rows:
        place = (*row.cell, row.task_version)
        best = newest.setdefault(place, row.job_key)
        newest[place] = max(best, row.job_key, key=lambda k: (used_at[k], k))
    current = set(newest.values())
    return [key for key in dict.fromkeys(keys) if key in used_at and key not in current]


def metrics_of(current: pa.Table, metrics: pa.Table) -> pa.Table:
    """The rows of `metrics` that belong to exactly the attempts in `current`."""
    return metrics.filter(pc.is_in(attempt_ids(metrics), value_set=attempt_ids(current)))


def attempt_ids(table: pa.Table) -> pa.ChunkedArray:
    """A text per row that is the same in `jobs` and `metrics` for one attempt of one run."""
    texts = [table[name].cast(pa.string()) for name in ("job_key", "run_id", "attempt")]
    return pc.binary_join_element_wise(*texts, ".")


def history(jobs: pa.Table) -> list[Past]:
    """What a plan needs to know of earlier runs: the final row of each key, oldest first."""
    attempts: dict[str, int] = {}
    failed: dict[str, tuple[int, str]] = {}
    columns = ("job_key", "attempt", "scoring", "status")
    for key, attempt, scoring, status in sorted(rows_of(jobs, columns), key=lambda row: row[1]):
        attempts[key] = attempt
        if status in FAILED and status != "lost":
            failed[key] = (scoring or 0, status)
    rows = final_rows(jobs).select(list(HISTORY_COLUMNS)).to_pylist()
    return [_past(row, attempts[row["job_key"]], failed.get(row["job_key"], (0, ""))) for row in rows]


def _past(row: Mapping[str, Any], attempts: int, failure: tuple[int, str]) -> Past:
    """`failure`: scoring and status of the latest failed attempt of the key."""
    scoring, status = failure
    if row["status"] != "ok" or scoring <= (row["scoring"] or 0):
        scoring, status = 0, ""  # it is the row itself, or was followed by a better one
    texts: dict[str, Any] = {name: row[name] or "" for name in _PAST_TEXTS}
    return Past(
        key=row["job_key"],
        attempts=attempts,
        task_version=row["task_version"] or 0,
        scoring=row["scoring"] or 0,
        repeat=row["repeat"] or 0,
        duration_s=row["duration_s"] or 0.0,
        failed_scoring=scoring,
        failed_status=status,
        **texts,
    )


_PAST_TEXTS = (
    "task", "model", "model_source_sha256", "dataset", "dataset_sha256",
    "size", "status", "artifact_sha256", "error_message",
)  # fmt: skip
HISTORY_COLUMNS = tuple(dict.fromkeys((*COLUMNS, *_PAST_TEXTS, "duration_s")))


def _rows(jobs: pa.Table) -> list[_Row]:
    cells = rows_of(jobs, CELL)
    fields = rows_of(
        jobs, ("record_id", "job_key", "attempt", "status", "scoring", "task_version", "ended_at")
    )
    return [
        _Row(index, rid, key, attempt, status, scoring or 0, version or 0, _seconds(ended), cell)
        for index, ((rid, key, attempt, status, scoring, version, ended), cell) in enumerate(
            zip(fields, cells, strict=True)
        )
    ]


def _of_current_versions(rows: list[_Row], versions: Versions) -> list[_Row]:
    newest: dict[str, int] = {}
    for row in rows:
        newest[row.cell[1]] = max(newest.get(row.cell[1], 0), row.task_version)
    newest.update({task: version for task, (version, _) in versions.items()})
    return [row for row in rows if row.task_version == newest[row.cell[1]]]


def _final(rows: list[_Row], scoring: int | None) -> _Row:
    return max(rows, key=lambda row: row.order(scoring))


def _grouped(rows: Iterable[_Row], key: Any) -> dict[Any, list[_Row]]:
    groups: dict[Any, list[_Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return groups


def _seconds(moment: datetime | None) -> float:
    return moment.timestamp() if moment is not None else 0.0
