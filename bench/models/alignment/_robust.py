"""Training against an adversary: every batch is first moved to where the classifier does worst.

Source: A. Madry et al. (2018), Towards deep learning models resistant to adversarial attacks.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

EPSILON = 2 * 8 / 255  # in images of [-1, 1]: 8 gray levels
STEPS = 5


def attacked(network: nn.Module, x: Tensor, y: Tensor, *, generator: torch.Generator) -> Tensor:
    """`x` moved by projected gradient ascent of the cross-entropy within +-EPSILON, from a random start."""
    start = EPSILON * (2 * torch.rand(x.shape, generator=generator) - 1)
    moved = (x + start).clamp(-1, 1)
    for _ in range(STEPS):
        moved.requires_grad_(True)
        (gradient,) = torch.autograd.grad(nn.functional.cross_entropy(network(moved), y), moved)
        moved = moved.detach() + 2.5 * EPSILON / STEPS * gradient.sign()
        moved = torch.clamp(torch.clamp(moved, x - EPSILON, x + EPSILON), -1, 1)
    return moved.detach()


def train_robust(
    network: nn.Module, x: Tensor, y: Tensor, *, iterations: int, rate: float, seed: int
) -> None:
    """Adam on attacked batches of 64, one-cycle schedule; in place."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(network.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=rate, total_steps=iterations)
    for _ in range(iterations):
        rows = torch.randint(len(x), (64,), generator=generator)
        batch = attacked(network, x[rows], y[rows], generator=generator)
        loss = nn.functional.cross_entropy(network(batch), y[rows])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
