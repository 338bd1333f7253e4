"""Projected gradient descent on a model's own logits; called PGD-20 and nothing more, as stronger attacks exist."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from bench.adapters.alignment import AdapterGradientError, VisionModel
from bench.tasks.alignment.seeing import Images, batches, prepared

STEPS = 20
Norm = Literal["linf", "l2"]
RADII: dict[Norm, float] = {"linf": 8 / 255, "l2": 0.5}


def attacked_decisions(
    model: VisionModel, images: Images, labels: npt.NDArray[np.int64], *, norm: Norm, device: str, seed: int
) -> npt.NDArray[np.int64]:
    """Decisions (n,) after the attack, from a random start, of steps 2.5 radius / 20, with images kept in [0, 1]."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for rows in batches(len(images)):
        x, y = prepared(images[rows], model, device), torch.from_numpy(labels[rows]).to(device)
        moved = x + _start(x, norm, generator)
        for _ in range(STEPS):
            moved = _step(x, moved.clamp(0, 1), _gradient(model, moved.clamp(0, 1), y), norm)
        with torch.no_grad():
            found.append(model.logits(moved.clamp(0, 1)).argmax(dim=1).cpu().numpy())
    return np.concatenate(found).astype(np.int64)


def _gradient(model: VisionModel, x: Tensor, y: Tensor) -> Tensor:
    x = x.detach().requires_grad_(True)
    loss = functional.cross_entropy(model.logits(x), y, reduction="sum")
    if not loss.requires_grad:
        raise AdapterGradientError("logits do not depend on the image; set differentiable = False")
    (gradient,) = torch.autograd.grad(loss, x)
    return gradient


def _start(x: Tensor, norm: Norm, generator: torch.Generator) -> Tensor:
    noise = 2 * torch.rand(x.shape, generator=generator).to(x.device) - 1
    return RADII[norm] * (noise if norm == "linf" else noise / _length(noise))


def _step(x: Tensor, moved: Tensor, gradient: Tensor, norm: Norm) -> Tensor:
    radius = RADII[norm]
    size = 2.5 * radius / STEPS
    if norm == "linf":
        found: Tensor = x + (moved + size * gradient.sign() - x).clamp(-radius, radius)
        return found
    change = moved + size * gradient / _length(gradient) - x
    inside: Tensor = x + change * (radius / _length(change)).clamp(max=1)
    return inside


def _length(v: Tensor) -> Tensor:
    length: Tensor = v.flatten(1).norm(dim=1).clamp_min(1e-12)
    return length.view(-1, 1, 1, 1)
