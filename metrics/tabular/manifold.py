"""D5 alpha-precision and beta-recall, D6 authenticity, D8 precision to coverage, P3 NNDR: one pass over all pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from bench.metrics.images import Neighborhood, NeighborMetrics, neighbor_metrics
from bench.metrics.tabular.features import FeatureMap, Features
from bench.metrics.tabular.result import Result, table_of, undefined
from bench.metrics.tabular.table import EncodedTable, check_same_layout

PRDC_K = 5
LEVELS = 30
MEMORISING_RECALL = 0.6
_NAMES = (
    "alpha_precision",
    "beta_recall",
    "authenticity",
    "precision",
    "recall",
    "density",
    "coverage",
    "nndr",
)


@dataclass(frozen=True, eq=False)
class _Scene:
    """Both sets as vectors, and their nearest neighbours within and between them as numpy arrays."""

    real: Features
    generated: Features
    measured: NeighborMetrics

    @property
    def hood(self) -> Neighborhood:
        return self.measured.neighborhood


def manifold(
    *, real: EncodedTable, generated: EncodedTable, k: int = PRDC_K, device: str = "cpu"
) -> dict[str, Result]:
    """Where generated rows lie relative to the cloud of real rows, on scaled one-hot features.

    alpha_precision (up, [0, 1]): do generated rows fill the balls around the real centre in the right proportions?
    beta_recall (up, [0, 1]): the same for real rows near generated ones; about 0.5 for fresh data of equal size and
    1 for a copy, hence the flag "memorising" above 0.6. Negative values of both are set to 0 and flagged "clipped".
    authenticity (up, [0, 1]): share of generated rows farther from their nearest real row than that row is from
    its own; about 0.5 for fresh data, 0 for a copy.
    precision, recall, coverage (up, [0, 1]) and density (up, [0, n / k]) with balls to the k-th other row, boundary
    excluded as in the authors' code; k is lowered to what small tables allow and flagged "small-sample".
    nndr (up, [0, 1]): mean ratio of the distances from a generated row to its nearest and second nearest real row,
    1 where both are 0; a copy of a row that stands alone has ratio 0.

    Undefined with fewer than three rows on either side.

    Alaa, van Breugel, Saveliev, van der Schaar, "How Faithful is your Synthetic Data?", ICML 2022. Naeem et al.,
    "Reliable Fidelity and Diversity Metrics for Generative Models", ICML 2020.
    """
    check_same_layout(real=real, generated=generated)
    features = FeatureMap(real, generated)
    return manifold_of_vectors(real=features(real), generated=features(generated), k=k, device=device)


def manifold_of_vectors(
    *, real: Features, generated: Features, k: int = PRDC_K, device: str = "cpu"
) -> dict[str, Result]:
    """The metrics of `manifold` on vectors made elsewhere, float64 (n, d) and (m, d)."""
    smaller = min(len(real), len(generated))
    if smaller < 3:
        return dict.fromkeys(_NAMES, undefined("nearest neighbours need at least three rows in each table"))
    k_used = min(k, smaller - 1)
    x, y = (torch.from_numpy(points).to(device) for points in (real, generated))
    measured = neighbor_metrics(real=x, generated=y, ks=(2,), ball_ks=(k_used,), ball="open")
    scene = _Scene(real, generated, measured)
    flags = ("small-sample",) if k_used < k or smaller < 50 else ()
    return {
        "alpha_precision": _alpha_precision(scene, flags),
        "beta_recall": _beta_recall(scene, flags),
        "authenticity": _authenticity(scene, flags),
        "nndr": _distance_ratio(scene, flags),
    } | _prdc(scene, k_used, flags)


def _alpha_precision(scene: _Scene, flags: tuple[str, ...]) -> Result:
    centre = scene.real.mean(0)
    within, asked = (np.linalg.norm(points - centre, axis=1) for points in (scene.real, scene.generated))
    levels = np.linspace(0, 1, LEVELS)
    radii = np.quantile(within, levels)
    return _coverage_curve(levels, [float((asked <= r).mean()) for r in radii], len(asked), flags)


def _beta_recall(scene: _Scene, flags: tuple[str, ...]) -> Result:
    to_generated = scene.hood.cross.real_to_generated
    nearest = to_generated.indices[:, 0].cpu().numpy()
    reached = to_generated.distances[:, 0] <= scene.hood.real_self.distances[:, 0]
    from_centre = np.linalg.norm(scene.generated - scene.generated.mean(0), axis=1)[nearest]
    levels = np.linspace(0, 1, LEVELS)
    held = reached.cpu().numpy()
    shares = [float((held & (from_centre <= r)).mean()) for r in np.quantile(from_centre, levels)]
    found = _coverage_curve(levels, shares, len(held), flags)
    assert found.value is not None
    return _flagged(found, "memorising") if found.value > MEMORISING_RECALL else found


def _coverage_curve(
    levels: npt.NDArray[np.float64], shares: list[float], rows: int, flags: tuple[str, ...]
) -> Result:
    """1 - the normalised area between the curve of shares and the diagonal."""
    score = 1 - np.abs(levels - shares).sum() / levels.sum()
    detail = table_of({"level": levels, "share": shares})
    if score < 0:
        flags = (*flags, "clipped")
    return Result(
        max(0.0, float(score)), rows, detail=detail, facets={"unclipped": float(score)}, flags=flags
    )


def _flagged(result: Result, flag: str) -> Result:
    return Result(
        result.value, result.n_used, detail=result.detail, facets=result.facets, flags=(*result.flags, flag)
    )


def _authenticity(scene: _Scene, flags: tuple[str, ...]) -> Result:
    to_real = scene.hood.cross.generated_to_real
    spacing = scene.hood.real_self.distances[:, 0][to_real.indices[:, 0]]
    authentic = (to_real.distances[:, 0] > spacing).cpu().numpy()
    return Result(
        float(authentic.mean()), len(authentic), detail=table_of({"authentic": authentic}), flags=flags
    )


def _distance_ratio(scene: _Scene, flags: tuple[str, ...]) -> Result:
    first, second = scene.hood.cross.generated_to_real.distances[:, :2].cpu().numpy().T
    ratio = np.divide(first, second, out=np.ones(len(first)), where=second > 0)
    return Result(float(ratio.mean()), len(ratio), detail=table_of({"ratio": ratio}), flags=flags)


def _prdc(scene: _Scene, k: int, flags: tuple[str, ...]) -> dict[str, Result]:
    pr, dc = scene.measured.precision_recall[k], scene.measured.density_coverage[k]
    rows = {
        "precision": (pr.precision, len(scene.generated)),
        "recall": (pr.recall, len(scene.real)),
        "density": (dc.density, len(scene.generated)),
        "coverage": (dc.coverage, len(scene.real)),
    }
    flags = (*flags, *dc.flags)
    return {name: Result(value, n, facets={"k": float(k)}, flags=flags) for name, (value, n) in rows.items()}
