"""The worlds by name. Plain data: nothing is drawn here."""

from __future__ import annotations

from bench.datasets.sae.world import Recipe

_PAIRS = {"pairs-03": 0.03, "pairs-25": 0.25, "pairs-50": 0.5, "pairs-80": 0.8, "pairs-95": 0.95, "anti": 0.0}

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(name="indep", structure="independent", n_factors=128, dim=64, options=(("p", 0.03),)),
        *(
            Recipe(name=name, structure="pairs", n_factors=128, dim=64, options=(("p", 0.03), ("c", c)))
            for name, c in _PAIRS.items()
        ),
        Recipe(
            name="copula",
            structure="copula",
            n_factors=512,
            dim=128,
            options=(("p", 0.01), ("rank", 8), ("scale", 0.3)),
        ),
        Recipe(
            name="hier",
            structure="hierarchy",
            n_factors=160,
            dim=96,
            options=(("roots", 32), ("root_p", 0.06), ("child_p", 0.0125)),
        ),
        Recipe(
            name="zipf",
            structure="zipf",
            n_factors=1024,
            dim=256,
            options=(("roots", 128), ("low", 0.001), ("high", 0.1), ("rank", 8), ("scale", 0.3)),
        ),
        Recipe(name="pairs-tiny", structure="pairs", n_factors=16, dim=12, options=(("p", 0.1), ("c", 0.5))),
    )
}
