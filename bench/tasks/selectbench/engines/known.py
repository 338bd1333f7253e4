"""The engines by name; each is imported when it is made."""

from __future__ import annotations

from bench.tasks.selectbench.engines.base import Engine


def vina() -> Engine:
    """AutoDock Vina through its Python package."""
    from bench.tasks.selectbench.engines.vina import VinaEngine

    return VinaEngine()


def truth() -> Engine:
    """Measured affinities of literature ligands; for tests."""
    from bench.tasks.selectbench.engines.truth import TruthEngine

    return TruthEngine()


def null(seed: int) -> Engine:
    """Random numbers; for tests."""
    from bench.tasks.selectbench.engines.null import NullEngine

    return NullEngine(seed)
