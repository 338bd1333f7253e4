"""Failure policies: each does what it says, and none is the mean over what happened to succeed."""

from __future__ import annotations

import numpy as np
import pytest

from bench.stats.ranking import ranks
from bench.stats.scores import POLICIES, Row, scores_from_rows, scores_from_table

# On `hard`, the bold model solves one repeat very well and fails the other.
ROWS = [
    Row("bold", "hard", 0, 0.9),
    Row("bold", "hard", 1, None),
    Row("steady", "hard", 0, 0.6),
    Row("steady", "hard", 1, 0.6),
    Row("floor", "hard", 0, 0.1),
    Row("floor", "hard", 1, 0.1),
    Row("bold", "easy", 0, 0.8),
    Row("steady", "easy", 0, 0.7),
    Row("floor", "easy", 0, 0.2),
]


def test_baseline_takes_the_value_of_that_repeat() -> None:
    scores = scores_from_rows(ROWS, baseline="floor")
    assert scores.models == ("bold", "floor", "steady")
    assert scores.tasks == ("easy", "hard")
    assert scores.utility == pytest.approx(np.array([[0.8, 0.5], [0.2, 0.1], [0.7, 0.6]]))
    assert scores.failed.tolist() == [[0, 1], [0, 0], [0, 0]]
    assert scores.n_repeats.tolist() == [1, 2]
    assert ranks(scores)[:, 1].tolist() == [2, 3, 1]


def test_worst_shares_the_last_rank() -> None:
    rows = [*ROWS, Row("absent", "easy", 0, 0.0)]
    scores = scores_from_rows(rows, policy="worst")
    assert scores.models == ("absent", "bold", "floor", "steady")
    assert ranks(scores)[:, 1].tolist() == [3.5, 3.5, 2, 1]
    assert scores.failed[0].tolist() == [0, 2]


def test_exclude_ranks_complete_tasks_only_and_names_the_others() -> None:
    scores = scores_from_rows(ROWS, policy="exclude")
    assert (scores.tasks, scores.excluded) == (("easy",), ("hard",))
    with pytest.raises(ValueError, match="leaves no task"):
        scores_from_rows([r for r in ROWS if r.task == "hard"], policy="exclude")


def test_exclude_looks_at_the_shown_models_only() -> None:
    scores = scores_from_rows(ROWS, policy="exclude", models=["steady", "floor"])
    assert scores.tasks == ("easy", "hard")
    assert scores.models == ("steady", "floor")


def test_no_policy_is_the_mean_over_successes() -> None:
    for policy in POLICIES:
        scores = scores_from_rows(ROWS, policy=policy, baseline="floor")
        assert scores.rule
        assert 0.9 not in scores.utility[0].tolist()


def test_a_baseline_need_not_be_shown_and_may_differ_by_task() -> None:
    shown = ["bold", "steady"]
    by_task = scores_from_rows(ROWS, baseline={"hard": "floor"}, models=shown)
    assert by_task.utility[0].tolist() == scores_from_rows(ROWS, baseline="floor").utility[0].tolist()
    with pytest.raises(ValueError, match="hard has failed cells and no baseline"):
        scores_from_rows(ROWS, baseline={"easy": "floor"}, models=shown)


def test_missing_rows_count_as_failures() -> None:
    present = [row for row in ROWS if row.utility is not None]
    assert scores_from_rows(present, baseline="floor").utility.tolist() == (
        scores_from_rows(ROWS, baseline="floor").utility.tolist()
    )


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([], {}, "no results"),
        ([Row("a", "t", 0, 1.0), Row("a", "t", 0, 2.0)], {}, "two results"),
        ([Row("a", "t", 0, float("nan"))], {}, "never NaN"),
        ([Row("a", "t", 0, float("inf"))], {}, "infinite"),
        (ROWS, {"policy": "skip"}, "policy must be one of"),
        (ROWS, {"models": ["nobody"]}, r"\['nobody'\]"),
        (ROWS, {"models": []}, "must be distinct"),
        (ROWS, {"baseline": "bold"}, "baseline bold itself failed"),
        (ROWS, {}, "no baseline"),
    ],
)
def test_bad_input_is_refused(rows: list[Row], options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        scores_from_rows(rows, **options)  # type: ignore[arg-type]


def test_the_order_of_the_rows_does_not_matter() -> None:
    forth, back = (scores_from_rows(rows, baseline="floor") for rows in (ROWS, ROWS[::-1]))
    assert (forth.models, forth.tasks) == (back.models, back.tasks)
    assert forth.utility.tolist() == back.utility.tolist()


def test_a_table_keeps_its_order() -> None:
    table = np.arange(24.0).reshape(2, 12)
    scores = scores_from_table(table, ["z", "a"])
    assert scores.models == ("z", "a")
    assert scores.utility.tolist() == table.tolist()
    for bad in (np.full((2, 2), np.nan), np.zeros((3, 1)), np.zeros((2, 0))):
        with pytest.raises(ValueError, match=r"utility|line per model"):
            scores_from_table(bad, ["a", "b"])
