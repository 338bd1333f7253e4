"""Values that SAELens, overcomplete and direct computation gave on a fixed data set, see its PROVENANCE.md."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.metrics.sae.decoder import decoder_overlap
from bench.metrics.sae.distortion import distortion
from bench.metrics.sae.linearity import target_linearity
from bench.metrics.sae.monosemanticity import monosemanticity_scores
from bench.metrics.sae.rate import Rate, quantised, rate
from bench.metrics.sae.recovery import agreement, recovery

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "data" / "sae"
pytestmark = pytest.mark.skipif(
    not (FOLDER / "metric_fixture.npz").is_file(), reason="the fixture is not in ../shared/data/sae"
)
CLOSE = {"rel": 0, "abs": 1e-4}


@pytest.fixture(scope="module")
def data() -> dict[str, np.ndarray]:
    with np.load(FOLDER / "metric_fixture.npz") as arrays:
        return dict(arrays)


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return json.loads((FOLDER / "metric_fixture_expected.json").read_text())


def coded(data: dict[str, np.ndarray]) -> Rate:
    return rate(codes=data["f"], decoder=data["W_dec"], rows=data["x"])


def test_rate(data: dict[str, np.ndarray], expected: dict[str, Any]) -> None:
    found = coded(data)
    assert found.l0 == pytest.approx(expected["l0"])
    assert found.dead == expected["dead"]
    assert found.step == pytest.approx(expected["quantiser_step"], abs=1e-7)
    assert found.support_bits == pytest.approx(expected["rate_support_bits"], **CLOSE)
    assert found.magnitude_bits == pytest.approx(expected["rate_magnitude_bits_miller_madow"], **CLOSE)
    assert found.magnitude_bits_plugin == pytest.approx(expected["rate_magnitude_bits_plugin"], **CLOSE)


def test_distortion_is_a_ratio_of_sums(data: dict[str, np.ndarray], expected: dict[str, Any]) -> None:
    found = distortion(rows=data["x"], reconstruction=data["x_hat"])
    assert found.fvu == pytest.approx(expected["fvu_ratio_of_sums"], **CLOSE)
    assert found.fvu == pytest.approx(1 - expected["explained_variance"], **CLOSE)
    assert found.fvu != pytest.approx(1 - expected["ev_legacy_mean_of_ratios"], abs=0.1)
    assert found.fvu != pytest.approx(1 - expected["overcomplete_r2"], abs=0.1)
    assert found.shrinkage == pytest.approx(expected["shrinkage"], **CLOSE)


def test_distortion_of_the_quantised_code(data: dict[str, np.ndarray], expected: dict[str, Any]) -> None:
    bias = (data["x_hat"] - data["f"] @ data["W_dec"]).mean(axis=0)
    coarse = quantised(codes=data["f"], decoder=data["W_dec"], step=coded(data).step) @ data["W_dec"] + bias
    found = distortion(rows=data["x"], reconstruction=coarse)
    assert found.fvu == pytest.approx(expected["fvu_quantised"], **CLOSE)


def test_recovery(data: dict[str, np.ndarray], expected: dict[str, Any]) -> None:
    found = recovery(dictionary=data["gt"], decoder=data["W_dec"], codes=data["f"], factors=data["z"])
    assert found.mcc_min == pytest.approx(expected["mcc_saelens"], **CLOSE)
    assert found.mcc_min == pytest.approx(expected["mcc_over_min"], **CLOSE)
    assert found.mcc_factors == pytest.approx(expected["mcc_over_n_factors"], **CLOSE)
    assert found.uniqueness == pytest.approx(expected["uniqueness_saelens"])
    assert found.precision_best == pytest.approx(expected["precision"], **CLOSE)
    assert found.recall_best == pytest.approx(expected["recall"], **CLOSE)
    assert found.f1_best == pytest.approx(expected["f1"], **CLOSE)
    _, _, f1 = agreement(codes=data["f"], factors=data["z"])
    assert f1[1, expected["latent1_best_factor"]] == pytest.approx(expected["latent1_f1"], **CLOSE)


def test_monosemanticity(data: dict[str, np.ndarray], expected: dict[str, Any]) -> None:
    found = monosemanticity_scores(codes=data["f"], embeddings=data["x"])
    *alive, dead = expected["monosemanticity_score_per_latent_embedding_x"]
    assert found[:-1] == pytest.approx(alive, **CLOSE)
    assert dead is None
    assert np.isnan(found[-1])


def test_decoder(data: dict[str, np.ndarray], expected: dict[str, Any]) -> None:
    found = decoder_overlap(decoder=data["W_dec"])
    assert np.nanmean(found.max_cosine) == pytest.approx(expected["decoder_mean_max_abs_cos"], **CLOSE)
    assert np.nanmean(found.capacity) == pytest.approx(expected["decoder_capacity_mean"], **CLOSE)


def test_target_linearity(data: dict[str, np.ndarray], expected: dict[str, Any]) -> None:
    found = target_linearity(targets=data["z"][:, :3], representation=data["x"])
    assert found.tl == pytest.approx(expected["target_linearity_uncentred_x_vs_z012"], **CLOSE)
    assert found.tl_centred == pytest.approx(expected["target_linearity_centred_x_vs_z012"], **CLOSE)
    assert not found.trivial
