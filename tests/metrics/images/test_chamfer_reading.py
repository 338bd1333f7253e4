"""How Chamfer ratios are read: flags, standard errors, agreement of the joint pass with the single functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bench.metrics.images import chamfer, density_coverage, neighbor_metrics, precision_recall

Array = npt.NDArray[Any]


def cloud(seed: int, n: int = 800, d: int = 8) -> Array:
    return np.random.default_rng(seed).standard_normal((n, d))


def test_another_real_sample_reads_one_without_flags() -> None:
    result = chamfer(real=cloud(0), generated=cloud(1))
    for ratio in (result.r2g_ratio, result.g2r_ratio, result.self_ratio):
        assert ratio == pytest.approx(1, abs=0.03)
    assert result.deviation == pytest.approx(
        sum(abs(math.log(r)) for r in (result.r2g_ratio, result.g2r_ratio, result.self_ratio)), rel=1e-12
    )
    assert result.flags == ()


def test_contraction_is_not_better_than_real() -> None:
    result = chamfer(real=cloud(0), generated=0.8 * cloud(1))
    assert result.g2r_ratio < 1 - 3 * result.g2r_ratio_se
    assert result.self_ratio < 0.97
    assert result.flags == ("contraction",)
    assert result.fidelity == 1


def test_copies_are_below_real_without_contraction() -> None:
    real = cloud(0)
    result = chamfer(real=real, generated=real + 1e-3 * cloud(1))
    assert result.self_ratio == pytest.approx(1, abs=0.01)
    assert result.flags == ("below-real",)


def test_exact_copies_have_infinite_deviation() -> None:
    result = chamfer(real=cloud(0), generated=cloud(0))
    assert (result.g2r, result.deviation, result.self_ratio) == (0, math.inf, 1)


def test_added_noise_and_a_dropped_mode_show_on_their_sides() -> None:
    noisy = chamfer(real=cloud(0), generated=2 * cloud(1))
    assert min(noisy.g2r_ratio, noisy.self_ratio) > 1.5
    assert noisy.fidelity == pytest.approx(1 / noisy.g2r_ratio, rel=1e-15)
    apart = cloud(2)
    apart[400:] += 20
    dropped = chamfer(real=apart, generated=cloud(3))
    assert dropped.r2g_ratio > 5
    assert dropped.g2r_ratio < 1.3
    assert dropped.coverage == pytest.approx(1 / dropped.r2g_ratio, rel=1e-15)


def test_unequal_sizes_are_flagged() -> None:
    assert chamfer(real=cloud(0), generated=cloud(1, n=300)).flags == ("unequal-sizes",)


def test_standard_errors_match_the_spread_over_samples() -> None:
    results = [chamfer(real=cloud(2 * s, n=300), generated=1.4 * cloud(2 * s + 1, n=300)) for s in range(40)]
    for ratio, error in (("r2g_ratio", "r2g_ratio_se"), ("g2r_ratio", "g2r_ratio_se")):
        spread = float(np.std([getattr(r, ratio) for r in results], ddof=1))
        assert float(np.mean([getattr(r, error) for r in results])) == pytest.approx(spread, rel=0.5)


def test_one_pass_gives_what_the_single_functions_give() -> None:
    sets = {"real": cloud(0, n=200), "generated": cloud(1, n=150) * 1.1}
    result = neighbor_metrics(**sets, ks=(1, 5), ball_ks=(3, 5), ball="open")
    assert list(result.chamfer) == [1, 5]
    for k, value in result.chamfer.items():
        assert value == chamfer(**sets, k=k)
    for k in (3, 5):
        assert result.precision_recall[k] == precision_recall(**sets, k=k, ball="open")
        assert result.density_coverage[k] == density_coverage(**sets, k=k, ball="open")
    assert result.neighborhood.cross.generated_to_real.distances.shape == (150, 5)
