"""Dependence between columns, on bins, and levels of categories in an order that trees can split."""

from __future__ import annotations

import numpy as np

from bench.models.tabular._table import Codes, Numbers, Table


def binned(table: Table, bins: int = 10) -> tuple[Codes, list[int]]:
    """All modelled columns as codes (n, p + q) and their numbers of levels.

    Numbers fall into at most `bins` quantile bins, equal values into the same one; missing is a bin.
    """
    columns: list[Codes] = []
    for j in range(table.numbers.shape[1]):
        values = table.numbers[:, j]
        missing = np.isnan(values)
        cuts: Numbers | list[float] = (
            np.quantile(values[~missing], np.linspace(0, 1, bins + 1)[1:-1]) if not missing.all() else []
        )
        edges = np.unique(np.asarray(cuts, dtype=np.float64))
        column = np.searchsorted(edges, values, side="right")
        column[missing] = len(edges) + 1
        columns.append(np.unique(column, return_inverse=True)[1])
    columns += list(table.codes.T)
    if not columns:
        return np.empty((table.n, 0), np.int64), []
    codes = np.column_stack(columns).astype(np.int64)
    return codes, [int(column.max()) + 1 for column in codes.T]


def mutual_information(codes: Codes, levels: list[int]) -> Numbers:
    """Pairwise mutual information (d, d) in nats, less its bias (K - 1)(L - 1) / 2n, at least 0."""
    n, d = codes.shape
    result = np.zeros((d, d))
    for i in range(d):
        for j in range(i):
            pairs = np.bincount(codes[:, i] * levels[j] + codes[:, j], minlength=levels[i] * levels[j])
            joint = pairs.reshape(levels[i], levels[j]) / n
            expected = np.outer(joint.sum(axis=1), joint.sum(axis=0))
            used = joint > 0
            value = float((joint[used] * np.log(joint[used] / expected[used])).sum())
            bias = (levels[i] - 1) * (levels[j] - 1) / (2 * n)
            result[i, j] = result[j, i] = max(0.0, value - bias)
    return result


def level_order(codes: Codes, count: int, response: Numbers) -> Numbers:
    """A number for each of `count` levels, so that a tree's threshold on it can split levels well.

    `response` (n, r): the levels are placed along the first principal component of their mean responses
    (Coppersmith et al. 1999), which is the mean itself for r = 1. Levels that do not occur get the mean.
    """
    sizes = np.bincount(codes, minlength=count).astype(np.float64)
    sums = np.column_stack([np.bincount(codes, weights=column, minlength=count) for column in response.T])
    means = sums / np.maximum(sizes, 1.0)[:, None] - response.mean(axis=0)
    means[sizes == 0] = 0.0
    if response.shape[1] == 1:
        return np.asarray(means[:, 0])
    _, vectors = np.linalg.eigh((means * sizes[:, None]).T @ means)
    return np.asarray(means @ vectors[:, -1])
