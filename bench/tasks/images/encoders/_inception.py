"""The architecture of the FID's Inception v3, written as tables of branches.

Names of layers are those of the published PyTorch state dict, so that it loads as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

Pool = Literal["average", "maximum", "shrink"]


@dataclass(frozen=True, slots=True)
class _Conv:
    outputs: int
    kernel: tuple[int, int] = (1, 1)
    stride: int = 1  # 1 keeps the size, 2 halves it without padding
    suffix: str = ""  # of a name, where two layers stand side by side


@dataclass(frozen=True, slots=True)
class _Branch:
    name: str
    chain: tuple[_Conv, ...]
    ends: tuple[_Conv, ...] = ()  # all applied to the end of the chain, side by side


class ConvNorm(nn.Module):
    """Convolution without bias, batch norm, ReLU."""

    def __init__(
        self, inputs: int, outputs: int, kernel: tuple[int, int], *, stride: int = 1, padding: bool = True
    ) -> None:
        super().__init__()
        margin = (kernel[0] // 2, kernel[1] // 2) if padding else (0, 0)
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, margin, bias=False)
        self.bn = nn.BatchNorm2d(outputs, eps=1e-3)

    def forward(self, x: Tensor) -> Tensor:
        """(n, C, H, W) -> (n, D, H', W')."""
        return functional.relu(self.bn(self.conv(x)), inplace=True)


class Mixed(nn.Module):
    """Branches side by side, and one that pools; their channels are put together."""

    def __init__(self, inputs: int, branches: tuple[_Branch, ...], pool: Pool, pooled: int = 0) -> None:
        super().__init__()
        self._branches = branches
        self._pool = pool
        self.outputs = pooled or inputs
        for branch in branches:
            width = inputs
            for number, conv in enumerate(branch.chain, 1):
                self.add_module(_name(branch, number), _layer(width, conv))
                width = conv.outputs
            for conv in branch.ends:
                self.add_module(_name(branch, len(branch.chain) + 1) + conv.suffix, _layer(width, conv))
            self.outputs += sum(conv.outputs for conv in branch.ends) or width
        if pooled:
            self.branch_pool = ConvNorm(inputs, pooled, (1, 1))

    def forward(self, x: Tensor) -> Tensor:
        """(n, inputs, H, W) -> (n, outputs, H', W')."""
        parts: list[Tensor] = []
        for branch in self._branches:
            hidden = x
            for number in range(1, len(branch.chain) + 1):
                hidden = self.get_submodule(_name(branch, number))(hidden)
            last = _name(branch, len(branch.chain) + 1)
            parts += [self.get_submodule(last + conv.suffix)(hidden) for conv in branch.ends] or [hidden]
        pooled = _POOLS[self._pool](x)
        return torch.cat([*parts, self.branch_pool(pooled) if self._pool != "shrink" else pooled], dim=1)


def _name(branch: _Branch, number: int) -> str:
    alone = len(branch.chain) == 1 and not branch.ends
    return branch.name if alone else f"{branch.name}_{number}"


def _layer(inputs: int, conv: _Conv) -> ConvNorm:
    return ConvNorm(inputs, conv.outputs, conv.kernel, stride=conv.stride, padding=conv.stride == 1)


_POOLS = {
    "average": lambda x: functional.avg_pool2d(x, 3, stride=1, padding=1, count_include_pad=False),
    "maximum": lambda x: functional.max_pool2d(x, 3, stride=1, padding=1),
    "shrink": lambda x: functional.max_pool2d(x, 3, stride=2),
}


def _mixed_a(inputs: int, pooled: int) -> Mixed:
    branches = (
        _Branch("branch1x1", (_Conv(64),)),
        _Branch("branch5x5", (_Conv(48), _Conv(64, (5, 5)))),
        _Branch("branch3x3dbl", (_Conv(64), _Conv(96, (3, 3)), _Conv(96, (3, 3)))),
    )
    return Mixed(inputs, branches, "average", pooled)


def _mixed_b(inputs: int) -> Mixed:
    branches = (
        _Branch("branch3x3", (_Conv(384, (3, 3), 2),)),
        _Branch("branch3x3dbl", (_Conv(64), _Conv(96, (3, 3)), _Conv(96, (3, 3), 2))),
    )
    return Mixed(inputs, branches, "shrink")


def _mixed_c(inputs: int, width: int) -> Mixed:
    wide, tall = (1, 7), (7, 1)
    twice = (_Conv(width), _Conv(width, tall), _Conv(width, wide), _Conv(width, tall), _Conv(192, wide))
    branches = (
        _Branch("branch1x1", (_Conv(192),)),
        _Branch("branch7x7", (_Conv(width), _Conv(width, wide), _Conv(192, tall))),
        _Branch("branch7x7dbl", twice),
    )
    return Mixed(inputs, branches, "average", 192)


def _mixed_d(inputs: int) -> Mixed:
    branches = (
        _Branch("branch3x3", (_Conv(192), _Conv(320, (3, 3), 2))),
        _Branch("branch7x7x3", (_Conv(192), _Conv(192, (1, 7)), _Conv(192, (7, 1)), _Conv(192, (3, 3), 2))),
    )
    return Mixed(inputs, branches, "shrink")


def _mixed_e(inputs: int, pool: Pool) -> Mixed:
    ends = (_Conv(384, (1, 3), suffix="a"), _Conv(384, (3, 1), suffix="b"))
    branches = (
        _Branch("branch1x1", (_Conv(320),)),
        _Branch("branch3x3", (_Conv(384),), ends),
        _Branch("branch3x3dbl", (_Conv(448), _Conv(384, (3, 3))), ends),
    )
    return Mixed(inputs, branches, pool, 192)


class FidInception(nn.Module):
    """Inception v3 (Szegedy et al. 2016) as of 2015-12-05: 2,048 features and 1,008 outputs."""

    dim = 2048

    def __init__(self) -> None:
        super().__init__()
        self.Conv2d_1a_3x3 = ConvNorm(3, 32, (3, 3), stride=2, padding=False)
        self.Conv2d_2a_3x3 = ConvNorm(32, 32, (3, 3), padding=False)
        self.Conv2d_2b_3x3 = ConvNorm(32, 64, (3, 3))
        self.Conv2d_3b_1x1 = ConvNorm(64, 80, (1, 1))
        self.Conv2d_4a_3x3 = ConvNorm(80, 192, (3, 3), padding=False)
        self.Mixed_5b = _mixed_a(192, 32)
        self.Mixed_5c = _mixed_a(256, 64)
        self.Mixed_5d = _mixed_a(288, 64)
        self.Mixed_6a = _mixed_b(288)
        self.Mixed_6b = _mixed_c(768, 128)
        self.Mixed_6c = _mixed_c(768, 160)
        self.Mixed_6d = _mixed_c(768, 160)
        self.Mixed_6e = _mixed_c(768, 192)
        self.Mixed_7a = _mixed_d(768)
        self.Mixed_7b = _mixed_e(1280, "average")
        self.Mixed_7c = _mixed_e(2048, "maximum")
        self.fc = nn.Linear(self.dim, 1008)

    def features(self, x: Tensor) -> Tensor:
        """(n, 2048) of images float32 (n, 3, 299, 299) in [-1, 1]; other sizes from 75 on work as well."""
        x = self.Conv2d_2b_3x3(self.Conv2d_2a_3x3(self.Conv2d_1a_3x3(x)))
        x = functional.max_pool2d(x, 3, stride=2)
        x = self.Conv2d_4a_3x3(self.Conv2d_3b_1x1(x))
        x = functional.max_pool2d(x, 3, stride=2)
        for name, block in self.named_children():
            if name.startswith("Mixed_"):
                x = block(x)
        return x.mean(dim=(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        """Logits (n, 1008)."""
        logits: Tensor = self.fc(self.features(x))
        return logits
