"""Attribution maps: how much each pixel matters for the score of the true class.

Memory is that of one batch, whatever the number of noisy or interpolated copies: copies go through one after another.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from bench.adapters.alignment import AdapterGradientError, NonFiniteScores, VisionModel
from bench.tasks.alignment.readout import Probe
from bench.tasks.alignment.seeing import Images, batches, prepared

SAMPLES, NOISE = 25, 0.15  # of smoothgrad
STEPS, BASELINE = 32, 0.5  # of integrated gradients: trapezoids, from middle gray
PATCH = 4  # edge of what occlusion covers, in 32 pixels

Score = Callable[[Tensor, Tensor], Tensor]  # images (n, C, H, W), classes (n,) -> (n,)
Maps = npt.NDArray[np.float32]


def native_score(model: VisionModel) -> Score:
    """The logit of a class."""
    return lambda x, y: model.logits(x).gather(1, y[:, None])[:, 0]


def probe_score(model: VisionModel, probe: Probe, device: str) -> Score:
    """The logit of a class by a probe on the features (but for a constant)."""
    kept, weights = probe.gradient()
    columns = torch.from_numpy(np.flatnonzero(kept)).to(device)
    matrix = torch.from_numpy(weights).float().to(device)
    return lambda x, y: (model.features(x).flatten(1)[:, columns] * matrix.T[y]).sum(dim=1)


def maps_of(
    method: str, model: VisionModel, score: Score, images: Images, labels: npt.NDArray[np.int64], device: str
) -> Maps:
    """Maps float32 (n, H, W) in the size of the images; the largest over channels of the absolute attribution."""
    found = []
    for number, rows in enumerate(batches(len(images))):
        x, y = prepared(images[rows], model, device), torch.from_numpy(labels[rows]).to(device)
        raw = METHODS[method](score, x, y).abs().amax(dim=1, keepdim=True)
        if not bool(torch.isfinite(raw).all()):
            raise NonFiniteScores(f"{method}: the maps of batch {number} are not finite")
        size = images.shape[2:]
        if raw.shape[2:] != size:
            raw = functional.interpolate(raw, size=size, mode="bilinear", antialias=True, align_corners=False)
        found.append(raw[:, 0].cpu().numpy().astype(np.float32))
    return np.concatenate(found)


def gradient(score: Score, x: Tensor, y: Tensor) -> Tensor:
    """d score / d x, by one backward pass for the batch."""
    x = x.detach().requires_grad_(True)
    total = score(x, y).sum()
    if not total.requires_grad:
        raise AdapterGradientError("the score does not depend on the image; set differentiable = False")
    (found,) = torch.autograd.grad(total, x, allow_unused=True)
    if found is None:
        raise AdapterGradientError("no gradient reaches the image; set differentiable = False")
    return found


def smoothgrad(score: Score, x: Tensor, y: Tensor) -> Tensor:
    """Mean gradient over 25 noisy copies. Source: D. Smilkov et al. (2017), SmoothGrad."""
    generator = torch.Generator().manual_seed(0)
    total = torch.zeros_like(x)
    for _ in range(SAMPLES):
        total += gradient(score, x + NOISE * torch.randn(x.shape, generator=generator).to(x.device), y)
    return total / SAMPLES


def integrated_gradients(score: Score, x: Tensor, y: Tensor) -> Tensor:
    """(x - baseline) times the mean gradient on the way. Source: M. Sundararajan et al. (2017)."""
    baseline = torch.full_like(x, BASELINE)
    total = torch.zeros_like(x)
    for step in range(STEPS + 1):
        weight = 0.5 if step in (0, STEPS) else 1.0
        total += weight * gradient(score, baseline + step / STEPS * (x - baseline), y)
    return (x - baseline) * total / STEPS


def completeness_error(score: Score, x: Tensor, y: Tensor) -> Tensor:
    """|sum of integrated gradients - (score(x) - score(baseline))| / |the latter|, (n,): 0 is exact."""
    found = integrated_gradients(score, x, y).flatten(1).sum(dim=1)
    with torch.no_grad():
        change = score(x, y) - score(torch.full_like(x, BASELINE), y)
    return (found - change).abs() / change.abs().clamp_min(1e-6)


def occlusion(score: Score, x: Tensor, y: Tensor) -> Tensor:
    """How far the score falls when a gray patch covers a place; for models without gradients."""
    size = max(1, round(PATCH * x.shape[-1] / 32))
    found = torch.zeros_like(x)
    with torch.no_grad():
        whole = score(x, y)
        for top in range(0, x.shape[2], size):
            for left in range(0, x.shape[3], size):
                covered = x.clone()
                covered[:, :, top : top + size, left : left + size] = BASELINE
                drop = (whole - score(covered, y)).view(-1, 1, 1, 1)
                found[:, :, top : top + size, left : left + size] = drop
    return found


METHODS: dict[str, Callable[[Score, Tensor, Tensor], Tensor]] = {
    "gradient": gradient,
    "smoothgrad": smoothgrad,
    "integrated_gradients": integrated_gradients,
    "occlusion": occlusion,
}
