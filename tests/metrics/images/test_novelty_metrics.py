"""Authenticity, copying test, memorisation ratio, likelihood gap: known values, copies, bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from scipy.stats import mannwhitneyu

from bench.metrics.images import (
    authenticity,
    cell_copying_test,
    copying_test,
    fld_gap,
    held_out_distances,
    memorisation_ratio,
    training_radii,
)

Array = npt.NDArray[Any]


def cloud(seed: int, n: int = 200, d: int = 6) -> Array:
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.mark.parametrize(
    ("generated", "key"), [("gen", "authpct train,gen"), ("test", "authpct train,test-as-gen")]
)
def test_authenticity_on_small_features(
    small: dict[str, Array], small_values: dict[str, Any], generated: str, key: str
) -> None:
    result = authenticity(train=small["train"], generated=small[generated])
    assert result.share == pytest.approx(small_values[f"dgm_eval 74c79f7 {key}"] / 100, abs=1e-12)


def test_authenticity_of_copies_and_of_noise() -> None:
    train = cloud(0)
    assert authenticity(train=train, generated=train[:50]).share == 0
    assert authenticity(train=train, generated=100 * cloud(1)).share == 1


def test_copying_test_on_small_features(small: dict[str, Array], small_values: dict[str, Any]) -> None:
    train, test = small["train"], small["test"]
    result = copying_test(train=train, held_out=test, generated=small["gen"])
    assert result.u == 30572
    assert result.z == pytest.approx(small_values["CT global Zu (train,test,gen)"], rel=1e-9)
    copies = copying_test(train=train, held_out=test, generated=train[:200])
    assert copies.u == 0
    key = "CT global Zu (train,test, first 200 train rows as generated)"
    assert copies.z == pytest.approx(small_values[key], rel=1e-9)


def test_distances_at_hand_change_nothing_but_the_time() -> None:
    train, held_out, generated = cloud(0), cloud(1, 70), cloud(2, 90)
    radii, reference = training_radii(train=train), held_out_distances(train=train, held_out=held_out)
    assert authenticity(train=train, generated=generated, radii=radii) == authenticity(
        train=train, generated=generated
    )
    sets = {"train": train, "held_out": held_out, "generated": generated}
    assert copying_test(**sets, reference=reference) == copying_test(**sets)
    with pytest.raises(ValueError, match="200 training samples need as many radii, got \\(70,\\)"):
        authenticity(train=train, generated=generated, radii=reference)
    with pytest.raises(ValueError, match="70 held-out samples need as many distances, got \\(200,\\)"):
        copying_test(**sets, reference=radii)


def test_copying_test_is_the_mann_whitney_test() -> None:
    train, held_out, generated = cloud(0), cloud(1, 70), 1.1 * cloud(2, 90)
    a, b = (np.linalg.norm(points[:, None] - train, axis=2).min(1) for points in (generated, held_out))
    assert copying_test(train=train, held_out=held_out, generated=generated).u == pytest.approx(
        mannwhitneyu(a, b).statistic
    )


def test_copying_test_is_calibrated_on_real_samples() -> None:
    found = [
        copying_test(train=cloud(3 * s), held_out=cloud(3 * s + 1), generated=cloud(3 * s + 2)).z
        for s in range(60)
    ]
    assert abs(np.mean(found)) < 0.5
    assert 0.7 < np.std(found) < 1.4


def three_groups(seed: int) -> Array:
    groups = cloud(seed, 300)
    groups[100:200, 0] += 40
    groups[200:, 1] += 40
    return groups


def test_cells_see_copying_in_one_place_that_the_whole_does_not() -> None:
    """A third copies, a third is noise: together they look clean."""
    train, held_out, generated = three_groups(0), three_groups(1), three_groups(2)
    generated[:100] = train[:100]
    generated[100:200] += 3 * cloud(3, 100)
    whole = copying_test(train=train, held_out=held_out, generated=generated).z
    cells = cell_copying_test(train=train, held_out=held_out, generated=generated)
    assert abs(whole) < 4
    values = sorted(z for z, _, _ in cells.cells)
    assert values[0] < -8
    assert values[-1] > 4
    assert [count for _, count, _ in cells.cells] == [100, 100, 100]
    weights = np.array([held for _, _, held in cells.cells])
    assert cells.z == pytest.approx(np.average([z for z, _, _ in cells.cells], weights=weights))
    again = cell_copying_test(train=train, held_out=held_out, generated=generated)
    assert repr(again) == repr(cells)


def test_cells_without_enough_samples_are_named_and_left_out() -> None:
    train, held_out = three_groups(0), three_groups(1)
    result = cell_copying_test(train=train, held_out=held_out, generated=three_groups(2)[:120])
    left_out = [cell for cell, (z, _, _) in enumerate(result.cells) if math.isnan(z)]
    assert len(left_out) == 2
    assert [warning.split()[1] for warning in result.warnings] == [str(cell) for cell in left_out]
    assert any("20 generated and 100 held-out" in warning for warning in result.warnings)
    assert any("0 generated and 100 held-out" in warning for warning in result.warnings)
    assert not math.isnan(result.z)
    nothing = cell_copying_test(train=train, held_out=held_out, generated=three_groups(2)[:5])
    assert math.isnan(nothing.z)
    assert len(nothing.warnings) == 3


def test_cells_in_more_dimensions_than_are_kept() -> None:
    result = cell_copying_test(train=cloud(0, d=100), held_out=cloud(1, d=100), generated=cloud(2, d=100))
    assert sum(count for _, count, _ in result.cells) == 200
    with pytest.raises(ValueError, match="train: 3 cells need at least 3 samples, got 2"):
        cell_copying_test(train=cloud(0, 2), held_out=cloud(1), generated=cloud(2))


def test_memorisation_of_copies_of_mixtures_and_of_clean_samples() -> None:
    train, held_out, clean = cloud(0), cloud(1), cloud(2)
    copies = memorisation_ratio(train=train, held_out=held_out, generated=train[:64])
    assert (copies.ratio, copies.to_train, copies.train_quantile) == (0, 0, 0)
    assert memorisation_ratio(train=train, held_out=held_out, generated=clean).ratio == pytest.approx(
        1, abs=0.05
    )
    mixed = clean.copy()
    mixed[:10] = train[:10]
    result = memorisation_ratio(train=train, held_out=held_out, generated=mixed)
    assert 0.9 < result.ratio < 1
    assert result.train_quantile == 0 < result.held_out_quantile
    assert [(pair.generated, pair.train) for pair in result.pairs[:10]] == [(i, i) for i in range(10)]
    distances = [pair.distance for pair in result.pairs]
    assert len(distances) == 16
    assert distances == sorted(distances)
    worst = result.pairs[-1]
    assert worst.distance == pytest.approx(np.linalg.norm(mixed[worst.generated] - train[worst.train]))


def test_memorisation_values_by_hand() -> None:
    train, held_out = np.array([[0.0], [10]]), np.array([[2.0], [14]])
    result = memorisation_ratio(train=train, held_out=held_out, generated=np.array([[1.0], [9], [3]]))
    assert result.to_train == pytest.approx((1 + 1 + 3) / 3)
    assert result.to_held_out == pytest.approx((1 + 5 + 1) / 3)
    assert result.ratio == pytest.approx(5 / 7)
    assert len(result.pairs) == 3


def test_the_standard_error_of_the_ratio_matches_the_spread_over_samples() -> None:
    train, held_out = cloud(0), cloud(1)
    found = [
        memorisation_ratio(train=train, held_out=held_out, generated=cloud(seed, 100))
        for seed in range(2, 62)
    ]
    spread = float(np.std([result.ratio for result in found], ddof=1))
    assert float(np.mean([result.ratio_se for result in found])) == pytest.approx(spread, rel=0.25)
    assert math.isnan(memorisation_ratio(train=train, held_out=held_out, generated=cloud(2, 1)).ratio_se)


def test_memorisation_against_copies_of_held_out_samples_has_no_ratio() -> None:
    held_out = cloud(1)
    result = memorisation_ratio(train=cloud(0), held_out=held_out, generated=held_out)
    assert math.isnan(result.ratio)
    assert result.flags == ("degenerate-held-out",)
    with pytest.raises(ValueError, match="one size, got 200 and 150; take a random subset"):
        memorisation_ratio(train=cloud(0), held_out=held_out[:150], generated=held_out)


def autograd_gap(train: Array, held_out: Array, generated: Array) -> float:
    """The published procedure with torch's own optimiser, differentiation and all pairs in memory."""
    sets = [torch.from_numpy(part).double() for part in (train, held_out, generated)]
    x, h, y = ((part - sets[1].mean(0)) / sets[1].std(0) for part in sets)
    width, count = x.shape[1], len(y)

    def logs(points: torch.Tensor, centres: torch.Tensor, variance: torch.Tensor, shrink: float = 1.0) -> Any:
        squared = shrink * (points[:, None] - centres).square().sum(2)
        return -0.5 * squared / variance - width / 2 * (2 * math.pi * variance).log()

    nearest = (x[:, None] - y).square().sum(2).amin(0)
    theta = ((nearest + 1e-3) / width).log().requires_grad_()
    origin = torch.zeros(1, dtype=torch.float64, requires_grad=True)
    optimiser, losses = torch.optim.Adam([theta, origin], lr=0.5), []
    for step in range(50):
        parts = [
            logs(x, y, theta.exp()) - math.log(count),
            logs(x, x.mean(0, keepdim=True), origin.exp(), 0.81),
        ]
        loss = -torch.logsumexp(torch.cat(parts, 1), 1).mean() / width
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
        if step > 5 and max(abs(losses[-1] - old) for old in losses[-5:]) < 5e-4:
            break
    likelihoods = [
        torch.logsumexp(logs(p, y, theta.exp()) - math.log(count), 1).mean() / width for p in (x, h)
    ]
    return 100 * (likelihoods[1] - likelihoods[0]).item()


def test_likelihood_gap_is_the_published_procedure(small: dict[str, Array]) -> None:
    sets = {"train": small["train"], "held_out": small["test"], "generated": small["gen"]}
    assert fld_gap(**sets).gap == pytest.approx(autograd_gap(**sets), rel=1e-8)


def test_likelihood_gap_on_small_features(small: dict[str, Array], small_values: dict[str, Any]) -> None:
    """The published code works in float32, whose rounding limits how near the 10 copies come: -40.7 for -45.4."""
    published = small_values["FLD gap (train,test,gen) fld ffbbf20, deterministic"]
    result = fld_gap(train=small["train"], held_out=small["test"], generated=small["gen"])
    assert 1 < result.gap / published < 1.15
    assert result.gap == pytest.approx(100 * (result.train_nll - result.held_out_nll))
    clean = fld_gap(train=small["train"], held_out=small["test"], generated=small["gen"][10:])
    assert result.gap < 5 * clean.gap < 0


def test_likelihood_gap_of_clean_samples_is_small_and_constant_features_do_not_count() -> None:
    train, held_out, generated = cloud(0), cloud(1), cloud(2)
    result = fld_gap(train=train, held_out=held_out, generated=generated)
    assert abs(result.gap) < 12
    assert fld_gap(train=train, held_out=held_out, generated=train).gap < -100
    wider = [np.hstack([part, np.ones((200, 1))]) for part in (train, held_out, generated)]
    assert fld_gap(train=wider[0], held_out=wider[1], generated=wider[2]).gap == pytest.approx(result.gap)
    with pytest.raises(ValueError, match="held_out: all features are constant"):
        fld_gap(train=train, held_out=np.ones((200, 6)), generated=generated)


NOVELTY: list[Callable[..., Any]] = [copying_test, cell_copying_test, memorisation_ratio, fld_gap]
every_metric = pytest.mark.parametrize("metric", NOVELTY, ids=lambda metric: metric.__name__)


@every_metric
def test_bad_sets_are_refused_by_name(metric: Callable[..., Any]) -> None:
    for name in ("train", "held_out", "generated"):
        sets = {"train": cloud(0, 30), "held_out": cloud(1, 30), "generated": cloud(2, 30)}
        sets[name][3, 1] = np.nan
        with pytest.raises(ValueError, match=f"^{name}: feature at row 3, column 1 is nan"):
            metric(**sets)
        sets[name] = cloud(0, 30, 5)
        with pytest.raises(ValueError, match=rf"same number of features, got .*{name} \(30, 5\)"):
            metric(**sets)
        sets[name] = cloud(0, 0)
        with pytest.raises(ValueError, match=rf"^{name}: needs at least 1 samples, got 0"):
            metric(**sets)
    with pytest.raises(TypeError, match="positional"):
        metric(cloud(0), cloud(1), cloud(2))


def test_authenticity_needs_a_neighbour_in_the_training_set() -> None:
    with pytest.raises(ValueError, match="train: needs at least 2 samples, got 1"):
        authenticity(train=cloud(0, 1), generated=cloud(1))
