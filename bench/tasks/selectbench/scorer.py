"""From molecules and targets to scores: looks into the cache, docks what is missing, keeps what is new."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bench.datasets.selectbench.cases import Assignment
from bench.datasets.selectbench.receptors import Receptor
from bench.errors import UsageError
from bench.tasks.selectbench.engines.base import Engine, Score
from bench.tasks.selectbench.isomers import isomers
from bench.tasks.selectbench.scorecache import EngineId, Pair, ScoreCache, row_of, score_key
from bench.tasks.selectbench.settings import DockSettings
from bench.tasks.selectbench.standardize import Ligand
from bench.tasks.selectbench.workers import score_pairs

EngineFactory = Callable[[], Engine]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A molecule with its scores; `smiles` is the isomer that was docked."""

    smiles: str
    inchikey: str
    heavy_atoms: int
    scores: Mapping[str, Score]  # by target


@dataclass(slots=True)
class Tally:
    """How many pairs were asked for, found and computed, and what computing took."""

    pairs: int = 0
    hits: int = 0
    cpu_s: float = 0.0
    engine_faults: int = 0
    reasons: list[str] = field(default_factory=list)


class Scorer:
    """Scores molecules on receptors with one engine and one protocol."""

    def __init__(
        self,
        make_engine: EngineFactory,
        cache: ScoreCache,
        settings: DockSettings,
        *,
        workers: int = 1,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._make_engine, self._cache, self._workers = make_engine, cache, workers
        self._progress = progress
        probe = make_engine()
        self.engine = EngineId(name=probe.name, version=probe.version)
        self.settings = settings
        self.tally = Tally()

    def score(self, pairs: Sequence[Pair]) -> list[Score]:
        """One score for each pair, in order; equal pairs are computed once."""
        keys = [score_key(pair, self.engine) for pair in pairs]
        known = {key: score for key in set(keys) if (score := self._cache.get(key)) is not None}
        first = {key: pair for key, pair in zip(keys, pairs, strict=True) if key not in known}
        self.tally.pairs += len(pairs)
        self.tally.hits += len(pairs) - len(first)
        missing = sorted(first)
        todo = [first[key] for key in missing]
        for done, (index, score) in enumerate(score_pairs(todo, self._make_engine, workers=self._workers), 1):
            known[missing[index]] = score
            self._note(todo[index], score)
            if self._progress is not None:
                self._progress(done, len(todo))
        return [known[key] for key in keys]

    def _note(self, pair: Pair, score: Score) -> None:
        self._cache.put(row_of(pair, self.engine, score))
        self.tally.cpu_s += score.cpu_s
        if score.fault == "engine":
            self.tally.engine_faults += 1
            self.tally.reasons.append(f"{pair.receptor.target}: {score.error}")

    def score_all(
        self,
        ligands: Sequence[Ligand],
        assignment: Assignment,
        receptors: Mapping[str, Receptor],
    ) -> list[Scored]:
        """Every molecule on the on-target, and its best isomer there on all other targets."""
        choices = [isomers(ligand.smiles, self.settings.isomers) for ligand in ligands]
        others = [*assignment.off, *assignment.apart]
        if all(len(options) == 1 for options in choices):  # one batch, so that nothing is prepared twice
            wanted = [(i, t) for t in (assignment.on, *others) for i in range(len(ligands))]
            found = self._table(ligands, [options[0] for options in choices], wanted, receptors)
            best = [options[0] for options in choices]
        else:
            best, found = self._best_isomers(ligands, choices, receptors[assignment.on])
            wanted = [(i, t) for t in others for i in range(len(ligands))]
            found |= self._table(ligands, best, wanted, receptors)
        return [
            Scored(
                smiles=best[i],
                inchikey=ligand.inchikey,
                heavy_atoms=ligand.heavy_atoms,
                scores={target: found[i, target] for target in (assignment.on, *others)},
            )
            for i, ligand in enumerate(ligands)
        ]

    def pair(
        self, smiles: str, inchikey: str, receptor: Receptor, settings: DockSettings | None = None
    ) -> Pair:
        """A molecule on a receptor, under the protocol of this scorer or another."""
        return Pair(smiles=smiles, inchikey=inchikey, receptor=receptor, settings=settings or self.settings)

    def _table(
        self,
        ligands: Sequence[Ligand],
        smiles: Sequence[str],
        wanted: Sequence[tuple[int, str]],
        receptors: Mapping[str, Receptor],
    ) -> dict[tuple[int, str], Score]:
        pairs = [self.pair(smiles[i], ligands[i].inchikey, receptors[t]) for i, t in wanted]
        return dict(zip(wanted, self.score(pairs), strict=True))

    def _best_isomers(
        self, ligands: Sequence[Ligand], choices: Sequence[tuple[str, ...]], on: Receptor
    ) -> tuple[list[str], dict[tuple[int, str], Score]]:
        """The isomer of each molecule that scores best on the on-target, and these scores."""
        flat = [(i, smiles) for i, options in enumerate(choices) for smiles in options]
        scores = self.score([self.pair(smiles, ligands[i].inchikey, on) for i, smiles in flat])
        best: dict[int, tuple[str, Score]] = {}
        for (i, smiles), score in zip(flat, scores, strict=True):
            if i not in best or order_of(score) < order_of(best[i][1]):
                best[i] = (smiles, score)
        chosen = [best[i][0] for i in range(len(ligands))]
        return chosen, {(i, on.target): best[i][1] for i in range(len(ligands))}


def order_of(score: Score) -> float:
    """What sorts scores from strong to weak, missing ones last."""
    return float("inf") if score.value is None else score.value


def engine_factory(name: str, *, seed: int = 0) -> EngineFactory:
    """A function that makes the engine `name`; `UsageError` for a name that is none."""
    from functools import partial

    from bench.tasks.selectbench.engines import known

    factories: dict[str, EngineFactory] = {
        "vina": known.vina,
        "truth": known.truth,
        "null": partial(known.null, seed),
    }
    if name not in factories:
        raise UsageError(f"there is no engine {name!r}; there are {', '.join(factories)}")
    return factories[name]
