"""Task `tabular.structure`: does each column depend on the others as it really does?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from bench.metrics.tabular.graph import Dag
from bench.metrics.tabular.result import Result
from bench.metrics.tabular.table import EncodedTable
from bench.metrics.tabular.together import Inputs
from bench.spec import Exhibit
from bench.tasks.tabular import details
from bench.tasks.tabular.protocol import TableUnit
from bench.tasks.tabular.task import TabularTask

_STATEMENT = ("statement", "first", "second", "kind", "p_value", "information")


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
        if inputs.truth is not None:
            shown += _of_graph(results["ci_fidelity"], inputs.truth.graph.dag, inputs.real, folder)
        return shown


def _of_graph(tested: Result, dag: Dag, real: EncodedTable, folder: Path) -> list[Exhibit]:
    """The graph that made the data, and which of its statements fail."""
    names = [c.name for c in real.columns]
    edges: list[details.Record] = [{"parent": names[a], "child": names[b]} for a, b in dag.edges]
    linked = {n for edge in dag.edges for n in edge}
    edges += [{"parent": None, "child": name} for j, name in enumerate(names) if j not in linked]
    shown = [details.write(folder, "graph", edges, "Edges of the graph that made the data.")]
    broken = [
        {key: names[r[key]] if key in ("first", "second") else r[key] for key in _STATEMENT}
        for r in details.records(tested)
        if not r["kept"]
    ]
    if broken:
        caption = "Statements of the graph that fail."
        shown.append(details.write(folder, "broken-statements", broken, caption))
    return shown
