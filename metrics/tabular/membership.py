"""P4 membership inference: can an attacker who sees the generated table tell who was in the training data?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.gower import DEFAULT_MEMORY_BYTES, GowerSpace
from bench.metrics.tabular.result import Result, table_of, undefined
from bench.metrics.tabular.roc import auc, roc_curve, tpr_at
from bench.metrics.tabular.table import EncodedTable, check_same_layout

Scores = npt.NDArray[np.float64]
MAX_TARGETS = 5_000
DENSITY_KS = (1, 5)
FALSE_POSITIVE_RATE = 0.01
_OFFSET = 1e-3
_BOOTSTRAPS = 200


def membership_inference(
    *,
    real: EncodedTable,
    generated: EncodedTable,
    holdout: EncodedTable,
    seed: int = 0,
    max_targets: int = MAX_TARGETS,
    device: str = "cpu",
    memory_bytes: int = DEFAULT_MEMORY_BYTES,
) -> dict[str, Result]:
    """The worst of three attacks: `mia_auc` (best 0.5) and `mia_tpr01`, true positives at 1 % false ones (best 0.01).

    Both in [0, 1], lower is better. Members are training rows, non-members the same number of rows from one half of
    the holdout; the other half is the attacker's reference. Attack "distance" scores -d(x, S), attacks "density-k"
    log((d_k(x, reference) + 1e-3) / (d_k(x, S) + 1e-3)), with S and the reference of equal size. Intervals come from
    a bootstrap of the targets of the worst attack. Undefined with fewer than four holdout or two training rows.

    The density ratio follows van Breugel, Sun, Qian, van der Schaar, "Membership inference attacks against synthetic
    data through overfitting detection", 2023.
    """
    check_same_layout(real=real, generated=generated, holdout=holdout)
    if len(holdout) < 4 or len(real) < 2:
        missing = undefined("the attacks need at least four holdout rows and two training rows")
        return {"mia_auc": missing, "mia_tpr01": missing}
    rng = np.random.default_rng(seed)
    outsiders, reference = _halves(holdout, rng)
    size = min(max_targets, len(real), len(outsiders))
    members, outsiders = (t.subsample(size, seed=int(rng.integers(2**31))) for t in (real, outsiders))
    space = GowerSpace(real, device=device, memory_bytes=memory_bytes)
    subset_seed = int(rng.integers(2**31))
    inside, outside = (
        _attacks(space, targets, generated, reference, subset_seed) for targets in (members, outsiders)
    )
    return {
        "mia_auc": _worst(inside, outside, auc, rng),
        "mia_tpr01": _worst(inside, outside, lambda m, o: tpr_at(m, o, FALSE_POSITIVE_RATE), rng),
    }


def _halves(table: EncodedTable, rng: np.random.Generator) -> tuple[EncodedTable, EncodedTable]:
    order = rng.permutation(len(table))
    middle = len(table) // 2
    return table.take(np.sort(order[:middle])), table.take(np.sort(order[middle:]))


def _attacks(
    space: GowerSpace, targets: EncodedTable, generated: EncodedTable, reference: EncodedTable, seed: int
) -> dict[str, Scores]:
    """Scores of the targets under each attack; larger means "member"."""
    size = min(len(generated), len(reference))
    known, seen = reference.subsample(size, seed=seed), generated.subsample(size, seed=seed)
    ks = sorted({min(k, size) for k in DENSITY_KS})
    to_known, to_seen = (space.nearest(targets, table, k=ks[-1]).distances for table in (known, seen))
    closest = to_seen if seen is generated else space.nearest(targets, generated).distances
    scores = {"distance": -closest[:, 0]}
    for k in ks:
        scores[f"density-{k}"] = np.log((to_known[:, k - 1] + _OFFSET) / (to_seen[:, k - 1] + _OFFSET))
    return scores


def _worst(
    inside: dict[str, Scores],
    outside: dict[str, Scores],
    rate: Callable[[Scores, Scores], float],
    rng: np.random.Generator,
) -> Result:
    found = {name: rate(inside[name], outside[name]) for name in inside}
    worst = max(found, key=lambda name: found[name])
    members, outsiders = inside[worst], outside[worst]
    size = len(members)
    again = [
        rate(members[rng.integers(size, size=size)], outsiders[rng.integers(size, size=size)])
        for _ in range(_BOOTSTRAPS)
    ]
    low, high = np.quantile(again, (0.025, 0.975))
    false_rate, true_rate = roc_curve(members, outsiders)
    return Result(
        value=found[worst],
        n_used=2 * size,
        detail=table_of({"false_positive_rate": false_rate, "true_positive_rate": true_rate}),
        facets=found,
        flags=(f"attack={worst}",),
        interval=(float(min(low, found[worst])), float(max(high, found[worst]))),
    )
