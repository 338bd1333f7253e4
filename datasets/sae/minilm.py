"""all-MiniLM-L6-v2: a BERT of 6 layers that turns a sentence into a vector."""

from __future__ import annotations

import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn import functional as nn

from bench.datasets.sae import packages
from bench.datasets.sae.wordpiece import WordPiece

_EPS, _HEADS = 1e-12, 12


class MiniLM:
    """`hidden(tokens, layers)` are the outputs of a layer, `tail` those of the last from there on."""

    dim = 384
    layers = 6

    def __init__(self) -> None:
        vocabulary = packages.MINILM.file("model/vocab.txt").read_text(encoding="utf-8").splitlines()
        self.tokenizer = WordPiece(vocabulary)
        self._tensors = load_file(str(packages.MINILM.file("model/model.safetensors")))

    @torch.no_grad()
    def hidden(self, tokens: Tensor, layers: int) -> Tensor:
        """float32 (rows, T, 384) after `layers` layers of int64 `tokens` (rows, T), none of which is padding."""
        t = self._tensors
        x = t["embeddings.word_embeddings.weight"][tokens]
        x = x + t["embeddings.position_embeddings.weight"][: tokens.shape[1]]
        x = x + t["embeddings.token_type_embeddings.weight"][0]
        return self.tail(self._norm(x, "embeddings.LayerNorm"), 0, layers)

    @torch.no_grad()
    def tail(self, hidden: Tensor, first: int, last: int) -> Tensor:
        """From the output of layer `first` to that of layer `last`."""
        for layer in range(first, last):
            prefix = f"encoder.layer.{layer}"
            mixed = self._linear(self._attend(hidden, prefix), f"{prefix}.attention.output.dense")
            hidden = self._norm(hidden + mixed, f"{prefix}.attention.output.LayerNorm")
            inner = nn.gelu(self._linear(hidden, f"{prefix}.intermediate.dense"))
            fed = self._linear(inner, f"{prefix}.output.dense")
            hidden = self._norm(hidden + fed, f"{prefix}.output.LayerNorm")
        return hidden

    def sentence(self, text: str) -> Tensor:
        """The mean of the last layer's outputs, special tokens included, (384,)."""
        ids = [self.tokenizer.start, *self.tokenizer.encode(text)[:254], self.tokenizer.end]
        return self.hidden(torch.tensor([ids]), self.layers)[0].mean(dim=0)

    def _linear(self, x: Tensor, name: str) -> Tensor:
        return nn.linear(x, self._tensors[f"{name}.weight"], self._tensors[f"{name}.bias"])

    def _norm(self, x: Tensor, name: str) -> Tensor:
        weight, bias = self._tensors[f"{name}.weight"], self._tensors[f"{name}.bias"]
        return nn.layer_norm(x, (self.dim,), weight, bias, _EPS)

    def _attend(self, x: Tensor, prefix: str) -> Tensor:
        rows, length, _ = x.shape
        query, key, value = (
            self._linear(x, f"{prefix}.attention.self.{name}")
            .view(rows, length, _HEADS, self.dim // _HEADS)
            .transpose(1, 2)
            for name in ("query", "key", "value")
        )
        mixed = nn.scaled_dot_product_attention(query, key, value)
        return mixed.transpose(1, 2).reshape(rows, length, self.dim)
