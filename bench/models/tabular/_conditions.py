"""The conditional vector of CTGAN: one level of one column that the generator is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from bench.models.tabular._segments import Segments


@dataclass(frozen=True)
class Wanted:
    """b conditions: `vector` (b, width) one-hot, the column (b,) and level (b,); None without categories."""

    vector: Tensor
    column: Tensor | None
    level: Tensor | None
    owner: Conditions

    def matching_rows(self, rng: torch.Generator) -> Tensor:
        """A random training row for each condition that meets it."""
        return self.owner.rows(self, rng)

    def full_codes(self) -> Tensor:
        """Codes (b, all columns) that are right in the wanted column and 0 elsewhere."""
        assert self.column is not None
        assert self.level is not None
        codes = torch.zeros(len(self.level), self.owner.total, dtype=torch.int64, device=self.level.device)
        return codes.scatter_(1, self.column[:, None], self.level[:, None])


class Conditions:
    """Levels of the columns from `first` on: how often they occur, and in which rows of `codes` (n, c)."""

    def __init__(self, codes: Tensor, segments: Segments, *, first: int) -> None:
        self.total = segments.count
        self._n, self._device = len(codes), codes.device
        self._columns = list(range(first, segments.count))
        self._start = torch.zeros(segments.count, dtype=torch.int64)
        counts, rows = [], []
        width = 0
        for column in self._columns:
            count = torch.bincount(codes[:, column].cpu(), minlength=segments.levels[column])
            self._start[column] = width
            counts.append(count)
            rows.append(torch.argsort(codes[:, column].cpu(), stable=True))
            width += len(count)
        self.width = width
        self._counts = torch.cat(counts) if counts else torch.zeros(0, dtype=torch.int64)
        self._sorted_rows = torch.stack(rows) if rows else torch.zeros(0, 0, dtype=torch.int64)
        self._first_row = torch.cat([torch.cumsum(c, 0) - c for c in counts]) if counts else self._counts

    def draw(self, b: int, rng: torch.Generator, *, by_frequency: bool = False) -> Wanted:
        """A random column for each of `b`; its level by log frequency, or by frequency."""
        vector = torch.zeros(b, self.width)
        if not self._columns:
            return Wanted(vector.to(self._device), None, None, self)
        chosen = torch.randint(len(self._columns), (b,), generator=rng)
        column = chosen + self._columns[0]
        level = torch.zeros(b, dtype=torch.int64)
        for place, number in enumerate(self._columns):
            mine = torch.nonzero(chosen == place).ravel()
            start = int(self._start[number])
            end = int(self._start[number + 1]) if place + 1 < len(self._columns) else self.width
            weight = self._counts[start:end].double()
            weight = weight if by_frequency else torch.log1p(weight)
            if len(mine):
                level[mine] = torch.multinomial(weight, len(mine), replacement=True, generator=rng)
        vector.scatter_(1, (self._start[column] + level)[:, None], 1.0)
        return Wanted(vector.to(self._device), column.to(self._device), level.to(self._device), self)

    def rows(self, wanted: Wanted, rng: torch.Generator) -> Tensor:
        """Training rows that meet the conditions; any rows without conditions."""
        b = len(wanted.vector)
        uniform = torch.rand(b, generator=rng, dtype=torch.float64)
        if wanted.column is None or wanted.level is None:
            return (uniform * self._n).long().to(self._device)
        column, level = wanted.column.cpu(), wanted.level.cpu()
        place = self._start[column] + level
        offset = self._first_row[place] + (uniform * self._counts[place]).long()
        return self._sorted_rows[column - self._columns[0], offset].to(self._device)
