"""Task `alignment.cue_conflict`: where shape and texture disagree, which of them decides?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.datasets.alignment.human import Experiment
from bench.datasets.alignment.published import SHAPE_BIAS, SHAPE_BIAS_BY_CATEGORY
from bench.metrics.alignment.consistency import error_consistency, mean_kappa
from bench.metrics.alignment.cue_conflict import ShapeBias, shape_bias
from bench.metrics.alignment.result import Score, mean_score
from bench.spec import Artifact, Context, JSONScalar, Measure, Task, TaskOutput, Unit
from bench.tasks.alignment import artifact as files
from bench.tasks.alignment.deciding import Shown, decide
from bench.tasks.alignment.readout import CATEGORIES16
from bench.tasks.alignment.scores import above, ceiled, known, labels, measure, replicates
from bench.tasks.alignment.stimuli import Cue, amount, stw_pictures
from bench.tasks.alignment.tables import bias_table

Labels = npt.NDArray[np.int64]
_SINGLE: tuple[Cue, ...] = ("matched", "shape", "texture")
_NO_SINGLE = "these images have both cues only"
_NOT_ASKED = "no people answered these images"


class CueConflict(Task):
    """Artifact: `answers.npz` with `conflict` int (trainings, images), -1 without an answer, and `left_out` int
    (trainings,); in the generated world also `matched`, `shape` and `texture`, about images of both cues of one class
    and of one cue alone. `conflict_probe` is optional.
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Decisions about all sets."""
        sets, _ = _sets(unit, ctx)
        arrays, readout = decide(adapter, sets, task=unit.task, seed=unit.seed, device=ctx.device)
        kept = {
            name: array for name, array in arrays.items() if name in (*sets, "left_out", "conflict_probe")
        }
        files.write(ctx.artifact_dir, kept)
        return {"readout": readout, "images": len(sets["conflict"].labels)}

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`images.npz`: the sets, and images with labels to learn from where there are any."""
        sets, _ = _sets(unit, ctx)
        first = sets["conflict"]
        train = {} if first.train is None else dict(zip(("train", "train_labels"), first.train, strict=True))
        files.export_images(folder, **{name: shown.images for name, shown in sets.items()}, **train)
        n = len(first.labels)
        return {
            "n": n,
            "files": {"images.npz": f"uint8 (n, C, H, W): {', '.join(sets)}; train, train_labels"},
            "output": {
                files.FILE: f"{', '.join(sets)}: int (trainings, {n}); left_out: int (trainings,), all -1"
            },
            "classes": first.classes,
        }

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Whole numbers in range, one for each image."""
        self._read(artifact, _sets(unit, ctx)[0])

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Shape bias and its distance from that of people; consistency where people answered these images."""
        sets, textures = _sets(unit, ctx)
        found = self._read(artifact, sets)
        conflict = sets["conflict"]
        biases = [shape_bias(decisions=d, shape=conflict.labels, texture=textures) for d in found["conflict"]]
        headline = [_gap(b.bias) for b in biases]
        metrics: dict[str, Measure | float] = {
            "human_gap": measure(headline),
            "shape_bias": measure([b.bias for b in biases]),
            "covered": known([b.covered for b in biases], n=len(textures)),
            **{f"acc_{name}": _accuracy(found, sets, name) for name in _SINGLE},
            **_consistency(found, conflict),
        }
        facets: dict[str, Mapping[str, Measure | float]] = {}
        if "conflict_probe" in found:
            probe = [
                shape_bias(decisions=d, shape=conflict.labels, texture=textures)
                for d in found["conflict_probe"]
            ]
            facets["readout=probe"] = {"shape_bias": measure([b.bias for b in probe])}
        data = ctx.load_dataset(unit.dataset)
        exhibits = (*replicates(headline, ctx.exhibit_dir), _table(biases, data.classes, ctx.exhibit_dir))
        return TaskOutput(
            metrics=metrics, facets=facets, flags=_flags(biases, metrics), exhibits=exhibits,
            notes={
                "readout": str(artifact.notes.get("readout", "as handed in")),
                "n_shape": sum(b.n_shape for b in biases),
                "n_texture": sum(b.n_texture for b in biases),
                **labels(data),
            },
        )  # fmt: skip

    def _read(self, artifact: Artifact, sets: Mapping[str, Shown]) -> dict[str, npt.NDArray[Any]]:
        shapes: dict[str, tuple[int, ...]] = {name: (len(shown.labels),) for name, shown in sets.items()}
        optional = {"conflict_probe": shapes["conflict"]}
        found = files.read(artifact, {**shapes, "left_out": ()}, optional)
        classes = sets["conflict"].classes
        return {
            name: array.astype(np.int64) if name == "left_out" else files.decisions(found, name, classes)
            for name, array in found.items()
        }


def _sets(unit: Unit, ctx: Context) -> tuple[dict[str, Shown], Labels]:
    """The sets of images, and the textures of the conflicting ones."""
    data = ctx.load_dataset(unit.dataset)
    if isinstance(data, Experiment):
        part = data.conditions[0]
        shown = Shown(
            images=part.images, labels=part.labels, classes=len(data.classes), space=CATEGORIES16, train=None,
            responses=part.responses,
        )  # fmt: skip
        return {"conflict": shown}, part.textures
    n, learned = amount(unit, "images"), stw_pictures(data, ctx, train=True, n=int(unit.setting("train")))
    sets: dict[str, Shown] = {}
    textures = np.empty(0, dtype=np.int64)
    for cue in ("conflict", *_SINGLE):
        made = stw_pictures(data, ctx, train=False, n=n, cue=cue)
        sets[cue] = Shown(
            images=made.images, labels=made.texture if cue == "texture" else made.shape, classes=len(data.classes),
            space="stw10", train=(learned.images, learned.shape), responses=None,
        )  # fmt: skip
        textures = made.texture if cue == "conflict" else textures
    return sets, textures


def _gap(bias: Score) -> Score:
    """|bias - that of people|, with its replicates."""
    if bias.value is None or bias.drawn is None:
        return bias
    value, drawn = abs(bias.value - SHAPE_BIAS), np.abs(bias.drawn - SHAPE_BIAS)
    low, high = np.percentile(drawn[np.isfinite(drawn)], [2.5, 97.5])
    return Score(value=value, low=min(low, value), high=max(high, value), n_used=bias.n_used, drawn=drawn)


def _accuracy(found: Mapping[str, npt.NDArray[Any]], sets: Mapping[str, Shown], name: str) -> Measure:
    if name not in sets:
        return Measure(value=None, reason=_NO_SINGLE)
    return measure([mean_score(d == sets[name].labels) for d in found[name]])


def _consistency(found: Mapping[str, npt.NDArray[Any]], shown: Shown) -> dict[str, Measure | float]:
    if shown.responses is None:
        nothing = Measure(value=None, reason=_NOT_ASKED)
        return dict.fromkeys(("kappa", "ceiling", "ceiled"), nothing)
    people = shown.responses == shown.labels
    value = measure(
        [
            mean_kappa(model=own == shown.labels, people=people[np.arange(len(people)) != person])
            for own, person in zip(found["conflict"], found["left_out"], strict=True)
        ]
    )
    top, quotient = ceiled(value, float(error_consistency(correct=people).pairs().mean()), _NOT_ASKED)
    return {"kappa": value, "ceiling": top, "ceiled": quotient}


def _flags(biases: list[ShapeBias], metrics: Mapping[str, Any]) -> tuple[str, ...]:
    flags = ["low-coverage"] if any(b.low_coverage for b in biases) else []
    if above(metrics["kappa"], metrics["ceiling"].value):
        flags.append("above-ceiling")
    return tuple(flags)


def _table(biases: list[ShapeBias], classes: tuple[str, ...], folder: Path) -> Any:
    own: list[float | None] = []
    for number in range(len(classes)):
        values = [v for b in biases if (v := b.by_category.get(number)) is not None]
        own.append(round(float(np.mean(values)), 5) if values else None)
    return bias_table(classes, own, [SHAPE_BIAS_BY_CATEGORY.get(name) for name in classes], folder)
