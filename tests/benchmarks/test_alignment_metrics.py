"""Error consistency of all pairs at once, and ranks of many maps, beside straightforward loops of the same run."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bench.metrics.alignment.attribution import map_correlations, ranked_maps
from bench.metrics.alignment.consistency import blocks, error_consistency

TRIALS = Path(__file__).resolve().parents[3] / "shared/data/human_alignment/human_trials_17datasets.parquet"


def seconds(work: Callable[[], Any], repeats: int = 3) -> tuple[float, Any]:
    """Least CPU time of some runs, and what the last one returned."""
    times, found = [], None
    for _ in range(repeats):
        started = time.process_time()
        found = work()
        times.append(time.process_time() - started)
    return min(times), found


def at_once() -> list[float]:
    trials = pd.read_parquet(TRIALS)
    names = trials["category"].cat.categories
    right = trials["object_response"].cat.set_categories(names).cat.codes == trials["category"].cat.codes
    found = blocks(
        keys=[trials["dataset"], trials["condition"]],
        observer=trials["subj"],
        image=trials["image_id"],
        correct=right,
    )
    return [k for block in found for k in error_consistency(correct=block.correct).pairs()]


def pair_by_pair() -> list[float]:
    """As analysis scripts do it: for each pair the two observers' rows are looked up and compared."""
    trials = pd.read_parquet(TRIALS).astype({"object_response": str, "category": str})
    found = []
    for (_, _), part in trials.groupby(["dataset", "condition"], observed=True):
        for one, other in combinations(sorted(part["subj"].astype(str).unique()), 2):
            a, b = (part[part["subj"] == name].set_index("image_id") for name in (one, other))
            b = b.loc[a.index]
            x, y = (f["object_response"].to_numpy() == f["category"].to_numpy() for f in (a, b))
            observed = np.mean(x == y)
            expected = x.mean() * y.mean() + (1 - x.mean()) * (1 - y.mean())
            found.append(1.0 if observed == 1 else (observed - expected) / (1 - expected))
    return found


@pytest.mark.skipif(not TRIALS.exists(), reason="no ../shared/data/human_alignment beside the repository")
def test_error_consistency_of_604_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    loop, expected = seconds(pair_by_pair, 1)
    ours, found = seconds(at_once)
    with capsys.disabled():
        print(
            f"\nerror consistency, 604 pairs: {ours:.2f} s at once, {loop:.2f} s pair by pair ({loop / ours:.0f}x)"
        )
    assert np.abs(np.array(found) - expected).max() < 1e-12


def test_rank_correlation_of_maps(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    maps, people = rng.random((2, 20, 224, 224))
    ranked = ranked_maps(people)  # once per data set
    loop, expected = seconds(
        lambda: [stats.spearmanr(a.ravel(), b.ravel()).statistic for a, b in zip(maps, people, strict=True)]
    )
    ours, found = seconds(lambda: map_correlations(maps=maps, ranked=ranked))
    with capsys.disabled():
        print(
            f"\nrank correlation: {1e3 * ours / 20:.1f} ms a map, a loop over scipy {1e3 * loop / 20:.1f} ms "
            f"({ours / loop:.2f}x)"
        )
    assert np.abs(found - expected).max() < 1e-10
