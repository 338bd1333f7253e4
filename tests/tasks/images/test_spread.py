"""Standard errors within a job agree with the spread over independent samples."""

import numpy as np
import pytest
import torch
from torch import Tensor

from bench.metrics.images import chamfer
from bench.tasks.images import spread

N = 200


def means(real: Tensor, generated: Tensor) -> dict[str, float]:
    return {"mean": float(generated.mean() - real.mean())}


def draw(rng: np.random.Generator, dims: int = 1) -> Tensor:
    return torch.from_numpy(rng.standard_normal((N, dims)))


@pytest.mark.parametrize("errors", [spread.half_errors, spread.block_errors])
def test_error_of_a_mean_is_the_known_one(errors) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    squares = [errors(means, draw(rng), draw(rng), rng=rng)["mean"] ** 2 for _ in range(400)]
    assert np.sqrt(np.mean(squares)) == pytest.approx(np.sqrt(2 / N), rel=0.1)


def test_error_of_a_neighbour_distance_is_not_too_small() -> None:
    """The factor sqrt(1/2) of dependent halves would give about 0.8 of the true spread here."""

    def ratio(real: Tensor, generated: Tensor) -> dict[str, float]:
        return {"g2r": chamfer(real=real, generated=generated).g2r}

    rng = np.random.default_rng(0)
    true = np.std([ratio(draw(rng, 8), draw(rng, 8))["g2r"] for _ in range(80)], ddof=1)
    squares = [spread.half_errors(ratio, draw(rng, 8), draw(rng, 8), rng=rng)["g2r"] ** 2 for _ in range(30)]
    assert 0.9 <= np.sqrt(np.mean(squares)) / true <= 1.5


def test_undefined_statistics_have_no_error() -> None:
    rng = np.random.default_rng(0)
    errors = spread.half_errors(lambda x, y: {"a": 1.0, "b": float("nan")}, draw(rng), draw(rng), rng=rng)
    assert errors == {"a": 0.0}
