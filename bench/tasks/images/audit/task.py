"""Task `images.audit`: can the metrics be believed? They are measured on real images that are damaged in known ways.

What takes part is an encoder, for it decides what a distance between images is: `collect` has it encode known
images, `score` makes the scenarios of their features and judges every metric on every scenario.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from bench.artifacts import load_npz
from bench.errors import InvalidOutput, MissingRequirement
from bench.spec import Artifact, Context, JSONScalar, Measure, Task, TaskOutput, Unit
from bench.tasks.images.audit.audited import AUDITED, CLASSES, SLOW, Measuring
from bench.tasks.images.audit.findings import Findings, examine
from bench.tasks.images.audit.gallery import galleries
from bench.tasks.images.audit.pools import DRAWS, audit_unit, pools, sizes, strangers
from bench.tasks.images.audit.scenarios import Features, Material
from bench.tasks.images.audit.tables import tables
from bench.tasks.images.contract import check_features
from bench.tasks.images.encoders import FOR_GPUS, load_encoder
from bench.tasks.images.protocol import FULL_ENCODERS, encoders_of

FEATURES_FILE = "features.npz"
HEAD = ("head_weight", "head_bias")
DEFAULT = "default"
GROUPS = {"fidelity": "fidelity", "coverage": "coverage", "copying": "copying", "": "stability"}


class ImageMetricAudit(Task):
    """Judges metrics in the feature space of one encoder.

    Artifact: `features.npz` with float32 (rows, d) for every set of images, and optionally the encoder's classifier
    as `head_weight` (classes, d) and `head_bias` (classes,).
    """

    def collect(self, adapter: Any, unit: Unit, ctx: Context) -> Mapping[str, JSONScalar]:
        """Encode all images."""
        plan = audit_unit(ctx.load_dataset(unit.dataset), unit)
        encoder, notes = _encoder(adapter, unit, ctx)
        images = pools(plan, ctx)
        features = {}
        for number, (name, pool) in enumerate(images.items()):
            ctx.progress(number, len(images))
            features[name] = encoder.encode(pool.copy(), device=ctx.device)
        dim = _width(features["real"])
        arrays = {
            name: check_features(f, dim=dim, encoder=name, n=len(images[name]))
            for name, f in features.items()
        }
        np.savez(ctx.artifact_dir / FEATURES_FILE, **arrays, **_head(encoder, dim))  # type: ignore[arg-type]
        return {"n": plan.n, **notes}

    def export_inputs(self, unit: Unit, ctx: Context, folder: Path) -> Mapping[str, Any]:
        """`images.npz`: every set of images that has to be encoded."""
        plan = audit_unit(ctx.load_dataset(unit.dataset), unit)
        images = pools(plan, ctx)
        with (folder / "images.npz").open("xb") as file:
            np.savez(file, **images)  # type: ignore[arg-type]
        return {
            "n": sum(map(len, images.values())),
            "files": {"images.npz": "sets of images: uint8 (rows, C, H, W), 0 is black"},
            "output": {
                FEATURES_FILE: "for each set of images.npz its features: float32 (rows, d), under the same name; "
                "of an encoder that classifies also head_weight (classes, d) and head_bias (classes,)"
            },
        }

    def check_artifact(self, artifact: Artifact, unit: Unit, ctx: Context) -> None:
        """Finite features of one width for every set."""
        plan = audit_unit(ctx.load_dataset(unit.dataset), unit)
        _read(artifact, sizes(plan))

    def score(self, artifact: Artifact, unit: Unit, ctx: Context) -> TaskOutput:
        """For each metric the share of scenarios in which it does what it should, and all the verdicts."""
        plan = audit_unit(ctx.load_dataset(unit.dataset), unit)
        features, head = _read(artifact, sizes(plan))
        material = Material(plan=plan, sets=features)
        slow = bool(unit.setting("slow"))
        train, unseen = (
            torch.from_numpy(part).to(ctx.device) for part in (features["train"], material.draw(DRAWS - 1)[0])
        )
        moved = None if head is None else (head[0].to(ctx.device), head[1].to(ctx.device))
        measuring = Measuring.against(train, unseen, head=moved, slow=slow)
        found = examine(material, measuring, ctx.progress)
        exhibits = tables(found, ctx.exhibit_dir)
        if unit.repeat == 0:
            exhibits += galleries(plan, strangers(plan, ctx), ctx.exhibit_dir)
        return TaskOutput(
            metrics=_shares(found, head is not None),
            facets={f"asks={title}": _group(found, aspect) for aspect, title in GROUPS.items()},
            exhibits=exhibits,
            notes={"n": plan.n, "draws": DRAWS, "levels": plan.levels, "scenarios": len(found.scenarios)},
        )


def _encoder(adapter: Any, unit: Unit, ctx: Context) -> tuple[Any, dict[str, JSONScalar]]:
    """What encodes: the adapter itself, or the encoder of the bench that it names; with notes on it."""
    name = getattr(adapter, "encoder", None)
    if name is None:
        if not callable(getattr(adapter, "encode", None)):
            raise InvalidOutput(
                f"{type(adapter).__name__} has no encode(images, device=...); derive it from "
                "bench.adapters.images.ImageEncoder"
            )
        return adapter, {"encoder": type(adapter).__name__}
    chosen = encoders_of(unit.dataset, unit.size)[0] if name == DEFAULT else str(name)
    if name != DEFAULT and chosen in FULL_ENCODERS and unit.size != "full":
        raise MissingRequirement(f"encoder {chosen} takes minutes for the audit; it runs at size full")
    if chosen in FOR_GPUS and ctx.device == "cpu":
        raise MissingRequirement(f"encoder {chosen} is used on GPUs only; on a CPU it would take hours")
    encoder = load_encoder(chosen)
    return encoder, {
        "encoder": encoder.name,
        "encoder_sha256": encoder.weights_sha256,
        "resize_mode": encoder.resize_mode,
    }


def _head(encoder: Any, dim: int) -> dict[str, Features]:
    """The encoder's last layer, if it has one."""
    head = getattr(encoder, "head", None)
    if not callable(head) or (parts := head()) is None:
        return {}
    return dict(zip(HEAD, _checked_head(parts, dim), strict=True))


def _checked_head(parts: Any, dim: int) -> tuple[Features, Features]:
    weights, bias = parts
    found = [np.asarray(part, dtype=np.float32) for part in (weights, bias)]
    if found[0].shape != (len(found[1]), dim) or found[1].ndim != 1 or not all(map(_is_finite, found)):
        raise InvalidOutput(
            f"the classifier must be finite weights (classes, {dim}) and bias (classes,), got "
            f"{found[0].shape} and {found[1].shape}"
        )
    return found[0], found[1]


def _is_finite(values: npt.NDArray[Any]) -> bool:
    return bool(np.isfinite(values).all())


def _width(features: Any) -> int:
    return int(features.shape[1]) if getattr(features, "ndim", 0) == 2 else 0


def _read(
    artifact: Artifact, rows: Mapping[str, int]
) -> tuple[dict[str, Features], tuple[torch.Tensor, torch.Tensor] | None]:
    arrays = load_npz(artifact.path(FEATURES_FILE), list(rows), optional=list(HEAD))
    dim = _width(arrays["real"])
    try:
        features = {
            name: check_features(arrays[name], dim=dim, encoder=name, n=count) for name, count in rows.items()
        }
        head = [arrays[name] for name in HEAD if name in arrays]
        if not head:
            return features, None
        if len(head) == 1:
            raise InvalidOutput(f"{HEAD[0]} and {HEAD[1]} belong together; one of them is missing")
        weights, bias = _checked_head(head, dim)
    except InvalidOutput as error:
        raise InvalidOutput(f"{FEATURES_FILE}: {error}") from None
    return features, (torch.from_numpy(weights), torch.from_numpy(bias))


def _shares(found: Findings, has_head: bool) -> dict[str, Measure]:
    measures = {name: found.share(name) for name in AUDITED}
    measures |= {
        name: Measure(value=None, reason="measured at size full only: it takes longer than all others")
        for name in SLOW - set(found.names)
    }
    if not has_head:
        reason = "the encoder has no classifier"
        measures |= {name: Measure(value=None, reason=reason) for name in CLASSES}
    return {"overall": found.share(None), **measures}


def _group(found: Findings, aspect: str) -> dict[str, Measure]:
    """Shares over the scenarios that damage `aspect` ("" for those that must change nothing)."""
    names = (None, *found.names)
    return {name or "overall": found.share(name, aspect) for name in names}
