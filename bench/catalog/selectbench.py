"""Catalogue of the family `selectbench`: plain data, nothing heavy is imported here."""

from __future__ import annotations

from bench.catalog.selectbench_datasets import DATASETS, PANELS, STUDIES
from bench.catalog.selectbench_metrics import METRICS, SET_METRICS
from bench.catalog.selectbench_models import MODELS
from bench.spec import JSONScalar, Resources, SizePlan, TaskInfo

__all__ = ["DATASETS", "MODELS", "TASKS"]

_REQUIRES = ("vina", "meeko", "gemmi", "dockstring")
_RESOURCES = Resources(memory_mb=4096, timeout_s=6 * 3600.0)
_NOTE = (
    "The published benchmark of this name gives an outline only; every definition is ours. Molecules are scored by "
    "docking (AutoDock Vina 1.2.7) into the receptors of DOCKSTRING, which predicts measured preferences little better "
    "than chance in many cases: read every number beside the oracle accuracy of its case. "
)


def _settings(n: int, docking: str, library: int, **more: JSONScalar) -> dict[str, JSONScalar]:
    """`n`: molecules for each on-target; `docking`: a name in SETTINGS; `library`: reference drugs used.

    `oracle_calls`: docking scores that a model may ask for in a unit. `off`: how many off-targets are used (0: all);
    `apart`: whether targets that are only looked at are docked; `poses`: how many poses PoseBusters sees.
    `known`: how many measured preferences the oracle card uses (0: all).
    `heavy_datasets`: where models with the tag heavy run, everywhere without it.
    """
    return {
        "n": n,
        "docking": docking,
        "library": library,
        "off": 0,
        "apart": False,
        "poses": 50,
        "known": 0,
        **more,
    }


_TINY: dict[str, JSONScalar] = {"heavy_datasets": "jak2_lck", "oracle_calls": 6, "poses": 1, "known": 4}
_SMALL: dict[str, JSONScalar] = {"heavy_datasets": "jak2_lck", "oracle_calls": 16, "poses": 2}

TASKS: tuple[TaskInfo, ...] = (
    TaskInfo(
        name="selectbench.case_studies",
        title="Selectivity case studies",
        version=1,
        scoring=1,
        entry="bench.tasks.selectbench.task:CaseStudies",
        sizes={
            "tiny": SizePlan(datasets=("jak2_lck",), repeats=1, settings=_settings(2, "smoke", 5, **_TINY)),
            "small": SizePlan(
                datasets=("jak2_lck", "adrb1_adrb2"),
                repeats=1,
                settings=_settings(4, "quick", 20, **_SMALL),
            ),
            "full": SizePlan(
                datasets=STUDIES, repeats=3, settings=_settings(24, "standard", 64, oracle_calls=480)
            ),
        },
        metrics=METRICS,
        summary="Asks for molecules that bind one target and not another, for pairs of targets with literature "
        "ligands of known preference.",
        protocol="own",
        protocol_note=_NOTE
        + "At size small one conformer of a molecule is docked (two of one with flexible rings), "
        "20 of the 64 reference drugs are used (10 for the panel), and models with the tag heavy run on one case.",
        requires=_REQUIRES,
        resources=_RESOURCES,
    ),
    TaskInfo(
        name="selectbench.safety_panel",
        title="Safety panel",
        version=1,
        scoring=1,
        entry="bench.tasks.selectbench.task:SafetyPanel",
        sizes={
            "tiny": SizePlan(
                datasets=("panel_f10",), repeats=1, settings=_settings(1, "smoke", 5, off=2, **_TINY)
            ),
            "small": SizePlan(
                datasets=("panel_f10",), repeats=1, settings=_settings(2, "quick", 10, **_SMALL)
            ),
            "full": SizePlan(
                datasets=PANELS,
                repeats=3,
                settings=_settings(24, "standard", 64, apart=True, oracle_calls=480),
            ),
        },
        metrics=METRICS,
        summary="Asks for molecules that bind one target and none of a panel of targets known for side effects.",
        protocol="own",
        protocol_note=_NOTE
        + "Only 9 of the 44 targets of the panel of Bowes et al. (2012) have a receptor here; hERG "
        "is not among them, and nothing is claimed of it.",
        requires=_REQUIRES,
        resources=_RESOURCES,
    ),
    TaskInfo(
        name="selectbench.structure_set",
        title="All against all",
        version=1,
        scoring=1,
        entry="bench.tasks.selectbench.task:StructureSet",
        sizes={
            "tiny": SizePlan(datasets=("set4",), repeats=1, settings=_settings(1, "smoke", 5, **_TINY)),
            "small": SizePlan(datasets=("set4",), repeats=1, settings=_settings(2, "quick", 20, **_SMALL)),
            "full": SizePlan(
                datasets=("set16", "set58"),
                repeats=3,
                settings=_settings(8, "standard", 64, oracle_calls=480),
            ),
        },
        metrics=SET_METRICS,
        summary="Each receptor of a set is once the on-target and all others are off-targets, near ones of its own "
        "family and far ones.",
        protocol="own",
        protocol_note=_NOTE + "At size small the set has two kinases and two beta-adrenoceptors.",
        requires=_REQUIRES,
        resources=_RESOURCES,
    ),
)
