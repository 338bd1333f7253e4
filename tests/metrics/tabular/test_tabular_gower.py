"""The Gower core against a plain loop, and the closest-record metrics on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.metrics.tabular.closest_record import closest_record
from bench.metrics.tabular.gower import GowerSpace
from bench.metrics.tabular.table import Column, EncodedTable
from tests.metrics.tabular.encode import coded_table, numeric_table

Pair = tuple[EncodedTable, EncodedTable]


def plain_distance(real: EncodedTable, first: EncodedTable, i: int, second: EncodedTable, j: int) -> float:
    """The definition, one pair and one column at a time."""
    total = 0.0
    for c, column in enumerate(real.columns):
        a, b = first.values(c)[i], second.values(c)[j]
        gone = first.missing(c)[i], second.missing(c)[j]
        if any(gone):
            total += not all(gone)
        elif column.is_numeric:
            known = real.values(c)[np.isfinite(real.values(c))]
            spread = np.ptp(known) if len(known) else 0.0
            total += min(abs(a - b) / spread, 1.0) if spread > 0 else float(a != b)
        else:
            total += float(a != b)
    return total / len(real.columns)


COLUMNS = (
    Column("x", "numeric"),
    Column("few", "categorical", 3),
    Column("whole", "integer"),
    Column("constant", "numeric"),
    Column("many", "categorical", 100),
)


def random_table(rng: np.random.Generator, n: int, *, wild: bool) -> EncodedTable:
    reach = 3.0 if wild else 1.0
    numbers = np.c_[
        reach * rng.normal(size=n), rng.integers(0, 4, n), np.full(n, 7.0) + wild * rng.integers(0, 2, n)
    ]
    numbers[rng.random(numbers.shape) < 0.15] = np.nan
    codes = np.c_[rng.integers(-1, 3 + wild, n), rng.integers(-1, 8, n)].astype(np.int32)
    return EncodedTable(COLUMNS, numbers, codes)


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_neighbours_equal_those_of_a_plain_loop(seed: int, k: int) -> None:
    rng = np.random.default_rng(seed)
    real, generated = random_table(rng, 40, wild=False), random_table(rng, 25, wild=True)
    expected = np.array([[plain_distance(real, generated, i, real, j) for j in range(40)] for i in range(25)])
    found = GowerSpace(real, memory_bytes=1).nearest(generated, real, k=k)
    np.testing.assert_allclose(found.distances, np.sort(expected, 1)[:, :k], atol=1e-12)
    chosen = np.take_along_axis(expected, found.indices, 1)
    np.testing.assert_allclose(chosen, found.distances, atol=1e-12)
    assert all(len(set(row)) == k for row in found.indices)


def test_tiles_of_any_size_give_the_same_bits(rng: np.random.Generator) -> None:
    real, generated = random_table(rng, 5000, wild=False), random_table(rng, 300, wild=True)
    large = GowerSpace(real).nearest(generated, real, k=3)
    small = GowerSpace(real, memory_bytes=1).nearest(generated, real, k=3)
    np.testing.assert_array_equal(large.distances, small.distances)
    np.testing.assert_array_equal(large.indices, small.indices)


def test_equal_distances_go_to_the_first_row() -> None:
    real = numeric_table(np.tile([0.0, 1.0, 2.0], 1500))
    found = GowerSpace(real).nearest(numeric_table([1.0, 2.0]), real, k=3)
    assert found.indices.tolist() == [[1, 4, 7], [2, 5, 8]]
    assert not found.distances.any()


def test_without_others_a_row_is_not_its_own_neighbour() -> None:
    table = numeric_table([0.0, 1.0, 1.0, 4.0])
    found = GowerSpace(table).nearest(table)
    assert found.indices[:, 0].tolist() == [1, 2, 1, 1]
    assert found.distances[:, 0].tolist() == [0.25, 0, 0, 0.75]


def test_rows_of_many_tiles_are_not_their_own_neighbours(rng: np.random.Generator) -> None:
    values = rng.permutation(5000).astype(float)
    table = numeric_table(values)
    found = GowerSpace(table).nearest(table)
    assert (np.abs(values[found.indices[:, 0]] - values) == 1).all()


def test_hand_check() -> None:
    real = numeric_table([0.0, 10.0, 3.0, 4.0, 1.0])
    assert GowerSpace(real).nearest(numeric_table([5.0]), real).distances.item() == pytest.approx(0.1)


def test_toy_tables_equal_sdmetrics(toy_pair: Pair) -> None:
    real, generated = toy_pair
    distances = GowerSpace(real).nearest(generated, real).distances[:, 0]
    assert distances[:5] == pytest.approx([0.035297, 0.089274, 0.067658, 0.274640, 0.049428], abs=1e-6)
    summary = distances.mean(), np.median(distances), distances.min()
    assert summary == pytest.approx((0.111160, 0.061938, 0.002559), abs=1e-6)
    members, others = real.take(np.arange(100)), real.take(np.arange(100, 200))
    share = closest_record(real=members, generated=generated, holdout=others)["dcr_share"]
    assert share.value == pytest.approx(0.493333, abs=1e-6)
    assert share.facets["tied"] == 0


@pytest.mark.parametrize("name", ["holdout", "copula"])
def test_adult_equals_sdmetrics(
    adult: dict[str, EncodedTable], adult_values: dict[str, Any], name: str
) -> None:
    real, first = adult["real"], adult[name].take(np.arange(500))
    distances = GowerSpace(real).nearest(first, real).distances
    assert distances.mean() == pytest.approx(adult_values[name]["dcr_first500_mean"], abs=1e-9)
    assert np.median(distances) == pytest.approx(adult_values[name]["dcr_first500_median"], abs=1e-9)


def test_extreme_numbers_stay_defined() -> None:
    real = numeric_table([[-1e308, 0.0], [1e308, 1e-300], [np.inf, 0.0]])
    asked = numeric_table([[np.inf, -np.inf], [-1e308, 1e-300]])
    found = GowerSpace(real).nearest(asked, real, k=3).distances
    assert np.isfinite(found).all()
    assert (found <= 1).all()


def test_bad_requests_are_refused() -> None:
    table = numeric_table([0.0, 1.0])
    with pytest.raises(ValueError, match=r"1\.\.1"):
        GowerSpace(table).nearest(table, k=2)
    with pytest.raises(ValueError, match="at least one column"):
        GowerSpace(table, columns=())


def test_some_columns_only() -> None:
    real = numeric_table([[0.0, 0.0], [1.0, 9.0]])
    asked = numeric_table([[0.0, 9.0]])
    assert [GowerSpace(real, columns=[c]).nearest(asked, real).indices.item() for c in (0, 1)] == [0, 1]


class TestShareAndRatio:
    def test_fresh_rows_with_a_small_holdout(self, adult_split: dict[str, EncodedTable]) -> None:
        """Ten times more training than holdout rows: without subsampling the larger set wins by size."""
        train, fresh = adult_split["train"], adult_split["test"].take(np.arange(4000))
        holdout = adult_split["holdout"].take(np.arange(400))
        share = closest_record(real=train, generated=fresh, holdout=holdout)["dcr_share"]
        assert share.value == pytest.approx(0.5, abs=0.02)
        space = GowerSpace(train)
        to_train, to_holdout = (space.nearest(fresh, t).distances for t in (train, holdout))
        assert ((to_train < to_holdout) + 0.5 * (to_train == to_holdout)).mean() > 0.85

    def test_copies_and_the_holdout_itself(self, adult_split: dict[str, EncodedTable]) -> None:
        train, holdout = (adult_split[n].take(np.arange(1000)) for n in ("train", "holdout"))
        copy = closest_record(real=train, generated=train, holdout=holdout)
        assert (copy["dcr_share"].value or 0) > 0.99
        assert copy["dcr_ratio"].value == 0
        assert copy["dcr_ratio"].facets["holdout_q50"] > 0
        assert closest_record(real=train, generated=holdout, holdout=holdout)["dcr_ratio"].value == 1

    def test_ratio_without_a_scale_has_no_value(self) -> None:
        table = coded_table([[0], [1]] * 5, [2])
        found = closest_record(real=table, generated=table, holdout=table)
        assert found["dcr_ratio"].value is None
        assert "median distance is 0" in found["dcr_ratio"].reasons[0]
        assert found["dcr_share"].value == 0.5


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_gpu_gives_the_same_neighbours(rng: np.random.Generator) -> None:
    real, generated = random_table(rng, 20_000, wild=False), random_table(rng, 5_000, wild=True)
    here = GowerSpace(real).nearest(generated, real, k=5)
    there = GowerSpace(real, device="cuda").nearest(generated, real, k=5)
    np.testing.assert_array_equal(here.distances, there.distances)
    np.testing.assert_array_equal(here.indices, there.indices)
