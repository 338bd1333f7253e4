"""The published values of metrics, as something that takes part in the comparison with people."""

from __future__ import annotations

from bench.adapters.images import MetricTable


class PublishedMetrics(MetricTable):
    """The values that stand in the published table itself."""

    published = True
