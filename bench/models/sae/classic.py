"""Decompositions from before sparse autoencoders: independent components, dictionary learning, NMF, k-means."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from bench.adapters.sae import Activations, Codes, TrainBudget
from bench.models.sae._linear import LinearCoder, TopKCoder, steps_of
from bench.models.sae._pursuit import pursue
from bench.models.sae._training import preactivations
from bench.models.sae.fixed import keep_strongest

_ROWS = 2_048  # learned from; more costs time and changes little
_SEED_RANGE = 2**32


@contextmanager
def _quiet() -> Iterator[None]:
    """No warnings (what has not converged by then is what is measured), and numpy's global state as it was.

    The coordinate descent of scikit-learn draws a seed from there, which its cyclic order then does not use.
    """
    before = np.random.get_state()  # noqa: NPY002
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(before)  # noqa: NPY002


def _sample(data: Activations, seed: int) -> np.ndarray:
    rng = torch.Generator().manual_seed(seed)
    return np.asarray((data.rows - data.mean)[torch.randperm(data.n_rows, generator=rng)[:_ROWS]].cpu())


class IndependentComponents(LinearCoder):
    """FastICA, at most d components; the k of the largest absolute value in each row."""

    signed: ClassVar[bool] = True

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        from sklearn.decomposition import FastICA

        count = min(n_latents, data.d_in)
        self._k = steps_of(target_l0, count)
        model = FastICA(count, random_state=seed % _SEED_RANGE, whiten="unit-variance", max_iter=60, tol=1e-3)
        with _quiet():
            model.fit(_sample(data, seed))
        self._weights = {
            "enc": torch.from_numpy(model.components_.astype(np.float32)),
            "b_enc": torch.zeros(count),
            "dec": torch.from_numpy(np.ascontiguousarray(model.mixing_.T, dtype=np.float32)),
            "b_dec": data.mean.clone(),
        }

    def _encode(self, rows: Tensor) -> Codes:
        return keep_strongest(preactivations(rows, self._weights)[1], self._k)


class DictionaryLearning(LinearCoder):
    """Mini-batch dictionary learning; rows are coded by orthogonal matching pursuit with k steps."""

    signed: ClassVar[bool] = True

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        from sklearn.decomposition import MiniBatchDictionaryLearning

        self._k = steps_of(target_l0, n_latents)
        model = MiniBatchDictionaryLearning(
            n_latents,
            random_state=seed % _SEED_RANGE,
            batch_size=256,
            max_iter=3,
            fit_algorithm="cd",
            alpha=1.0,
        )
        with _quiet():
            model.fit(_sample(data, seed))
        atoms = torch.from_numpy(model.components_.astype(np.float32))
        atoms = atoms / atoms.norm(dim=1, keepdim=True).clamp(min=1e-12)
        self._weights = {
            "enc": atoms, "b_enc": torch.zeros(n_latents), "dec": atoms, "b_dec": data.mean.clone()
        }  # fmt: skip

    def _encode(self, rows: Tensor) -> Codes:
        values, indices = pursue(rows - self._weights["b_dec"], self._weights["dec"], self._k)
        return Codes(indices=indices, values=values, n_latents=len(self._weights["b_enc"]))


class SplitNmf(LinearCoder):
    """Non-negative factorisation of [x+, x-]; an atom is its positive part less its negative part."""

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        from sklearn.decomposition import MiniBatchNMF

        self._k = steps_of(target_l0, n_latents)
        rows = _sample(data, seed)
        model = MiniBatchNMF(
            n_latents, random_state=seed % _SEED_RANGE, init="random", batch_size=1024, max_iter=10
        )
        with _quiet():
            model.fit(np.concatenate([np.maximum(rows, 0), np.maximum(-rows, 0)], axis=1))
        parts = torch.from_numpy(model.components_.astype(np.float32))
        atoms = parts[:, : data.d_in] - parts[:, data.d_in :]
        atoms = atoms / atoms.norm(dim=1, keepdim=True).clamp(min=1e-12)
        self._weights = {
            "enc": atoms, "b_enc": torch.zeros(n_latents), "dec": atoms, "b_dec": data.mean.clone()
        }  # fmt: skip

    def _encode(self, rows: Tensor) -> Codes:
        """The atoms with the largest inner products, refitted one by one; what would be negative is cut."""
        values, indices = pursue(rows - self._weights["b_dec"], self._weights["dec"], self._k)
        return Codes(indices=indices, values=values.clamp(min=0.0), n_latents=len(self._weights["b_enc"]))


class SphericalMeans(TopKCoder):
    """Spherical k-means: one latent per row, its value the inner product with the centre."""

    def _learn(
        self, data: Activations, n_latents: int, target_l0: float, budget: TrainBudget, seed: int
    ) -> None:
        rng = torch.Generator().manual_seed(seed)
        rows = torch.from_numpy(_sample(data, seed))
        norms = rows.norm(dim=1, keepdim=True)
        rows = rows / norms.clamp(min=1e-12)
        atoms = rows[torch.randperm(len(rows), generator=rng)[:n_latents]].clone()
        if len(atoms) < n_latents:
            raise ValueError(f"{n_latents} centres are wanted of {len(rows)} rows")
        for _ in range(20):
            nearest = (rows @ atoms.T).argmax(dim=1)
            sums = torch.zeros_like(atoms).index_add_(0, nearest, rows)
            length = sums.norm(dim=1, keepdim=True)
            atoms = torch.where(length > 1e-9, sums / length.clamp(min=1e-12), atoms)
        self._k = 1
        self._weights = {
            "enc": atoms, "b_enc": torch.zeros(n_latents), "dec": atoms, "b_dec": data.mean.clone()
        }  # fmt: skip
