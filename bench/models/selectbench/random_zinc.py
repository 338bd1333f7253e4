"""Drug-like molecules at random: the test set of MOSES, drawn from ZINC."""

from __future__ import annotations

import csv
import gzip
import importlib.util
from collections.abc import Sequence
from pathlib import Path

from bench.adapters.selectbench import Design, DesignRequest, MoleculeGenerator, Oracle
from bench.errors import MissingRequirement
from bench.models.selectbench.random_drugs import sample_drugs
from bench.spec import Context


class RandomZinc(MoleculeGenerator):
    """A uniform sample without repeats of the 176,074 molecules."""

    def setup(self, ctx: Context) -> None:
        """Read the file of the package `molsets`, which is not imported."""
        spec = importlib.util.find_spec("moses")
        folders = [Path(p) for p in (spec.submodule_search_locations or ())] if spec else []
        files = [f for folder in folders if (f := folder / "dataset" / "data" / "test.csv.gz").is_file()]
        if not files:
            raise MissingRequirement("needs the data of MOSES (pip install --no-deps molsets==0.3.1)")
        with gzip.open(files[0], "rt", encoding="ascii", newline="") as file:
            self._smiles = [row["SMILES"] for row in csv.DictReader(file)]

    def generate(self, request: DesignRequest, oracle: Oracle | None) -> Sequence[Design]:
        """The pocket is not looked at."""
        return [Design(smiles=smiles) for smiles in sample_drugs(self._smiles, request.n, request.seed)]
