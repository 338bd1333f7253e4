"""The three ways to submit, on a cluster and in a sandbox: the same artifacts as in a plain run."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.engine import sandbox
from bench.errors import MissingRequirement
from tests.cluster import Cluster
from tests.submissions.conftest import Workspace

MODELS = [word for kind in ("class", "command", "artifacts") for word in ("--model", f"my-{kind}")]


def hashes(space: Workspace) -> dict[str, str]:
    return {model: row["artifact_sha256"] for model, row in space.rows().items()}


def test_on_a_cluster(three_ways: Workspace, tmp_path: Path, cluster: Cluster) -> None:
    space = three_ways.copied(tmp_path)
    before = hashes(space)
    command = ("run", "--size", "tiny", "--force", *MODELS, "--engine", "dask", "--workers", 2)
    done = space.bench("dask", *command, "--scheduler", cluster.address)
    assert done.stderr.splitlines()[-1].startswith("3 ok, 0 failed"), done.stderr
    assert hashes(space) == before
    assert all(row["worker"].startswith("dask-") for row in space.rows().values())
    again = space.bench("score", "rescore", "--workers", 1)
    assert again.stderr.splitlines()[-1].startswith("3 ok"), again.stderr


def test_in_a_sandbox(three_ways: Workspace, tmp_path: Path) -> None:
    try:
        way = sandbox.find_way()
    except MissingRequirement as error:
        pytest.skip(str(error))
    space = three_ways.copied(tmp_path)
    before = hashes(space)
    done = space.bench("sandbox", "run", "--size", "tiny", "--force", *MODELS, "--sandbox", "--workers", 1)
    assert sandbox.NOTICES[way] in done.stderr
    assert done.stderr.splitlines()[-1].startswith("3 ok, 0 failed"), done.stderr
    assert hashes(space) == before
