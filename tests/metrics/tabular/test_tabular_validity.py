"""Values, missing patterns, rules, rare and frequent categories."""

from __future__ import annotations

import numpy as np
import pytest

from bench.metrics.tabular.adherence import (
    category_adherence,
    decimals_adherence,
    missing_patterns,
    missing_rates,
    range_adherence,
)
from bench.metrics.tabular.constraints import Rule, broken, constraint_violations, mine
from bench.metrics.tabular.rarity import duplicate_rows, high_cardinality, rare_coverage
from bench.metrics.tabular.table import Column, EncodedTable
from tests.metrics.tabular.conftest import LoadFrame
from tests.metrics.tabular.encode import coded_table, numeric_table

Pair = tuple[EncodedTable, EncodedTable]


def test_toy_tables_equal_sdmetrics(toy_pair: Pair) -> None:
    real, generated = toy_pair
    ranges = range_adherence(real=real, generated=generated).detail
    assert dict(zip(ranges["column"], ranges["value"], strict=True))["x"] == pytest.approx(0.74)
    categories = category_adherence(real=real, generated=generated).detail
    assert dict(zip(categories["column"], categories["value"], strict=True))["g"] == pytest.approx(
        0.753333, abs=1e-6
    )
    assert categories["violations"].tolist() == [37, 0]


def test_infinite_values_are_out_of_range_and_empty_columns_worst() -> None:
    real = numeric_table([[0.0, 1.0, np.nan], [1.0, 2.0, np.nan]])
    generated = numeric_table([[np.inf, np.nan, 1.0], [0.5, np.nan, 1.0]])
    found = range_adherence(real=real, generated=generated)
    assert found.detail["value"].tolist() == [0.5, 0.0]
    assert found.reasons == ("x2: no real value is present",)
    assert category_adherence(real=real, generated=generated).value is None


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        (Column("n", "integer"), [1.0, 2.0, 2.5, -3.0], 0.75),
        (Column("n", "integer"), [2.0**53, 1e300, np.inf, np.nan], 2 / 3),
        (Column("n", "numeric", decimals=2), [0.1, 1234567.89, 0.125, 33.33], 0.75),
        (Column("n", "numeric", decimals=0), [0.1, 1.0], 0.5),
    ],
)
def test_decimals(column: Column, values: list[float], expected: float) -> None:
    real = EncodedTable((column,), np.array([[1.0], [2.0]]), np.empty((2, 0), np.int32))
    generated = EncodedTable((column,), np.array(values)[:, None], np.empty((len(values), 0), np.int32))
    assert decimals_adherence(real=real, generated=generated).value == pytest.approx(expected)


def test_missing_rates_and_patterns() -> None:
    real = numeric_table([[np.nan, np.nan], [1, 1], [1, 1], [1, 1]])
    apart = numeric_table([[np.nan, 1], [1, np.nan], [1, 1], [1, 1]])
    assert missing_rates(real=real, generated=apart).value == 0
    assert missing_patterns(real=real, generated=apart).value == pytest.approx(0.5)
    assert missing_patterns(real=real, generated=real).value == 0
    full = numeric_table(np.ones((4, 2)))
    assert missing_rates(real=real, generated=full).value == 0.25
    values = numeric_table(np.c_[np.arange(4.0), np.arange(4.0)])
    assert missing_patterns(real=full, generated=values).value == 0


class TestRules:
    def test_adult_rules_are_found_and_their_breaking_measured(
        self, adult_split: dict[str, EncodedTable], load_frame: LoadFrame
    ) -> None:
        real, holdout, test = (adult_split[n] for n in ("train", "holdout", "test"))
        rng = np.random.default_rng(0)
        shuffled = EncodedTable(
            real.columns, rng.permuted(real.numbers, axis=0), rng.permuted(real.codes, axis=0), real.target
        )

        def rates(generated: EncodedTable) -> dict[str, float]:
            found = constraint_violations(real=real, generated=generated, holdout=holdout)
            assert not found.detail["holdout"].any()
            return dict(zip(found.detail["rule"], found.detail["value"].tolist(), strict=True))

        assert set(rates(test).values()) == {0.0}
        independent = rates(shuffled)
        assert independent["education determines education-num"] == pytest.approx(0.81, abs=0.01)
        assert independent["occupation is missing where workclass is"] == pytest.approx(0.051, abs=0.005)

    def test_a_copula_breaks_a_dependency_nearly_always(self, adult: dict[str, EncodedTable]) -> None:
        names = [c.name for c in adult["real"].columns]
        rule = Rule("determines", (names.index("education"), names.index("education-num")))
        assert broken(rule, adult["copula"], real=adult["real"]).mean() == pytest.approx(0.88, abs=0.01)
        assert not broken(rule, adult["holdout"], real=adult["real"]).any()

    def test_every_kind_by_hand(self) -> None:
        table = numeric_table([[1, 2], [3, 2], [np.nan, 2], [np.nan, np.nan], [5, np.nan]], names=["a", "b"])
        expected = {
            Rule("at_most", (0, 1)): [False, True, False, False, False],
            Rule("missing_implies", (0, 1)): [False, False, True, False, False],
            Rule("missing_together", (0, 1)): [False, False, True, False, True],
            Rule("range", (0,), (2, 4)): [True, False, False, False, True],
            Rule("in_set", (0,), (1, 3)): [False, False, False, False, True],
        }
        for rule, rows in expected.items():
            assert broken(rule, table, real=table).tolist() == rows, rule.describe(table)
        real = numeric_table([[1, 10], [2, 20]])
        asked = numeric_table([[1, 10], [1, 20], [3, 10], [np.nan, 1]])
        assert broken(Rule("determines", (0, 1)), asked, real=real).tolist() == [False, True, True, False]

    def test_orders_and_gaps_are_mined(self, rng: np.random.Generator) -> None:
        start = rng.normal(size=400).round(3)
        end = start + rng.random(400).round(3)
        gone = rng.random(400) < 0.2
        numbers = np.c_[start, end, np.where(gone, np.nan, start)]
        numbers[gone, 1] = np.nan
        table = numeric_table(numbers, names=["start", "end", "note"])
        found = {
            rule.describe(table)
            for rule in mine(real=table.take(np.arange(200)), holdout=table.take(np.arange(200, 400)))
        }
        assert {"start <= end", "end is missing where note is", "note is missing where end is"} <= found
        assert "end <= start" not in found

    def test_a_table_without_rules_has_no_value(self, rng: np.random.Generator) -> None:
        table = numeric_table(rng.normal(size=(100, 2)))
        found = constraint_violations(real=table, generated=table, holdout=table)
        assert found.value is None
        assert found.reasons == ("no rule was declared or found in the real rows",)


def test_rare_categories() -> None:
    real = coded_table(np.r_[np.zeros(985), np.ones(5), np.full(10, 2)][:, None], [3])
    generated = coded_table(np.r_[np.zeros(990), np.ones(10)][:, None], [3])
    found = rare_coverage(real=real, generated=generated)
    assert found.value == 0.5
    assert found.facets["log_ratio"] == pytest.approx(np.log(2))
    assert rare_coverage(real=generated.take(np.arange(10)), generated=generated).value is None


def test_duplicates_are_compared_on_equally_many_rows() -> None:
    unique = numeric_table(np.arange(100.0))
    doubled = numeric_table(np.repeat(np.arange(50.0), 2))
    assert duplicate_rows(real=unique, generated=doubled).value == 0.5
    assert duplicate_rows(real=unique, generated=doubled.take(np.arange(0, 100, 2))).value == 0


def test_columns_with_many_levels() -> None:
    real = coded_table(np.arange(300)[:, None] % 100, [100])
    assert high_cardinality(real=real, generated=real).value == 1
    half = coded_table(np.arange(300)[:, None] % 50, [100])
    found = high_cardinality(real=real, generated=half)
    assert found.value == pytest.approx(0.5)
    assert found.facets["distinct_ratio"] == 0.5
    gone = coded_table(np.full((300, 1), -1), [100])
    assert high_cardinality(real=real, generated=gone).value == 0
    assert high_cardinality(real=coded_table([[0]], [1]), generated=coded_table([[0]], [1])).value is None
