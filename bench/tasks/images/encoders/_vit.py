"""Vision transformers (Dosovitskiy et al. 2021) in the two forms whose weights are published and wanted here."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

_HEAD = 64  # width of an attention head in all of them


def quick_gelu(x: Tensor) -> Tensor:
    """x * sigmoid(1.702 x), the approximation that CLIP was trained with."""
    return x * torch.sigmoid(1.702 * x)


def attention(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Self-attention (b, s, d) of `x` (b, s, d) before the last linear map; `weight` (3d, d) makes q, k and v."""
    batch, length, width = x.shape
    parts = functional.linear(x, weight, bias).reshape(batch, length, 3, width // _HEAD, _HEAD)
    query, key, value = parts.permute(2, 0, 3, 1, 4)
    mixed = functional.scaled_dot_product_attention(query, key, value)
    return mixed.transpose(1, 2).reshape(batch, length, width)


class DinoTransformer(nn.Module):
    """DINOv2 (Oquab et al. 2024); names are those of the official state dicts.

    Positions were learned on a grid of `grid` x `grid` patches and are interpolated for other image sizes.
    """

    patch = 14

    def __init__(self, *, width: int, depth: int, grid: int) -> None:
        super().__init__()
        self.grid = grid
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.pos_embed = nn.Parameter(torch.zeros(1, grid**2 + 1, width))
        self.mask_token = nn.Parameter(torch.zeros(1, width))  # of the training only
        self.patch_embed = _Patches(width, self.patch)
        self.blocks = nn.ModuleList(_DinoBlock(width) for _ in range(depth))
        self.norm = nn.LayerNorm(width, eps=1e-6)

    def forward(self, x: Tensor) -> Tensor:
        """Class token (n, width), normalised, of images (n, 3, H, W) with H and W multiples of 14."""
        patches = self.patch_embed(x)
        rows, columns = patches.shape[2:]
        tokens = torch.cat([self.cls_token.expand(len(x), -1, -1), patches.flatten(2).transpose(1, 2)], dim=1)
        tokens = tokens + self._positions(rows, columns)
        for block in self.blocks:
            tokens = block(tokens)
        token: Tensor = self.norm(tokens[:, 0])
        return token

    def _positions(self, rows: int, columns: int) -> Tensor:
        """(1, rows * columns + 1, width): bicubic, with the tenth of a patch that the official code adds."""
        if (rows, columns) == (self.grid, self.grid):
            return self.pos_embed
        first, others = self.pos_embed[:, :1], self.pos_embed[:, 1:]
        plane = others.reshape(1, self.grid, self.grid, -1).permute(0, 3, 1, 2)
        scale = ((rows + 0.1) / self.grid, (columns + 0.1) / self.grid)
        fitted = functional.interpolate(plane, scale_factor=scale, mode="bicubic", align_corners=False)
        return torch.cat([first, fitted.flatten(2).transpose(1, 2)], dim=1)


class _Patches(nn.Module):
    def __init__(self, width: int, patch: int) -> None:
        super().__init__()
        self.proj = nn.Conv2d(3, width, patch, patch)

    def forward(self, x: Tensor) -> Tensor:
        patches: Tensor = self.proj(x)
        return patches


class _DinoBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=1e-6)
        self.attn = _DinoAttention(width)
        self.ls1 = _Scale(width)
        self.norm2 = nn.LayerNorm(width, eps=1e-6)
        self.mlp = _DinoPerceptron(width)
        self.ls2 = _Scale(width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.ls1(self.attn(self.norm1(x)))
        result: Tensor = x + self.ls2(self.mlp(self.norm2(x)))
        return result


class _DinoAttention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.proj(attention(x, self.qkv.weight, self.qkv.bias))
        return result


class _DinoPerceptron(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(width, 4 * width)
        self.fc2 = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.fc2(functional.gelu(self.fc1(x)))
        return result


class _Scale(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return self.gamma * x


class ClipTransformer(nn.Module):
    """Image tower of CLIP (Radford et al. 2021); names are those below `visual.` in the published archives."""

    def __init__(self, *, width: int, depth: int, patch: int, grid: int, outputs: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, patch, patch, bias=False)
        self.class_embedding = nn.Parameter(torch.zeros(width))
        self.positional_embedding = nn.Parameter(torch.zeros(grid**2 + 1, width))
        self.ln_pre = nn.LayerNorm(width)
        self.transformer = _ClipBlocks(width, depth)
        self.ln_post = nn.LayerNorm(width)
        self.proj = nn.Parameter(torch.zeros(width, outputs))

    def forward(self, x: Tensor) -> Tensor:
        """Image embedding (n, outputs), not normalised, of images (n, 3, S, S) with S = grid * patch."""
        patches = self.conv1(x).flatten(2).transpose(1, 2)
        first = self.class_embedding.expand(len(x), 1, -1)
        tokens = self.transformer(self.ln_pre(torch.cat([first, patches], dim=1) + self.positional_embedding))
        embedding: Tensor = self.ln_post(tokens[:, 0]) @ self.proj
        return embedding


class _ClipBlocks(nn.Module):
    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        self.resblocks = nn.ModuleList(_ClipBlock(width) for _ in range(depth))

    def forward(self, x: Tensor) -> Tensor:
        for block in self.resblocks:
            x = block(x)
        return x


class _ClipBlock(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(width)
        self.attn = _ClipAttention(width)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = _ClipPerceptron(width)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attn(self.ln_1(x))
        result: Tensor = x + self.mlp(self.ln_2(x))
        return result


class _ClipAttention(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.in_proj_weight = nn.Parameter(torch.zeros(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * width))
        self.out_proj = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.out_proj(attention(x, self.in_proj_weight, self.in_proj_bias))
        return result


class _ClipPerceptron(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.c_fc = nn.Linear(width, 4 * width)
        self.c_proj = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.c_proj(quick_gelu(self.c_fc(x)))
        return result
