"""Rates with denominators that never shrink, standing against matched drugs, oracle cards, fingerprints."""

import gzip
import importlib.util
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdkit import Chem, DataStructs
from rdkit.Chem import rdFingerprintGenerator
from scipy import stats

from bench.metrics.selectbench import fingerprints as fp
from bench.metrics.selectbench.matching import hit_thresholds, nearest_in_size, size_line, z_scores
from bench.metrics.selectbench.oracle import oracle_card
from bench.metrics.selectbench.rates import (
    CURVE_END,
    THRESHOLDS,
    combined,
    curve_mean,
    median,
    share,
    standing,
    success_curve,
    wilson,
)

SMILES = ["CCO", "CCN", "c1ccccc1", "CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "CCCCCCCC"]


def test_a_share_is_of_what_was_requested() -> None:
    found = share([True, True, False], requested=6)
    assert found.value == pytest.approx(1 / 3)
    assert (found.n, found.method) == (6, "wilson")
    with pytest.raises(ValueError, match="3 successes in 2"):
        share([True] * 3, requested=2)


@given(st.integers(1, 60), st.data())
def test_wilson_agrees_with_scipy(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    theirs = stats.binomtest(k, n).proportion_ci(method="wilson")
    assert wilson(k, n) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_the_success_curve_by_hand() -> None:
    curve = success_curve(windows=[1.0, 3.0, np.nan, 5.0], eligible=[True, True, True, False], requested=5)
    assert len(curve) == len(THRESHOLDS) == 41
    assert curve[0] == curve[10] == pytest.approx(2 / 5)
    assert curve[11] == curve[30] == pytest.approx(1 / 5)
    assert curve[31] == 0.0
    assert curve_mean(np.ones(41)) == pytest.approx(1.0)
    assert curve_mean(np.where(THRESHOLDS <= 1.0, 1.0, 0.0)) == pytest.approx(1.05 / CURVE_END)


@given(st.lists(st.floats(-6, 6), min_size=1, max_size=20))
def test_a_success_curve_falls(windows: list[float]) -> None:
    curve = success_curve(windows=windows, eligible=[True] * len(windows), requested=len(windows))
    assert (np.diff(curve) <= 1e-12).all()
    assert 0 <= curve_mean(curve) <= 1


def test_standing_by_hand() -> None:
    matched = np.array([[0, 1], [1, 2]])
    found = standing(windows=[2.0, 1.0], reference_windows=[0.0, 1.0, 4.0], matched=matched)
    assert found.gain.value == pytest.approx(1.5 - 1.0)
    assert found.auc.value == pytest.approx((1.0 + 0.25) / 2)
    alone = standing(windows=[2.0], reference_windows=[0.0], matched=np.array([[0]]))
    assert (alone.gain.value, alone.gain.low, alone.auc.value) == (2.0, None, 1.0)
    with pytest.raises(ValueError, match="no molecule"):
        standing(windows=[np.nan], reference_windows=[0.0], matched=np.array([[0]]))


def test_random_drugs_stand_where_random_drugs_do_and_an_offset_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    reference, windows = rng.normal(1.3, 1.0, 64), rng.normal(1.3, 1.0, 400)
    heavy = rng.integers(12, 40, 400)
    matched = nearest_in_size(heavy_atoms=heavy, reference_heavy_atoms=rng.integers(12, 40, 64))
    found = standing(windows=windows, reference_windows=reference, matched=matched)
    assert np.median(windows) > 1.0  # a receptor offset alone looks like selectivity
    assert abs(found.gain.value) < 0.35
    assert abs(found.auc.value - 0.5) < 0.1
    shifted = standing(windows=windows + 5, reference_windows=reference + 5, matched=matched)
    assert shifted.gain.value == pytest.approx(found.gain.value)
    better = standing(windows=windows + 1, reference_windows=reference, matched=matched)
    assert better.gain.low is not None
    assert better.gain.low > 0.5


def test_intervals_cover_no_gain_when_there_is_none() -> None:
    """Molecules from the very distribution of the reference drugs: nearly all intervals contain 0 and one half."""
    covered = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        heavy, sizes = rng.integers(12, 40, 64), rng.integers(12, 40, 40)
        found = standing(
            windows=rng.normal(0.8, 1.1, 40),
            reference_windows=rng.normal(0.8, 1.1, 64),
            matched=nearest_in_size(heavy_atoms=sizes, reference_heavy_atoms=heavy),
            resamples=200,
            seed=seed,
        )
        assert found.gain.low is not None
        assert found.gain.high is not None
        assert found.auc.low is not None
        assert found.auc.high is not None
        covered += found.gain.low <= 0 <= found.gain.high and found.auc.low <= 0.5 <= found.auc.high
    assert covered >= 0.85 * 60


def test_matching_prefers_the_same_size_and_never_itself() -> None:
    found = nearest_in_size(heavy_atoms=[20], reference_heavy_atoms=[30, 20, 21, 19], k=2)
    assert found.tolist() == [[1, 2]]
    excluded = np.array([[False, True, False, False]])
    again = nearest_in_size(heavy_atoms=[20], reference_heavy_atoms=[30, 20, 21, 19], k=4, excluded=excluded)
    assert again.tolist() == [[2, 3, 0, -1]]


@settings(max_examples=40)
@given(st.floats(-0.3, 0.1), st.floats(-6, -2), st.integers(0, 2**31))
def test_the_size_line_agrees_with_scipy(slope: float, intercept: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    heavy = rng.integers(12, 40, 25)
    scores = intercept + slope * heavy + rng.normal(0, 0.5, 25)
    scores[3] = np.nan
    line = size_line(scores=scores, heavy_atoms=heavy)
    good = np.isfinite(scores)
    theirs = stats.theilslopes(scores[good], heavy[good], method="joint")
    assert line.slope == pytest.approx(theirs.slope)
    assert line.intercept == pytest.approx(theirs.intercept)


def test_z_takes_size_off_and_needs_a_line() -> None:
    heavy = np.array([10, 20, 30, 40, 15])
    scores = -0.1 * heavy + np.array([0.2, -0.2, 0.3, -0.3, 0.0])
    line = size_line(scores=scores, heavy_atoms=heavy)
    assert line.slope == pytest.approx(-0.1, abs=0.03)
    bare = size_line(scores=-0.1 * heavy + [0, 0.1, 0, -0.1, 0], heavy_atoms=heavy)
    z = z_scores(scores=[-1.0, -4.0, -5.0], heavy_atoms=[10, 40, 40], line=bare)
    assert z[2] < z[1]
    assert z[2] - z[1] == pytest.approx(-1.0 / bare.sigma)
    with pytest.raises(ValueError, match="three scores"):
        size_line(scores=[-1.0, np.nan, -2.0], heavy_atoms=[1, 2, 3])


def test_hits_are_measured_against_drugs_of_the_same_size() -> None:
    reference_heavy = np.array([20] * 10 + [35] * 10)
    reference = np.array([*np.linspace(-9, -5, 10), *np.linspace(-12, -8, 10)])
    small, large = hit_thresholds(
        heavy_atoms=[20, 35], reference_heavy_atoms=reference_heavy, reference_scores=reference
    )
    assert small == pytest.approx(np.quantile(reference[:10], 0.2))
    assert large == pytest.approx(small - 3.0)
    (lonely,) = hit_thresholds(
        heavy_atoms=[50], reference_heavy_atoms=[10, 20, 30], reference_scores=[-1.0, -2.0, -3.0]
    )
    assert lonely == pytest.approx(np.quantile([-1.0, -2.0, -3.0], 0.2))


def test_estimates_of_several_assignments_are_combined() -> None:
    shares = combined([share([True], requested=2), share([False], requested=2)])
    assert (shares.value, shares.n, shares.method) == (0.25, 4, "wilson")
    medians = combined([median([1.0, 2.0, 3.0], seed=0), median([5.0, 6.0], seed=1)])
    assert medians.value == pytest.approx((2.0 + 5.5) / 2)
    assert medians.low is not None
    assert medians.low <= medians.value <= (medians.high or -math.inf)
    single = combined([median([1.0, 2.0], seed=0), median([5.0], seed=1)])
    assert single.value == pytest.approx(3.25)
    assert single.low is None
    with pytest.raises(ValueError, match="nothing"):
        combined([])


def test_an_oracle_card_by_hand() -> None:
    card = oracle_card(
        on=[-9.0, -8.0, -7.0, np.nan, -9.0],
        off=[-8.0, -9.0, -7.0, -8.0, -5.0],
        sign=[1, 1, 1, 1, 1],
        clear=[True, True, True, True, False],
        delta=[2.0, 3.0, 1.5, 2.0, 0.5],
    )
    assert (card.n, card.right, card.accuracy, card.badge) == (4, 1, 0.25, "red")
    preference, delta = [1.0, -1.0, 0.0, 4.0], [2.0, 3.0, 1.5, 0.5]
    assert card.spearman == pytest.approx(stats.spearmanr(preference, delta).statistic)
    perfect = oracle_card(on=[-9.0] * 8, off=[-8.0] * 8, sign=[1] * 8, clear=[True] * 8, delta=[np.nan] * 8)
    assert (perfect.badge, perfect.accuracy, perfect.spearman) == ("green", 1.0, None)
    amber = oracle_card(
        on=[-9.0] * 3, off=[-8.0, -8.0, -10.0], sign=[1] * 3, clear=[True] * 3, delta=[1.0] * 3
    )
    assert amber.badge == "amber"
    nothing = oracle_card(on=[], off=[], sign=[], clear=[], delta=[])
    assert (nothing.badge, nothing.accuracy) == ("none", None)


@given(st.lists(st.integers(-5, 5), min_size=3, max_size=20), st.integers(0, 99))
def test_spearman_agrees_with_scipy_with_ties(delta: list[int], seed: int) -> None:
    off = np.random.default_rng(seed).integers(-3, 4, len(delta)).astype(float)
    card = oracle_card(
        on=np.zeros(len(delta)), off=off, sign=[1] * len(delta), clear=[True] * len(delta), delta=delta
    )
    if np.ptp(off) == 0 or np.ptp(delta) == 0:
        assert card.spearman is None
    else:
        assert card.spearman == pytest.approx(stats.spearmanr(off, delta).statistic, abs=1e-9)


def rdkit_prints(smiles: list[str]) -> list[DataStructs.ExplicitBitVect]:
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=fp.BITS)
    return [generator.GetFingerprint(Chem.MolFromSmiles(s)) for s in smiles]


def test_similarities_agree_with_rdkit() -> None:
    packed, theirs = fp.morgan(SMILES), rdkit_prints(SMILES)
    expected = np.array([DataStructs.BulkTanimotoSimilarity(one, theirs) for one in theirs])
    np.testing.assert_allclose(fp.tanimoto(packed, packed), expected, atol=1e-12)
    assert fp.internal_diversity(packed) == pytest.approx(1 - expected.mean())
    assert fp.internal_diversity(packed, p=2) == pytest.approx(1 - np.sqrt((expected**2).mean()))
    best, index = fp.nearest_similarity(packed[:2], packed[2:])
    assert best.tolist() == pytest.approx(expected[:2, 2:].max(axis=1).tolist())
    assert index.tolist() == expected[:2, 2:].argmax(axis=1).tolist()
    with pytest.raises(ValueError, match="two molecules"):
        fp.internal_diversity(packed[:1])
    with pytest.raises(ValueError, match="not_a_smiles"):
        fp.morgan(["not_a_smiles"])


@given(st.integers(0, 2**31), st.integers(1, 700), st.integers(1, 9))
@settings(max_examples=15, deadline=None)
def test_similarities_of_random_bits(seed: int, n: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.random((n, 128)) < 0.2, rng.random((m, 128)) < 0.2
    a[0], b[0] = False, False  # two empty fingerprints are alike
    common = (a[:, None] & b[None]).sum(-1)
    union = (a[:, None] | b[None]).sum(-1)
    expected = np.where(union > 0, common / np.maximum(union, 1), 1.0)
    np.testing.assert_allclose(fp.tanimoto(fp.pack(a), fp.pack(b)), expected, atol=1e-12)


def moses_file() -> Path | None:
    spec = importlib.util.find_spec("moses")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "dataset" / "data" / "test.csv.gz"
        if path.is_file():
            return path
    return None


@pytest.mark.skipif(
    moses_file() is None, reason="molsets is not installed (pip install --no-deps molsets==0.3.1)"
)
def test_diversity_and_novelty_have_the_values_of_moses() -> None:
    path = moses_file()
    assert path is not None
    with gzip.open(path, "rt") as file:
        lines = [line.split(",")[0].strip() for line in file][1:]
    random.seed(0)
    first, second = random.sample(lines, 2000), random.sample(lines, 2000)
    ours, other = fp.morgan(first), fp.morgan(second)
    assert fp.internal_diversity(ours) == pytest.approx(0.856627, abs=1e-5)
    assert fp.internal_diversity(ours, p=2) == pytest.approx(0.849438, abs=1e-5)
    assert fp.snn(ours, other) == pytest.approx(0.409592, abs=1e-5)
