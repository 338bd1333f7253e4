"""What holds for every code: the same score however scale is split, latents are ordered or rows are turned."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bench.metrics.sae import activity
from bench.metrics.sae.agreement import rank_agreement
from bench.metrics.sae.decoder import decoder_overlap
from bench.metrics.sae.distortion import distortion
from bench.metrics.sae.monosemanticity import monosemanticity_scores
from bench.metrics.sae.polysemanticity import polysemanticity
from bench.metrics.sae.rate import quantised, rate
from bench.metrics.sae.recovery import agreement, recovery
from bench.metrics.sae.tradeoff import hypervolume

N, M, D, K = 60, 7, 5, 6
SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=25, deadline=None)


def world(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = rng.gamma(2.0, size=(N, M)) * (rng.random((N, M)) < 0.5)
    return {
        "codes": codes,
        "decoder": rng.normal(size=(M, D)),
        "rows": rng.normal(size=(N, D)),
        "dictionary": rng.normal(size=(K, D)),
        "factors": rng.random((N, K)) * (rng.random((N, K)) < 0.3),
        "scale": np.exp(rng.normal(size=M)),
        "order": rng.permutation(M),
        "rotation": np.linalg.qr(rng.normal(size=(D, D)))[0],
        "labels": rng.integers(0, 4, N),
    }


def everything(w: dict[str, np.ndarray]) -> dict[str, object]:
    """All scores that use codes and atoms."""
    f, a, x = w["codes"], w["decoder"], w["rows"]
    said = rate(codes=f, decoder=a, rows=x)
    overlap = decoder_overlap(decoder=a)
    found = recovery(dictionary=w["dictionary"], decoder=a, codes=f, factors=w["factors"])
    coarse = quantised(codes=f, decoder=a, step=said.step) @ a
    return {
        "rate": [
            said.l0,
            said.support_bits,
            said.magnitude_bits,
            said.magnitude_bits_plugin,
            said.index_bits,
        ],
        "fvu": [distortion(rows=x, reconstruction=f @ a).fvu, distortion(rows=x, reconstruction=coarse).fvu],
        "recovery": [found.mcc_factors, found.mcc_min, found.f1_matched, found.f1_best],
        "overlap": np.sort(overlap.interference),
        "ms": np.sort(monosemanticity_scores(codes=f, embeddings=x)),
        "rank": np.sort(activity.input_rank(codes=f, rows=x)),
        "bimodality": np.sort(activity.bimodality(codes=f)),
        "separability": np.sort(activity.separability(codes=f, labels=w["labels"])),
    }


def assert_same(first: dict[str, object], second: dict[str, object]) -> None:
    for name, value in first.items():
        np.testing.assert_allclose(np.asarray(second[name], float), np.asarray(value, float), rtol=1e-5, atol=1e-7,
                                   err_msg=name)  # fmt: skip


@FEW
@given(SEEDS)
def test_scale_may_be_split_between_code_and_atom(seed: int) -> None:
    w = world(seed)
    moved = {**w, "codes": w["codes"] * w["scale"], "decoder": w["decoder"] / w["scale"][:, None]}
    assert_same(everything(w), everything(moved))


@FEW
@given(SEEDS)
def test_latents_have_no_order(seed: int) -> None:
    w = world(seed)
    assert_same(
        everything(w),
        everything({**w, "codes": w["codes"][:, w["order"]], "decoder": w["decoder"][w["order"]]}),
    )


@FEW
@given(SEEDS)
def test_space_may_be_rotated(seed: int) -> None:
    w = world(seed)
    turned = {name: w[name] @ w["rotation"] for name in ("decoder", "rows", "dictionary")}
    assert_same(everything(w), everything({**w, **turned}))


@FEW
@given(SEEDS)
def test_monosemanticity_is_the_sum_over_pairs(seed: int) -> None:
    w = world(seed)
    codes, e = w["codes"][:20], w["rows"][:20]
    unit = e / np.linalg.norm(e, axis=1, keepdims=True)
    found = monosemanticity_scores(codes=codes, embeddings=e)
    for j in range(M):
        a = codes[:, j]
        a = (a - a.min()) / (a.max() - a.min())
        pairs = list(itertools.combinations(range(20), 2))
        above = sum(a[i] * a[k] * float(unit[i] @ unit[k]) for i, k in pairs)
        assert found[j] == pytest.approx(above / sum(a[i] * a[k] for i, k in pairs), abs=1e-10)


@FEW
@given(SEEDS)
def test_effective_number_is_between_one_and_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    effect = rng.gamma(0.3, size=(K, M))
    found = polysemanticity(
        effect=effect, prevalence=rng.uniform(0.01, 0.9, K), density=rng.uniform(0.1, 1, M)
    )
    alive = found.alive
    assert (found.neff[alive] >= 1 - 1e-9).all()
    assert (found.neff[alive] <= K + 1e-9).all()
    assert (found.neff[alive] >= 1 / found.purity[alive] - 1e-9).all()
    scaled = polysemanticity(effect=effect * 7, prevalence=rng.uniform(0.01, 0.9, K), density=np.ones(M))
    assert scaled.poly is not None


@FEW
@given(SEEDS)
def test_detectors_are_judged_as_everywhere(seed: int) -> None:
    from sklearn.metrics import f1_score, precision_score, recall_score

    w = world(seed)
    precision, recall, f1 = agreement(codes=w["codes"], factors=w["factors"])
    fires, present = w["codes"][:, 1] != 0, w["factors"][:, 2] > 0
    assert precision[1, 2] == pytest.approx(precision_score(present, fires, zero_division=0))
    assert recall[1, 2] == pytest.approx(recall_score(present, fires, zero_division=0))
    assert f1[1, 2] == pytest.approx(f1_score(present, fires, zero_division=0))


@FEW
@given(SEEDS, st.integers(1, 8))
def test_volume_agrees_with_counting(seed: int, n: int) -> None:
    points = np.random.default_rng(seed).integers(0, 6, (n, 3)) / 5
    cells = (np.stack(np.meshgrid(*[np.arange(5)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) + 0.5) / 5
    dominated = (cells[:, None, :] > points[None, :, :]).all(axis=2).any(axis=1)
    assert hypervolume(points=points) == pytest.approx(dominated.mean())


@FEW
@given(SEEDS)
def test_rank_correlations_are_those_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 6, 15), rng.integers(0, 6, 15)
    found = rank_agreement(proxy=x, truth=y, seed=0, draws=50)
    if found is not None:
        assert found.spearman == pytest.approx(stats.spearmanr(x, y).statistic)
        assert found.kendall == pytest.approx(stats.kendalltau(x, y).statistic)
