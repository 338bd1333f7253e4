"""SmolLM2-135M-Instruct from its GGUF file: a Llama of 30 blocks that runs on one core."""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import Tensor
from torch.nn import functional as nn

from bench.datasets.sae import packages
from bench.datasets.sae.bytepair import BytePairs
from bench.datasets.sae.gguf import GgufFile

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SEPARATOR = 0  # token between packed documents


class SmolLM2:
    """`hidden(tokens, blocks)` is the residual stream, `logits` the rest of the model from there on."""

    dim = 576

    def __init__(self) -> None:
        file = GgufFile(packages.SMOLLM2.file(FILE, SHA256))
        meta = file.metadata
        architecture = meta["general.architecture"]
        if architecture != "llama":
            raise NotImplementedError(f"GGUF architecture {architecture!r}; 'llama' is read")
        self.blocks = int(meta["llama.block_count"])
        self._heads = int(meta["llama.attention.head_count"])
        self._groups = int(meta["llama.attention.head_count_kv"])
        self._eps = float(meta["llama.attention.layer_norm_rms_epsilon"])
        self._base = float(meta["llama.rope.freq_base"])
        self.tokenizer = BytePairs(meta["tokenizer.ggml.tokens"], meta["tokenizer.ggml.merges"])
        self._tensors = {name: torch.from_numpy(file.tensor(name)) for name in file.names}
        for block in range(self.blocks):
            for name, heads in (("attn_q", self._heads), ("attn_k", self._groups)):
                key = f"blk.{block}.{name}.weight"
                self._tensors[key] = _halves(self._tensors[key], heads)

    @torch.no_grad()
    def hidden(self, tokens: Tensor, blocks: int) -> Tensor:
        """Residual stream float32 (rows, T, 576) of int64 `tokens` (rows, T) after the first `blocks` blocks."""
        return self._run(self._tensors["token_embd.weight"][tokens], 0, blocks)

    @torch.no_grad()
    def tail(self, hidden: Tensor, first: int, last: int) -> Tensor:
        """The residual stream after `last` blocks from that after `first`."""
        return self._run(hidden, first, last)

    @torch.no_grad()
    def losses(self, hidden: Tensor, tokens: Tensor, blocks: int) -> tuple[Tensor, Tensor]:
        """Next-token losses (rows, T - 1) in nats and log probabilities (rows, T - 1, vocabulary).

        `hidden` is the residual stream after `blocks` blocks, or what was put in its place.
        """
        logits = self._logits(self._run(hidden, blocks, self.blocks))[:, :-1]
        logs = logits.log_softmax(dim=-1)
        return -logs.gather(2, tokens[:, 1:, None])[:, :, 0], logs

    def _logits(self, hidden: Tensor) -> Tensor:
        normed = self._norm(hidden, "output_norm.weight")
        return normed @ self._tensors["token_embd.weight"].T

    def _run(self, hidden: Tensor, first: int, last: int) -> Tensor:
        for block in range(first, last):
            hidden = hidden + self._attend(self._norm(hidden, f"blk.{block}.attn_norm.weight"), block)
            hidden = hidden + self._feed(self._norm(hidden, f"blk.{block}.ffn_norm.weight"), block)
        return hidden

    def _norm(self, x: Tensor, name: str) -> Tensor:
        return nn.rms_norm(x, (self.dim,), self._tensors[name], self._eps)

    def _linear(self, x: Tensor, block: int, name: str) -> Tensor:
        return nn.linear(x, self._tensors[f"blk.{block}.{name}.weight"])

    def _attend(self, x: Tensor, block: int) -> Tensor:
        rows, length, _ = x.shape
        size = self.dim // self._heads
        query, key, value = (
            self._linear(x, block, name).view(rows, length, heads, size).transpose(1, 2)
            for name, heads in (("attn_q", self._heads), ("attn_k", self._groups), ("attn_v", self._groups))
        )
        query, key = (_rotate(part, self._base) for part in (query, key))
        share = self._heads // self._groups
        key, value = (part.repeat_interleave(share, dim=1) for part in (key, value))
        mixed = nn.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self._linear(mixed.transpose(1, 2).reshape(rows, length, self.dim), block, "attn_output")

    def _feed(self, x: Tensor, block: int) -> Tensor:
        gate = nn.silu(self._linear(x, block, "ffn_gate"))
        return self._linear(gate * self._linear(x, block, "ffn_up"), block, "ffn_down")


def _halves(weight: Tensor, heads: int) -> Tensor:
    """Rows are stored with the two halves of a rotation side by side; rotation wants one half after the other."""
    out, inner = weight.shape
    return weight.view(heads, out // heads // 2, 2, inner).transpose(1, 2).reshape(out, inner).contiguous()


@lru_cache(maxsize=8)
def _angles(length: int, size: int, base: float) -> tuple[Tensor, Tensor]:
    frequencies = base ** -(torch.arange(0, size, 2, dtype=torch.float32) / size)
    angles = torch.arange(length, dtype=torch.float32)[:, None] * frequencies
    doubled = torch.cat([angles, angles], dim=1)
    return doubled.cos(), doubled.sin()


def _rotate(x: Tensor, base: float) -> Tensor:
    cosine, sine = _angles(x.shape[2], x.shape[3], base)
    first, second = x.chunk(2, dim=-1)
    return x * cosine + torch.cat([-second, first], dim=-1) * sine
