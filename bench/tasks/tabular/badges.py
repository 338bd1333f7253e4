"""Short words beside a model: what its tables, its training and its scores make one suspect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from bench.datasets.tabular.schema import Issue
from bench.metrics.tabular.bounds import constant_columns
from bench.metrics.tabular.result import Result
from bench.metrics.tabular.states import row_ids
from bench.metrics.tabular.table import EncodedTable

COLLAPSED_SHARE = 0.05  # of the real number of different rows
_SHOWN = ("memorising", "near-copies", "small-sample", "clipped")  # of the flags that metrics set
_ISSUES = {
    "numbers as text": "numbers-as-text",
    "values that are no numbers": "unreadable-values",
    "infinite values": "infinite-values",
}


def badges(
    real: EncodedTable,
    generated: EncodedTable,
    results: Iterable[Result],
    issues: Iterable[Issue],
    notes: Mapping[str, Any],
) -> tuple[str, ...]:
    """All badges, each once, in a fixed order."""
    found = {flag for result in results for flag in result.flags} & set(_SHOWN)
    found |= {word for issue in issues for text, word in _ISSUES.items() if issue.reason.startswith(text)}
    if is_collapsed(real, generated):
        found.add("collapsed")
    if notes.get("repeatable") is False:
        found.add("not-reproducible")
    if notes.get("diverged") is True:
        found.add("diverged")
    return tuple(sorted(found))


def is_collapsed(real: EncodedTable, generated: EncodedTable) -> bool:
    """Whether half the varying columns are constant, or there are hardly any different rows."""
    varying = ~constant_columns(real)
    constant = constant_columns(generated) & varying
    if varying.any() and constant.sum() >= varying.sum() / 2:
        return True
    real_ids, generated_ids = row_ids(real, generated)
    size = min(len(real_ids), len(generated_ids))
    return len(np.unique(generated_ids[:size])) < COLLAPSED_SHARE * len(np.unique(real_ids[:size]))
