"""Agreement with public packages on the same arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from bench.metrics.images import (
    Subsets,
    density_coverage,
    frechet_distance,
    kernel_distance,
    precision_recall,
)

Array = npt.NDArray[Any]
_INSTALL = "install the extra 'peers'"


def pair(kind: str) -> tuple[Array, Array]:
    rng = np.random.default_rng(11)
    x, y = rng.standard_normal((500, 24)), 0.9 * rng.standard_normal((400, 24)) + 0.1
    if kind == "relu":
        weights = rng.standard_normal((24, 96))
        x, y = np.maximum(x @ weights, 0), np.maximum(y @ weights, 0)
    return x.astype(np.float32), y.astype(np.float32)


kinds = pytest.mark.parametrize("kind", ["gaussian", "relu"])


@kinds
@pytest.mark.parametrize("k", [1, 3, 5, 10])
def test_prdc(kind: str, k: int) -> None:
    prdc = pytest.importorskip("prdc", reason=_INSTALL)
    x, y = pair(kind)
    theirs = prdc.compute_prdc(real_features=x, fake_features=y, nearest_k=k)
    balls = precision_recall(real=x, generated=y, k=k, ball="open")
    depth = density_coverage(real=x, generated=y, k=k, ball="open")
    assert balls.precision == pytest.approx(theirs["precision"], abs=1e-12)
    assert balls.recall == pytest.approx(theirs["recall"], abs=1e-12)
    assert depth.density == pytest.approx(theirs["density"], abs=1e-12)
    assert depth.coverage == pytest.approx(theirs["coverage"], abs=1e-12)


@kinds
def test_torch_fidelity_frechet(kind: str) -> None:
    peer = pytest.importorskip("torch_fidelity.metric_fid", reason=_INSTALL)
    x, y = (torch.from_numpy(points).double() for points in pair(kind))
    theirs = peer.fid_statistics_to_metric(
        peer.fid_features_to_statistics(x), peer.fid_features_to_statistics(y), verbose=False
    )
    ours = frechet_distance(real=x, generated=y).distance
    assert ours == pytest.approx(theirs["frechet_inception_distance"], rel=1e-9)


@kinds
def test_torch_fidelity_kernel_distance(kind: str) -> None:
    peer = pytest.importorskip("torch_fidelity.metric_kid", reason=_INSTALL)
    x, y = pair(kind)
    theirs = peer.kid_features_to_metric(
        torch.from_numpy(x).double(),
        torch.from_numpy(y).double(),
        kid_subsets=10,
        kid_subset_size=200,
        rng_seed=2020,
        verbose=False,
    )
    ours = kernel_distance(real=x, generated=y, subsets=Subsets(count=10, size=200))
    assert ours.mmd2 == pytest.approx(theirs["kernel_inception_distance_mean"], rel=1e-6)
    assert ours.deviation == pytest.approx(theirs["kernel_inception_distance_std"], rel=1e-5)


@kinds
def test_torch_fidelity_precision_recall(kind: str) -> None:
    peer = pytest.importorskip("torch_fidelity.metric_prc", reason=_INSTALL)
    x, y = pair(kind)
    theirs = peer.prc_features_to_metric(
        torch.from_numpy(y), torch.from_numpy(x), prc_neighborhood=3, prc_batch_size=500, verbose=False
    )
    ours = precision_recall(real=x, generated=y, k=3)
    assert ours.precision == pytest.approx(theirs["precision"], abs=1e-6)
    assert ours.recall == pytest.approx(theirs["recall"], abs=1e-6)
