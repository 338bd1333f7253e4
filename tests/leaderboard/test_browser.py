"""The built site in a real Chromium, opened as files: every check of `browser/checks` is a test here."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from bench.leaderboard.build import read
from bench.leaderboard.matchup import matchups
from tests.leaderboard import fabricate
from tests.leaderboard.conftest import Built

BROWSER = Path(__file__).parent / "browser"
CHECKS = sorted(
    f"{module.stem}.{name}"
    for module in (BROWSER / "checks").glob("*.mjs")
    for name in re.findall(r"^export async function (\w+)", module.read_text("utf-8"), re.M)
)
pytestmark = pytest.mark.browser


def _give_up(reason: str) -> None:
    """Browser checks may be left out on a developer's machine, never in CI."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"browser checks are required in CI: {reason}")
    pytest.skip(f"no browser checks: {reason}")


@pytest.fixture(scope="session")
def chromium() -> str:
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if not found or not shutil.which("node"):
        _give_up("needs Chromium and Node.js (Debian: apt-get install chromium nodejs npm)")
    if not (BROWSER / "node_modules" / "axe-core").is_dir():
        command = ["npm", "ci", "--no-audit", "--no-fund"]
        try:
            subprocess.run(command, cwd=BROWSER, check=True, capture_output=True, timeout=300)
        except (OSError, subprocess.SubprocessError) as error:
            _give_up(f"`npm ci` in {BROWSER.name} failed: {error}")
    return str(found)


@pytest.fixture(scope="session")
def results(
    chromium: str, site: Built, large_site: Built, long_site: Built, ranked_site: Built
) -> dict[str, Any]:
    sites = [str(built.out) for built in (site, large_site, long_site, ranked_site)]
    done = subprocess.run(
        ["node", "run.mjs", chromium, *sites], cwd=BROWSER, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, f"the runner stopped:\n{done.stderr[-4000:]}"
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
def test_in_browser(check: str, results: dict[str, Any]) -> None:
    found = results[check]
    for name, value in found["facts"].items():
        print(f"{check}: {name} = {value}")
    assert found["problems"] == []


@pytest.mark.slow
def test_the_browser_compares_as_the_statistics_do(results: dict[str, Any], ranked_site: Built) -> None:
    """The t test written in JavaScript, and the evidence worked out for the page, against `bench compare`."""
    registry = fabricate.ranked_registry()
    expected = matchups(read([ranked_site.store], registry), registry, "ours", "theirs")
    found = results["compare.numbers_are_those_of_the_statistics"]["facts"]["comparison"]
    assert len(found) == len(expected) == 7
    for line, (_, method, difference, low, high, p, adjusted) in zip(expected, found, strict=True):
        result = line.result
        assert result is not None
        assert (method == "anytime") == (result.method == "anytime")
        assert (difference, low, high) == pytest.approx(
            (result.difference, result.low, result.high), abs=2e-5
        )
        assert (p, adjusted) == pytest.approx((result.p_value, result.adjusted_p), rel=1e-3)


def test_there_are_checks() -> None:
    assert len(CHECKS) >= 25
