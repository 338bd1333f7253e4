"""Every function of the package refuses empty, NaN, infinite and out-of-range input, and its examples run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bench.stats
from bench.stats import bets, confseq, eprocess, evalues, intervals, paired, ranking, regions, validity

GOOD = [0.2, 0.4, 0.9]
ONE_SAMPLE: dict[str, Callable[[Any], Any]] = {
    "mean_t": intervals.mean_t,
    "bca": intervals.bca,
    "clustered": lambda x: intervals.clustered(x, range(len(x))),
    "sample_mean_interval": intervals.sample_mean_interval,
    "group_mean": lambda x: intervals.group_mean(x, np.zeros(len(x))),
    "group_mean.ses": lambda x: intervals.group_mean(np.zeros(len(x)), x),
    "corrected_t": lambda x: paired.corrected_t(x, 0.1),
    "paired_t.a": lambda x: paired.paired_t(x, GOOD[: len(x)]),
    "paired_t.b": lambda x: paired.paired_t(GOOD[: len(x)], x),
    "sign_flip": lambda x: paired.sign_flip(x, GOOD[: len(x)]),
    "wilcoxon": lambda x: paired.wilcoxon(x, GOOD[: len(x)]),
    "win_rate": lambda x: paired.win_rate(x, GOOD[: len(x)]),
    "pair": lambda x: paired.pair(range(len(x)), x, range(len(x)), x),
    "holm": paired.holm,
    "benjamini_hochberg": paired.benjamini_hochberg,
    "bets": lambda x: bets.bets(x, 3.0),
    "hedged": confseq.hedged,
    "log_e_scores": lambda x: eprocess.log_e_scores(x, GOOD[: len(x)]),
    "log_e_wins": lambda x: eprocess.log_e_wins(x, GOOD[: len(x)]),
    "decide": lambda x: eprocess.decide(GOOD[: len(x)], x),
    "samples_needed": eprocess.samples_needed,
    "e_bh": evalues.e_bh,
    "holm_e": evalues.holm_e,
    "anytime_p": evalues.anytime_p,
    "mean_region": lambda x: regions.mean_region(np.reshape(x, (-1, 1))),
    "portfolio_path": lambda x: regions.portfolio_path(np.reshape(x, (-1, 1)), [0.5]),
}
BOUNDED = {
    "holm",
    "benjamini_hochberg",
    "bets",
    "hedged",
    "log_e_scores",
    "decide",
    "samples_needed",
    "mean_region",
    "portfolio_path",
}


@pytest.mark.parametrize("name", ONE_SAMPLE)
@pytest.mark.parametrize("bad", [[], [0.1, np.nan, 0.3], [0.1, np.inf, 0.3], [0.1, -np.inf, 0.3]])
def test_empty_and_not_finite_values_are_refused(name: str, bad: list[float]) -> None:
    ONE_SAMPLE[name](GOOD)
    with pytest.raises(ValueError, match=r"at least|NaN|needs|must"):
        ONE_SAMPLE[name](bad)


@pytest.mark.parametrize("name", sorted(BOUNDED))
def test_values_out_of_range_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="outside"):
        ONE_SAMPLE[name]([0.1, 1.5, 0.3])


@pytest.mark.parametrize(
    "call",
    [
        lambda: intervals.proportion(3, 2),
        lambda: intervals.proportion(-1, 2),
        lambda: intervals.proportion(0, 0),
        lambda: intervals.mean_t(GOOD, confidence=1.0),
        lambda: intervals.mean_t([GOOD, GOOD]),  # type: ignore[list-item]
        lambda: intervals.mean_t(["a"]),  # type: ignore[list-item]
        lambda: intervals.clustered(GOOD, ["a"]),
        lambda: intervals.group_mean(GOOD, [0.1]),
        lambda: intervals.group_mean(GOOD, [-0.1, 0.1, 0.1]),
        lambda: intervals.bca(GOOD, resamples=0),
        lambda: paired.paired_t(GOOD, GOOD[:2]),
        lambda: paired.paired_t([1.0], [2.0]),
        lambda: paired.corrected_t(GOOD, -0.1),
        lambda: paired.pair(["a"], GOOD, ["a"], GOOD),
        lambda: confseq.hedged(GOOD, alpha=0.0),
        lambda: confseq.hedged(GOOD, cap=1.0),
        lambda: confseq.hedged(GOOD, lo=1.0, hi=1.0),
        lambda: confseq.hedged(GOOD, population=2),
        lambda: confseq.HedgedSequence().update(1.1),
        lambda: confseq.HedgedSequence().update(float("nan")),
        lambda: eprocess.RunningComparison().update(0.5, float("nan")),
        lambda: eprocess.RunningComparison(lo=1, hi=0),
        lambda: eprocess.decide(GOOD, GOOD, by="ranks"),  # type: ignore[arg-type]
        lambda: eprocess.expected_samples(0.1, -1),
        lambda: eprocess.expected_samples(float("nan"), 1),
        lambda: eprocess.expected_samples(0.1, 0.2, by="ranks"),  # type: ignore[arg-type]
        lambda: eprocess.fixed_samples(0.0, 1.0),
        lambda: evalues.e_bh([1.0], alpha=1.5),
        lambda: ranking.critical_difference(1, 10),
        lambda: ranking.critical_difference(5, 0),
        lambda: regions.mean_region([GOOD], weights=[0.5, 0.5, 0.5]),
        lambda: regions.mean_region([GOOD], weights=[1.0, 0.0, 0.0]),
        lambda: regions.mean_region([GOOD], lo=0.0, hi=0.0),
        lambda: regions.mean_region([GOOD], alpha=1.0),
        lambda: regions.mean_region([GOOD]).wealth([0.5]),
        lambda: validity.false_alarms(runs=0),
    ],
)
def test_impossible_arguments_are_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        call()


@pytest.mark.parametrize("name", [m.name for m in pkgutil.iter_modules(bench.stats.__path__)])
def test_examples_in_the_docstrings(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"bench.stats.{name}"))
    assert result.failed == 0
    assert result.attempted > 0 or name == "_check"
