"""Figures of human alignment: verdicts of the sweep on made-up replicates, charts, damaged exhibits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.leaderboard import task_view
from bench.leaderboard.build import read
from bench.leaderboard.figures import Figure, alignment
from bench.leaderboard.figures.alignment_sweep import resampled, sweeps
from bench.leaderboard.task_view import TaskView
from bench.registry import builtin
from tests.leaderboard.fabricate import FakeStore

TASK, DATASET = "alignment.robustness", "stw10"
NAMES = {0.0: "cnn-disc", 0.1: "jem-010", 0.5: "jem-050", 0.9: "jem-090", 1.0: "jem-generative"}


def leave(store: FakeStore, key: str, **contents: Any) -> None:
    """Tables and series that a score left."""
    place = store.root / "exhibits" / key / store.jobs[-1]["score_id"][:16]
    place.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (place / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    store.jobs[-1]["exhibits"] = json.dumps(
        [
            {"name": n.replace("_", "-"), "kind": "series", "file": f"{n}.json", "caption": "made"}
            for n in contents
        ]
    )


def replicates(values: list[float], noise: float, seed: int = 0) -> dict[str, list[float]]:
    """200 replicates around the value of each training, with shared noise of the items."""
    items = noise * np.random.default_rng(seed).standard_normal(200)
    return {
        "x": [r for r in range(len(values)) for _ in range(200)],
        "y": [float(v + e) for v in values for e in items],
    }


def view(
    root: Path, gaps: dict[float, list[float]], noise: float = 0.001, task: str = TASK, **more: Any
) -> TaskView:
    store, registry = FakeStore(root), builtin()
    for lam, values in gaps.items():
        info = {"name": NAMES[lam], "tags": ["jem", f"lambda={lam:g}"]}
        mean = float(np.mean(values))
        measured = {"value": mean, "ci_low": mean - noise, "ci_high": mean + noise}
        key = store.add(
            task=task,
            model=NAMES[lam],
            dataset=DATASET,
            values={"human_gap": measured},
            primary="human_gap",
            info=info,
        )
        leave(store, key, replicates=replicates(values, noise), **more)
    return task_view.build(task, "small", read([store.write()], registry), registry, {})


INSIDE = {
    0.0: [0.30, 0.31, 0.29],
    0.1: [0.2, 0.2, 0.21],
    0.5: [0.1, 0.1, 0.1],
    0.9: [0.2, 0.2, 0.2],
    1.0: [0.4, 0.4, 0.4],
}
OUTSIDE = {
    0.0: [0.10, 0.10, 0.10],
    0.1: [0.2, 0.2, 0.2],
    0.5: [0.3, 0.3, 0.3],
    0.9: [0.4, 0.4, 0.4],
    1.0: [0.5, 0.5, 0.5],
}
UNSURE = {
    0.0: [0.10, 0.30, 0.20],
    0.1: [0.2, 0.2, 0.2],
    0.5: [0.3, 0.3, 0.3],
    0.9: [0.4, 0.4, 0.4],
    1.0: [0.5, 0.5, 0.5],
}


@pytest.mark.parametrize(
    ("gaps", "words", "best"),
    [
        (INSIDE, "a peak inside holds (P = 1.00)", 0.5),
        (OUTSIDE, "a peak inside does not hold (P = 0.00)", 0.0),
        (UNSURE, "undecided (P(peak inside) = ", 0.0),
        ({lam: values[:2] for lam, values in INSIDE.items()}, "no claim: 2 training(s)", 0.5),
    ],
)
def test_verdicts(gaps: dict[float, list[float]], words: str, best: float, tmp_path: Path) -> None:
    task = view(tmp_path, gaps)
    (sweep,) = sweeps([task])
    assert sweep.verdict().startswith(words)
    assert sweep.best() == best
    report, panel = alignment.across([task])
    holds = int(words.startswith("a peak inside holds"))
    assert f"On {holds} of 1 benchmarks" in report.title
    assert report.table is not None
    assert report.table.rows[0][-1] == sweep.verdict()
    assert panel.traces[0]["x"] == [0.0, 0.1, 0.5, 0.9, 1.0]
    assert len(panel.traces[1]["y"]) == 5 * len(gaps[0.0])


def test_two_benchmarks_are_laid_over_each_other_from_worst_to_best(tmp_path: Path) -> None:
    one, other = view(tmp_path / "a", INSIDE), view(tmp_path / "b", OUTSIDE, task="alignment.cue_conflict")
    overlay = next(f for f in alignment.across([one, other]) if f.id == "sweep-overlay")
    assert [max(t["y"]) for t in overlay.traces] == [1.0, 1.0]
    assert [t["y"].index(1.0) for t in overlay.traces] == [2, 0]


def test_trainings_are_drawn_together_for_all_lambdas() -> None:
    drawn = np.random.default_rng(0).random((1, 3, 50))
    same = resampled(np.concatenate([drawn, drawn]))
    assert np.array_equal(same[0], same[1])
    assert np.allclose(resampled(np.ones((2, 3, 50))), 1)


def test_a_sweep_without_its_ends_is_none(tmp_path: Path) -> None:
    assert sweeps([view(tmp_path, {lam: INSIDE[lam] for lam in (0.1, 0.5, 0.9)})]) == []
    assert alignment.across([]) == []


@pytest.mark.parametrize(
    "damaged", ["{", "[]", {"x": [0, 1], "y": [1]}, {"x": ["a"], "y": [1]}, {"x": [1, 0], "y": [1, 1]}]
)
def test_damaged_replicates_give_no_sweep(damaged: Any, tmp_path: Path) -> None:
    store, registry = FakeStore(tmp_path), builtin()
    for lam, name in NAMES.items():
        info = {"name": name, "tags": [f"lambda={lam:g}"]}
        key = store.add(
            task=TASK, model=name, dataset=DATASET, values={"human_gap": 0.1}, primary="human_gap", info=info
        )
        leave(store, key, replicates=damaged)
    task = task_view.build(TASK, "small", read([store.write()], registry), registry, {})
    assert sweeps([task]) == []


def named(figures: list[Figure], start: str) -> list[Figure]:
    return [f for f in figures if f.id.startswith(start)]


def test_accuracy_by_severity_beside_people(tmp_path: Path) -> None:
    rows = [
        {"manipulation": name, "level": str(level), "accuracy": 0.9 - level / 10, "people": 0.95}
        for name in ("contrast", "rotation")
        for level in range(4)
    ]
    found = named(alignment.figures(view(tmp_path, INSIDE, conditions=rows)), "severity")
    assert [f.title.split(",")[0] for f in found] == ["Accuracy under contrast", "Accuracy under rotation"]
    people, first = found[0].traces[:2]
    assert people["y"] == [0.95] * 4
    assert first["x"] == ["0", "1", "2", "3"]
    assert found[0].table is not None
    assert found[0].table.rows[0][0] == "People"


def test_bias_by_category_with_marks_of_people(tmp_path: Path) -> None:
    rows = [
        {"category": c, "shape_bias": v, "people": p} for c, v, p in (("cat", 0.2, 0.96), ("dog", None, 0.94))
    ]
    (figure,) = named(
        alignment.figures(view(tmp_path, INSIDE, task="alignment.cue_conflict", categories=rows)), "bias"
    )
    assert figure.traces[-1]["x"] == [0.96, 0.94]
    assert figure.traces[0]["y"] == ["cat"]
    assert figure.table is not None
    assert "not given" in figure.table.rows[0]


def test_foreign_tables_give_no_figure(tmp_path: Path) -> None:
    rows = [{"manipulation": "x", "level": 1, "accuracy": "high", "people": None}]
    assert named(alignment.figures(view(tmp_path, INSIDE, conditions=rows)), "severity") == []
