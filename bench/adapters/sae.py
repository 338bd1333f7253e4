"""Adapters of the family `sae`: a coder that turns activation vectors into sparse codes and back.

    class Mine(SparseCoder):
        def fit(self, data, *, n_latents, target_l0, budget, seed, device): ...
        def encode(self, x): ...      # codes of the rows of x
        def decode(self, codes): ...  # rows of codes
        def decoder(self): ...        # (atoms, bias) of a linear decoder

Tensors are float32 torch tensors on the CPU or the device of `fit`. A coder that was trained elsewhere fits nothing
and says in `bound_to` whose activations it is for.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from bench.spec import Adapter

if TYPE_CHECKING:
    import torch
    from torch import Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class Codes:
    """A sparse batch of codes: of row i the values `values[i]` of the latents `indices[i]`."""

    indices: Tensor  # int64 (n, kmax); -1 = padding
    values: Tensor  # float32 (n, kmax); 0 at padding
    n_latents: int

    def dense(self) -> Tensor:
        """The same as float32 (n, n_latents)."""
        import torch

        out = torch.zeros(len(self.values), self.n_latents + 1, device=self.values.device)
        place = torch.where(self.indices < 0, self.n_latents, self.indices)
        return out.scatter_(1, place, self.values)[:, :-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainBudget:
    """What one `fit` may use: rows seen in training, repeats counted, and wall-clock seconds."""

    train_rows: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Activations:
    """What a coder learns from: rows that are already multiplied by `scale`, so that their mean norm is sqrt(d)."""

    rows: Tensor  # float32 (n_rows, d_in)
    mean: Tensor  # float32 (d_in,), of the scaled rows
    scale: float

    @property
    def d_in(self) -> int:
        return int(self.rows.shape[1])

    @property
    def n_rows(self) -> int:
        return int(self.rows.shape[0])

    def batches(self, batch_size: int, seed: int) -> Iterator[Tensor]:
        """Random rows without end, each batch drawn with replacement. Same seed, same batches."""
        import torch

        rng = torch.Generator().manual_seed(seed)
        while True:
            yield self.rows.index_select(
                0, torch.randint(self.n_rows, (batch_size,), generator=rng).to(self.rows.device)
            )


class SparseCoder(Adapter):
    """A sparse coder. The bench calls `setup`, then `fit` and `encode` for each setting, then `close`.

    `fit` may be called again with another number of latents or another sparsity; it starts anew each time.
    """

    #: Whether codes may be negative. "Active" always means not 0.
    signed: ClassVar[bool] = False
    #: Data sets whose activations a coder trained elsewhere belongs to; () = it is trained here, on any.
    bound_to: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def fit(
        self,
        data: Activations,
        *,
        n_latents: int,
        target_l0: float,
        budget: TrainBudget,
        seed: int,
        device: str,
    ) -> None:
        """Learn a coder with `n_latents` latents of which about `target_l0` are active per row.

        Same seed, same result. Raise whatever fits for what cannot be learned: the run counts as failed.
        """

    @abstractmethod
    def encode(self, x: Tensor) -> Codes | Tensor:
        """Codes of the rows `x` (n, d_in), scaled as in training: `Codes`, or dense float32 (n, m).

        The code of a row must not depend on the other rows.
        """

    @abstractmethod
    def decode(self, codes: Codes | Tensor) -> Tensor:
        """Rows (n, d_in), scaled, from what `encode` returned."""

    def decoder(self) -> tuple[Tensor, Tensor] | None:
        """Atoms (m, d_in) and bias (d_in,) of a linear decoder; None if it is not linear."""
        return None

    def encoder(self) -> Tensor | None:
        """Encoder directions (d_in, m), for the proxies that compare them with the atoms; None if there are none."""
        return None

    def metadata(self) -> dict[str, Any]:
        """Small facts for the notes of a run: architecture, k, threshold, source."""
        return {}


class TruthCoder(SparseCoder):
    """A reference that is told the concepts of a synthetic world; it is shown as an upper bound or control."""

    def learn_truth(self, dictionary: Tensor) -> None:
        """`dictionary` (N, d_in) has the concepts in the scale of the rows; called before each `fit`."""
        self._dictionary = dictionary

    #: Whether `encode_known` is called with the true factors (n, N) beside the rows.
    wants_factors: ClassVar[bool] = False

    def encode_known(self, x: Tensor, factors: Tensor) -> Tensor:
        """Codes (n, m) of rows whose true factor values are known."""
        # Not abstract: only coders with `wants_factors` are asked.
        raise NotImplementedError(f"{type(self).__name__} wants no factors")


def as_dense(codes: Codes | torch.Tensor) -> Tensor:
    """Codes as one dense tensor."""
    return codes.dense() if isinstance(codes, Codes) else codes
