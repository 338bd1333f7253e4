"""Figures of sparse coders, from a fabricated store with hostile names and damaged exhibits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bench.leaderboard import task_view
from bench.leaderboard.build import read
from bench.leaderboard.figures import Figure, sae
from bench.registry import builtin
from tests.leaderboard.fabricate import HOSTILE, FakeStore

Values = dict[str, float]


def figures(
    folder: Path, task: str, rows: dict[tuple[str, str], list[Values]], shown: dict[str, Any] | None = None
) -> dict[str, Figure]:
    """Figures of `task` from values by (model, data set), one dictionary a repeat."""
    store, registry = FakeStore(folder), builtin()
    for (model, dataset), repeats in rows.items():
        for repeat, values in enumerate(repeats):
            baseline = model in ("oracle", "frozen-truth", "random-dictionary")
            info = {"name": model, "baseline": baseline, "tags": ["oracle"] if model == "oracle" else []}
            key = store.add(task=task, model=model, dataset=dataset, repeat=repeat, values=values, info=info)
            row = store.jobs[-1]
            place = folder / "exhibits" / key / row["score_id"][:16]
            place.mkdir(parents=True)
            for name, content in (shown or {}).items():
                (place / f"{name}.json").write_text(json.dumps(content))
            listed = [
                {"name": n, "kind": "table", "file": f"{n}.json", "caption": "made"} for n in shown or {}
            ]
            row["exhibits"] = json.dumps(listed)
    view = task_view.build(task, "small", read([store.write()], registry), registry, {})
    return {figure.id: figure for figure in sae.figures(view)}


def point(poly: float, fvu: float, bits: float) -> Values:
    return {"poly": poly, "fvu": fvu, "bits": bits}


def test_three_ways(tmp_path: Path) -> None:
    rows = {
        (model, "pairs-95"): [point(*values)]
        for model, values in {
            "sae-topk": (1.9, 0.06, 31.0), "oracle": (1.01, 0.22, 37.0), "random-dictionary": (6.0, 0.76, 37.0)
        }.items()
    }  # fmt: skip
    found = figures(tmp_path, "sae.synth", rows)
    surface = found["surface-pairs-95"]
    assert {t["type"] for t in surface.traces} == {"scatter3d"}
    assert sorted(len(t["x"]) for t in surface.traces) == [1, 1, 1]
    assert {"rate-distortion-pairs-95", "poly-distortion-pairs-95"} <= set(found)


def test_what_monosemanticity_costs(tmp_path: Path) -> None:
    rows: dict[tuple[str, str], list[Values]] = {}
    for dataset, tax in (("pairs-03", 0.0), ("pairs-80", 0.1), ("pairs-95", 0.15)):
        rows["sae-topk", dataset] = [point(1 + 6 * tax, 0.1 + e, 30) for e in (0.0, 0.01, 0.02)]
        rows["frozen-truth", dataset] = [point(1.01, 0.1 + e + tax, 33) for e in (0.0, 0.01, 0.02)]
    found = figures(tmp_path, "sae.cooccurrence", rows)
    table = found["tax"].table
    assert table is not None
    assert [row[0] for row in table.rows] == ["0.03", "0.8", "0.95"]
    assert table.rows[2][1].startswith("+0.1500 (+0.15")
    assert "3 repeats" in table.rows[2][1]
    assert [len(t["x"]) for t in found["co-occurrence"].traces] == [3, 3]


def test_latents_show_hostile_texts_as_text(tmp_path: Path) -> None:
    card = {
        "latent": 3, "density": 0.01, "ms": None, "sources": {HOSTILE: 1.0},
        "contexts": [[[HOSTILE, 0.5], [" word", 1.0], ["broken"], "no"], "nonsense"],
    }  # fmt: skip
    shown = {"latents": {"latents": [card, "nonsense", {"latent": "x"}]}}
    rows = {("sae-topk", "minilm-l3"): [{"fvu": 0.3, "recovered_mean": 0.8, "bits": 300.0, "probe_k1": 0.7,
                                         "probe_k16": 0.9, "probe_dense": 0.95}]}  # fmt: skip
    found = figures(tmp_path, "sae.lm", rows, shown)
    drawing = found["latents-minilm-l3"]
    assert drawing.svg is not None
    assert "<script" not in drawing.svg
    assert "word" in drawing.svg
    assert len(found["probes-minilm-l3"].traces) == 3


def test_verdicts_and_points(tmp_path: Path) -> None:
    points = [{"coder": HOSTILE, "trained": i < 3, "truth": 1.0 + i, "proxy": 0.1 * i} for i in range(5)]
    values = {"trained": -0.8, "c1": 0.0, "c2": 1.0, "c5": 0.0}
    rows = {("proxy-ms-self", "pairs-03"): [values]}
    found = figures(tmp_path, "sae.proxy_audit", rows, {"points": [*points, {"truth": "x"}, 3]})
    table = found["verdicts-pairs-03"].table
    assert table is not None
    assert table.rows[0][1:6] == ("fail", "pass", "n/a", "n/a", "fail")
    assert table.rows[0][-1] == "-0.80"
    drawing = found["proxies-pairs-03"].svg
    assert drawing is not None
    assert drawing.count("<circle") == 5
