"""What the audit finds: agreement with the truth, and eight conditions that a proxy must meet to be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bench.metrics.sae.agreement import RankAgreement, rank_agreement
from bench.tasks.sae.audit.cases import ANGLES, CHANGED, INVARIANCES, RESEEDED, AuditUnit

Float = npt.NDArray[np.float64]
CONDITIONS = {
    "c1": "extremes: the true concepts are below every trained coder, random atoms above",
    "c2": "order, scale, dead latents, order of rows and rotation do not matter",
    "c3": "a merged latent is above its parts, and an atom that turns towards another rises all the way",
    "c4": "splitting latents into equal halves does not make a coder look better",
    "c5": "the true concepts look alike in worlds where concepts occur together more or less often",
    "c6": "trained coders rise with co-occurrence, as they do in truth",
    "c7": "where better bits and distortion are paid for in polysemanticity, the proxy does not deny it",
    "c8": "other evaluation rows change a value by less than a third of the gap between neighbouring coders",
}
_MOST_VIOLATIONS = 0.1
_FOOLS = ("data", "permuted-decoder", "shuffled-encoder")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a coder: effective number of factors per latent (NaN: dead), overall, bits, distortion."""

    world: str
    name: str
    trained: bool
    neff: Float
    poly: float
    bits: float
    fvu: float

    @property
    def key(self) -> str:
        return f"{self.world}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """Agreements are None, and conditions None, where they cannot be judged. `points`: truth and proxy per coder."""

    trained: RankAgreement | None
    everyone: RankAgreement | None
    latents: RankAgreement | None
    conditions: Mapping[str, bool | None]
    fooled: tuple[str, ...]
    points: tuple[tuple[Known, float], ...]


def findings(values: Mapping[str, Float], known: Sequence[Known], plan: AuditUnit) -> Findings:
    """Judge `values` by case, already oriented so that more means more polysemantic."""
    means = {name: mean(array) for name, array in values.items()}
    points = tuple((k, means[k.key]) for k in known)
    trained = [(k, v) for k, v in points if k.trained]
    last = [k for k in known if k.world == plan.worlds[-1] and k.trained]
    return Findings(
        trained=_agreement(trained, plan.seed),
        everyone=_agreement(points, plan.seed),
        latents=rank_agreement(
            proxy=np.concatenate([values[k.key] for k in last]),
            truth=np.concatenate([k.neff for k in last]),
            seed=plan.seed,
        ),
        conditions={
            "c1": _extremes(means, known, plan),
            "c2": _invariant(values, last[0].key),
            "c3": _merging(values, means, plan),
            "c4": _not_below(means["doubled/latents"], means[f"{plan.worlds[0]}/oracle"]),
            "c5": _unconfounded(means, plan),
            "c6": _sensitive(means, plan),
            "c7": _monotone(trained),
            "c8": _reliable(means, plan),
        },
        fooled=_fooled(means, plan),
        points=points,
    )


def mean(values: Float) -> float:
    """Mean of what is defined, NaN if nothing is."""
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


def _agreement(points: Sequence[tuple[Known, float]], seed: int) -> RankAgreement | None:
    return rank_agreement(proxy=[v for _, v in points], truth=[k.poly for k, _ in points], seed=seed)


def _extremes(means: Mapping[str, float], known: Sequence[Known], plan: AuditUnit) -> bool | None:
    verdicts = []
    for world in plan.worlds:
        low, high = means[f"{world}/oracle"], means[f"{world}/random"]
        inside = [means[k.key] for k in known if k.world == world and k.trained]
        if not np.isfinite([low, high, *inside]).all():
            return None
        verdicts.append(low <= min(inside) and max(inside) < high)
    return all(verdicts)


def _invariant(values: Mapping[str, Float], base: str) -> bool | None:
    original = np.sort(values[base][np.isfinite(values[base])])
    if not len(original):
        return None
    tolerance = 1e-4 * max(1e-9, float(np.ptp(original)))
    for name in INVARIANCES:
        changed = values[f"same/{name}"]
        changed = np.sort(changed[np.isfinite(changed)])
        if len(changed) != len(original) or np.abs(changed - original).max() > tolerance:
            return False
    return True


def _merging(values: Mapping[str, Float], means: Mapping[str, float], plan: AuditUnit) -> bool | None:
    parts = mean(values[f"{plan.worlds[0]}/oracle"][:CHANGED])
    merged = mean(values["merged/pairs"][: CHANGED // 2])
    path = [mean(values[f"turned/{angle}"][0:CHANGED:2]) for angle in ANGLES]
    if not np.isfinite([parts, merged, *path]).all():
        return None
    return merged > parts and all(b > a for a, b in pairwise(path))


def _not_below(changed: float, original: float) -> bool | None:
    if not np.isfinite([changed, original]).all():
        return None
    return changed >= original - 1e-9 * max(1.0, abs(original))


def _unconfounded(means: Mapping[str, float], plan: AuditUnit) -> bool | None:
    oracle = [means[f"{world}/oracle"] for world in plan.worlds]
    reach = abs(means[f"{plan.worlds[0]}/random"] - oracle[0])
    if not np.isfinite([*oracle, reach]).all() or reach == 0:
        return None
    return max(abs(v - oracle[0]) for v in oracle) <= 0.1 * reach


def _sensitive(means: Mapping[str, float], plan: AuditUnit) -> bool | None:
    path = []
    for world in plan.worlds:
        found = [
            v
            for name, v in means.items()
            if name.startswith(f"{world}/topk-") and not name.endswith("narrow")
        ]
        path.append(float(np.mean(found)))
    if len(path) < 2 or not np.isfinite(path).all():
        return None
    return all(b > a for a, b in pairwise(path))


def _monotone(trained: Sequence[tuple[Known, float]]) -> bool | None:
    """Where a coder that dominates another of its world pays for it in truth, the proxy should not say the opposite."""
    violations = pairs = 0
    for a, first in trained:
        for b, second in trained:
            dominates = a.world == b.world and a.bits < b.bits and a.fvu < b.fvu
            if dominates and a.poly > b.poly and np.isfinite([first, second]).all():
                pairs += 1
                violations += first < second
    return violations <= _MOST_VIOLATIONS * pairs if pairs else None


def _reliable(means: Mapping[str, float], plan: AuditUnit) -> bool | None:
    world = plan.worlds[-1]
    rows = []
    for name in RESEEDED:
        draws = [
            means.get(f"{world}/{name}"),
            *(means.get(f"again{a}/{name}") for a in range(1, plan.reseeds)),
        ]
        if all(v is not None for v in draws):
            rows.append([float(v) for v in draws if v is not None])
    table = np.array(rows)
    if table.ndim != 2 or table.shape[1] < 2 or len(table) < 3 or not np.isfinite(table).all():
        return None
    gaps = np.diff(np.sort(table.mean(axis=1)))
    return bool(table.std(axis=1, ddof=1).mean() < np.median(gaps) / 3)


def _fooled(means: Mapping[str, float], plan: AuditUnit) -> tuple[str, ...]:
    """Controls that look less polysemantic than a trained coder in the world with least co-occurrence."""
    world = plan.worlds[0]
    trained = means[f"{world}/topk-a"]
    return tuple(name for name in _FOOLS if means[f"{world}/{name}"] < trained)
