"""Running a command: its end, its words, and how much it may write."""

import sys
from pathlib import Path

import pytest

from bench.engine.command import TAIL_CHARACTERS, CommandFailed, run_command
from bench.errors import InvalidOutput, MissingRequirement


def run(script: str, folder: Path, *, max_bytes: int = 10**6, max_files: int = 50) -> str:
    (folder / "out").mkdir(exist_ok=True)
    words = ["sh", "-c", script, "sh", str(folder / "out")]
    return run_command(
        words, folder=folder, watched=(folder / "out",), max_bytes=max_bytes, max_files=max_files
    )


def test_it_runs_in_its_folder_with_empty_input(tmp_path: Path) -> None:
    (tmp_path / "here").write_text("x")
    assert run('test -f here && test -z "$(cat)" && echo done > "$1/file"', tmp_path) == ""
    assert (tmp_path / "out" / "file").read_text() == "done\n"


def test_streams_go_to_ours_and_the_last_words_come_back(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    tail = run(r"printf 'out\377'; printf 'first\n\n\033[1mlast\tword\n' >&2", tmp_path)
    assert tail == "; it wrote last:\nfirst\n�[1mlast    word"
    printed = capfdbinary.readouterr()
    assert printed.out == b"out\xff"
    assert printed.err == b"first\n\n\x1b[1mlast\tword\n"


def test_of_many_words_the_last_are_kept(tmp_path: Path) -> None:
    tail = run("i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo line $i >&2; done", tmp_path)
    assert tail.endswith("line 2999\nline 3000")
    assert len(tail) < TAIL_CHARACTERS + 50


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo why >&2; exit 7", "with exit code 7; it wrote last:\nwhy"),
        ("kill -KILL $$", "by SIGKILL"),
        ("kill -TERM $$", "by SIGTERM"),
    ],
)
def test_a_bad_end_is_told(tmp_path: Path, script: str, words: str) -> None:
    with pytest.raises(CommandFailed) as caught:
        run(script, tmp_path)
    assert str(caught.value) == f"the command ended {words}"


def test_a_program_that_cannot_be_started_is_missing(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no program")
    for words in (["no-such-program"], ["./text"], ["./gone"]):
        with pytest.raises(MissingRequirement, match="cannot be started"):
            run_command(words, folder=tmp_path, watched=(), max_bytes=1)
    (tmp_path / "text").chmod(0o755)
    with pytest.raises(CommandFailed, match="cannot be started"):  # no first line says how
        run_command(["./text"], folder=tmp_path, watched=(), max_bytes=1)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ('i=0; while [ $i -lt 60 ]; do i=$((i+1)); : > "$1/$i"; done', "more than 50 files"),
        ('mkdir "$1/a" "$1/b"; cd "$1"; for f in a b; do head -c 600000 /dev/zero > $f/x; done', "over 1000000 bytes"),
        ('while :; do head -c 90000 /dev/zero >> "$1/$(date +%s%N)"; done', "the limit for one artifact"),
    ],
)  # fmt: skip
def test_writing_without_end_is_stopped(tmp_path: Path, script: str, words: str) -> None:
    with pytest.raises(InvalidOutput, match=words):
        run(script, tmp_path)


def test_no_single_file_passes_the_limit(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed):
        run('head -c 2000000 /dev/zero > "$1/x"', tmp_path)
    assert (tmp_path / "out" / "x").stat().st_size <= 10**6


def test_a_left_over_process_does_not_hold_us_up(tmp_path: Path) -> None:
    assert run("sleep 4 & echo quick >&2", tmp_path) == "; it wrote last:\nquick"


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal is Linux's")
def test_the_command_inherits_no_open_files(tmp_path: Path) -> None:
    tail = run("ls -l /proc/self/fd | grep -c '/\\|:\\[' >&2", tmp_path)
    assert int(tail.split()[-1]) <= 5  # three streams, the folder that ls reads, and its own
