"""Task `sae.target_linearity`: how linearly classes of texts can be read off a representation, layer by layer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from bench.artifacts import load_npz
from bench.datasets.sae.labelled import chosen_texts
from bench.datasets.sae.representations import REPRESENTATIONS
from bench.errors import InvalidOutput
from bench.metrics.sae.linearity import TargetLinearity, target_linearity
from bench.spec import Artifact, Context, Exhibit, JSONScalar, Measure, Task, TaskOutput, Unit, derived_seed
from bench.tasks.sae.affordable import require_affordable

FILE = "representations.npz"
_MOST_LAYERS, _MOST_DIMENSIONS = 64, 16_384
_TRIVIAL = "there are no more texts than dimensions, so that the value would be 1 whatever is represented"


class Linearity(Task):
    """Represents texts of several sets and measures target linearity of their classes at every layer.

    Artifact: `representations.npz`, float32 (texts, d) for each layer, texts of all sets one after another.
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """The representation of every text."""
        require_affordable(getattr(getattr(adapter, "info", None), "tags", ()), unit)
        found = [text for texts, _ in _sets(ctx.load_dataset(unit.dataset), unit) for text in texts]
        name = getattr(adapter, "representation", None)
        if name is not None and name not in REPRESENTATIONS:
            raise InvalidOutput(f"no representation {name!r}; the bench has {', '.join(REPRESENTATIONS)}")
        layers = (
            REPRESENTATIONS[name](found, int(unit.setting("tokens"))) if name else adapter.represent(found)
        )
        _check(layers, len(found))
        arrays = {
            f"{i:02d}|{layer}": np.asarray(a, np.float32) for i, (layer, a) in enumerate(layers.items())
        }
        np.savez(ctx.artifact_dir / FILE, names=np.array(list(arrays)), **arrays)  # type: ignore[arg-type]
        return {"layers": len(arrays), "texts": len(found)}

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """Means over sets; the headline is the last layer, the others are facets."""
        sets = _sets(ctx.load_dataset(unit.dataset), unit)
        names = [str(n) for n in load_npz(artifact.path(FILE), ["names"])["names"]][:_MOST_LAYERS]
        arrays = load_npz(artifact.path(FILE), names)
        _check(arrays, sum(len(texts) for texts, _ in sets))
        seed = derived_seed(unit.seed, "halves")
        found = {name.partition("|")[2]: _layer(arrays[name], sets, seed) for name in names}
        facets = {f"layer={layer}": _measures(results) for layer, results in found.items()}
        last = list(found)[-1]
        held_out = {layer: float(np.mean([r.held_out for r in results])) for layer, results in found.items()}
        best = max(held_out, key=lambda layer: held_out[layer])
        metrics = {
            **_measures(found[last]),
            "best_layer": Measure(
                value=held_out[best], n=len(sets), reason="no interval: the best of several layers"
            ),
        }
        (ctx.exhibit_dir / "layers.json").write_text(
            json.dumps({"x": list(range(len(held_out))), "y": [round(v, 6) for v in held_out.values()]})
        )
        exhibit = Exhibit(
            name="layers",
            kind="series",
            file="layers.json",
            caption="Held-out target linearity from the first to the last layer.",
        )
        notes: dict[str, JSONScalar] = {"best": best, "last": last, "sets": len(sets)}
        return TaskOutput(
            metrics=metrics, facets=facets if len(found) > 1 else {}, exhibits=(exhibit,), notes=notes
        )


def _sets(names: tuple[str, ...], unit: Unit) -> list[tuple[list[str], npt.NDArray[np.float64]]]:
    """Texts and their class, as one column of 0 and 1, of the first sets."""
    count = int(unit.setting("texts"))
    found = []
    for name in names[: int(unit.setting("sets"))]:
        texts, labels, _ = chosen_texts(name, train=count, test=0)
        order = np.random.default_rng(derived_seed(unit.seed, name)).permutation(len(texts))
        found.append(([texts[i] for i in order], labels[order, None].astype(np.float64)))
    return found


def _check(layers: Any, n: int) -> None:
    if not isinstance(layers, dict) or not 0 < len(layers) <= _MOST_LAYERS:
        raise InvalidOutput(f"represent returns a dictionary of 1 to {_MOST_LAYERS} layers")
    for name, array in layers.items():
        shape = np.shape(array)
        if len(shape) != 2 or shape[0] != n or not 0 < shape[1] <= _MOST_DIMENSIONS:
            raise InvalidOutput(
                f"layer {name!r} has shape {shape}; ({n}, d) is expected, d at most {_MOST_DIMENSIONS}"
            )
        if not np.isfinite(array).all():
            raise InvalidOutput(f"layer {name!r} has values that are not finite")


def _layer(
    array: npt.NDArray[np.float32], sets: list[tuple[list[str], npt.NDArray[np.float64]]], seed: int
) -> list[TargetLinearity]:
    found, at = [], 0
    for texts, targets in sets:
        rows = array[at : at + len(texts)]
        at += len(texts)
        found.append(target_linearity(targets=targets, representation=rows, seed=seed))
    return found


def _measures(results: list[TargetLinearity]) -> dict[str, Measure]:
    trivial = any(r.trivial for r in results)
    inside = {
        "tl": [r.tl for r in results],
        "tl_centred": [r.tl_centred for r in results],
    }
    return {
        "held_out": _mean([r.held_out for r in results]),
        **{
            name: Measure(value=None, n=len(values), reason=_TRIVIAL) if trivial else _mean(values)
            for name, values in inside.items()
        },
        "rank": Measure(
            value=float(np.mean([r.rank for r in results])), n=len(results), reason="no interval: a count"
        ),
    }


def _mean(values: list[float]) -> Measure:
    mean = float(np.mean(values))
    if len(values) < 2:
        return Measure(value=mean, n=1, reason="no interval: one set of texts")
    reach = 1.959964 * float(np.std(values, ddof=1)) / len(values) ** 0.5
    method = "normal, over the sets of texts"
    return Measure(value=mean, ci_low=mean - reach, ci_high=mean + reach, ci_method=method, n=len(values))
