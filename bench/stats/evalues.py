"""Many anytime-valid claims at once: e-values of several pairs, and models that arrive over time.

An e-value is a non-negative number with expectation at most 1 under the hypothesis it speaks against, here
the wealth of `bench.stats.eprocess`. All functions take ln E, which does not overflow.

Sources: Wang and Ramdas (2022), False discovery rate control with e-values; Vovk and Wang (2021), E-values:
calibration, combination and applications.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from bench.stats._check import BoolArray, FloatArray, as_floats, count, probability
from bench.stats.paired import holm


def e_bh(log_e: Sequence[float] | FloatArray, *, alpha: float = 0.05) -> BoolArray:
    """Which hypotheses e-BH rejects: the k largest E with E_(k) >= K / (alpha k), for the largest such k.

    Holds the false discovery rate at alpha under any dependence. The e-values must be those of one stopping
    time, not maxima over time.

    Examples
    --------
    >>> e_bh(np.log([120, 60, 40, 3, .5])).tolist()
    [True, True, True, False, False]
    """
    values = as_floats(log_e, "log_e")
    probability(alpha, "alpha")
    order = np.argsort(-values, kind="stable")
    ranks = np.arange(1, values.size + 1)
    # 40 >= 5 / (0.05 * 3) holds on paper with equality at times; a rounding error must not undo it.
    reached = values[order] >= np.log(values.size / (alpha * ranks)) - 1e-12
    rejected = np.zeros(values.size, dtype=np.bool_)
    if reached.any():
        rejected[order[: int(ranks[reached].max())]] = True
    return rejected


def anytime_p(max_log_e: Sequence[float] | FloatArray) -> FloatArray:
    """p-values valid at any time, min(1, 1 / max_t E_t), from the largest ln E each process has reached.

    Examples
    --------
    >>> anytime_p([np.log(40), -1.0]).round(6).tolist()
    [0.025, 1.0]
    """
    p: FloatArray = np.exp(-np.maximum(0.0, as_floats(max_log_e, "max_log_e")))
    return p


def holm_e(max_log_e: Sequence[float] | FloatArray) -> FloatArray:
    """Holm's adjustment of 1 / max E: family-wise error rate at any time, any dependence.

    The family is all pairs of one task and metric. Claims are those adjusted to at most alpha.

    Examples
    --------
    >>> holm_e(np.log([100, 50, 2])).round(6).tolist()
    [0.03, 0.04, 0.5]
    """
    return holm(anytime_p(max_log_e))


def arrival_level(j: int, *, alpha: float = 0.05) -> float:
    """Level of the j-th model to arrive, alpha * 6 / (pi^2 j^2); the levels of all that may come sum to alpha.

    Because later models spend what was set aside for them, claims made earlier stay valid.

    Examples
    --------
    >>> round(arrival_level(1), 6), round(arrival_level(10), 6)
    (0.030396, 0.000304)
    """
    return probability(alpha, "alpha") * 6 / (math.pi * count(j, "order of arrival")) ** 2
