"""Bad model output: each fault has its message."""

from typing import Any

import numpy as np
import pytest

from bench.errors import InvalidOutput
from bench.tasks.images.contract import check_features, check_images

GOOD = np.zeros((10, 3, 8, 8), np.uint8)


def test_good_images_come_back_unchanged() -> None:
    assert check_images(GOOD, shape=(3, 8, 8), n=10) is GOOD


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (GOOD.tolist(), r"expected uint8 NCHW \(10, 3, 8, 8\), got list"),
        (GOOD / 255.0, r"got float64 \(10, 3, 8, 8\) in \[0, 0\]; scale to 0..255"),
        (np.linspace(-1, 1, GOOD.size).reshape(GOOD.shape), r"in \[-1, 1\]"),
        (np.full(GOOD.shape, np.nan), "not finite"),
        (GOOD.astype(np.int64), "got int64"),
        (np.moveaxis(GOOD, 1, 3), "looks like NHWC"),
        (GOOD[:, :1], r"got uint8 \(10, 1, 8, 8\)"),
        (GOOD[:, 0], r"got uint8 \(10, 8, 8\)"),
        (GOOD[..., :7], r"got uint8 \(10, 3, 8, 7\)"),
        (GOOD[:9], "9 images"),
        (np.concatenate([GOOD, GOOD]), "20 images"),
        (GOOD[:0], "0 images"),
    ],
)
def test_bad_images_are_explained(images: Any, message: str) -> None:
    with pytest.raises(InvalidOutput, match=message):
        check_images(images, shape=(3, 8, 8), n=10)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
def test_numbers_of_any_width_become_float32_features(dtype: type) -> None:
    features = check_features(np.ones((4, 2), dtype), dim=2, encoder="e", n=4)
    assert features.dtype == np.float32
    assert np.array_equal(features, np.ones((4, 2)))


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([[1.0, 2.0]], "got list"),
        (np.array([["a", "b"]]), "got <U1"),
        (np.ones((4, 2), complex), "got complex128"),
        (np.ones((4, 3)), r"features for 'e': expected float32 \(4, 2\), got float64 \(4, 3\)"),
        (np.ones(8), r"got float64 \(8,\)"),
        (np.ones((3, 2)), "3 rows"),
        (np.array([[0, 0], [0, np.nan], [0, 0], [0, 0]]), "got nan in row 1, column 1"),
        (np.array([[0, 0], [0, 1], [np.inf, 0], [0, 0]]), "got inf in row 2, column 0"),
        (np.full((4, 2), 1e300), r"row 0, column 0 \(8 values"),
    ],
)
def test_bad_features_are_explained(features: Any, message: str) -> None:
    with pytest.raises(InvalidOutput, match=message):
        check_features(features, dim=2, encoder="e", n=4)
