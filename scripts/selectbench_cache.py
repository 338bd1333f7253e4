"""Compute the scores that ship for SelectBench at sizes tiny and small: datasets/selectbench/data/scores.parquet.

    python scripts/selectbench_cache.py reference BUILD    dock the reference library and the known ligands
    python scripts/selectbench_cache.py models BUILD       run every reference model, docking what is missing
    python scripts/selectbench_cache.py write BUILD        gather what both computed into the shipped file

Every step keeps what it has finished in BUILD and may be stopped and started again. Costs some 20 CPU minutes.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

from bench.catalog import selectbench
from bench.datasets.selectbench.loading import DesignCase
from bench.registry import resolve
from bench.spec import Size, TaskInfo, Unit
from bench.tasks.selectbench.plan import case_plan
from bench.tasks.selectbench.reference import known_pairs, noise_samples, reference_scores
from bench.tasks.selectbench.scorecache import CachedScore, ScoreCache, open_cache, write_rows
from bench.tasks.selectbench.scorer import Scorer, engine_factory

SIZES: tuple[Size, ...] = ("small", "tiny")
TARGET = Path(__file__).parents[1] / "datasets" / "selectbench" / "data" / "scores.parquet"


def reference(build: Path, workers: int) -> None:
    """Dock what every model is compared with, case by case."""
    for size in SIZES:
        for task in selectbench.TASKS:
            for name in task.sizes[size].datasets:
                started = time.monotonic()
                plan = case_plan(resolve_case(name), unit_of(task, name, size))
                with open_cache(build) as cache:
                    scorer = Scorer(engine_factory("vina"), cache, plan.docking, workers=workers)
                    scores = reference_scores(plan, scorer)
                    known_pairs(plan, scorer)
                    noise_samples(plan, scorer, scores)
                print(f"{size} {name}: {scorer.tally}, {time.monotonic() - started:.0f} s", flush=True)


def resolve_case(name: str) -> DesignCase:
    """The case as jobs load it."""
    case: DesignCase = resolve(next(d.entry for d in selectbench.DATASETS if d.name == name))()
    return case


def unit_of(task: TaskInfo, dataset: str, size: Size) -> Unit:
    """The settings of a task at one size; the seed plays no part in what is computed here."""
    return Unit(
        task=task.name,
        dataset=dataset,
        repeat=0,
        size=size,
        seed=0,
        limit=None,
        settings=task.sizes[size].settings,
    )


def models(build: Path, workers: int) -> None:
    """Run the suite at both sizes; its jobs find what is known in the shipped file and keep the rest below BUILD."""
    gather(build, TARGET)
    for size in SIZES:
        command = ["-m", "bench", "run", "--suite", "selectbench", "--size", size, "--workers", str(workers)]
        subprocess.run(
            [sys.executable, *command, "--results", str(build / "results"), "--allow-failures"],
            check=True,
            env={**os.environ, "BENCH_CACHE": str(build / "cache")},
        )


def gather(build: Path, target: Path) -> None:
    """Merge every cache below BUILD."""
    rows: dict[str, CachedScore] = {}
    for file in sorted(build.rglob("scores.sqlite")):
        cache = ScoreCache(file)
        rows |= {row.key: row for row in cache.rows()}
        cache.close()
    print(f"{write_rows(target, rows.values())} rows, {target.stat().st_size} bytes")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("step", choices=("reference", "models", "write"))
    parser.add_argument("build", type=Path)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    if options.step == "write":
        gather(options.build, TARGET)
    else:
        {"reference": reference, "models": models}[options.step](options.build, options.workers)


if __name__ == "__main__":
    main()
