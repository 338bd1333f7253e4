"""The encoded table refuses contradictions and keeps its rows straight."""

from __future__ import annotations

import numpy as np
import pytest

from bench.metrics.tabular.bounds import bounded, constant_columns
from bench.metrics.tabular.shape import shape
from bench.metrics.tabular.states import row_ids
from bench.metrics.tabular.table import Column, EncodedTable, check_same_layout, concatenate
from tests.metrics.tabular.encode import coded_table, numeric_table

MIXED = (Column("a", "numeric"), Column("b", "categorical", 2), Column("c", "integer"))


def mixed(n: int = 3) -> EncodedTable:
    return EncodedTable(MIXED, np.arange(2.0 * n).reshape(n, 2), np.zeros((n, 1), np.int32))


def test_columns_are_found_in_their_block() -> None:
    table = mixed()
    assert [table.position(j) for j in range(3)] == [0, 0, 1]
    assert table.values(2).tolist() == [1, 3, 5]
    assert table.values(1).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("numbers", "codes", "message"),
    [
        (np.zeros((2, 1)), np.zeros((2, 1), np.int32), "numbers has 1 columns"),
        (np.zeros((2, 2)), np.zeros((3, 1), np.int32), "2 rows"),
        (np.zeros((2, 2), np.float32), np.zeros((2, 1), np.int32), "float64"),
        (np.zeros((2, 2)), np.zeros((2, 1), np.int64), "int32"),
        (np.zeros((2, 2)), np.full((2, 1), 3, np.int32), "'b' must lie in -1..2"),
        (np.zeros((2, 2)), np.full((2, 1), -2, np.int32), "'b' must lie in -1..2"),
    ],
)
def test_contradictions_are_refused(numbers: np.ndarray, codes: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EncodedTable(MIXED, numbers, codes)


@pytest.mark.parametrize(
    ("columns", "target", "message"),
    [
        ((), None, "at least one column"),
        ((Column("a", "numeric"), Column("a", "numeric")), None, "'a' occurs more than once"),
        ((Column("a", "id"), Column("b", "numeric")), None, "unknown kind"),  # type: ignore[arg-type]
        ((Column("a", "numeric", 3), Column("b", "numeric")), None, "can't have 3 levels"),
        ((Column("a", "numeric"), Column("b", "numeric")), 2, "no index"),
    ],
)
def test_bad_columns_are_refused(columns: tuple[Column, ...], target: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EncodedTable(columns, np.zeros((1, 2)), np.zeros((1, 0), np.int32), target)


def test_tables_of_different_schemas_are_not_compared() -> None:
    with pytest.raises(ValueError, match="generated has 1 columns and real has 3"):
        shape(real=mixed(), generated=numeric_table([1.0]))
    with pytest.raises(ValueError, match="column 'c0' differs"):
        check_same_layout(real=coded_table([[0]], [2]), generated=coded_table([[0]], [3]))
    with pytest.raises(ValueError, match="generated has no rows"):
        shape(real=mixed(), generated=mixed().take(np.array([], dtype=int)))


def test_a_subsample_keeps_order_and_depends_on_the_seed() -> None:
    table = numeric_table(np.arange(100.0))
    some = table.subsample(10, seed=1).numbers[:, 0]
    assert (np.diff(some) > 0).all()
    assert some.tolist() == table.subsample(10, seed=1).numbers[:, 0].tolist()
    assert some.tolist() != table.subsample(10, seed=2).numbers[:, 0].tolist()
    assert table.subsample(200, seed=0) is table
    assert len(concatenate([table, table])) == 200


def test_rows_are_equal_where_values_are() -> None:
    first = numeric_table([[0.0, np.nan], [1.0, np.inf], [0.0, 1.0]])
    second = numeric_table([[-0.0, -np.nan], [0.0, 1.0], [0.0, np.nextafter(1.0, 2.0)]])
    a, b = row_ids(first, second)
    assert a[0] == b[0]
    assert a[2] == b[1]
    assert len({*a, *b}) == 4
    many = np.asfortranarray(np.random.default_rng(0).integers(0, 2, (64, 5)))
    (ids,) = row_ids(coded_table(many, [2] * 5))
    assert len(set(ids)) == len({tuple(row) for row in many})


def test_numbers_are_limited_to_ten_ranges_beyond_the_real_ones() -> None:
    real = numeric_table([0.0, 2.0, np.nan])
    limited = bounded(numeric_table([np.inf, -np.inf, 1.0, np.nan]), real=real).numbers[:, 0]
    np.testing.assert_array_equal(limited, [22.0, -20.0, 1.0, np.nan])
    extreme = numeric_table([-1e308, 1e308])
    assert np.isfinite(bounded(numeric_table([np.inf]), real=extreme).numbers).all()


def test_a_column_with_one_state_is_constant() -> None:
    table = numeric_table([[1.0, np.nan, 1.0], [1.0, np.nan, np.nan]])
    assert constant_columns(table).tolist() == [True, True, False]
