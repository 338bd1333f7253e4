"""Figures of the audit and of few steps, from fabricated stores: what is drawn, hostile names, damaged exhibits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from bench.leaderboard import task_view
from bench.leaderboard.build import read
from bench.leaderboard.figures import Figure, images
from bench.leaderboard.figures.images_matrix import Verdict, matrix
from bench.registry import builtin
from tests.leaderboard.fabricate import HOSTILE, FakeStore, png

AUDIT, FEWSTEP = "images.audit", "images.fewstep"


def verdict(metric: str, scenario: str, word: str, expected: str) -> dict[str, Any]:
    return {
        "metric": metric, "scenario": scenario, "title": scenario.capitalize(), "damages": "fidelity",
        "verdict": word, "expected": expected, "tau": 0.9, "z": 12.0,
    }  # fmt: skip


VERDICTS = [
    verdict("fd", "blur", "tracks", "tracks"),
    verdict("fd", "surrogate", "fooled", "tracks"),
    verdict("recall", "blur", "tracks", "any"),
    verdict("recall", "surrogate", "fooled", "any"),
    verdict("recall", "k", "erratic", "steady"),
    verdict("precision", "blur", "blind", "tracks"),
    verdict("precision", "surrogate", "tracks", "blind"),
    verdict("g2r_ratio", "k", "steady", "steady"),
]
CURVES = [
    *({"scenario": "held_out", "severity": i, "recall": 0.7 + 0.01 * i, "g2r_ratio": 1.0 + 0.01 * i} for i in range(3)),
    *({"scenario": "k", "severity": k, "recall": 0.1 * k, "g2r_ratio": 1.0} for k in (1, 3, 5)),
    *({"scenario": "contraction", "severity": s, "g2r_ratio": s} for s in (0.9, 0.5)),
]  # fmt: skip


def made(
    folder: Path,
    task: str,
    dataset: str,
    models: Mapping[str, Mapping[str, Any]],
    shown: Mapping[str, Any] | None = None,
    *,
    repeats: int = 1,
    facets: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None,
) -> dict[str, Figure]:
    store, registry = FakeStore(folder), builtin()
    for model, values in models.items():
        for repeat in range(repeats):
            key = store.add(
                task=task, model=model, dataset=dataset, repeat=repeat, values=values,
                facets=(facets or {}).get(model),
                info={"name": model, "tags": list(registry.models[model].info.tags)},
                exhibits=[(n, png(1)) for n, c in (shown or {}).items() if c is None],
            )  # fmt: skip
            row = store.jobs[-1]
            place = folder / "exhibits" / key / row["score_id"][:16]
            place.mkdir(parents=True, exist_ok=True)
            listed = json.loads(row["exhibits"])
            for name, content in (shown or {}).items():
                if content is not None:
                    text = content if isinstance(content, str) else json.dumps(content)
                    (place / f"{name}.json").write_text(text)
                    listed.append({"name": name, "kind": "table", "file": f"{name}.json", "caption": "made"})
            row["exhibits"] = json.dumps(listed)
    view = task_view.build(task, "small", read([store.write()], registry), registry, {})
    return {figure.id: figure for figure in images.figures(view)}


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Figure]:
    shown = {"verdicts": VERDICTS, "curves": CURVES, "gallery-blur": None}
    values = {"encoder-default": {"overall": 0.5}, "encoder-pixels": {"overall": 0.4}}
    return made(tmp_path_factory.mktemp("audit"), AUDIT, "fashion", values, shown)


def test_the_audit_has_its_figures(audit: dict[str, Figure]) -> None:
    assert list(audit) == [
        "verdicts-fashion-encoder-default",
        "faults-fashion-encoder-default",
        "verdicts-fashion-encoder-pixels",
        "faults-fashion-encoder-pixels",
        "k-curves-fashion",
        "curve-contraction-fashion",
        "damage-fashion",
    ]


def test_faults_are_listed_by_kind(audit: dict[str, Figure]) -> None:
    table = audit["faults-fashion-encoder-default"].table
    assert table is not None
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["Fréchet distance"] == ("1 of 2", "–", "Surrogate", "–", "–")
    assert rows["Recall"] == ("1 of 3", "–", "Surrogate", "K", "–")
    assert rows["Precision"] == ("0 of 2", "Blur", "–", "–", "Surrogate")
    assert table.rows[0][0] == "Fidelity ratio"


def test_curves_are_relative_to_held_out_draws(audit: dict[str, Figure]) -> None:
    chance, *curves = audit["k-curves-fashion"].traces
    assert (chance["x"], chance["y"]) == ([1, 5], [1.0, 1.0])
    found = {trace["name"]: trace["y"] for trace in curves}
    assert found["Recall"] == pytest.approx([0.1 / 0.71, 0.3 / 0.71, 0.5 / 0.71])
    assert found["Fidelity ratio"] == pytest.approx([1 / 1.01] * 3)
    low, high, curve = audit["curve-contraction-fashion"].traces
    assert (low["y"][0], high["y"][0]) == (pytest.approx(0.602, abs=1e-3), pytest.approx(-0.602, abs=1e-3))
    assert curve["y"][0] == pytest.approx(-1.079, abs=1e-3)  # 11 standard deviations below: log10 of 12


def test_every_verdict_is_a_cell_of_the_right_colour() -> None:
    found = [
        Verdict("a", "x", "tracks", "tracks", "", 1.0, 5.0),
        Verdict("a", "y", "fooled", "any", "", 1.0, -5.0),
        Verdict("b", "x", "blind", "tracks", "", 0.0, 0.0),
        Verdict("b", "y", "erratic", "steady", "", 0.0, 9.0),
        Verdict("b", "z", "tracks", "blind", "", 1.0, 9.0),
        Verdict("a", "z", "erratic", "any", "", 0.0, 9.0),
    ]
    svg = str(matrix(found, HOSTILE))
    legend = {"v-right": 2, "v-blind": 1, "v-fooled": 1, "v-erratic": 1, "v-moved": 1}
    cells = {"v-right": 2, "v-blind": 1, "v-fooled": 1, "v-erratic": 1, "v-moved": 1}
    assert {name: svg.count(f"<rect class={name} ") for name in legend} == {
        name: legend[name] + cells[name] for name in legend
    }
    assert "<img" not in svg


@pytest.mark.parametrize(
    "shown",
    [
        {"verdicts": "{", "curves": "[1, 2]"},
        {"verdicts": [{"metric": "fd"}], "curves": [{"scenario": "k"}]},
        {"verdicts": [{**VERDICTS[0], "verdict": HOSTILE}], "curves": [{**CURVES[0], "severity": "x"}]},
        {"verdicts": [{**VERDICTS[0], "z": "9"}]},
        {},
    ],
)
def test_damaged_exhibits_give_no_figure(shown: dict[str, Any], tmp_path: Path) -> None:
    assert made(tmp_path, AUDIT, "fashion", {"encoder-default": {"overall": 0.5}}, shown) == {}


def test_scenarios_of_strangers_are_made_plain(tmp_path: Path) -> None:
    found = made(
        tmp_path, AUDIT, "fashion", {"encoder-default": {"overall": 0.5}},
        {"verdicts": [{**VERDICTS[0], "title": HOSTILE, "damages": HOSTILE}]},
    )  # fmt: skip
    assert "<img" not in str(found["verdicts-fashion-encoder-default"].svg)


def test_curves_by_evaluations(tmp_path: Path) -> None:
    facets = {
        model: {f"nfe={nfe}": {"chamfer_dev": start / nfe, "fd": 10.0 * start / nfe} for nfe in (1, 4, 16)}
        for model, start in (("flow", 2.0), ("ot-cfm", 1.0), ("real-hold", 0.1))
    }
    values = {model: found["nfe=4"] for model, found in facets.items()}
    found = made(tmp_path, FEWSTEP, "fashion", values, {"steps": None}, repeats=2, facets=facets)
    assert list(found) == ["nfe-chamfer_dev-fashion", "nfe-fd-fashion", "steps-fashion"]
    traces = {trace["name"]: trace for trace in found["nfe-chamfer_dev-fashion"].traces}
    assert traces["OT-CFM"]["x"] == [1, 4, 16]
    assert traces["OT-CFM"]["y"] == [1.0, 0.25, 0.0625]
    assert traces["Held-out real images"]["line"]["color"] == "--soft"
    assert len(found["steps-fashion"].pictures) == 3
    table = found["nfe-fd-fashion"].table
    assert table is not None
    assert len(table.rows) == 9
