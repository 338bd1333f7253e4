"""Gloss: the published table of ratings, win curves of people, the shortcut by contrast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bench.datasets.alignment.published import WIN_RATES
from bench.metrics.alignment.gloss import gloss_headline, rating_agreement, rating_ceiling, win_curves
from bench.metrics.alignment.result import HumanDataError

Table = Callable[[str], pd.DataFrame]
# Correlation with the mean rating, mean correlation with observers, mean RMSE.
PUBLISHED = {
    "ground_truth": (0.8930, 0.8612, 0.1987),
    "pixelvae": (0.9627, 0.9300, 0.1520),
    "resnet": (0.6966, 0.6716, 0.2624),
    "imagenetDNN": (0.870, 0.839, 0.214),
    "ps_texturefeats": (0.893, 0.864, 0.255),
    "skewness": (0.308, 0.297, 0.381),
}
ONLY_R = {
    "simpleAE": 0.329,
    "pixel-10D-embedding_MDS": 0.389,
    "pixel-10D-embedding_LLE": 0.137,
    "pixel-10D-embedding_tSNE": -0.011,
}


def ratings(table: Table) -> Any:
    frame = table("gloss_expt1_human_ratings.parquet")
    return frame.pivot(index="subject", columns="scene", values="mean_rating_1to6").to_numpy()


def predictor(table: Table, name: str) -> Any:
    """Values of one predictor; those of networks that were trained ten times are averaged."""
    frame = table("gloss_expt1_model_values.parquet").sort_values("scene")
    names = [c for c in frame.columns if c == name or c.startswith(f"{name}_0")]
    assert len(names) == (10 if name in ("pixelvae", "resnet") else 1)
    return frame[names].mean(axis=1).to_numpy()


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_published_table(name: str, table: Table) -> None:
    found = rating_agreement(ratings=ratings(table), gloss=predictor(table, name))
    assert (found.r_mean_rating, found.r.value, found.rmse) == pytest.approx(PUBLISHED[name], abs=1e-3)


@pytest.mark.parametrize("name", ONLY_R)
def test_the_published_correlations(name: str, table: Table) -> None:
    assert rating_agreement(
        ratings=ratings(table), gloss=predictor(table, name)
    ).r_mean_rating == pytest.approx(ONLY_R[name], abs=1e-3)


def test_the_ceiling(table: Table) -> None:
    found = rating_ceiling(ratings=ratings(table))
    assert (found.r_lower, found.r_upper) == pytest.approx((0.9615, 0.9652), abs=1e-3)
    assert (found.rmse_lower, found.rmse_upper) == pytest.approx((0.1259, 0.1196), abs=1e-3)


@pytest.mark.parametrize(("experiment", "inner"), [("3a", 5), ("3b", 2)])
def test_win_rates_of_people(experiment: str, inner: int, table: Table) -> None:
    trials = table("gloss_expt3_2afc_trials.parquet").query("experiment == @experiment")
    rates, peaks = [], []
    for _, part in [("all", trials), *trials.groupby("scene")]:
        wins, seen = np.zeros(7), np.zeros(7)
        for level, won in (("bump_b", part["chose_b"]), ("bump_a", 1 - part["chose_b"])):
            np.add.at(wins, part[level], won)
            np.add.at(seen, part[level], 1)
        rates.append(wins / seen)
        peaks.append(0 < rates[-1].argmax() < 6)
    assert rates[0] == pytest.approx(WIN_RATES[experiment], abs=6e-4)
    assert sum(peaks[1:]) == inner
    assert len(peaks) == 11


def test_win_curves_by_hand() -> None:
    found = win_curves(gloss=[[1, 2, 3], [1, 3, 2]], human=[0.0, 0.5, 1.0])
    assert found.curve.tolist() == [0.0, 0.75, 0.75]
    assert found.scene_r == pytest.approx((1 + 0.5) / 2)
    assert found.nonmono == 0.5
    assert found.curve_r.value == pytest.approx(np.corrcoef([0, 0.75, 0.75], [0, 0.5, 1])[0, 1])


def test_flat_curves_have_no_correlation() -> None:
    found = win_curves(gloss=[[1, 1, 1]], human=[0.0, 0.5, 1.0])
    assert found.curve.tolist() == [0.5] * 3
    assert found.curve_r.value is None
    assert found.scene_r is None


def test_the_headline_needs_both_parts() -> None:
    assert gloss_headline(curve_r=1.0, accuracy=0.68) == pytest.approx(0.6)
    assert gloss_headline(curve_r=1.0, accuracy=0.5) == 0
    assert gloss_headline(curve_r=-0.5, accuracy=1.0) == 0
    assert gloss_headline(curve_r=None, accuracy=1.0) == 0


@pytest.mark.parametrize("bad", [0.9, 6.1, float("nan")])
def test_impossible_ratings_are_refused(bad: float) -> None:
    with pytest.raises(HumanDataError, match=r"\[\[1, 2\]\]"):
        rating_ceiling(ratings=[[1, 2, 3], [4, 5, bad]])


@given(hnp.arrays(np.float64, (4, 7), elements=st.floats(-10, 10, width=16)))
def test_win_curves_share_out_every_comparison(g: Any) -> None:
    found = win_curves(gloss=g, human=WIN_RATES["3a"])
    assert found.curve.mean() == pytest.approx(0.5)
    stretched = win_curves(gloss=np.exp(g), human=WIN_RATES["3a"])
    assert stretched.curve == pytest.approx(found.curve)
