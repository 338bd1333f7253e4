"""Structural causal models with additive noise: the truth behind generated numbers."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from bench.datasets.tabular.dataset import Dag
from bench.datasets.tabular.quantile_residuals import normal_cdf

Floats = npt.NDArray[np.float64]
Law = Literal["linear", "tanh"]
Noise = Literal["normal", "laplace"]

_EFFECT, _NOISE = 1.5, 0.6  # of the tanh law
ORACLE_ROWS = 400_000
# Standard deviations of 1.5 sum tanh(w x_pa) + 0.6 e over the first 400,000 rows of default_rng(0).
TANH_SCALES = (
    0.599054, 1.130500, 0.599092, 0.600786, 1.267892, 0.600577, 1.552794, 0.858228, 1.384016, 2.789849,
)  # fmt: skip


def random_weights() -> Floats:
    """The weights (10, 10) of all models here, 0 where there is no edge i -> j: 15 edges, 30 pairs without."""
    rng = np.random.default_rng(3)
    edges = np.triu(rng.random((10, 10)) < 0.3, 1)
    size = rng.uniform(0.5, 1.5, (10, 10))
    sign = rng.choice([-1, 1], (10, 10))
    return np.asarray(np.where(edges, size * sign, 0.0))


class AdditiveNoiseModel:
    """x_j = f_j(parents) + s_j e_j over nodes x0, x1, ...; edges lead from lower to higher numbers.

    linear: f_j = sum w x, s_j = 1. tanh: f_j = 1.5 sum tanh(w x) / scale_j, s_j = 0.6 / scale_j. The noise
    e has variance 1.
    """

    def __init__(
        self, weights: Floats, law: Law, noise: Noise = "normal", scales: tuple[float, ...] = ()
    ) -> None:
        self.weights = weights
        self.law: Law = law
        self.noise: Noise = noise
        self.nodes = tuple(f"x{i}" for i in range(len(weights)))
        self.dag = Dag(
            self.nodes,
            {
                node: tuple(self.nodes[i] for i in np.flatnonzero(weights[:, j]))
                for j, node in enumerate(self.nodes)
            },
        )
        self._scales = np.array(scales or (1.0,) * len(weights))

    def noise_std(self, node: str) -> float:
        """Standard deviation s_j of the noise of `node`."""
        size = 1.0 if self.law == "linear" else _NOISE
        return float(size / self._scales[self.nodes.index(node)])

    def sample(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """`n` rows of float64 columns."""
        noise = self.draw_noise(n, rng)
        values = np.zeros((n, len(self.nodes)))
        for j, node in enumerate(self.nodes):
            values[:, j] = self._effect(values, j) + self.noise_std(node) * noise[:, j]
        return pd.DataFrame(values, columns=list(self.nodes))

    def residuals(self, df: pd.DataFrame) -> pd.DataFrame:
        """(x_j - f_j(parents)) / s_j; NaN where a value or a parent is missing."""
        values = df[list(self.nodes)].to_numpy(dtype=np.float64, na_value=np.nan)
        columns = {
            node: (values[:, j] - self._effect(values, j)) / self.noise_std(node)
            for j, node in enumerate(self.nodes)
        }
        return pd.DataFrame(columns)

    def noise_cdf(self, values: Floats) -> Floats:
        """Distribution function of the noise: normal, or Laplace of variance 1."""
        if self.noise == "normal":
            return normal_cdf(values)
        tail = 0.5 * np.exp(-np.sqrt(2.0) * np.abs(values))
        return np.asarray(np.where(values < 0, tail, 1.0 - tail))

    def cpt(self, node: str) -> None:
        """No node is discrete."""
        return

    def draw_noise(self, n: int, rng: np.random.Generator) -> Floats:
        """Noise (n, nodes) of variance 1, row by row, so that more rows begin with the same ones."""
        shape = (n, len(self.nodes))
        if self.noise == "normal":
            return rng.standard_normal(shape)
        return rng.laplace(0.0, np.sqrt(0.5), shape)

    def _effect(self, values: Floats, j: int) -> Floats:
        parents = np.flatnonzero(self.weights[:, j])
        inputs = values[:, parents] * self.weights[parents, j]
        if self.law == "linear":
            return np.asarray(inputs.sum(axis=1))
        return np.asarray(_EFFECT * np.tanh(inputs).sum(axis=1) / self._scales[j])


def oracle_scales(weights: Floats, rows: int = ORACLE_ROWS) -> tuple[float, ...]:
    """The scales of the tanh law: each makes the variance of its node 1, given those before it."""
    noise = np.random.default_rng(0).standard_normal((rows, len(weights)))
    scales: list[float] = []
    values = np.zeros_like(noise)
    for j in range(len(weights)):
        parents = np.flatnonzero(weights[:, j])
        raw = _EFFECT * np.tanh(values[:, parents] * weights[parents, j]).sum(axis=1) + _NOISE * noise[:, j]
        scales.append(float(raw.std()))
        values[:, j] = raw / scales[-1]
    return tuple(scales)


def lin10() -> AdditiveNoiseModel:
    """Linear effects, normal noise."""
    return AdditiveNoiseModel(random_weights(), "linear")


def lingam10() -> AdditiveNoiseModel:
    """Linear effects, Laplace noise."""
    return AdditiveNoiseModel(random_weights(), "linear", "laplace")


def anm10() -> AdditiveNoiseModel:
    """Tanh effects, normal noise, every node of variance 1."""
    return AdditiveNoiseModel(random_weights(), "tanh", scales=TANH_SCALES)
