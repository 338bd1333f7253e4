"""Rates over the molecules requested, and how a set of windows stands against reference drugs of the same size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.metrics.selectbench.windows import TENFOLD

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
THRESHOLDS: Floats = np.round(np.arange(0.0, 4.05, 0.1), 1)  # kcal/mol, of the success curve
CURVE_END = 2 * TENFOLD  # the mean of the curve is taken up to a hundredfold
_Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimate:
    """A value and its 95 % interval, None where there is none; `n` is what it rests on."""

    value: float
    low: float | None
    high: float | None
    n: int
    method: str
    resampled: Floats | None = None  # values of bootstrap samples


def share(successes: npt.ArrayLike, *, requested: int) -> Estimate:
    """Share of the molecules requested for which `successes` is true, with Wilson's interval.

    Missing molecules are failures. Wilson's interval in place of a bootstrap, which is [0, 0] for none of six.
    Raises `ValueError` for more successes than requests.
    """
    count = int(np.count_nonzero(np.asarray(successes, dtype=bool)))
    low, high = wilson(count, requested)
    return Estimate(value=count / requested, low=low, high=high, n=requested, method="wilson")


def wilson(successes: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share.

    >>> [round(x, 4) for x in wilson(8, 10)]
    [0.4902, 0.9433]
    """
    if not 0 <= successes <= n or n == 0:
        raise ValueError(f"{successes} successes in {n} trials")
    p, z2 = successes / n, _Z95**2
    middle = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z95 * float(np.sqrt(p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n)
    return max(0.0, middle - half), min(1.0, middle + half)


def success_curve(*, windows: npt.ArrayLike, eligible: npt.ArrayLike, requested: int) -> Floats:
    """Share of the molecules requested that are eligible and whose window reaches each of `THRESHOLDS`; (41,)."""
    w, ok = np.asarray(windows, dtype=np.float64), np.asarray(eligible, dtype=bool)
    reached = (w[:, None] >= THRESHOLDS[None, :] - 1e-9) & ok[:, None]
    return reached.sum(axis=0) / requested  # type: ignore[no-any-return]


def curve_mean(curve: npt.ArrayLike) -> float:
    """Mean of a success curve over windows of 0 to 2.73 kcal/mol; in [0, 1], high is good."""
    y = np.asarray(curve, dtype=np.float64)
    end = float(np.interp(CURVE_END, THRESHOLDS, y))
    inside = THRESHOLDS <= CURVE_END
    x, y = np.append(THRESHOLDS[inside], CURVE_END), np.append(y[inside], end)
    return float(np.trapezoid(y, x) / CURVE_END)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Windows of a set against those of reference drugs matched in size on the same receptors."""

    gain: Estimate  # kcal/mol, difference of medians; high is good
    auc: Estimate  # probability of a higher window than a matched drug's; 0.5 is no better than a drug


def standing(
    *,
    windows: npt.ArrayLike,
    reference_windows: npt.ArrayLike,
    matched: npt.NDArray[np.int64],
    resamples: int = 1_000,
    seed: int = 0,
) -> Standing:
    """Compare windows (n,) with those of their matched reference molecules.

    `matched` (n, k) are indices into `reference_windows` (L,), -1 for none. Molecules and reference molecules
    without a window are left out. Intervals: percentile bootstrap over molecules and over reference
    molecules, as both are samples; none with one molecule. Raises `ValueError` if nothing is left.
    """
    w, reference = np.asarray(windows, dtype=np.float64), np.asarray(reference_windows, dtype=np.float64)
    table = np.where(matched >= 0, reference[matched], np.nan)
    good = np.isfinite(w) & np.isfinite(table).any(axis=1)
    w, table = w[good], table[good]
    if len(w) == 0:
        raise ValueError("no molecule has a window and matched reference molecules")
    known = np.isfinite(table)
    gain, auc = _compare(w, table, known.astype(np.int64))
    rng = np.random.default_rng(seed)
    samples = np.full((resamples, 2), np.nan)
    for sample in samples:
        drugs = np.bincount(rng.integers(0, len(reference), len(reference)), minlength=len(reference))
        rows = rng.integers(0, len(w), len(w))
        weights = np.where(known, drugs[matched[good]], 0)[rows]
        if weights.any():
            sample[:] = _compare(w[rows], table[rows], weights)
    samples = samples[np.isfinite(samples).all(axis=1)]
    return Standing(
        gain=_bootstrapped(gain, samples[:, 0], len(w)), auc=_bootstrapped(auc, samples[:, 1], len(w))
    )


def _compare(windows: Floats, table: Floats, weights: npt.NDArray[np.int64]) -> tuple[float, float]:
    """(difference of medians, probability of a higher window), each matched drug counted `weights` times."""
    gain = np.median(windows) - np.median(np.repeat(table.ravel(), weights.ravel()))
    higher = (table < windows[:, None]) + 0.5 * (table == windows[:, None])
    total = weights.sum(axis=1)
    matched = total > 0  # a molecule may have lost all its drugs in a resample
    wins = (higher * weights).sum(axis=1)[matched] / total[matched]
    return float(gain), float(wins.mean())


def median(values: npt.ArrayLike, *, resamples: int = 1_000, seed: int = 0) -> Estimate:
    """Median of the values that are there; `ValueError` if there are none."""
    return _summary(values, np.median, resamples, seed)


def mean(values: npt.ArrayLike, *, resamples: int = 1_000, seed: int = 0) -> Estimate:
    """Mean of the values that are there; `ValueError` if there are none."""
    return _summary(values, np.mean, resamples, seed)


def _summary(values: npt.ArrayLike, statistic: object, resamples: int, seed: int) -> Estimate:
    x = np.asarray(values, dtype=np.float64)
    x = x[np.isfinite(x)]
    if len(x) == 0:
        raise ValueError("there are no values")
    picks = np.random.default_rng(seed).integers(0, len(x), (resamples, len(x)))
    return _bootstrapped(float(statistic(x)), statistic(x[picks], axis=1), len(x))  # type: ignore[operator]


def _bootstrapped(value: float, resampled: Floats, n: int) -> Estimate:
    if n < 2:
        return Estimate(value=value, low=None, high=None, n=n, method="")
    low, high = (float(bound) for bound in np.quantile(resampled, [0.025, 0.975]))
    return Estimate(value=value, low=low, high=high, n=n, method="bootstrap", resampled=resampled)


def combined(estimates: Sequence[Estimate]) -> Estimate:
    """The plain mean of estimates from several assignments of one size.

    Shares are pooled; of bootstrapped values the means of the bootstrap samples give the interval, so the estimates
    must come from different seeds. `ValueError` if there are none.
    """
    if not estimates:
        raise ValueError("there is nothing to combine")
    if len(estimates) == 1:
        return estimates[0]
    value, n = float(np.mean([e.value for e in estimates])), sum(e.n for e in estimates)
    if all(e.method == "wilson" for e in estimates):
        low, high = wilson(sum(round(e.value * e.n) for e in estimates), n)
        return Estimate(value=value, low=low, high=high, n=n, method="wilson")
    samples = [e.resampled for e in estimates if e.resampled is not None]
    if len(samples) < len(estimates):
        return Estimate(value=value, low=None, high=None, n=n, method="")
    shortest = min(map(len, samples))
    return _bootstrapped(value, np.mean([s[:shortest] for s in samples], axis=0), n)
