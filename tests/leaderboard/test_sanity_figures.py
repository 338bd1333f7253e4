"""The matrices of the simplest checks, from fabricated stores: what is drawn, damaged and hostile exhibits."""

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

TASK = "images.sanity"


def verdict(check: str, member: str, part: str, missed: str = "") -> dict[str, Any]:
    return {
        "check": check, "title": check, "member": member, "part": part, "passed": not missed, "missed": missed,
    }  # fmt: skip


VERDICTS = [
    verdict("sphere", "fidelity", "shape"),
    verdict("sphere", "fidelity", "values", "equal sets give 1, d=128"),
    verdict("torus", "fidelity", "shape"),
    verdict("torus", "fidelity", "values"),
    verdict("torus", "diversity", "shape"),  # no verdict on values: left out
]
CURVES = [
    {"check": "sphere", "member": "fidelity", "variant": "d=2", "x": [1, 2, 3, 4], "y": [0.0, 9.0, None, 0.5]}
]


def made(folder: Path, shown: dict[str, Any]) -> list[Figure]:
    store, registry = FakeStore(folder), builtin()
    key = store.add(
        task=TASK, model="pair-chamfer", dataset="known-likeness", values={"passed": 0.5}, primary="passed"
    )
    place = folder / "exhibits" / key / store.jobs[-1]["score_id"][:16]
    place.mkdir(parents=True)
    for name, content in shown.items():
        (place / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    store.jobs[-1]["exhibits"] = json.dumps(
        [{"name": name, "kind": "table", "file": f"{name}.json", "caption": "made"} for name in shown]
    )
    view = task_view.build(TASK, "small", read([store.write()], registry), registry, {})
    return images.figures(view)


def test_cells_have_curves_and_verdicts(tmp_path: Path) -> None:
    (figure,) = made(tmp_path, {"verdicts": VERDICTS, "curves": CURVES})
    svg = str(figure.svg)
    assert svg.count("<path ") == 2  # one curve in two pieces, about the place without a value
    assert (svg.count("class=v-right"), svg.count("class=v-fooled")) == (1 + 3, 1 + 1)  # legend, cells
    assert "3 of 4" in svg
    assert figure.table is not None
    assert ("Chamfer ratios", "Sphere", "values", "no", "equal sets give 1, d=128") in figure.table.rows
    assert len(figure.table.rows) == 4


@pytest.mark.parametrize(
    "shown",
    [
        {"verdicts": "{", "curves": "[1, 2]"},
        {"verdicts": [{"check": "sphere"}], "curves": CURVES},
        {"verdicts": [{**VERDICTS[0], "check": HOSTILE}]},
        {"verdicts": [{**VERDICTS[0], "check": []}, {**VERDICTS[1], "part": {}}], "curves": [{"check": []}]},
        {},
    ],
)
def test_damaged_exhibits_give_no_figure(shown: dict[str, Any], tmp_path: Path) -> None:
    assert made(tmp_path, shown) == []


def test_hostile_words_and_damaged_curves_are_made_plain(tmp_path: Path) -> None:
    curves = [{**CURVES[0], "y": [HOSTILE, True, 1e999, 0.5]}, {**CURVES[0], "y": HOSTILE}]
    verdicts = [VERDICTS[0], {**VERDICTS[1], "missed": HOSTILE, "passed": "yes"}]
    (figure,) = made(tmp_path, {"verdicts": verdicts, "curves": curves})
    assert str(figure.svg).count("<path ") == 1
    assert "<img" not in str(figure.svg)
    assert figure.table is not None
    assert [row[3] for row in figure.table.rows] == ["yes", "no"]
