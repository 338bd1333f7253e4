"""Task `tabular.structure`: does each column depend on the others as it really does?"""

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


class TabularStructure(TabularTask):
    """Predictability of columns, and on data with a known graph its independences and mechanisms."""

    dimensions: ClassVar[tuple[str, ...]] = ("structure",)

    def _details(
        self, results: Mapping[str, Result], inputs: Inputs, plan: TableUnit, folder: Path
    ) -> list[Exhibit]:
        shown = []
        for metric, name, caption in (
            ("structure_skill", "columns", "How predictable each column is, relative to the real rows."),
            ("global_utility", "utility", "Errors of predicting each column, real over synthetic."),
            ("mechanism", "mechanisms", "How well each column obeys its law."),
            ("direction", "directions", "Whether the rows show which way each edge points."),
        ):
            if records := details.records(results[metric]):
                shown.append(details.write(folder, name, records, caption))
        broken = [r for r in details.records(results["ci_fidelity"]) if not r["kept"]]
        if broken:
            keys = ("statement", "kind", "p_value", "information")
            content = [{k: r[k] for k in keys} for r in broken]
            shown.append(
                details.write(folder, "broken-statements", content, "Statements of the graph that fail.")
            )
        if inputs.truth is not None:
            names = [c.name for c in inputs.real.columns]
            edges = [{"parent": names[a], "child": names[b]} for a, b in inputs.truth.graph.dag.edges]
            shown.append(details.write(folder, "graph", edges, "Edges of the graph that made the data."))
        return shown
