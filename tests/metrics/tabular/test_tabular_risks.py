"""Singling out, linkability, inference: the formula by hand, copies, fresh rows."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from bench.metrics.tabular.record_attacks import attribute_inference, linkability
from bench.metrics.tabular.risk import added_risk
from bench.metrics.tabular.singling_out import Condition, matches, singling_out
from bench.metrics.tabular.table import Column, EncodedTable, concatenate
from tests.metrics.tabular.encode import coded_table, numeric_table


def test_wilson_rates_equal_statsmodels() -> None:
    for successes in (0, 3, 250, 500):
        low, high = proportion_confint(successes, 500, method="wilson")
        assert added_risk(real=(successes, 500), holdout=(0, 500)).real_rate == pytest.approx(
            (low + high) / 2
        )


def test_risk_by_hand() -> None:
    risk = added_risk(real=(60, 100), holdout=(20, 100))
    z2 = 1.959963984540054**2
    rate, base = (60 + z2 / 2) / (100 + z2), (20 + z2 / 2) / (100 + z2)
    assert risk.value == pytest.approx((rate - base) / (1 - base))
    assert 0 < risk.low < risk.value < risk.high < 1
    none = added_risk(real=(0, 100), holdout=(50, 100))
    assert (none.value, none.low) == (0, 0)
    with pytest.raises(ValueError, match="make no rate"):
        added_risk(real=(3, 2), holdout=(0, 1))


def test_predicates_are_evaluated_on_values() -> None:
    table = EncodedTable(
        numeric_table([0.0]).columns + coded_table([[0]], [2]).columns,
        np.array([[1.0], [2.0], [np.nan], [3.0]]),
        np.array([[0], [1], [1], [-1]], dtype=np.int32),
    )
    assert matches((Condition(0, ">=", 2.0),), table) == 2
    assert matches((Condition(0, "<=", 2.0), Condition(1, "==", 1)), table) == 1
    assert matches((Condition(0, "missing"),), table) == 1
    assert matches((Condition(1, "missing"), Condition(0, "==", 3.0)), table) == 1
    assert matches((Condition(1, "<=", 5),), table) == 3


@pytest.fixture(scope="module")
def people(adult_split: dict[str, EncodedTable]) -> dict[str, EncodedTable]:
    return {name: adult_split[name].take(np.arange(1500)) for name in ("train", "holdout", "test")}


@pytest.mark.parametrize("attack", [singling_out, linkability, attribute_inference])
def test_copies_carry_the_risk_and_fresh_rows_do_not(people: dict[str, EncodedTable], attack: object) -> None:
    def risk(generated: EncodedTable) -> float:
        found = attack(real=people["train"], generated=generated, holdout=people["holdout"], attacks=300)  # type: ignore[operator]
        assert found.value is not None
        return float(found.value)

    copied, fresh = risk(people["train"]), risk(people["test"])
    assert copied > 0.4
    assert fresh < 0.1
    half = concatenate([people["train"].take(np.arange(750)), people["test"].take(np.arange(750))])
    assert fresh < risk(half) < copied


def test_inference_takes_numbers_within_five_per_cent() -> None:
    real = numpy_table([[0, 100.0], [1, 200.0], [2, 0.0], [3, np.nan]])
    close = numpy_table([[0, 104.9], [1, 211.0], [2, 0.09], [3, np.nan]])
    found = attribute_inference(real=real, generated=close, holdout=real, sensitive=[1])
    # 104.9 is within 5 of 100, 211 is not within 10 of 200, 0.09 is within 5 % of 1 % of 200, both missing agree.
    z2 = 1.959963984540054**2
    assert found.detail["real_rate"].tolist() == pytest.approx([(3 + z2 / 2) / (4 + z2)])
    assert found.value == 0, "the holdout is the same"


def test_inference_of_dates_does_not_depend_on_the_origin_of_time() -> None:
    days = np.array([[0.0, 0.0], [1.0, 1000.0], [2.0, 400.0]])
    columns = (Column("key", "numeric"), Column("when", "datetime"))

    def dated(start: float, late: float) -> EncodedTable:
        return EncodedTable(
            columns, days + [0.0, start] + np.c_[np.zeros(3), [0, 0, late]], np.empty((3, 0), np.int32)
        )

    rates = [
        attribute_inference(
            real=dated(start, 0), generated=dated(start, late), holdout=dated(start, 0), sensitive=[1]
        ).detail["real_rate"][0]
        for start, late in ((0, 0), (0, 2), (1e9, 0), (1e9, 2))
    ]
    assert rates[0] == rates[2] > rates[1] == rates[3]


def numpy_table(values: list[list[float]]) -> EncodedTable:
    return numeric_table(np.array(values))


def test_nothing_to_attack() -> None:
    same = coded_table([[0], [0], [1], [1]], [2])
    assert singling_out(real=same, generated=same, holdout=same).value is None
    assert linkability(real=same, generated=same, holdout=same).value is None
    assert attribute_inference(real=same, generated=same, holdout=same).value is None
