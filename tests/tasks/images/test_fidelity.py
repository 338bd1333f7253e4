"""`images.fidelity` end to end with small adapters: numbers, flags, exhibits, faults."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
import pytest
from PIL import Image

from bench.adapters.images import FeatureSource, ImageGenerator
from bench.errors import InvalidOutput, UsageError
from bench.models.images.gauss_feature import GaussFeature
from bench.spec import Measure, TaskOutput, derived_seed
from bench.tasks.images.protocol import image_unit

from .conftest import INFO, Bench, load_dataset


class Fitted(ImageGenerator):
    """Draws images it was fitted on, without replacement."""

    noise = 0.0

    def fit(self, images: Any, labels: Any, *, seed: int, device: str, budget_s: float) -> None:
        self.images, self.labels, self.fit_seed, self.budget = images, labels, seed, budget_s

    def sample(self, n: int, *, seed: int, labels: Any = None, nfe: int | None = None) -> np.ndarray:
        rng = np.random.default_rng(seed)
        chosen = self.images[rng.permutation(len(self.images))[:n]]
        shaken = chosen + self.noise * 255 * rng.standard_normal(chosen.shape)
        return np.rint(np.clip(shaken, 0, 255)).astype(np.uint8)


class Oracle(Fitted):
    fits_on: ClassVar[Any] = "hold"


class Noisy(Oracle):
    noise = 0.3


class Mean(Fitted):
    def sample(self, n: int, *, seed: int, labels: Any = None, nfe: int | None = None) -> np.ndarray:
        return np.repeat(self.images.mean(0, keepdims=True).astype(np.uint8), n, 0)


class Contracted(Oracle):
    """Held-out images pulled towards their mean."""

    def sample(self, n: int, *, seed: int, labels: Any = None, nfe: int | None = None) -> np.ndarray:
        images = super().sample(n, seed=seed)
        mean = self.images.mean(0)
        return np.rint(mean + 0.8 * (images - mean)).astype(np.uint8)


class Bad(Fitted):
    """Returns whatever `make` makes of good images."""

    def __init__(self, make: Callable[[np.ndarray], Any]) -> None:
        self.make = make

    def sample(self, n: int, *, seed: int, labels: Any = None, nfe: int | None = None) -> Any:
        return self.make(super().sample(n, seed=seed))


def value(output: TaskOutput, metric: str, facet: str = "") -> float:
    table = output.facets[facet] if facet else output.metrics
    measure = table[metric]
    assert isinstance(measure, Measure)
    assert measure.value is not None
    return measure.value


SMALL = {"n": 1000, "fit": 10_000}
# Metrics that do not always have a value or an interval: see test_novelty.py.
NOVELTY = {"memorisation_ratio", "authenticity", "copying_z", "fd_inf"}


def test_every_declared_metric_with_its_interval(bench: Bench) -> None:
    output = bench.run(Oracle())
    assert set(output.metrics) == {metric.name for metric in INFO.metrics}
    for name in set(output.metrics) - NOVELTY:
        measure = output.metrics[name]
        assert isinstance(measure, Measure)
        assert measure.value is not None
        assert measure.ci_low is not None
        assert measure.ci_high is not None
        assert measure.ci_low <= measure.value <= measure.ci_high
        assert measure.ci_method
        assert measure.n == 100
    assert set(output.facets) == {"k=3", "k=5"}
    assert set(output.facets["k=3"]) == {"precision", "recall", "density", "coverage"}


def test_held_out_images_of_digits_look_real(bench: Bench) -> None:
    """V15 of the validation plan: ratios .99 +- .05."""
    output = bench.run(Oracle(), bench.unit(settings=SMALL))
    for ratio in ("r2g_ratio", "g2r_ratio", "self_ratio"):
        assert value(output, ratio) == pytest.approx(0.99, abs=0.05)
    assert value(output, "chamfer_dev") < 0.15
    assert value(output, "precision") > 0.9
    assert not output.flags
    assert output.notes["n"] == 598
    assert output.notes["n_capped_by"] == "ref has 598 images"


def test_noise_is_seen_as_lost_fidelity_and_spread(bench: Bench) -> None:
    clean, noisy = bench.run(Oracle()), bench.run(Noisy())
    assert value(noisy, "g2r_ratio") > 1.3 > value(clean, "g2r_ratio")
    assert value(noisy, "self_ratio") > 1.2
    assert value(noisy, "fd") > value(clean, "fd")
    assert value(noisy, "chamfer_dev") > value(clean, "chamfer_dev")


def test_values_follow_from_one_another(bench: Bench) -> None:
    output = bench.run(Noisy())
    halves = value(output, "chamfer_r2g") + value(output, "chamfer_g2r")
    assert value(output, "chamfer") == pytest.approx(halves / 2)
    parts = [abs(math.log(value(output, name))) for name in ("r2g_ratio", "g2r_ratio", "self_ratio")]
    assert value(output, "chamfer_dev") == pytest.approx(sum(parts))


def test_copies_of_training_images_are_flagged(bench: Bench) -> None:
    copies = bench.run(Fitted())
    assert "copying" in copies.flags
    assert value(copies, "memorisation_ratio") < 0.1


def test_contraction_is_flagged_not_praised(bench: Bench) -> None:
    output = bench.run(Contracted(), bench.unit(settings=SMALL))
    assert value(output, "g2r_ratio") < 0.97
    assert "contraction" in output.flags
    assert value(output, "density") > 1.3


def test_collapse_has_a_finite_deviation_and_no_copying_flag(bench: Bench) -> None:
    """V2: the mean image has perfect precision and is far from everything."""
    output = bench.run(Mean(), bench.unit(settings=SMALL))
    assert value(output, "self_ratio") == 0
    assert value(output, "chamfer_dev") > math.log(1000)
    assert value(output, "precision") == 1
    assert value(output, "recall") <= 0.01
    assert "copying" not in output.flags


def test_same_seed_same_artifact_and_numbers_other_repeat_others(bench: Bench) -> None:
    first, _ = bench.collect(Oracle(), bench.unit())
    again, _ = bench.collect(Oracle(), bench.unit())
    other, _ = bench.collect(Oracle(), bench.unit(repeat=1))
    assert first.sha256 == again.sha256 != other.sha256
    one, two = bench.run(Oracle()), bench.run(Oracle())
    assert (one.metrics, one.facets, one.flags) == (two.metrics, two.facets, two.flags)
    assert bench.run(Oracle(), bench.unit(repeat=1)).metrics != one.metrics


def test_fit_gets_its_split_labels_seed_and_budget(bench: Bench) -> None:
    model, unit = Fitted(), bench.unit(settings={"n": 50, "fit": 200})
    artifact, _ = bench.collect(model, unit)
    fit = load_dataset("digits").fit
    assert np.array_equal(model.images, fit.images[:200])
    assert np.array_equal(model.labels, fit.labels[:200])
    assert model.images.flags.writeable
    assert model.fit_seed == derived_seed(unit.seed, "fit") != derived_seed(unit.seed, "sample")
    assert 0 < model.budget <= 600
    assert artifact.notes == {"n": 50, "fits_on": "fit", "fit_images": 200}


def test_derived_seeds_are_stable_and_small() -> None:
    assert derived_seed(0, "fit") == 223_562_809  # SHA-256 begins with 8d534c39, less the top bit
    seeds = {derived_seed(seed, purpose) for seed in range(100) for purpose in ("fit", "sample")}
    assert len(seeds) == 200
    assert max(seeds) < 2**31


def test_reference_is_one_for_all_models_and_differs_by_repeat(bench: Bench) -> None:
    data = load_dataset("digits")
    first, again = image_unit(data, bench.unit()), image_unit(data, bench.unit())
    other = image_unit(data, bench.unit(repeat=1))
    assert np.array_equal(first.reference_rows, again.reference_rows)
    assert not np.array_equal(first.reference_rows, other.reference_rows)
    assert len(np.unique(first.reference_rows)) == 100


def test_limit_lowers_n_and_says_so(bench: Bench) -> None:
    output = bench.run(Oracle(), bench.unit(limit=30))
    assert output.notes["n"] == 30
    assert output.notes["n_capped_by"] == "--limit 30"
    assert "n below d" in output.flags
    with pytest.raises(UsageError, match=r"at least 6 images, this unit has 5 \(--limit 5\)"):
        bench.run(Oracle(), bench.unit(limit=5))


def test_few_images_have_values_without_intervals_and_the_reason(bench: Bench) -> None:
    output = bench.run(Oracle(), bench.unit(limit=8))
    for name in set(output.metrics) - NOVELTY:
        measure = output.metrics[name]
        assert isinstance(measure, Measure)
        assert measure.value is not None
        assert measure.ci_low is None
        assert "too few images" in measure.reason


def test_sheets_show_the_first_images(bench: Bench) -> None:
    unit = bench.unit()
    artifact, context = bench.collect(Oracle(), unit)
    output = bench.score(artifact, unit, context)
    assert [exhibit.name for exhibit in output.exhibits] == ["samples", "nearest-training", "reference"]
    with Image.open(context.exhibit_dir / "samples.png") as picture:
        shown = np.asarray(picture)[:64:8, :64:8]
    assert np.array_equal(shown, np.load(artifact.path("images.npz"))["images"][0, 0])
    again = bench.run(Oracle(), bench.unit(repeat=1))
    assert [exhibit.name for exhibit in again.exhibits] == ["samples", "nearest-training"]


def _random_again(images: np.ndarray) -> np.ndarray:
    return np.random.default_rng().integers(0, 256, images.shape, dtype=np.uint8)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: x / 255, r"expected uint8 NCHW \(100, 1, 8, 8\), got float64 .* in \[0, 1\]"),
        (lambda x: x / 127.5 - 1, r"got float64 .* in \[-1, 1\]"),
        (lambda x: x[:, 0], r"got uint8 \(100, 8, 8\)"),
        (lambda x: np.moveaxis(x, 1, 3), "looks like NHWC"),
        (lambda x: x.repeat(3, 1), r"got uint8 \(100, 3, 8, 8\)"),
        (lambda x: x[:-1], "99 images"),
        (lambda x: np.concatenate([x, x]), "200 images"),
        (lambda x: None, "got NoneType; return a NumPy array"),
        (_random_again, r"two calls of sample\(n=8, seed=\d+\) differ by .* gray levels"),
    ],
)
def test_bad_samples_stop_collect_with_a_reason(
    bench: Bench, make: Callable[[np.ndarray], Any], message: str
) -> None:
    with pytest.raises(InvalidOutput, match=message):
        bench.collect(Bad(make), bench.unit())


def test_class_without_the_methods_is_told_which(bench: Bench) -> None:
    with pytest.raises(InvalidOutput, match=r"object has neither sample\(n, seed=...\) nor features"):
        bench.collect(object(), bench.unit())


def test_unknown_split_is_refused(bench: Bench) -> None:
    model = Fitted()
    model.fits_on = "ref"  # type: ignore[misc, assignment]
    with pytest.raises(InvalidOutput, match="fits_on is 'ref'; use 'fit', or 'hold'"):
        bench.collect(model, bench.unit())


class Source(FeatureSource):
    def __init__(self, make: Callable[[np.ndarray], Any] = lambda x: x) -> None:
        self.make = make

    def fit_features(self, reference: Mapping[str, np.ndarray], *, seed: int) -> None:
        self.reference = reference

    def features(self, n: int, *, seed: int, encoder: str) -> Any:
        return self.make(self.reference[encoder])


def test_features_of_the_reference_itself_are_at_distance_zero(bench: Bench) -> None:
    output = bench.run(Source())
    assert value(output, "fd") == pytest.approx(0, abs=1e-9)
    assert value(output, "chamfer") == 0
    assert value(output, "self_ratio") == 1
    assert output.notes["pictures"] == "none: features only"
    assert output.exhibits == ()
    assert "below-real" in output.flags


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: x[:50], "50 rows"),
        (lambda x: x[:, :5], r"expected float32 \(100, 64\), got float32 \(100, 5\)"),
        (lambda x: np.where(x > 0, x, np.nan), "got nan in row"),
        (lambda x: "features", "got str"),
    ],
)
def test_bad_features_stop_collect_with_a_reason(
    bench: Bench, make: Callable[[np.ndarray], Any], message: str
) -> None:
    with pytest.raises(InvalidOutput, match=message):
        bench.collect(Source(make), bench.unit())


def test_equal_features_give_no_ratio_but_a_reason(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    flat = load_dataset("digits")
    same = dataclasses.replace(
        flat.ref, images=np.repeat(flat.ref.images[:1], len(flat.ref), 0), labels=flat.ref.labels.copy()
    )
    unit = bench.unit()
    artifact, context = bench.collect(Oracle(), unit)
    context._load_dataset = lambda name: dataclasses.replace(flat, ref=same)
    output = bench.score(artifact, unit, context)
    assert "degenerate-reference" in output.flags
    measure = output.metrics["chamfer_dev"]
    assert isinstance(measure, Measure)
    assert measure.value is None
    assert measure.reason.startswith("degenerate-reference")
    assert value(output, "chamfer_g2r") > 0


def artifact_of(bench: Bench, **arrays: Any) -> tuple[Any, Any]:
    context = bench.context(bench.unit())
    file = "features.npz" if "pixels" in arrays else "images.npz"
    if arrays:
        np.savez(context.artifact_dir / file, **arrays)
    return bench.artifact(context, {}), context


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({}, r"needs images.npz or features.npz; it has no file"),
        ({"pictures": np.zeros((100, 1, 8, 8), np.uint8)}, "'images'"),
        ({"images": np.zeros((100, 1, 8, 8), np.float32)}, "expected uint8 NCHW"),
        ({"images": np.zeros((100, 1, 9, 9), np.uint8)}, r"got uint8 \(100, 1, 9, 9\)"),
        ({"images": np.zeros((0, 1, 8, 8), np.uint8)}, "0 images"),
        ({"images": np.array([{}], dtype=object)}, "objects"),
        ({"pixels": np.full((100, 64), np.inf, np.float32)}, "got inf in row 0, column 0"),
    ],
)
def test_score_does_not_trust_the_artifact(bench: Bench, arrays: Any, message: str) -> None:
    artifact, context = artifact_of(bench, **arrays)
    with pytest.raises(InvalidOutput, match=message):
        bench.score(artifact, bench.unit(), context)


@pytest.mark.parametrize(("given", "used"), [(60, 60), (300, 100)])
def test_sets_of_unequal_size_are_made_equal(bench: Bench, given: int, used: int) -> None:
    artifact, context = artifact_of(bench, images=load_dataset("digits").hold.images[:given])
    output = bench.score(artifact, bench.unit(), context)
    assert (output.notes["n"], output.notes["n_generated"]) == (used, given)
    for measure in output.metrics.values():
        assert isinstance(measure, Measure)
        assert measure.n == used


@pytest.mark.parametrize(("dataset", "least"), [("mnist5k", 1.8), ("fashion", 2.0)])
def test_gaussian_with_the_exact_moments_fools_only_the_frechet_distance(
    bench: Bench, needs: Callable[[str], str], dataset: str, least: float
) -> None:
    """V1: the argument of the family. Frechet distance 0, yet twice as far from real images as real ones."""
    unit = bench.unit(needs(dataset), size="small")
    fooling, real = bench.run(GaussFeature(), unit), bench.run(Oracle(), unit)
    assert value(fooling, "fd") < 1e-3 * value(real, "fd")
    assert value(fooling, "g2r_ratio") > least
    assert value(fooling, "precision") < 0.1
    assert value(fooling, "chamfer_dev") > 10 * value(real, "chamfer_dev")
    for ratio in ("r2g_ratio", "g2r_ratio", "self_ratio"):
        assert value(real, ratio) == pytest.approx(1, abs=0.05)
        assert value(real, ratio, "encoder=pixels") == pytest.approx(1, abs=0.05)
    assert value(fooling, "fd", "encoder=pixels") < 1e-3 * value(real, "fd", "encoder=pixels")
