"""What installed packages register: good ones take part, broken ones cost one warning each."""

from collections.abc import Sequence
from importlib.metadata import EntryPoint

import pytest

from bench import registry
from bench.spec import DatasetInfo, MetricInfo, SizePlan, TaskInfo

METRIC = MetricInfo(name="score", direction="max", primary=True)


def task(name: str, dataset: str, **fields: object) -> TaskInfo:
    declared = {
        "title": "T", "version": 1, "scoring": 1, "entry": "x:T", "summary": "", "protocol": "own",
        "metrics": (METRIC,), "sizes": {"tiny": SizePlan(datasets=(dataset,), repeats=1)},
    }  # fmt: skip
    return TaskInfo(name=name, **{**declared, **fields})  # type: ignore[arg-type]


DATA = DatasetInfo(
    name="ours", entry="x:load", title="", summary="", license="CC0-1.0", data="generated", sha256="0" * 64
)
TASKS = [
    task("third.good", "ours"),
    task("third.lost", "digit"),
    task("third.odd", "ours", metrics=(MetricInfo(name="Top-1", direction="max", primary=True),)),
    task("third.huge", "ours", sizes={"huge": SizePlan(datasets=("ours",), repeats=1)}),
]


def test_a_broken_registration_costs_a_warning_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def points(*, group: str) -> Sequence[EntryPoint]:
        names = {
            "bench.datasets": ["DATA"],
            "bench.tasks": ["TASKS[0]", "TASKS[1]", "TASKS[2]", "TASKS[3]", "gone"],
        }
        return [EntryPoint(name=n, value=n, group=group) for n in names.get(group, [])]

    monkeypatch.setattr(registry, "entry_points", points)
    monkeypatch.setattr(EntryPoint, "load", lambda point: eval(point.value))
    found = registry.load()
    assert "third.good" in found.tasks
    assert not {"third.lost", "third.odd", "third.huge"} & found.tasks.keys()
    warnings = "\n".join(found.warnings)
    assert len(found.warnings) == 4
    assert "dataset 'digit' is unknown; did you mean digits" in warnings
    assert "declares the metric 'Top-1'" in warnings
    assert "has the size 'huge'; use tiny, small, full" in warnings
    assert "NameError" in warnings
    assert set(registry.builtin().tasks) < set(found.tasks)
