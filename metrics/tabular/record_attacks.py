"""P5 linkability and inference: what do the nearest generated records give away about real people?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.gower import DEFAULT_MEMORY_BYTES, GowerSpace
from bench.metrics.tabular.result import Result, table_of, undefined
from bench.metrics.tabular.risk import added_risk
from bench.metrics.tabular.table import EncodedTable, check_same_layout

MAX_ATTACKS = 500
TOLERANCE = 0.05
_SMALLEST_SCALE = 0.01


def linkability(
    *,
    real: EncodedTable,
    generated: EncodedTable,
    holdout: EncodedTable,
    attacks: int = MAX_ATTACKS,
    seed: int = 0,
    device: str = "cpu",
    memory_bytes: int = DEFAULT_MEMORY_BYTES,
) -> Result:
    """Added risk that both halves of a person's columns lead to one and the same nearest generated record.

    In [0, 1], lower is better. The columns are split in two random halves; an attack succeeds when the nearest
    generated row of a target is the same in both. Undefined with fewer than two columns.
    """
    check_same_layout(real=real, generated=generated, holdout=holdout)
    if len(real.columns) < 2:
        return undefined("two halves of the columns need at least two columns")
    order = np.random.default_rng(seed).permutation(len(real.columns))
    halves = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    spaces = [GowerSpace(real, columns=h.tolist(), device=device, memory_bytes=memory_bytes) for h in halves]
    size = min(attacks, len(real), len(holdout))

    def successes(table: EncodedTable) -> int:
        targets = table.subsample(size, seed=seed)
        first, second = (space.nearest(targets, generated).indices[:, 0] for space in spaces)
        return int((first == second).sum())

    risk = added_risk(real=(successes(real), size), holdout=(successes(holdout), size))
    facets = {"real_rate": risk.real_rate, "holdout_rate": risk.holdout_rate}
    return Result(risk.value, size, facets=facets, interval=(risk.low, risk.high))


def attribute_inference(
    *,
    real: EncodedTable,
    generated: EncodedTable,
    holdout: EncodedTable,
    sensitive: Sequence[int] | None = None,
    attacks: int = MAX_ATTACKS,
    seed: int = 0,
    device: str = "cpu",
    memory_bytes: int = DEFAULT_MEMORY_BYTES,
) -> Result:
    """Mean over sensitive columns (all by default) of the added risk that the nearest generated record reveals them.

    In [0, 1], lower is better. The record nearest to a target on all other columns gives the guess. A category counts
    when it is equal, a number within 5 % of max(|truth|, 1 % of the real range), a date within 5 % of 1 % of the
    range; two missing values count. Detail: risk and rates of each column. Facet `worst`: the largest risk. Undefined
    with fewer than two columns.
    """
    check_same_layout(real=real, generated=generated, holdout=holdout)
    if len(real.columns) < 2:
        return undefined("a column can't be inferred without another one")
    size = min(attacks, len(real), len(holdout))
    targets = [table.subsample(size, seed=seed) for table in (real, holdout)]
    chosen = list(range(len(real.columns))) if sensitive is None else list(sensitive)
    risks = []
    for j in chosen:
        others = [c for c in range(len(real.columns)) if c != j]
        space = GowerSpace(real, columns=others, device=device, memory_bytes=memory_bytes)
        hits = [_inferred(space, t, generated, real, j) for t in targets]
        risks.append(added_risk(real=(hits[0], size), holdout=(hits[1], size)))
    values = [r.value for r in risks]
    detail = table_of(
        {
            "column": [real.columns[j].name for j in chosen],
            "value": values,
            "low": [r.low for r in risks],
            "high": [r.high for r in risks],
            "real_rate": [r.real_rate for r in risks],
            "holdout_rate": [r.holdout_rate for r in risks],
        }
    )
    return Result(float(np.mean(values)), len(chosen), detail=detail, facets={"worst": max(values)})


def _inferred(
    space: GowerSpace, targets: EncodedTable, generated: EncodedTable, real: EncodedTable, j: int
) -> int:
    nearest = space.nearest(targets, generated).indices[:, 0]
    truth, guess = targets.values(j), generated.values(j)[nearest]
    both_missing = targets.missing(j) & generated.missing(j)[nearest]
    if not real.columns[j].is_numeric:
        return int(((truth == guess) | both_missing).sum())
    # The origin of time is arbitrary: a date is compared with the range of dates alone.
    size = np.zeros(len(truth)) if real.columns[j].kind == "datetime" else np.abs(truth)
    return int((_close(truth, guess, size, _finite_range(real.values(j))) | both_missing).sum())


def _close(
    truth: npt.NDArray[np.float64],
    guess: npt.NDArray[np.float64],
    size: npt.NDArray[np.float64],
    spread: float,
) -> npt.NDArray[np.bool_]:
    with np.errstate(invalid="ignore", over="ignore"):
        slack = TOLERANCE * np.maximum(size, _SMALLEST_SCALE * spread)
        near: npt.NDArray[np.bool_] = np.isfinite(truth) & (np.abs(guess - truth) <= slack)
        return np.asarray(near | (truth == guess))


def _finite_range(values: npt.NDArray[np.float64]) -> float:
    finite = values[np.isfinite(values)]
    return float(finite.max() - finite.min()) if len(finite) else 0.0
