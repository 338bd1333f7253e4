"""Tasks that only some models take part in: a page of their own, no column and no rank among all models."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.leaderboard.build import build_site, read
from bench.leaderboard.edition import Edition, build_edition
from bench.registry import Registered, Registry
from bench.spec import MetricInfo, ModelInfo, SizePlan, TaskInfo
from bench.work import Source
from tests.leaderboard import fabricate

TASK = "images.steps"


@pytest.fixture
def registry() -> Registry:
    """The usual names, a task for models with the tag "nfe", and such a model that takes no other task."""
    found = fabricate.registry()
    task = TaskInfo(
        name=TASK, title="Few steps", version=1, scoring=1, entry="x:X", summary="Quality by steps.",
        sizes={"small": SizePlan(datasets=("digits",), repeats=1)}, protocol="own", only_tags=("nfe",),
        metrics=(MetricInfo(name="chamfer_dev", direction="min", primary=True),),
    )  # fmt: skip
    specialist = ModelInfo(
        name="specialist", version="1", families=("images",), tags=("nfe",), only_tasks=(TASK,)
    )
    for info in (task, specialist):
        found.add(Registered(info=info, origin="test", source=Source(entry="x:X")))
    return found


@pytest.fixture
def store(tmp_path: Path) -> Path:
    made = fabricate.FakeStore(tmp_path / "store")
    for model, value in (("kde", 0.4), ("gmm-50", 0.2)):
        for dataset in ("digits", "mnist5k"):
            made.add(
                task="images.fidelity", primary="chamfer_dev", model=model, dataset=dataset,
                values={"chamfer_dev": value}, info=fabricate.model_card(model),
            )  # fmt: skip
    for model, value in (("kde", 0.1), ("specialist", 0.3)):
        made.add(
            task=TASK, primary="chamfer_dev", model=model, dataset="digits", values={"chamfer_dev": value}
        )
    return made.write()


@pytest.fixture
def edition(store: Path, registry: Registry) -> Edition:
    return build_edition("small", read([store], registry), registry)


def test_the_table_of_all_models_leaves_them_out(edition: Edition) -> None:
    family = edition.families[0]
    assert {task.info.name for task in family.tasks} == {"images.fidelity", TASK}
    assert {row.line.model for row in family.table.everyone} == {"kde", "gmm-50"}
    assert all(column.group == "Image fidelity" for column in family.table.columns)
    assert all(row.cost.planned == 6 for row in family.table.everyone)  # two data sets, three repeats
    assert "specialist" not in family.waiting
    assert family.ranking is not None
    assert [s.line.model for s in family.ranking.standings] == ["gmm-50", "kde"]
    assert not any(s.failed for s in family.ranking.standings if s.line.model == "gmm-50" and s.repeats == 2)


def test_they_have_their_own_page(store: Path, registry: Registry, tmp_path: Path) -> None:
    build_site([store], tmp_path / "site", registry=registry)
    page = (tmp_path / "site" / "task" / f"{TASK}.html").read_text("utf-8")
    assert "specialist" in page
    index = (tmp_path / "site" / "index.html").read_text("utf-8")
    assert "only models tagged nfe" in index
    assert "specialist" not in index.split('<ul class="tasks">')[0].split('data-family="images"')[1]


def test_facets_come_in_the_order_of_their_numbers(registry: Registry, tmp_path: Path) -> None:
    made = fabricate.FakeStore(tmp_path / "store")
    facets = {f"nfe={nfe}": {"chamfer_dev": 1.0} for nfe in (64, 2, 16, 1)}
    made.add(
        task=TASK, model="specialist", dataset="digits", values={"chamfer_dev": 1.0},
        facets={**facets, "encoder=pixels": {"chamfer_dev": 1.0}},
    )  # fmt: skip
    edition = build_edition("small", read([made.write()], registry), registry)
    shown = next(task for task in edition.tasks if task.info.name == TASK).datasets[0].facets
    assert [f.facet for f in shown] == ["", "encoder=pixels", "nfe=1", "nfe=2", "nfe=16", "nfe=64"]
