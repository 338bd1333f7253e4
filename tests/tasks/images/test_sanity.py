"""`images.sanity`: verdicts that are known beforehand, pairs of one's own, faults of adapters and artifacts."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bench.adapters.images import MetricPair
from bench.artifacts import artifact_digest
from bench.catalog.images_sanity import CHECKS as TITLES
from bench.catalog.images_sanity import METRIC_PAIRS, SANITY_TASK
from bench.datasets.images.sanity import FEWEST, Points, load
from bench.errors import InvalidOutput, UsageError
from bench.models.images.metric_pair import NamedPair
from bench.spec import Artifact, Context, TaskOutput, Unit
from bench.tasks.images.sanity.checks import CHECKS, MEMBERS, PARTS, Curve, judge_check
from bench.tasks.images.sanity.pairs import PAIRS
from bench.tasks.images.sanity.task import MetricSanity
from bench.validate import check_output


def unit(limit: int | None = None) -> Unit:
    return Unit(
        task=SANITY_TASK.name, dataset="known-likeness", repeat=0, size="tiny", seed=5, limit=limit,
        settings={"n": FEWEST, "levels": 3, "draws": 1},
    )  # fmt: skip


def context(folder: Path) -> Context:
    for name in ("artifact", "exhibits"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return Context(
        device="cpu", seed=5, size="tiny", limit=None, deadline=time.monotonic() + 600, cache_dir=folder,
        artifact_dir=folder / "artifact", exhibit_dir=folder / "exhibits", load_dataset=lambda _: load(),
    )  # fmt: skip


def scored(adapter: Any, folder: Path) -> tuple[TaskOutput, list[dict[str, Any]]]:
    """The output, and the records of its verdicts."""
    task, ctx = MetricSanity(), context(folder)
    task.info = SANITY_TASK
    notes = task.collect(adapter, unit(), ctx)
    artifact = Artifact(dir=ctx.artifact_dir, sha256=artifact_digest(ctx.artifact_dir)[0], notes=notes)
    output = task.score(artifact, unit(), ctx)
    check_output(output, SANITY_TASK, ctx.exhibit_dir)
    return output, json.loads((ctx.exhibit_dir / "verdicts.json").read_text())


def test_the_catalogue_lists_what_is_checked() -> None:
    assert {name: check.title for name, check in CHECKS.items()} == TITLES
    assert [card.params["pair"] for card in METRIC_PAIRS] == list(PAIRS)
    assert all(SANITY_TASK.takes(card) for card in METRIC_PAIRS)


def test_criteria_name_variants_that_there_are() -> None:
    variants = {(case.check, case.variant) for case in load().cases}
    for name, check in CHECKS.items():
        for member in MEMBERS:
            assert {criterion.part for criterion in check.asks[member]} == set(PARTS)
            for criterion in check.asks[member]:
                assert not criterion.variant or (name, criterion.variant) in variants


def ideal(check: str, member: str, variant: str, places: tuple[float, ...]) -> list[float]:
    """The values of a perfect metric, worked out from what the sets are."""
    x, fidelity = np.array(places), member == "fidelity"
    if check in ("mean_shift", "outlier", "pareto"):
        return list(1 - np.abs(x) / x.max())
    if check == "std_ratio":
        return list(np.where(x <= 1, 1.0, 0.0) if fidelity else np.where(x >= 1, 1.0, 0.0))
    if check in ("thinned_modes", "dropped_modes"):
        return [1.0] * len(x) if fidelity else list(1 - x / x.max())
    if check == "invented_modes":
        return list(np.where(x <= 5, 1.0, 5 / x) if fidelity else np.minimum(1, x / 5))
    if check == "sphere":
        return list((x == 1.0).astype(float))
    if check in ("cubes_n", "cubes_m"):
        return [0.2] * len(x)
    if check == "two_modes":
        return list(1 - x / 10) if fidelity else [1.0] * len(x)
    if check == "rounded":
        level = (0.0 if variant == "real whole" else 1.0) if fidelity else float(variant == "real whole")
        return [level] * len(x)
    return [0.0] * len(x)  # disjoint everywhere


def test_a_perfect_metric_passes_everything() -> None:
    for name in CHECKS:
        for member in MEMBERS:
            curves = {
                case.variant: Curve(case.places, ideal(name, member, case.variant, case.places))
                for case in load().cases
                if case.check == name
            }
            for verdict in judge_check(name, member, curves):
                assert verdict.passed, verdict


def test_a_constant_passes_what_asks_for_no_change_alone() -> None:
    for name in CHECKS:
        for member in MEMBERS:
            curves = {
                c.variant: Curve(c.places, [1.0] * len(c.places)) for c in load().cases if c.check == name
            }
            shape, values = judge_check(name, member, curves)
            flat = {"cubes_n", "cubes_m", "torus", "scaled_dimension", "disjoint_dimension", "rounded"}
            flat |= {"thinned_modes", "dropped_modes"} if member == "fidelity" else {"two_modes"}
            assert shape.passed is (name in flat), name
            always_one = {"thinned_modes", "dropped_modes", "two_modes", "invented_modes"}
            assert values.passed is (name in always_one), name


def test_either_reading_of_diversity_but_not_both() -> None:
    places = (0.1, 1.0, 10.0)
    high, low = Curve(places, [0.0, 1.0, 1.0]), Curve(places, [0.0, 1.0, 0.0])
    for curves in ({"a": high, "b": high}, {"a": low, "b": low}):
        assert all(verdict.passed for verdict in judge_check("std_ratio", "diversity", curves))
    mixed = judge_check("std_ratio", "diversity", {"a": high, "b": low})
    assert [verdict.missed for verdict in mixed] == [("low in one place and high in another",)] * 2


def test_what_is_missed_is_named() -> None:
    curve = Curve((-1.0, 0.0, 1.0), [0.5, 1.0, 0.0])
    shape, values = judge_check("mean_shift", "fidelity", {"d=1": curve})
    assert shape.passed
    assert values.missed == ("disjoint sets at the start give 0, d=1",)
    undefined = Curve((-1.0, 0.0, 1.0), [0.0, math.nan, 0.0])
    assert not any(verdict.passed for verdict in judge_check("mean_shift", "fidelity", {"d=1": undefined}))


def values_at(pair: str, check: str, variant: str, place: float) -> tuple[float, float]:
    case = next(c for c in load().cases if (c.check, c.variant) == (check, variant))
    index = min(range(len(case.places)), key=lambda at: abs(case.places[at] - place))
    real, generated = case.pair(index, seed=1, n=1000)
    return PAIRS[pair](torch.from_numpy(real), torch.from_numpy(generated))


def test_precision_passes_without_an_outlier_and_fails_with_one() -> None:
    """One real point amid the generated ones has a ball that holds them all."""
    assert values_at("precision-recall", "mean_shift", "d=64", 1.0)[0] <= 0.05
    assert values_at("precision-recall", "outlier", "d=64, real", 1.0)[0] >= 0.9
    assert values_at("symmetric", "outlier", "d=64, real", 1.0)[0] >= 0.9  # it lies in their balls, too
    assert 0.3 < values_at("clipped", "outlier", "d=64, real", 1.0)[0] < 0.7  # half a cure
    assert values_at("density-coverage", "outlier", "d=64, real", 1.0)[1] <= 0.05  # one of 1,001 balls


def test_chamfer_ratios_do_not_come_near_zero_in_many_dimensions() -> None:
    """Their fault: disjoint sets may be only a little farther apart than real points are from each other."""
    assert values_at("chamfer", "mean_shift", "d=64", 1.0)[0] > 0.5
    assert values_at("chamfer", "sphere", "d=128", 0.5) == (1.0, 1.0)  # nearer than real points: a perfect 1


@pytest.mark.parametrize("pair", PAIRS)
def test_pairs_and_equal_sets(pair: str) -> None:
    """All but the probabilistic one, whose balls of one size suit no point but the average one."""
    wanted = (0.74, 0.74) if pair == "probabilistic" else (1.0, 1.0)
    assert values_at(pair, "mean_shift", "d=8", 0.0) == pytest.approx(wanted, abs=0.1)


def test_a_run_of_the_whole_task(tmp_path: Path) -> None:
    output, verdicts = scored(NamedPair(pair="chamfer"), tmp_path)
    metrics: Any = output.metrics
    assert len(verdicts) == len(CHECKS) * len(MEMBERS) * len(PARTS)
    assert metrics["passed"].value == pytest.approx(np.mean([v["passed"] for v in verdicts]))
    mine = [v["passed"] for v in verdicts if v["member"] == "diversity"]
    assert metrics["diversity"].value == pytest.approx(np.mean(mine))
    assert metrics["torus"].n == 4
    assert all(bool(v["missed"]) is not v["passed"] for v in verdicts)
    curves = json.loads((tmp_path / "exhibits" / "curves.json").read_text())
    assert len(curves) == 2 * len(load().cases)


class Mine(MetricPair):
    """Says what it is told to say."""

    def __init__(self, says: Any) -> None:
        self.says = says

    def measure(self, real: Points, generated: Points) -> Any:
        assert real.dtype == generated.dtype == np.float64
        return self.says


def test_a_pair_of_ones_own(tmp_path: Path) -> None:
    _, verdicts = scored(Mine((1.0, math.nan)), tmp_path)
    assert not any(v["passed"] for v in verdicts if v["member"] == "diversity")
    passed = {v["check"] for v in verdicts if v["passed"] and v["part"] == "values"}
    assert passed == {"thinned_modes", "dropped_modes", "two_modes", "invented_modes"}
    curves = json.loads((tmp_path / "exhibits" / "curves.json").read_text())
    assert {tuple(set(c["y"])) for c in curves} == {(1.0,), (None,)}


@pytest.mark.parametrize("says", [1.0, (1.0,), (1.0, math.inf), (1.0, 2.0, 3.0)])
def test_bad_values_are_explained(says: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidOutput, match=r"measure returned .* in mean_shift\|d=1; two numbers"):
        MetricSanity().collect(Mine(says), unit(), context(tmp_path))


@pytest.mark.parametrize(
    ("adapter", "message"),
    [(NamedPair(pair="none"), "there is no pair 'none'"), (object(), "derive it from MetricPair")],
)
def test_what_measures_nothing_is_told_so(adapter: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidOutput, match=message):
        MetricSanity().collect(adapter, unit(), context(tmp_path))


def test_bad_artifacts_are_explained(tmp_path: Path) -> None:
    ctx = context(tmp_path)
    MetricSanity().collect(Mine((1.0, 1.0)), unit(), ctx)
    with np.load(ctx.artifact_dir / "values.npz") as given:
        arrays = dict(given)
    arrays["sphere|d=2"] = arrays["sphere|d=2"][:, :-1]
    np.savez(ctx.artifact_dir / "values.npz", **arrays)
    with pytest.raises(InvalidOutput, match=r"values.npz\[sphere\|d=2\]: expected floats \(1, 3, 2\)"):
        MetricSanity().score(Artifact(dir=ctx.artifact_dir, sha256="", notes={}), unit(), ctx)


def test_too_few_points_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="at least 24 points a set, this unit has 9"):
        MetricSanity().collect(Mine((1.0, 1.0)), unit(limit=9), context(tmp_path))
