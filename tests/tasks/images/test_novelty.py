"""Novelty and diversity within `images.fidelity`: values, intervals, reasons for their absence, pairs."""

from typing import Any, ClassVar

import numpy as np
import pytest
from PIL import Image

from bench.adapters.images import ImageGenerator
from bench.metrics.images import authenticity, copying_test, memorisation_ratio
from bench.models.images.exact_flow import ExactFlow
from bench.spec import Measure, TaskOutput
from bench.tasks.images.protocol import image_unit

from .conftest import Bench, load_dataset

SMALL = {"n": 1000, "fit": 10_000}


class Drawn(ImageGenerator):
    """Images of a split of digits, by default the training images; the first `fresh` come from the other one."""

    def __init__(self, split: str = "fit", fresh: int = 0) -> None:
        self.split, self.fresh = split, fresh

    def sample(self, n: int, *, seed: int, labels: Any = None, nfe: int | None = None) -> np.ndarray:
        images = load_dataset("digits").split(self.split).images[:n].copy()
        fresh = min(n, self.fresh)
        images[:fresh] = load_dataset("digits").ref.images[:fresh]
        return images


class Oracle(Drawn):
    fits_on: ClassVar[Any] = "hold"


def measure(output: TaskOutput, name: str) -> Measure:
    found = output.metrics[name]
    assert isinstance(found, Measure)
    return found


def test_copies_of_training_images(bench: Bench) -> None:
    output = bench.run(Drawn(), bench.unit(settings=SMALL))
    assert measure(output, "memorisation_ratio").value == 0
    assert measure(output, "authenticity").value == 0
    assert (measure(output, "copying_z").value or 0) < -20
    assert "copying" in output.flags


def test_images_nobody_trained_on_are_clean_but_half_of_them_look_authentic(bench: Bench) -> None:
    """Of the images of `ref`, which is also the reference here, nothing is known to be a copy."""
    output = bench.run(Drawn("ref"), bench.unit(settings=SMALL))
    assert measure(output, "memorisation_ratio").value == pytest.approx(1, abs=0.05)
    assert 0.3 < (measure(output, "authenticity").value or 0) < 0.7
    assert abs(measure(output, "copying_z").value or 9) < 3
    assert "copying" not in output.flags
    for name in ("vendi_ratio", "rank_ratio", "clipped_coverage"):
        assert measure(output, name).value == pytest.approx(1, abs=0.02)


def test_values_are_those_of_the_metrics(bench: Bench) -> None:
    unit = bench.unit()
    output = bench.run(Drawn(fresh=50), unit)
    data = load_dataset("digits")
    fit, hold = (split.images.reshape(len(split), -1) / np.float32(255) for split in (data.fit, data.hold))
    made = Drawn(fresh=50).sample(100, seed=0).reshape(100, -1) / np.float32(255)
    sets = {"train": fit, "held_out": hold, "generated": made}
    assert measure(output, "memorisation_ratio").value == pytest.approx(memorisation_ratio(**sets).ratio)
    assert measure(output, "copying_z").value == pytest.approx(copying_test(**sets).z)
    share = measure(output, "authenticity")
    assert share.value == authenticity(train=fit, generated=made).share
    for name in ("memorisation_ratio", "authenticity"):
        found = measure(output, name)
        assert found.value is not None
        assert found.ci_low is not None
        assert found.ci_high is not None
        assert found.ci_low < found.value < found.ci_high


def test_an_oracle_that_saw_the_held_out_images_has_no_ratio_to_them(bench: Bench) -> None:
    output = bench.run(Oracle("hold"))
    assert measure(output, "memorisation_ratio").value is None
    assert measure(output, "memorisation_ratio").reason == "the model was given the held-out images"
    assert measure(output, "authenticity").value is not None
    assert "copying" not in output.flags
    told_nothing = bench.run(Drawn("hold"))
    assert measure(told_nothing, "memorisation_ratio").reason == "every generated image is a held-out one"


def test_the_extrapolated_distance_needs_five_hundred_images(bench: Bench) -> None:
    few = measure(bench.run(Drawn("hold")), "fd_inf")
    assert (few.value, few.reason) == (None, "the extrapolation needs 500 images")
    output = bench.run(Drawn("hold"), bench.unit(settings=SMALL))
    plain, extrapolated = measure(output, "fd"), measure(output, "fd_inf")
    assert plain.value is not None
    assert extrapolated.value is not None
    assert extrapolated.value < plain.value
    assert "overlap" in extrapolated.reason


def test_exact_flow_passes_the_classical_metrics_and_is_caught_here(bench: Bench) -> None:
    """Flow matching without a capacity limit returns training images at many steps."""
    unit = bench.unit(settings=SMALL)
    held_out, copier = bench.run(Oracle("hold"), unit), bench.run(ExactFlow(nfe=64), unit)
    fair, caught = ((measure(o, "fd").value or 0) for o in (held_out, copier))
    assert caught < 2 * fair
    assert (measure(copier, "precision").value or 0) >= (measure(held_out, "precision").value or 1) - 0.02
    assert (measure(copier, "authenticity").value or 0) <= 0.05
    ratio = measure(copier, "memorisation_ratio").value
    assert ratio is not None
    assert ratio <= 0.6
    assert "copying" in copier.flags


def test_collapse_shows_in_the_diversity_ratios(bench: Bench) -> None:
    class Repeated(Drawn):
        def sample(self, n: int, *, seed: int, labels: Any = None, nfe: int | None = None) -> np.ndarray:
            return np.repeat(super().sample(30, seed=seed), 4, 0)[:n]

    class Equal(Drawn):
        def sample(self, n: int, *, seed: int, labels: Any = None, nfe: int | None = None) -> np.ndarray:
            return np.repeat(super().sample(1, seed=seed), n, 0)

    repeated, equal = bench.run(Repeated("hold")), bench.run(Equal("hold"))
    assert 0 < (measure(equal, "vendi_ratio").value or 0) < (measure(repeated, "vendi_ratio").value or 0) < 1
    assert measure(equal, "rank_ratio").value == 0
    assert 0.3 < (measure(repeated, "rank_ratio").value or 0) < 0.95
    assert "fewer than 20 different images" in measure(equal, "memorisation_ratio").reason


def test_the_sheet_of_pairs_shows_each_image_beside_its_training_image(bench: Bench) -> None:
    unit = bench.unit()
    artifact, context = bench.collect(Drawn(fresh=50), unit)
    bench.score(artifact, unit, context)
    with Image.open(context.exhibit_dir / "nearest-training.png") as picture:
        shown = np.asarray(picture)[::8, ::8]
    tiles = [shown[r * 10 : r * 10 + 8, c * 10 : c * 10 + 8] for r in range(4) for c in range(8)]
    for left, right in zip(tiles[::2], tiles[1::2], strict=True):
        assert np.array_equal(left, right)  # 50 of the images are copies, so the 16 nearest pairs are equal
    fit = image_unit(load_dataset("digits"), unit).fit_split().images
    assert np.array_equal(tiles[0], fit[50, 0])


@pytest.mark.parametrize("count", [60, 130])
def test_other_numbers_of_images_keep_pairs_and_pictures_together(bench: Bench, count: int) -> None:
    context = bench.context(bench.unit())
    fit = load_dataset("digits").fit.images
    np.savez(context.artifact_dir / "images.npz", images=fit[:count])
    output = bench.score(bench.artifact(context, {}), bench.unit(), context)
    assert measure(output, "memorisation_ratio").value == 0
    with Image.open(context.exhibit_dir / "nearest-training.png") as picture:
        shown = np.asarray(picture)[::8, ::8]
    assert np.array_equal(shown[:8, :8], shown[:8, 10:18])
