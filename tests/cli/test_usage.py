"""Bad input: exit code 2 or 3 before any work, with a message that names the input and the remedy."""

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Bench

RUN = ("run", "--suite", "selftest", "--size", "tiny")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("run", "--suite", "imagez"), ("suite 'imagez' is unknown", "images")),
        ((*RUN, "--model", "selftest-unifrm"), ("'selftest-unifrm' is unknown", "selftest-uniform")),
        ((*RUN, "--dataset", "nothing*"), ("dataset 'nothing*' matches nothing",)),
        ((*RUN, "--limit", "0"), ("--limit", "greater than or equal to 1")),
        ((*RUN, "--limit", "-3"), ("--limit",)),
        ((*RUN, "--limit", "many"), ("--limit", "valid integer")),
        ((*RUN, "--workers", "none"), ("--workers 'none'", "positive number or auto")),
        ((*RUN, "--device", "cuda"), ("no CUDA GPU", "--device auto or cpu")),
        ((*RUN, "--device", "tpu"), ("device 'tpu' is unknown",)),
        ((*RUN, "--size", "huge"), ("--size", "tiny")),
        ((*RUN, "--frobnicate"), ("--frobnicate",)),
        ((*RUN, "--model", "missing.py:Model"), ("missing.py does not exist",)),
        ((*RUN, "--model", "no/such/folder"), ("no/such/folder is neither a file",)),
        (("describe", "digts"), ("'digts' is unknown", "digits")),
        (("frobnicate",), ("frobnicate",)),
        (("status",), ("results",)),
        (("verify",), ("results",)),
        (("serve",), ("holds no site", "bench site")),
        (("new", "model", "Bad Name"), ("'B'",)),
        (("new", "model", "fine", "--family", "nofamily"), ("no template for family 'nofamily'", "images")),
    ],
)
def test_usage_errors(bench: Bench, tmp_path: Path, args: tuple[str, ...], words: tuple[str, ...]) -> None:
    done = bench(*args)
    assert done.returncode == 2, done.stderr
    for word in words:
        assert word in done.stderr
    assert "Traceback" not in done.stderr
    assert not list((tmp_path / "results").glob("runs/*"))


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def (:\n", ("mine.py:1: syntax error",)),
        ("x = 1\n", ("no class 'Mine'",)),
        ("class Mine: pass\n", ("not an Adapter",)),
        ("\n\nraise RuntimeError('broken')\nclass Mine: pass\n", ("mine.py:3", "RuntimeError: broken")),
        ("from bench.spec import Adapter\nclass Mine(Adapter): pass\n", ("Mine.info is missing",)),
        ("import os\nos._exit(7)\nclass Mine: pass\n", ("ended the process (exit code 7)",)),
        ("import sys\nsys.exit('out')\nclass Mine: pass\n", ("mine.py:2", "SystemExit")),
    ],
)
def test_a_broken_adapter_file_is_named_with_its_line(
    bench: Bench, tmp_path: Path, source: str, words: tuple[str, ...]
) -> None:
    (tmp_path / "mine.py").write_text(source)
    done = bench(*RUN, "--model", "mine.py:Mine")
    assert done.returncode == 2, done.stderr
    for word in words:
        assert word in done.stderr


@pytest.mark.parametrize(
    ("card", "words"),
    [
        ("name = 'm'\nversoin = '1'\n", ("submission.toml:2", "'versoin'", "version")),
        ("name = \n", ("submission.toml", "line 1")),
        ("name = 'm'\nversion = '1'\nfamilies = ['selftest']\nentry = 'gone.py:M'\n", ("gone.py does not exist",)),
        ("name = 'M'\nversion = '1'\nfamilies = ['selftest']\nentry = 'mine.py:Mine'\n", ("'M'",)),
        ("name = 'm'\nfamilies = ['selftest']\nentry = 'mine.py:Mine'\n", ("'version'",)),
        ("name = 'm'\nversion = 1\nfamilies = ['selftest']\nentry = 'mine.py:Mine'\n", ("'version' has",)),
        ("name = 'm'\nkind = 'magic'\nentry = 'mine.py:Mine'\n", ("kind 'magic'",)),
    ],
)  # fmt: skip
def test_a_broken_card_is_named(bench: Bench, tmp_path: Path, card: str, words: tuple[str, ...]) -> None:
    folder = tmp_path / "sub"
    folder.mkdir()
    (folder / "mine.py").write_text("class Mine: pass\n")
    (folder / "submission.toml").write_text(card)
    done = bench(*RUN, "--model", "sub/")
    assert done.returncode == 2, done.stderr
    for word in words:
        assert word in done.stderr


def test_the_config_file_gives_defaults_and_refuses_unknown_keys(bench: Bench, tmp_path: Path) -> None:
    config = tmp_path / "bench.toml"
    config.write_text(
        'suite = "selftest"\nsize = "tiny"\nmodel = ["selftest-uniform"]\nrepeats = 3\nout = "other"\n'
    )
    done = bench("run", "--config", "bench.toml", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "3 to run" in done.stdout
    assert "other" in done.stdout
    assert "1 to run" in bench("run", "--config", "bench.toml", "--repeats", 1, "--dry-run").stdout
    assert "full" in bench("run", "--config", "bench.toml", "--dry-run", BENCH_SIZE="full").stdout
    config.write_text('suite = "selftest"\nrepaets = 3\n')
    done = bench("run", "--config", "bench.toml", "--dry-run")
    assert done.returncode == 2
    assert "bench.toml:2" in done.stderr
    assert "repeats" in done.stderr
    assert bench("run", "--config", "none.toml").returncode == 2


def test_a_results_path_that_is_a_file_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "results").write_text("mine")
    done = bench(*RUN, "--model", "selftest-uniform")
    assert done.returncode == 3
    assert "results" in done.stderr
    assert (tmp_path / "results").read_text() == "mine"


def test_a_store_of_a_newer_format_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "store.json").write_text('{"format": 99}')
    done = bench(*RUN, "--model", "selftest-uniform")
    assert done.returncode == 2
    assert "99" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_results_folder_that_cannot_be_written_is_refused(bench: Bench, tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        assert bench(*RUN, "--model", "selftest-uniform").returncode == 3
    finally:
        tmp_path.chmod(0o755)


def test_the_device_auto_falls_back_to_the_cpu(bench: Bench) -> None:
    assert bench(*RUN, "--model", "selftest-uniform", "--device", "auto", "--dry-run").returncode == 0
