"""Move docking scores between machines: `python -m bench.tasks.selectbench.cachetool export FILE`, or `import FILE`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from bench.datasets.cache import cache_folder
from bench.tasks.selectbench.scorecache import open_cache

STAGES = ("score", "collect")  # scores of the evaluation, and those that models asked for


def main(arguments: Sequence[str] | None = None) -> None:
    """Export or import the scores of one half of the jobs, those of the evaluation by default."""
    parser = argparse.ArgumentParser(prog="python -m bench.tasks.selectbench.cachetool", description=__doc__)
    parser.add_argument("what", choices=("export", "import"))
    parser.add_argument("file", type=Path, help="a Parquet file")
    parser.add_argument("--stage", choices=STAGES, default="score")
    parser.add_argument(
        "--cache", type=Path, default=None, help="default: BENCH_CACHE, or the platform's cache"
    )
    options = parser.parse_args(arguments)
    folder = (options.cache or cache_folder()) / options.stage
    with open_cache(folder) as cache:
        if options.what == "export":
            print(f"{cache.export(options.file)} scores written to {options.file}")
        else:
            print(f"{cache.take_in(options.file)} new scores in {folder}")


if __name__ == "__main__":
    main()
