"""The built pages as text: structure, honesty of cells, links, determinism, budgets."""

from __future__ import annotations

import csv
import gzip
import html
import io
import json
import re
from pathlib import Path
from urllib.parse import unquote

import pyarrow.parquet as pq
import pytest

from bench.leaderboard.build import build_site
from bench.leaderboard.output import MANIFEST, SiteFolder
from bench.registry import Registry
from tests.leaderboard import fabricate
from tests.leaderboard.conftest import Built, with_end_tags

TASK = "task/images.fidelity.html"


def pages(site: Built) -> list[Path]:
    return sorted(site.out.rglob("*.html"))


def rows(page: str, body: int = 0) -> dict[str, str]:
    """Model title -> HTML of its row, in the first table of `page`."""
    table = page.split('<table class="board')[1 + body].split("</table>")[0]
    found = re.findall(r"<tr data-role.*?</tr>", table, re.S)
    return {html.unescape(re.search(r"<a [^>]*>(.*?)</a>", row)[1]): row for row in found[::-1]}  # type: ignore[index]


def test_report_counts_all_sizes(site: Built) -> None:
    report = site.report
    assert report.index == site.out / "index.html"
    assert report.index.is_file()
    assert (report.models, report.tasks, report.failed, report.skipped) == (11, 2, 5, 3)
    assert report.pages == len(pages(site))


def test_every_link_leads_somewhere(site: Built) -> None:
    ids = {p: set(re.findall(r'\bid="([^"]+)"', p.read_text("utf-8"))) for p in pages(site)}
    n = 0
    for page in pages(site):
        for raw in re.findall(r'(?:href|src)="([^"]*)"', with_end_tags(page.read_text("utf-8"))):
            link = html.unescape(raw)
            if re.match(r"https?://", link):
                continue
            path, _, anchor = link.partition("#")
            anchor = "" if "=" in anchor else anchor  # a view, not a place
            target = (page.parent / unquote(path)).resolve() if path else page
            assert target.is_file(), f"{page.name} links to {link}"
            assert not anchor or anchor in ids[target], f"{page.name} links to {link}"
            n += 1
    assert n > 500


def test_sizes_have_editions_of_their_own(site: Built) -> None:
    small, tiny = site.text("index.html"), site.text("tiny/index.html")
    assert "Flow matching" in small
    assert "Flow matching" not in tiny
    assert set(rows(tiny)) == {"Mixture of 50 Gaussians", "Probabilistic PCA, 64 dimensions"}
    assert not (site.out / "tiny/model/kde.html").exists()


def test_cells_say_what_happened(site: Built) -> None:
    found = rows(site.text("index.html"))
    failed = found["Variational autoencoder"]
    link = re.search(r'<td class="fail"><a href="failures.html#(f-\w+)">error</a></td>', failed)
    assert link
    assert f'id="{link[1]}"' in site.text("failures.html")
    assert ">skipped</a></td>" in found["Kernel density estimate"]
    assert '<td class="none">not run</td>' in found["Mean image"]
    assert re.search(r'#f-\w+" title="2 of 3 repeats; else timeout">2/3</a>', found["Flow matching"])
    assert "<i>n=1</i>" in found[fabricate.HOSTILE]


def test_no_cell_is_blank_or_nan(site: Built) -> None:
    for page in pages(site):
        text = with_end_tags(page.read_text("utf-8"))
        cells = re.findall(r"<td(?: [^>]*)?>(.*?)</td>", text, re.S)
        outside_heads = [c for c in cells if "colspan" not in c]
        empty = [c for c in outside_heads if not re.sub(r"<[^>]*>", "", c).strip()]
        # The corner cells of a grouped head are the only cells without text.
        assert len(empty) <= 4 * text.count('class="groups"') + text.count("<td class=strip>")
        assert not [c for c in outside_heads if re.fullmatch(r"(nan|NaN|None|inf|-inf)", c.strip())]


def test_upper_bound_is_pinned_and_baselines_are_marked(site: Built) -> None:
    page = site.text("index.html")
    pinned = page.split('<tbody class="pinned">')[1].split("</tbody>")[0]
    assert "Held-out real images" in pinned
    assert pinned.count("<tr") == 1
    assert ">baseline</span>" in rows(page)["Uniform noise"]
    assert ">features only</span>" in rows(page)["Gaussian with exact moments"]
    assert "contraction</span>" in rows(page)["Kernel density estimate"]


def test_limited_results_stay_apart_and_are_never_best(site: Built) -> None:
    page = site.text("index.html")
    limited = page.split('<tbody class="limited">')[1].split("</tbody>")[0]
    assert ">limited 100</span>" in limited
    assert "class=best" not in limited
    assert "limited" not in rows(page)["Mixture of 50 Gaussians"].split("</th>")[1]


def test_best_is_the_best_contender(site: Built) -> None:
    best = [name for name, row in rows(site.text(TASK)).items() if "class=best" in row]
    assert best
    assert not {"Held-out real images", "Gaussian with exact moments", "Uniform noise"} & set(best)


def test_unmeasurable_values_give_the_reason(site: Built) -> None:
    row = rows(site.text(TASK))["Mean image"]
    assert '<td class="none" title="all samples are equal">not measurable</td>' in row


def test_retired_tasks_are_kept(site: Built) -> None:
    page = site.text("index.html")
    assert 'data-family="retired"' in page
    assert "images.old" in page.split('data-family="retired"')[1]
    assert "retired</span>" in site.text("task/images.old.html")


def test_failures_show_message_traceback_and_log(site: Built) -> None:
    page = html.unescape(site.text("failures.html"))
    assert "loss is not finite at step 312" in page
    assert 'File "models/vae.py", line 41, in fit' in page
    assert "epoch 2 loss nan" in page
    assert "3 jobs: mnist5k, repeat 0; mnist5k, repeat 1; mnist5k, repeat 2" in page
    assert "killed by SIGSEGV" in page
    assert "needs module sklearn (pip install scikit-learn)" in page


def test_hostile_texts_are_only_text(site: Built) -> None:
    for page in pages(site):
        text = with_end_tags(page.read_text("utf-8"))
        assert "<img src=x" not in text
        assert "javascript:" not in re.sub(r">[^<]*<", "><", text)
        assert not re.search("[\u2028\u2029\u202a-\u202e\u2066-\u2069]", text)
        assert text.count("<script") == text.count("</script>")
        assert not re.search(r"<[^>]*\son\w+\s*=", re.sub(r'"[^"]*"', '""', text))


def test_model_page_tells_how_to_run_it_again(site: Built) -> None:
    page = site.text("model/flow-matching.html")
    command = (
        "bench run --model flow-matching --task images.fidelity --dataset digits --size small --repeats 3"
    )
    assert f"{command} --seed 0 --force" in page
    assert "Lipman et al. 2023" in page
    assert 'href="https://example.org/flow"' in page
    assert "1,234,567" in site.text("model/vae.html")
    assert "javascript:alert(1)</dd>" in site.text("model/hostile.html")


def test_ranks_leave_out_bounds_and_limited_rows(site: Built) -> None:
    ranks = re.findall(r"<td>(\d+) of (\d+)( \(tie\))?</td>", site.text("model/gmm-50.html"))
    assert ranks
    assert max(int(n) for _, n, _ in ranks) == 9  # 11 lines on digits less bound and limited
    assert not re.search(r"<td>\d+ of \d+", site.text("model/real-hold.html"))


def test_pictures_are_copied_once_and_described(site: Built) -> None:
    page = site.text(TASK)
    sources = re.findall(
        r'<img src="\.\./(exhibits/[^"]+)" alt="([^"]+)"[^>]* width="112" height="112"', page
    )
    assert len(sources) == 13
    assert all((site.out / source).read_bytes().startswith(b"\x89PNG") for source, _ in sources)
    assert "Grid of samples of Flow matching on Digits 8x8" in {alt for _, alt in sources}


def test_data_files_hold_what_the_tables_show(site: Built) -> None:
    table = list(csv.DictReader(io.StringIO(site.text("data/small/images.fidelity.csv"))))
    parsed = json.loads(site.text("data/small/images.fidelity.json"))
    stored = pq.read_table(site.out / "data/small/images.fidelity.parquet").to_pylist()
    assert len(table) == len(parsed["rows"]) == len(stored) > 100
    error = [r for r in table if r["model"] == "vae" and r["dataset"] == "mnist5k" and r["facet"] == ""]
    assert {(r["state"], r["mean"]) for r in error} == {("error", "")}
    assert all(r["ci_low"] for r in table if r["state"] == "ok" and r["repeats"] == "3")
    everything = pq.read_table(site.out / "data/results.parquet")
    assert set(everything["size"].to_pylist()) == {"small", "tiny"}


def test_same_store_same_bytes(site: Built, tmp_path: Path) -> None:
    again = tmp_path / "again"
    build_site([site.store], again, registry=fabricate.registry())
    files = {p.relative_to(site.out) for p in site.out.rglob("*") if p.is_file()}
    assert files == {p.relative_to(again) for p in again.rglob("*") if p.is_file()}
    different = {str(f) for f in files if (site.out / f).read_bytes() != (again / f).read_bytes()}
    assert different <= {"runs.html"}


def test_no_results_is_a_page_that_says_so(tmp_path: Path) -> None:
    store = fabricate.FakeStore(tmp_path / "store").write()
    report = build_site([store], tmp_path / "site", registry=Registry())
    assert (report.results, report.failed) == (0, 0)
    assert "No results yet" in report.index.read_text("utf-8")


def test_two_stores_are_shown_together(tmp_path: Path) -> None:
    stores = []
    for name in ("one", "two"):
        store = fabricate.FakeStore(tmp_path / name)
        store.add(task="images.old", model=name, dataset="digits", values={"m": 1.0}, primary="m")
        store.add(task="images.old", model="both", dataset="digits", values={"m": 1.0}, primary="m")
        stores.append(store.write())
    report = build_site(stores, tmp_path / "site", registry=Registry())
    assert (report.models, report.results) == (3, 3)


def test_a_foreign_store_cannot_stop_the_build(tmp_path: Path) -> None:
    store = fabricate.FakeStore(tmp_path / "store")
    values = {
        "m": float("nan"),
        "k": float("inf"),
        "l": {"value": 1.0, "ci_low": float("-inf"), "ci_high": 2.0},
    }
    store.add(
        task="no dot", model="../../m", dataset="d/e", size="../huge", values=values, primary="m", model_info="[1",
        packages="{}x", flags='{"a": 1}', notes="null",
    )  # fmt: skip
    store.jobs[-1]["exhibits"] = '[1, {"kind": "image"}, {"kind": "film", "file": "x"}]'
    report = build_site([store.write()], tmp_path / "site", registry=Registry())
    assert {p.relative_to(tmp_path).parts[0] for p in tmp_path.rglob("*")} == {"store", "site"}
    assert report.results == 1
    page = with_end_tags(next((tmp_path / "site" / "task").glob("*.html")).read_text("utf-8"))
    assert page.count('can be compared">not measurable</td>') == 2


@pytest.mark.parametrize(
    "file", ["../secret.png", "/etc/passwd", "a/../../b.png", ".hidden.png", "not-a-png.png"]
)
def test_exhibits_outside_the_store_are_left_out(file: str, tmp_path: Path) -> None:
    store = fabricate.FakeStore(tmp_path / "store")
    exhibits = json.dumps([{"name": "samples", "kind": "image", "file": file, "caption": ""}])
    key = store.add(task="images.old", model="m", dataset="digits", values={"m": 1.0}, primary="m")
    store.jobs[-1]["exhibits"] = exhibits
    folder = store.root / "exhibits" / key / store.jobs[-1]["score_id"][:16]
    folder.mkdir(parents=True)
    (folder / "not-a-png.png").write_text("<svg onload=alert(1)>")
    (folder.parent / "secret.png").write_bytes(fabricate.png(1))
    build_site([store.write()], tmp_path / "site", registry=Registry())
    assert not (tmp_path / "site" / "exhibits").exists()
    assert "<img" not in (tmp_path / "site" / "model" / "m.html").read_text("utf-8")


def test_log_outside_the_store_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("the secret")
    store = fabricate.FakeStore(tmp_path / "store")
    store.add(task="images.old", model="m", dataset="digits", status="error", log_path="../secret.txt")
    build_site([store.write()], tmp_path / "site", registry=Registry())
    assert "the secret" not in (tmp_path / "site" / "failures.html").read_text("utf-8")


def test_rebuilding_removes_stale_pages_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "site"
    first = SiteFolder(out)
    first.write("model/old.html", "old")
    first.write("index.html", "one")
    first.finish()
    (out / "CNAME").write_text("mine")
    second = SiteFolder(out)
    second.write("index.html", "two")
    second.finish()
    assert sorted(p.name for p in out.iterdir()) == ["CNAME", "index.html", MANIFEST]
    assert (out / "index.html").read_text() == "two"


def test_a_forged_manifest_cannot_delete_elsewhere(tmp_path: Path) -> None:
    victim = tmp_path / "victim.txt"
    victim.write_text("keep")
    out = tmp_path / "site"
    out.mkdir()
    (out / MANIFEST).write_text(json.dumps({"files": ["../victim.txt", str(victim)]}))
    SiteFolder(out).finish()
    assert victim.read_text() == "keep"


def test_budgets_of_a_large_site(large_site: Built) -> None:
    index = (large_site.out / "index.html").read_bytes()
    assert len(index) <= 300_000
    assert len(gzip.compress(index)) <= 60_000
    plotly = (large_site.out / "assets/plotly.min.js").stat().st_size
    assert large_site.report.bytes - plotly <= 15 * 2**20
    assert "plotly.min.js" not in large_site.text("index.html")
