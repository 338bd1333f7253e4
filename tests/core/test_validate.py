"""A task's output is stored only if it is what the task declared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from bench.errors import InvalidOutput
from bench.spec import Exhibit, Measure, MetricInfo, SizePlan, TaskInfo, TaskOutput
from bench.validate import check_output

INFO = TaskInfo(
    name="selftest.any",
    title="Any",
    version=1,
    scoring=1,
    entry="nowhere:Nothing",
    sizes={"tiny": SizePlan(datasets=("d",), repeats=1)},
    metrics=(
        MetricInfo(name="acc", direction="max", lo=0.0, hi=1.0, kind="sample_mean", primary=True),
        MetricInfo(name="loss", direction="min", lo=0.0),
    ),
    summary="",
    protocol="own",
)
GOOD = TaskOutput(metrics={"acc": 0.5, "loss": 2.0})


def check(tmp_path: Path, **fields: Any) -> Any:
    return check_output(replace(GOOD, **fields), INFO, tmp_path)


def test_rows_come_in_the_declared_order(tmp_path: Path) -> None:
    rows = check(
        tmp_path,
        metrics={
            "loss": Measure(value=2, ci_low=1, ci_high=np.float32(3), ci_method="bootstrap", n=7),
            "acc": 0.5,
        },
        facets={"k=3": {"loss": torch.tensor(1.5)}, "encoder=CNN (fashion),k=10": {"acc": 0.5}},
    )
    assert [(row.metric, row.facet) for row in rows] == [
        ("acc", ""),
        ("loss", ""),
        ("loss", "k=3"),
        ("acc", "encoder=CNN (fashion),k=10"),
    ]
    assert rows[1].measure == Measure(value=2.0, ci_low=1.0, ci_high=3.0, ci_method="bootstrap", n=7)
    numbers = [row.measure.value for row in rows]
    assert numbers == [0.5, 2.0, 1.5, 0.5]
    assert {type(number) for number in numbers} == {float}


def test_not_measurable_needs_a_reason(tmp_path: Path) -> None:
    rows = check(tmp_path, metrics={"acc": Measure(value=None, reason="no label"), "loss": 1.0})
    assert rows[0].measure == Measure(value=None, reason="no label")
    with pytest.raises(InvalidOutput, match="no value and no reason"):
        check(tmp_path, metrics={"acc": Measure(value=None), "loss": 1.0})


@pytest.mark.parametrize(
    ("metrics", "cause"),
    [
        ({"acc": 0.5}, "'loss' is declared but was not returned"),
        ({"acc": 0.5, "loss": 1.0, "more": 1.0}, "'more' was returned but is not declared"),
        ({"acc": float("nan"), "loss": 1.0}, "acc is nan"),
        ({"acc": 0.5, "loss": float("inf")}, "loss is inf"),
        ({"acc": 1.0 + 3e-9, "loss": 1.0}, r"acc is 1.000000003, outside its range \[0, 1\]"),
        ({"acc": -0.1, "loss": 1.0}, "acc is -0.1, outside"),
        ({"acc": "0.5", "loss": 1.0}, "acc is the text '0.5'"),
        ({"acc": [0.5, 0.5], "loss": 1.0}, "acc is a list"),
        ({"acc": None, "loss": 1.0}, "acc is a NoneType"),
        ({"acc": 10**400, "loss": 1.0}, "acc is a int"),
        ({"acc": torch.ones(2), "loss": 1.0}, "acc is a Tensor"),
        ({"acc": Measure(value=0.5, ci_low=float("nan")), "loss": 1.0}, "interval of metric acc is nan"),
        ({"acc": Measure(value=0.5, ci_low=0.9, ci_high=0.1), "loss": 1.0}, "swapped"),
        ({"acc": Measure(value=0.5, n=-1), "loss": 1.0}, "n of metric acc is -1"),
        ({"acc": Measure(value=0.5, n=1.5), "loss": 1.0}, "n of metric acc is 1.5"),  # type: ignore[arg-type]
    ],
)
def test_wrong_values_are_named(tmp_path: Path, metrics: dict[str, Any], cause: str) -> None:
    with pytest.raises(InvalidOutput, match=cause):
        check(tmp_path, metrics=metrics)


def test_rounding_at_the_edge_is_forgiven(tmp_path: Path) -> None:
    assert check(tmp_path, metrics={"acc": 1.0 + 5e-10, "loss": -5e-10})


def test_facets_use_declared_names(tmp_path: Path) -> None:
    for facets, cause in (
        ({"k=3": {"other": 1.0}}, "not declared"),
        *(
            ({facet: {"acc": 1.0}}, "must read 'name=value'")
            for facet in ("", "k", "k=", "=3", "k=3,", "K=3", "k=a\nb")
        ),
        ({"k=3": {"acc": 2.0}}, r"acc \(k=3\) is 2.0, outside"),
    ):
        with pytest.raises(InvalidOutput, match=cause):
            check(tmp_path, facets=facets)


def test_output_of_another_type(tmp_path: Path) -> None:
    with pytest.raises(InvalidOutput, match="score returned a dict"):
        check_output({"acc": 1.0}, INFO, tmp_path)


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=50))
def test_mean_of_the_samples(values: list[float]) -> None:
    samples = np.array(values, dtype=np.float32)
    mean = float(samples.mean(dtype=np.float64))
    output = TaskOutput(
        metrics={"acc": mean, "loss": 0.0},
        samples={"acc": samples},
        sample_ids=np.arange(len(values)),
    )
    check_output(output, INFO, Path())
    off = replace(output, metrics={"acc": mean + (1e-5 if mean < 0.5 else -1e-5), "loss": 0.0})
    with pytest.raises(InvalidOutput, match="mean of its samples"):
        check_output(off, INFO, Path())


@pytest.mark.parametrize(
    ("samples", "ids", "cause"),
    [
        ({"acc": [0.5, 0.5]}, None, "without sample_ids"),
        ({"acc": [0.5, 0.5]}, [1, 1], "1 are repeated"),
        ({"acc": [0.5, 0.5]}, ["b", "b"], "1 are repeated"),
        ({"acc": [0.5, 0.5]}, [0.1, 0.2], "whole numbers or strings"),
        ({"acc": [0.5]}, [0, 1], "one for each sample id"),
        ({"acc": [0.5, float("nan")]}, [0, 1], "not all finite"),
        ({"other": [0.5, 0.5]}, [0, 1], "not declared"),
        ({"acc": ["a", "b"]}, [0, 1], "numbers of shape"),
        ({"acc": []}, np.array([], dtype=np.int64), "no sample to be the mean of"),
    ],
)
def test_wrong_samples(tmp_path: Path, samples: dict[str, Any], ids: Any, cause: str) -> None:
    arrays = {name: np.array(values) for name, values in samples.items()}
    with pytest.raises(InvalidOutput, match=cause):
        check(tmp_path, samples=arrays, sample_ids=None if ids is None else np.array(ids))


def test_sample_ids_may_be_unordered_strings(tmp_path: Path) -> None:
    check(tmp_path, samples={"acc": np.array([0.0, 1.0])}, sample_ids=np.array(["z", "a"]))


def test_flags_are_short_words(tmp_path: Path) -> None:
    check(tmp_path, flags=("contraction", "k=3"))
    for flag in ("", "x" * 41, "<b>", "a\x1b[31m", 3):
        with pytest.raises(InvalidOutput, match="not a short word"):
            check(tmp_path, flags=(flag,))


def test_exhibits_are_plain_files_inside(tmp_path: Path) -> None:
    folder = tmp_path / "exhibits"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.png").write_bytes(b"png")
    (folder / "link.png").symlink_to(folder / "deep" / "a.png")
    (folder / "away").symlink_to(tmp_path)
    (tmp_path / "outside.png").write_bytes(b"png")
    good = Exhibit(name="samples", kind="image", file="deep/a.png", caption="Samples")
    check(folder, exhibits=(good,))
    for bad, cause in (
        (replace(good, file="none.png"), "no plain file"),
        (replace(good, file="deep"), "no plain file"),
        (replace(good, file="link.png"), "no plain file"),
        (replace(good, file="away/outside.png"), "through a link"),
        (replace(good, file="../outside.png"), "outside its folder"),
        (replace(good, file="/etc/passwd"), "outside its folder"),
        (replace(good, file=""), "outside its folder"),
        (replace(good, kind="movie"), "of kind 'movie'"),  # type: ignore[arg-type]
        (replace(good, name="a b"), "unique name"),
    ):
        with pytest.raises(InvalidOutput, match=cause):
            check(folder, exhibits=(bad,))
    with pytest.raises(InvalidOutput, match="unique name"):
        check(folder, exhibits=(good, good))
