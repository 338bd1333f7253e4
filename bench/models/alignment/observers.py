"""Observers that look at nothing: a floor, an oracle, and people themselves."""

from __future__ import annotations

import numpy as np

from bench.adapters.alignment import Answers, Known, Observer
from bench.errors import MissingRequirement


class Guesser(Observer):
    """Any class with equal chance."""

    def answers(self, known: Known) -> Answers:
        """Independent guesses."""
        rng = np.random.default_rng(known.seed)
        return Answers(decisions=rng.integers(0, known.classes, size=(1, len(known.labels))))


class LabelOracle(Observer):
    """Always right. An upper bound of accuracy, which shows that being right is not being consistent with people."""

    def answers(self, known: Known) -> Answers:
        """The labels."""
        return Answers(decisions=known.labels[None].copy())


class LeaveOneOut(Observer):
    """Each person in turn, compared with the others: what a model could reach at best."""

    def answers(self, known: Known) -> Answers:
        """What the people answered; they are compared with the others only."""
        if known.responses is None:
            raise MissingRequirement("nobody was asked about these images: there are no people to leave out")
        return Answers(decisions=known.responses.copy(), left_out=tuple(range(len(known.responses))))
