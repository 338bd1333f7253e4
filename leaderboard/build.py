"""Records in, static site out.

Every size has an edition of its own, so that numbers of different sizes never meet on a page: the first of
`EDITION_ORDER` that has results lies at the root, the others in folders named after them.
"""

from __future__ import annotations

import importlib.util
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from bench.errors import MissingRequirement
from bench.leaderboard import export, past, records, render, runs
from bench.leaderboard.edition import Edition, build_edition
from bench.leaderboard.output import SiteFolder
from bench.leaderboard.pages import Links, edition_pages, links_of
from bench.leaderboard.records import JobRecord
from bench.leaderboard.simulation import null_simulation
from bench.registry import Registry
from bench.stats.scores import POLICIES, Policy
from bench.store import Store

EDITION_ORDER = ("small", "full", "tiny")


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildReport:
    """What was built. Counts are over all sizes."""

    index: Path
    pages: int
    models: int
    tasks: int
    results: int  # jobs that ended well
    failed: int
    skipped: int
    bytes: int


def build_site(
    stores: Sequence[Path], out: Path, *, registry: Registry, policy: Policy = "baseline"
) -> BuildReport:
    """Write the site for the results in `stores` to the folder `out`.

    `policy` says how failed and missing results count in rankings. The same stores give the same bytes,
    except `runs.html`, which says when it was built. Raises `StoreError` if a store cannot be read or `out`
    cannot be written.
    """
    jobs = read(stores, registry)
    folder = SiteFolder(out)
    editions = _editions(jobs, registry, policy, past.read(stores))
    links = links_of(editions)
    n_pages = 0
    for edition in editions:
        for name, content in edition_pages(edition, links):
            folder.write(name, content)
            n_pages += 1
        _write_data(folder, edition)
        for name, source in edition.pictures:
            folder.copy(name, source)
    n_pages += _write_shared(folder, editions, links, jobs, registry)
    _write_assets(folder)
    folder.finish()
    return BuildReport(
        index=out / "index.html",
        pages=n_pages,
        models=len({j.model for j in jobs}),
        tasks=len({j.task for j in jobs}),
        results=sum(j.ok for j in jobs),
        failed=sum(j.failed for j in jobs),
        skipped=sum(j.status == "skipped" for j in jobs),
        bytes=sum(folder.files.values()),
    )


def read(stores: Sequence[Path], registry: Registry) -> list[JobRecord]:
    """The current results of all stores."""
    versions = {name: (t.info.version, t.info.scoring) for name, t in registry.tasks.items()}
    parts = []
    for path in stores:
        store = Store.open(path)
        jobs = store.current(versions=versions)
        parts.append(records.job_records(path, jobs, store.metrics(jobs)))
    return records.merge(parts)


def _editions(
    jobs: Sequence[JobRecord],
    registry: Registry,
    policy: Policy,
    histories: Mapping[past.Cell, tuple[past.Version, ...]],
) -> list[Edition]:
    by_size: dict[str, list[JobRecord]] = defaultdict(list)
    for job in jobs:
        by_size[job.size].append(job)
    known = [s for s in EDITION_ORDER if s in by_size]
    sizes = [*known, *sorted(by_size.keys() - set(known))] or [EDITION_ORDER[0]]
    return [
        build_edition(
            size,
            by_size[size],
            registry,
            prefix="" if size == sizes[0] else f"{size}/",
            policy=policy,
            histories=histories,
        )
        for size in sizes
    ]


def _write_data(folder: SiteFolder, edition: Edition) -> None:
    base = f"data/{edition.size}"
    tables = {"overview": export.overview_rows(edition.families)}
    tables.update({task.slug: export.task_rows(task) for task in edition.tasks})
    for name, rows in tables.items():
        folder.write(f"{base}/{name}.csv", export.as_csv(rows))
        folder.write(f"{base}/{name}.json", export.as_json(rows))
        folder.write(f"{base}/{name}.parquet", export.as_parquet(rows, export.CELLS_SCHEMA))


def _write_shared(
    folder: SiteFolder,
    editions: Sequence[Edition],
    links: Links,
    jobs: Sequence[JobRecord],
    registry: Registry,
) -> int:
    rows = export.result_rows(jobs)
    folder.write("data/results.parquet", export.as_parquet(rows, export.RESULTS_SCHEMA))
    main = editions[0]
    shared = {"edition": main, "links": links, "name": ""}
    infos = {
        name: task.info for name, task in sorted(registry.tasks.items()) if task.info.family != "selftest"
    }
    infos.update({t.info.name: t.info for e in editions for t in e.tasks})
    pages = {
        "methods.html": render.page(
            "methods.html",
            root="",
            base="",
            tasks=list(infos.values()),
            policies=POLICIES,
            simulation=null_simulation(),
            **shared,
        ),
        "runs.html": render.page(
            "runs.html", root="", base="", runs=runs.collect(jobs), built=datetime.now(UTC), **shared
        ),
        "data/index.html": render.page(
            "data.html", root="../", base="../", files=_data_files(folder), **shared
        ),
    }
    for name, content in pages.items():
        folder.write(name, content)
    return len(pages)


def _data_files(folder: SiteFolder) -> list[tuple[str, int]]:
    return [
        (name.removeprefix("data/"), n)
        for name, n in sorted(folder.files.items())
        if name.startswith("data/")
    ]


def _write_assets(folder: SiteFolder) -> None:
    for source in sorted(render.STATIC.iterdir()):
        if source.is_file():
            folder.write(f"assets/{source.name}", source.read_bytes())
    folder.copy("assets/plotly.min.js", _plotly())


def _plotly() -> Path:
    """The chart library as the installed plotly package ships it; plotly itself is not imported."""
    spec = importlib.util.find_spec("plotly")
    for folder in spec.submodule_search_locations or () if spec else ():
        path = Path(folder) / "package_data" / "plotly.min.js"
        if path.is_file():
            return path
    raise MissingRequirement("the site needs plotly.min.js of the package plotly; pip install plotly")
