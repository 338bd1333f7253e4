"""The comparison of two models, task by task: difference, interval, evidence, verdict, samples still needed.

Which method applies follows from the data. Per-sample scores with a finite range get the anytime-valid
comparison of `bench.stats.eprocess`, and only from it follows "A beats B". Everything else gets a paired t
test over the repeats, planned in advance and therefore worded as a difference in this data.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from bench.stats._check import FloatArray, as_floats, probability
from bench.stats.eprocess import RunningComparison, samples_needed
from bench.stats.paired import corrected_t, holm, pair, paired_t

Verdict = Literal["a_better", "b_better", "differs", "undecided", "too_few", "no_spread", "invalid"]

_SAME = 1e-12  # relative; differences closer than this are equal but for rounding

_WORDS: dict[Verdict, str] = {
    "a_better": "{a} beats {b} (valid at any time)",
    "b_better": "{b} beats {a} (valid at any time)",
    "differs": "{a} and {b} differ in this data",
    "undecided": "undecided",
    "too_few": "one repeat: no claim possible",
    "no_spread": "the same difference on every repeat: their spread is unknown, no claim possible",
    "invalid": "the assumptions fail: no difference is compatible with the data",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPairs:
    """What two models scored on one task, in the units of the metric.

    `keys_a` and `keys_b` identify the units: sample ids for a mean over samples, else repeats. Samples must
    be independent of each other; average repeats of the same sample first. `seed` fixes the order in which
    samples are looked at, so that the order cannot follow from the values.
    """

    task: str
    metric: str
    keys_a: Sequence[Hashable]
    a: Sequence[float] | FloatArray
    keys_b: Sequence[Hashable]
    b: Sequence[float] | FloatArray
    higher_is_better: bool = True
    samples: bool = False  # per-sample scores of a mean; else one value per repeat
    lo: float = -math.inf
    hi: float = math.inf
    test_over_train: float = 0.0  # repeats that resample train and test share data: Nadeau and Bengio
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskComparison:
    """One line of `bench compare A B`. `difference` is mean(A) - mean(B) in the units of the metric.

    `low`, `high` and `p_value` are of this task alone; `adjusted_p` is Holm's over all tasks compared, and
    the verdict follows from it. `log_e` is the ln of the largest e-value of either direction so far, None
    where the test is a fixed one. `samples_needed` estimates the total number of samples until a verdict.
    """

    task: str
    metric: str
    n: int
    difference: float
    low: float | None
    high: float | None
    method: Literal["anytime", "paired_t", "corrected_t", "none"]
    p_value: float | None
    adjusted_p: float | None
    log_e: float | None
    verdict: Verdict
    decided_at: int | None = None
    samples_needed: int | None = None

    def words(self, a: str, b: str) -> str:
        """The verdict as a sentence about models named `a` and `b`."""
        return _WORDS[self.verdict].format(a=a, b=b)


def compare(tasks: Sequence[TaskPairs], *, alpha: float = 0.05) -> tuple[TaskComparison, ...]:
    """Compare two models on each task; all verdicts together are wrong with probability at most `alpha`.

    Raises
    ------
    PairingError
        If a unit was measured for one model only.
    ValueError
        For no tasks, values outside their range, NaN or infinity.

    Examples
    --------
    >>> ids = list(range(40))
    >>> line, = compare([TaskPairs(task="t", metric="accuracy", keys_a=ids, a=[1.0] * 40, keys_b=ids,
    ...                            b=[0.0] * 20 + [1.0] * 20, samples=True, lo=0.0, hi=1.0)])
    >>> line.difference, line.words("ours", "theirs")
    (0.5, 'ours beats theirs (valid at any time)')
    """
    probability(alpha, "alpha")
    if not tasks:
        raise ValueError("nothing to compare: no tasks")
    lines = [_anytime(pairs, alpha) if _is_anytime(pairs) else _fixed(pairs, alpha) for pairs in tasks]
    tested = [i for i, line in enumerate(lines) if line.p_value is not None]
    p_values = [p for line in lines if (p := line.p_value) is not None]
    if tested:
        for i, adjusted in zip(tested, holm(p_values).tolist(), strict=True):
            lines[i] = _judge(lines[i], tasks[i], adjusted, alpha, len(tested))
    return tuple(lines)


def _is_anytime(pairs: TaskPairs) -> bool:
    return pairs.samples and math.isfinite(pairs.lo) and math.isfinite(pairs.hi)


def _anytime(pairs: TaskPairs, alpha: float) -> TaskComparison:
    a, b = _ordered(pairs)
    running = RunningComparison(alpha=alpha, lo=pairs.lo, hi=pairs.hi)
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        running.update(x, y)
    log_e = max(running.max_log_e_a, running.max_log_e_b)
    return TaskComparison(
        task=pairs.task,
        metric=pairs.metric,
        n=a.size,
        difference=float((a - b).mean()),
        low=running.low,
        high=running.high,
        method="anytime",
        p_value=min(1.0, 2.0 * math.exp(-log_e)),
        adjusted_p=None,
        log_e=log_e,
        verdict="invalid" if running.violated else _direction(running, pairs),
        decided_at=running.decided_at,
    )


def _direction(running: RunningComparison, pairs: TaskPairs) -> Verdict:
    """Who would be named if the evidence suffices; `_judge` says whether it does."""
    larger = running.max_log_e_a >= running.max_log_e_b
    return "a_better" if larger == pairs.higher_is_better else "b_better"


def _fixed(pairs: TaskPairs, alpha: float) -> TaskComparison:
    a, b = _ordered(pairs)
    constant = a.size > 1 and bool(np.ptp(a - b) <= _SAME * max(float(np.abs([a, b]).max()), 1e-300))
    if a.size == 1 or (constant and float(a[0]) != float(b[0])):
        test = None
    elif pairs.test_over_train > 0:
        test = corrected_t(a - b, pairs.test_over_train, confidence=1 - alpha)
    else:
        test = paired_t(a, b, confidence=1 - alpha)
    method: Literal["paired_t", "corrected_t", "none"] = "none"
    if test is not None:
        method = "corrected_t" if pairs.test_over_train > 0 else "paired_t"
    return TaskComparison(
        task=pairs.task,
        metric=pairs.metric,
        n=a.size,
        difference=float((a - b).mean()),
        low=None if test is None else test.low,
        high=None if test is None else test.high,
        method=method,
        p_value=None if test is None else test.p_value,
        adjusted_p=None,
        log_e=None,
        verdict="differs" if test is not None else "no_spread" if constant else "too_few",
    )


def _judge(
    line: TaskComparison, pairs: TaskPairs, adjusted: float, alpha: float, n_tests: int
) -> TaskComparison:
    if line.verdict == "invalid" or adjusted <= alpha:
        return replace(line, adjusted_p=adjusted)
    needed = _needed(line, pairs, alpha / n_tests) if line.method == "anytime" else None
    return replace(line, adjusted_p=adjusted, verdict="undecided", decided_at=None, samples_needed=needed)


def _needed(line: TaskComparison, pairs: TaskPairs, alpha: float) -> int | None:
    """Samples until the leader of today is decided, at the level that is left when all tasks share alpha."""
    a, b = _ordered(pairs)
    d = (a - b) / (pairs.hi - pairs.lo)
    limit = min(20_000, max(1_000, 20 * line.n))  # beyond, an extrapolation says nothing
    median = samples_needed(d if line.difference > 0 else -d, alpha=alpha / 2, limit=limit)
    return None if median is None else max(median, line.n + 1)


def _ordered(pairs: TaskPairs) -> tuple[FloatArray, FloatArray]:
    """Both sides paired; samples in an order drawn from the seed, from a start that no one chose."""
    _, a, b = pair(pairs.keys_a, pairs.a, pairs.keys_b, pairs.b)
    as_floats(a, f"A on {pairs.task}", lo=pairs.lo, hi=pairs.hi)
    as_floats(b, f"B on {pairs.task}", lo=pairs.lo, hi=pairs.hi)
    if not pairs.samples:
        return a, b
    start = sorted(range(a.size), key=lambda i: repr(pairs.keys_a[i]))
    order = np.array(start)[np.random.default_rng(pairs.seed).permutation(a.size)]
    return a[order], b[order]
