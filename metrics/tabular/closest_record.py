"""P2 distance to the closest record: a diagnostic of privacy, not a proof."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bench.metrics.tabular.gower import DEFAULT_MEMORY_BYTES, GowerSpace
from bench.metrics.tabular.result import Result, table_of
from bench.metrics.tabular.table import EncodedTable, check_same_layout

Distances = npt.NDArray[np.float64]
QUANTILES = (0.01, 0.05, 0.5)


def dcr_share(
    *,
    real: EncodedTable,
    generated: EncodedTable,
    holdout: EncodedTable,
    seed: int = 0,
    device: str = "cpu",
    memory_bytes: int = DEFAULT_MEMORY_BYTES,
) -> Result:
    """Share of generated rows that are closer to the training rows than to as many fresh ones; a tie counts half.

    In [0, 1], 0.5 is best, 1 a copy. Training and holdout rows are subsampled to equal size, without which the
    larger set would win by size alone. Distances are Gower's, with the ranges of the real table.
    """
    check_same_layout(real=real, generated=generated, holdout=holdout)
    size = min(len(real), len(holdout))
    space = GowerSpace(real, device=device, memory_bytes=memory_bytes)
    to_real, to_holdout = (
        space.nearest(generated, table.subsample(size, seed=seed)).distances[:, 0]
        for table in (real, holdout)
    )
    closer, tied = to_real < to_holdout, to_real == to_holdout
    return Result(
        value=float(closer.mean() + 0.5 * tied.mean()),
        n_used=len(generated),
        detail=table_of({"to_real": to_real, "to_holdout": to_holdout}),
        facets={"closer": float(closer.mean()), "tied": float(tied.mean()), "compared_rows": float(size)},
    )


def dcr_ratio(
    *,
    real: EncodedTable,
    generated: EncodedTable,
    holdout: EncodedTable,
    device: str = "cpu",
    memory_bytes: int = DEFAULT_MEMORY_BYTES,
) -> Result:
    """Median distance of generated rows to the closest training row, over that of holdout rows.

    In [0, inf), about 1 for fresh data, 0 for a copy. Undefined when half the holdout rows have an equal training
    row. Facets: the 1, 5 and 50 % quantiles and the mean of both distances.
    """
    check_same_layout(real=real, generated=generated, holdout=holdout)
    space = GowerSpace(real, device=device, memory_bytes=memory_bytes)
    own, fresh = (space.nearest(table, real).distances[:, 0] for table in (generated, holdout))
    facets = _summary("generated", own) | _summary("holdout", fresh)
    usual = float(np.median(fresh))
    if usual == 0:
        reason = "half of the holdout rows have an equal training row, so that their median distance is 0"
        return Result(None, 0, len(holdout), (reason,), table_of({"distance": own}), facets)
    return Result(
        float(np.median(own)) / usual, len(generated), detail=table_of({"distance": own}), facets=facets
    )


def _summary(name: str, distances: Distances) -> dict[str, float]:
    quantiles = np.quantile(distances, QUANTILES)
    named = {f"{name}_q{round(100 * q):02d}": float(v) for q, v in zip(QUANTILES, quantiles, strict=True)}
    return named | {f"{name}_mean": float(distances.mean())}
