"""Known graphs: statements, tests of independence, mechanisms, directions."""

from __future__ import annotations

import gzip

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from bench.datasets.tabular.networks import BayesianNetwork
from bench.datasets.tabular.scm import AdditiveNoiseModel, anm10, lin10, lingam10
from bench.metrics.tabular.ci_fidelity import GraphTruth, Sample, ci_effect, ci_fidelity
from bench.metrics.tabular.graph import Dag, statements
from bench.metrics.tabular.independence import fisher_z, g_squared, residual_test
from bench.metrics.tabular.mechanism import DiscreteLaw, Laws, direction, mechanism
from bench.metrics.tabular.table import Column, EncodedTable
from tests.metrics.tabular.conftest import data_file
from tests.metrics.tabular.encode import coded_table, numeric_table

ROWS = 5_000


def network(name: str) -> BayesianNetwork:
    return BayesianNetwork.from_bif(gzip.open(data_file(f"bif/{name}.bif.gz"), "rt").read(), name)


def graph(model: BayesianNetwork | AdditiveNoiseModel) -> Dag:
    return Dag.of_names(model.dag.nodes, model.dag.parents)


def rows_of(model: BayesianNetwork, n: int, seed: int) -> EncodedTable:
    codes = model.encode(model.sample(n, np.random.default_rng(seed)))
    columns = tuple(Column(node, "categorical", len(levels)) for node, levels in model.states.items())
    return EncodedTable(columns, np.empty((n, 0)), np.column_stack([codes[c.name] for c in columns]))


def shuffled(table: EncodedTable) -> EncodedTable:
    codes = np.random.default_rng(0).permuted(table.codes, axis=0)
    return EncodedTable(table.columns, table.numbers, codes)


def bootstrap(table: EncodedTable) -> EncodedTable:
    return table.take(np.random.default_rng(0).integers(len(table), size=len(table)))


class TestGraph:
    @pytest.mark.parametrize(
        ("name", "independences", "dependences"),
        [("asia", 20, 8), ("child", 165, 25), ("insurance", 299, 52), ("alarm", 620, 46)],
    )
    def test_statements_of_known_networks(self, name: str, independences: int, dependences: int) -> None:
        kinds = [s.kind for s in statements(graph(network(name)))]
        assert (kinds.count("independence"), kinds.count("dependence")) == (independences, dependences)

    def test_a_chain(self) -> None:
        found = statements(Dag(((), (0,), (1,))))
        assert [(s.first, s.second, s.given, s.kind) for s in found] == [
            (0, 1, (), "dependence"),
            (0, 2, (1,), "independence"),
            (1, 2, (), "dependence"),
        ]

    def test_cycles_are_refused(self) -> None:
        with pytest.raises(ValueError, match="cycle"):
            Dag(((1,), (0,))).order()

    def test_a_sample_keeps_the_proportion(self) -> None:
        dag = Dag(tuple((j - 1,) if j else () for j in range(30)))
        some = statements(dag, most=100, seed=1)
        kinds = [s.kind for s in some]
        assert len(some) == pytest.approx(100, abs=1)
        assert kinds.count("dependence") == round(100 * 29 / 435)
        assert some == statements(dag, most=100, seed=1) != statements(dag, most=100, seed=2)


class TestIndependence:
    @given(seed=st.integers(0, 2**32 - 1))
    @settings(max_examples=30, deadline=None)
    def test_g_squared_equals_scipy_within_each_stratum(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        x, y, z = (rng.integers(0, k, 150) for k in (3, 2, 4))
        statistic, freedom = 0.0, 0
        for level in np.unique(z):
            table = np.zeros((3, 2))
            np.add.at(table, (x[z == level], y[z == level]), 1)
            table = table[table.sum(1) > 0][:, table.sum(0) > 0]
            if min(table.shape) > 1:
                test = chi2_contingency(table, correction=False, lambda_="log-likelihood")
                statistic, freedom = statistic + test.statistic, freedom + test.dof
        found = g_squared(x, y, [z], (3, 2, [4]))
        assert found.information == pytest.approx(max(0.0, (statistic - freedom) / 300), abs=1e-9)
        more_states = g_squared(x, y, [z], (9, 8, [7]))
        assert more_states.p_value == pytest.approx(found.p_value)
        assert g_squared(x, y, [z, z + 0], (3, 2, [1000, 1000])).p_value == pytest.approx(found.p_value)

    def test_nothing_to_test_is_independent(self) -> None:
        ones = np.zeros(10, dtype=np.int64)
        assert g_squared(ones, ones, [], (1, 1, [])).p_value == 1
        assert fisher_z(np.ones(10), np.arange(10.0), []).p_value == 1
        assert fisher_z(np.arange(3.0), np.arange(3.0), []).p_value == 1
        assert residual_test(np.zeros(10), np.arange(10.0)).p_value == 1

    def test_fisher_z_by_hand(self, rng: np.random.Generator) -> None:
        x = rng.normal(size=200)
        y = 0.3 * x + rng.normal(size=200)
        z = np.arctanh(np.corrcoef(x, y)[0, 1]) * np.sqrt(197)
        from scipy.stats import norm

        assert fisher_z(x, y, []).p_value == pytest.approx(2 * norm.sf(abs(z)))
        common = rng.normal(size=2000)
        pair = common + rng.normal(size=2000), common + rng.normal(size=2000)
        assert fisher_z(*pair, []).p_value < 1e-9
        assert fisher_z(*pair, [common]).p_value > 1e-3

    def test_levels_hold(self, rng: np.random.Generator) -> None:
        numbers = rng.normal(size=(400, 2, 300))
        p = {
            "fisher": [fisher_z(x, y, []).p_value for x, y in numbers],
            "residual": [residual_test(x, y).p_value for x, y in numbers],
            "discrete": [
                g_squared(*(codes > 0).astype(np.int64), [], (2, 2, [])).p_value for codes in numbers
            ],
        }
        for name, values in p.items():
            assert np.mean(np.array(values) <= 0.05) <= 0.09, name

    def test_a_non_linear_residual_is_found(self, rng: np.random.Generator) -> None:
        x = rng.normal(size=2000)
        assert residual_test(np.abs(x) - np.abs(x).mean() + 0.5 * rng.normal(size=2000), x).p_value < 1e-9


class TestNetworks:
    @pytest.mark.parametrize(
        ("name", "fresh", "resampled"),
        [
            ("alarm", (0.994, 0.978), (0.750, 0.978)),
            ("child", (0.994, 1.0), (0.552, 1.0)),
            ("insurance", (0.990, 0.904), (0.575, 0.923)),
        ],
    )
    def test_fresh_resampled_and_shuffled_rows(
        self, name: str, fresh: tuple[float, float], resampled: tuple[float, float]
    ) -> None:
        model = network(name)
        truth = GraphTruth(graph(model), "discrete")
        rows, again = rows_of(model, ROWS, 1), rows_of(model, ROWS, 2)

        def parts(table: EncodedTable) -> tuple[float, float]:
            facets = ci_fidelity(generated=Sample(table), truth=truth).facets
            return facets["ci_kept"], facets["dep_kept"]

        # Two samples differ by the noise of 25 to 52 dependence statements.
        one = 1 / len(truth.dag.edges)
        assert parts(again) == pytest.approx(fresh, abs=0.02 + one)
        assert parts(bootstrap(rows)) == pytest.approx(resampled, abs=0.08)
        kept, dependent = parts(shuffled(rows))
        assert kept > 0.95
        assert dependent < 0.06

    def test_effects_separate_fresh_from_shuffled(self) -> None:
        model = network("child")
        truth = GraphTruth(graph(model), "discrete")
        holdout, oracle = Sample(rows_of(model, ROWS, 2)), Sample(rows_of(model, 100_000, 3))

        def effect(table: EncodedTable) -> float:
            found = ci_effect(generated=Sample(table), holdout=holdout, oracle=oracle, truth=truth).value
            assert found is not None
            return found

        rows = rows_of(model, ROWS, 1)
        assert effect(rows) > 0.95
        assert effect(shuffled(rows)) < 0.55
        assert effect(bootstrap(rows)) < effect(rows) - 0.02

    def test_conditional_tables(self) -> None:
        model = network("asia")
        dag = graph(model)
        laws = Laws(
            model.noise_cdf,
            {j: DiscreteLaw(dag.parents[j], model.cpt(n).table) for j, n in enumerate(model.dag.nodes)},
        )
        oracle, rows = rows_of(model, 50_000, 3), rows_of(model, ROWS, 1)

        def score(table: EncodedTable) -> float:
            nothing = np.full((len(table), 8), np.nan)
            found = mechanism(generated=table, residuals=nothing, oracle=oracle, laws=laws)
            assert found.value is not None
            return found.value

        assert score(rows) > 0.98
        assert score(shuffled(rows)) < 0.93
        assert score(rows.take(np.zeros(ROWS, int))) < 0.75

    def test_misuse_is_refused(self) -> None:
        truth = GraphTruth(Dag(((), (0,))), "discrete")
        numbers = numeric_table(np.zeros((3, 2)))
        with pytest.raises(ValueError, match="needs a table of categories"):
            ci_fidelity(generated=Sample(numbers), truth=truth)
        with pytest.raises(ValueError, match="graph has 2 variables and the table 1"):
            ci_fidelity(generated=Sample(coded_table([[0]], [1])), truth=truth)
        with pytest.raises(ValueError, match="needs the residuals"):
            ci_fidelity(generated=Sample(numbers), truth=GraphTruth(truth.dag, "mechanism"))
        with pytest.raises(ValueError, match="shape"):
            Sample(numbers, np.zeros((2, 2)))
        alone = ci_fidelity(
            generated=Sample(coded_table([[0, 1]], [2, 2])), truth=GraphTruth(Dag(((), ())), "discrete")
        )
        assert alone.value is None


def as_table(frame: pd.DataFrame) -> EncodedTable:
    return numeric_table(frame.to_numpy(), names=[str(c) for c in frame])


class TestMechanisms:
    def test_the_order_of_generators(self) -> None:
        model, rng = anm10(), np.random.default_rng(1)
        real, fresh = model.sample(ROWS, rng), model.sample(ROWS, rng)
        gaussian = rng.multivariate_normal(real.mean(), real.cov(), ROWS)
        tables = {
            "fresh": (fresh, 0.99),
            "noise": (real + 0.1 * rng.normal(size=real.shape), 0.93),
            "gaussian": (pd.DataFrame(gaussian, columns=real.columns), 0.75),
            "independent": (real.apply(lambda c: rng.permutation(c)), 0.46),
        }
        found = {}
        for name, (frame, _) in tables.items():
            residuals = model.residuals(frame).to_numpy()
            table = as_table(frame)
            found[name] = mechanism(
                generated=table, residuals=residuals, oracle=table, laws=Laws(model.noise_cdf)
            ).facets["variance_ratio"]
        assert found == pytest.approx({name: ratio for name, (_, ratio) in tables.items()}, abs=0.02)

    def test_graph_statements_with_known_mechanisms(self) -> None:
        model, rng = anm10(), np.random.default_rng(1)
        truth = GraphTruth(graph(model), "mechanism")
        fresh = model.sample(ROWS, rng)
        gaussian = pd.DataFrame(
            rng.multivariate_normal(fresh.mean(), fresh.cov(), ROWS), columns=fresh.columns
        )

        def facets(frame: pd.DataFrame) -> tuple[float, float]:
            sample = Sample(as_table(frame), model.residuals(frame).to_numpy())
            found = ci_fidelity(generated=sample, truth=truth).facets
            return found["ci_kept"], found["dep_kept"]

        assert facets(fresh) == pytest.approx((1, 1), abs=0.07)
        assert facets(gaussian)[0] < 0.9
        assert facets(fresh.apply(lambda c: rng.permutation(c)))[1] < 0.15

    def test_linear_gaussian_statements(self) -> None:
        model = lin10()
        table = as_table(model.sample(ROWS, np.random.default_rng(1)))
        found = ci_fidelity(generated=Sample(table), truth=GraphTruth(graph(model), "linear-gaussian"))
        assert found.value == pytest.approx(1, abs=0.04)
        assert (found.facets["n_independence"], found.facets["n_dependence"]) == (30, 15)

    def test_direction_needs_noise_that_is_not_normal(self) -> None:
        heavy, normal = lingam10(), lin10()
        rng = np.random.default_rng(1)
        found = [
            direction(generated=as_table(m.sample(ROWS, rng)), dag=graph(m)).value for m in (heavy, normal)
        ]
        assert (found[0] or 0) > 0.85
        assert (found[1] or 1) < 0.75
        assert direction(generated=numeric_table(np.ones((5, 10))), dag=graph(heavy)).value == 0
        assert direction(generated=coded_table([[0, 0]], [1, 1]), dag=Dag(((), (0,)))).value is None

    def test_residuals_that_are_never_defined_score_worst(self) -> None:
        table = numeric_table(np.zeros((5, 1)))
        laws = Laws(lambda x: x)
        nothing = mechanism(generated=table, residuals=np.full((5, 1), np.nan), oracle=table, laws=laws)
        assert nothing.value == 0
        with pytest.raises(ValueError, match="shape"):
            mechanism(generated=table, residuals=np.zeros((5, 2)), oracle=table, laws=laws)

    def test_a_configuration_never_generated_costs_its_weight(self) -> None:
        law = DiscreteLaw((0,), np.array([[0.5, 0.5], [1.0, 0.0]]))
        oracle = coded_table([[0, 0], [0, 1], [1, 0], [1, 0]], [2, 2])
        generated = coded_table([[0, 0], [0, 1]] * 10, [2, 2])
        found = mechanism(
            generated=generated, residuals=np.zeros((20, 2)), oracle=oracle, laws=Laws(lambda x: x, {1: law})
        )
        assert found.facets["conditional_tables"] == 0.5
        unseen = coded_table([[0, 0], [0, 2]] * 10, [2, 2])
        found = mechanism(
            generated=unseen, residuals=np.zeros((20, 2)), oracle=oracle, laws=Laws(lambda x: x, {1: law})
        )
        assert found.facets["conditional_tables"] == 0.25
