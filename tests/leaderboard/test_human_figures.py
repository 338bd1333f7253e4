"""The figures of metrics against people, from a store with a table, a damaged one and a hostile one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.leaderboard import task_view
from bench.leaderboard.build import read
from bench.leaderboard.figures import Figure, images
from bench.registry import builtin
from tests.leaderboard.fabricate import HOSTILE, FakeStore

TASK = "images.human_correlation"
MODELS = [
    {"model": f"model {i}", "human_error_rate": 0.1 * i, "fd": 50.0 - 10 * i, "precision": (0.5, 0.9)[i % 2]}
    for i in range(1, 5)
]


def made(folder: Path, table: Any) -> list[Figure]:
    store, registry = FakeStore(folder), builtin()
    values = {"fd": -1.0, "precision": -0.447}
    key = store.add(task=TASK, model="published-dinov2", dataset="human-cifar10", values=values, primary="fd")
    place = folder / "exhibits" / key / store.jobs[-1]["score_id"][:16]
    place.mkdir(parents=True)
    (place / "models.json").write_text(table if isinstance(table, str) else json.dumps(table))
    store.jobs[-1]["exhibits"] = json.dumps(
        [{"name": "models", "kind": "table", "file": "models.json", "caption": "made"}]
    )
    view = task_view.build(TASK, "small", read([store.write()], registry), registry, {})
    return images.figures(view)


def test_ranks_against_rates(tmp_path: Path) -> None:
    (figure,) = made(tmp_path, MODELS)
    assert "Spearman Fréchet distance −1.00, Precision −0.45" in figure.title
    distances, precision = figure.traces
    assert (distances["x"], distances["y"]) == ([m["human_error_rate"] for m in MODELS], [4, 3, 2, 1])
    assert precision["y"] == [1.5, 3.5, 1.5, 3.5]
    assert figure.table is not None
    assert len(figure.table.rows) == 8


@pytest.mark.parametrize("table", ["{", "[]", [{"model": "a"}], [{"human_error_rate": "x", "fd": 1.0}]])
def test_damaged_tables_give_no_figure(table: Any, tmp_path: Path) -> None:
    assert made(tmp_path, table) == []


def test_hostile_names_are_made_plain(tmp_path: Path) -> None:
    (figure,) = made(tmp_path, [{**MODELS[0], "model": HOSTILE}, *MODELS[1:]])
    assert "<" not in figure.traces[0]["hovertext"][0]
