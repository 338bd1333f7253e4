"""Adapters of the family `alignment`: something that sees, or an observer that answers from what is known.

    class Mine(VisionModel):
        label_space, channels, input_hw = "imagenet1k", 3, (224, 224)
        def setup(self, ctx): ...         # load weights on ctx.device
        def logits(self, x): ...          # (n, classes), before any softmax
        def features(self, x): ...        # (n, d)

Images come as float32 (n, C, H, W) in [0, 1], already resized to `input_hw` and in `channels` channels; normalisation
is the adapter's own. It must be in evaluation mode: an image's result may not depend on the others of its batch.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from bench.errors import InvalidOutput
from bench.spec import Adapter

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from torch import Tensor

    Integers = npt.NDArray[np.int64]

LabelSpace = Literal["imagenet1k", "cifar10", "stw10", "none"]


class NonFiniteScores(InvalidOutput):
    """Logits, features or maps hold values that are not finite."""


class AdapterShapeError(InvalidOutput):
    """An output has another shape than was asked for."""


class AdapterBatchDependence(InvalidOutput):
    """The result of an image depends on its batch; usually batch normalisation in training mode."""


class AdapterGradientError(InvalidOutput):
    """A model that says it is differentiable gives no gradient."""


class VisionModel(Adapter):
    """Turns images into features, and into logits if it has a label space."""

    label_space: LabelSpace = (
        "none"  # what the logits stand for; "none": the bench fits a readout on the features
    )
    channels: Literal[1, 3] = 3
    input_hw: tuple[int, int] | None = (224, 224)  # None: takes images of any size, from 64 pixels on
    differentiable: bool = True
    native_head: bool = True  # False: there are logits, but they were never trained to name classes
    runs: int = 1  # trainings of the same model; every number is the mean over them

    def use_run(self, run: int) -> None:
        """Load training number `run`, from 0 on; called before any output of it is asked for."""
        return

    def logits(self, x: Tensor) -> Tensor:
        """float32 (n, K), before any softmax."""
        # Only models with a label space are asked, and those have to override it.
        raise NotImplementedError(
            f"{type(self).__name__} has the label space {self.label_space!r} but no logits"
        )

    @abstractmethod
    def features(self, x: Tensor) -> Tensor:
        """float32 (n, d)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What an observer may look at."""

    classes: int
    labels: Integers  # (n,)
    responses: Integers | None  # (observers, n) of people, -1 without an answer; None where nobody was asked
    seed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Decisions of one or more observers, int64 (runs, n), -1 without an answer."""

    decisions: Integers
    left_out: tuple[
        int, ...
    ] = ()  # per run the person who answers, and is then not compared with; () for none


class Observer(Adapter):
    """Answers without looking at images: floors, oracles, people. Takes part where decisions are compared."""

    observer: ClassVar[bool] = True

    @abstractmethod
    def answers(self, known: Known) -> Answers:
        """The decisions; `MissingRequirement` if they cannot be known."""
