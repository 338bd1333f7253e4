"""Published models and people: the shipped tables, their licence, and what is read from them."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from bench.catalog.images_human import HUMAN_DATASETS
from bench.datasets.images import human
from bench.errors import MissingRequirement
from bench.registry import resolve

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data" / "image_fidelity"
ALL = [resolve(card.entry)() for card in HUMAN_DATASETS]


def test_all_models_and_no_real_sets() -> None:
    assert [(found.name, len(found.models)) for found in ALL] == [
        ("human-cifar10", 13),
        ("human-imagenet256", 11),
        ("human-lsun-bedroom", 8),
        ("human-ffhq256", 9),
    ]
    assert [card.name for card in HUMAN_DATASETS] == [found.name for found in ALL]
    assert {card.sha256 for card in HUMAN_DATASETS} == {human.SHA256}
    assert not any("Set" in model.name for found in ALL for model in found.models)


def test_a_metric_that_one_model_lacks_is_none() -> None:
    assert ALL[0].values("ct") is not None
    assert ALL[3].values("ct") is None
    assert ALL[3].values("unheard of") is None


def test_the_rates_agree_with_the_printed_table_but_for_one_model() -> None:
    with (human._FOLDER / "dgm_leaderboard.csv").open(encoding="utf-8") as file:
        printed = {(row["dataset"], row["model"]): row["human_error_rate"] for row in csv.DictReader(file)}
    off = {
        (found.title, model.name)
        for found in ALL
        for model in found.models
        if abs(model.human_error_rate - float(printed[found.title, model.name])) > 0.006
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


def test_changed_tables_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in human._FILES:
        (tmp_path / name).write_bytes((human._FOLDER / name).read_bytes() + b"\n")
    monkeypatch.setattr(human, "_FOLDER", tmp_path)
    human._tables.cache_clear()
    with pytest.raises(MissingRequirement, match="expected"):
        human.load_cifar10()
    human._tables.cache_clear()
