"""Details of a score as small JSON tables: columns, pairs, statements, attacks; never a real row."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.result import Result
from bench.metrics.tabular.table import MISSING, EncodedTable
from bench.spec import Exhibit

Record = dict[str, Any]
MAX_RECORDS = 5_000
BINS, TOP_LEVELS = 16, 12


def write(
    folder: Path, name: str, content: Any, caption: str, kind: Literal["table", "series"] = "table"
) -> Exhibit:
    """Write `content` as `name`.json and return the exhibit."""
    text = json.dumps(_plain(content), allow_nan=False, ensure_ascii=False)
    (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return Exhibit(name=name, kind=kind, file=f"{name}.json", caption=caption)


def records(result: Result) -> list[Record]:
    """The detail of a result, one record per unit."""
    names = list(result.detail)
    columns = [result.detail[name] for name in names]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)][:MAX_RECORDS]


def joined(results: Mapping[str, Result], wanted: Mapping[str, str], key: Sequence[str]) -> list[Record]:
    """Values of several metrics side by side: `wanted` maps a metric to the name of its column here."""
    found: dict[tuple[Any, ...], Record] = {}
    for metric, name in wanted.items():
        if metric not in results:
            continue
        for record in records(results[metric]):
            if "value" in record and all(k in record for k in key):
                where = tuple(record[k] for k in key)
                found.setdefault(where, {k: record[k] for k in key})[name] = record["value"]
    return list(found.values())[:MAX_RECORDS]


def distributions(
    real: EncodedTable, generated: EncodedTable, labels: Mapping[str, Sequence[str]]
) -> list[Record]:
    """Shares of both tables by bin or level of each column, missing last.

    `labels`: names of the levels of coded columns. Numbers are counted in 16 bins of the real range between its
    1 % and 99 % quantiles, the outer ones open.
    """
    found: list[Record] = []
    for j, column in enumerate(real.columns):
        sides = real.values(j), generated.values(j)
        rows = _bins(*sides) if column.is_numeric else _levels(*sides, labels[column.name])
        gaps = float(real.missing(j).mean()), float(generated.missing(j).mean())
        if any(gaps):
            rows.append(("missing", *gaps))
        found += [
            {"column": column.name, "kind": column.kind, "at": at, "real": p, "synthetic": q}
            for at, p, q in rows
        ]
    return found[:MAX_RECORDS]


def _bins(real: npt.NDArray[Any], generated: npt.NDArray[Any]) -> list[tuple[str, float, float]]:
    finite = real[np.isfinite(real)]
    if not len(finite):
        return []
    low, high = np.quantile(finite, (0.01, 0.99))
    edges = np.unique(np.linspace(low, high, BINS + 1))
    inner = edges[1:-1]
    shares = [_shares(values, inner) for values in (real, generated)]
    ends = [low, *inner, high]
    return [
        (f"{(ends[i] + ends[i + 1]) / 2:.6g}", float(shares[0][i]), float(shares[1][i]))
        for i in range(len(inner) + 1)
    ]


def _shares(values: npt.NDArray[Any], inner: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    present = values[~np.isnan(values)]
    places = np.searchsorted(inner, present, side="right")
    return np.asarray(np.bincount(places, minlength=len(inner) + 1) / max(1, len(values)))


def _levels(
    real: npt.NDArray[Any], generated: npt.NDArray[Any], names: Sequence[str]
) -> list[tuple[str, float, float]]:
    counts = [np.bincount(v[v != MISSING], minlength=len(names) + 1) / len(v) for v in (real, generated)]
    order = np.argsort(-counts[0][: len(names)], kind="stable")
    top, rest = order[:TOP_LEVELS], order[TOP_LEVELS:]
    rows = [(names[i], float(counts[0][i]), float(counts[1][i])) for i in top]
    if len(rest):
        rows.append((f"{len(rest)} others", *(float(c[rest].sum()) for c in counts)))  # type: ignore[arg-type]
    if counts[1][len(names)] > 0:
        rows.append(("unseen", 0.0, float(counts[1][len(names)])))
    return rows


def companions(results: Mapping[str, Result]) -> list[Record]:
    """All companion numbers of all metrics."""
    return [
        {"metric": name, "number": facet, "value": value}
        for name, result in results.items()
        for facet, value in result.facets.items()
    ]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return [_plain(v) for v in value.tolist()]
    if isinstance(value, str) or value is None:
        return value
    if isinstance(value, Iterable):
        return [_plain(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return value if isinstance(value, (int, bool)) else str(value)
