"""What tests in several folders share."""

from __future__ import annotations

import os
from collections.abc import Iterator

# Before anything loads OpenMP. The tables and nets of tests are too small for two threads, which wait for each other
# by spinning: on a busy machine they cost ten times the time of one.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest

from tests.cluster import Cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A scheduler and two worker processes of two slots each; starting them takes seconds."""
    pytest.importorskip("distributed", reason="needs the extra [cluster]")
    from bench.engine import versions

    versions.facts()  # of the code as it is now: workers with other code are refused
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        made.start_scheduler()
        for _ in range(2):
            made.start_worker()
        made.wait_for_workers()
        yield made
    finally:
        made.stop()
