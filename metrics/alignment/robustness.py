"""Robustness beside people: accuracies by condition, and their distance from those of people."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from bench.metrics.alignment.result import (
    Float,
    HumanDataError,
    Score,
    function_of_means,
    resampled_means,
    undefined,
)

CATEGORIES = (
    "airplane", "bear", "bicycle", "bird", "boat", "bottle", "car", "cat",
    "chair", "clock", "dog", "elephant", "keyboard", "knife", "oven", "truck",
)  # fmt: skip
NO_ANSWER = "na"  # counts as wrong
# Left out of means over conditions: the undistorted control, and what people themselves cannot see.
LEFT_OUT: Mapping[str, frozenset[str]] = {
    "colour": frozenset({"cr"}),
    "contrast": frozenset({"c100", "c03", "c01"}),
    "high-pass": frozenset({"inf", "0.55", "0.45", "0.4"}),
    "low-pass": frozenset({"0", "15", "40"}),
    "phase-scrambling": frozenset({"0", "150", "180"}),
    "power-equalisation": frozenset({"0"}),
    "false-colour": frozenset({"True"}),
    "rotation": frozenset({"0"}),
    "eidolonI": frozenset({"1-10-10", "64-10-10", "128-10-10"}),
    "eidolonII": frozenset({"1-3-10", "32-3-10", "64-3-10", "128-3-10"}),
    "eidolonIII": frozenset({"1-0-10", "16-0-10", "32-0-10", "64-0-10", "128-0-10"}),
    "uniform-noise": frozenset({"0.0", "0.6", "0.9"}),
}


def is_counted(dataset: str, condition: str) -> bool:
    """Whether a condition takes part in the means of the benchmark."""
    return condition not in LEFT_OUT.get(dataset, frozenset())


def check_responses(responses: npt.ArrayLike) -> None:
    """Raise `HumanDataError` if a response is neither one of the 16 categories nor "na"."""
    found = {str(value) for value in np.unique(np.asarray(responses, dtype=str))}
    strangers = sorted(found - {*CATEGORIES, NO_ANSWER})
    if strangers:
        raise HumanDataError(
            f"responses {strangers[:5]} are none of the 16 categories and not {NO_ANSWER!r} (when reading CSV files, "
            "keep 'na' as text)"
        )


def above_chance(accuracy: npt.ArrayLike, classes: int) -> Float:
    """(accuracy - 1/K) / (1 - 1/K): 0 is guessing, 1 is perfect; negative below chance."""
    return np.asarray((np.asarray(accuracy, dtype=np.float64) - 1 / classes) / (1 - 1 / classes))


def accuracy_difference(
    *,
    correct: npt.ArrayLike,
    condition: npt.ArrayLike,
    human: npt.ArrayLike,
    classes: int,
    human_classes: int,
) -> Score:
    """Mean over conditions of the squared difference of accuracies above chance; 0 is best.

    `correct` (n,) whether the model was right, `condition` (n,) number of the condition, `human` (conditions,)
    accuracy of people. With equal numbers of classes (`classes == human_classes`) plain accuracies are compared, as by
    Geirhos et al. (2021), Partial success in closing the gap between human and machine vision. The interval resamples
    images.
    """
    right, which = np.asarray(correct, dtype=np.float64), np.asarray(condition, dtype=np.int64)
    people = np.asarray(human, dtype=np.float64)
    if len(right) == 0:
        return undefined("no items")
    empty = np.flatnonzero(np.bincount(which, minlength=len(people)) == 0)
    if len(empty):
        return undefined(f"condition {int(empty[0])} has no image")
    same = classes == human_classes
    target = people if same else above_chance(people, human_classes)

    def difference(accuracy: Float) -> Float:
        found = accuracy if same else above_chance(accuracy, classes)
        return np.asarray(((found - target) ** 2).mean(axis=-1))

    table = [right[which == c] for c in range(len(people))]
    if len({len(column) for column in table}) == 1:  # the same images under every condition belong together
        return function_of_means(np.stack(table, axis=1), difference)
    drawn = difference(np.concatenate([resampled_means(column[:, None]) for column in table], axis=1))
    value = float(difference(np.array([column.mean() for column in table])))
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Score(value=value, low=min(low, value), high=max(high, value), n_used=len(right), drawn=drawn)


def curve_area(*, model: npt.ArrayLike, human: npt.ArrayLike) -> float:
    """Mean difference of two curves over evenly spaced levels by the trapezoid rule; above 0: better than people."""
    gap = np.asarray(model, dtype=np.float64) - np.asarray(human, dtype=np.float64)
    if len(gap) < 2:
        raise ValueError("a curve needs at least two levels")
    return float(((gap[1:] + gap[:-1]) / 2).mean())
