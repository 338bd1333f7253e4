"""Novelty, diversity and the extrapolated distance of one model: what needs training images, or one pass only.

These numbers stand beside those of `scores` in the same task, so that no model is trained a second time for them.
They are computed with the default encoder alone.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from bench.metrics.images import (
    MemorisationRatio,
    NearestPair,
    authenticity,
    clipped_density_coverage,
    copying_test,
    effective_rank,
    frechet_infinity,
    held_out_distances,
    memorisation_ratio,
    training_radii,
    vendi,
)
from bench.metrics.images.fd_infinity import SMALLEST
from bench.spec import Measure, derived_seed
from bench.tasks.caching import cached_array
from bench.tasks.images import spread
from bench.tasks.images.scores import BALL_K, DEGENERATE, TOO_FEW

COPYING_BELOW = 0.9  # memorisation ratio
_FEWEST_DISTINCT = 20
_NORMAL = 1.959964
_SHARES = ("clipped_density", "clipped_coverage")


Values = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Novelty:
    """`measures[metric]`, the generated images nearest to training images, and whether they count as copies."""

    measures: Mapping[str, Measure]
    pairs: tuple[NearestPair, ...]
    copying: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Features float32 (rows, d) of the training and the held-out images, and what is the same for every model."""

    train: Tensor
    held_out: Tensor
    radii: Tensor  # of each training image to its nearest other one
    reference: Tensor  # of each held-out image to the nearest training image


def known_images(*, train: Tensor, held_out: Tensor, cache_dir: Path) -> Known:
    """The distances are computed once for a data set and an encoder, then read from the cache."""
    folder, key = cache_dir / "image-distances", _content(train, held_out)

    def cached(name: str, size: int, compute: Callable[[], Tensor]) -> Tensor:
        array = cached_array(
            folder / f"{key}-{name}.npy",
            lambda: compute().cpu().numpy(),
            fits=lambda stored: stored.dtype == np.float64 and stored.shape == (size,),
        )
        return torch.from_numpy(array).to(train.device)

    return Known(
        train=train,
        held_out=held_out,
        radii=cached("radii", len(train), lambda: training_radii(train=train)),
        reference=cached(
            "held-out", len(held_out), lambda: held_out_distances(train=train, held_out=held_out)
        ),
    )


def _content(*features: Tensor) -> str:
    digest = hashlib.sha256()
    for part in features:
        digest.update(repr(tuple(part.shape)).encode())
        digest.update(part.cpu().numpy().tobytes())
    return digest.hexdigest()


def novelty(*, real: Tensor, generated: Tensor, known: Known, saw_held_out: bool, seed: int) -> Novelty:
    """Measure `generated` against reference, training and held-out images, features float32 (rows, d).

    real and generated have one size, at least 6 rows. `saw_held_out` marks an oracle that was given the held-out
    images, which no ratio to them can judge.
    """
    train, held_out = known.train, known.held_out
    size = min(len(train), len(held_out))  # both are in random order: a prefix is a random subset
    closeness = memorisation_ratio(train=train[:size], held_out=held_out[:size], generated=generated)
    measures = {
        "memorisation_ratio": _memorisation(closeness, generated, saw_held_out=saw_held_out),
        "authenticity": _authenticity(known, generated),
        "copying_z": Measure(
            value=_copying_z(known, generated),
            n=len(generated),
            reason="no interval: a test statistic, whose standard deviation is 1 without copying",
        ),
        "fd_inf": _frechet_infinity(real, generated, derived_seed(seed, "extrapolation")),
        **_diversity(real, generated, derived_seed(seed, "diversity")),
    }
    ratio = measures["memorisation_ratio"].value
    return Novelty(
        measures=measures, pairs=closeness.pairs, copying=ratio is not None and ratio < COPYING_BELOW
    )


def _memorisation(found: MemorisationRatio, generated: Tensor, *, saw_held_out: bool) -> Measure:
    n = len(generated)
    if saw_held_out:
        return Measure(value=None, n=n, reason="the model was given the held-out images")
    if len(torch.unique(generated, dim=0)) < _FEWEST_DISTINCT:
        reason = f"fewer than {_FEWEST_DISTINCT} different images: their nearest neighbours are an accident"
        return Measure(value=None, n=n, reason=reason)
    if math.isnan(found.ratio):
        return Measure(value=None, n=n, reason="every generated image is a held-out one")
    reach = _NORMAL * found.ratio_se
    return Measure(
        value=found.ratio,
        ci_low=max(0.0, found.ratio - reach),
        ci_high=found.ratio + reach,
        ci_method="normal, ratio of means over images; training and held-out images fixed",
        n=n,
    )


def _copying_z(known: Known, generated: Tensor) -> float:
    test = copying_test(
        train=known.train, held_out=known.held_out, generated=generated, reference=known.reference
    )
    return test.z


def _authenticity(known: Known, generated: Tensor) -> Measure:
    share = authenticity(train=known.train, generated=generated, radii=known.radii).share
    n = len(generated)
    squared = _NORMAL**2 / n
    centre = (share + squared / 2) / (1 + squared)
    reach = _NORMAL / (1 + squared) * math.sqrt(share * (1 - share) / n + squared / (4 * n))
    return Measure(
        value=share,
        ci_low=max(0.0, min(share, centre - reach)),
        ci_high=min(1.0, max(share, centre + reach)),
        ci_method="Wilson interval, training images fixed",
        n=n,
    )


def _frechet_infinity(real: Tensor, generated: Tensor, seed: int) -> Measure:
    n = len(generated)
    if n < SMALLEST:
        return Measure(value=None, n=n, reason=f"the extrapolation needs {SMALLEST} images")
    value = frechet_infinity(real=real, generated=generated, seed=seed).distance
    return Measure(value=value, n=n, reason="no interval: the subsets of the extrapolation overlap")


def _diversity(real: Tensor, generated: Tensor, seed: int) -> dict[str, Measure]:
    values, errors = _diversity_values(real, generated), {}
    if len(real) >= 2 * (BALL_K + 1):
        rng = np.random.default_rng(seed)
        errors = spread.half_errors(_diversity_values, real, generated, rng=rng)
    return {
        name: _with_halves(value, errors.get(name), len(generated), top=1.0 if name in _SHARES else math.inf)
        for name, value in values.items()
    }


def _diversity_values(real: Tensor, generated: Tensor) -> Values:
    clipped = clipped_density_coverage(real=real, generated=generated, k=BALL_K)
    return {
        "clipped_density": math.nan if clipped.flags else clipped.density,
        "clipped_coverage": math.nan if clipped.flags else clipped.coverage,
        "vendi_ratio": vendi(generated=generated).order_1 / vendi(generated=real).order_1,
        "rank_ratio": effective_rank(real=real, generated=generated).ratio,
    }


def _with_halves(value: float, error: float | None, n: int, *, top: float = math.inf) -> Measure:
    if math.isnan(value):
        return Measure(value=None, n=n, reason=DEGENERATE)
    if error is None:
        return Measure(value=value, n=n, reason=TOO_FEW)
    reach = spread.HALF_QUANTILE * error
    return Measure(
        value=value,
        ci_low=max(0.0, value - reach),
        ci_high=min(top, value + reach),
        ci_method=spread.HALF_METHOD,
        n=n,
    )
