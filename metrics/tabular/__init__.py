"""Metrics of synthetic tables on encoded tables: density, structure, efficacy, privacy, validity.

    table       EncodedTable, the form in which data reach every metric
    registry    METRICS: name, dimension, direction, range, needs, citation, cost of each
    together    measure(Inputs(...)): any choice of metrics, each computation once

Every metric is a function of its own module, with keyword-only tables, that returns `Result`s. A unit (column, pair,
statement) is excluded only where the real data leave it undefined; where the generated data are at fault it gets the
worst defined value. This module imports nothing but plain data; `table` and `together` bring numpy, torch and
scikit-learn.
"""

from bench.metrics.tabular.registry import METRICS, MetricSpec

__all__ = ["METRICS", "MetricSpec"]
