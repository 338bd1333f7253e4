"""Task `tabular.efficacy`: are models trained on synthetic rows as good on real ones?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from bench.metrics.tabular.result import Result
from bench.metrics.tabular.together import Inputs
from bench.spec import Exhibit
from bench.tasks.tabular import details
from bench.tasks.tabular.protocol import TableUnit
from bench.tasks.tabular.task import TabularTask


class TabularEfficacy(TabularTask):
    """Train on synthetic, test on real."""

    dimensions: ClassVar[tuple[str, ...]] = ("efficacy",)

    def _details(
        self, results: Mapping[str, Result], inputs: Inputs, plan: TableUnit, folder: Path
    ) -> list[Exhibit]:
        shown = []
        for metric, name, caption in (
            (
                "ml_gap",
                "learners",
                "Scores on real test rows: trained on real (trtr) and synthetic rows (tstr).",
            ),
            ("ml_importance", "importance", "Score lost when a column is permuted, by training rows."),
        ):
            if records := details.records(results[metric]):
                shown.append(details.write(folder, name, records, caption))
        return shown
