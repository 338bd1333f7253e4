"""Data-copying test: do generated samples lie nearer to the training samples than held-out real ones do?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from scipy.stats import rankdata
from torch import Tensor

from bench.metrics.images import _linalg
from bench.metrics.images._inputs import Features, feature_sets
from bench.metrics.neighbors import nearest_to

_DIMENSIONS = 64
_FEWEST = 20


@dataclass(frozen=True)
class CopyingTest:
    """u: pairs (generated, held out) in which the generated one is farther from the training set, ties count half.

    z: (u - mean) / sd as if both were of one distribution: about standard normal for a model that does not copy,
    far below 0 for copying, far above 0 for samples that are unlike the training set.
    """

    u: float
    z: float


@dataclass(frozen=True)
class CellCopyingTest:
    """z: mean of the cells' z, weighted by their share of held-out samples; nan when no cell could be used.

    cells: (z or nan, generated samples, held-out samples) of every cell.
    warnings: which cells were left out and why.
    """

    z: float
    cells: tuple[tuple[float, int, int], ...]
    warnings: tuple[str, ...]


def held_out_distances(*, train: Features, held_out: Features) -> Tensor:
    """Distance of each held-out sample to the nearest training sample, float64 (h,): the same for every model.

    train: (n, d), held_out: (h, d), numpy or torch. Raises ValueError for bad features.
    """
    return _distances(*feature_sets(train=train, held_out=held_out))


def copying_test(
    *, train: Features, held_out: Features, generated: Features, reference: Tensor | None = None
) -> CopyingTest:
    """Mann-Whitney test of the distances to the nearest training sample (Meehan et al. 2020).

    train: (n, d), held_out: (h, d), generated: (m, d), numpy or torch. reference: `held_out_distances` of these two
    sets, if they are at hand. Raises ValueError for bad features and a wrong number of reference distances.

    Meehan, Chaudhuri, Dasgupta, "A Non-Parametric Test to Detect Data-Copying in Generative Models", AISTATS 2020.

    >>> import numpy as np
    >>> train, held_out, generated = np.array([[0.0]]), np.array([[1.0], [2]]), np.array([[0.5], [2], [3]])
    >>> copying_test(train=train, held_out=held_out, generated=generated).u  # 0 + 1.5 + 2
    3.5
    """
    known, kept, made = feature_sets(train=train, held_out=held_out, generated=generated)
    if reference is not None and reference.shape != (len(kept),):
        raise ValueError(
            f"reference: {len(kept)} held-out samples need as many distances, got {tuple(reference.shape)}"
        )
    return _test(_distances(known, made), _distances(known, kept) if reference is None else reference)


def cell_copying_test(
    *, train: Features, held_out: Features, generated: Features, cells: int = 3, seed: int = 0
) -> CellCopyingTest:
    """The test within cells of the training set, so that copying in one place is not hidden by another.

    Features are projected on the first 64 principal components of the training set; the cells are those of seeded
    k-means on it. Cells with at most 20 generated samples, or without held-out ones, are left out and named.

    train: (n, d) with n >= max(2, cells), held_out: (h, d), generated: (m, d), numpy or torch. Raises ValueError for
    bad features or too few training samples.
    """
    known, kept, made = feature_sets(train=train, held_out=held_out, generated=generated)
    if cells < 1 or len(known) < max(2, cells):
        raise ValueError(f"train: {cells} cells need at least {max(2, cells)} samples, got {len(known)}")
    parts = _projected(known, kept, made)
    labels = _cells(parts, cells, seed)
    found: list[tuple[float, int, int]] = []
    warnings: list[str] = []
    for cell in range(cells):
        x, h, y = (part[label == cell] for part, label in zip(parts, labels, strict=True))
        usable = len(x) > 0 and len(h) > 0 and len(y) > _FEWEST
        if not usable:
            warnings.append(f"cell {cell} was left out: {len(y)} generated and {len(h)} held-out samples")
        z = _test(_distances(x, y), _distances(x, h)).z if usable else math.nan
        found.append((z, len(y), len(h)))
    return CellCopyingTest(_weighted(found), tuple(found), tuple(warnings))


def _distances(train: Tensor, queries: Tensor) -> Tensor:
    return nearest_to(points=train, queries=queries, k=1).distances[:, 0]


def _test(generated: Tensor, held_out: Tensor) -> CopyingTest:
    """Of the distances (n,) and (m,) to the training set."""
    n, m = len(generated), len(held_out)
    ranks = rankdata(torch.cat([generated, held_out]).cpu().numpy())
    u = float(ranks[:n].sum()) - n * (n + 1) / 2
    # The half is the continuity correction of the published test.
    z = (u - (n * m / 2 - 0.5)) / math.sqrt(n * m * (n + m + 1) / 12)
    return CopyingTest(u, z)


def _projected(train: Tensor, *others: Tensor) -> list[Tensor]:
    centre = _linalg.mean(train)
    values, vectors = torch.linalg.eigh(_linalg.covariance(train, centre))
    axes = vectors[:, -min(_DIMENSIONS, len(values)) :]
    return [(points.double() - centre) @ axes for points in (train, *others)]


def _cells(parts: list[Tensor], cells: int, seed: int) -> list[Tensor]:
    from sklearn.cluster import KMeans

    arrays = [np.ascontiguousarray(part.cpu().numpy()) for part in parts]
    found = KMeans(n_clusters=cells, n_init=10, random_state=seed).fit(arrays[0])
    return [
        torch.from_numpy(found.predict(array)).to(part.device)
        for array, part in zip(arrays, parts, strict=True)
    ]


def _weighted(cells: list[tuple[float, int, int]]) -> float:
    used = [(z, held_out) for z, _, held_out in cells if not math.isnan(z)]
    total = sum(held_out for _, held_out in used)
    return sum(z * held_out for z, held_out in used) / total if total else math.nan
