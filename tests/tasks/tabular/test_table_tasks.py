"""The four tasks end to end at size tiny: numbers, badges, exhibits, faults of adapters, the three ways."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bench.adapters.tabular import TabularGenerator
from bench.errors import InvalidOutput, MissingRequirement
from bench.metrics.tabular.registry import METRICS
from bench.models.tabular.collapsed import Collapsed
from bench.models.tabular.copy import Copy
from bench.models.tabular.independent import Independent
from bench.models.tabular.real_holdout import RealHoldout
from bench.spec import TaskOutput
from bench.tasks.tabular.artifact import CSV_FILE
from bench.tasks.tabular.scoring import COMPANIONS

from .conftest import INFOS, Bench, value

TASKS = tuple(name for name, info in INFOS.items() if "tiny" in info.sizes)


class Shaped(TabularGenerator):
    """Returns whatever `make` makes of the training table."""

    def __init__(self, make: Callable[[pd.DataFrame], Any], fit: Callable[[pd.DataFrame], Any] = len) -> None:
        self.make, self.on_fit = make, fit

    def fit(self, train: pd.DataFrame, schema: Any, **_: Any) -> None:
        self.train = train.copy()
        self.on_fit(train)

    def sample(self, n: int, *, seed: int) -> Any:
        made = self.make(self.train)
        return made.head(n) if n < len(self.train) and isinstance(made, pd.DataFrame) else made


def exhibit(output: TaskOutput, folder: Path, name: str) -> Any:
    found = next(e for e in output.exhibits if e.name == name)
    return json.loads((folder / found.file).read_text("utf-8"))


def test_the_declared_metrics_are_those_of_the_registry() -> None:
    declared = {m.name: m for info in INFOS.values() for m in info.metrics}
    assert set(declared) == set(METRICS) | set(COMPANIONS)
    for name, spec in METRICS.items():
        metric = declared[name]
        assert (metric.direction, metric.lo, metric.hi) == (spec.direction, spec.low, spec.high), name
        assert metric.target == spec.target, name
        assert metric.definition
        assert metric.cite


@pytest.mark.parametrize("task", TASKS)
def test_a_task_reports_all_it_declares_and_readable_details(bench: Bench, task: str) -> None:
    unit = bench.unit(task)
    artifact, context = bench.collect(Independent(), unit)
    output = bench.score(artifact, unit, context)
    measured = [m for m in output.metrics.values() if getattr(m, "value", None) is not None]
    assert len(measured) >= len(output.metrics) / 2
    assert output.exhibits
    for shown in output.exhibits:
        assert json.loads((context.exhibit_dir / shown.file).read_text("utf-8"))
    again = bench.score(artifact, unit, bench.context(unit))
    assert again.metrics == output.metrics, "scores are deterministic, and the cache changes none"


def test_fidelity_tells_shuffled_columns_from_real_rows(bench: Bench) -> None:
    shuffled, real = bench.run(Independent()), bench.run(RealHoldout())
    assert value(shuffled, "shape_na") > 0.9
    assert value(shuffled, "pair_tv") < value(real, "pair_tv") - 0.05
    assert value(shuffled, "c2st") < 0.3 < 0.7 < value(real, "c2st")
    assert real.notes["compared_with"] == "test"


def test_structure_tells_them_apart_too_and_knows_where_directions_are_unknowable(bench: Bench) -> None:
    unit = bench.unit("structure")
    shuffled, real = bench.run(Independent(), unit), bench.run(RealHoldout(), unit)
    assert value(shuffled, "structure_skill") < 0.2 < 0.7 < value(real, "structure_skill")
    assert value(shuffled, "dep_kept") < 0.3 < value(real, "dep_kept")
    assert value(shuffled, "mechanism") < value(real, "mechanism")
    assert shuffled.metrics["direction"].reason.startswith("not run: needs a linear model")  # type: ignore[union-attr]
    linear = bench.run(RealHoldout(), bench.unit("structure", dataset="scm_lingam10"))
    assert value(linear, "direction") > 0.5


def test_tabstruct_reports_what_it_declares_and_skips_oracles(bench: Bench) -> None:
    small = {"n": 90, "oracle_rows": 500, "predictors": "trees"}
    unit = bench.unit("tabstruct", dataset="scm_lin10", size="full", settings=small)
    shuffled, copied = bench.run(Independent(), unit), bench.run(Copy(), unit)
    assert value(copied, "global_utility") == pytest.approx(1)
    assert value(shuffled, "global_utility") < 0.9
    assert value(shuffled, "dep_kept") < value(copied, "dep_kept")
    assert (copied.notes["n"], copied.notes["n_holdout"], copied.notes["n_test"]) == (90, 10, 25)
    with pytest.raises(MissingRequirement, match="needs 90 held-out rows; this protocol keeps 10"):
        bench.collect(RealHoldout(), unit)


def test_privacy_catches_a_copy(bench: Bench) -> None:
    unit = bench.unit("privacy")
    artifact, context = bench.collect(Copy(), unit)
    copied, clean = bench.score(artifact, unit, context), bench.run(Independent(), unit)
    assert value(copied, "mia_auc") > 0.99
    assert value(copied, "exact_copies") > 0.99
    assert value(copied, "dcr_share") > 0.99 > 0.6 > value(clean, "dcr_share")
    assert value(clean, "mia_auc") < 0.65
    curve = exhibit(copied, context.exhibit_dir, "roc")
    assert curve["x"][0] == 0
    assert curve["x"][-1] == curve["y"][-1] == 1
    assert set(copied.facets) == {"attack=distance", "attack=density-1", "attack=density-5"}


def test_efficacy_of_a_copy_is_that_of_real_rows(bench: Bench) -> None:
    unit = bench.unit("efficacy")
    copied, shuffled = bench.run(Copy(), unit), bench.run(Independent(), unit)
    assert value(copied, "ml_gap") == pytest.approx(0, abs=0.02)
    assert value(shuffled, "ml_gap") < -0.15
    assert value(shuffled, "trtr") == value(copied, "trtr")


def test_details_hold_shares_of_columns_but_no_row(bench: Bench) -> None:
    unit = bench.unit()
    artifact, context = bench.collect(Copy(), unit)
    output = bench.score(artifact, unit, context)
    shares = pd.DataFrame(exhibit(output, context.exhibit_dir, "distributions"))
    sums = shares.groupby("column")[["real", "synthetic"]].sum()
    np.testing.assert_allclose(sums, 1, atol=1e-4)
    assert len(shares) < 8 * 20
    columns = pd.DataFrame(exhibit(output, context.exhibit_dir, "columns"))
    assert (columns["shape_na"] == 1).all()
    reasons = exhibit(output, context.exhibit_dir, "left-out")
    assert {"metric": "rare_coverage", "reason": "no real category is rare"} in reasons


def test_badges(bench: Bench) -> None:
    assert "memorising" in bench.run(Copy()).flags
    assert "collapsed" in bench.run(Collapsed()).flags
    rng = np.random.default_rng(0)
    moody = bench.run(Shaped(lambda t: t.sample(len(t), replace=True, random_state=int(rng.integers(2**31)))))
    assert "not-reproducible" in moody.flags
    texts = bench.run(Shaped(lambda t: t.assign(bill_length_mm=t["bill_length_mm"].astype(str))))
    assert "numbers-as-text" in texts.flags
    assert "unreadable-values" not in texts.flags
    endless = bench.run(Shaped(lambda t: t.assign(bill_depth_mm=np.inf)))
    assert "infinite-values" in endless.flags


def test_diverged_training_is_noted(bench: Bench) -> None:
    class Diverged(Copy):
        diverged = True  # type: ignore[assignment]

    assert "diverged" in bench.run(Diverged()).flags


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda t: t.drop(columns="island"), "column 'island': is missing"),
        (lambda t: t.assign(extra=1), "column 'extra': is not in the schema"),
        (lambda t: t[:-1], "119 rows instead of 120"),
        (lambda t: t[:0], "0 rows instead of 120"),
        (lambda t: t.to_numpy(), "ndarray instead of a pandas DataFrame"),
        (lambda t: None, "NoneType instead of a pandas DataFrame"),
        (lambda t: t.assign(island=[[1]] * len(t)), "'island' holds what no table may hold"),
    ],
)
def test_what_an_adapter_may_not_return(bench: Bench, make: Callable[..., Any], message: str) -> None:
    with pytest.raises(InvalidOutput, match=message):
        bench.collect(Shaped(make), bench.unit())


def test_an_adapter_may_not_change_its_training_rows(bench: Bench) -> None:
    def spoil(train: pd.DataFrame) -> None:
        train.iloc[0, 2] = -1.0

    with pytest.raises(InvalidOutput, match="fit changed the training table"):
        bench.collect(Shaped(lambda t: t, fit=spoil), bench.unit())
    with pytest.raises(InvalidOutput, match="has no method 'fit'"):
        bench.collect(object(), bench.unit())


ODD: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "columns in another order": lambda t: t[list(t.columns)[::-1]],
    "unseen level": lambda t: t.assign(species="Emperor"),
    "another type": lambda t: t.assign(year=t["year"].astype(str)),
    "trailing blanks": lambda t: t.assign(island=t["island"].astype(str) + " "),
    "all missing": lambda t: t.assign(bill_length_mm=np.nan, sex=None),
    "words among numbers": lambda t: t.assign(body_mass_g=["heavy"] * 60 + ["4000"] * 60),
    "infinite": lambda t: t.assign(bill_depth_mm=[np.inf, -np.inf] * (len(t) // 2)),
    "constant": lambda t: t.assign(**{c: t[c].iloc[0] for c in t.columns}),
    "one class": lambda t: t.assign(species=t["species"].iloc[0]),
    "nullable types": lambda t: t.convert_dtypes(),
    "duplicates": lambda t: pd.concat([t[:3]] * 40, ignore_index=True),
}


@pytest.mark.parametrize("what", ODD)
def test_odd_tables_are_scored_not_refused(bench: Bench, what: str) -> None:
    for task in ("fidelity", "efficacy"):
        output = bench.run(Shaped(ODD[what]), bench.unit(task))
        reasons = [m.reason for m in output.metrics.values() if getattr(m, "value", 0) is None]
        assert all(reasons)
        if task == "fidelity":
            if what in ("columns in another order", "nullable types"):
                assert value(output, "shape_na") == 1
            else:
                assert value(output, "shape_na") < 0.98
        if task == "efficacy" and what == "one class":
            assert value(output, "tstr") == 0.5


def test_a_constant_table_gets_the_worst_defined_values(bench: Bench) -> None:
    frozen = Shaped(ODD["constant"])
    fidelity = bench.run(frozen)
    assert "collapsed" in fidelity.flags
    assert value(fidelity, "pair_tv") < 0.4
    structure = bench.run(frozen, bench.unit("structure"))
    assert value(structure, "structure_skill") == pytest.approx(0, abs=0.01)


def test_a_command_and_artifacts_made_elsewhere(bench: Bench, tmp_path: Path) -> None:
    """What the scaffold writes runs on exported inputs; its CSV is scored like a table of our own."""
    unit = bench.unit()
    context = bench.context(unit)
    inputs, output = tmp_path / "in", context.artifact_dir
    inputs.mkdir()
    from bench.tasks.tabular.fidelity import TabularFidelity

    described = TabularFidelity().export_inputs(unit, context, inputs)
    (inputs / "unit.json").write_text(json.dumps(described))
    text = resources.files("bench.templates").joinpath("command_tabular.py.txt").read_text()
    script = tmp_path / "generate.py"
    script.write_text(Template(text).substitute(title="made"))
    subprocess.run([sys.executable, script, inputs, output, "7", str(described["n"])], check=True)
    assert (output / CSV_FILE).exists()
    artifact = bench.artifact(context)
    TabularFidelity().check_artifact(artifact, unit, context)
    found = bench.score(artifact, unit, context)
    assert value(found, "shape_na") > 0.85
    assert value(found, "decimals_adherence") == 1
    assert not found.flags
    short, other = bench.submitted(pd.read_csv(output / CSV_FILE)[:-1], unit)
    with pytest.raises(InvalidOutput, match="119 rows instead of 120"):
        TabularFidelity().check_artifact(short, unit, other)
