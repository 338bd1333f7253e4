"""The comparison of two models over tasks."""

from __future__ import annotations

import numpy as np
import pytest

from bench.stats.compare import TaskPairs, compare
from bench.stats.eprocess import decide
from bench.stats.paired import PairingError, paired_t


def _samples(data: int, gap: float, n: int = 400, **options: object) -> TaskPairs:
    rng = np.random.default_rng(data)
    b = rng.uniform(0.2, 0.7, n)
    a = np.clip(b + gap + rng.normal(0, 0.1, n), 0, 1)
    ids = list(range(n))
    fields = {"task": f"t{data}", "metric": "m", "keys_a": ids, "a": a, "keys_b": ids, "b": b}
    return TaskPairs(**{**fields, "samples": True, "lo": 0.0, "hi": 1.0, **options})  # type: ignore[arg-type]


def _repeats(a: list[float], b: list[float], **options: object) -> TaskPairs:
    return TaskPairs(task="r", metric="m", keys_a=range(len(a)), a=a, keys_b=range(len(b)), b=b, **options)  # type: ignore[arg-type]


def test_a_clear_difference_is_decided_and_worded() -> None:
    (line,) = compare([_samples(0, 0.2)])
    assert line.verdict == "a_better"
    assert line.words("ours", "theirs") == "ours beats theirs (valid at any time)"
    assert line.decided_at is not None
    assert line.decided_at < 100
    assert line.low is not None
    assert line.high is not None
    assert 0 < line.low < line.difference < line.high
    assert line.samples_needed is None


def test_where_lower_is_better_the_smaller_wins() -> None:
    (line,) = compare([_samples(0, 0.2, higher_is_better=False)])
    assert line.verdict == "b_better"
    assert line.difference > 0  # in the units of the metric, whatever its direction


def test_an_open_comparison_says_how_many_more() -> None:
    (line,) = compare([_samples(1, 0.03, n=40)])
    assert line.verdict == "undecided"
    assert line.decided_at is None
    assert line.samples_needed is not None
    assert line.samples_needed > 40
    (later,) = compare([_samples(1, 0.03, n=4 * line.samples_needed)])
    assert later.verdict == "a_better"


def test_evidence_is_that_of_the_decision_in_the_seeded_order() -> None:
    pairs = _samples(2, 0.05)
    (line,) = compare([pairs])
    start = sorted(range(400), key=repr)
    order = np.array(start)[np.random.default_rng(pairs.seed).permutation(400)]
    outcome = decide(np.asarray(pairs.a)[order], np.asarray(pairs.b)[order])
    assert line.log_e == pytest.approx(max(outcome.log_e_a.max(), outcome.log_e_b.max(), 0.0))
    assert line.p_value == pytest.approx(outcome.p_value)
    assert line.decided_at == outcome.decided_at


def test_the_order_in_the_store_does_not_matter_and_the_seed_does() -> None:
    pairs = _samples(3, 0.05)
    turned = _samples(3, 0.05, keys_a=pairs.keys_a[::-1], a=np.asarray(pairs.a)[::-1])
    assert compare([turned])[0].log_e == pytest.approx(compare([pairs])[0].log_e)
    assert compare([_samples(3, 0.05, seed=1)])[0].log_e != compare([pairs])[0].log_e


def test_holm_over_the_tasks() -> None:
    tasks = [_samples(i, gap) for i, gap in enumerate((0.2, 0.0, 0.0))]
    lines = compare(tasks)
    alone = [compare([task])[0] for task in tasks]
    assert [line.p_value for line in lines] == [line.p_value for line in alone]
    assert all(x.adjusted_p >= y.adjusted_p for x, y in zip(lines, alone, strict=True))  # type: ignore[operator]
    assert lines[0].verdict == "a_better"
    assert lines[1].verdict == lines[2].verdict == "undecided"


def test_equal_models_are_rarely_told_apart() -> None:
    verdicts = [
        line.verdict
        for seed in range(10)
        for line in compare([_samples(100 * seed + j, 0.0, n=60) for j in range(4)])
    ]
    assert verdicts.count("undecided") >= 37


def test_repeats_are_a_fixed_test_with_other_words() -> None:
    a, b = [0.9, 0.92, 0.91, 0.93], [0.7, 0.73, 0.71, 0.70]
    (line,) = compare([_repeats(a, b)])
    assert (line.method, line.verdict, line.log_e) == ("paired_t", "differs", None)
    assert "differ in this data" in line.words("a", "b")
    assert line.p_value == paired_t(a, b).p_value
    (corrected,) = compare([_repeats(a, b, test_over_train=1 / 9)])
    assert corrected.method == "corrected_t"
    assert corrected.p_value > line.p_value  # type: ignore[operator]


def test_samples_without_a_finite_range_fall_back_to_the_fixed_test() -> None:
    (line,) = compare([_samples(0, 0.2, hi=float("inf"))])
    assert (line.method, line.verdict) == ("paired_t", "differs")


def test_one_repeat_allows_no_claim() -> None:
    single, several = compare([_repeats([0.9], [0.1]), _repeats([0.9, 0.8, 0.85], [0.1, 0.2, 0.1])])
    assert (single.verdict, single.low, single.p_value) == ("too_few", None, None)
    assert single.words("a", "b") == "one repeat: no claim possible"
    assert several.adjusted_p == several.p_value  # the untested task is no part of the family


def test_unpaired_out_of_range_or_empty_is_refused() -> None:
    with pytest.raises(PairingError, match="are missing in A"):
        compare([_samples(0, 0.1, keys_a=list(range(1, 401)))])
    with pytest.raises(ValueError, match="outside"):
        compare([_samples(0, 0.1, hi=0.3)])
    with pytest.raises(ValueError, match="no tasks"):
        compare([])
