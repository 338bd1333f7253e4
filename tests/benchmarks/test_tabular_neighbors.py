"""Closest records and clouds of rows, beside SDMetrics where it is installed and beside straightforward code.

The ratio to the fastest of a group stands in parentheses in the report. "straightforward" is what one would write
first with numpy or scikit-learn; it gives the same values.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import NearestNeighbors

from bench.metrics.tabular.features import FeatureMap
from bench.metrics.tabular.gower import GowerSpace
from bench.metrics.tabular.manifold import manifold
from bench.metrics.tabular.membership import membership_inference
from bench.metrics.tabular.table import Column, EncodedTable

TIMER = time.process_time
LEVELS = (7, 16, 7, 15, 6, 5, 2, 42, 2)
"""Of the nine categorical columns of Adult; six columns are numeric."""


def adult_like(seed: int, rows: int) -> EncodedTable:
    """15 columns like Adult's: six numeric ones, a third of them whole numbers, and nine categorical ones."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(rows, 6))
    numbers[:, :2] = np.rint(20 * numbers[:, :2])
    codes = np.column_stack([np.minimum(rng.geometric(2 / k, rows) - 1, k - 1) for k in LEVELS]).astype(
        np.int32
    )
    codes[rng.random(codes.shape) < 0.01] = -1
    columns = tuple(Column(f"n{j}", "numeric") for j in range(6))
    return EncodedTable(
        columns + tuple(Column(f"c{j}", "categorical", k) for j, k in enumerate(LEVELS)), numbers, codes
    )


def as_frame(table: EncodedTable) -> pd.DataFrame:
    data: dict[str, Any] = {}
    for j, column in enumerate(table.columns):
        values = table.values(j)
        data[column.name] = values if column.is_numeric else np.where(values < 0, None, values.astype(str))
    return pd.DataFrame(data)


@pytest.fixture(scope="module")
def small() -> tuple[EncodedTable, EncodedTable]:
    return adult_like(0, 4_000), adult_like(1, 1_000)


def straightforward_dcr(real: EncodedTable, generated: EncodedTable) -> np.ndarray:
    """One generated row at a time against all real rows."""
    spread = np.ptp(real.numbers, axis=0)
    closest = []
    for numbers, codes in zip(generated.numbers, generated.codes, strict=True):
        distance = np.minimum(np.abs(real.numbers - numbers) / spread, 1).sum(1) + (real.codes != codes).sum(
            1
        )
        closest.append(distance.min() / len(real.columns))
    return np.array(closest)


@pytest.mark.benchmark(group="tabular: closest record, 1,000 x 4,000 x 15", timer=TIMER)
class TestClosestRecord:
    def test_ours(self, benchmark: Any, small: tuple[EncodedTable, EncodedTable]) -> None:
        real, generated = small
        found = benchmark.pedantic(
            lambda: GowerSpace(real).nearest(generated, real), rounds=5, warmup_rounds=1
        )
        np.testing.assert_allclose(found.distances[:, 0], straightforward_dcr(real, generated), atol=1e-12)

    def test_straightforward(self, benchmark: Any, small: tuple[EncodedTable, EncodedTable]) -> None:
        benchmark.pedantic(straightforward_dcr, small, rounds=2)

    def test_sdmetrics(self, benchmark: Any, small: tuple[EncodedTable, EncodedTable]) -> None:
        reason = "sdmetrics is not installed: it needs pandas < 3, so that it takes an environment of its own"
        peer = pytest.importorskip("sdmetrics.single_table.privacy.dcr_utils", reason=reason)
        real, generated = small
        kinds = {c.name: {"sdtype": "numerical" if c.is_numeric else "categorical"} for c in real.columns}
        frames = as_frame(generated), as_frame(real)
        found = benchmark.pedantic(peer.calculate_dcr, (*frames, {"columns": kinds}), rounds=1)
        np.testing.assert_allclose(
            found, GowerSpace(real).nearest(generated, real).distances[:, 0], atol=1e-9
        )


@pytest.mark.benchmark(group="tabular: closest record, 10,000 x 10,000 x 15", timer=TIMER)
def test_closest_record_of_ten_thousand_rows(benchmark: Any) -> None:
    real, generated = adult_like(0, 10_000), adult_like(1, 10_000)
    found = benchmark.pedantic(lambda: GowerSpace(real).nearest(generated, real, k=2), rounds=2)
    assert (np.diff(found.distances, axis=1) >= 0).all()


@pytest.mark.benchmark(group="tabular: membership attacks, 2,000 targets", timer=TIMER)
def test_membership_attacks(benchmark: Any) -> None:
    real, generated, holdout = (adult_like(seed, 4_000) for seed in range(3))
    found = benchmark.pedantic(
        lambda: membership_inference(real=real, generated=generated, holdout=holdout), rounds=2
    )
    assert found["mia_auc"].value == pytest.approx(0.5, abs=0.04)


def straightforward_alpha_beta(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The definition, with the neighbour search of scikit-learn."""
    alpha = np.linspace(0, 1, 30)
    radii = np.quantile(np.linalg.norm(x - x.mean(0), axis=1), alpha)
    from_real = np.linalg.norm(y - x.mean(0), axis=1)
    precision = 1 - np.abs(alpha - [(from_real <= r).mean() for r in radii]).sum() / alpha.sum()
    own = NearestNeighbors(n_neighbors=2).fit(x).kneighbors(x)[0][:, 1]
    distance, index = NearestNeighbors(n_neighbors=1).fit(y).kneighbors(x)
    centre = np.linalg.norm(y - y.mean(0), axis=1)[index[:, 0]]
    share = [((distance[:, 0] <= own) & (centre <= q)).mean() for q in np.quantile(centre, alpha)]
    return float(precision), float(1 - np.abs(alpha - share).sum() / alpha.sum())


@pytest.mark.benchmark(group="tabular: alpha-precision to coverage, 3,000 x 15", timer=TIMER)
class TestCloud:
    """Ours also gives authenticity, precision, recall, density, coverage and NNDR."""

    def test_ours(self, benchmark: Any) -> None:
        real, generated = adult_like(0, 3_000), adult_like(1, 3_000)
        found = benchmark.pedantic(
            lambda: manifold(real=real, generated=generated), rounds=2, warmup_rounds=1
        )
        features = FeatureMap(real, generated)
        expected = straightforward_alpha_beta(features(real), features(generated))
        values = found["alpha_precision"].value, found["beta_recall"].value
        assert values == pytest.approx(expected, abs=1e-3)

    def test_straightforward_alpha_and_beta_only(self, benchmark: Any) -> None:
        real, generated = adult_like(0, 3_000), adult_like(1, 3_000)
        features = FeatureMap(real, generated)
        benchmark.pedantic(straightforward_alpha_beta, (features(real), features(generated)), rounds=1)
