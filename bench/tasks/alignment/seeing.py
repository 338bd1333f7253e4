"""How a model is shown images: resized and made gray once, in batches, every output checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from bench.adapters.alignment import (
    AdapterBatchDependence,
    AdapterShapeError,
    NonFiniteScores,
    VisionModel,
)
from bench.errors import InvalidOutput

BATCH = 50
TOLERANCE = 1e-4
MAX_FEATURES, PROJECTED = 100_000, 4_096
SMALLEST = 64  # edge of images for models that take any size
_GRAY = (0.299, 0.587, 0.114)  # ITU-R 601

Images = npt.NDArray[Any]  # uint8, or float32 in [0, 1]; (n, C, H, W)
Array = npt.NDArray[np.float32]


def prepared(images: Images, model: VisionModel, device: str) -> Tensor:
    """float32 (n, channels, H, W) in [0, 1], of the size that the model takes.

    Images that have it already are left as they are; others are resized once, bicubic and antialiased. Raises
    `ValueError` if values are outside [0, 1], which would otherwise saturate in silence.
    """
    x = torch.from_numpy(np.ascontiguousarray(images)).to(device)
    x = x.float() / 255 if x.dtype == torch.uint8 else x.float()
    if x.numel() and not (float(x.min()) >= 0 and float(x.max()) <= 1):
        raise ValueError(f"images are in [{float(x.min()):g}, {float(x.max()):g}]; expected [0, 1], or uint8")
    if model.channels == 1 and x.shape[1] == 3:
        x = (x * torch.tensor(_GRAY, device=device).view(1, 3, 1, 1)).sum(dim=1, keepdim=True)
    elif model.channels == 3 and x.shape[1] == 1:
        x = x.expand(-1, 3, -1, -1)
    size = input_size(model, (x.shape[2], x.shape[3]))
    if size != (x.shape[2], x.shape[3]):
        x = functional.interpolate(x, size=size, mode="bicubic", antialias=True, align_corners=False).clamp(
            0, 1
        )
    return x.contiguous()


def input_size(model: VisionModel, given: tuple[int, int]) -> tuple[int, int]:
    """The size in which images of size `given` are shown."""
    if model.input_hw is not None:
        return model.input_hw
    factor = max(1.0, SMALLEST / min(given))
    return round(given[0] * factor), round(given[1] * factor)


def features_of(model: VisionModel, images: Images, device: str) -> Array:
    """float32 (n, d); more than 100,000 features are projected at random to 4,096."""
    return _outputs(model, images, device, lambda x: _narrow(model.features(x).flatten(1)), "features", None)


def logits_of(model: VisionModel, images: Images, device: str, classes: int) -> Array:
    """float32 (n, classes)."""
    return _outputs(model, images, device, model.logits, "logits", classes)


def check_batches(model: VisionModel, images: Images, device: str) -> None:
    """Show eight images alone, together and in reverse; `AdapterBatchDependence` if that makes a difference."""
    x = prepared(images[:8], model, device)
    with torch.no_grad():
        together = model.features(x).flatten(1)
        alone = torch.cat([model.features(x[i : i + 1]).flatten(1) for i in range(len(x))])
        back = model.features(x.flip(0)).flatten(1).flip(0)
    scale = 1 + float(together.abs().max())
    gap = max(float((together - other).abs().max()) for other in (alone, back)) / scale
    if gap > TOLERANCE:
        raise AdapterBatchDependence(
            f"features of an image change by {gap:.2g} (relative) with its batch; put the model into evaluation mode"
        )


def looks_like_probabilities(logits: Array) -> bool:
    """Whether all rows sum to 1 and lie in [0, 1]: then a softmax was taken already."""
    inside = bool((logits >= 0).all() and (logits <= 1).all())
    return inside and bool(np.abs(logits.sum(axis=-1) - 1).max() < 1e-4)


def batches(n: int) -> Iterator[slice]:
    """Slices of at most 50 rows."""
    for start in range(0, n, BATCH):
        yield slice(start, min(n, start + BATCH))


def _outputs(
    model: VisionModel,
    images: Images,
    device: str,
    function: Callable[[Tensor], Tensor],
    what: str,
    width: int | None,
) -> Array:
    found: list[Array] = []
    with torch.no_grad():
        for number, rows in enumerate(batches(len(images))):
            x = prepared(images[rows], model, device)
            found.append(_checked(function(x), what, len(x), width, number))
    return np.concatenate(found)


def _checked(output: Any, what: str, n: int, width: int | None, batch: int) -> Array:
    if not isinstance(output, Tensor):
        raise AdapterShapeError(f"{what}: expected a torch tensor, got {type(output).__name__}")
    if output.ndim != 2 or len(output) != n or width not in (None, output.shape[1]):
        raise AdapterShapeError(f"{what}: expected ({n}, {width or 'd'}), got {tuple(output.shape)}")
    values: Array = output.detach().float().cpu().numpy()
    bad = int((~np.isfinite(values)).sum())
    if bad:
        raise NonFiniteScores(f"{what}: {bad} values of batch {batch} are not finite")
    return values


def _narrow(features: Tensor) -> Tensor:
    if features.shape[1] <= MAX_FEATURES:
        return features
    generator = torch.Generator().manual_seed(0)
    signs = torch.randint(0, 2, (features.shape[1], PROJECTED), generator=generator, dtype=torch.int8)
    projected: Tensor = features @ (2.0 * signs.to(features) - 1) / PROJECTED**0.5
    return projected


def require_vision(adapter: Any, task: str) -> VisionModel:
    """`adapter` if it sees; else `InvalidOutput` with what to do."""
    if isinstance(adapter, VisionModel):
        return adapter
    raise InvalidOutput(
        f"{task} needs a model that sees; derive {type(adapter).__name__} from bench.adapters.alignment.VisionModel"
    )
