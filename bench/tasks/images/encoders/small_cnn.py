"""Our own small network for 28 x 28 gray images and the two encoders trained with it.

Weights come from `scripts/train_image_encoders.py` and ship with the package:

    fashion-cnn  the 60,000 training images of Fashion-MNIST; accuracy 0.902 on ref, 0.901 on hold
    mnist-cnn    the 2,000 `fit` images of mnist5k, randomly shifted; accuracy 0.979 on ref, 0.975 on hold

Neither has seen an image of `ref` or `hold`.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from bench.errors import MissingRequirement, UsageError
from bench.tasks.images.encoders._batches import encode_in_batches

WEIGHTS = Path(__file__).parents[1] / "weights"
FASHION_SHA256 = "0428e2c153ed53ebd81b37f44d64a734d2a4262aa06c71ba5e15f9d9288a19a8"
MNIST_SHA256 = "60017386f08e8507bf550840f7df82d6c8fd22f7620ffe3359fd8261ca144cbd"


class SmallCnn(nn.Module):
    """Classifier of ten classes with 155,786 parameters; its last hidden layer is the feature vector."""

    dim = 128

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(16, 32, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3, stride=2, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(64 * 4 * 4, self.dim),
            nn.ReLU(),
        )
        self.classifier = nn.Linear(self.dim, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Logits (n, 10) of images float32 (n, 1, 28, 28) in [0, 1]."""
        logits: Tensor = self.classifier(self.features(images))
        return logits


class SmallCnnEncoder:
    """Features of a trained `SmallCnn`: ReLU outputs, float32 (n, 128)."""

    resize_mode = "none"

    def __init__(self, name: str, weights_sha256: str) -> None:
        self.name = name
        self.weights_sha256 = weights_sha256
        self._network = SmallCnn()
        self._network.load_state_dict(_read_weights(WEIGHTS / f"{name}.safetensors", weights_sha256))
        self._network.eval().requires_grad_(False)

    def width(self, image_shape: tuple[int, int, int]) -> int:
        """128, whatever the images."""
        return SmallCnn.dim

    def encode(
        self, images: npt.NDArray[np.uint8], *, device: str = "cpu", batch_size: int = 250
    ) -> npt.NDArray[np.float32]:
        """float32 (n, 128) of images uint8 (n, 1, 28, 28)."""
        if images.shape[1:] != (1, 28, 28):
            raise UsageError(f"{self.name} takes images (n, 1, 28, 28), got {images.shape}")
        return encode_in_batches(
            images,
            prepare=lambda part: torch.from_numpy(part) / 255,
            network=self._network.to(device).features,
            dim=SmallCnn.dim,
            device=device,
            batch_size=batch_size,
        )

    def head(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Weights (10, 128) and bias of the last layer, which turns features into logits."""
        last = self._network.classifier
        return last.weight.cpu().numpy(), last.bias.cpu().numpy()


def fashion_cnn() -> SmallCnnEncoder:
    """The default encoder of `fashion`."""
    return SmallCnnEncoder("fashion-cnn", FASHION_SHA256)


def mnist_cnn() -> SmallCnnEncoder:
    """The default encoder of `mnist5k`."""
    return SmallCnnEncoder("mnist-cnn", MNIST_SHA256)


def _read_weights(path: Path, sha256: str) -> dict[str, Tensor]:
    from safetensors.torch import load

    if not path.is_file():
        raise MissingRequirement(
            f"no encoder weights {path}; reinstall the package or run scripts/train_image_encoders.py"
        )
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise MissingRequirement(f"{path} has SHA-256 {found}, expected {sha256}; reinstall the package")
    return load(content)
