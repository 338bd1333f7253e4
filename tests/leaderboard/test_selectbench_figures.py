"""Figures of the family of molecules, from a fabricated store with hostile names and damaged exhibits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.catalog import selectbench as catalog
from bench.leaderboard import task_view
from bench.leaderboard.build import read
from bench.leaderboard.figures import Figure, selectbench
from bench.leaderboard.figures.selectbench_trust import _agreement
from bench.leaderboard.task_view import TaskView
from bench.registry import Registered, Registry, builtin
from bench.work import Source
from tests.leaderboard.fabricate import HOSTILE, FakeStore

MOLECULES = [
    {"on": "JAK2", "number": 1, "smiles": "CCO", "window": 1.5, "score": -8.0, "heavy_atoms": 20},
    {"on": "JAK2", "number": 2, "smiles": HOSTILE, "window": None, "score": "x", "heavy_atoms": 25},
]
SCORES = [
    {"on": "JAK2", "molecule": 1, "target": "JAK2", "score": -8.0},
    {"on": "JAK2", "molecule": 1, "target": HOSTILE, "score": -6.5},
    {"on": "JAK2", "molecule": 1, "target": "ACHE", "score": -5.5},
    {"on": "JAK2", "molecule": 2, "target": "LCK", "score": None},
]
REFERENCE = [{"on": "JAK2", "heavy_atoms": 20 + i, "score": -7.0, "window": 0.1 * i} for i in range(4)]
ORACLE: list[dict[str, Any]] = [
    {
        "ligand": HOSTILE, "on": "JAK2", "off": "LCK", "prefers": "LCK", "delta_log": -3.0, "score_on": -9.0,
        "score_off": -8.0, "counts": True, "right": False, "source": "x", "badge": "red",
    },
    {
        "ligand": "b", "on": "JAK2", "off": "LCK", "prefers": "JAK2", "delta_log": None, "score_on": -9.0,
        "score_off": -8.0, "counts": True, "right": True, "source": "x", "badge": "red",
    },
    {"ligand": "c", "on": "JAK2", "off": "LCK", "prefers": "JAK2", "score_on": None, "score_off": -8.0},
]  # fmt: skip
GUIDANCE = [{"on": "JAK2", "molecule": 1, "target": "JAK2", "guidance": -9.0, "evaluation": -8.0}]
CURVE = {"x": [0.0, 1.0, 2.0], "y": [1.0, 0.5, 0.0]}
SHOWN: dict[str, Any] = {
    "molecules": MOLECULES,
    "scores": SCORES,
    "reference": REFERENCE,
    "oracle": ORACLE,
    "guidance": GUIDANCE,
    "curve": CURVE,
}


def registry() -> Registry:
    found = builtin()
    infos: list[Any] = [*catalog.DATASETS, *catalog.TASKS, *catalog.MODELS]
    for info in infos:
        if info.name not in (*found.tasks, *found.models, *found.datasets):
            found.add(Registered(info=info, origin="test", source=Source(entry=info.entry)))
    return found


def view(folder: Path, task: str, dataset: str, shown: dict[str, Any]) -> TaskView:
    store, names = FakeStore(folder), registry()
    for model, rate in (("brics", 0.5), ("random_drugs", 0.2)):
        info = {"name": model, "baseline": model == "random_drugs"}
        key = store.add(
            task=task, model=model, dataset=dataset, repeat=0, values={"ssr_10x": rate}, info=info
        )
        row = store.jobs[-1]
        place = folder / "exhibits" / key / row["score_id"][:16]
        place.mkdir(parents=True)
        for name, content in shown.items():
            (place / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
        row["exhibits"] = json.dumps(
            [
                {
                    "name": n,
                    "kind": "series" if n == "curve" else "table",
                    "file": f"{n}.json",
                    "caption": "x",
                }
                for n in shown
            ]
        )
    return task_view.build(task, "small", read([store.write()], names), names, {})


def by_id(task: TaskView) -> dict[str, Figure]:
    return {figure.id: figure for figure in selectbench.figures(task)}


def test_what_the_scorer_is_worth_comes_first(tmp_path: Path) -> None:
    found = by_id(view(tmp_path, "selectbench.case_studies", "jak2_lck", SHOWN))
    assert list(found) == [f"{n}-jak2_lck" for n in ("oracle", "windows", "curve", "matrix", "size", "seeds")]
    oracle = found["oracle-jak2_lck"]
    assert "Oracle red: 1 of 2 measured preferences" in oracle.caption
    assert oracle.svg is not None
    assert HOSTILE not in oracle.svg
    assert oracle.table is not None
    assert [row[4] for row in oracle.table.rows] == ["−1.0", "+1.0"]
    assert [_agreement(row) for row in ORACLE[:2]] == [-1.0, 1.0]


def test_the_matrix_has_the_on_target_first_and_gaps_where_nothing_was_docked(tmp_path: Path) -> None:
    matrix = by_id(view(tmp_path, "selectbench.case_studies", "jak2_lck", SHOWN))["matrix-jak2_lck"]
    (trace,) = matrix.traces
    assert trace["x"][0] == "JAK2"
    assert trace["z"][0][0] == -8.0
    assert trace["y"] == ["JAK2 1"]
    assert "BRICS" in matrix.title


def test_windows_stand_beside_those_of_drugs(tmp_path: Path) -> None:
    figure = by_id(view(tmp_path, "selectbench.case_studies", "jak2_lck", SHOWN))["windows-jak2_lck"]
    assert [trace["name"] for trace in figure.traces] == [
        "reference drugs",
        "BRICS recombination",
        "Random drugs",
    ]
    assert figure.traces[0]["x"] == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert figure.traces[1]["x"] == [1.5]


def test_the_panel_says_how_much_it_covers(tmp_path: Path) -> None:
    found = by_id(view(tmp_path, "selectbench.safety_panel", "panel_f10", SHOWN))
    panel = found["panel-panel_f10"]
    assert panel.title.startswith("2 of 44 targets covered")  # LCK and ACHE have scores in this store
    assert panel.table is not None
    assert len(panel.table.rows) == 44
    assert "KCNH2" in panel.caption


@pytest.mark.parametrize("content", ["{", "[]", "7", "[null, 3]", '{"x": "y"}', "[" * 5000])
def test_damaged_exhibits_draw_nothing(tmp_path: Path, content: str) -> None:
    damaged = dict.fromkeys(SHOWN, content)
    assert by_id(view(tmp_path, "selectbench.safety_panel", "panel_f10", damaged)) == {}
