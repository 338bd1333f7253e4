from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from bench.leaderboard.build import build_site, read
from bench.leaderboard.edition import Edition, build_edition
from bench.leaderboard.figures import FAMILIES, figures_of
from bench.leaderboard.figures.scatter import _place_names
from bench.registry import Registry
from bench.spec import MetricInfo
from tests.leaderboard import fabricate
from tests.leaderboard.conftest import Built


@pytest.fixture(scope="module")
def edition(site: Built) -> Edition:
    registry = fabricate.registry()
    jobs = [j for j in read([site.store], registry) if j.size == "small"]
    return build_edition("small", jobs, registry)


def test_image_tasks_have_sheets_and_scatters_per_dataset(edition: Edition) -> None:
    ids = [f.id for f in edition.figures["images.fidelity"]]
    own, standard = ("sheets", "chamfer-fd", "plane"), ("dots", "pareto-time", "seeds")
    assert [i for i in ids if i.endswith("digits")] == [f"{kind}-digits" for kind in (*own, *standard)]
    assert len(ids) == len(set(ids)) == 12  # the foreign data set has neither pictures nor two models


def test_retired_tasks_have_no_figures_of_their_family(edition: Edition) -> None:
    retired = next(t for t in edition.tasks if t.retired)
    assert retired.info.family in FAMILIES
    assert [f.id for f in figures_of(retired, {})] == ["dots-digits"]


def test_every_point_of_a_chart_is_in_its_table(edition: Edition) -> None:
    for figure in edition.figures["images.fidelity"]:
        if figure.table is not None:
            points = sum(len(t["x"]) for t in figure.traces if t["name"] != "target")
            assert points == len(figure.table.rows) > 5
        else:
            assert figure.pictures or figure.elsewhere


def test_zero_stays_on_a_logarithmic_axis(edition: Edition) -> None:
    figure = next(f for f in edition.figures["images.fidelity"] if f.id == "chamfer-fd-digits")
    assert figure.layout["xaxis"]["ticktext"][:2] == ["0", "1"]
    points = [
        x
        for t in figure.traces
        for x, name in zip(t["x"], t["hovertext"], strict=True)
        if "exact moments" in name
    ]
    assert points == [0.0]


def test_novelty_and_nearest_training_images_have_their_figures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratio = MetricInfo(name="memorisation_ratio", direction="none", target=1.0)
    monkeypatch.setattr(fabricate, "IMAGE_METRICS", (*fabricate.IMAGE_METRICS, ratio))
    store, registry = fabricate.FakeStore(tmp_path / "store"), fabricate.registry()
    for number, (model, nearness) in enumerate({"gmm-50": 1.01, "kde": 0.2}.items()):
        store.add(
            task="images.fidelity",
            primary="chamfer_dev",
            model=model,
            dataset="digits",
            info=fabricate.model_card(model),
            values={"chamfer_dev": 0.1 * (1 + number), "fd": 1.0 + number, "memorisation_ratio": nearness},
            exhibits=[("nearest-training", fabricate.png(number))],
        )
    jobs = read([store.write()], registry)
    figures = {f.id: f for f in build_edition("small", jobs, registry).figures["images.fidelity"]}
    titles = [fabricate.model_card(model)["title"] for model in ("gmm-50", "kde")]
    assert [picture.label for picture in figures["pairs-digits"].pictures] == titles
    (trace,) = figures["novelty-digits"].traces
    assert sorted(zip(trace["x"], trace["y"], strict=True)) == [(1.0, 1.01), (2.0, 0.2)]
    assert "sheets-digits" not in figures


def test_limited_results_are_not_drawn(edition: Edition) -> None:
    figure = next(f for f in edition.figures["images.fidelity"] if f.id == "plane-digits")
    assert figure.table is not None
    names = [row[0] for row in figure.table.rows]
    assert names.count("Mixture of 50 Gaussians") == 1


def test_charts_hold_no_markup(site: Built) -> None:
    page = site.text("task/images.fidelity.html")
    islands = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.S)
    assert len(islands) == 8
    for island in islands:
        for trace in json.loads(island)["data"]:
            assert not any("<" in t for t in trace.get("text", []))


def test_names_never_cover_each_other() -> None:
    points = [(f"model number {i}", 0.01 * (i % 3), 0.01 * (i // 3)) for i in range(9)]
    spread = [(f"m{i}", float(i), float(i)) for i in range(6)]
    assert all(_place_names(spread))
    assert _place_names([("same", 0.0, 0.0)] * 30).count("") >= 20
    assert len(_place_names(points)) == 9


def test_series_and_tables_of_a_score_become_figures(tmp_path: Path) -> None:
    store = fabricate.FakeStore(tmp_path / "store")
    key = store.add(task="images.old", model="m", dataset="digits", values={"m": 1.0}, primary="m")
    contents = {
        "curve": ("series", {"x": [0, 1, 2], "y": [0.5, float("nan"), 0.7]}),
        "rows": ("table", [{"a": 1, "b": fabricate.HOSTILE}, {"a": 0.25}]),
        "broken": ("series", {"x": [0, 1], "y": [1]}),
        "empty": ("table", []),
    }
    folder = store.root / "exhibits" / key / store.jobs[-1]["score_id"][:16]
    folder.mkdir(parents=True)
    for name, (_, content) in contents.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    store.jobs[-1]["exhibits"] = json.dumps(
        [{"name": n, "kind": k, "file": f"{n}.json", "caption": n} for n, (k, _) in contents.items()]
    )
    build_site([store.write()], tmp_path / "site", registry=Registry())
    page = (tmp_path / "site/model/m.html").read_text("utf-8")
    (island,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.S)
    (trace,) = json.loads(island)["data"]
    assert (trace["x"], trace["y"]) == ([0.0, 2.0], [0.5, 0.7])
    assert [html.unescape(t) for t in re.findall(r"<h3><a [^>]*>([^<]*), repeat 0</a></h3>", page)] == [
        "curve",
        "rows",
    ]
    assert '<th scope="row">0.25<td>not given' in page
