"""P1 exact copies: does the generator repeat training rows more often than nature repeats them?"""

from __future__ import annotations

import numpy as np

from bench.metrics.tabular.result import Result, table_of
from bench.metrics.tabular.states import row_ids
from bench.metrics.tabular.table import EncodedTable, check_same_layout


def exact_copies(*, real: EncodedTable, generated: EncodedTable, holdout: EncodedTable) -> Result:
    """Share of generated rows equal to a training row, beyond the share of holdout rows that are.

    max(0, generated share - holdout share), in [0, 1], lower is better. Facets: both shares. Rows with an unseen
    category are never equal to a real row that has a known one.
    """
    check_same_layout(real=real, generated=generated, holdout=holdout)
    ids, generated_ids, holdout_ids = row_ids(real, generated, holdout)
    copied = np.isin(generated_ids, ids)
    natural = np.isin(holdout_ids, ids)
    return Result(
        value=float(max(0.0, copied.mean() - natural.mean())),
        n_used=len(generated),
        detail=table_of({"row": np.flatnonzero(copied)}),
        facets={"generated_share": float(copied.mean()), "holdout_share": float(natural.mean())},
    )
