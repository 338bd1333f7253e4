"""Ranking of models over tasks: mean ranks, critical differences, win rates, normalised scores.

Input is always `Scores` (see `bench.stats.scores`), so the treatment of failures is decided and stated
before anything is ranked. Raw values of different metrics are never averaged.

Sources: Demsar (2006), Statistical comparisons of classifiers over multiple data sets; Nemenyi (1963).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import chdtrc

from bench.stats._check import BoolArray, FloatArray, as_floats, count, probability
from bench.stats.scores import Scores

FEW_TASKS = 6
NAMED = 5  # models of a cycle that a warning names


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's test that all models rank alike: chi-squared statistic, corrected for ties, and p-value."""

    statistic: float
    p_value: float
    n_models: int
    n_tasks: int


def ranks(scores: Scores) -> FloatArray:
    """Rank of each model on each task, float[models, tasks], 1 is best, ties averaged.

    Examples
    --------
    >>> from bench.stats.scores import scores_from_table
    >>> ranks(scores_from_table([[.9, .5], [.1, .5]], ["a", "b"])).tolist()
    [[1.0, 1.5], [2.0, 1.5]]
    """
    better, equal = _beats(scores.utility), _equals(scores.utility)
    result: FloatArray = better.sum(axis=0) + (1.0 + equal.sum(axis=0)) / 2
    return result


def mean_rank(scores: Scores) -> FloatArray:
    """Mean over tasks of `ranks`, float[models] in [1, n_models], lower is better.

    Examples
    --------
    >>> from bench.stats.scores import scores_from_table
    >>> mean_rank(scores_from_table([[.9, .5], [.1, .5]], ["a", "b"])).tolist()
    [1.25, 1.75]
    """
    result: FloatArray = ranks(scores).mean(axis=1)
    return result


def friedman(scores: Scores) -> Friedman:
    """Friedman's rank test over N tasks and k models.

    chi^2 = (12 / (N k (k+1)) sum_j R_j^2 - 3 N (k+1)) / (1 - ties), with R_j the rank sums and
    ties = sum over groups of t equal ranks of (t^3 - t) / (N k (k^2 - 1)); k - 1 degrees of freedom.
    If every task ties all models, the statistic is 0 and p = 1.

    Examples
    --------
    >>> from bench.stats.scores import scores_from_table
    >>> test = friedman(scores_from_table([[3, 3, 3], [2, 2, 2], [1, 1, 1]], ["a", "b", "c"]))
    >>> round(test.statistic, 6), round(test.p_value, 6)
    (6.0, 0.049787)
    """
    table = ranks(scores)
    k, n = table.shape
    if k < 2:
        raise ValueError("Friedman's test needs at least two models")
    group = _equals(scores.utility).sum(axis=0)  # size of the tie each cell is in; sum of t^2 - 1 over cells
    correction = 1.0 - float((group.astype(np.float64) ** 2 - 1).sum()) / (n * k * (k * k - 1))
    if correction <= 1e-12:
        return Friedman(0.0, 1.0, k, n)
    spread = 12.0 / (n * k * (k + 1)) * float((table.sum(axis=1) ** 2).sum()) - 3.0 * n * (k + 1)
    statistic = max(0.0, spread / correction)
    return Friedman(statistic, float(chdtrc(k - 1, statistic)), k, n)


@lru_cache(maxsize=256)
def nemenyi_q(k: int, alpha: float = 0.05) -> float:
    """Critical value of the studentized range for k models and infinite degrees of freedom, over sqrt 2.

    Examples
    --------
    >>> [round(nemenyi_q(k), 4) for k in (2, 3, 10)]
    [1.96, 2.3437, 3.1637]
    """
    from scipy.stats import studentized_range

    quantile = studentized_range.ppf(1 - probability(alpha, "alpha"), count(k, "k", 2), math.inf)
    return float(quantile) / math.sqrt(2)


def critical_difference(k: int, n_tasks: int, *, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks, q sqrt(k (k + 1) / (6 N)).

    Mean ranks closer than this are not separable; see `rank_warnings` for when it means nothing.

    Examples
    --------
    >>> round(critical_difference(5, 8), 6)
    2.156495
    """
    return nemenyi_q(k, alpha) * math.sqrt(k * (k + 1) / (6 * count(n_tasks, "n_tasks")))


def wins(scores: Scores) -> FloatArray:
    """Number of tasks on which row beats column, float[models, models], ties 1/2, diagonal 0.

    Every task has weight 1 whatever its number of repeats.

    Examples
    --------
    >>> from bench.stats.scores import scores_from_table
    >>> wins(scores_from_table([[.9, .5], [.1, .5]], ["a", "b"])).tolist()
    [[0.0, 1.5], [0.5, 0.0]]
    """
    result: FloatArray = task_wins(scores).sum(axis=-1)
    return result


def task_wins(scores: Scores) -> FloatArray:
    """`wins` before the sum over tasks, float[models, models, tasks]."""
    result = _beats(scores.utility) + 0.5 * _equals(scores.utility)
    result[np.diag_indices(len(scores.models))] = 0.0
    return result


def win_rate(scores: Scores) -> FloatArray:
    """Share of (opponent, task) pairs won, ties 1/2, float[models] in [0, 1]; 1/2 for a model alone.

    Examples
    --------
    >>> from bench.stats.scores import scores_from_table
    >>> win_rate(scores_from_table([[.9, .5], [.1, .5]], ["a", "b"])).tolist()
    [0.75, 0.25]
    """
    k, n = scores.utility.shape
    if k == 1:
        return np.array([0.5])
    rate: FloatArray = wins(scores).sum(axis=1) / (n * (k - 1))
    return rate


def normalised(scores: Scores, baseline: FloatArray, best: FloatArray | None = None) -> FloatArray:
    """Mean over tasks of (u - baseline) / (best - baseline) clipped to [0, 1], float[models], higher is better.

    Parameters
    ----------
    baseline : float[tasks]
        Utility of the trivial baseline of each task.
    best : float[tasks], optional
        Utility of an upper bound; the best shown model if not given. Where nothing exceeds the baseline the
        task contributes 0.

    Examples
    --------
    >>> from bench.stats.scores import scores_from_table
    >>> normalised(scores_from_table([[.9, .6], [.7, 1.0]], ["a", "b"]), np.array([.5, .5])).round(3).tolist()
    [0.6, 0.75]
    """
    floor = as_floats(baseline, "baseline")
    ceiling = scores.utility.max(axis=0) if best is None else as_floats(best, "best")
    if not floor.shape == ceiling.shape == (len(scores.tasks),):
        raise ValueError(f"baseline and best need one value per task, {len(scores.tasks)} in all")
    room = ceiling - floor
    share = np.zeros_like(scores.utility)
    open_ = room > 0
    share[:, open_] = np.clip((scores.utility[:, open_] - floor[open_]) / room[open_], 0.0, 1.0)
    result: FloatArray = share.mean(axis=1)
    return result


def rank_warnings(scores: Scores) -> tuple[str, ...]:
    """What to say next to ratings and critical differences of these scores.

    Examples
    --------
    >>> from bench.stats.scores import scores_from_table
    >>> len(rank_warnings(scores_from_table([[.9, .5], [.1, .5]], ["a", "b"])))
    2
    """
    found = ["ranks and ratings depend on which models and tasks are present"]
    if len(scores.tasks) < FEW_TASKS:
        found.append(f"with fewer than {FEW_TASKS} tasks the critical difference means nothing")
    cycle = majority_cycle(scores)
    if cycle:
        names = ", ".join(cycle[:NAMED]) + (f" and {len(cycle) - NAMED} more" if len(cycle) > NAMED else "")
        found.append(
            f"majorities are cyclic among {names}: no single order describes them, and the "
            "critical difference means nothing"
        )
    return tuple(found)


def majority_cycle(scores: Scores) -> tuple[str, ...]:
    """Models of the largest set in which "beats on most tasks" runs in a circle; empty if there is none."""
    won = wins(scores)
    component = reachable(won > won.T)
    mutual = component & component.T
    largest = int(np.argmax(mutual.sum(axis=1)))
    if mutual[largest].sum() < 2:
        return ()
    return tuple(model for model, inside in zip(scores.models, mutual[largest], strict=True) if inside)


def reachable(edges: BoolArray) -> BoolArray:
    """Transitive closure of edges bool[..., k, k]: whether a path, of length 0 included, leads from row to column."""
    k = edges.shape[-1]
    paths = (edges | np.eye(k, dtype=np.bool_)).astype(np.float32)
    for _ in range(max(1, math.ceil(math.log2(k)))):
        paths = (paths @ paths > 0).astype(np.float32)
    closed: BoolArray = paths > 0
    return closed


def _beats(utility: FloatArray) -> BoolArray:
    better: BoolArray = utility[:, None, :] > utility[None, :, :]
    return better


def _equals(utility: FloatArray) -> BoolArray:
    equal: BoolArray = utility[:, None, :] == utility[None, :, :]
    return equal
