"""One temperature, fitted on half of the images; and what people reach when half of them predict the other half."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.metrics.alignment.result import Float
from bench.metrics.alignment.uncertainty import clipped, distributions, entropies, entropy_correlation

RANGE = 1.5  # of the logarithm of the temperature


def softmax(logits: npt.ArrayLike, temperature: float = 1.0) -> Float:
    """Rows of probabilities (n, k)."""
    scaled = np.asarray(logits, dtype=np.float64) / temperature
    e = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return np.asarray(e / e.sum(axis=1, keepdims=True))


def fitted_temperature(*, p: Float, logits: npt.ArrayLike) -> float:
    """The temperature in [exp(-1.5), exp(1.5)] of least cross-entropy to `p` (n, k)."""
    from scipy.optimize import minimize_scalar

    scores = np.asarray(logits, dtype=np.float64)

    def loss(t: float) -> float:
        return float(-(p * np.log(clipped(softmax(scores, np.exp(t))))).sum(axis=1).mean())

    found = minimize_scalar(loss, bounds=(-RANGE, RANGE), method="bounded", options={"xatol": 1e-4})
    return float(np.exp(found.x))


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitHalf:
    """Two random halves of the people against each other; means over repeats."""

    js: float
    tv: float
    rho_entropy: float | None
    corrected: float | None  # rho by Spearman-Brown: as of all people against as many others


def split_half(*, counts: npt.ArrayLike, repeats: int = 5, seed: int = 0) -> SplitHalf:
    """Divide the answers of each image at random in half, `repeats` times; `counts` (n, k)."""
    distributions(counts)  # refuses what are no counts
    whole = np.asarray(counts, dtype=np.int64)
    rng = np.random.default_rng(seed)
    js, tv, rho = [], [], []
    for _ in range(repeats):
        first = np.stack([rng.multivariate_hypergeometric(row, int(row.sum()) // 2) for row in whole])
        kept = (first.sum(axis=1) > 0) & ((whole - first).sum(axis=1) > 0)
        p, q = distributions(first[kept]), distributions((whole - first)[kept])
        hp, hq = entropies(p), entropies(q)
        js.append(float((entropies((p + q) / 2) - (hp + hq) / 2).mean()))
        tv.append(float(np.abs(p - q).sum(axis=1).mean() / 2))
        rho.append(entropy_correlation(hp, hq).value)
    found = [r for r in rho if r is not None]
    mean = float(np.mean(found)) if found else None
    return SplitHalf(
        js=float(np.mean(js)),
        tv=float(np.mean(tv)),
        rho_entropy=mean,
        corrected=None if mean is None else 2 * mean / (1 + mean),
    )
