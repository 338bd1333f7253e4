"""Task `tabular.privacy`: what does a synthetic table give away about the rows it was learned from?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from bench.metrics.tabular.result import Result
from bench.metrics.tabular.together import Inputs
from bench.spec import Exhibit
from bench.tasks.tabular import details
from bench.tasks.tabular.protocol import TableUnit
from bench.tasks.tabular.task import TabularTask

_POINTS = 200
_RISKS = ("singling_out", "linkability", "attribute_inference")


class TabularPrivacy(TabularTask):
    """Attacks, copies and distances."""

    dimensions: ClassVar[tuple[str, ...]] = ("privacy",)

    def _details(
        self, results: Mapping[str, Result], inputs: Inputs, plan: TableUnit, folder: Path
    ) -> list[Exhibit]:
        shown = []
        if curve := _curve(results["mia_tpr01"]):
            caption = "True against false positives of the attack that is best at 1 % false positives."
            shown.append(details.write(folder, "roc", curve, caption, kind="series"))
        risks = [
            {"risk": name, "value": results[name].value, **results[name].facets}
            for name in _RISKS
            if results[name].value is not None
        ]
        if risks:
            shown.append(
                details.write(folder, "risks", risks, "Success of attacks on training and fresh rows.")
            )
        return shown


def _curve(result: Result) -> dict[str, list[Any]] | None:
    """The ROC with at most 200 points, denser where false positives are few."""
    if result.value is None:
        return None
    false, true = result.detail["false_positive_rate"], result.detail["true_positive_rate"]
    size = max(1, len(false) - 1)
    grid = np.unique(np.rint(np.geomspace(1, size, _POINTS)).astype(int))
    places = np.concatenate([[0], grid[grid < len(false)]])
    return {"x": false[places].tolist(), "y": true[places].tolist()}
