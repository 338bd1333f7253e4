"""What the trained models share: seeded layers, the learning-rate schedule, batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

# The first optimizer of a process makes torch load its compiler, a second of CPU time. Done here, the bench pays for
# it once, when it imports a model before it starts a process for each job, and not in every job.
torch.optim.Adam([torch.zeros(1, requires_grad=True)])


def linear(inputs: int, outputs: int, rng: torch.Generator) -> nn.Linear:
    """A linear layer with the usual uniform initial weights, drawn from `rng` and not the global state."""
    layer = empty_linear(inputs, outputs)
    bound = 1.0 / math.sqrt(inputs)
    nn.init.uniform_(layer.weight, -bound, bound, generator=rng)
    nn.init.uniform_(layer.bias, -bound, bound, generator=rng)
    return layer


def zero_linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear layer that starts as the zero function."""
    layer = empty_linear(inputs, outputs)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def empty_linear(inputs: int, outputs: int) -> nn.Linear:
    """A linear layer without initial values: the ordinary constructor would use up global randomness."""
    return nn.Linear(inputs, outputs, device="meta").to_empty(device="cpu")


def schedule(step: int, steps: int, *, peak: float, warmup: int = 50) -> float:
    """Learning rate of `step`: a linear warm-up, then half a cosine down to 0."""
    return peak * min(1.0, (step + 1) / warmup) * 0.5 * (1.0 + math.cos(math.pi * step / steps))


def set_learning_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


def batches(data: Tensor, size: int, steps: int, rng: torch.Generator) -> Iterator[Tensor]:
    """`steps` batches of rows of `data` drawn with replacement; `rng` lives on the CPU."""
    for _ in range(steps):
        rows = torch.randint(len(data), (size,), generator=rng)
        yield data[rows.to(data.device)]


def step_count(limit: int, epochs: int, images: int, batch: int) -> int:
    """Number of training steps: at most `limit`, and at most `epochs` passes over the images."""
    return min(limit, epochs * -(-images // batch))


def train(
    network: nn.Module,
    data: Tensor,
    loss: Callable[[Tensor], Tensor],
    rng: torch.Generator,
    *,
    steps: int,
    batch: int,
    rate: float,
    average: float,
) -> None:
    """Minimise `loss` over batches of `data` with Adam, then give `network` the running mean of its weights."""
    weights = list(network.parameters())
    averages = [weight.detach().clone() for weight in weights]
    optimizer = torch.optim.Adam(weights, betas=(0.9, 0.99), fused=True)
    for step, rows in enumerate(batches(data, batch, steps, rng)):
        set_learning_rate(optimizer, schedule(step, steps, peak=rate))
        optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward([loss(rows)])
        optimizer.step()
        decay = min(average, (1 + step) / (10 + step))
        torch._foreach_lerp_(averages, [weight.detach() for weight in weights], 1.0 - decay)
    for weight, mean in zip(weights, averages, strict=True):
        weight.data.copy_(mean)
