"""Adapters of the family `tabular`: a generator that learns one table and returns a synthetic one."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from bench.spec import Adapter

if TYPE_CHECKING:
    import pandas as pd

    from bench.datasets.tabular.schema import TableSchema


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What one `fit` and `sample` may use together."""

    seconds: float  # wall clock; the job is killed when it is used up
    memory_gb: float
    max_steps: int | None = None  # of training; None: the model's own plan


class TabularGenerator(Adapter):
    """Makes tables. The bench calls `setup`, then `fit` once, then `sample`, then `close`.

    `self.info` is set before `setup` is called; `ctx.size` tells how much work is wanted. A generator must
    take tables without numbers or without categories, missing values, constant columns and few rows.
    """

    #: Which real rows `fit` receives. Models use "train"; "holdout" marks an oracle that is shown as such.
    fits_on: ClassVar[Literal["train", "holdout"]] = "train"

    @abstractmethod
    def fit(
        self, train: pd.DataFrame, schema: TableSchema, *, seed: int, device: str, budget: Budget
    ) -> None:
        """Learn `train`, whose columns are those of `schema` in order; it must not be changed.

        Raises whatever it wants for a table it cannot learn: the run counts as failed. Same seed, same
        result.
        """

    @abstractmethod
    def sample(self, n: int, *, seed: int) -> pd.DataFrame:
        """Exactly `n` rows with the schema's columns in any order. Same seed, same table."""

    def n_parameters(self) -> int | None:
        """Number of learned parameters after `fit`; None where that means nothing."""
        return None

    @property
    def diverged(self) -> bool:
        """Whether training met a loss that is not finite and went back to the last good weights."""
        return False
