"""Submissions that do what they should not: each ends with the right status and message, alone."""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from bench.leaderboard.build import build_site
from bench.registry import builtin
from bench.submissions import add_folder
from tests.submissions.conftest import ANSI, GOOD_COMMANDS, HOSTILE, RTL, Workspace, is_harmless, run_bench

EXPECTED = {
    "sh-fails": ("error", "the command ended with exit code 3; it wrote last:"),
    "sh-dies": ("error", "the command ended by SIGSEGV"),
    "sh-hangs": ("timeout", "not done after 3 s, in stage collect"),
    "sh-writes-nothing": ("invalid_output", "no file.*it wrote last:\nI had no idea"),
    "sh-wrong-shape": ("invalid_output", "images.npz: .*looks like NHWC"),
    "sh-too-few": ("invalid_output", "images.npz: .*99 images"),
    "sh-soft-link": ("invalid_output", "'images.npz' is a link or a special file"),
    "sh-hard-link": ("invalid_output", "'images.npz' is a hard link"),
    "sh-pipe": ("invalid_output", "'images.npz' is a link or a special file"),
    "sh-many-files": ("invalid_output", "wrote more than 10000 files"),
    "sh-huge-file": ("error", "SIGXFSZ|exit code"),
    "sh-own-notes": ("invalid_output", "'notes.json', a name that the bench keeps"),
    "sh-two-forms": ("invalid_output", "both images.npz and images/"),
    "sh-bomb": ("invalid_output", "images/bomb.png is 8000 x 8000 pixels"),
    "sh-damaged": ("invalid_output", "images/0.png can't be read as PNG"),
    "sh-nasty-name": ("invalid_output", "is no picture"),
    "sh-pickle": ("invalid_output", "holds Python objects"),
    "sh-needs-program": ("skipped", "needs the program no-such-program-anywhere, which is not on PATH"),
    "sh-not-there": ("skipped", r"needs the program ./missing.sh"),
    "cls-raises": ("error", "red"),
    "art-other-version": ("invalid_output", "it was made for another version, and must be made again"),
    "art-other-hash": ("invalid_output", "not the declared aaaa.*bench seal"),
    "art-other-unit": ("skipped", "the submission has no artifact for this unit"),
    "art-wrong": ("invalid_output", "images.npz: expected uint8 NCHW .* in \\[0, 1\\]"),
}


@pytest.mark.parametrize("model", sorted(EXPECTED))
def test_what_went_wrong_is_named(misbehaving: Workspace, model: str) -> None:
    row = misbehaving.rows()[model]
    status, words = EXPECTED[model]
    assert row["status"] == status, row["error_message"]
    assert re.search(words, row["error_message"], re.DOTALL), row["error_message"]
    assert len(row["error_message"]) <= 2_000


@pytest.mark.parametrize("model", ["art-good", "cls-good", *(f"sh-{name}" for name in sorted(GOOD_COMMANDS))])
def test_what_is_only_unusual_is_measured(misbehaving: Workspace, model: str) -> None:
    row = misbehaving.rows()[model]
    assert row["status"] == "ok", row["error_message"]


@pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")
def test_a_command_in_another_language_is_measured(misbehaving: Workspace) -> None:
    row = misbehaving.rows()["in-javascript"]
    assert row["status"] == "ok", row["error_message"]


def test_the_run_ends_in_order(misbehaving: Workspace) -> None:
    done = misbehaving.said["run"]
    assert done.returncode == 1
    failed = sum(status != "skipped" for status, _ in EXPECTED.values())
    assert f"{failed} failed, " in done.stderr.splitlines()[-1]
    assert is_harmless(done.stderr)


def test_no_process_of_a_command_is_left(misbehaving: Workspace) -> None:
    mine = str(misbehaving.folder)
    left = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/cwd").startswith(mine):
                left.append(Path(f"/proc/{name}/cmdline").read_bytes())
        except OSError:
            continue
    assert left == []


def test_logs_hold_what_commands_print_up_to_a_size(misbehaving: Workspace) -> None:
    rows = misbehaving.rows()
    log = misbehaving.folder / "results" / rows["sh-talks"]["log_path"]
    assert b"hello from sh" in log.read_bytes()
    assert log.stat().st_size <= 8 * 2**20
    assert "started" in (misbehaving.folder / "results" / rows["sh-leaves-forks"]["log_path"]).read_text()


def test_messages_hold_no_control_characters(misbehaving: Workspace) -> None:
    message = misbehaving.rows()["sh-fails"]["error_message"]
    assert is_harmless(message)
    assert "[red]word\n[red]word" in message  # what is only text stays as it is; pages escape it


@pytest.mark.parametrize(
    "verb", [("list", "models"), ("describe", "sh-talks"), ("status",), ("describe", "art-good")]
)
def test_terminals_get_only_text(misbehaving: Workspace, verb: tuple[str, ...]) -> None:
    done = run_bench(*verb, cwd=misbehaving.folder)
    assert done.returncode == 0, done.stderr
    assert is_harmless(done.stdout + done.stderr)


@pytest.mark.parametrize("model", ["sh-fails", "cls-raises", "art-wrong"])
def test_a_failing_check_prints_only_text(misbehaving: Workspace, model: str) -> None:
    done = run_bench("check", model, cwd=misbehaving.folder)
    assert done.returncode == 1
    assert "FAIL" in done.stdout
    assert is_harmless(done.stdout + done.stderr)


@pytest.mark.parametrize("kind", ["class", "command", "artifacts"])
def test_a_card_with_commands_for_terminals_is_refused_harmlessly(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "submissions" / "nasty"
    folder.mkdir(parents=True)
    text = f"kind = {kind!r}\nname = 'nasty'\nversion = '1'\nfamilies = ['images']\n"
    own = {"class": "entry = 'mine.py:Mine'\n", "command": "command = ['sh']\n", "artifacts": "[[units]]\n"}
    (folder / "mine.py").write_text("class Mine: pass\n")
    for title in (
        json.dumps(ANSI),
        json.dumps(RTL),
        json.dumps("x" * 10_000),
        json.dumps(HOSTILE) + "\n\x1b]0;",
    ):
        card = f"{text}title = {title}\n{own[kind]}"
        (folder / "submission.toml").write_text(card)
        listed = run_bench("list", "models", cwd=tmp_path)
        assert listed.returncode == 0
        assert "warning: submission nasty was ignored" in listed.stderr
        checked = run_bench("check", "submissions/nasty/", cwd=tmp_path)
        assert checked.returncode == 2
        for done in (listed, checked):
            assert is_harmless(done.stdout + done.stderr)
            assert len(done.stderr) < 1_000


def test_pages_escape_everything(misbehaving: Workspace, tmp_path: Path) -> None:
    registry = builtin()
    add_folder(registry, misbehaving.folder / "submissions")
    report = build_site([misbehaving.folder / "results"], tmp_path / "site", registry=registry)
    assert report.failed > 0
    pages = sorted((tmp_path / "site").rglob("*.html"))
    shown = 0
    for page in pages:
        text = page.read_text()
        assert "<script>alert" not in text, page
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text), page
        shown += "&lt;script&gt;alert(1)" in text
        assert "${49}" not in text
        assert "{{49}}" not in text
    assert shown >= 3  # the titles are there, as text


def planned(space: Workspace, *args: object) -> dict[int, tuple[str, str]]:
    """What a run would do, by repeat."""
    command = ("run", "--suite", "images", "--size", "tiny", "--dry-run", "--json", *args)
    done = run_bench(*command, cwd=space.folder)
    assert done.returncode == 0, done.stderr
    return {job["repeat"]: (job["action"], job["reason"]) for job in json.loads(done.stdout)["jobs"]}


def test_partial_coverage_is_told(misbehaving: Workspace) -> None:
    jobs = planned(misbehaving, "--model", "art-other-unit", "--repeats", 6)
    assert jobs.pop(5) == ("run", "new")
    assert set(jobs) == {0, 1, 2, 3, 4}
    assert set(jobs.values()) == {("skip", "the submission has no artifact for this unit")}


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        (("--limit", 50), "artifacts made elsewhere are for whole units; run without --limit"),
        (("--seed", 1), "the submission has no artifact for this unit"),
    ],
)
def test_artifacts_are_not_taken_for_other_settings(
    misbehaving: Workspace, args: tuple[object, ...], reason: str
) -> None:
    assert planned(misbehaving, "--model", "art-good", *args) == {0: ("skip", reason)}
