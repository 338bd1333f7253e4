"""A denoising autoencoder: features that are good for taking noise away, learned without any label.

Source: P. Vincent et al. (2008), Extracting and composing robust features with denoising autoencoders.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from bench.models.alignment._network import FEATURES

NOISE = 0.3  # standard deviation, in images of [-1, 1]


class Decoder(nn.Module):
    """From features (n, 128) back to images (n, 1, 32, 32)."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(FEATURES, 64 * 4 * 4),
            nn.SiLU(),
            nn.Unflatten(1, (64, 4, 4)),
            nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1),
            nn.SiLU(),
            nn.ConvTranspose2d(32, 16, 4, stride=2, padding=1),
            nn.SiLU(),
            nn.ConvTranspose2d(16, 1, 4, stride=2, padding=1),
        )

    def forward(self, features: Tensor) -> Tensor:
        """The image that the features stand for."""
        image: Tensor = self.layers(features)
        return image


def train_autoencoder(encoder: nn.Module, x: Tensor, *, iterations: int, rate: float, seed: int) -> float:
    """Train `encoder` in place with a decoder of its own; the mean squared error of the last fifth is returned."""
    generator = torch.Generator().manual_seed(seed)
    decoder = Decoder()
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=rate, total_steps=iterations)
    errors: list[float] = []
    for _ in range(iterations):
        clean = x[torch.randint(len(x), (64,), generator=generator)]
        noisy = clean + NOISE * torch.randn(clean.shape, generator=generator)
        loss = (decoder(encoder(noisy)) - clean).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        errors.append(loss.item())
    tail = errors[-max(1, iterations // 5) :]
    return sum(tail) / len(tail)
