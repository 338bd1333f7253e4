"""What a card may say, and how a fault in one is named."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.errors import UsageError
from bench.registry import Registry
from bench.spec import Unit
from bench.submissions import add_folder, from_folder
from bench.submissions.card import clean_text
from bench.submissions.command import PLACEHOLDERS, fault_in, fill, missing_program
from bench.submissions.units import NO_ARTIFACT, for_unit
from tests.submissions.conftest import ANSI, RTL, artifact_table, command_card, seed_of, write_submission

CLASS = 'kind = "class"\nentry = "mine.py:Mine"\n'
COMMAND = command_card("sh", "-c", "true")


def card_fault(folder: Path, card: str, **files: str) -> str:
    """The message for a card; whatever it quotes, one warning line shows it harmlessly."""
    write_submission(folder / "mine", card, mine__py="class Mine: pass\n", **files)
    with pytest.raises(UsageError) as caught:
        from_folder(folder / "mine")
    registry = Registry()
    add_folder(registry, folder)
    assert registry.models == {}
    assert len(registry.warnings) == 1
    return str(caught.value)


@pytest.mark.parametrize(
    ("more", "line", "words"),
    [
        ('title = "\\u001b[31mred"\n', 6, "'title' has the character U+001B"),
        ('summary = "a\\u202eb"\n', 6, "U+202E (RIGHT-TO-LEFT OVERRIDE) at place 2"),
        (f'summary = "{"x" * 10_000}"\n', 6, "has 10000 characters; at most 1000"),
        ('tags = ["fine", "\\u0007"]\n', 6, "'tags' has the character U+0007"),
        ('paper = "\\u0000"\n', 6, "U+0000"),
        (f"tags = {['t'] * 51}\n", 6, "51 items; at most 50"),
        ("tags = [1]\n", 6, "must be a list of strings"),
        ('requires = ["os.path"]\n', 6, "expected a top-level module"),
        ('programs = ["/bin/sh"]\n', 6, "expected a program's name"),
        ("n_parameters = -1\n", 6, "'n_parameters' must be in"),
        ("n_parameters = true\n", 6, "'n_parameters' has the wrong type"),
        ("[params]\nwhen = 2020-01-01\n", 7, "'when' is a date"),
        ("[params]\nx = nan\n", 7, "use a finite number"),
        ("[params]\nx = 9223372036854775808\n", 7, "beyond 64 bits"),
        ('[params]\nx = "\\u001b"\n', 7, "U+001B"),
        ('[params]\n"not a name" = 1\n', 7, "not the name of an argument"),
        ("[params]\nx = [1]\n", 7, "'x' is a list"),
        ("[resources]\nmemory = 3\n", 7, "'memory' is unknown; did you mean memory_mb"),
        ('[resources]\nmemory_mb = "much"\n', 7, "must be a number above 0"),
        ("[resources]\ntimeout_s = inf\n", 7, "must be a number above 0"),
        ("[resources]\nmemory_mb = 0.5\n", 7, "whole number"),
    ],
)
def test_faults_are_named_with_their_line(tmp_path: Path, more: str, line: int, words: str) -> None:
    message = card_fault(tmp_path, CLASS + more)
    assert f"submission.toml:{line}: " in message
    assert words in message
    assert message.isprintable()
    assert len(message) < 500


@pytest.mark.parametrize(
    ("card", "words"),
    [
        ('kind = "magic"\n', "kind 'magic' is not known; use 'class', 'command', 'artifacts'"),
        (CLASS + "command = ['x']\n", "'command' belongs to kind 'command'; this card has 'class'"),
        (COMMAND + "[[units]]\n", "'units' belongs to kind 'artifacts'"),
        ('kind = "class"\nentry = "../../etc/passwd:Mine"\n', ""),
        (f'kind = "class"\nentry = "{"x" * 5_000}.py:Mine"\n', ""),
        ('kind = "command"\ncommand = "python3 gen.py"\n', "must be a list of words"),
        ('kind = "command"\ncommand = []\n', "must be a list of words"),
        ('kind = "command"\ncommand = ["sh", 3]\n', "must be a list of words"),
        ('kind = "command"\n', "must be a list of words"),
        ('kind = "command"\ncommand = ["{input}"]\n', "takes no placeholder"),
        (
            'kind = "command"\ncommand = [\n  "sh",\n  "{inptu}",\n]\n',
            "submission.toml:7: the word '{inptu}'",
        ),
        ('kind = "command"\ncommand = ["awk", "{print}"]\n', "unknown placeholder {print}"),
        ('kind = "command"\ncommand = ["awk", "{"]\n', "unpaired braces"),
        ('kind = "command"\ncommand = ["sh", "{seed!r}"]\n', "unknown placeholder"),
        ('kind = "command"\ncommand = ["sh", "{seed:x}"]\n', "unknown placeholder"),
        ('kind = "command"\ncommand = ["sh", "{n.real}"]\n', "unknown placeholder"),
        ('kind = "artifacts"\n', "at least one [[units]] table"),
        ('kind = "artifacts"\nunits = [1]\n', "must be [[units]] tables"),
        ("kind = \n", "line 4"),
        ('kind = "artifacts"\nunits = ' + "[" * 5_000 + "]" * 5_000 + "\n", ""),
    ],
)
def test_faults_of_each_kind_are_named(tmp_path: Path, card: str, words: str) -> None:
    assert words in card_fault(tmp_path, card)


def test_a_card_that_is_no_text_is_refused(tmp_path: Path) -> None:
    folder = write_submission(tmp_path / "mine", COMMAND)
    (folder / "submission.toml").write_bytes(b'name = "\xff"\n')
    with pytest.raises(UsageError, match="not UTF-8 at byte 8"):
        from_folder(folder)


def test_names_of_families_are_checked(tmp_path: Path) -> None:
    folder = write_submission(tmp_path / "mine", COMMAND)
    card = folder / "submission.toml"
    card.write_text(card.read_text().replace('["images"]', '["<b>"]'))
    with pytest.raises(UsageError, match="family name '<b>'"):
        from_folder(folder)


@pytest.mark.parametrize("text", ["plain", "Größe – 大小 🙂", "می‌خواهم", "a\n b\t c", ""])
def test_visible_text_of_any_script_is_taken(text: str) -> None:
    assert clean_text(text) == (" ".join(text.split()), "")


@pytest.mark.parametrize("text", [ANSI, RTL, "\ud800", "a\u2066b", "\x7f", "\ue000"])
def test_invisible_text_is_refused(text: str) -> None:
    line, fault = clean_text(text)
    assert line == ""
    assert fault.isprintable()


@given(st.text(max_size=50))
def test_clean_text_never_lets_a_terminal_command_through(text: str) -> None:
    line, fault = clean_text(text)
    assert all(c.isprintable() or c in "\u200c\u200d" for c in line)
    assert bool(fault) or line == " ".join(text.split())


@given(st.dictionaries(st.sampled_from(sorted(PLACEHOLDERS)), st.text(max_size=20)), st.text(max_size=20))
def test_values_are_put_in_as_they_are(values: dict[str, str], word: str) -> None:
    full = {name: values.get(name, "") for name in PLACEHOLDERS}
    escaped = word.replace("{", "{{").replace("}", "}}")
    template = escaped + "{input}-{output}" + escaped
    if "\0" not in word:
        assert fault_in(template) == ""
    assert fill([template], full) == [f"{word}{full['input']}-{full['output']}{word}"]


def test_the_missing_program_is_found(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("#!/bin/sh\n")
    assert missing_program(["./run.sh"], ["sh"], tmp_path) == "./run.sh"  # it may not be run
    (tmp_path / "run.sh").chmod(0o755)
    assert missing_program(["./run.sh"], ["sh"], tmp_path) == ""
    assert missing_program(["sh"], ["sh", "no-such-program"], tmp_path) == "no-such-program"


def artifacts(folder: Path, table: str) -> Path:
    (folder / "mine" / "a").mkdir(parents=True)
    (folder / "mine" / "a" / "x").write_bytes(b"x")
    head = 'name = "mine"\nversion = "1"\nfamilies = ["images"]\nkind = "artifacts"\n'
    (folder / "mine" / "submission.toml").write_text(head + table)
    return folder / "mine"


def table(**changes: object) -> str:
    fields = {"task": "images.fidelity", "dataset": "digits", "size": "tiny", "repeat": 0, "seed": 1, "path": "a",
              "sha256": "a" * 64, **changes}  # fmt: skip
    return "\n[[units]]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in fields.items() if v is not None)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (table(path="../a"), 6, "name a folder inside the submission"),
        (table(path="/etc"), 6, "name a folder inside the submission"),
        (table(path=""), 6, "name a folder inside the submission"),
        (table(path=".hidden"), 6, "not copied"),
        (table(path="b"), 6, "there is no folder 'b'"),
        (table(sha256=""), 6, "'sha256' is empty; `bench seal"),
        (table(sha256="A" * 64), 6, "64 hexadecimal digits"),
        (table(seed="1"), 6, "'seed' must be a whole number"),
        (table(seed=True), 6, "'seed' must be a whole number"),
        (table(seed=-1), 6, "'repeat' and 'seed' are whole numbers"),
        (table(seed=None), 6, "'seed' must be"),
        (table(size="huge"), 6, "'size' is 'huge'; use tiny, small, full"),
        (table(task="<b>"), 6, "task name '<b>'"),
        (table(colour="red"), 6, "'colour' is unknown"),
        (table() + table(), 15, "the same unit or path as the [[units]] table 1"),
        (table() + table(repeat=1), 15, "the same unit or path as the [[units]] table 1"),
    ],
)
def test_faults_of_units_are_named_with_their_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        from_folder(artifacts(tmp_path, text))
    assert f"submission.toml:{line}: " in str(caught.value)
    assert words in str(caught.value)


def unit(repeat: int, seed: int, limit: int | None = None) -> Unit:
    return Unit(
        task="images.fidelity",
        dataset="digits",
        repeat=repeat,
        size="tiny",
        seed=seed,
        limit=limit,
        settings={},
    )


def test_each_unit_gets_its_own_artifact(tmp_path: Path) -> None:
    folder = artifacts(tmp_path, "")
    (folder / "b").mkdir()
    (folder / "b" / "x").write_bytes(b"y")
    card = folder / "submission.toml"
    more = (
        artifact_table(folder, "a")
        + artifact_table(folder, "b", repeat=1)
        + table(repeat=2, path="c", sha256="")
    )
    card.write_text(card.read_text() + more)
    model = from_folder(folder)
    sources = []
    for repeat in (0, 1):
        found, gap = for_unit(model, unit(repeat, seed_of(repeat)), suite_seed=0)
        assert gap == ""
        assert found.source.seed == seed_of(repeat)
        sources.append((found.source.file, found.source.artifact_sha256))
    assert [Path(file).name for file, _ in sources] == ["a", "b"]
    assert sources[0][1] != sources[1][1]
    for repeat in (2, 3):
        assert for_unit(model, unit(repeat, seed_of(repeat)), suite_seed=0)[1] == NO_ARTIFACT
    assert for_unit(model, unit(0, 5), suite_seed=1)[1] == NO_ARTIFACT
    assert for_unit(model, unit(0, 5), suite_seed=0)[0].source.seed == seed_of(
        0
    )  # the job says what is wrong
    assert "whole units" in for_unit(model, unit(0, seed_of(0), limit=3), suite_seed=0)[1]
