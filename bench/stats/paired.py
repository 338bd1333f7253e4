"""Two models on the same units: pairing, paired tests, and corrections for many of them at once.

None of these tests may be repeated while results arrive; for that see `bench.stats.eprocess`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import stdtr, stdtrit

from bench.stats._check import FloatArray, as_floats, count, probability, same_length

Values = Sequence[float] | FloatArray
EXACT_UP_TO = 16
FLIPS = 100_000
_CHUNK_BYTES = 64 * 2**20


class PairingError(ValueError):
    """Some units were measured for one model only; says how many are missing on which side."""

    def __init__(self, missing_a: int, missing_b: int, n_a: int, n_b: int, example: object) -> None:
        self.missing_a, self.missing_b = missing_a, missing_b
        super().__init__(
            f"units are not paired: {missing_a} of the {n_b} units of B are missing in A and {missing_b} of "
            f"the {n_a} units of A are missing in B, for example {example!r}; run what is missing or "
            "compare on the common units explicitly"
        )


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Outcome of a two-sided paired test; `low` and `high` bound the mean difference A - B if the test has them."""

    method: Literal["paired_t", "corrected_t", "sign_flip_exact", "sign_flip_random", "wilcoxon"]
    n: int
    mean: float
    statistic: float
    p_value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class WinRate:
    """How often A is above B; ties count one half."""

    rate: float
    wins: int
    ties: int
    losses: int


def pair(
    keys_a: Sequence[Hashable], a: Values, keys_b: Sequence[Hashable], b: Values
) -> tuple[tuple[Hashable, ...], FloatArray, FloatArray]:
    """Bring the values of B into the order of A by key, usually (task, dataset, repeat, sample_id).

    Returns
    -------
    keys, a, b : equally long, in the order of `keys_a`

    Raises
    ------
    PairingError
        If a key is on one side only.
    ValueError
        If a key occurs twice on one side, or for NaN or infinity.

    Examples
    --------
    >>> keys, a, b = pair(["x", "y"], [1, 2], ["y", "x"], [20, 10])
    >>> b.tolist()
    [10.0, 20.0]
    """
    left, right = as_floats(a, "A"), as_floats(b, "B")
    at_a, at_b = _positions(keys_a, left, "A"), _positions(keys_b, right, "B")
    only_a = [key for key in keys_a if key not in at_b]
    only_b = [key for key in keys_b if key not in at_a]
    if only_a or only_b:
        raise PairingError(len(only_b), len(only_a), left.size, right.size, (only_a or only_b)[0])
    return tuple(keys_a), left, right[[at_b[key] for key in keys_a]]


def paired_t(a: Values, b: Values, *, confidence: float = 0.95) -> PairedTest:
    """Student's t test on the differences d = a - b: t = mean(d) / (s / sqrt(n)), n - 1 degrees of freedom.

    Parameters
    ----------
    a, b : float[n], n >= 2, paired

    Returns
    -------
    PairedTest
        All differences zero: t = 0, p = 1. All differences equal but not zero: t infinite, p = 0, the limit
        of the formula (the data then say nothing about the spread).

    Examples
    --------
    >>> test = paired_t([.71, .74, .70, .78, .73], [.69, .70, .70, .72, .71])
    >>> round(test.statistic, 6), round(test.p_value, 6)
    (2.745626, 0.051606)
    """
    return _t_test(_differences(a, b, 2), 0.0, "paired_t", confidence)


def corrected_t(d: Values, ratio: float, *, confidence: float = 0.95) -> PairedTest:
    """The t test for resampled train/test splits: t = mean(d) / sqrt((1/n + n_test/n_train) s^2).

    Nadeau and Bengio (2003), Inference for the generalization error. The splits share training data, so the
    plain variance of the mean is too small.

    Parameters
    ----------
    d : float[n], n >= 2
        One difference per split.
    ratio : float >= 0
        n_test / n_train, 1/9 for ten-fold cross-validation.

    Examples
    --------
    >>> test = corrected_t([.01, .02, .015, 0, .03, .01, .02, .005, .01, .02], 1 / 9)
    >>> round(test.statistic, 6), round(test.p_value, 6)
    (3.47992, 0.006939)
    """
    if not (math.isfinite(ratio) and ratio >= 0):
        raise ValueError(f"ratio is n_test / n_train, a number of at least 0, got {ratio}")
    return _t_test(as_floats(d, "differences", min_size=2), ratio, "corrected_t", confidence)


def sign_flip(
    a: Values, b: Values, *, rng: np.random.Generator | None = None, flips: int = FLIPS
) -> PairedTest:
    """Permutation test of a symmetric difference: how often random signs reach the observed |mean(d)|.

    Exact over all 2^n sign patterns for n <= 16, else p = (1 + hits) / (1 + flips) over random patterns
    (Phipson and Smyth 2010). Zero differences keep both their patterns.

    Examples
    --------
    >>> sign_flip([.71, .74, .70, .78, .73], [.69, .70, .70, .72, .71]).p_value
    0.125
    """
    d = _differences(a, b, 1)
    mean = float(d.mean())
    # Sums that are equal on paper differ in the last bits; those must count as reached.
    reach = abs(float(d.sum())) - 1e-12 * float(np.abs(d).sum())
    if d.size <= EXACT_UP_TO:
        sums = np.zeros(1)
        for value in d:
            sums = np.concatenate([sums + value, sums - value])
        p = float((np.abs(sums) >= reach).mean())
        return PairedTest("sign_flip_exact", d.size, mean, mean, p)
    rng = np.random.default_rng(0) if rng is None else rng
    hits = int((np.abs(_flipped_sums(d, count(flips, "flips"), rng)) >= reach).sum())
    return PairedTest("sign_flip_random", d.size, mean, mean, (1 + hits) / (1 + flips))


def wilcoxon(a: Values, b: Values) -> PairedTest:
    """Wilcoxon's signed-rank test, two-sided, zero differences dropped (scipy's choice of exact or normal).

    Differences are rounded to 12 digits of the largest, so that ties on paper are ties here. All zero: p = 1.

    Examples
    --------
    >>> wilcoxon([.71, .74, .70, .78, .73], [.69, .70, .70, .72, .71]).p_value
    0.125
    """
    from scipy.stats import wilcoxon as scipy_wilcoxon

    d = _differences(a, b, 1)
    scale = float(np.abs(d).max())
    if scale == 0.0:
        return PairedTest("wilcoxon", d.size, 0.0, 0.0, 1.0)
    found = scipy_wilcoxon(np.round(d / scale, 12))
    return PairedTest("wilcoxon", d.size, float(d.mean()), float(found.statistic), float(found.pvalue))


def win_rate(a: Values, b: Values) -> WinRate:
    """Share of pairs in which A is larger, ties counting one half; in [0, 1], `win_rate(b, a)` is one minus it.

    Examples
    --------
    >>> win_rate([1, 2, 3, 3], [0, 2, 4, 1])
    WinRate(rate=0.625, wins=2, ties=1, losses=1)
    """
    left, right = as_floats(a, "A"), as_floats(b, "B")
    same_length(left, right)
    wins, losses = int((left > right).sum()), int((left < right).sum())
    ties = left.size - wins - losses
    return WinRate((wins + ties / 2) / left.size, wins, ties, losses)


def holm(p: Values) -> FloatArray:
    """p-values adjusted for the family-wise error rate (Holm 1979), in the order given; none below its input.

    Sorted ascending, p_(i) becomes max_{j <= i} min(1, (m - j + 1) p_(j)).

    Examples
    --------
    >>> holm([.01, .04, .03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    values = as_floats(p, "p-values", lo=0.0, hi=1.0)
    order = np.argsort(values, kind="stable")
    factors = np.arange(values.size, 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(np.minimum(1.0, factors * values[order]))
    return adjusted


def benjamini_hochberg(p: Values) -> FloatArray:
    """p-values adjusted for the false discovery rate (Benjamini and Hochberg 1995), in the order given.

    Sorted ascending, p_(i) becomes min_{j >= i} min(1, m p_(j) / j). Needs independence or positive
    dependence of the tests.

    Examples
    --------
    >>> benjamini_hochberg([.01, .04, .03]).round(3).tolist()
    [0.03, 0.04, 0.04]
    """
    values = as_floats(p, "p-values", lo=0.0, hi=1.0)
    order = np.argsort(values, kind="stable")
    raw = np.minimum(1.0, values[order] * values.size / np.arange(1, values.size + 1))
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum.accumulate(raw[::-1])[::-1]
    return adjusted


def _positions(keys: Sequence[Hashable], values: FloatArray, side: str) -> dict[Hashable, int]:
    if len(keys) != values.size:
        raise ValueError(f"{side} has {len(keys)} keys for {values.size} values")
    positions = {key: i for i, key in enumerate(keys)}
    if len(positions) != len(keys):
        repeated = next(key for i, key in enumerate(keys) if positions[key] != i)
        raise ValueError(f"{side} has {len(keys) - len(positions)} repeated key(s), for example {repeated!r}")
    return positions


def _differences(a: Values, b: Values, min_size: int) -> FloatArray:
    left, right = as_floats(a, "A", min_size=min_size), as_floats(b, "B", min_size=min_size)
    same_length(left, right)
    return left - right


def _t_test(
    d: FloatArray, ratio: float, method: Literal["paired_t", "corrected_t"], confidence: float
) -> PairedTest:
    n, mean = d.size, math.fsum(d) / d.size
    probability(confidence, "confidence")
    variance = math.fsum((d - mean) ** 2) / (n - 1) if np.ptp(d) > 0 else 0.0
    se = math.sqrt((1 / n + ratio) * variance)
    half = float(stdtrit(n - 1, 0.5 + confidence / 2)) * se
    t = mean / se if se > 0 else math.copysign(math.inf, mean) if mean else 0.0
    p = 2 * float(stdtr(n - 1, -abs(t)))
    return PairedTest(method, n, mean, t, p, mean - half, mean + half)


def _flipped_sums(d: FloatArray, flips: int, rng: np.random.Generator) -> FloatArray:
    """`flips` sums of d under random signs. Equal magnitudes share one binomial draw."""
    sizes, times = np.unique(np.abs(d[d != 0]), return_counts=True)
    sums = np.zeros(flips)
    for size, m in zip(sizes[times > 1], times[times > 1], strict=True):
        sums += size * (2.0 * rng.binomial(m, 0.5, flips) - m)
    single = sizes[times == 1]
    n_bytes = -(-single.size // 8)
    step = max(1, _CHUNK_BYTES // (8 * max(1, single.size)))
    for start in range(0, flips if single.size else 0, step):
        rows = min(step, flips - start)
        bits = np.unpackbits(rng.integers(0, 256, (rows, n_bytes), dtype=np.uint8), axis=1)[:, : single.size]
        sums[start : start + rows] += 2.0 * (bits.astype(np.float64) @ single) - single.sum()
    return sums
