"""The small network that all trained models of the shape-texture world share."""

from __future__ import annotations

from torch import Tensor, nn

FEATURES, CLASSES = 128, 10


class EnergyCnn(nn.Module):
    """Classifier of 32 x 32 gray images, smooth and without batch normalisation; 155,786 parameters.

    Its logits f are read as an energy, too: E(x) = -logsumexp f(x).
    """

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1),
            nn.SiLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1),
            nn.SiLU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1),
            nn.SiLU(),
            nn.Flatten(),
            nn.Linear(64 * 4 * 4, FEATURES),
            nn.SiLU(),
        )
        self.head = nn.Linear(FEATURES, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, 10) of images float32 (n, 1, 32, 32) in [-1, 1]."""
        logits: Tensor = self.head(self.features(x))
        return logits
