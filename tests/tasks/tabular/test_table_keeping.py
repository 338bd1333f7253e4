"""What is known of the real rows is computed once a unit, and never believed when it is damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bench.tasks.tabular.keeping import StoredCache

KEY = ("columns", "fingerprint", ("trees",), 7)
VALUES = np.array([[1.0, np.nan], [-2.0, np.inf]])


def never() -> np.ndarray:
    raise AssertionError("computed again")


def test_an_array_is_computed_once_and_read_by_the_next_job(tmp_path: Path) -> None:
    first = StoredCache(tmp_path)
    np.testing.assert_array_equal(first.array(KEY, (2, 2), lambda: VALUES), VALUES)
    assert first.array(KEY, (2, 2), never) is first.array(KEY, (2, 2), never)
    np.testing.assert_array_equal(StoredCache(tmp_path).array(KEY, (2, 2), never), VALUES)


@pytest.mark.parametrize("key", [("columns", "other", ("trees",), 7), (*KEY, "more")])
def test_other_keys_and_shapes_are_other_arrays(tmp_path: Path, key: tuple[object, ...]) -> None:
    StoredCache(tmp_path).array(KEY, (2, 2), lambda: VALUES)
    again = StoredCache(tmp_path)
    assert again.array(key, (1,), lambda: np.array([3.0])).tolist() == [3.0]  # type: ignore[arg-type]
    assert again.array(KEY, (4,), lambda: np.arange(4.0)).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("damage", [b"", b"\x93NUMPY", None])
def test_a_damaged_file_is_made_again(tmp_path: Path, damage: bytes | None) -> None:
    StoredCache(tmp_path).array(KEY, (2, 2), lambda: VALUES)
    (file,) = (tmp_path / "tabular").iterdir()
    if damage is None:
        np.save(file, np.zeros(3))
    else:
        file.write_bytes(damage)
    np.testing.assert_array_equal(StoredCache(tmp_path).array(KEY, (2, 2), lambda: VALUES), VALUES)


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="reshape"):
        StoredCache(tmp_path).array(KEY, (3,), lambda: VALUES)
