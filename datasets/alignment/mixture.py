"""`noisy-digits`: images from a mixture of Gaussians, of which the probability of every class is known exactly.

Each digit class is a probabilistic principal component analysis of rank 16, fitted to its 400 training digits, drawn at
four levels of noise. An observer who knows the mixture answers with the posterior; that is what a model is compared
with. Values are squeezed into [0, 1] by a fixed linear map per noise level, which leaves the posterior as it is; images
that would leave [0, 1] are drawn again.
"""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.datasets.alignment import digits

RANK, EDGE, CLASSES, SEED = 16, 32, 10, 20260101
SCALES = (0.5, 1.0, 2.0, 3.0)  # standard deviation of the noise; digits are from 0 to 1
_ROOM = 4.8  # standard deviations of noise that fit into [0, 1] beside the digit
SHA256 = hashlib.sha256(f"noisy-digits|1|{RANK}|{SCALES}|{SEED}|{digits.SHA256}".encode()).hexdigest()

Float = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """Images float32 (n, 1, 32, 32) in [0, 1], who made them, and the exact posterior."""

    images: npt.NDArray[np.float32]
    labels: npt.NDArray[np.int64]  # (n,)
    scale: npt.NDArray[np.int64]  # (n,) index into SCALES
    posterior: Float  # (n, 10)


class NoisyDigits:
    """The mixture; samples are made on demand."""

    name = "noisy-digits"
    evidence, stimuli = "ideal_observer", "generated"
    classes = tuple("0123456789")

    @functools.cached_property
    def _fits(self) -> tuple[Float, Float, Float, Float]:
        """Means (10, 1024), axes (10, 16, 1024), variances (10, 16) and the rest (10,) of the classes."""
        images, labels = digits.load()
        rows = digits.split_rows(train=True)
        x = np.pad(images[rows] / 255.0, ((0, 0), (2, 2), (2, 2))).reshape(len(rows), -1)
        means, axes, variances, rest = zip(
            *(_fitted(x[labels[rows] == c]) for c in range(CLASSES)), strict=True
        )
        return np.stack(means), np.stack(axes), np.stack(variances), np.array(rest)

    def samples(self, n: int, *, train: bool) -> Samples:
        """`n` images, classes and noise levels in turn; the training set has other random numbers."""
        labels, scale = np.arange(n) % CLASSES, np.arange(n) // CLASSES % len(SCALES)
        x = np.stack(
            [
                self._draw(int(c), int(s), (int(train), i))
                for i, (c, s) in enumerate(zip(labels, scale, strict=True))
            ]
        )
        images = np.stack([_squeezed(v, SCALES[s]) for v, s in zip(x, scale, strict=True)])
        return Samples(
            images=images.reshape(n, 1, EDGE, EDGE).astype(np.float32),
            labels=labels,
            scale=scale,
            posterior=self.posterior(x, np.array(SCALES)[scale]),
        )

    def posterior(self, x: Float, noise: Float) -> Float:
        """p(class | x) of vectors `x` (n, 1024) drawn with noise of deviation `noise` (n,); exact, by Woodbury."""
        logs = np.stack([self._log_density(x, noise, c) for c in range(CLASSES)], axis=1)
        logs -= logs.max(axis=1, keepdims=True)
        p = np.exp(logs)
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def _log_density(self, x: Float, noise: Float, c: int) -> Float:
        """Log density of class `c` but for constants that all classes share."""
        means, axes, variances, rest = (values[c] for values in self._fits)
        isotropic = noise[:, None] ** 2 + rest
        d = x - means
        along = (d @ axes.T) ** 2
        total = variances + isotropic
        beyond = ((d**2).sum(axis=1) - along.sum(axis=1)) / isotropic[:, 0]
        size = np.log(total).sum(axis=1) + (x.shape[1] - RANK) * np.log(isotropic[:, 0])
        return np.asarray(-((along / total).sum(axis=1) + beyond + size) / 2)

    def _draw(self, c: int, s: int, key: tuple[int, int]) -> Float:
        rng = np.random.default_rng((SEED, *key))
        mean, axes, variances, rest = (values[c] for values in self._fits)
        deviation = np.sqrt(SCALES[s] ** 2 + rest)
        while True:
            z = rng.standard_normal(RANK) * np.sqrt(variances)
            x = mean + z @ axes + deviation * rng.standard_normal(EDGE * EDGE)
            image = _squeezed(x, SCALES[s])
            if image.min() >= 0 and image.max() <= 1:
                return np.asarray(x)


def load() -> NoisyDigits:
    """The mixture, fitted."""
    return NoisyDigits()


def _squeezed(x: Float, noise: float) -> Float:
    return 0.5 + (x - 0.5) / (2 * (0.8 + _ROOM * noise))


def _fitted(x: Float) -> tuple[Float, Float, Float, float]:
    """Mean, axes (16, d), their variance above the rest, and the mean variance of the rest, by maximum likelihood.

    Source: M. E. Tipping and C. M. Bishop (1999), Probabilistic principal component analysis.
    """
    mean = x.mean(axis=0)
    values, vectors = np.linalg.eigh((x - mean) @ (x - mean).T / len(x))  # images are fewer than pixels
    variances = values[::-1][:RANK]
    axes = (vectors[:, ::-1][:, :RANK].T @ (x - mean)) / np.sqrt(len(x) * variances)[:, None]
    rest = float(values[:-RANK].sum() / (x.shape[1] - RANK))
    return mean, axes, variances - rest, rest
