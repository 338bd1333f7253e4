"""Error consistency: by hand, all 604 pairs of people against a loop, the published table of 17 data sets."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bench.metrics.alignment.consistency import Block, blocks, consistency_with, error_consistency, mean_kappa
from bench.metrics.alignment.result import HumanDataError, mean_of
from bench.metrics.alignment.robustness import check_responses, is_counted

Table = Callable[[str], pd.DataFrame]
TRIALS = "human_trials_17datasets.parquet"
# Accuracy and kappa between people, after the conditions that do not count.
PUBLISHED = {
    "colour": (0.8867, 0.4154), "contrast": (0.6609, 0.4370), "cue-conflict": (0.7755, 0.3311),
    "edge": (0.8712, 0.3184), "eidolonI": (0.6075, 0.3863), "eidolonII": (0.5828, 0.4540),
    "eidolonIII": (0.6391, 0.4595), "false-colour": (0.8737, 0.4440), "high-pass": (0.6289, 0.4401),
    "low-pass": (0.6612, 0.4689), "phase-scrambling": (0.6879, 0.4467), "power-equalisation": (0.7589, 0.5106),
    "rotation": (0.8299, 0.4385), "silhouette": (0.7531, 0.4757), "sketch": (0.9162, 0.3696),
    "stylized": (0.4712, 0.5006), "uniform-noise": (0.6828, 0.4341),
}  # fmt: skip


def all_blocks(trials: pd.DataFrame) -> list[Block]:
    return list(
        blocks(
            keys=[trials["dataset"], trials["condition"]],
            observer=trials["subj"],
            image=trials["image_id"],
            correct=trials["object_response"].astype(str).to_numpy()
            == trials["category"].astype(str).to_numpy(),
        )
    )


def kappa_of(a: Any, b: Any) -> float:
    """The formula as it is printed, for two observers."""
    observed = np.mean(a == b)
    p, q = np.mean(a), np.mean(b)
    expected = p * q + (1 - p) * (1 - q)
    return 1.0 if observed == 1 else float((observed - expected) / (1 - expected))


def test_all_pairs_of_people(table: Table) -> None:
    trials = table(TRIALS)
    trials["right"] = trials["object_response"].astype(str) == trials["category"].astype(str)
    expected = {}
    for (dataset, condition), part in trials.groupby(["dataset", "condition"], observed=True):
        wide = part.pivot(index="image_id", columns="subj", values="right")
        wide = wide[sorted(wide.columns)]
        for one, other in combinations(wide.columns, 2):
            expected[dataset, condition, one, other] = kappa_of(wide[one].to_numpy(), wide[other].to_numpy())
    found = {
        (*block.key, block.observers[i], block.observers[j]): kappa
        for block in all_blocks(trials)
        for (i, j), kappa in zip(
            combinations(range(len(block.observers)), 2),
            error_consistency(correct=block.correct).pairs(),
            strict=True,
        )
    }
    assert len(found) == 604
    assert found.keys() == expected.keys()
    assert max(abs(found[key] - expected[key]) for key in found) < 1e-12


def test_the_published_table(table: Table) -> None:
    kept = [block for block in all_blocks(table(TRIALS)) if is_counted(*block.key)]
    assert len(kept) == 46
    rows: dict[str, list[tuple[float, float, float]]] = {}
    for block in kept:
        found = error_consistency(correct=block.correct)
        seen = found.observed[np.triu_indices(len(block.observers), 1)]
        rows.setdefault(block.key[0], []).append((block.correct.mean(), found.pairs().mean(), seen.mean()))
    means = {name: np.mean(values, axis=0) for name, values in rows.items()}
    assert means.keys() == PUBLISHED.keys()
    for name, (accuracy, kappa) in PUBLISHED.items():
        assert means[name][0] == pytest.approx(accuracy, abs=1e-4), name
        assert means[name][1] == pytest.approx(kappa, abs=1e-4), name
    assert np.mean(list(means.values()), axis=0) == pytest.approx((0.7228, 0.4312, 0.8085), abs=1e-4)


def test_every_condition_agrees_with_the_table_of_conditions(table: Table) -> None:
    rows = table("human_reference_by_condition.csv").set_index(["dataset", "condition"])
    for block in all_blocks(table(TRIALS)):
        found, row = error_consistency(correct=block.correct), rows.loc[block.key]
        pairs = found.pairs()
        assert (len(block.observers), len(block.images)) == (int(row["n_subj"]), int(row["n_img"]))
        assert (pairs.mean(), pairs.min(), pairs.max()) == pytest.approx(
            (float(row["ec"]), float(row["ec_min"]), float(row["ec_max"])), abs=1e-6
        )


def test_knowing_every_answer_is_no_consistency(table: Table) -> None:
    for block in all_blocks(table(TRIALS))[:6]:
        everything = consistency_with(model=np.ones(len(block.images)), people=block.correct)
        assert np.abs(everything.kappa[block.correct.mean(axis=1)[None, :] < 1]).max() < 1e-12


def test_by_hand() -> None:
    assert error_consistency(correct=[[1, 1, 0, 0], [1, 0, 0, 0]]).kappa[0, 1] == pytest.approx(0.5)
    assert error_consistency(correct=[[1, 0, 1, 0], [0, 1, 0, 1]]).kappa[0, 1] == pytest.approx(-1)
    assert consistency_with(model=[1, 1, 0, 0], people=[[1, 0, 0, 0]]).kappa[0, 0] == pytest.approx(0.5)


def test_the_mean_kappa_is_that_of_the_pairs_with_an_interval_around_it() -> None:
    rng = np.random.default_rng(0)
    people = rng.random((4, 200)) < 0.7
    model = np.where(rng.random(200) < 0.6, people[0], rng.random(200) < 0.5)
    found = mean_kappa(model=model, people=people)
    assert found.value == pytest.approx(np.mean([kappa_of(model, person) for person in people]), abs=1e-12)
    assert found.low is not None
    assert found.high is not None
    assert found.low < (found.value or 0) < found.high
    both = mean_of([found, mean_kappa(model=people[1], people=people[1:2])])
    assert both.value == pytest.approx(((found.value or 0) + 1) / 2)
    assert (both.high or 0) - (both.low or 0) < found.high - found.low


def table_of(rows: list[tuple[str, str, bool]]) -> dict[str, Any]:
    who, what, right = zip(*rows, strict=True)
    key = np.array(["set"] * len(rows), dtype=object)
    return {"keys": [key], "observer": np.array(who), "image": np.array(what), "correct": np.array(right)}


def test_an_image_answered_twice_is_named() -> None:
    with pytest.raises(HumanDataError, match=r"twice: \[\('b', 'x'\)\]"):
        list(blocks(**table_of([("a", "x", True), ("b", "x", True), ("b", "x", False)])))


def test_observers_who_share_too_little_are_refused() -> None:
    with pytest.raises(HumanDataError, match="share 1 of them"):
        list(blocks(**table_of([("a", "x", True), ("a", "y", True), ("b", "x", False), ("b", "z", False)])))


def test_observers_with_different_images_keep_what_both_saw() -> None:
    names = [f"i{i:03d}" for i in range(120)]
    rows = [("a", n, True) for n in names[:110]] + [("b", n, i % 2 == 0) for i, n in enumerate(names)][5:]
    (block,) = blocks(**table_of(rows))
    assert block.images == tuple(names[5:110])
    assert block.correct[1].tolist() == [i % 2 == 0 for i in range(5, 110)]


def test_the_order_of_rows_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    rows = [(who, f"i{i}", bool(rng.integers(2))) for who in "abc" for i in range(30)]
    (one,) = blocks(**table_of(rows))
    (other,) = blocks(**table_of([rows[i] for i in rng.permutation(len(rows))]))
    assert (one.images, one.correct.tolist()) == (other.images, other.correct.tolist())


def test_unknown_responses_are_refused_and_na_is_an_answer() -> None:
    check_responses(["na", "cat"])
    with pytest.raises(HumanDataError, match="nan"):
        check_responses(["nan", "cat"])


@given(hnp.arrays(np.bool_, st.tuples(st.integers(2, 5), st.integers(1, 40))))
def test_kappa_is_symmetric_bounded_and_one_with_itself(correct: Any) -> None:
    found = error_consistency(correct=correct).kappa
    assert np.allclose(found, found.T)
    assert (found <= 1 + 1e-12).all()
    assert (found >= -1 - 1e-12).all()
    assert np.allclose(np.diag(found), 1)
