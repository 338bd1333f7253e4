"""Task `tabular.fidelity`: do columns, pairs and whole rows look like real ones, and are they valid?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from bench.metrics.tabular.result import Result
from bench.metrics.tabular.together import Inputs
from bench.spec import Exhibit
from bench.tasks.tabular import details
from bench.tasks.tabular.protocol import TableUnit
from bench.tasks.tabular.task import TabularTask, level_names

_COLUMNS = {
    "shape_na": "shape_na",
    "shape": "shape",
    "jensen_shannon": "jensen_shannon",
    "wasserstein": "wasserstein",
    "missing_rates": "missing_difference",
    "category_adherence": "known_levels",
    "range_adherence": "in_range",
}


class TabularFidelity(TabularTask):
    """Density and validity."""

    dimensions: ClassVar[tuple[str, ...]] = ("density", "validity")

    def _details(
        self, results: Mapping[str, Result], inputs: Inputs, plan: TableUnit, folder: Path
    ) -> list[Exhibit]:
        real, generated = inputs.real, inputs.generated
        shown = [
            details.write(
                folder,
                "distributions",
                details.distributions(real, generated, level_names(plan.schema, real)),
                "Share of rows by bin or level of each column, real beside synthetic.",
            ),
            details.write(
                folder, "columns", details.joined(results, _COLUMNS, ("column",)), "Each column's scores."
            ),
            details.write(
                folder,
                "pairs",
                details.joined(results, {"pair_tv": "pair_tv", "trend_all": "trend"}, ("first", "second")),
                "Each pair's scores: 1 is as in the real rows.",
            ),
        ]
        for metric, name, caption in (
            ("c2st", "revealing", "Columns that tell synthetic from real rows: AUC lost when permuted."),
            ("constraint_violations", "constraints", "Rules of the real rows and how often rows break them."),
        ):
            if records := details.records(results[metric]):
                shown.append(details.write(folder, name, records, caption))
        return shown
