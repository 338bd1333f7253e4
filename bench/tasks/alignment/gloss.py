"""Task `alignment.gloss`: what does a model take for glossy, and does bumpiness deceive it as it deceives people?"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets.alignment.published import WIN_RATES
from bench.datasets.alignment.surfaces import LEVELS
from bench.metrics.alignment.gloss import WinCurves, gloss_headline, win_curves
from bench.metrics.alignment.result import Score, mean_score
from bench.spec import Artifact, Context, Exhibit, JSONScalar, Measure, Task, TaskOutput, Unit
from bench.tasks.alignment import artifact as files
from bench.tasks.alignment.readout import Probe
from bench.tasks.alignment.scores import known, labels, measure, replicates
from bench.tasks.alignment.seeing import check_batches, features_of, require_vision
from bench.tasks.alignment.stimuli import GlossSet, amount, gloss_set

CURVE = "win-curve"  # name of the exhibit


class Gloss(Task):
    """Artifact: `answers.npz` with gloss values, larger for glossier and 0 between matte and glossy: `test` float
    (trainings, test renders) and `series` float (trainings, scenes, 7 bump levels).
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """A linear decoder of matte against glossy, fitted on the model's features, is what gives gloss values."""
        model = require_vision(adapter, unit.task)
        shown = self._shown(unit, ctx)
        scenes = len(shown.series) // len(LEVELS)

        def values() -> dict[str, npt.NDArray[Any]]:
            check_batches(model, shown.test, ctx.device)
            labels = shown.glossy(len(shown.train)).astype(np.int64)
            decoder = Probe(features_of(model, shown.train, ctx.device), labels)

            def gloss(images: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
                logits = decoder.logits(features_of(model, images, ctx.device))
                return (logits[:, 1] - logits[:, 0]).astype(np.float32)

            return {"test": gloss(shown.test), "series": gloss(shown.series).reshape(scenes, len(LEVELS))}

        files.write(ctx.artifact_dir, files.stacked(list(files.over_runs(model, values))))
        return {"train": len(shown.train), "test": len(shown.test), "scenes": scenes}

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`images.npz`: renders with labels to learn from, and those to judge."""
        shown = self._shown(unit, ctx)
        glossy = shown.glossy(len(shown.train))
        files.export_images(
            folder, train=shown.train, train_glossy=glossy, test=shown.test, series=shown.series
        )
        n, scenes = len(shown.test), len(shown.series) // len(LEVELS)
        return {
            "n": n,
            "files": {
                "images.npz": "uint8 (n, 1, 64, 64): train with train_glossy, test, series (scene by scene)"
            },
            "output": {
                files.FILE: f"test: float (trainings, {n}), series: float (trainings, {scenes}, {len(LEVELS)})"
            },
        }

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Finite gloss values of the right shape."""
        self._read(artifact, unit)

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Win curves against those of people, and whether gloss is told from matte at all."""
        found = self._read(artifact, unit)
        right = [mean_score((v > 0) == GlossSet.glossy(len(v))) for v in found["test"]]
        curves = {e: [win_curves(gloss=v, human=WIN_RATES[e]) for v in found["series"]] for e in WIN_RATES}
        headline = [_headline(c, a) for c, a in zip(curves["3a"], right, strict=True)]
        metrics: dict[str, Measure | float] = {
            "gloss": measure(headline),
            "curve_r": measure([c.curve_r for c in curves["3a"]]),
            "curve_r_3b": measure([c.curve_r for c in curves["3b"]]),
            "scene_r": known([c.scene_r for c in curves["3a"]], why="the curves of all scenes are flat"),
            "nonmono": known([c.nonmono for c in curves["3a"]]),
            "gloss_acc": measure(right),
        }
        exhibits = (*replicates(headline, ctx.exhibit_dir), _curve(curves["3a"], ctx.exhibit_dir))
        return TaskOutput(metrics=metrics, exhibits=exhibits, notes=labels(ctx.load_dataset(unit.dataset)))

    def _shown(self, unit: Unit, ctx: Context) -> GlossSet:
        sizes = {name: amount(unit, name) for name in ("train", "test", "scenes")}
        sizes["train"] = max(4, sizes["train"])  # both kinds must be there
        return gloss_set(ctx.load_dataset(unit.dataset), ctx, **sizes)

    def _read(self, artifact: Artifact, unit: Unit) -> dict[str, npt.NDArray[Any]]:
        shapes = {"test": (amount(unit, "test"),), "series": (amount(unit, "scenes"), len(LEVELS))}
        return files.read(artifact, shapes, {})


def _headline(curves: WinCurves, accuracy: Score) -> Score:
    """The product of both parts; its replicates pair those of the curve with those of the accuracy."""
    value = gloss_headline(curve_r=curves.curve_r.value, accuracy=accuracy.value or 0.0)
    r, a = curves.curve_r.drawn, accuracy.drawn
    if a is None:
        return Score(value=value, n_used=accuracy.n_used)
    r = np.zeros(len(a)) if r is None else np.nan_to_num(r)
    drawn = np.sqrt(np.maximum(r, 0) * np.maximum(2 * a - 1, 0))
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Score(value=value, low=min(low, value), high=max(high, value), n_used=accuracy.n_used, drawn=drawn)


def _curve(curves: list[WinCurves], folder: Path) -> Exhibit:
    mean = np.mean([c.curve for c in curves], axis=0)
    content = {"x": list(LEVELS), "y": [round(float(v), 5) for v in mean]}
    (folder / "curve.json").write_text(json.dumps(content), encoding="utf-8")
    caption = "How often each bump height looks glossier than another height of the same surface"
    return Exhibit(name=CURVE, kind="series", file="curve.json", caption=caption)
