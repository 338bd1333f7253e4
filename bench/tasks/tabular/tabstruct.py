"""Task `tabular.tabstruct`: the protocol and the metrics of TabStruct, for comparison with its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from bench.metrics.tabular.result import Result
from bench.metrics.tabular.together import Inputs
from bench.spec import Exhibit
from bench.tasks.tabular import details
from bench.tasks.tabular.protocol import TableUnit
from bench.tasks.tabular.task import TabularTask


class TabularTabStruct(TabularTask):
    """Density, privacy, utility and structure as Jiang, Simidjievski and Jamnik (2026) report them."""

    @property
    def measured(self) -> tuple[str, ...]:
        return (
            "shape",
            "trend_all",
            "alpha_precision",
            "beta_recall",
            "dcr_share",
            "authenticity",
            "global_utility",
            "local_utility",
            "ci_fidelity",
        )

    def _details(
        self, results: Mapping[str, Result], inputs: Inputs, plan: TableUnit, folder: Path
    ) -> list[Exhibit]:
        found = details.records(results["global_utility"])
        caption = "Errors of predicting each column, real over synthetic."
        return [details.write(folder, "utility", found, caption)] if found else []
