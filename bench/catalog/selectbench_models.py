"""The reference models of the family `selectbench`: plain data."""

from __future__ import annotations

from bench.spec import JSONScalar, ModelInfo

_DRUGS = ("1,298 approved drugs of ChEMBL",)


def _model(
    name: str,
    entry: str,
    title: str,
    summary: str,
    *tags: str,
    baseline: bool = False,
    requires: tuple[str, ...] = ("rdkit",),
    paper: str = "",
    params: dict[str, JSONScalar] | None = None,
) -> ModelInfo:
    return ModelInfo(
        name=name,
        version="1",
        families=("selectbench",),
        entry=f"bench.models.selectbench.{entry}",
        title=title,
        summary=summary,
        license="Apache-2.0",
        training_data=_DRUGS,
        baseline=baseline,
        tags=tags,
        requires=requires,
        paper=paper,
        params=params or {},
    )


def _pair(name: str, entry: str, title: str, what: str, *tags: str, paper: str = "",
          requires: tuple[str, ...] = ("rdkit",)) -> tuple[ModelInfo, ModelInfo]:  # fmt: skip
    """The unguided and the guided twin: one seeks binding alone, one binding and a window, at equal cost."""
    twins = (
        ("on", "seeks strong binding to the on-target alone"),
        ("sel", "seeks binding to the on-target and a tenfold window to the off-targets"),
    )
    first, second = (
        _model(
            f"{name}_{objective}",
            entry,
            f"{title}, {objective}",
            f"{what}; {goal}. Both twins get the same number of docking scores.",
            "docks",
            "heavy",
            *tags,
            params={"objective": objective},
            paper=paper,
            requires=requires,
        )
        for objective, goal in twins
    )
    return first, second


MODELS: tuple[ModelInfo, ...] = (
    _model(
        "random_drugs",
        "random_drugs:RandomDrugs",
        "Random drugs",
        "Approved drugs at random, the pocket not looked at: what any claim of selectivity must beat.",
        "blind",
        baseline=True,
    ),
    _model(
        "random_zinc",
        "random_zinc:RandomZinc",
        "Random ZINC",
        "Molecules of the MOSES test set at random.",
        "blind",
        baseline=True,
        paper="D. Polykovskiy et al. (2020), Molecular Sets (MOSES), Front. Pharmacol. 11, 565644",
    ),
    _model(
        "known_on",
        "known:KnownOn",
        "Known ligands",
        "Literature ligands of the on-target, then the approved drugs most similar to them: an upper reference, as far "
        "as docking sees what is measured.",
        "blind",
        "sees ligands",
        baseline=True,
    ),
    _model(
        "known_off",
        "known:KnownOff",
        "Known off-target ligands",
        "Literature ligands of the off-targets: a negative control, whose molecules must not look selective.",
        "informed",
        "sees ligands",
        baseline=True,
    ),
    _model(
        "add_carbon",
        "add_carbon:AddCarbon",
        "Drugs with carbons added",
        "An attack: random drugs with four more carbons dock better because they are larger, and must not gain by it.",
        "blind",
        "attack",
        "heavy",
        baseline=True,
        paper="P. Renz et al. (2019), On failure modes in molecule generation and optimization, Drug Discov. Today "
        "Technol. 32, 55",
    ),
    _model(
        "brics",
        "brics:Brics",
        "BRICS recombination",
        "Fragments of approved drugs joined at random where BRICS allows it.",
        "blind",
        paper="J. Degen et al. (2008), On the art of compiling and using drug-like chemical fragment spaces, "
        "ChemMedChem 3, 1503",
    ),
    _model(
        "char_rnn",
        "char_rnn:CharRNN",
        "Character RNN",
        "A GRU that writes SMILES, trained on approved drugs; what it writes is handed in as it comes.",
        "blind",
        "deep",
        "heavy",
        paper="M. Segler et al. (2018), Generating focused molecule libraries, ACS Cent. Sci. 4, 120",
        requires=("rdkit", "torch", "safetensors"),
    ),
    *_pair("best_of_n", "best_of_n:BestOfN", "Best of n drugs", "The best of a pool of random drugs"),
    *_pair(
        "graph_ga",
        "graph_ga:GraphGA",
        "Graph GA",
        "Crossover and mutation of molecular graphs, starting from random drugs",
        "genetic",
        paper="J. Jensen (2019), A graph-based genetic algorithm, Chem. Sci. 10, 3567",
    ),
    *_pair(
        "selfies_ga",
        "selfies_ga:SelfiesGA",
        "SELFIES GA",
        "Point mutations of SELFIES, starting from random drugs",
        "genetic",
        paper="M. Krenn et al. (2020), Self-referencing embedded strings, Mach. Learn.: Sci. Technol. 1, 045024",
        requires=("rdkit", "selfies"),
    ),
    _model(
        "docked_drugs_3d",
        "docked_drugs_3d:DockedDrugs3D",
        "Docked drugs, 3D",
        "The random drugs as poses in the on-target, placed by docking: a baseline for judging poses.",
        "blind",
        "3d",
        "docks",
        "heavy",
        baseline=True,
    ),
)
