"""The small trained networks: joint energy-based models, an adversarially trained one, a denoising autoencoder."""

from __future__ import annotations

import hashlib
from pathlib import Path

from torch import Tensor, nn

from bench.adapters.alignment import LabelSpace, VisionModel
from bench.errors import MissingRequirement
from bench.models.alignment._hashes import SHA256
from bench.models.alignment._network import EnergyCnn
from bench.spec import Context

WEIGHTS = Path(__file__).parent / "weights"


class SmallNetwork(VisionModel):
    """A network of the shape-texture world; the sweep has a training for each of several seeds.

    `weights` names the files: `weights`-0.safetensors and so on. At `trained_head` false the logits are there, but
    were never asked to name classes.
    """

    label_space: LabelSpace = "stw10"
    channels, input_hw = 1, (32, 32)

    def __init__(self, weights: str, trained_head: bool = True) -> None:
        self._weights, self.native_head = weights, trained_head
        self.runs = sum(name.rpartition("-")[0] == weights for name in SHA256)

    def setup(self, ctx: Context) -> None:
        """Read the first training."""
        self._device = ctx.device
        self.use_run(0)

    def use_run(self, run: int) -> None:
        """Read the weights of one training."""
        self._network = self._made()
        self._network.load_state_dict(_state(f"{self._weights}-{run}"))
        self._network.eval().requires_grad_(False).to(self._device)

    def _made(self) -> nn.Module:
        return EnergyCnn()

    def logits(self, x: Tensor) -> Tensor:
        """(n, 10)."""
        found: Tensor = self._network(2 * x - 1)
        return found

    def features(self, x: Tensor) -> Tensor:
        """(n, 128), the last hidden layer."""
        hidden: nn.Module = self._network.features  # type: ignore[assignment]
        found: Tensor = hidden(2 * x - 1)
        return found


class Autoencoder(SmallNetwork):
    """The encoder of a denoising autoencoder: features, but no classes."""

    label_space: LabelSpace = "none"

    def _made(self) -> nn.Module:
        return EnergyCnn().features

    def logits(self, x: Tensor) -> Tensor:
        """It has none."""
        # Its base class has logits, and with the label space "none" nobody asks for them.
        raise NotImplementedError("an autoencoder has no classes")

    def features(self, x: Tensor) -> Tensor:
        """(n, 128)."""
        found: Tensor = self._network(2 * x - 1)
        return found


def _state(name: str) -> dict[str, Tensor]:
    """The tensors of a shipped file, verified, as float32."""
    from safetensors.torch import load

    path = WEIGHTS / f"{name}.safetensors"
    if not path.is_file():
        raise MissingRequirement(
            f"no weights {path}; reinstall the package or run scripts/train_alignment_models.py"
        )
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256.get(name):
        raise MissingRequirement(
            f"{path} has SHA-256 {found}, expected {SHA256.get(name)}; reinstall the package"
        )
    return {key: value.float() for key, value in load(content).items()}
