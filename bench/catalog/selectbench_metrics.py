"""What the tasks of the family `selectbench` report: plain data."""

from __future__ import annotations

from bench.spec import Direction, MetricInfo

_PLAN = "n is the number of molecules requested; a missing, invalid or failed molecule counts as a failure."


def _share(name: str, definition: str, *, title: str = "", direction: Direction = "max", primary: bool = False,
           cite: str = "") -> MetricInfo:  # fmt: skip
    return MetricInfo(
        name=name,
        direction=direction,
        lo=0.0,
        hi=1.0,
        title=title,
        definition=definition,
        primary=primary,
        cite=cite,
    )


def _energy(
    name: str, definition: str, *, title: str = "", direction: Direction = "none", cite: str = ""
) -> MetricInfo:
    return MetricInfo(
        name=name, direction=direction, unit="kcal/mol", title=title, definition=definition, cite=cite
    )


_HEADLINE = (
    _share(
        "ssr_10x",
        "Share of the molecules requested that are distinct, pass the gate, hit the on-target and have a window of at "
        f"least 1.36 kcal/mol, a tenfold difference in predicted affinity. {_PLAN}",
        title="SSR@10x",
        primary=True,
    ),
    _energy(
        "sel_gain",
        "Median window of the molecules minus that of reference drugs of the same size on the same receptors.",
        title="Selectivity gain",
        direction="max",
    ),
    _share(
        "sel_auc",
        "Probability that a molecule has a higher window than a reference drug of its size; 0.5 is no better than a "
        "random drug.",
        title="Selectivity AUC",
    ),
    _share(
        "ssr_auc",
        "Mean of the success rate over required windows of 0 to 2.73 kcal/mol (a hundredfold).",
        title="SSR curve",
    ),
    _share(
        "hit_on",
        "Share whose on-target score is among the best fifth of reference drugs of the same size.",
        title="On-target hits",
    ),
    _share(
        "on_best",
        "Share that scores best on the on-target; chance is 1 / number of targets.",
        title="On-target best",
    ),
)
_QUALITY = (
    _share("valid", "Share that can be parsed and standardised to one organic molecule.", title="Valid"),
    _share("unique", "Share of distinct molecules among the valid ones.", title="Unique"),
    _share(
        "novel",
        "Share that is neither a reference drug nor a literature ligand of the case.",
        title="Novel",
        direction="none",
    ),
    _share("dockable", "Share with a score on every target.", title="Dockable"),
    _share(
        "gate",
        "Share with QED at least 0.35, synthetic accessibility at most 5, no PAINS alert and 15 to 50 heavy atoms.",
        title="Gate",
        cite="Bickerton et al. 2012 (QED); Ertl and Schuffenhauer 2009 (SA); Baell and Holloway 2010 (PAINS)",
    ),
    _share(
        "diversity",
        "1 - mean Tanimoto similarity of all pairs of valid, distinct molecules (Morgan radius 2, 1024 bits).",
        title="Diversity",
        cite="D. Polykovskiy et al. (2020), Molecular Sets (MOSES)",
    ),
)
_MOLECULES = (
    _energy(
        "window",
        "Median over molecules of the strongest off-target score minus the on-target score. Depends on the receptors: "
        "random drugs have a window, too.",
        title="Window",
        direction="max",
    ),
    _energy("on_score", "Median on-target score; larger molecules score lower.", title="On-target score"),
    _energy(
        "delta_mean",
        "Median over molecules of the mean off-target score minus the on-target score.",
        title="Delta score",
        cite="Ren et al. 2023, arXiv 2311.12035; Gao et al. (2024), ICML",
    ),
    MetricInfo(
        name="z_on", direction="none", title="z on-target",
        definition="Median on-target score in units of the reference drugs' spread, once the effect of size and "
        "receptor is taken off; low is strong.",
    ),
    MetricInfo(
        name="z_window", direction="max", title="z window",
        definition="Median over molecules of the lowest off-target z minus the on-target z.",
    ),
    MetricInfo(
        name="ligand_efficiency", direction="none", unit="kcal/mol", title="Ligand efficiency",
        definition="Median on-target score per heavy atom; shown, never ranked on.",
    ),
    _share(
        "rank_on",
        "Median place of the on-target among all targets, from 0 (best) to 1; ties share a place.",
        title="Rank of target",
        direction="min",
        cite="Bosc et al. 2017, BMC Bioinformatics 18, 17 (the idea)",
    ),
    MetricInfo(
        name="entropy", direction="min", lo=0.0, title="Selectivity entropy",
        definition="Median over molecules of the entropy of predicted binding over all targets.",
        cite="J. Uitdehaag and G. Zaman (2011), BMC Bioinformatics 12, 94",
    ),
    _share(
        "partition",
        "Median over molecules of the on-target's share in all predicted binding.",
        title="Partition index",
        cite="A. Cheng et al. (2010), J. Med. Chem. 53, 4502",
    ),
    _share(
        "gini",
        "Median over molecules of the Gini coefficient of scores over all targets.",
        title="Gini",
        cite="P. Graczyk (2007), J. Med. Chem. 50, 5773",
    ),
    _share(
        "selectivity_score",
        "Median over molecules of the share of off-targets with a score of -8 kcal/mol or lower.",
        title="S(-8)",
        direction="min",
        cite="M. Karaman et al. (2008), Nat. Biotechnol. 26, 127",
    ),
)  # fmt: skip
_PUBLISHED = (
    _share("off_gt_7", "Share with all off-target scores above -7 kcal/mol.", title="All off > -7"),
    _share(
        "strict",
        "Share with an on-target score below -7 and all off-target scores above -6 kcal/mol.",
        title="Strict",
    ),
    *(
        _share(f"sel_gt_{k}", f"Share with a window above {k} kcal/mol.", title=f"Window > {k}")
        for k in (1, 2, 3, 4)
    ),
    _share(
        "better_than_ref",
        "Share whose window and on-target score are both better than those of the first literature ligand of the "
        "on-target.",
        title="Beats ligand",
    ),
)
_TRUST = (
    _share(
        "oracle_accuracy",
        "Share of measured preferences (at least tenfold) of literature ligands that docking predicts with the right "
        "sign; the same for all models of a case. 0.5 is chance.",
        title="Oracle accuracy",
        direction="none",
    ),
    _energy(
        "noise",
        "Mean standard deviation of a score between two evaluation seeds, of three reference drugs on all targets; the "
        "same for all models of a case.",
        title="Docking noise",
    ),
)
_POSES = (
    _share(
        "pb_valid",
        "Of the poses handed in, the share that passes all checks of PoseBusters against the receptor (at most 50).",
        title="PoseBusters",
        cite="M. Buttenschoen et al. (2024), Chem. Sci. 15, 3130",
    ),
    _energy("pose_score", "Median Vina score of the poses handed in, as they are.", title="Score of pose"),
)
METRICS: tuple[MetricInfo, ...] = _HEADLINE + _QUALITY + _MOLECULES + _PUBLISHED + _POSES + _TRUST
SET_METRICS: tuple[MetricInfo, ...] = (
    *METRICS,
    _energy(
        "delta_col",
        "Median over molecules of the mean on-target score of molecules made for other targets, docked here, minus "
        "their own.",
        title="Delta score, column",
        direction="max",
        cite="Ren et al. 2023, arXiv 2311.12035; Gao et al. (2024), ICML",
    ),
)
