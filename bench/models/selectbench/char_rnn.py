"""A recurrent network that writes SMILES symbol by symbol, trained on approved drugs."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from bench.adapters.selectbench import Design, DesignRequest, MoleculeGenerator, Oracle
from bench.spec import Context

_SYMBOL = re.compile(r"\[[^\]]+\]|Br|Cl|%\d\d|.")
_END = 0  # also where a string begins
_LONGEST = 100  # symbols
STEPS = {"tiny": 20, "small": 150, "full": 6_000}  # of training: at small few strings become molecules
_BATCH, _RATE, _CLIP = 64, 2e-3, 5.0


class CharRNN(MoleculeGenerator):
    """A GRU with an embedding of 64 and 256 units, some 261,000 weights.

    Trained on the drugs written with their atoms in random orders, as 1,300 strings are few. What it writes is handed
    in as it comes, molecules or not. After Segler et al., ACS Cent. Sci. 4 (2018) 120.
    """

    def setup(self, ctx: Context) -> None:
        """How long it trains depends on the size."""
        self._steps = STEPS[ctx.size]

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        """Train once for all requests, then sample; the pocket is not looked at."""
        symbols = alphabet(request.drugs)
        network = _Writer(len(symbols) + 1)
        path = request.cache_dir / "char_rnn" / f"{_fingerprint(request.drugs, self._steps)}.safetensors"
        if path.is_file():
            network.load_state_dict(load_file(path))
        else:
            train(network, request.drugs, symbols, steps=self._steps)
            _keep(network, path)
        return [Design(smiles=text) for text in sample(network, symbols, request.n, request.seed)]


class _Writer(nn.Module):
    def __init__(self, symbols: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(symbols, 64)
        self.gru = nn.GRU(64, 256, batch_first=True)
        self.head = nn.Linear(256, symbols)

    def forward(
        self, codes: torch.Tensor, state: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits (n, length, symbols) of the next symbol, and the state."""
        hidden, state = self.gru(self.embedding(codes), state)
        return cast(torch.Tensor, self.head(hidden)), state


def symbols_of(smiles: str) -> list[str]:
    """A SMILES as symbols: atoms in brackets and two-letter elements are one."""
    return _SYMBOL.findall(smiles)


def alphabet(drugs: Sequence[str]) -> list[str]:
    """Every symbol that occurs; code 0 is the end."""
    return sorted({symbol for smiles in drugs for symbol in symbols_of(smiles)})


def train(network: _Writer, drugs: Sequence[str], symbols: Sequence[str], *, steps: int) -> None:
    """Adam on the cross-entropy of the next symbol; the same weights every time on one machine."""
    rng = np.random.default_rng(0)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        network.apply(_begin)
        optimizer = torch.optim.Adam(network.parameters(), lr=_RATE)
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = _RATE * (1 - step / steps)
            chosen = [drugs[i] for i in rng.integers(0, len(drugs), _BATCH)]
            codes = _coded([_shuffled(smiles, rng) for smiles in chosen], symbols)
            logits, _ = network(codes[:, :-1].clamp(min=_END))
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), codes[:, 1:].flatten(), ignore_index=-1)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(network.parameters(), _CLIP)
            optimizer.step()


def sample(network: _Writer, symbols: Sequence[str], n: int, seed: int) -> list[str]:
    """`n` strings, molecules or not. Same seed, same strings."""
    generator = torch.Generator().manual_seed(seed)
    codes = torch.full((n, 1), _END)
    state: torch.Tensor | None = None
    written: list[torch.Tensor] = []
    with torch.no_grad():
        for _ in range(_LONGEST):
            logits, state = network(codes, state)
            codes = torch.multinomial(torch.softmax(logits[:, -1], dim=-1), 1, generator=generator)
            written.append(codes[:, 0])
    rows = torch.stack(written, dim=1).tolist()
    return ["".join(symbols[c - 1] for c in row[: row.index(_END) if _END in row else None]) for row in rows]


def _begin(module: nn.Module) -> None:
    reset = getattr(module, "reset_parameters", None)
    if reset is not None:
        reset()


def _shuffled(smiles: str, rng: np.random.Generator) -> str:
    """The molecule written from a random atom on; as it is if RDKit's way of writing it has unknown symbols."""
    from rdkit import Chem

    mol = Chem.MolFromSmiles(smiles)
    order = rng.permutation(mol.GetNumAtoms()).tolist()
    return str(Chem.MolToSmiles(Chem.RenumberAtoms(mol, order), canonical=False))


def _coded(texts: Sequence[str], symbols: Sequence[str]) -> torch.Tensor:
    """Codes (n, length) that begin and end with the end symbol; -1 behind it, which nothing is predicted for."""
    place = {symbol: code for code, symbol in enumerate(symbols, 1)}
    rows = [[place[s] for s in symbols_of(text) if s in place][: _LONGEST - 1] for text in texts]
    width = max(map(len, rows)) + 2
    codes = torch.full((len(rows), width), -1)
    for i, row in enumerate(rows):
        codes[i, : len(row) + 2] = torch.tensor([_END, *row, _END])
    return codes


def _fingerprint(drugs: Sequence[str], steps: int) -> str:
    return hashlib.sha256("\n".join([*drugs, str(steps), torch.__version__]).encode()).hexdigest()[:24]


def _keep(network: _Writer, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    save_file(network.state_dict(), part)
    part.replace(path)
