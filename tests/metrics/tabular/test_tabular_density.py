"""Shape, pairs, divergences: reference values, hand checks, properties, tables meant to game them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, ks_2samp, pearsonr

from bench.metrics.tabular.divergence import jensen_shannon, wasserstein
from bench.metrics.tabular.joint import cramers_v
from bench.metrics.tabular.pairs import correlation, pair_tv, trend_all
from bench.metrics.tabular.result import Result
from bench.metrics.tabular.shape import kolmogorov_smirnov, shape, shape_na
from bench.metrics.tabular.table import EncodedTable
from tests.metrics.tabular.encode import coded_table, encode, numeric_table

Pair = tuple[EncodedTable, EncodedTable]
Metric = Callable[..., Result]


def by_unit(result: Result, *keys: str) -> dict[Any, float]:
    names = zip(*(result.detail[k] for k in keys), strict=True)
    return dict(zip(names, result.detail["value"].tolist(), strict=True))


class TestToyTables:
    def test_shape_equals_sdmetrics(self, toy_pair: Pair) -> None:
        found = shape(real=toy_pair[0], generated=toy_pair[1])
        assert found.detail["value"] == pytest.approx([0.833333, 0.96, 0.706667, 0.983176], abs=1e-6)

    def test_shape_with_missing_values(self, toy_pair: Pair) -> None:
        found = shape_na(real=toy_pair[0], generated=toy_pair[1])
        assert found.detail["value"] == pytest.approx([0.833333, 0.96, 0.706667, 0.955], abs=1e-6)

    def test_pairs_equal_sdmetrics(self, toy_pair: Pair) -> None:
        found = trend_all(real=toy_pair[0], generated=toy_pair[1])
        expected = {"xy": 0.993978, "xg": 0.608333, "xh": 0.746667, "yg": 0.678333, "yh": 0.645, "gh": 0.485}
        assert {a + b: v for (a, b), v in by_unit(found, "first", "second").items()} == pytest.approx(
            expected, abs=1e-6
        )
        assert found.value == pytest.approx(0.692885, abs=1e-6)
        assert found.facets["n_strong"] == 0
        assert "trend_strong" not in found.facets

    def test_correlations(self, toy_pair: Pair) -> None:
        r = [correlation(table.values(0), table.values(1)) for table in toy_pair]
        assert r == pytest.approx([-0.0241110, -0.0120668], abs=1e-6)

    def test_divergences(self, toy_pair: Pair) -> None:
        js = by_unit(jensen_shannon(real=toy_pair[0], generated=toy_pair[1]), "column")
        assert [js[("g",)], js[("h",)]] == pytest.approx([0.149049, 0.000263], abs=1e-6)
        w1 = wasserstein(real=toy_pair[0], generated=toy_pair[1])
        assert w1.detail["value"] == pytest.approx([0.035098, 0.017117], abs=1e-6)


@pytest.mark.parametrize("name", ["holdout", "copula"])
def test_adult_equals_sdmetrics(
    adult: dict[str, EncodedTable], adult_values: dict[str, Any], name: str
) -> None:
    expected = adult_values[name]
    shapes = shape(real=adult["real"], generated=adult[name])
    assert shapes.value == pytest.approx(expected["shape_mean"], abs=1e-6)
    assert by_unit(shapes, "column") == pytest.approx(
        {(c,): v for c, v in expected["shape"].items()}, abs=1e-6
    )
    pairs = trend_all(real=adult["real"], generated=adult[name])
    assert pairs.n_used == 105
    assert pairs.value == pytest.approx(expected["trend_all_mean"], abs=1e-6)
    found = {"|".join(names): v for names, v in by_unit(pairs, "first", "second").items()}
    assert found == pytest.approx(expected["pairs"], abs=1e-6)


class TestHandChecks:
    def test_tiny_differences_are_not_rounded_away(self, rng: np.random.Generator) -> None:
        x, y = rng.normal(0, 1e-16, 1000), rng.normal(5e-16, 1e-16, 1000)
        assert (shape(real=numeric_table(x), generated=numeric_table(y)).value or 0) < 0.1

    def test_a_collapsed_column_has_no_correlation(self) -> None:
        x = np.arange(1000.0)
        y = x + 30 * np.random.default_rng(0).standard_normal(1000)
        r = float(pearsonr(x, y).statistic)
        real, generated = numeric_table(np.c_[x, y]), numeric_table(np.c_[np.full(1000, 3.0), y])
        assert trend_all(real=real, generated=generated).value == pytest.approx(1 - r / 2)

    def test_a_moved_column_loses_its_relation_to_a_group(self, rng: np.random.Generator) -> None:
        group = np.arange(1000) % 2
        x = rng.normal(5 * group)
        real, generated = (
            encode(pd.DataFrame({"x": v, "g": np.where(group, "a", "b")}))[0] for v in (x, 1000 * x + 5e6)
        )
        assert (trend_all(real=real, generated=generated).value or 1) <= 0.55

    def test_half_missing(self, rng: np.random.Generator) -> None:
        x = rng.normal(size=1000)
        holes = numeric_table(np.where(np.arange(1000) % 2, np.nan, x))
        assert (shape_na(real=holes, generated=numeric_table(x)).value or 1) <= 0.5
        assert (shape(real=holes, generated=numeric_table(x)).value or 0) > 0.95

    def test_one_outlier_in_the_generated_rows(self, rng: np.random.Generator) -> None:
        frame = pd.DataFrame({"x": rng.normal(size=2000), "g": rng.choice(["a", "b"], 2000)})
        other = frame.copy()
        other.loc[0, "x"] = 1e6
        real, generated = encode(frame, other)
        assert (trend_all(real=real, generated=generated).value or 0) >= 0.999
        assert (pair_tv(real=real, generated=generated).value or 0) >= 0.999


class TestAgainstOtherPackages:
    @given(seed=st.integers(0, 2**32 - 1))
    @settings(max_examples=40, deadline=None)
    def test_kolmogorov_smirnov_equals_scipy(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        x, y = (rng.integers(-3, 4, rng.integers(1, 40)).astype(float) for _ in range(2))
        assert kolmogorov_smirnov(x, y) == pytest.approx(ks_2samp(x, y).statistic)

    @given(seed=st.integers(0, 2**32 - 1))
    @settings(max_examples=40, deadline=None)
    def test_cramers_v_equals_scipy(self, seed: int) -> None:
        table = np.random.default_rng(seed).integers(0, 9, (3, 4)) + 1
        chi2 = chi2_contingency(table, correction=False).statistic
        v = cramers_v(table.ravel(), np.arange(12), (3, 4))
        assert v == pytest.approx(np.sqrt(chi2 / table.sum() / 2))

    def test_correlation_equals_scipy(self, rng: np.random.Generator) -> None:
        x, y = rng.normal(1e9, 1, 500), rng.lognormal(0, 3, 500)
        assert correlation(x, y) == pytest.approx(float(pearsonr(x, y).statistic), abs=1e-9)
        assert correlation(np.array([1e308, -1e308, 0]), np.array([1e-300, -1e-300, 0])) == pytest.approx(1)


METRICS = [shape, shape_na, trend_all, pair_tv]


def random_table(rng: np.random.Generator, n: int) -> EncodedTable:
    x = rng.normal(size=n).round(1)
    frame = pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.1, np.nan, x),
            "y": rng.integers(0, 3, n).astype(float) + x,
            "g": rng.choice(["a", "b", None], n),
            "h": np.where(x > 0, "u", "v"),
        }
    )
    levels = pd.DataFrame({"x": [0.0], "y": [0.0], "g": ["a"], "h": ["u"]})
    known = pd.concat([levels, levels.replace({"a": "b", "u": "v"})], ignore_index=True)
    return encode(known, frame)[1]


@pytest.mark.parametrize("metric", METRICS)
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_similarities_stay_in_range_and_ignore_row_order(metric: Metric, seed: int) -> None:
    rng = np.random.default_rng(seed)
    real, generated = random_table(rng, 60), random_table(rng, 45)
    value = metric(real=real, generated=generated).value
    assert value is not None
    assert 0 <= value <= 1
    shuffled = generated.take(rng.permutation(len(generated)))
    assert metric(real=real, generated=shuffled).value == pytest.approx(value, abs=1e-12)
    assert metric(real=real, generated=real).value == pytest.approx(1)


class TestGaming:
    def test_shuffled_columns_keep_shape_and_lose_pairs(self, adult: dict[str, EncodedTable]) -> None:
        real, rng = adult["real"], np.random.default_rng(0)
        shuffled = EncodedTable(
            real.columns, rng.permuted(real.numbers, axis=0), rng.permuted(real.codes, axis=0)
        )
        assert shape_na(real=real, generated=shuffled).value == 1
        fresh = pair_tv(real=real, generated=adult["holdout"]).value
        mixed = pair_tv(real=real, generated=shuffled).value
        assert mixed is not None
        assert fresh is not None
        assert mixed < fresh - 0.03

    def test_non_linear_dependence_is_seen_by_tables_only(self, rng: np.random.Generator) -> None:
        x = rng.normal(size=3000)
        real, generated = numeric_table(np.c_[x, x**2]), numeric_table(np.c_[x, rng.permutation(x**2)])
        assert (trend_all(real=real, generated=generated).value or 0) > 0.95
        assert (pair_tv(real=real, generated=generated).value or 1) < 0.5

    def test_an_atom_has_its_own_bin(self) -> None:
        x = np.r_[np.zeros(950), np.arange(1, 51)]
        y = np.arange(1000.0) % 10
        real = numeric_table(np.c_[x, y])
        assert (pair_tv(real=real, generated=numeric_table(np.c_[np.zeros(1000), y])).value or 1) < 0.96


class TestUndefinedUnits:
    def test_only_the_real_data_exclude(self) -> None:
        empty = np.full(4, np.nan)
        real = numeric_table(np.c_[empty, np.arange(4.0)])
        found = shape(real=real, generated=numeric_table(np.c_[np.arange(4.0), empty]))
        assert found.value == 0
        assert (found.n_used, found.n_excluded) == (1, 1)
        assert found.reasons == ("x0: no real value is present",)

    def test_a_constant_real_column_is_listed_for_each_of_its_pairs(self) -> None:
        real = numeric_table(np.c_[np.ones(9), np.arange(9), np.arange(9) ** 2], names=["k", "a", "b"])
        for metric in (trend_all, pair_tv):
            found = metric(real=real, generated=real)
            assert (found.n_used, found.n_excluded) == (1, 2)
            assert found.reasons[0] == "k x a: k is constant in the real data"

    def test_a_table_without_a_pair_has_no_value(self) -> None:
        one = numeric_table([1.0, 2.0])
        found = trend_all(real=one, generated=one)
        assert found.value is None
        assert found.reasons

    def test_infinite_numbers_count_for_shape_and_are_bounded_elsewhere(self) -> None:
        real = numeric_table(np.c_[np.arange(100.0), np.arange(100.0)])
        holes = real.numbers.copy()
        holes[:50] = np.inf
        generated = numeric_table(holes)
        assert shape(real=real, generated=generated).value == pytest.approx(0.5)
        for metric in (trend_all, pair_tv, jensen_shannon, wasserstein):
            assert np.isfinite(metric(real=real, generated=generated).value)  # type: ignore[arg-type]

    def test_unseen_levels_cost_their_share(self) -> None:
        real, generated = coded_table([[0], [1]] * 5, [2]), coded_table([[0], [2]] * 5, [2])
        assert shape(real=real, generated=generated).value == 0.5

    def test_divergences_at_their_worst(self) -> None:
        real, empty = numeric_table([1.0, 2.0]), numeric_table([np.nan, np.nan])
        assert jensen_shannon(real=real, generated=empty).value == 1
        assert wasserstein(real=real, generated=empty).value == 11
        constant = numeric_table([3.0, 3.0])
        assert wasserstein(real=constant, generated=constant).value == 0
        assert wasserstein(real=constant, generated=real).value == 1
        assert wasserstein(real=coded_table([[0]], [1]), generated=coded_table([[0]], [1])).value is None
