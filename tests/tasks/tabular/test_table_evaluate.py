"""`evaluate`: two frames are enough; ugly ones, too."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bench import tabular
from bench.errors import UsageError
from bench.metrics.tabular.registry import METRICS
from bench.tabular import Report, SchemaError, TableSchema, evaluate

from .conftest import load_dataset

HOSTILE = "</style><script>alert(1)</script>"


def frame(rows: int = 150, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(rows)
    return pd.DataFrame(
        {
            "x": x,
            "y": (x + 0.3 * rng.standard_normal(rows)).round(2),
            "g": np.where(x > 0, "up", "down"),
            "k": rng.integers(0, 3, rows),
        }
    )


def test_without_fresh_rows_what_needs_them_says_so() -> None:
    report = evaluate(frame(), frame(seed=1))
    assert list(report) == list(METRICS)
    for name, score in report.items():
        needs = sorted(METRICS[name].needs)
        if needs:
            assert score.value is None
            assert score.reason == f"not run: needs {' and '.join(needs)}"
    assert report["shape_na"].value == pytest.approx(0.9, abs=0.08)
    detail = report["trend_all"].detail
    assert len(detail) == 6
    assert detail["value"].mean() == pytest.approx(report["trend_all"].value)


def test_with_fresh_rows_and_a_target_everything_but_the_truth_runs() -> None:
    real, fresh, test = frame(80), frame(80, seed=2), frame(80, seed=3)
    schema = TableSchema.infer(pd.concat([real, fresh, test]), "g")
    copied = evaluate(real, real, holdout=fresh, test=test, schema=schema, seed=3)
    left = {name for name, score in copied.items() if score.reason.startswith("not run")}
    assert left == {"ci_fidelity", "ci_effect", "mechanism", "direction"}
    assert copied["exact_copies"].value == 1
    assert copied["structure_skill"].value == 1
    assert copied["mia_auc"].interval is not None
    assert "memorising" in copied.badges


def test_the_same_arguments_give_the_same_values() -> None:
    tables = [
        evaluate(frame(), frame(seed=1), holdout=frame(seed=2), metrics="privacy").table() for _ in range(2)
    ]
    pd.testing.assert_frame_equal(*tables)


def test_known_truth_is_used() -> None:
    data = load_dataset("scm_lin10")
    rows = data.frame
    report = evaluate(
        rows[:300],
        rows[300:600],
        holdout=rows[600:900],
        schema=data.schema,
        truth=data.truth,
        metrics=["ci_fidelity", "mechanism", "direction"],
    )
    assert report["ci_fidelity"].value == pytest.approx(1, abs=0.1)
    assert report["mechanism"].value == pytest.approx(1, abs=0.1)
    assert report["direction"].reason.startswith("not run: needs a linear model")


@pytest.mark.parametrize("choice", ["light", "privacy", "shape", ["shape", "mmd2"]])
def test_metrics_can_be_chosen(choice: str | list[str]) -> None:
    named = [choice] if isinstance(choice, str) else choice
    wanted = [n for n, spec in METRICS.items() if n in named or {spec.cost, spec.dimension} & set(named)]
    assert list(evaluate(frame(60), frame(60, 1), metrics=choice)) == wanted


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(UsageError, match="no tabular metric is called 'shap'"):
        evaluate(frame(), frame(), metrics=["shap"])
    with pytest.raises(SchemaError, match="column 'k': is missing"):
        evaluate(frame(), frame().drop(columns="k"))
    with pytest.raises(SchemaError, match="no rows"):
        evaluate(frame(), frame()[:0])
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        _ = tabular.evaluat


def test_ids_and_odd_values_are_reported() -> None:
    real = frame().assign(name=[f"p{i}" for i in range(150)])
    made = real.assign(g="sideways", x=["1.5"] * 75 + ["bad"] * 75)
    report = evaluate(real, made, metrics="light")
    remarks = {column: remark for column, remark, _ in report.remarks}
    assert remarks["name"] == "identifies rows; not measured"
    assert "unseen" in remarks["g"] or "constant" in remarks["g"]
    assert report["category_adherence"].value == 0.5
    assert {"numbers-as-text", "unreadable-values"} <= set(report.badges)


def test_names_of_any_kind_are_shown_as_text_only(tmp_path: Path) -> None:
    real = frame(60)
    real.columns = pd.Index([HOSTILE, 7, "x" * 300, HOSTILE], dtype=object)
    made = real.copy()
    made.iloc[:, 2] = HOSTILE
    report = evaluate(real, made, metrics="light")
    assert report["shape_na"].detail["column"].tolist() == [HOSTILE, "7", "x" * 300, f"{HOSTILE}.2"]
    report.to_html(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert page.count("</style>") == 1


def test_reports_are_tables_files_and_json(tmp_path: Path) -> None:
    report = evaluate(frame(), frame(seed=1), holdout=frame(seed=2), metrics="light")
    assert isinstance(report, Report)
    report.to_parquet(tmp_path / "r.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "r.parquet"), report.table(), check_dtype=False)
    data = json.loads(json.dumps(report.to_dict(), allow_nan=False))
    assert data["rows"] == {"real": 150, "synthetic": 150, "holdout": 150}
    assert {m["metric"] for m in data["metrics"]} == set(report)


@pytest.mark.parametrize(
    ("real", "made"),
    [
        (pd.DataFrame({"x": [1.0]}), pd.DataFrame({"x": [2.0]})),
        (pd.DataFrame({"g": ["a"] * 30}), pd.DataFrame({"g": ["b"] * 30})),
        (
            pd.DataFrame({"x": [np.nan] * 30, "g": [None] * 30}),
            pd.DataFrame({"x": [1.0] * 30, "g": ["a"] * 30}),
        ),
        (pd.DataFrame({"t": pd.date_range("2020", periods=30), "x": [2**62 + i for i in range(30)]}),) * 2,
    ],
    ids=["one row", "constant", "all missing", "times and large numbers"],
)
def test_tables_without_much_to_measure(real: pd.DataFrame, made: pd.DataFrame) -> None:
    schema = TableSchema.infer(real, kinds={"x": "integer"} if "t" in real else None)
    report = evaluate(real, made, holdout=real, test=real, schema=schema)
    for score in report.values():
        assert score.value is None or np.isfinite(score.value)
        assert score.value is not None or score.reason


def test_all_columns_are_ids() -> None:
    real = pd.DataFrame({"name": [f"p{i}" for i in range(80)]})
    with pytest.raises(SchemaError, match="every column is an id"):
        evaluate(real, real)
