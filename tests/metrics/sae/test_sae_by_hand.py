"""Cases that can be worked out on paper, and bad inputs."""

from __future__ import annotations

import doctest
import importlib
import math

import numpy as np
import pytest

from bench.metrics.sae.absorption import absorbed_fraction
from bench.metrics.sae.activity import (
    bimodality,
    coactivation,
    input_rank,
    label_entropy,
    separability,
    top_entropy,
)
from bench.metrics.sae.agreement import rank_agreement
from bench.metrics.sae.decoder import decoder_overlap, encoder_cosines, mixed_factors
from bench.metrics.sae.distortion import distortion
from bench.metrics.sae.linearity import target_linearity
from bench.metrics.sae.monosemanticity import monosemanticity_scores
from bench.metrics.sae.polysemanticity import effects, polysemanticity
from bench.metrics.sae.probing import area_under_curve, probe_auc
from bench.metrics.sae.rate import index_bits, rate
from bench.metrics.sae.recovery import absorption, coverage
from bench.metrics.sae.tradeoff import hypervolume, recovered

MODULES = ("rate", "distortion", "decoder", "tradeoff", "probing")


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"bench.metrics.sae.{name}"))
    assert found.attempted > 0
    assert found.failed == 0


def test_one_latent_on_a_tenth_of_the_rows() -> None:
    codes = np.zeros((1000, 1))
    codes[::10] = 3.0
    found = rate(codes=codes, decoder=np.ones((1, 2)), rows=np.ones((1000, 2)))
    assert found.support_bits == pytest.approx(0.4690, abs=5e-5)
    assert found.magnitude_bits == 0.0


def test_the_published_example_of_fixed_length_codes() -> None:
    assert index_bits(l0=65, n_latents=24_576) == pytest.approx(1403, abs=0.5)


def test_magnitudes_of_two_bins_cost_one_bit_and_a_correction() -> None:
    codes = np.array([[1.0], [2.0]] * 50)
    found = rate(codes=codes, decoder=np.ones((1, 1)), rows=np.ones((100, 1)))
    assert found.support_bits == 0.0
    assert found.magnitude_bits_plugin == pytest.approx(1.0)
    assert found.magnitude_bits == pytest.approx(1.0 + 1 / (2 * 100 * math.log(2)))


@pytest.mark.parametrize(("shift", "expected"), [(0.0, 0.0), (0.5, None)])
def test_constant_rows_have_no_variance_to_explain(shift: float, expected: float | None) -> None:
    found = distortion(rows=np.ones((5, 3)), reconstruction=np.ones((5, 3)) + shift)
    assert found.fvu == expected
    assert bool(found.reason) == (expected is None)


def test_rows_that_are_not_finite_are_named() -> None:
    rows = np.zeros((4, 2))
    rows[2, 1] = np.nan
    with pytest.raises(ValueError, match=r"rows has 1 values that are not finite, the first in row 2"):
        distortion(rows=rows, reconstruction=np.zeros((4, 2)))


def test_a_latent_that_two_factors_move_alike_counts_as_two() -> None:
    effect = np.array([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    found = polysemanticity(effect=effect, prevalence=[0.5, 0.5, 0.5], density=[0.2, 0.6, 0.1])
    assert found.neff[:2] == pytest.approx([2.0, 1.0])
    assert found.purity[:2] == pytest.approx([0.5, 1.0])
    assert np.isnan(found.neff[2])
    assert found.poly == pytest.approx((0.2 * 2 + 0.6 * 1) / 0.8)
    assert found.poly_frac == 0.5
    assert found.dead_frac == pytest.approx(1 / 3)


def test_prevalence_weights_factors_by_their_variance() -> None:
    found = polysemanticity(effect=[[1.0], [1.0]], prevalence=[0.5, 0.1], density=[1.0])
    weights = np.array([0.25, 0.09]) / 0.34
    assert found.neff[0] == pytest.approx(1 / (weights**2).sum())


def test_what_switches_a_latent_off_counts_for_signed_codes_only() -> None:
    arguments = {"effect": [[1.0], [-1.0]], "prevalence": [0.5, 0.5], "density": [1.0]}
    assert polysemanticity(**arguments).neff[0] == pytest.approx(1.0)
    assert polysemanticity(**arguments, signed=True).neff[0] == pytest.approx(2.0)


def test_nobody_alive() -> None:
    found = polysemanticity(effect=np.zeros((2, 3)), prevalence=[0.1, 0.1], density=np.zeros(3))
    assert found.poly is None
    assert found.dead_frac == 1.0


def test_effects_are_means_over_base_states() -> None:
    on, off = np.array([[1.0], [3.0], [5.0], [5.0]]), np.array([[0.0], [0.0], [5.0], [5.0]])
    assert effects(on=on, off=off, n_factors=2).tolist() == [[2.0], [0.0]]
    with pytest.raises(ValueError, match="equally many rows for 3 factors"):
        effects(on=on, off=off, n_factors=3)


def test_coverage_and_splits() -> None:
    effect = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    f1 = np.array([[0.95, 0.0], [0.5, 0.0], [0.0, 0.2]])
    found = coverage(effect=effect, purity=[1.0, 1.0, 1.0], f1=f1)
    assert found.coverage == 0.5
    assert found.splits == 2.0


def test_absorption_is_the_recall_lost_when_a_child_is_there() -> None:
    factors = np.array([[1, 0], [1, 0], [1, 1], [1, 1]], dtype=float)
    codes = np.array([[1.0], [1.0], [1.0], [0.0]])
    assert absorption(codes=codes, factors=factors, parents=[-1, 0], f1=np.ones((1, 2))) == pytest.approx(0.5)
    assert absorption(codes=codes, factors=factors, parents=[-1, -1], f1=np.ones((1, 2))) is None


def test_graded_absorption() -> None:
    decoder = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    probe = [2.0, 0.0]
    half = absorbed_fraction(code=[1.0, 1.25, 0.0], decoder=decoder, probe=probe, row=[2.0, 0.0], main=[0])
    assert half == pytest.approx(0.5)
    assert absorbed_fraction(code=[0, 2.5, 0], decoder=decoder, probe=probe, row=[2.0, 0.0], main=[0]) == 1.0
    assert absorbed_fraction(code=[2, 2.5, 0], decoder=decoder, probe=probe, row=[2.0, 0.0], main=[0]) == 0.0
    assert absorbed_fraction(code=[1, 0.5, 0], decoder=decoder, probe=probe, row=[2.0, 0.0], main=[0]) == 0.0
    assert absorbed_fraction(code=[1, 1, 1], decoder=decoder, probe=probe, row=[-1.0, 0.0], main=[0]) is None


def test_atoms_without_length_are_dead() -> None:
    found = decoder_overlap(decoder=[[2.0, 0.0], [0.0, 0.5], [0.0, 0.0]])
    assert found.interference[:2].tolist() == [0.0, 0.0]
    assert np.isnan(found.max_cosine[2])
    assert np.isnan(encoder_cosines(encoder=np.ones((2, 3)), decoder=[[1, 1], [1, 0], [0, 0]])[2])


def test_atoms_made_of_two_factors() -> None:
    found = mixed_factors(decoder=[[1, 0, 0], [3, 3, 0], [0, 0, 0]], dictionary=np.eye(3))
    assert found[:2] == pytest.approx([1.0, 2.0])
    assert np.isnan(found[2])


def test_scores_of_a_latent_that_fires_on_one_direction() -> None:
    embeddings = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]] * 3)
    codes = np.zeros((6, 2))
    codes[:3, 0] = [1.0, 2.0, 3.0]
    codes[:, 1] = [0, 1, 0, 0, 1, 0]
    assert monosemanticity_scores(codes=codes, embeddings=embeddings) == pytest.approx([1.0, 0.0])


def test_entropies() -> None:
    labels = np.array([0, 1] * 20)
    codes = np.zeros((40, 2))
    codes[:, 0] = 1.0
    codes[::2, 1] = 1.0
    assert top_entropy(codes=codes, labels=labels) == pytest.approx([1.0, 0.0])
    assert label_entropy(codes=codes, labels=labels) == pytest.approx([1.0, 0.0])
    assert separability(codes=codes, labels=labels) == pytest.approx([0.0, 1.0])
    assert coactivation(codes=codes) == pytest.approx([0.5, 0.5])


def test_one_activation_counts_per_document() -> None:
    codes = np.linspace(2, 1, 60)[:, None]
    labels = np.repeat(np.arange(20), 3)
    labels[1::3] = labels[2::3] = 99
    assert top_entropy(codes=codes, labels=labels, groups=np.repeat(np.arange(20), 3)) == pytest.approx(
        [math.log2(20)]
    )


def test_two_scales_of_magnitude_are_bimodal() -> None:
    rng = np.random.default_rng(0)
    one = np.exp(rng.normal(0, 0.2, 200))
    two = np.exp(np.concatenate([rng.normal(0, 0.2, 100), rng.normal(3, 0.2, 100)]))
    found = bimodality(codes=np.stack([one, two], axis=1))
    assert found[0] < 0 < found[1]


def test_input_rank_counts_directions() -> None:
    rng = np.random.default_rng(0)
    rows = np.zeros((400, 5))
    rows[:200, 0] = rng.normal(size=200)
    rows[200:, :3] = rng.normal(size=(200, 3))
    codes = np.zeros((400, 2))
    codes[:200, 0] = codes[200:, 1] = 1.0
    assert input_rank(codes=codes, rows=rows) == pytest.approx([1.0, 3.0], rel=0.05)


def test_rarely_active_latents_are_left_out() -> None:
    codes = np.zeros((50, 1))
    codes[:19] = 1.0
    for found in (
        label_entropy(codes=codes, labels=np.arange(50) % 2),
        coactivation(codes=codes),
        bimodality(codes=codes),
    ):
        assert np.isnan(found).all()


def test_probes() -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 2 == 0
    rows = rng.normal(size=(200, 10))
    rows[:, 3] += 4 * labels
    sides = {
        "train": rows[:100],
        "train_labels": labels[:100],
        "test": rows[100:],
        "test_labels": labels[100:],
    }
    assert probe_auc(**sides, k=1) > 0.95
    assert probe_auc(**sides, k=None) > 0.95
    assert probe_auc(**{**sides, "train": rows[:100, :3], "test": rows[100:, :3]}, k=1) < 0.75
    assert probe_auc(**{**sides, "test_labels": np.ones(100, bool)}, k=1) is None


def test_the_probe_is_the_penalised_optimum_with_more_columns_than_rows() -> None:
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(1)
    labels = np.arange(120) % 2 == 0
    rows = rng.normal(size=(120, 90))
    rows[:, :5] += 0.7 * labels[:, None]
    mean, spread = rows[:60].mean(axis=0), rows[:60].std(axis=0)
    peer = LogisticRegression(C=1.0, max_iter=10_000, tol=1e-10).fit((rows[:60] - mean) / spread, labels[:60])
    expected = area_under_curve(
        scores=peer.decision_function((rows[60:] - mean) / spread), labels=labels[60:]
    )
    found = probe_auc(
        train=rows[:60], train_labels=labels[:60], test=rows[60:], test_labels=labels[60:], k=None
    )
    assert found == pytest.approx(expected, abs=2e-3)


def test_recovered_loss() -> None:
    assert recovered(base=3.0, spliced=3.5, ablated=8.0) == pytest.approx(0.9)
    assert recovered(base=3.0, spliced=3.0, ablated=3.01) is None


def test_volume_of_overlapping_boxes() -> None:
    assert hypervolume(points=[[0, 0, 0]]) == 1.0
    assert hypervolume(points=[[1, 0, 0]]) == 0.0
    assert hypervolume(points=[[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]) == pytest.approx(0.125)
    assert hypervolume(points=[[0.5, 0.0, 0.0], [0.0, 0.5, 0.0]]) == pytest.approx(0.75)
    assert hypervolume(points=[]) == 0.0


def test_linear_targets() -> None:
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(60, 4))
    found = target_linearity(targets=hidden @ rng.normal(size=(4, 2)), representation=hidden + 0.0)
    assert found.tl_centred == pytest.approx(1.0)
    assert found.held_out == pytest.approx(1.0)
    noise = target_linearity(targets=rng.normal(size=(20, 1)), representation=rng.normal(size=(20, 40)))
    assert noise.trivial
    assert noise.tl == pytest.approx(1.0)
    assert noise.held_out < 0.5
    with pytest.raises(ValueError, match="do not vary"):
        target_linearity(targets=np.ones((9, 1)), representation=hidden[:9])


def test_ranks() -> None:
    found = rank_agreement(proxy=[1, 2, 3, 4, 5, np.nan], truth=[5, 4, 3, 2, 1, 0], seed=0)
    assert found is not None
    assert (found.spearman, found.kendall) == pytest.approx((-1.0, -1.0))
    assert found.n == 5
    assert found.low <= -1.0 + 1e-9
    assert rank_agreement(proxy=[1, 1, 1, 1], truth=[1, 2, 3, 4], seed=0) is None
