"""Shapes, pairs, independence tests and models, beside SDMetrics where it is installed and straightforward code."""

from __future__ import annotations

import time
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

from bench.datasets.tabular.networks import BayesianNetwork, random_network
from bench.metrics.tabular.ci_fidelity import GraphTruth, Sample, ci_fidelity
from bench.metrics.tabular.graph import Dag, Statement, statements
from bench.metrics.tabular.pairs import trend_all
from bench.metrics.tabular.registry import METRICS
from bench.metrics.tabular.shape import shape
from bench.metrics.tabular.table import Column, EncodedTable
from bench.metrics.tabular.together import Inputs, measure
from bench.metrics.tabular.two_sample import c2st
from tests.benchmarks.test_tabular_neighbors import adult_like, as_frame

TIMER = time.process_time
NO_SDMETRICS = "sdmetrics is not installed: it needs pandas < 3, so that it takes an environment of its own"


def wide(seed: int, rows: int, pairs: int) -> EncodedTable:
    """`pairs` numeric and as many ten-level columns, some of them dependent."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(rows, pairs)) + rng.normal(size=(rows, 1))
    codes = np.clip(np.rint(5 + 2 * numbers + rng.normal(size=numbers.shape)), 0, 9).astype(np.int32)
    columns = [Column(f"n{j}", "numeric") for j in range(pairs)]
    return EncodedTable(
        tuple(columns) + tuple(Column(f"c{j}", "categorical", 10) for j in range(pairs)), numbers, codes
    )


@pytest.fixture(scope="module")
def frames() -> tuple[EncodedTable, EncodedTable, pd.DataFrame, pd.DataFrame]:
    tables = [wide(seed, 20_000, 10) for seed in range(2)]
    return tables[0], tables[1], as_frame(tables[0]), as_frame(tables[1])


def straightforward_pairs(real: pd.DataFrame, generated: pd.DataFrame) -> list[float]:
    """Correlations and cross tables of pandas, pair by pair."""
    binned = [real.copy(), generated.copy()]
    numeric = [c for c in real if pd.api.types.is_numeric_dtype(real[c])]
    for column in numeric:
        edges = np.histogram_bin_edges(real[column], 10)
        edges[0], edges[-1] = -np.inf, np.inf
        for frame in binned:
            frame[column] = np.digitize(frame[column], edges)
    values = []
    for a, b in combinations(real, 2):
        if a in numeric and b in numeric:
            r, s = (frame[a].corr(frame[b]) for frame in (real, generated))
            values.append(1 - abs(r - s) / 2)
        else:
            p, q = (frame.groupby([a, b]).size() / len(frame) for frame in binned)
            values.append(1 - p.sub(q, fill_value=0).abs().sum() / 2)
    return values


@pytest.mark.benchmark(group="tabular: all pairs, 20,000 x 20", timer=TIMER)
class TestPairs:
    def test_ours(self, benchmark: Any, frames: Any) -> None:
        real, generated, *plain = frames
        found = benchmark.pedantic(
            lambda: trend_all(real=real, generated=generated), rounds=3, warmup_rounds=1
        )
        np.testing.assert_allclose(found.detail["value"], straightforward_pairs(*plain), atol=1e-9)

    def test_straightforward(self, benchmark: Any, frames: Any) -> None:
        benchmark.pedantic(straightforward_pairs, frames[2:], rounds=1)

    def test_sdmetrics(self, benchmark: Any, frames: Any) -> None:
        peer = pytest.importorskip("sdmetrics.column_pairs", reason=NO_SDMETRICS)
        real, generated = frames[2:]
        numeric = [c for c in real if pd.api.types.is_numeric_dtype(real[c])]

        def every_pair() -> list[float]:
            values = []
            for a, b in combinations(real, 2):
                pair = real[[a, b]], generated[[a, b]]
                continuous = [c for c in (a, b) if c in numeric]
                if len(continuous) == 2:
                    values.append(peer.CorrelationSimilarity.compute(*pair))
                else:
                    values.append(
                        peer.ContingencySimilarity.compute(*pair, continuous_column_names=continuous or None)
                    )
            return values

        values = benchmark.pedantic(every_pair, rounds=1)
        found = trend_all(real=frames[0], generated=frames[1]).detail["value"]
        np.testing.assert_allclose(found, values, atol=1e-6)


@pytest.fixture(scope="module")
def many_levels() -> tuple[EncodedTable, EncodedTable]:
    rng = np.random.default_rng(0)
    columns = (Column("c", "categorical", 8_000),)
    blocks = [rng.integers(0, 8_000, (50_000, 1)).astype(np.int32) for _ in range(2)]
    first, second = (EncodedTable(columns, np.empty((50_000, 0)), block) for block in blocks)
    return first, second


@pytest.mark.benchmark(group="tabular: shape, 8,000 levels, 50,000 rows", timer=TIMER)
class TestManyLevels:
    def test_ours(self, benchmark: Any, many_levels: tuple[EncodedTable, EncodedTable]) -> None:
        real, generated = many_levels
        found = benchmark.pedantic(lambda: shape(real=real, generated=generated), rounds=5, warmup_rounds=1)
        assert found.value == pytest.approx(self.straightforward(as_frame(real), as_frame(generated)))

    @staticmethod
    def straightforward(real: pd.DataFrame, generated: pd.DataFrame) -> float:
        p, q = (frame["c"].value_counts(normalize=True) for frame in (real, generated))
        return float(1 - p.sub(q, fill_value=0).abs().sum() / 2)

    def test_straightforward(self, benchmark: Any, many_levels: tuple[EncodedTable, EncodedTable]) -> None:
        benchmark.pedantic(self.straightforward, [as_frame(t) for t in many_levels], rounds=2)

    def test_sdmetrics(self, benchmark: Any, many_levels: tuple[EncodedTable, EncodedTable]) -> None:
        peer = pytest.importorskip("sdmetrics.single_column", reason=NO_SDMETRICS)
        columns = [as_frame(t)["c"] for t in many_levels]
        found = benchmark.pedantic(peer.TVComplement.compute, columns, rounds=1)
        assert found == pytest.approx(shape(real=many_levels[0], generated=many_levels[1]).value, abs=1e-4)


def network_rows(model: BayesianNetwork, rows: int) -> EncodedTable:
    codes = model.encode(model.sample(rows, np.random.default_rng(0)))
    columns = tuple(Column(node, "categorical", len(levels)) for node, levels in model.states.items())
    return EncodedTable(columns, np.empty((rows, 0)), np.column_stack([codes[c.name] for c in columns]))


def straightforward_g_squared(table: EncodedTable, found: list[Statement]) -> list[float]:
    """Cross tables of pandas, stratum by stratum, tested by scipy."""
    frame = pd.DataFrame(table.codes, columns=range(len(table.columns)))
    statistics = []
    for s in found:
        strata = [part for _, part in frame.groupby(list(s.given))] if s.given else [frame]
        total = 0.0
        for part in strata:
            counts = pd.crosstab(part[s.first], part[s.second]).to_numpy()
            if min(counts.shape) > 1:
                total += chi2_contingency(counts, correction=False, lambda_="log-likelihood").statistic
        statistics.append(total)
    return statistics


@pytest.mark.benchmark(
    group="tabular: G^2 tests, 20 nodes, 5,000 rows (ours: all, straightforward: 20 of 190)", timer=TIMER
)
class TestIndependence:
    def test_ours(self, benchmark: Any) -> None:
        model = random_network()
        table, dag = network_rows(model, 5_000), Dag.of_names(model.dag.nodes, model.dag.parents)
        truth = GraphTruth(dag, "discrete")
        found = benchmark.pedantic(
            lambda: ci_fidelity(generated=Sample(table), truth=truth), rounds=3, warmup_rounds=1
        )
        assert found.facets["ci_kept"] > 0.9

    def test_straightforward(self, benchmark: Any) -> None:
        model = random_network()
        table, dag = network_rows(model, 5_000), Dag.of_names(model.dag.nodes, model.dag.parents)
        some = statements(dag)[:20]
        assert len(benchmark.pedantic(straightforward_g_squared, (table, some), rounds=1)) == 20


@pytest.mark.benchmark(group="tabular: two-sample classifier, 2 x 2,000 x 15", timer=TIMER)
class TestClassifier:
    def test_ours(self, benchmark: Any) -> None:
        real, generated = adult_like(0, 2_000), adult_like(1, 2_000)
        found = benchmark.pedantic(lambda: c2st(real=real, generated=generated), rounds=1)
        assert found["c2st_auc"].value == pytest.approx(0.5, abs=0.05)

    def test_sdmetrics_logistic(self, benchmark: Any) -> None:
        peer = pytest.importorskip("sdmetrics.single_table", reason=NO_SDMETRICS)
        tables = [adult_like(seed, 2_000) for seed in range(2)]
        kinds = {
            c.name: {"sdtype": "numerical" if c.is_numeric else "categorical"} for c in tables[0].columns
        }
        frames = [as_frame(t) for t in tables]
        score = benchmark.pedantic(peer.LogisticDetection.compute, (*frames, {"columns": kinds}), rounds=1)
        assert 0 <= score <= 1


@pytest.mark.benchmark(group="tabular: density, privacy and validity together, 4,000 x 15", timer=TIMER)
def test_everything_that_trains_no_model(benchmark: Any) -> None:
    real, generated, holdout = (adult_like(seed, 4_000) for seed in range(3))
    names = [name for name, spec in METRICS.items() if spec.cost != "heavy"]
    found = benchmark.pedantic(
        lambda: measure(Inputs(real=real, generated=generated, holdout=holdout), names), rounds=1
    )
    assert found["shape_na"].value == pytest.approx(1, abs=0.05)
