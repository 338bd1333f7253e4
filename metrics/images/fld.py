"""Generalisation gap of the feature likelihood divergence: are training samples likelier than held-out ones?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from bench.metrics.images._inputs import Features, feature_sets
from bench.metrics.images._pairs import distance_tiles

# The published protocol: Adam on log variances until the last five losses agree, one component more at the mean of
# the training samples. Its code (fld, commit ffbbf20) gives the numbers.
_STEPS, _RATE, _DECAYS, _EPSILON = 50, 0.5, (0.9, 0.999), 1e-8
_FEWEST_STEPS, _LAST, _SETTLED = 7, 5, 5e-4
_MEAN_SHRINKAGE = 0.9**2
_LEAST_SQUARED, _LOG_VARIANCES = 1e-3, (-40.0, 40.0)
_ROWS = 256


@dataclass(frozen=True)
class FldGap:
    """gap: 100 (nll of train - nll of held out) per dimension; about 0 without memorisation, far below 0 for copies."""

    gap: float
    train_nll: float
    held_out_nll: float


def fld_gap(*, train: Features, held_out: Features, generated: Features) -> FldGap:
    """Likelihoods under a mixture of isotropic Gaussians around the generated samples, fitted to the training ones.

    Features are standardised by the held-out samples (constant ones are left out); the variances start at the
    distance to the nearest training sample and take at most 50 steps of Adam. Float64, over blocks of training samples.

    train: (n, d), held_out: (h, d), h >= 2, generated: (m, d), numpy or torch. Raises ValueError for bad features
    or when all held-out features are constant.

    Jiralerspong, Bose, Gemp, Qin, Bachrach, Gidel, "Feature Likelihood Divergence: Evaluating the Generalization of
    Generative Models Using Samples", NeurIPS 2023.
    """
    sets = feature_sets(train=train, held_out=held_out, generated=generated)
    x, h, centres = _standardised(*sets)
    mixture = _Mixture(centres)
    mixture.fit(x)
    train_nll, held_out_nll = mixture.nll(x), mixture.nll(h)
    return FldGap(100 * (train_nll - held_out_nll), train_nll, held_out_nll)


def _standardised(train: Tensor, held_out: Tensor, generated: Tensor) -> list[Tensor]:
    if len(held_out) < 2:
        raise ValueError(f"held_out: needs at least 2 samples, got {len(held_out)}")
    wide = held_out.double()
    mean, deviation = wide.mean(0), wide.std(0)
    varies = deviation > 0
    if not bool(varies.any()):
        raise ValueError("held_out: all features are constant, so there is no scale")
    return [((part.double() - mean)[:, varies] / deviation[varies]) for part in (train, held_out, generated)]


class _Mixture:
    """Equally weighted isotropic Gaussians around `centres` (m, d)."""

    def __init__(self, centres: Tensor) -> None:
        self._centres = centres
        self._width = centres.shape[1]
        self.log_variances = centres.new_zeros(len(centres))

    def fit(self, x: Tensor) -> None:
        """Minimise the negative log likelihood of `x` in the log variances."""
        mean = x.mean(0)
        nearest = torch.stack([squared.amin(0) for _, squared in self._blocks(x)]).amin(0)
        start = ((nearest + _LEAST_SQUARED) / self._width).log()
        theta = torch.cat([start, start.new_zeros(1)])  # the last one belongs to the mean
        first, second = torch.zeros_like(theta), torch.zeros_like(theta)
        losses: list[float] = []
        for step in range(1, _STEPS + 1):
            gradient, loss = self._gradient(x, mean, theta)
            first = _DECAYS[0] * first + (1 - _DECAYS[0]) * gradient
            second = _DECAYS[1] * second + (1 - _DECAYS[1]) * gradient.square()
            scale = (second / (1 - _DECAYS[1] ** step)).sqrt() + _EPSILON
            theta = theta - _RATE * first / (1 - _DECAYS[0] ** step) / scale
            theta[:-1].clamp_(*_LOG_VARIANCES)
            losses.append(loss)
            if step >= _FEWEST_STEPS and all(abs(loss - old) < _SETTLED for old in losses[-_LAST:]):
                break
        self.log_variances = theta[:-1]

    def nll(self, x: Tensor) -> float:
        """Mean negative log likelihood per dimension, without the component at the mean."""
        total = 0.0
        for _, squared in self._blocks(x):
            logs = self._logs(squared, self.log_variances) - math.log(len(self._centres))
            total -= float(torch.logsumexp(logs, dim=1).sum())
        return total / (len(x) * self._width)

    def _gradient(self, x: Tensor, mean: Tensor, theta: Tensor) -> tuple[Tensor, float]:
        """Of the mean negative log likelihood per dimension, in the log variances; and that itself."""
        total, likelihood = torch.zeros_like(theta), 0.0
        for rows, squared in self._blocks(x):
            to_mean = _MEAN_SHRINKAGE * (x[rows] - mean).square().sum(1, keepdim=True)
            squared = torch.cat([squared, to_mean], dim=1)
            logs = self._logs(squared, theta)
            logs[:, :-1] -= math.log(len(self._centres))
            likelihood += float(torch.logsumexp(logs, dim=1).sum())
            total += (torch.softmax(logs, dim=1) * (squared / theta.exp() - self._width)).sum(0)
        size = len(x) * self._width
        return -total / (2 * size), -likelihood / size

    def _logs(self, squared: Tensor, log_variances: Tensor) -> Tensor:
        constant = self._width * (log_variances + math.log(2 * math.pi))
        return -0.5 * (squared / log_variances.exp() + constant)

    def _blocks(self, x: Tensor) -> Iterator[tuple[slice, Tensor]]:
        for start in range(0, len(x), _ROWS):
            rows = slice(start, start + _ROWS)
            tiles = [tile for _, _, tile in distance_tiles(x[rows], self._centres)]
            yield rows, torch.cat(tiles, dim=1).square_()
