"""Decisions about images, by models that see and by observers that know; for robustness and cue conflict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.adapters.alignment import Answers, Known
from bench.errors import InvalidOutput
from bench.tasks.alignment import artifact as files
from bench.tasks.alignment.readout import readings
from bench.tasks.alignment.seeing import Images, require_vision

Labels = npt.NDArray[np.int64]
NOBODY = -1  # in `left_out`: the run is nobody of the people


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shown:
    """One set of images to decide about."""

    images: Images
    labels: Labels
    classes: int
    space: str
    train: tuple[Images, Labels] | None
    responses: Labels | None  # of people, (observers, n)


def decide(
    adapter: Any, sets: Mapping[str, Shown], *, task: str, seed: int, device: str
) -> tuple[dict[str, Any], str]:
    """(arrays of decisions (trainings, n) by set, with `left_out` (trainings,); the readout used)."""
    if getattr(adapter, "observer", False):
        return _told(adapter, sets, seed), "observer"
    model, headlines = require_vision(adapter, task), []

    def decisions() -> dict[str, Any]:
        found: dict[str, Any] = {}
        together, first = _joined(sets)
        read = readings(
            model, together, space=first.space, classes=first.classes, train=first.train, device=device
        )
        headlines.append(read.headline)
        start = 0
        for name, shown in sets.items():
            stop = start + len(shown.labels)
            found[name] = read.logits[start:stop].argmax(axis=1).astype(np.int16)
            if read.headline == "native" and "probe" in read.by_readout:
                found[f"{name}_probe"] = read.by_readout["probe"][start:stop].argmax(axis=1).astype(np.int16)
            start = stop
        return found

    arrays = files.stacked(list(files.over_runs(model, decisions)))
    arrays["left_out"] = np.full(len(headlines), NOBODY, dtype=np.int16)
    return arrays, headlines[0]


def _joined(sets: Mapping[str, Shown]) -> tuple[Images, Shown]:
    """All images of sets that share their classes and training images, so that a readout is fitted once."""
    every = list(sets.values())
    return np.concatenate([shown.images for shown in every]), every[0]


def _told(adapter: Any, sets: Mapping[str, Shown], seed: int) -> dict[str, Any]:
    arrays: dict[str, Any] = {}
    for name, shown in sets.items():
        known = Known(classes=shown.classes, labels=shown.labels, responses=shown.responses, seed=seed)
        answers = adapter.answers(known)
        if not isinstance(answers, Answers) or answers.decisions.shape[1:] != shown.labels.shape:
            raise InvalidOutput(
                f"{name}: answers() must return Answers with decisions (runs, {len(shown.labels)})"
            )
        arrays[name] = answers.decisions.astype(np.int16)
        runs = len(answers.decisions)
        arrays["left_out"] = np.array(answers.left_out or [NOBODY] * runs, dtype=np.int16)
    return arrays
