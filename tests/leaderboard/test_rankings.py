"""Rankings on the pages: the order, the policy, the groups, the badges; and a real table end to end."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from bench.importing import TableMap, import_table
from bench.leaderboard import past
from bench.leaderboard.build import build_site, read
from bench.leaderboard.edition import Edition, build_edition
from bench.leaderboard.figures.pareto import pareto_front
from bench.leaderboard.figures.ranks import cliques
from bench.leaderboard.simulation import null_simulation
from bench.registry import Registry
from bench.spec import MetricInfo
from bench.stats.scores import POLICIES
from bench.stats.validity import false_alarms
from bench.store import Store
from tests.leaderboard import fabricate
from tests.leaderboard.conftest import Built, with_end_tags

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "harness"


@pytest.fixture(scope="module")
def edition(ranked_site: Built) -> Edition:
    registry = fabricate.ranked_registry()
    stores = [ranked_site.store]
    return build_edition("small", read(stores, registry), registry, histories=past.read(stores))


def text_of(page: str) -> str:
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page)))


def test_rows_stand_by_mean_rank_with_what_belongs_beside_them(edition: Edition) -> None:
    (family,) = edition.families
    assert family.ranking is not None
    assert [s.line.model for s in family.ranking.standings] == ["ours", "theirs", "older", "chance"]
    assert [row.line.model for row in family.table.rows] == ["ours", "theirs", "older", "chance"]
    assert [s.position for s in family.ranking.standings] == [1, 2, 3, None]
    assert family.ranking.critical_difference == pytest.approx(1.7728, abs=1e-3)
    assert [s.tied for s in family.ranking.standings] == [False, True, False, False]
    assert (family.ranking.policy, family.ranking.n_failed) == ("baseline", 1)


def test_a_model_skipped_everywhere_has_not_failed(tmp_path: Path) -> None:
    store = fabricate.FakeStore(tmp_path / "store")
    for model, value in (("a", 0.4), ("b", 0.3), ("absent", None)):
        for repeat in range(2):
            store.add(
                task=fabricate.RANKED_TASKS[0], model=model, dataset="items", repeat=repeat, task_version=2,
                status="ok" if value else "skipped", values={"accuracy": value} if value else {}, primary="accuracy",
                directions={"accuracy": "max"}, error_message="" if value else "needs the package rarelib",
            )  # fmt: skip
    registry = fabricate.ranked_registry()
    found = build_edition("small", read([store.write()], registry), registry, histories={})
    (family,) = found.families
    assert family.ranking is not None
    assert [s.line.model for s in family.ranking.standings] == ["a", "b"]
    assert family.ranking.n_failed == 0
    assert "not ranked, as skipped on a whole data set or more: absent" in family.ranking.notes
    assert {row.line.model for row in family.table.everyone} == {"a", "b", "absent"}


def test_a_skipped_repeat_counts_like_those_that_were_run(tmp_path: Path) -> None:
    store = fabricate.FakeStore(tmp_path / "store")
    for model, scores in (("a", (0.4, 0.2)), ("b", (0.35, None)), ("chance", (0.1, 0.1))):
        for repeat, value in enumerate(scores):
            store.add(
                task=fabricate.RANKED_TASKS[0], model=model, dataset="items", repeat=repeat, task_version=2,
                status="ok" if value else "skipped", values={"accuracy": value} if value else {}, primary="accuracy",
                directions={"accuracy": "max"}, error_message="" if value else "one repeat only",
                info={"name": model, "baseline": model == "chance"},
            )  # fmt: skip
    registry = fabricate.ranked_registry()
    found = build_edition("small", read([store.write()], registry), registry, histories={})
    ranking = found.families[0].ranking
    assert ranking is not None
    assert [s.line.model for s in ranking.standings] == ["b", "a", "chance"]
    assert ranking.n_failed == 0


def test_the_policy_and_its_consequences_stand_beside_every_ranking(ranked_site: Built) -> None:
    for name in ("index.html", "rank/alignment.html"):
        page = text_of(ranked_site.text(name))
        assert POLICIES["baseline"] in page
        assert "filled in from chance on 1 task" in page
        assert "ranks and ratings depend on which models and tasks are present" in page
        assert "within the critical difference 1.773" in page


@pytest.mark.parametrize("policy", ["worst", "exclude"])
def test_another_policy_is_followed_and_named(policy: Any, ranked_site: Built, tmp_path: Path) -> None:
    registry = fabricate.ranked_registry()
    build_site([ranked_site.store], tmp_path / "site", registry=registry, policy=policy)
    page = text_of(with_end_tags((tmp_path / "site/index.html").read_text("utf-8")))
    assert f"policy “{policy}”" in page
    assert POLICIES[policy] in page
    assert ("Over 6 tasks" in page) == (policy == "exclude")


def test_without_a_baseline_the_policy_says_what_it_does_instead(tmp_path: Path) -> None:
    store = fabricate.FakeStore(tmp_path / "store")
    for model, value in (("a", 0.4), ("b", 0.3)):
        for repeat in range(2):
            failed = model == "b" and repeat == 1
            store.add(
                task=fabricate.RANKED_TASKS[0], model=model, dataset="items", repeat=repeat, task_version=2,
                status="error" if failed else "ok", values={} if failed else {"accuracy": value}, primary="accuracy",
            )  # fmt: skip
    build_site([store.write()], tmp_path / "site", registry=fabricate.ranked_registry())
    page = text_of((tmp_path / "site/index.html").read_text("utf-8"))
    assert "no complete baseline on Choice 0, so that policy “worst” is followed" in page
    assert "with fewer than 6 tasks the critical difference means nothing" in page


def test_models_not_separable_from_the_best_are_marked(ranked_site: Built, edition: Edition) -> None:
    separations = {t.info.name[-1]: t.datasets[0].separations["", "accuracy"] for t in edition.tasks}
    assert separations["0"].basis == "samples"
    assert {s.basis for key, s in separations.items() if key != "0"} == {"repeats"}
    assert separations["0"].tied == frozenset()  # 1,600 answers tell them apart
    tied = {key for key, s in separations.items() if ("theirs", -1) in s.tied}
    page = ranked_site.text("index.html")
    assert page.count("class=tie>0.") == len(tied) > 0


def test_a_model_with_a_failed_repeat_is_not_tested(edition: Edition) -> None:
    (dataset,) = edition.tasks[3].datasets
    decided = edition.decided[edition.tasks[3].info.name][dataset.slug]
    at = [line.model for line in decided.lines].index("older")
    assert {c.text for c in decided.rows[at]} == {"no test", "–"}


def test_badges_warn_of_versions_and_of_test_data(ranked_site: Built) -> None:
    page = ranked_site.text("index.html")
    assert "Results are of version 1; the registered one is 2" in page
    assert page.count("trained on test data</span>") == 1
    assert "2 of 3 repeats" not in page
    assert ">3/4</a>" in page  # the failed repeat of "older"


def test_failures_are_counted_in_the_head_of_their_column(site: Built) -> None:
    head = site.text("index.html").split("<thead>")[1].split("</thead>")[0]
    assert '<span class="unit gap">1 crash, 1 error, 3 not run, 1 skipped</span>' in head


def test_history_shows_versions_and_only_the_newest_is_in_the_tables(edition: Edition) -> None:
    figure = next(f for f in edition.figures["alignment.choice-0"] if f.id == "history-items")
    assert figure.table is not None
    assert [row[2] for row in figure.table.rows] == ["model 0 (" + fabricate.sha("older")[:8] + "), task 1.1", 
        "model 1 (" + fabricate.sha("older")[:8] + "), task 2.1"]  # fmt: skip
    assert figure.table.rows[0][3:] == ("0.5", "1")


def test_evidence_path_reaches_the_line_where_the_pair_is_decided(edition: Edition) -> None:
    figure = next(f for f in edition.figures["alignment.choice-0"] if f.id == "evidence-items")
    assert figure.table is not None
    decided = {row[0]: row[2] for row in figure.table.rows}
    assert decided["Chance"].endswith("samples")
    level = next(t for t in figure.traces if "ln(2/α)" in t["name"])["y"][0]
    path = next(t for t in figure.traces if t["name"] == "Chance")
    first = next(x for x, y in zip(path["x"], path["y"], strict=True) if y >= level)
    assert abs(first - int(decided["Chance"].split()[0])) <= 2


def test_pareto_front_holds_what_nothing_dominates() -> None:
    points = [(1.0, 0.2), (2.0, 0.1), (2.0, 0.5), (3.0, 0.5), (0.5, 0.2), (4.0, 0.9)]
    front = pareto_front(points)
    assert front == [4, 2, 5]
    for i, (price, good) in enumerate(points):
        dominated = any(p <= price and g >= good and (p, g) != (price, good) for p, g in points)
        assert (i in front) == (not dominated)


def test_bars_join_mean_ranks_within_the_critical_difference() -> None:
    assert cliques([1.0, 1.5, 2.4, 4.0], 1.0) == [(0, 1), (1, 2)]
    assert cliques([1.0, 3.0, 5.0], 1.0) == []
    assert cliques([1.0, 1.1, 1.2], 5.0) == [(0, 2)]


def test_false_alarms_on_the_methods_page_are_simulated(site: Built) -> None:
    found = null_simulation()
    assert found.final == false_alarms(runs=400, n=1_000, every=10)
    assert found.final.anytime <= found.allowed
    assert 0.3 <= found.final.z_test <= 0.5
    page = text_of(site.text("methods.html"))
    assert f"wrong in {found.final.z_test * 100:.0f} % of the comparisons" in page
    assert f"e-process, every item: {found.final.anytime:.1%}" in page


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Two published tables, imported into one store and built."""
    if not DATA.is_dir():
        pytest.skip(f"the published tables are not there ({DATA})")
    root = tmp_path_factory.mktemp("real")
    store = Store.open(root / "store", create=True)
    automl = TableMap(
        family="automl",
        columns={"repeat": "fold", "version": "model_version"},
        baselines=("constantpredictor",),
        test_over_train=1 / 9,
    )
    assert import_table(DATA / "amlb_2019_1h.parquet", store, automl).failed == 34
    metrics = tuple(
        MetricInfo(name=name, direction="max", lo=0, hi=100, unit="%", primary=name == "robust_acc")
        for name in ("robust_acc", "clean_acc")
    )
    robust = TableMap(
        family="robustness", columns={"url": "link", "paper": "venue"}, task="CIFAR-10 Linf", metrics=metrics
    )
    assert import_table(DATA / "robustbench_cifar10_linf.parquet", store, robust).jobs == 99
    report = build_site([root / "store"], root / "site", registry=Registry())
    return Built(root / "store", root / "site", report)


def test_a_published_table_is_ranked_as_its_reference_says(real: Built) -> None:
    reference = json.loads((DATA / "amlb_2019_1h_reference.json").read_text())
    page = real.text("rank/automl.html")
    rows = re.findall(r"<tr data-role.*?<a [^>]*>([^<]*)</a>(.*?)</tr>", page, re.S)
    cells = {name: re.findall(r"<td[^>]*>([^<]*)</td>", row) for name, row in rows}
    order = sorted(reference["mean_rank"], key=reference["mean_rank"].get)
    assert [name for name, _ in rows] == order
    for name, (position, mean_rank, win_rate, rating, _interval, _failed) in cells.items():
        expected = "–" if name == "constantpredictor" else str(1 + order.index(name))
        assert position == expected, "a baseline is compared but not placed"
        assert float(mean_rank) == pytest.approx(reference["mean_rank"][name], abs=5e-5)
        assert float(win_rate) == pytest.approx(reference["win_rate"][name], abs=5e-4)
        assert float(rating) == pytest.approx(reference["elo_mean1000"][name], abs=0.5)
    assert f"{reference['friedman'][0]:.4f}" in page
    assert f"{reference['nemenyi_cd_0.05']:.3f}" in page
    wins = reference["wins"][reference["models"].index("h2oautoml")][reference["models"].index("tpot")]
    assert f">{wins / 35 * 100:.0f}</td>" in page


def test_all_failed_folds_are_on_the_failures_page(real: Built) -> None:
    page = text_of(real.text("failures.html"))
    failed = pq.read_table(DATA / "amlb_2019_1h.parquet").to_pylist()
    failed = [row for row in failed if row["value"] is None or row["value"] != row["value"]]
    assert real.report.failed == len(failed) == 34
    for row in failed:
        assert " ".join(str(row["error"]).split())[:60] in page
    jobs = [int(n) for n in re.findall(r"(\d+) jobs?:", page)]
    assert sum(jobs) == 34


def test_imported_results_are_labelled_and_name_their_file(real: Built) -> None:
    assert "imported</span>" in real.text("model/h2oautoml.html")
    assert "# imported by run" in real.text("model/tpot.html")
    assert "imported</span>" in real.text("task/automl.adult.html")
    assert "corrected t test (resampled splits)" in real.text("task/automl.adult.html")


def test_a_wide_table_with_ties_and_links_renders(real: Built) -> None:
    page = real.text("index.html")
    assert "Amini2024MeanSparse_Ra_WRN_70_16" in page
    assert "not known</td>" in page.split('data-family="robustness"')[1]  # no times in that table
    model = real.text("model/amini2024meansparse_ra_wrn_70_16.html")
    assert 'href="https://arxiv.org/abs/2406.05927"' in model
    assert "MeanSparse: Post-Training Robustness Enhancement" in model
