"""A class, a command and a folder of artifacts: made, checked, submitted, run, shown, removed."""

import json
import re
from pathlib import Path

import pytest

from bench import registry
from bench.store import Store
from tests.cli.conftest import Bench, run_bench
from tests.submissions.conftest import Workspace, is_harmless

KINDS = ("class", "command", "artifacts")


@pytest.mark.parametrize("kind", KINDS)
def test_each_way_is_scaffolded_checked_and_submitted(three_ways: Workspace, kind: str) -> None:
    for step in (f"new {kind}", f"submit {kind}"):
        said = three_ways.said[step]
        assert said.returncode == 0, said.stdout + said.stderr
    lines = three_ways.said[f"submit {kind}"].stdout.splitlines()
    assert [line for line in lines if not line.startswith("pass")] == [
        f"submitted as submissions/my-{kind}; `bench run --suite all` includes it"
    ]
    expected = {"class": 6, "command": 6, "artifacts": 3}
    assert len(lines) == expected[kind] + 1


@pytest.mark.parametrize("kind", KINDS)
def test_each_way_runs_and_is_measured_alike(three_ways: Workspace, kind: str) -> None:
    done = three_ways.said["run"]
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].startswith("3 ok, 0 failed, 0 skipped")
    row = three_ways.rows()[f"my-{kind}"]
    assert row["status"] == "ok"
    assert json.loads(row["model_info"])["form"] == kind
    assert (row["collect_s"] is None) == (kind == "artifacts")  # the bench did not make those
    store = Store.open(three_ways.folder / "results")
    metrics = store.metrics(store.current()).to_pylist()
    own = {m["metric"] for m in metrics if m["job_key"] == row["job_key"] and not m["facet"]}
    assert own == {metric.name for metric in registry.builtin().tasks[row["task"]].info.metrics}
    assert len(row["model_source_sha256"]) == 64


def test_a_declared_artifact_is_stored_under_its_declared_hash(three_ways: Workspace) -> None:
    row = three_ways.rows()["my-artifacts"]
    sealed = three_ways.said["seal"].stdout.splitlines()[0].split()[-1]
    assert row["artifact_sha256"] == row["model_source_sha256"] == sealed


def test_the_same_command_gives_the_same_artifact_again(three_ways: Workspace, tmp_path: Path) -> None:
    space = three_ways.copied(tmp_path / "again")
    before = space.rows()["my-command"]["artifact_sha256"]
    done = space.bench("force", "run", "--size", "tiny", "--force", "--model", "my-command", "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert space.rows()["my-command"]["artifact_sha256"] == before


def test_titles_and_limits_change_no_result_but_files_and_commands_do(
    three_ways: Workspace, bench: Bench, tmp_path: Path
) -> None:
    three_ways.copied(tmp_path)
    (tmp_path / "submissions" / "my-command").rename(tmp_path / "edited")
    (tmp_path / "edited" / ".bench-manifest.json").unlink()
    card = tmp_path / "edited" / "submission.toml"
    original = card.read_text()

    def reason() -> str:
        done = bench("run", "--size", "tiny", "--model", "edited/", "--dry-run", "--json")
        assert done.returncode == 0, done.stderr
        [job] = json.loads(done.stdout)["jobs"]
        return str(job["reason"])

    card.write_text(original.replace('title = "my command"', 'title = "Other"').replace("4096", "5000"))
    assert reason() == "cached"
    card.write_text(original.replace('"{n}"]', '"{n}", "more"]'))
    assert reason() == "adapter changed"
    card.write_text(original)
    assert reason() == "cached"
    script = tmp_path / "edited" / "generate.py"
    script.write_text(script.read_text() + "# more\n")
    assert reason() == "adapter changed"


def test_the_exported_input_says_what_the_command_is_given(three_ways: Workspace) -> None:
    unit = json.loads((three_ways.folder / "inputs/tiny/images.fidelity/digits/0/unit.json").read_text())
    command = ("units", "--task", "images.fidelity", "--size", "tiny", "--json")
    listed = json.loads(run_bench(*command, cwd=three_ways.folder).stdout)
    [row] = listed
    assert (unit["task"], unit["dataset"], unit["n"]) == ("images.fidelity", "digits", 100)
    assert int(unit["unit_seed"]) == row["seed"]
    assert unit["seed"] == row["seed"] % 2**31
    assert row["task_version"] == unit["task_version"]


def test_the_pages_show_all_three_side_by_side(three_ways: Workspace, tmp_path: Path) -> None:
    space = three_ways.copied(tmp_path / "site")
    assert space.bench("site", "site").returncode == 0
    table = (space.folder / "site" / "task" / "images.fidelity.html").read_text()
    for kind in KINDS:
        assert (space.folder / "site" / "model" / f"my-{kind}.html").is_file()
        assert f"my-{kind}" in table
    assert "made elsewhere" in table
    badges = re.findall(
        r"mixed versions", (space.folder / "site" / "model" / "my-artifacts.html").read_text()
    )
    assert not badges


def test_rescoring_needs_neither_command_nor_artifact_folder(three_ways: Workspace, tmp_path: Path) -> None:
    space = three_ways.copied(tmp_path / "rescore")
    for kind in KINDS:
        assert space.bench("remove", "remove", f"my-{kind}").returncode == 0
    done = space.bench("rescore", "rescore", "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines()[-1].startswith("3 ok")


def test_remove_keeps_results_and_says_so(three_ways: Workspace, tmp_path: Path) -> None:
    space = three_ways.copied(tmp_path / "remove")
    done = space.bench("remove", "remove", "my-command")
    assert done.returncode == 0
    assert "results" in done.stdout
    assert not (space.folder / "submissions" / "my-command").exists()
    assert "my-command" in space.rows()
    assert sorted(p.name for p in (space.folder / "submissions").iterdir()) == ["my-artifacts", "my-class"]
    listed = space.bench("list", "list", "models").stdout
    assert "my-command" not in listed
    again = space.bench("remove", "remove", "my-command")
    assert again.returncode == 2
    assert "there are: my-artifacts, my-class" in again.stderr


@pytest.mark.parametrize(
    ("kind", "change", "words"),
    [
        ("class", lambda f: (f / "model.py").write_text("x = 1\n"), "'model.py' was changed"),
        ("command", lambda f: (f / "generate.py").unlink(), "'generate.py' was removed"),
        ("command", lambda f: (f / "more.py").write_text(""), "'more.py' was added"),
        ("artifacts", lambda f: next(f.rglob("*.png")).write_bytes(b"x"), ".png' was changed"),
        ("class", lambda f: (f / ".bench-manifest.json").write_text("{"), "cannot be read"),
    ],
)
def test_a_submission_that_was_changed_afterwards_is_refused_by_file(
    three_ways: Workspace, bench: Bench, tmp_path: Path, kind: str, change: object, words: str
) -> None:
    three_ways.copied(tmp_path)
    change(tmp_path / "submissions" / f"my-{kind}")  # type: ignore[operator]
    done = bench("list", "models")
    assert done.returncode == 0
    assert f"warning: submission my-{kind} was ignored" in done.stderr
    assert words in done.stderr
    assert f"my-{kind}" not in done.stdout
    assert all(f"my-{other}" in done.stdout for other in KINDS if other != kind)


def test_a_copied_submissions_folder_is_still_accepted(
    three_ways: Workspace, bench: Bench, tmp_path: Path
) -> None:
    three_ways.copied(tmp_path)  # new times, same bytes
    done = bench("list", "models")
    assert "warning" not in done.stderr
    assert all(f"my-{kind}" in done.stdout for kind in KINDS)


def test_taken_names_are_refused(three_ways: Workspace, bench: Bench, tmp_path: Path) -> None:
    three_ways.copied(tmp_path)
    done = bench("submit", "my-command", "--no-check", "seen above")
    assert done.returncode == 2
    assert "the name 'my-command' is taken by submissions/my-command/submission.toml" in done.stderr
    card = tmp_path / "my-command" / "submission.toml"
    card.write_text(card.read_text().replace('"my-command"', '"train-copy"'))
    done = bench("submit", "my-command", "--no-check", "seen above")
    assert done.returncode == 2
    assert "'train-copy' is taken by bench.catalog.images" in done.stderr


def test_a_failing_check_submits_nothing(three_ways: Workspace, bench: Bench, tmp_path: Path) -> None:
    three_ways.copied(tmp_path)
    card = tmp_path / "my-command" / "submission.toml"
    card.write_text(card.read_text().replace('"my-command"', '"broken"'))
    script = tmp_path / "my-command" / "generate.py"
    script.write_text(script.read_text().replace("random.Random(int(seed))", "random.SystemRandom()"))
    done = bench("submit", "my-command")
    assert done.returncode == 1
    assert "FAIL  images.fidelity repeats: same seed, different output" in done.stdout
    assert "nothing was submitted" in done.stderr
    assert sorted(p.name for p in (tmp_path / "submissions").iterdir()) == [f"my-{k}" for k in sorted(KINDS)]
    assert bench("submit", "my-command", "--no-check", " ").returncode == 2
    done = bench("submit", "my-command", "--no-check", "known\nto vary")
    assert done.returncode == 0
    manifest = json.loads((tmp_path / "submissions" / "broken" / ".bench-manifest.json").read_text())
    assert "known" in manifest["unchecked"]


def test_a_command_that_writes_into_its_folder_fails_the_check(bench: Bench, tmp_path: Path) -> None:
    assert bench("new", "model", "messy", "--kind", "command").returncode == 0
    script = tmp_path / "messy" / "generate.py"
    script.write_text(script.read_text() + "    Path('left-over.txt').write_text('x')\n")
    done = bench("check", "messy/")
    assert done.returncode == 1
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAIL")]
    assert len(failed) == 1
    assert "files of the submission changed: 'left-over.txt'" in failed[0]


def test_everything_that_was_said_is_harmless(three_ways: Workspace) -> None:
    for said in three_ways.said.values():
        assert is_harmless(said.stdout)
        assert is_harmless(said.stderr)
