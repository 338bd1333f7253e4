"""P2 distance to the closest record: a diagnostic of privacy, not a proof."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.gower import DEFAULT_MEMORY_BYTES, GowerSpace
from bench.metrics.tabular.result import Result, table_of
from bench.metrics.tabular.table import EncodedTable, check_same_layout

Distances = npt.NDArray[np.float64]
QUANTILES = (0.01, 0.05, 0.5)


def closest_record(
    *,
    real: EncodedTable,
    generated: EncodedTable,
    holdout: EncodedTable,
    seed: int = 0,
    device: str = "cpu",
    memory_bytes: int = DEFAULT_MEMORY_BYTES,
) -> dict[str, Result]:
    """`dcr_share` and `dcr_ratio`, on Gower's distances with the ranges of the real table.

    dcr_share (in [0, 1], 0.5 is best, 1 a copy): share of generated rows that are closer to the training rows than to
    as many fresh ones, a tie counts half. Training and holdout rows are subsampled to equal size, without which the
    larger set would win by size alone.

    dcr_ratio (in [0, inf), about 1 for fresh data, 0 for a copy): median distance of generated rows to the closest
    training row, over that of holdout rows. Undefined when half the holdout rows have an equal training row. Facets:
    the 1, 5 and 50 % quantiles and the mean of both distances.

    Both are diagnostics: a table may leak some rows and pass (Yao et al., "The DCR Delusion", 2025).
    """
    check_same_layout(real=real, generated=generated, holdout=holdout)
    space = GowerSpace(real, device=device, memory_bytes=memory_bytes)

    def closest(queries: EncodedTable, others: EncodedTable) -> Distances:
        return space.nearest(queries, others).distances[:, 0]

    size = min(len(real), len(holdout))
    own, fresh = closest(generated, real), closest(holdout, real)
    to_real = own if len(real) == size else closest(generated, real.subsample(size, seed=seed))
    to_holdout = closest(generated, holdout.subsample(size, seed=seed))
    return {"dcr_share": _share(to_real, to_holdout, size), "dcr_ratio": _ratio(own, fresh)}


def _share(to_real: Distances, to_holdout: Distances, size: int) -> Result:
    closer, tied = to_real < to_holdout, to_real == to_holdout
    return Result(
        value=float(closer.mean() + 0.5 * tied.mean()),
        n_used=len(to_real),
        detail=table_of({"to_real": to_real, "to_holdout": to_holdout}),
        facets={"closer": float(closer.mean()), "tied": float(tied.mean()), "compared_rows": float(size)},
    )


def _ratio(own: Distances, fresh: Distances) -> Result:
    facets = _summary("generated", own) | _summary("holdout", fresh)
    detail = table_of({"distance": own})
    usual = float(np.median(fresh))
    if usual == 0:
        reason = "half of the holdout rows have an equal training row, so that their median distance is 0"
        return Result(None, 0, len(fresh), (reason,), detail, facets)
    return Result(float(np.median(own)) / usual, len(own), detail=detail, facets=facets)


def _summary(name: str, distances: Distances) -> dict[str, float]:
    quantiles = np.quantile(distances, QUANTILES)
    named = {f"{name}_q{round(100 * q):02d}": float(v) for q, v in zip(QUANTILES, quantiles, strict=True)}
    return named | {f"{name}_mean": float(distances.mean())}
