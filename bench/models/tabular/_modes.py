"""Mode-specific normalisation (Xu et al. 2019): a number as one of a few modes and its place in it."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import BayesianGaussianMixture
from torch import Tensor

from bench.models.tabular._mixed import MixedTable
from bench.models.tabular._segments import Segments
from bench.models.tabular._table import Codes, Numbers

_MODES = 10
_FEWEST = 0.005  # share of rows below which a mode is dropped
_ROWS = 1_000  # a mixture is fitted on
_WIDTH = 4.0  # standard deviations of a mode that span [-1, 1]


class ModeTable:
    """Rows as places in [-1, 1], float32 (n, p), and codes (n, p + c): a mode a number, then the categories."""

    def __init__(self, mixed: MixedTable, rng: np.random.Generator) -> None:
        self._mixed = mixed
        self._modes = [_Modes(column, rng) for column in mixed.filled.T]
        split = [modes.split(column, rng) for modes, column in zip(self._modes, mixed.filled.T, strict=True)]
        n = len(mixed.codes)
        self.places: Numbers = np.column_stack([s[0] for s in split]) if split else np.empty((n, 0))
        codes = [np.column_stack([s[1] for s in split])] if split else []
        self.codes: Codes = np.hstack([*codes, mixed.codes])
        self.levels = [*(len(modes.means) for modes in self._modes), *mixed.levels]

    def tensors(self, device: str) -> tuple[Tensor, Tensor, Segments]:
        """Places float32 (n, p), codes int64 (n, p + c) and their segments on `device`."""
        places = torch.from_numpy(self.places).to(device, torch.float32)
        return places, torch.from_numpy(self.codes).to(device), Segments(self.levels, device)

    def restore(self, places: Tensor, codes: Tensor, rng: np.random.Generator) -> pd.DataFrame:
        """The frame of `places` (m, p) and `codes` (m, p + c)."""
        where, which = places.cpu().numpy().astype(np.float64), codes.cpu().numpy()
        p = len(self._modes)
        values = [modes.join(where[:, j], which[:, j]) for j, modes in enumerate(self._modes)]
        joined = np.column_stack(values) if values else np.empty((len(which), 0))
        return self._mixed.restore_values(joined, which[:, p:], rng)


class _Modes:
    """The modes of one column: a variational Gaussian mixture without those hardly used."""

    def __init__(self, column: Numbers, rng: np.random.Generator) -> None:
        sample = rng.choice(column, min(_ROWS, len(column)), replace=False)
        self._centre = float(sample.mean())
        self._scale = float(column.std()) or 1.0
        count = min(_MODES, len(np.unique(sample)))
        mixture = BayesianGaussianMixture(
            n_components=count,
            weight_concentration_prior_type="dirichlet_process",
            weight_concentration_prior=1e-3,
            max_iter=60,
            random_state=int(rng.integers(2**31)),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            mixture.fit(((sample - self._centre) / self._scale)[:, None])
        used = mixture.weights_ > _FEWEST
        used[mixture.weights_.argmax()] = True
        self.means: Numbers = mixture.means_[used, 0]
        self._deviations: Numbers = np.sqrt(mixture.covariances_[used, 0, 0])
        self._weights: Numbers = mixture.weights_[used]

    def split(self, column: Numbers, rng: np.random.Generator) -> tuple[Numbers, Codes]:
        """Place in [-1, 1] and mode of each value, the mode drawn by its probability."""
        values = (column - self._centre) / self._scale
        away = (values[:, None] - self.means) / self._deviations
        scores = np.log(self._weights / self._deviations) - 0.5 * away**2
        mode = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
        places = away[np.arange(len(values)), mode] / _WIDTH
        return np.clip(places, -0.99, 0.99), mode

    def join(self, places: Numbers, mode: Codes) -> Numbers:
        """Values at `places` of `mode`."""
        values = np.clip(places, -1.0, 1.0) * _WIDTH * self._deviations[mode] + self.means[mode]
        return np.asarray(values * self._scale + self._centre)
