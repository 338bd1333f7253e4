"""`images.audit`: scenarios that do what they say, verdicts known beforehand, encoders of one's own, faults."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench.adapters.images import ImageEncoder
from bench.artifacts import artifact_digest
from bench.catalog.images_audit import AUDIT_TASK
from bench.catalog.images_audit import AUDITED as TITLES
from bench.catalog.images_encoders import ENCODERS
from bench.datasets.images import digits
from bench.errors import InvalidOutput, MissingRequirement, UsageError
from bench.metrics.images import chamfer, frechet_distance
from bench.models.images.encoder import NamedEncoder
from bench.spec import Artifact, Context, Size, TaskOutput, Unit
from bench.tasks.images.audit.audited import AUDITED
from bench.tasks.images.audit.pools import DAMAGE, DRAWS, audit_unit, pools, severities, sizes
from bench.tasks.images.audit.scenarios import Material, Scenario, scenarios
from bench.tasks.images.audit.task import ImageMetricAudit
from bench.validate import check_output

Pair = tuple[np.ndarray, np.ndarray]


def unit(size: Size = "tiny", **settings: Any) -> Unit:
    return Unit(
        task=AUDIT_TASK.name, dataset="digits", repeat=0, size=size, seed=5, limit=None,
        settings={**AUDIT_TASK.sizes["tiny"].settings, **settings},
    )  # fmt: skip


def context(folder: Path) -> Context:
    for name in ("artifact", "exhibits"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    return Context(
        device="cpu", seed=5, size="tiny", limit=None, deadline=time.monotonic() + 600, cache_dir=folder,
        artifact_dir=folder / "artifact", exhibit_dir=folder / "exhibits", load_dataset=lambda _: digits.load(),
    )  # fmt: skip


def task() -> ImageMetricAudit:
    made = ImageMetricAudit()
    made.info = AUDIT_TASK
    return made


def collected(adapter: Any, folder: Path, asked: Unit) -> tuple[Artifact, Context]:
    ctx = context(folder)
    notes = task().collect(adapter, asked, ctx)
    return Artifact(dir=ctx.artifact_dir, sha256=artifact_digest(ctx.artifact_dir)[0], notes=notes), ctx


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> tuple[TaskOutput, Path]:
    """An audit of digits in pixels, of three severities, and the folder with its tables and pictures."""
    folder, asked = tmp_path_factory.mktemp("audit"), unit(n=110, levels=3)
    artifact, ctx = collected(NamedEncoder(), folder, asked)
    output = task().score(artifact, asked, ctx)
    check_output(output, AUDIT_TASK, ctx.exhibit_dir)
    return output, ctx.exhibit_dir


@pytest.fixture(scope="module")
def verdicts(audit: tuple[TaskOutput, Path]) -> dict[tuple[str, str], dict[str, Any]]:
    records = json.loads((audit[1] / "verdicts.json").read_text())
    return {(record["metric"], record["scenario"]): record for record in records}


def test_the_catalogue_lists_what_is_audited() -> None:
    assert list(TITLES) == list(AUDITED)
    assert [metric.name for metric in AUDIT_TASK.metrics] == ["overall", *AUDITED]
    assert all(AUDIT_TASK.takes(card) for card in ENCODERS)


@pytest.mark.parametrize(
    ("metric", "scenario", "word"),
    [
        ("fd", "surrogate", "fooled"),  # equal moments: nearer than any real sample
        ("g2r_ratio", "surrogate", "tracks"),
        ("clipped_density", "surrogate", "tracks"),
        ("fd", "memorised", "blind"),
        ("precision", "memorised", "blind"),
        ("chamfer_dev", "memorised", "blind"),
        ("memorisation_ratio", "memorised", "tracks"),
        ("authenticity", "memorised", "tracks"),
        ("density", "mean_image", "fooled"),
        ("chamfer_dev", "mean_image", "tracks"),
        ("recall", "class_drop", "tracks"),
        ("r2g_ratio", "class_drop", "tracks"),
        ("precision", "class_drop", "blind"),
        ("g2r_ratio", "pixel_noise", "tracks"),
        ("fd", "sample_size", "erratic"),
        ("r2g_ratio", "sample_size", "steady"),
        ("recall", "k", "erratic"),
        ("r2g_ratio", "k", "steady"),
        ("g2r_ratio", "real_outlier", "erratic"),  # Chamfer's own fault, and its cure:
        ("g2r_median", "real_outlier", "steady"),
    ],
)
def test_what_is_known_of_the_metrics_is_found(
    metric: str, scenario: str, word: str, verdicts: dict[tuple[str, str], dict[str, Any]]
) -> None:
    assert verdicts[metric, scenario]["verdict"] == word


def test_shares_follow_from_the_verdicts(
    audit: tuple[TaskOutput, Path], verdicts: dict[tuple[str, str], dict[str, Any]]
) -> None:
    def is_right(record: dict[str, Any]) -> bool:
        if record["expected"] == "any":
            return bool(record["verdict"] != "fooled")
        return bool(record["verdict"] == record["expected"])

    output: Any = audit[0]
    for name in ("fd", "precision", "k"):
        mine = [is_right(record) for (metric, _), record in verdicts.items() if metric == name]
        if mine:
            assert output.metrics[name].value == pytest.approx(sum(mine) / len(mine))
    everything = [is_right(record) for record in verdicts.values()]
    assert output.metrics["overall"].value == pytest.approx(sum(everything) / len(everything))
    copying = [is_right(r) for r in verdicts.values() if "copying" in r["damages"]]
    assert output.facets["asks=copying"]["overall"].value == pytest.approx(sum(copying) / len(copying))


def test_what_cannot_be_measured_says_why(audit: tuple[TaskOutput, Path]) -> None:
    metrics: Any = audit[0].metrics
    assert "classifier" in metrics["class_tv"].reason
    assert "size full" in metrics["fld_gap"].reason


def test_curves_have_the_draws_and_every_severity(audit: tuple[TaskOutput, Path]) -> None:
    records = json.loads((audit[1] / "curves.json").read_text())
    counts: dict[str, int] = {}
    for record in records:
        counts[record["scenario"]] = counts.get(record["scenario"], 0) + 1
    assert counts["held_out"] == DRAWS
    assert (counts["blur"], counts["k"], counts["surrogate"]) == (3, 5, 1)
    assert {exhibit.name for exhibit in audit[0].exhibits} >= {"verdicts", "curves", "gallery-blur"}


@pytest.fixture(scope="module")
def material() -> Material:
    asked = unit(n=100, levels=5)
    plan = audit_unit(digits.load(), asked)
    images = pools(plan, context_without_files())
    return Material(
        plan=plan,
        sets={name: (pool.reshape(len(pool), -1) / 255).astype(np.float32) for name, pool in images.items()},
    )


def context_without_files() -> Any:
    return None  # digits need no second data set


@pytest.fixture(scope="module")
def build(material: Material) -> Callable[[str, float], Pair]:
    made: dict[str, Scenario] = {scenario.name: scenario for scenario in scenarios(material.plan)}
    return lambda name, level: made[name].build(material, level)[0]


def test_pools_are_disjoint_and_of_the_stated_sizes(material: Material) -> None:
    assert {name: len(features) for name, features in material.sets.items()} == sizes(material.plan)
    seen = [{row.tobytes() for row in material.sets[name]} for name in ("real", "held", "train")]
    assert not seen[0] & seen[1] | seen[0] & seen[2] | seen[1] & seen[2]


def test_every_scenario_gives_pairs_of_equal_size(material: Material) -> None:
    for scenario in scenarios(material.plan):
        for level in scenario.levels:
            for real, generated in scenario.build(material, level):
                assert real.shape == generated.shape, scenario.name
                assert real.dtype == generated.dtype == np.float32, scenario.name
                assert np.isfinite(generated).all(), scenario.name


def test_the_surrogate_has_exact_moments_and_is_not_real(build: Callable[[str, float], Pair]) -> None:
    real, generated = build("surrogate", 1.0)
    assert np.abs(real.mean(axis=0) - generated.mean(axis=0)).max() < 1e-5
    assert np.abs(np.cov(real.T) - np.cov(generated.T)).max() < 1e-5
    assert frechet_distance(real=real, generated=generated).distance < 1e-3
    assert chamfer(real=real, generated=generated).g2r_ratio > 1.1


def test_dropped_classes_are_gone(material: Material, build: Callable[[str, float], Pair]) -> None:
    label_of = dict(
        zip((row.tobytes() for row in material.sets["held"]), material.plan.held.labels, strict=True)
    )
    last = {row.tobytes() for row in material.sets["reserve"]}
    for level in (1, 5, 9):
        kept = {
            material.plan.order[-1] if row.tobytes() in last else label_of[row.tobytes()]
            for row in build("class_drop", level)[1]
        }
        assert kept <= set(material.plan.order[level:])
    thinned = [
        label_of.get(row.tobytes(), material.plan.order[-1]) for row in build("class_thinning", 0.8)[1]
    ]
    assert np.mean(np.array(thinned) == material.plan.order[-1]) > 0.7


def test_counts_of_duplicates_and_copies(material: Material, build: Callable[[str, float], Pair]) -> None:
    assert [len(np.unique(build("duplicates", level)[1], axis=0)) for level in (1, 3, 0)] == [100, 33, 10]
    train = {row.tobytes() for row in material.sets["train"]}
    for share in (0.1, 0.5, 1.0):
        assert sum(row.tobytes() in train for row in build("memorised", share)[1]) == round(100 * share)


def test_outliers_lie_where_they_should(material: Material, build: Callable[[str, float], Pair]) -> None:
    plain = material.draw(0)[0].astype(float)
    reach = np.sqrt(((plain - plain.mean(axis=0)) ** 2).sum(axis=1).mean())
    for side, name in enumerate(("real_outlier", "generated_outlier")):
        changed = build(name, 30.0)[side]
        assert np.linalg.norm(changed[-1] - plain.mean(axis=0)) == pytest.approx(30 * reach, rel=1e-4)
        assert np.array_equal(changed[:-1], material.draw(0)[side][:-1])


def test_numbers_of_images_are_compared_on_the_same_ones(material: Material) -> None:
    scenario = next(s for s in scenarios(material.plan) if s.name == "sample_size")
    for level, pairs in ((0.5, 10), (1.0, 5), (5.0, 1)):
        made = scenario.build(material, level)
        assert [len(real) for real, _ in made] == [round(100 * level)] * pairs
        assert np.array_equal(np.concatenate([held for _, held in made]), material.sets["held"])


def test_severities_keep_the_worst() -> None:
    levels = DAMAGE["blur"][0]
    assert severities(levels, 5) == levels
    assert severities(levels, 1) == levels[-1:]
    assert all(severities(levels, count)[-1] == levels[-1] for count in range(1, 9))


class Mine(ImageEncoder):
    """Rows and columns of an image, and a classifier."""

    def encode(self, images: np.ndarray, *, device: str) -> np.ndarray:
        return (
            np.concatenate([images.mean(axis=(1, 2)), images.mean(axis=(1, 3))], axis=1).astype(np.float32)
            / 255
        )

    def head(self) -> tuple[np.ndarray, np.ndarray]:
        return np.random.default_rng(0).standard_normal((10, 16)).astype(np.float32), np.zeros(10, np.float32)


def test_an_encoder_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its classifier, and with the metrics that take longest: of a few scenarios, to save time."""
    few = [
        scenario
        for scenario in scenarios(audit_unit(digits.load(), unit(n=24)))
        if scenario.name in ("blur", "k")
    ]
    monkeypatch.setattr("bench.tasks.images.audit.findings.scenarios", lambda plan: few)
    asked = unit(n=24, slow=True)
    artifact, ctx = collected(Mine(), tmp_path, asked)
    task().check_artifact(artifact, asked, ctx)
    output = task().score(artifact, asked, ctx)
    check_output(output, AUDIT_TASK, ctx.exhibit_dir)
    metrics: Any = output.metrics
    for name in ("class_tv", "inception_score", "fld_gap"):
        assert 0 <= metrics[name].value <= 1
    assert "not defined" in metrics["fd_inf"].reason  # the extrapolation needs 500 images


def test_what_a_command_gets_is_what_collect_encodes(tmp_path: Path) -> None:
    asked, inputs = unit(), tmp_path / "inputs"
    inputs.mkdir()
    ctx = context(tmp_path)
    told = task().export_inputs(asked, ctx, inputs)
    with np.load(inputs / "images.npz") as given:
        assert {name: len(given[name]) for name in given.files} == sizes(audit_unit(digits.load(), asked))
        assert told["n"] == sum(len(given[name]) for name in given.files)
        np.savez(
            ctx.artifact_dir / "features.npz",
            **{n: Mine().encode(given[n], device="cpu") for n in given.files},
        )
    task().check_artifact(Artifact(dir=ctx.artifact_dir, sha256="", notes={}), asked, ctx)


@pytest.mark.parametrize(
    ("encode", "message"),
    [
        (lambda images: images.mean(axis=(1, 2, 3)), "expected float32"),
        (lambda images: np.full((len(images), 3), np.nan), "not finite"),
        (lambda images: np.zeros((len(images) + 1, 3)), "rows"),
        (lambda images: np.zeros((len(images), 3 + len(images) % 2)), "expected float32"),
        (lambda images: "features", "got str"),
    ],
)
def test_bad_features_are_explained(
    encode: Callable[[np.ndarray], Any], message: str, tmp_path: Path
) -> None:
    class Bad(ImageEncoder):
        def encode(self, images: np.ndarray, *, device: str) -> Any:
            return encode(images)

    with pytest.raises(InvalidOutput, match=message):
        collected(Bad(), tmp_path, unit(n=25))


@pytest.mark.parametrize(
    "head",
    [
        (np.zeros((10, 15)), np.zeros(10)),
        (np.zeros((10, 16)), np.zeros(9)),
        (np.full((10, 16), np.inf), np.zeros(10)),
    ],
)
def test_bad_classifiers_are_explained(head: tuple[Any, Any], tmp_path: Path) -> None:
    class Bad(Mine):
        def head(self) -> tuple[np.ndarray, np.ndarray]:
            return head

    with pytest.raises(InvalidOutput, match=r"the classifier must be finite weights \(classes, 16\)"):
        collected(Bad(), tmp_path, unit(n=24))


def test_what_encodes_nothing_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(InvalidOutput, match="has no encode"):
        collected(object(), tmp_path, unit())


@pytest.mark.parametrize(("name", "reason"), [("efflite0-64", "size full"), ("inception-fid", "size full")])
def test_slow_encoders_wait_for_the_full_size(name: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(MissingRequirement, match=reason):
        collected(NamedEncoder(encoder=name), tmp_path, unit())


def test_too_few_images_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 24 images a set, this unit has 10"):
        audit_unit(digits.load(), unit(n=10))
