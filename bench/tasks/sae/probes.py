"""k-sparse probing of labelled texts: how well classes follow from one latent, from 16, from all dimensions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bench.datasets.sae.labelled import ProbeSet
from bench.metrics.sae.probing import probe_auc
from bench.spec import Measure
from bench.tasks.sae.artifact import Coded
from bench.tasks.sae.lm_unit import LmUnit

KS = (1, 16)
_FEW = "no set has 20 texts of either class on both sides"


def probe_measures(plan: LmUnit, coded: Coded) -> tuple[dict[str, Measure], dict[str, dict[str, Measure]]]:
    """Mean areas under the curve over the sets; as facets those of pooling by maximum and of each set."""
    at = len(plan.rows)
    by_set: dict[str, dict[str, float | None]] = {}
    by_maximum: dict[str, list[float | None]] = {f"probe_k{k}": [] for k in KS}
    for probed in plan.probes:
        codes = coded.codes[at : at + len(probed.hidden)]
        at += len(probed.hidden)
        scale = _mean_active(codes)
        found = {f"probe_k{k}": _area(pooled(codes, probed), probed, k, scale) for k in KS}
        found["probe_dense"] = _dense(plan, probed)
        by_set[probed.name] = found
        for k in KS:
            by_maximum[f"probe_k{k}"].append(_area(highest(codes, probed), probed, k, scale))
    names = [*by_maximum, "probe_dense"]
    headline = {name: _mean([found[name] for found in by_set.values()]) for name in names}
    facets = {"pooling=max": {name: _mean(values) for name, values in by_maximum.items()}}
    facets |= {
        f"texts={_short(name)}": {k: _mean([v]) for k, v in found.items()} for name, found in by_set.items()
    }
    return headline, facets


def pooled(codes: Any, probed: ProbeSet) -> npt.NDArray[np.float64]:
    """Mean code of the tokens of each text, (texts, m)."""
    counts = np.diff(probed.starts)
    weights = np.repeat(1.0 / counts, counts)
    average = sparse.csr_matrix(
        (weights, np.arange(len(weights)), probed.starts), shape=(len(counts), len(weights))
    )
    return np.asarray((average @ codes).todense(), dtype=np.float64)


def highest(codes: Any, probed: ProbeSet) -> npt.NDArray[np.float64]:
    """Largest code of each latent over the tokens of each text."""
    pairs = list(pairwise(probed.starts))
    parts = [codes[a:b].max(axis=0).toarray()[0] for a, b in pairs]
    return np.array(parts, dtype=np.float64)


def _mean_active(codes: Any) -> npt.NDArray[np.float64]:
    columns = np.abs(codes).tocsc()
    counts = np.diff(columns.indptr)
    sums = np.asarray(columns.sum(axis=0), dtype=np.float64).ravel()
    return np.asarray(sums / np.maximum(counts, 1))


def _area(
    rows: npt.NDArray[np.float64], probed: ProbeSet, k: int | None, scale: npt.NDArray[np.float64] | None
) -> float | None:
    n = probed.n_train
    return probe_auc(
        train=rows[:n],
        train_labels=probed.labels[:n],
        test=rows[n:],
        test_labels=probed.labels[n:],
        k=k,
        scale=scale,
    )


def _dense(plan: LmUnit, probed: ProbeSet) -> float | None:
    """All dimensions of the mean activation: the same for every coder."""

    def compute() -> npt.NDArray[np.float64]:
        counts = np.diff(probed.starts)
        sums = np.add.reduceat(probed.hidden.astype(np.float64), probed.starts[:-1], axis=0)
        area = _area(sums / counts[:, None], probed, None, None)
        return np.array([np.nan if area is None else area])

    key = f"dense|{probed.name}|{len(probed.labels)}|{len(probed.hidden)}"
    value = float(plan.kept(key, compute)[0])
    return None if np.isnan(value) else value


def _mean(values: list[float | None]) -> Measure:
    known = [v for v in values if v is not None]
    if not known:
        return Measure(value=None, reason=_FEW)
    if len(known) < 2:
        return Measure(value=known[0], n=1, reason="no interval: one set of texts")
    reach = 1.959964 * float(np.std(known, ddof=1)) / len(known) ** 0.5
    mean = float(np.mean(known))
    method = "normal, over the sets of texts"
    return Measure(value=mean, ci_low=mean - reach, ci_high=mean + reach, ci_method=method, n=len(known))


def _short(name: str) -> str:
    return name.partition("_")[2]
