"""`bench tab`: two files, a readable report, a page, JSON; faults as one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from bench.cli.app import app
from bench.errors import UsageError

ESC = "\x1b]0;evil\x07"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for name in ("real", "made", "held"):
        x = rng.standard_normal(80)
        frame = pd.DataFrame(
            {"x": x.round(3), f"g{ESC}<b>": np.where(x > 0, "up", "down"), "k": rng.integers(0, 3, 80)}
        )
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        frame.to_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


def run(*words: object) -> str:
    result = CliRunner().invoke(
        app, ["tab", *map(str, words)], catch_exceptions=False, env={"COLUMNS": "200"}
    )
    assert result.exit_code == 0, result.output
    return result.output


def test_score_prints_every_metric_and_what_did_not_run(files: Path) -> None:
    page = files / "r.html"
    shown = run("score", files / "real.csv", files / "made.csv", "--metrics", "light", "--html", page)
    assert "shape_na" in shown
    assert "not run: needs holdout" in shown
    assert ESC not in shown
    assert "&lt;b&gt;" in page.read_text("utf-8")


def test_score_reads_both_formats_alike_and_prints_json(files: Path) -> None:
    found = [
        json.loads(
            run("score", files / f"real.{a}", files / f"made.{b}", "--holdout", files / f"held.{a}",
                "--metrics", "light", "--target", "k", "--json")
        )
        for a, b in (("csv", "csv"), ("parquet", "parquet"), ("csv", "parquet"))
    ]  # fmt: skip
    assert found[0] == found[1] == found[2]
    assert found[0]["rows"] == {"real": 80, "synthetic": 80, "holdout": 80}


def test_profile_names_kinds_gaps_and_the_task(files: Path) -> None:
    shown = run("profile", files / "real.csv", "--target", "k")
    assert "80 rows, 0 of them repeat an earlier one, target k (multiclass)" in shown
    assert "categorical" in shown
    assert ESC not in shown
    columns = {c["name"]: c for c in json.loads(run("profile", files / "real.csv", "--json"))["columns"]}
    assert columns["x"]["kind"] == "numeric"
    assert columns["k"]["distinct"] == 3


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("score", "real.csv", "absent.csv"), "there is no file"),
        (("score", "real.csv", "made.csv", "--target", "nothing"), "cannot be the target"),
        (("score", "real.csv", "made.csv", "--metrics", "shap"), "no tabular metric is called"),
        (("score", "real.csv", "short.csv"), "column 'k': is missing"),
        (("profile", "notes.txt"), r"neither \.csv nor \.parquet"),
        (("profile", "broken.parquet"), "can't be read"),
    ],
)
def test_faults_are_told_in_one_line(files: Path, words: tuple[str, ...], message: str) -> None:
    pd.read_csv(files / "made.csv").drop(columns="k").to_csv(files / "short.csv", index=False)
    (files / "notes.txt").write_text("x")
    (files / "broken.parquet").write_text("x")
    paths = [str(files / w) if "." in w else w for w in words]
    with pytest.raises(UsageError, match=message):
        CliRunner().invoke(app, ["tab", *paths], catch_exceptions=False)
