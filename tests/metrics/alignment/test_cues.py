"""Shape bias, robustness and attribution: by hand, against published counts, by their properties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bench.datasets.alignment.published import SHAPE_BIAS, SHAPE_BIAS_BY_CATEGORY
from bench.metrics.alignment.attribution import map_correlation, mask_energy, overlap, pointing, top_pixels
from bench.metrics.alignment.categories import category_scores, members
from bench.metrics.alignment.cue_conflict import HUMAN_BIAS, ShapeBias, shape_bias
from bench.metrics.alignment.robustness import CATEGORIES, accuracy_difference, curve_area

Table = Callable[[str], pd.DataFrame]
NUMBER = {name: i for i, name in enumerate(CATEGORIES)}


def biases(decisions: Any, names: pd.Series) -> ShapeBias:
    shape, texture = (names.str.extract(r"^([a-z]+)\d*-([a-z]+)")[i].map(NUMBER) for i in (0, 1))
    return shape_bias(decisions=decisions, shape=shape, texture=texture)


def test_people_as_published(table: Table) -> None:
    trials = table("human_trials_17datasets.parquet").query("dataset == 'cue-conflict'")
    names = trials["image_id"].astype(str).str.extract(r"([a-z]+\d+-[a-z]+\d+\.png)")[0]
    decisions = trials["object_response"].astype(str).map(NUMBER).fillna(-1).astype(int)
    pooled = biases(decisions, names)
    assert (pooled.n_shape, pooled.n_texture) == (9236, 398)
    assert pooled.bias.value == pytest.approx(SHAPE_BIAS, abs=5e-5)
    assert HUMAN_BIAS == SHAPE_BIAS
    for name, expected in SHAPE_BIAS_BY_CATEGORY.items():
        assert pooled.by_category[NUMBER[name]] == pytest.approx(expected, abs=5.1e-4)
    own = [
        biases(decisions[rows], names[rows]).bias.value
        for _, rows in trials.groupby("subj", observed=True).groups.items()
    ]
    assert (np.mean(own), np.std(own, ddof=1)) == pytest.approx((0.9576, 0.0191), abs=1e-4)
    assert (min(own), max(own)) == pytest.approx((0.9191, 0.9866), abs=5e-5)


def test_a_network_as_published(table: Table) -> None:
    stored = table("efficientnet_lite0_16class_probs.parquet").query("dataset == 'cue-conflict'")
    decisions = stored[list(CATEGORIES)].to_numpy().argmax(axis=1)
    found = biases(decisions, stored["name"])
    assert (found.n_shape, found.n_texture, found.bias.n_dropped) == (197, 622, 80)
    assert found.bias.value == pytest.approx(0.2405, abs=5e-5)
    part = stored["name"].isin(table("cue_conflict_160_lossless.parquet")["name"])
    subset = biases(decisions[part], stored["name"][part])
    assert (subset.n_shape, subset.n_texture) == (19, 87)


def test_no_decision_follows_a_cue() -> None:
    found = shape_bias(decisions=[5, 5], shape=[1, 2], texture=[3, 4])
    assert found.bias.value is None
    assert found.low_coverage
    assert found.by_category == {1: None, 2: None}


def test_categories_cover_207_classes_once() -> None:
    everyone = [m for name in CATEGORIES for m in members(name)]
    assert len(everyone) == len(set(everyone)) == 207
    p = np.zeros((1, 1000))
    p[0, members("oven")], p[0, members("dog")] = 0.5, 0.5 / len(members("dog"))
    assert category_scores(p)[0].argmax() == NUMBER["oven"]
    assert category_scores(np.full((1, 1000), 1e-3))[0] == pytest.approx(1e-3)


def test_accuracy_difference_by_hand() -> None:
    given_ = {"correct": [1, 1, 0, 0], "condition": [0, 0, 1, 1], "human": [0.9, 0.3]}
    assert accuracy_difference(**given_, classes=16, human_classes=16).value == pytest.approx(0.05)
    people = [(a - 1 / 16) / (1 - 1 / 16) for a in (0.9, 0.3)]
    expected = ((1 - people[0]) ** 2 + (-0.1 / 0.9 - people[1]) ** 2) / 2
    assert accuracy_difference(**given_, classes=10, human_classes=16).value == pytest.approx(expected)
    lacking = accuracy_difference(correct=[1], condition=[0], human=[0.9, 0.3], classes=16, human_classes=16)
    assert lacking.reason == "condition 1 has no image"


def test_area_between_curves() -> None:
    assert curve_area(model=[1, 1, 0], human=[1, 0, 0]) == pytest.approx(0.5)
    assert curve_area(model=[0, 0], human=[0.5, 0.5]) == -0.5


def test_attribution_by_hand() -> None:
    maps = np.array([[[4.0, 3], [2, 1]], [[1, 1], [1, 1]]])
    masks = np.array([[[1, 0], [0, 0]], [[1, 0], [0, 0]]])
    assert map_correlation(maps=maps, reference=masks).value is None  # half of the maps are constant
    assert map_correlation(maps=maps[:1], reference=maps[:1] ** 3).value == pytest.approx(1)
    assert mask_energy(maps=maps[:1], masks=masks[:1]).value == pytest.approx(0.4 / 0.25)
    assert pointing(maps=maps[:1], masks=masks[:1]).value == 1
    iou, dice = overlap(maps=maps[:1], reference=maps[:1, ::-1], share=0.5)
    assert (iou.value, dice.value) == (0.0, 0.0)


def test_top_pixels_are_counted_exactly_and_ties_fall_by_number() -> None:
    assert top_pixels(np.zeros((1, 15, 1)))[0].nonzero()[0].tolist() == [0, 1]
    assert top_pixels(np.ones((1, 10, 10))).sum() == 10


@given(hnp.arrays(np.float64, (4, 3, 5), elements=st.floats(0, 1)), st.integers(0, 20))
def test_attribution_is_bounded(maps: Any, seed: int) -> None:
    reference = np.random.default_rng(seed).random(maps.shape)
    iou, dice = overlap(maps=maps, reference=reference)
    assert 0 <= (iou.value or 0) <= (dice.value or 0) <= 1
    found = map_correlation(maps=maps, reference=reference)
    assert found.value is None or -1 <= found.value <= 1
