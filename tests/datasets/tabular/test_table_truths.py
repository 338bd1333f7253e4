"""Generators with known truth: networks, their file format, structural causal models."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bench.datasets.tabular import generated, scm
from bench.datasets.tabular.bif import parse_bif
from bench.datasets.tabular.dataset import Cpt, Dag, Truth
from bench.datasets.tabular.mixed_scm import MISSING, MixedModel
from bench.datasets.tabular.networks import BayesianNetwork, random_network
from bench.errors import MissingRequirement

BIF = Path(__file__).resolve().parents[4] / "shared" / "data" / "tabular" / "bif"
needs_bif = pytest.mark.skipif(not BIF.is_dir(), reason="no shared/data/tabular/bif beside the repository")
SIZES = {
    "asia": (8, 8), "cancer": (5, 4), "earthquake": (5, 4), "survey": (6, 6), "sachs": (11, 17),
    "child": (20, 25), "insurance": (27, 52), "alarm": (37, 46),
}  # fmt: skip

RAIN = """
network "rain" { property author "n; n" ; }  // comment
variable rain { type discrete [ 2 ] { yes, no }; }
variable "wet grass" { type discrete [ 3 ] { dry damp wet }; property x 1; }
/* a table
   lists states of the child slowest */
probability ( rain ) { table 0.2, 0.8; }
probability ( "wet grass" | rain ) { table 0.1, 0.7, 0.3, 0.2, 0.6, 0.1; }
"""


def read(name: str) -> BayesianNetwork:
    return BayesianNetwork.from_bif(gzip.decompress((BIF / f"{name}.bif.gz").read_bytes()).decode(), name)


def test_bif_grammar() -> None:
    network = parse_bif(RAIN, "rain")
    assert network.states == {"rain": ("yes", "no"), "wet grass": ("dry", "damp", "wet")}
    assert network.tables["wet grass"].parents == ("rain",)
    np.testing.assert_allclose(network.tables["wet grass"].table, [[0.1, 0.3, 0.6], [0.7, 0.2, 0.1]])
    default = RAIN.replace(
        "table 0.1, 0.7, 0.3, 0.2, 0.6, 0.1;", "default 0.5 0.25 0.25; (no) 1.0, 0.0, 0.0;"
    )
    np.testing.assert_allclose(
        parse_bif(default, "").tables["wet grass"].table, [[0.5, 0.25, 0.25], [1, 0, 0]]
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.2, 0.8", "0.2, 0.3"),
        ("0.2, 0.8", "0.2"),
        ("[ 2 ]", "[ 3 ]"),
        ("| rain", "| snow"),
        ("0.1; }", "0.1;"),
        ("probability ( rain ) { table 0.2, 0.8; }", ""),
        ("variable rain", "variabel rain"),
        ("table 0.1, 0.7, 0.3, 0.2, 0.6, 0.1", "(yes) 0.1, 0.3, 0.6"),
    ],
)
def test_damaged_bif(old: str, new: str) -> None:
    assert old in RAIN
    with pytest.raises(MissingRequirement, match=r"rain\.bif: not a complete BIF network"):
        parse_bif(RAIN.replace(old, new, 1), "rain.bif")


@needs_bif
@pytest.mark.parametrize("name", SIZES)
def test_published_networks(name: str) -> None:
    network = read(name)
    assert (len(network.dag.nodes), len(network.dag.edges)) == SIZES[name]
    for node in network.dag.nodes:
        cpt = network.cpt(node)
        assert cpt.table.shape == tuple(len(network.states[n]) for n in (*cpt.parents, node))
        np.testing.assert_allclose(cpt.table.sum(axis=-1), 1.0)


@needs_bif
def test_one_table_of_asia() -> None:
    either = read("asia").cpt("either")
    assert either.parents == ("lung", "tub")
    assert either.table[:, :, 0].tolist() == [[1.0, 1.0], [1.0, 0.0]]


def check_tables(network: BayesianNetwork, frame: pd.DataFrame) -> None:
    """Frequencies given the parents agree with the tables: chi-square over all rows of all tables."""
    codes = network.encode(frame)
    statistic, freedom = 0.0, 0
    for node in network.dag.nodes:
        cpt = network.cpt(node)
        counts = np.zeros(cpt.table.shape)
        np.add.at(counts, tuple(codes[name] for name in (*cpt.parents, node)), 1)
        expected = counts.sum(axis=-1, keepdims=True) * cpt.table
        assert counts[cpt.table == 0].sum() == 0
        used = expected >= 5
        whole = used.all(axis=-1)
        statistic += float(((counts - expected) ** 2 / np.where(used, expected, 1))[whole].sum())
        freedom += int(whole.sum()) * (cpt.table.shape[-1] - 1)
    assert freedom > 50
    assert stats.chi2.sf(statistic, freedom) > 1e-4


def test_samples_follow_the_tables() -> None:
    network = random_network()
    check_tables(network, network.sample(20_000, np.random.default_rng(1)))


@needs_bif
def test_samples_follow_the_tables_of_alarm() -> None:
    network = read("alarm")
    check_tables(network, network.sample(20_000, np.random.default_rng(1)))


def test_random_network_is_what_its_card_says() -> None:
    network = random_network()
    states = [len(levels) for levels in network.states.values()]
    assert len(states) == 20
    assert {2, 5} <= set(states) <= {2, 3, 4, 5}
    assert max(len(parents) for parents in network.dag.parents.values()) == 3


def test_order_scans_in_file_order() -> None:
    dag = Dag(("c", "a", "d", "b"), {"c": ("a", "b"), "a": (), "d": ("c",), "b": ("a",)})
    assert dag.order() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="cycle"):
        Dag(("a", "b"), {"a": ("b",), "b": ("a",)}).order()


def test_the_graph_of_the_models() -> None:
    weights = scm.random_weights()
    sizes = np.abs(weights[weights != 0])
    assert len(sizes) == 15
    assert sizes.min() >= 0.5
    assert sizes.max() <= 1.5
    assert scm.lin10().dag.edges == scm.anm10().dag.edges
    assert scm.lin10().dag.parents["x9"] == ("x0", "x1", "x3", "x5", "x8")


def test_scales_come_from_the_oracle_rows() -> None:
    assert scm.oracle_scales(scm.random_weights()) == pytest.approx(scm.TANH_SCALES, abs=1e-6)


TRUTHS: dict[str, Truth] = {
    "lin10": scm.lin10(), "lingam10": scm.lingam10(), "anm10": scm.anm10(), "mix12": MixedModel(),
    "rand20": random_network(),
}  # fmt: skip


@pytest.mark.parametrize("name", TRUTHS)
def test_residuals_follow_their_law_and_are_independent(name: str) -> None:
    """Of every node: Kolmogorov-Smirnov against the law, and no correlation with any other node's."""
    truth = TRUTHS[name]
    residuals = truth.residuals(truth.sample(20_000, np.random.default_rng(5)))
    assert tuple(residuals.columns) == truth.dag.nodes
    for node in residuals:
        values = residuals[node].dropna().to_numpy()
        assert len(values) > 15_000
        assert stats.kstest(values, truth.noise_cdf).pvalue > 1e-4
        assert values.std() == pytest.approx(1.0, abs=0.05)
    off = residuals.corr().to_numpy()[~np.eye(residuals.shape[1], dtype=bool)]
    assert np.abs(off).max() < 0.035


@pytest.mark.parametrize("name", TRUTHS)
def test_residuals_notice_shuffled_columns(name: str) -> None:
    truth = TRUTHS[name]
    frame = truth.sample(5_000, np.random.default_rng(5))
    rng = np.random.default_rng(0)
    shuffled = frame.apply(lambda column: column.sample(frac=1, random_state=rng).to_numpy())
    before, after = (truth.residuals(table) for table in (frame, shuffled.astype(frame.dtypes)))
    children = [node for node in truth.dag.nodes if truth.dag.parents[node]]
    spread = [abs(np.log(after[node].var() / before[node].var())) for node in children]
    worse = [abs(after[node].mean()) for node in children]
    lost = [after[node].isna().mean() - before[node].isna().mean() for node in children]
    changed = np.max([spread, worse, lost], axis=0) > 0.1
    assert changed.mean() > 0.6


@pytest.mark.parametrize("name", TRUTHS)
def test_more_rows_of_one_seed_are_other_rows_of_the_same_law(name: str) -> None:
    truth = TRUTHS[name]
    first, again, other = (truth.sample(100, np.random.default_rng(seed)) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert not first.equals(other)


def test_residuals_of_broken_rows_are_missing() -> None:
    model = MixedModel()
    frame = model.sample(200, np.random.default_rng(0))
    frame["claims"] = 2.5
    frame["amount"] = -1.0
    frame["group"] = "unheard of"
    residuals = model.residuals(frame)
    assert residuals[["claims", "amount", "group", "tier"]].isna().all().all()
    assert residuals["x1"].notna().all()
    network = random_network()
    rows = network.sample(50, np.random.default_rng(0)).astype(object)
    rows["n0"] = None
    assert network.residuals(rows)["n0"].isna().all()


def test_missing_values_of_the_mixed_model() -> None:
    frame = MixedModel().sample(50_000, np.random.default_rng(0))
    assert set(frame.columns[frame.isna().any()]) == set(MISSING)
    for column, (parent, _) in MISSING.items():
        assert frame[column].isna().mean() == pytest.approx(0.08, abs=0.006)
        assert frame.loc[frame[column].isna(), parent].mean() > frame[parent].mean() + 0.5
    assert 0.2 < (frame["amount"] == 0).mean() < 0.7


def test_probability_tables() -> None:
    assert isinstance(random_network().cpt("n3"), Cpt)
    assert scm.lin10().cpt("x1") is None
    assert MixedModel().cpt("group") is None


@needs_bif
@pytest.mark.parametrize("name", generated.NETWORKS)
def test_networks_come_from_a_mirror(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_MIRROR", str(BIF))
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path))
    assert generated.absence(name) is None
    assert len(generated.network(name).dag.nodes) == SIZES[name][0]
