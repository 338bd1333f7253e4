"""Figures of the tabular family, from a fabricated store with hostile names and damaged exhibits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench.leaderboard import task_view
from bench.leaderboard.build import read
from bench.leaderboard.figures import Figure, tabular
from bench.leaderboard.figures.tabular_anchors import anchored_scores
from bench.leaderboard.figures.tabular_graph import _Graph
from bench.leaderboard.task_view import TaskView
from bench.registry import builtin
from tests.leaderboard.fabricate import HOSTILE, FakeStore

DATA = "k401ksubs"
SHARES = [
    {"column": name, "kind": kind, "at": str(at), "real": 0.5, "synthetic": share}
    for name, kind in (("x", "numeric"), (HOSTILE, "categorical"))
    for at, share in ((0, 0.4), (1, 0.6))
]
PAIRS = [{"first": "x", "second": HOSTILE, "pair_tv": 0.75, "trend": 0.9}]
SKILLS = [{"column": "x", "value": 0.5}, {"column": HOSTILE, "value": 1.0}]
ROC = {"x": [0, 0.01, 0.1, 1], "y": [0, 0.2, 0.4, 1]}


def view(folder: Path, task: str, models: dict[str, dict[str, float]], shown: dict[str, Any]) -> TaskView:
    store, registry = FakeStore(folder), builtin()
    for model, values in models.items():
        for repeat in (0, 1):
            info = {"name": model, "baseline": model != "cart_seq"}
            key = store.add(task=task, model=model, dataset=DATA, repeat=repeat, values=values, info=info)
            row = store.jobs[-1]
            place = folder / "exhibits" / key / row["score_id"][:16]
            place.mkdir(parents=True)
            for name, content in shown.items():
                (place / f"{name}.json").write_text(
                    content if isinstance(content, str) else json.dumps(content)
                )
            kinds = {"roc": "series"}
            row["exhibits"] = json.dumps(
                [
                    {"name": n, "kind": kinds.get(n, "table"), "file": f"{n}.json", "caption": "made"}
                    for n in shown
                ]
            )
    return task_view.build(task, "small", read([store.write()], registry), registry, {})


def by_id(task: TaskView) -> dict[str, Figure]:
    return {figure.id: figure for figure in tabular.figures(task)}


FIDELITY = {
    "independent": {"shape_na": 0.99, "pair_tv": 0.8, "c2st": 0.1, "trend_all": 0.8},
    "real_holdout": {"shape_na": 0.985, "pair_tv": 1.0, "c2st": 0.9, "trend_all": 0.95},
    "cart_seq": {"shape_na": 0.97, "pair_tv": 0.9, "c2st": 0.5, "trend_all": 0.95},
}


def test_columns_and_pairs_of_the_best_contender(tmp_path: Path) -> None:
    found = by_id(view(tmp_path, "tabular.fidelity", FIDELITY, {"distributions": SHARES, "pairs": PAIRS}))
    assert list(found) == [f"anchored-{DATA}", f"shapes-{DATA}", f"pairs-{DATA}"]
    shapes, pairs = found[f"shapes-{DATA}"], found[f"pairs-{DATA}"]
    assert "Sequential CART" in shapes.title
    assert shapes.svg is not None
    assert "<script" not in shapes.svg
    assert "&lt;" in shapes.svg
    assert shapes.svg.count("<path") == 4
    assert shapes.table is not None
    assert len(shapes.table.rows) == 4
    assert pairs.traces[0]["z"] == [[None, 0.75], [0.75, None]]
    assert "<" not in "".join(pairs.traces[0]["x"])


def test_bars_of_structure_and_curves_of_attacks(tmp_path: Path) -> None:
    scores = {name: {"structure_skill": i / 3, "mia_tpr01": i / 3} for i, name in enumerate(FIDELITY)}
    structure = by_id(view(tmp_path / "a", "tabular.structure", scores, {"columns": SKILLS}))
    assert [t["y"] for t in structure[f"structure-{DATA}"].traces] == [[0.5, 1.0]] * 3
    privacy = by_id(view(tmp_path / "b", "tabular.privacy", scores, {"roc": ROC}))
    curve = privacy[f"attacks-{DATA}"]
    assert curve.layout["xaxis"]["type"] == "log"
    assert [t["name"] for t in curve.traces][-1] == "guessing"
    assert curve.traces[0]["x"] == [0.01, 0.1, 1.0], "0 has no logarithm"


def test_fidelity_stands_against_privacy_where_both_tasks_have_the_data(tmp_path: Path) -> None:
    faithful = view(tmp_path / "a", "tabular.fidelity", FIDELITY, {})
    attacked = {name: {"mia_tpr01": i / 4} for i, name in enumerate(("independent", "cart_seq"))}
    private = view(tmp_path / "b", "tabular.privacy", attacked, {})
    (figure,) = tabular.across([faithful, private])
    assert figure.table is not None
    assert [row[0] for row in figure.table.rows] == ["Sequential CART", "Independent columns"]
    assert (figure.traces[0]["x"], figure.traces[0]["y"]) == ([0.5], [0.25])
    assert figure.layout["xaxis"]["range"] == [-0.05, 1.08]
    assert tabular.across([faithful]) == []


GRAPH = [
    {"parent": "x", "child": HOSTILE},
    {"parent": "x", "child": "y"},
    {"parent": HOSTILE, "child": "z"},
    {"parent": None, "child": "alone"},
]
BROKEN = [
    {"statement": "x, y |", "first": "x", "second": "y", "kind": "dependence", "p_value": 0.3},
    {"statement": "x, z |", "first": "x", "second": "z", "kind": "independence", "p_value": 1e-9},
    {"statement": "gone", "first": "x", "second": "gone", "kind": "independence", "p_value": 1e-9},
]


def test_a_graph_shows_which_statements_are_broken(tmp_path: Path) -> None:
    scores = {"cart_seq": {"structure_skill": 0.5}}
    shown = {"graph": GRAPH, "broken-statements": BROKEN}
    figure = by_id(view(tmp_path, "tabular.structure", scores, shown))[f"graph-{DATA}"]
    assert "Lost: 1 of 3 edges" in figure.caption
    assert "False: 1 pairs" in figure.caption
    assert figure.svg is not None
    assert "<img" not in figure.svg
    assert figure.svg.count("<rect") == 5
    # A line and a head of two strokes for each edge, and the example in the legend.
    counts = {style: figure.svg.count(f" class={style} ") for style in ("lead", "target", "c2")}
    assert counts == {"lead": 3 * 2 + 1, "target": 3 + 1, "c2": 1 + 1}
    assert figure.table is not None
    assert figure.table.rows == (
        ("x, y |", "lost dependence", "0.3"),
        ("x, z |", "false dependence", "1e-09"),
    )


def test_layers_follow_the_edges_and_survive_a_cycle() -> None:
    edges = (("a", "b"), ("b", "c"), ("a", "c"), ("d", "c"))
    layers = _Graph(("a", "b", "c", "d"), edges).layers()
    assert [sorted(layer) for layer in layers] == [["a", "d"], ["b"], ["c"]]
    ring = _Graph(("a", "b"), (("a", "b"), ("b", "a"))).layers()
    assert sorted(n for layer in ring for n in layer) == ["a", "b"]


def test_scores_are_anchored_at_independent_columns_and_real_rows(tmp_path: Path) -> None:
    task = view(tmp_path, "tabular.fidelity", FIDELITY, {})
    dataset = task.datasets[0]
    line = next(line for line in dataset.lines if line.model == "cart_seq")
    scores = anchored_scores(dataset, line)
    assert scores["pair_tv"].value == pytest.approx(50)
    assert scores["c2st"].value == pytest.approx(50)
    assert scores["shape_na"].value is None
    assert "within 0.01" in scores["shape_na"].reason
    radar = by_id(task)[f"anchored-{DATA}"]
    assert radar.table is not None
    assert radar.table.head == ("Model", "Pairs", "Pair trends", "Two-sample test")
    assert radar.table.rows == (("Sequential CART", "50.0", "100.0", "50.0"),)
    assert [t["type"] for t in radar.traces] == ["scatterpolar"]


def test_without_anchors_there_is_no_anchored_score(tmp_path: Path) -> None:
    task = view(tmp_path, "tabular.fidelity", {"cart_seq": FIDELITY["cart_seq"]}, {})
    assert tabular.figures(task) == []
    scores = anchored_scores(task.datasets[0], task.datasets[0].lines[0])
    assert scores["c2st"].reason == "the anchor independent has no value here"


@pytest.mark.parametrize(
    "content", ["{", "[]", "7", '[{"real": "x", "synthetic": 1}]', '{"x": [1], "y": []}', "[1e999]"]
)
def test_damaged_exhibits_cost_a_figure_not_the_page(tmp_path: Path, content: str) -> None:
    damaged = dict.fromkeys(
        ("distributions", "pairs", "roc", "columns", "graph", "broken-statements"), content
    )
    scores = {name: {"structure_skill": 0.5, "mia_tpr01": 0.5, **values} for name, values in FIDELITY.items()}
    for task in ("fidelity", "structure", "privacy"):
        shown = by_id(view(tmp_path / task, f"tabular.{task}", scores, damaged))
        assert not {i for i in shown if not i.startswith("anchored")}
