"""The metrics under audit: what each claims to measure, and their values on a pair of sets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from bench.metrics import images as metrics
from bench.metrics.images.chamfer_median import chamfer_median_of
from bench.metrics.images.fd_infinity import SMALLEST
from bench.metrics.images.symmetric import symmetric_of
from bench.tasks.images.audit.scenarios import Aspect, Features
from bench.tasks.images.deviation import bounded_deviation

Values = dict[str, float]
Worse = Literal[-1, 1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """`worse` is 1 where larger values are worse. `has_k`: it depends on a number of neighbours."""

    aspects: tuple[Aspect, ...]
    worse: Worse
    has_k: bool = False


_FC: tuple[Aspect, ...] = ("fidelity", "coverage")
_F: tuple[Aspect, ...] = ("fidelity",)
_C: tuple[Aspect, ...] = ("coverage",)
_N: tuple[Aspect, ...] = ("copying",)

AUDITED: Mapping[str, Audited] = {
    "chamfer_dev": Audited(aspects=_FC, worse=1, has_k=True),
    "g2r_ratio": Audited(aspects=_F, worse=1, has_k=True),
    "r2g_ratio": Audited(aspects=_C, worse=1, has_k=True),
    "self_ratio": Audited(aspects=_C, worse=-1, has_k=True),
    "g2r_median": Audited(aspects=_F, worse=1),
    "r2g_median": Audited(aspects=_C, worse=1),
    "fd": Audited(aspects=_FC, worse=1),
    "fd_inf": Audited(aspects=_FC, worse=1),
    "kid": Audited(aspects=_FC, worse=1),
    "rbf_mmd": Audited(aspects=_FC, worse=1),
    "sw2": Audited(aspects=_FC, worse=1),
    "precision": Audited(aspects=_F, worse=-1, has_k=True),
    "recall": Audited(aspects=_C, worse=-1, has_k=True),
    "density": Audited(aspects=_F, worse=-1, has_k=True),
    "coverage": Audited(aspects=_C, worse=-1, has_k=True),
    "sym_precision": Audited(aspects=_F, worse=-1, has_k=True),
    "sym_recall": Audited(aspects=_C, worse=-1, has_k=True),
    "clipped_density": Audited(aspects=_F, worse=-1, has_k=True),
    "clipped_coverage": Audited(aspects=_C, worse=-1, has_k=True),
    "p_precision": Audited(aspects=_F, worse=-1, has_k=True),
    "p_recall": Audited(aspects=_C, worse=-1, has_k=True),
    "inception_score": Audited(aspects=_FC, worse=-1),
    "class_tv": Audited(aspects=_C, worse=1),
    "vendi_ratio": Audited(aspects=_C, worse=-1),
    "rank_ratio": Audited(aspects=_C, worse=-1),
    "memorisation_ratio": Audited(aspects=_N, worse=-1),
    "authenticity": Audited(aspects=_N, worse=-1),
    "copying_z": Audited(aspects=_N, worse=-1),
    "cell_copying_z": Audited(aspects=_N, worse=-1),
    "fld_gap": Audited(aspects=_N, worse=-1),
}
SLOW = frozenset({"fd_inf", "fld_gap", "cell_copying_z"})  # most of the time together; at size full only
DIRECTIONS = (
    64  # of the sliced distance, the same ones for all sets: a whole basis takes longer than all the rest
)
CLASSES = frozenset({"inception_score", "class_tv"})  # need the encoder's classifier


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """What metrics need beside a pair of sets, and the device of all of it.

    `head`: weights (classes, d) and bias of the encoder's classifier.
    """

    train: Tensor
    unseen: Tensor  # real samples that are neither reference, nor generated, nor training samples
    radii: Tensor  # of each training sample to its nearest other one
    reference: Tensor  # of each unseen sample to the nearest training sample
    head: tuple[Tensor, Tensor] | None
    slow: bool

    @classmethod
    def against(
        cls, train: Tensor, unseen: Tensor, *, head: tuple[Tensor, Tensor] | None, slow: bool
    ) -> Measuring:
        """Compute what all sets are compared with."""
        radii = metrics.training_radii(train=train)
        reference = metrics.held_out_distances(train=train, held_out=unseen)
        return cls(train=train, unseen=unseen, radii=radii, reference=reference, head=head, slow=slow)

    def names(self) -> tuple[str, ...]:
        """The metrics that can be measured here."""
        return tuple(
            name
            for name in AUDITED
            if (self.slow or name not in SLOW) and (self.head is not None or name not in CLASSES)
        )

    def values(self, real: Features, generated: Features) -> Values:
        """Every metric of `names` on one pair; nan where it is not defined on it."""
        x, y = self._moved(real, generated)
        found = {**_neighbors(x, y, k_distance=1, k_balls=5), **self._moments(x, y), **self._novelty(y)}
        if self.head is not None:
            found |= self._classes(x, y)
        return found

    def at_k(self, real: Features, generated: Features, k: int) -> Values:
        """Those that depend on a number of neighbours, all with `k`."""
        values = _neighbors(*self._moved(real, generated), k_distance=k, k_balls=k)
        return {name: values[name] for name, audited in AUDITED.items() if audited.has_k}

    def _moved(self, real: Features, generated: Features) -> tuple[Tensor, Tensor]:
        device = self.train.device
        return torch.from_numpy(real).to(device), torch.from_numpy(generated).to(device)

    def _moments(self, x: Tensor, y: Tensor) -> Values:
        found = {
            "fd": metrics.frechet_distance(real=x, generated=y).distance,
            "kid": 1000 * metrics.kernel_distance(real=x, generated=y).mmd2,
            "rbf_mmd": metrics.rbf_mmd(real=x, generated=y).mmd2,
            "sw2": metrics.sliced_wasserstein(real=x, generated=y, directions=DIRECTIONS).squared,
            "vendi_ratio": metrics.vendi(generated=y).order_1 / metrics.vendi(generated=x).order_1,
            "rank_ratio": metrics.effective_rank(real=x, generated=y).ratio,
        }
        if self.slow:
            found["fd_inf"] = (
                metrics.frechet_infinity(real=x, generated=y, seed=0).distance
                if len(y) >= SMALLEST
                else math.nan
            )
        return found

    def _novelty(self, y: Tensor) -> Values:
        train, unseen = self.train, self.unseen
        found = {
            "memorisation_ratio": metrics.memorisation_ratio(train=train, held_out=unseen, generated=y).ratio,
            "authenticity": metrics.authenticity(train=train, generated=y, radii=self.radii).share,
            "copying_z": metrics.copying_test(
                train=train, held_out=unseen, generated=y, reference=self.reference
            ).z,
        }
        if self.slow:
            found["cell_copying_z"] = metrics.cell_copying_test(train=train, held_out=unseen, generated=y).z
            found["fld_gap"] = metrics.fld_gap(train=train, held_out=unseen, generated=y).gap
        return found

    def _classes(self, x: Tensor, y: Tensor) -> Values:
        assert self.head is not None
        weights, bias = self.head
        logits = [(part @ weights.T + bias).cpu().numpy() for part in (x, y)]
        labels = [part.argmax(axis=1) for part in logits]
        return {
            "inception_score": metrics.inception_score(logits=logits[1]).score,
            "class_tv": metrics.class_balance(real=labels[0], generated=labels[1]).total_variation,
        }


def _neighbors(x: Tensor, y: Tensor, *, k_distance: int, k_balls: int) -> Values:
    found = metrics.neighbor_metrics(real=x, generated=y, ks=(k_distance,), ball_ks=(k_balls,))
    chamfer, balls = found.chamfer[k_distance], found.precision_recall[k_balls]
    depth = found.density_coverage[k_balls]
    symmetric = symmetric_of(found.neighborhood, k_balls)
    medians = chamfer_median_of(found.neighborhood)
    clipped = metrics.clipped_density_coverage(real=x, generated=y, k=k_balls)
    soft = metrics.probabilistic_precision_recall(real=x, generated=y, k=4 if k_balls == 5 else k_balls)
    return {
        "chamfer_dev": bounded_deviation(chamfer),
        "r2g_ratio": chamfer.r2g_ratio,
        "g2r_ratio": chamfer.g2r_ratio,
        "self_ratio": chamfer.self_ratio,
        "g2r_median": medians.g2r_ratio,
        "r2g_median": medians.r2g_ratio,
        "precision": balls.precision,
        "recall": balls.recall,
        "density": depth.density,
        "coverage": depth.coverage,
        "sym_precision": symmetric.precision,
        "sym_recall": symmetric.recall,
        "clipped_density": clipped.density,
        "clipped_coverage": clipped.coverage,
        "p_precision": soft.precision,
        "p_recall": soft.recall,
    }
