"""Published metrics against people: the correlations, the shipped tables, the figures."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from scipy.stats import spearmanr

from bench.leaderboard.figures import human

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "image_fidelity"


@pytest.mark.parametrize(
    ("dataset", "metric", "expected"),
    [
        ("CIFAR10", "fd", -0.967),
        ("CIFAR10", "precision", -0.3857),
        ("CIFAR10", "recall", 0.9464),
        ("CIFAR10", "coverage", 0.9725),
        ("ImageNet256", "fd", -0.8364),
        ("ImageNet256", "precision", 0.6743),
        ("ImageNet256", "coverage", 0.8519),
        ("LSUN-Bedroom", "fd", -0.9762),
        ("LSUN-Bedroom", "kd", -1.0),
        ("FFHQ256", "fd", -0.3833),
    ],
)
def test_correlations_with_people(dataset: str, metric: str, expected: float) -> None:
    assert human.human_correlation(dataset, metric) == pytest.approx(expected, abs=1e-3)


def test_spearman_is_that_of_scipy_with_ties() -> None:
    first, second = [3.0, 1, 1, 7, 2, 2, 2], [1.0, 5, 4, 4, 4, 0, 9]
    assert human.spearman(first, second) == pytest.approx(spearmanr(first, second)[0], rel=1e-12)


def test_unmeasured_metrics_are_refused() -> None:
    with pytest.raises(ValueError, match="0 published models of 'FFHQ256' have the metric 'ct'"):
        human.human_correlation("FFHQ256", "ct")


def test_all_models_and_no_real_sets() -> None:
    models = human.published_models()
    assert len(models) == 41
    assert not any("Set" in model.name for model in models)
    assert all(set(human.SHOWN) <= set(model.metrics) for model in models)


def test_the_rates_agree_with_the_printed_table_but_for_one_model() -> None:
    with (human._FOLDER / "dgm_leaderboard.csv").open(encoding="utf-8") as file:
        printed = {(row["dataset"], row["model"]): row["human_error_rate"] for row in csv.DictReader(file)}
    off = {
        (m.dataset, m.name)
        for m in human.published_models()
        if abs(m.human_error_rate - float(printed[m.dataset, m.name])) > 0.006
    }
    assert off == {("FFHQ256", "StyleGAN2-ada")}


@pytest.mark.parametrize("name", ["dgm_leaderboard.csv", "human_error.csv"])
def test_shipped_tables_are_the_reference_data(name: str) -> None:
    if not (SHARED / name).exists():
        pytest.skip("reference data not found in ../shared/data/image_fidelity beside the repository")
    assert (human._FOLDER / name).read_bytes() == (SHARED / name).read_bytes()


def test_the_licence_travels_with_the_tables() -> None:
    notice = (human._FOLDER / "dgm_eval_NOTICE.txt").read_text("utf-8")
    assert "Copyright (c) 2023 Layer 6 AI" in notice
    assert "Permission is hereby granted" in notice


def test_figures_hold_every_model_and_the_correlations() -> None:
    figures = human.figures()
    assert [figure.id for figure in figures] == [
        "human-cifar10",
        "human-imagenet256",
        "human-lsun-bedroom",
        "human-ffhq256",
    ]
    first = figures[0]
    assert "Fréchet distance −0.97" in first.title
    assert "Precision −0.39" in first.title
    assert first.table is not None
    assert len(first.table.rows) == sum(len(trace["x"]) for trace in first.traces) == 13 * 5
    # Seldom taken for real, and the worst by the Fréchet distance; most often, and the second best.
    distances = first.traces[0]
    order = sorted(zip(distances["x"], distances["y"], strict=True))
    assert (order[0][1], order[-1][1]) == (13, 2)
