"""Selectivity of single molecules: by hand, on measured affinities, by properties."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bench.metrics.selectbench.windows import (
    RT,
    TENFOLD,
    entropy,
    gini,
    partition,
    selectivity,
    selectivity_score,
    winsorised,
)

DAVIS = Path(__file__).resolve().parents[4] / "shared" / "data" / "selectbench" / "davis_kd_nM.parquet"
SCORES = st.floats(-15.0, 3.0)


@pytest.mark.parametrize(
    ("kd", "expected", "share"),
    [
        ([1.0], 0.0, 1.0),
        ([1.0, 1.0], 0.6931, 0.5),
        ([1.0, 1000.0], 0.0079, 0.9990),
        ([1.0, 1.0, 1.0], 1.0986, 0.3333),
        ([1.0, 1.0, 1.0, 1000.0, 1000.0], 1.1039, 0.3331),
        ([1.0, *[10.0] * 10], 1.8444, 0.5),
    ],
)
def test_entropy_and_partition_of_the_published_examples(
    kd: list[float], expected: float, share: float
) -> None:
    logs = -np.log(kd)
    assert float(entropy(log_affinity=logs)) == pytest.approx(expected, abs=5e-5)
    assert float(partition(log_affinity=logs)) == pytest.approx(share, abs=5e-5)


@pytest.mark.parametrize(
    ("values", "expected"), [([80, 10, 5, 5], 0.575), ([1, 0, 0, 0], 0.75), ([1, 1, 1, 1], 0.0)]
)
def test_gini_by_hand(values: list[float], expected: float) -> None:
    assert float(gini(values=values)) == pytest.approx(expected, abs=1e-12)
    assert math.isnan(float(gini(values=[0.0, 0.0])))


@pytest.mark.skipif(not DAVIS.is_file(), reason=f"measured affinities are not at {DAVIS}")
@pytest.mark.parametrize(
    ("name", "bound", "expected", "unevenness"),
    [
        ("staurosporine", 386, 3.596, 0.9184),
        ("imatinib", 41, 2.300, 0.9738),
        ("gefitinib", 68, 2.342, None),
        ("lapatinib", 16, 2.312, None),
        ("dasatinib", 136, 3.130, None),
        ("sunitinib", 264, 2.757, None),
        ("tofacitinib", 26, 0.974, 0.9907),
    ],
)
def test_measured_kinase_inhibitors(name: str, bound: int, expected: float, unevenness: float | None) -> None:
    import pandas as pd

    table = pd.read_parquet(DAVIS)
    ligands = pd.read_csv(DAVIS.parent / "davis_ligands.csv")
    cid = int(ligands.loc[ligands["name"] == name, "pubchem_cid"].iloc[0])
    kd = table.loc[str(cid) if str(cid) in table.index else cid].to_numpy(dtype=float)
    assert len(kd) == 442
    assert float(selectivity_score(dissociation_nM=kd)) == pytest.approx(bound / 442)
    assert float(entropy(log_affinity=-np.log(kd))) == pytest.approx(expected, abs=5e-4)
    if unevenness is not None:
        assert float(gini(values=1.0 / kd)) == pytest.approx(unevenness, abs=5e-5)


def test_all_measures_of_one_molecule_by_hand() -> None:
    found = selectivity(on=[-9.0], off=[[-7.0, -8.5, 1.0]])
    assert float(found.window[0]) == pytest.approx(0.5)
    assert float(found.delta_mean[0]) == pytest.approx(
        9.0 - (7.0 + 8.5 + 0.0) / 3
    )  # "does not fit" counts as 0
    assert float(found.rank_on[0]) == 1.0
    assert float(found.selectivity[0]) == pytest.approx(1 / 3)
    k = np.exp(np.array([9.0, 7.0, 8.5, 0.0]) / RT)
    assert float(found.partition[0]) == pytest.approx(k[0] / k.sum())
    tied = selectivity(on=[-8.0], off=[[-8.0, -9.0]])
    assert float(tied.rank_on[0]) == 2.5


def test_what_is_missing_is_never_selective() -> None:
    found = selectivity(on=[-9.0, np.nan, -9.0], off=[[np.nan, -5.0], [-5.0, -5.0], [-5.0, -6.0]])
    for values in (
        found.window,
        found.rank_on,
        found.delta_mean,
        found.entropy,
        found.gini,
        found.selectivity,
    ):
        assert np.isnan(values).tolist() == [True, True, False]
    alone = selectivity(on=[-9.0], off=np.empty((1, 0)))
    assert np.isnan(alone.window).all()
    assert np.isnan(alone.partition).all()


def test_shapes_and_infinities_are_refused() -> None:
    with pytest.raises(ValueError, match=r"on must be \(n,\)"):
        selectivity(on=[-9.0], off=[-8.0])
    with pytest.raises(ValueError, match="finite"):
        selectivity(on=[-np.inf], off=[[-8.0]])


def test_one_order_of_magnitude() -> None:
    assert pytest.approx(1.3642, abs=5e-5) == TENFOLD
    assert winsorised([-9.0, 1.0, 9.0]).tolist() == [-5.0, 1.0, 5.0]


@given(arrays(np.float64, (4, 5), elements=SCORES), st.permutations(range(4)))
def test_the_order_of_off_targets_does_not_matter(table: np.ndarray, order: list[int]) -> None:
    on, off = table[:, 0], table[:, 1:]
    first, second = selectivity(on=on, off=off), selectivity(on=on, off=off[:, order])
    for name in ("window", "delta_mean", "rank_on", "entropy", "partition", "gini", "selectivity"):
        np.testing.assert_allclose(getattr(first, name), getattr(second, name), atol=1e-9)


@given(arrays(np.float64, (3, 4), elements=SCORES), st.floats(0.1, 5.0))
def test_binding_the_target_better_never_hurts(table: np.ndarray, better: float) -> None:
    on, off = np.minimum(table[:, 0], 0.0), table[:, 1:]
    before, after = selectivity(on=on, off=off), selectivity(on=on - better, off=off)
    np.testing.assert_allclose(after.window, before.window + better, atol=1e-9)
    assert (after.rank_on <= before.rank_on).all()
    assert (after.partition >= before.partition - 1e-12).all()


@given(arrays(np.float64, 6, elements=st.floats(-14.0, 0.0)))
def test_ranges(scores: np.ndarray) -> None:
    found = selectivity(on=scores[:1], off=scores[None, 1:])
    assert -1e-9 <= found.entropy[0] <= np.log(6) + 1e-9
    assert 0 < found.partition[0] <= 1
    assert 1 <= found.rank_on[0] <= 6
    if np.isfinite(found.gini[0]):
        assert -1e-9 <= found.gini[0] <= 1 - 1 / 6 + 1e-9
