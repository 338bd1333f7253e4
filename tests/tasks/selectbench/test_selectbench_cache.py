"""Scores that survive: interrupted runs, several workers, faulty engines, export and import."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from bench.datasets.selectbench.cases import Assignment
from bench.datasets.selectbench.receptors import Receptor, load_receptor
from bench.errors import UsageError
from bench.tasks.selectbench import cachetool
from bench.tasks.selectbench.engines.base import Engine, Score
from bench.tasks.selectbench.engines.null import NullEngine
from bench.tasks.selectbench.scorecache import (
    EngineId,
    Pair,
    ScoreCache,
    open_cache,
    read_rows,
    row_of,
    score_key,
    write_rows,
)
from bench.tasks.selectbench.scorer import Scorer, engine_factory
from bench.tasks.selectbench.settings import GUIDE_SEED_STEP, SETTINGS, DockSettings
from bench.tasks.selectbench.standardize import Ligand, standardize
from bench.tasks.selectbench.workers import score_pairs

TARGETS = ("JAK2", "LCK", "ADRB1")
SMILES = ("CCCCCCO", "CCCCCCN", "OCc1ccccc1", "Cc1ccccc1C", "CCOC(=O)CC", "OC1CCCCC1")
NULL = EngineId(name="null", version="1-0")


@pytest.fixture(scope="module")
def receptors() -> dict[str, Receptor]:
    return {target: load_receptor(target) for target in TARGETS}


@pytest.fixture(scope="module")
def pairs(receptors: dict[str, Receptor]) -> list[Pair]:
    found = [standardize(smiles) for smiles in SMILES]
    return [
        Pair(smiles=m.smiles, inchikey=m.inchikey, receptor=receptors[t], settings=SETTINGS["smoke"])
        for t in TARGETS
        for m in found
        if isinstance(m, Ligand)
    ]


class Marking(NullEngine):
    """Leaves a mark for each score that it computes, and is slow where asked."""

    def __init__(self, folder: Path, pause: float = 0.0) -> None:
        super().__init__(0)
        self._folder, self._pause = folder, pause

    def score(self, smiles: str, receptor: Receptor, settings: DockSettings) -> Score:
        time.sleep(self._pause)
        (self._folder / f"{time.monotonic_ns()}-{os.getpid()}").touch()
        return super().score(smiles, receptor, settings)


class Faulty(NullEngine):
    """Dies, raises or fails on some molecules; on others it works."""

    def score(self, smiles: str, receptor: Receptor, settings: DockSettings) -> Score:
        if smiles == "CCCCCCO":
            os.kill(os.getpid(), signal.SIGKILL)
        if smiles == "CCCCCCN" and settings.seed == SETTINGS["smoke"].seed:
            raise RuntimeError("tree.h")  # works with other seeds
        if smiles == "OCc1ccccc1":
            raise RuntimeError("never works")
        if smiles == "Cc1ccccc1C":
            return Score(value=None, error="embed: no", fault="ligand")
        return super().score(smiles, receptor, settings)


def plain() -> Engine:
    return NullEngine(0)


def test_one_and_three_workers_give_the_same_scores(pairs: list[Pair]) -> None:
    one, three = (dict(score_pairs(pairs, plain, workers=n)) for n in (1, 3))
    assert one == three
    assert sorted(one) == list(range(len(pairs)))


def test_a_fault_costs_one_pair_and_is_told_from_a_molecules_own(
    pairs: list[Pair], tmp_path: Path, receptors: dict[str, Receptor]
) -> None:
    mine = [p for p in pairs if p.receptor.target == "LCK"]
    found = {mine[i].smiles: score for i, score in score_pairs(mine, Faulty, workers=2)}
    assert found["CCCCCCO"].error == "engine: the worker died"
    assert found["CCCCCCN"].value is not None
    assert found["CCCCCCN"].flags == ("retried",)
    assert found["OCc1ccccc1"].error == "engine: RuntimeError: never works"
    assert (found["Cc1ccccc1C"].value, found["Cc1ccccc1C"].fault) == (None, "ligand")
    assert found["OC1CCCCC1"].value is not None
    cache = ScoreCache(tmp_path / "scores.sqlite")
    scorer = Scorer(Faulty, cache, SETTINGS["smoke"])
    scorer.score(mine)
    assert scorer.tally.engine_faults == 2
    kept = {row.smiles for row in cache.rows()}
    assert kept == {p.smiles for p in mine} - {"CCCCCCO", "OCc1ccccc1"}  # tried again next time
    cache.close()


def test_a_worker_that_hangs_is_ended(pairs: list[Pair], tmp_path: Path) -> None:
    slow = partial(Marking, tmp_path, 60.0)
    ((_, score),) = score_pairs(pairs[:1], slow, timeout_s=0.3)
    assert score.error == "engine: the worker took too long"


def test_an_interrupted_run_goes_on_where_it_was(pairs: list[Pair], tmp_path: Path) -> None:
    marks = tmp_path / "marks"
    marks.mkdir()

    def run(stop_after: int) -> list[Score] | None:
        cache = ScoreCache(tmp_path / "scores.sqlite")

        def stop(done: int, total: int) -> None:
            if done == stop_after:
                raise KeyboardInterrupt

        try:
            return Scorer(partial(Marking, marks), cache, SETTINGS["smoke"], progress=stop).score(pairs)
        except KeyboardInterrupt:
            return None
        finally:
            cache.close()

    assert run(stop_after=5) is None
    begun = len(list(marks.iterdir()))
    assert 5 <= begun <= 6  # one more may have been at work
    finished = run(stop_after=0)
    assert len(list(marks.iterdir())) <= len(pairs) + 1
    alone = ScoreCache(tmp_path / "other.sqlite")
    assert finished == Scorer(plain, alone, SETTINGS["smoke"]).score(pairs)
    alone.close()


def test_export_and_import(pairs: list[Pair], tmp_path: Path) -> None:
    cache, other = (ScoreCache(tmp_path / f"{name}.sqlite") for name in ("a", "b"))
    Scorer(plain, cache, SETTINGS["smoke"]).score(pairs)
    assert cache.export(tmp_path / "scores.parquet") == len(pairs)
    assert other.take_in(tmp_path / "scores.parquet") == len(pairs)
    assert other.take_in(tmp_path / "scores.parquet") == 0
    assert list(other.rows()) == list(cache.rows())
    shipped = ScoreCache(tmp_path / "c.sqlite", shipped=[tmp_path / "scores.parquet", tmp_path / "absent"])
    scorer = Scorer(plain, shipped, SETTINGS["smoke"])
    scorer.score(pairs)
    assert (scorer.tally.hits, len(list(shipped.rows()))) == (len(pairs), 0)
    for one in (cache, other, shipped):
        one.close()
    (tmp_path / "no.parquet").write_text("no")
    with pytest.raises(UsageError, match="can't be read"):
        read_rows(tmp_path / "no.parquet")


def test_a_row_survives_the_file(pairs: list[Pair], tmp_path: Path) -> None:
    score = Score(value=1.5, conformers=(1.5, 2.0), cpu_s=0.1, flags=("no_fit",))
    failed = Score(value=None, error="embed: no", fault="ligand")
    rows = [row_of(pairs[0], NULL, score), row_of(pairs[1], NULL, failed)]
    assert write_rows(tmp_path / "rows.parquet", rows) == 2
    assert sorted(read_rows(tmp_path / "rows.parquet"), key=lambda r: r.key) == sorted(
        rows, key=lambda r: r.key
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda p: replace(p, smiles="CCCCCCCO"),
        lambda p: replace(p, inchikey="other"),
        lambda p: replace(p, receptor=replace(p.receptor, sha256="0" * 64)),
        lambda p: replace(p, receptor=replace(p.receptor, center=(0.0, 0.0, 0.0))),
        *(
            partial(lambda p, **fields: replace(p, settings=replace(p.settings, **fields)), **fields)
            for fields in (
                {"exhaustiveness": 8}, {"max_evals": 1}, {"n_poses": 1}, {"conformers": 3}, {"flexible": 3},
                {"embeddings": 9}, {"isomers": 2}, {"edge": 30.0}, {"spacing": 0.5}, {"seed": 2},
                {"embed_seed": 9}, {"role": "guide"},
            )
        ),
    ],
)  # fmt: skip
def test_whatever_a_score_depends_on_is_in_its_key(pairs: list[Pair], change: Callable[[Pair], Pair]) -> None:
    assert score_key(change(pairs[0]), NULL) != score_key(pairs[0], NULL)
    assert score_key(pairs[0], NULL) == score_key(replace(pairs[0]), NULL)
    assert score_key(pairs[0], EngineId(name="null", version="2")) != score_key(pairs[0], NULL)


def test_guidance_uses_other_random_numbers_than_the_evaluation() -> None:
    for settings in SETTINGS.values():
        guide = settings.guiding()
        assert guide.role == "guide"
        assert guide.seed - settings.seed == guide.embed_seed - settings.embed_seed == GUIDE_SEED_STEP


def test_of_several_isomers_the_best_on_target_stands_for_the_molecule(
    receptors: dict[str, Receptor], tmp_path: Path
) -> None:
    cache = ScoreCache(tmp_path / "scores.sqlite")
    settings = replace(SETTINGS["smoke"], isomers=4)
    scorer = Scorer(plain, cache, settings)
    ligand = standardize("CC(O)C(N)CCC")
    assert isinstance(ligand, Ligand)
    (found,) = scorer.score_all([ligand], Assignment(on="JAK2", off=("LCK",)), receptors)
    on = {r.smiles: r.score.value for r in cache.rows() if r.target == "JAK2"}
    off = {r.smiles: r.score.value for r in cache.rows() if r.target == "LCK"}
    assert len(on) == 4
    assert found.smiles == min(on, key=lambda s: on[s] or 0.0)
    assert list(off) == [found.smiles]
    cache.close()


def test_unknown_engines_are_named() -> None:
    with pytest.raises(UsageError, match="no engine 'glide'; there are vina"):
        engine_factory("glide")


def test_the_tool_moves_scores(pairs: list[Pair], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_cache(tmp_path / "a" / "score") as cache:
        Scorer(plain, cache, SETTINGS["smoke"]).score(pairs)
    file = str(tmp_path / "scores.parquet")
    cachetool.main(["export", file, "--cache", str(tmp_path / "a")])
    cachetool.main(["import", file, "--cache", str(tmp_path / "b")])
    assert capsys.readouterr().out.splitlines() == [
        f"{len(pairs)} scores written to {file}",
        f"{len(pairs)} new scores in {tmp_path / 'b' / 'score'}",
    ]
