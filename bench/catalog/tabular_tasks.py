"""The tasks of the family `tabular`: plain data, nothing heavy is imported here."""

from __future__ import annotations

from bench.catalog.tabular_metrics import EFFICACY, FIDELITY, PRIVACY, STRUCTURE, TABSTRUCT
from bench.spec import JSONScalar, SizePlan, TaskInfo

_EMBEDDED = (
    "breast_cancer", "wine", "diabetes", "penguins", "affairs", "randhie", "nhefs", "restaurant", "scorecard",
    "thornton_hiv", "credit_cards", "happiness", "cps91", "gpa2", "k401ksubs", "adult",
)  # fmt: skip
_TRUE = (
    "scm_lin10", "scm_lingam10", "scm_anm10", "scm_mix12", "bn_rand20", "asia", "sachs", "child", "insurance", "alarm",
)  # fmt: skip
_PROTOCOL = (
    "Rows are shuffled, stratified by a target with classes, and split 40 / 40 / 20 into training rows, as many "
    "hold-out rows and test rows; the model makes as many rows as it was trained on. At size small, models with the "
    "tag heavy run on the first repeat only."
)


def _settings(n: int, **more: JSONScalar) -> dict[str, JSONScalar]:
    """`test_over_train`: the repeats draw their rows anew from one data set. `predictors` and `learners` name the
    models to use, all by default. `heavy_repeats`: repeats that models with the tag heavy run on.
    """
    return {"n": n, "test_over_train": 0.5, **more}


TASKS: tuple[TaskInfo, ...] = (
    TaskInfo(
        name="tabular.fidelity",
        title="Table fidelity",
        version=1,
        scoring=1,
        entry="bench.tasks.tabular.fidelity:TabularFidelity",
        sizes={
            "tiny": SizePlan(datasets=("penguins",), repeats=1, settings=_settings(120)),
            "small": SizePlan(
                datasets=("k401ksubs", "penguins"),
                repeats=2,
                settings=_settings(500, heavy_repeats=1),
            ),
            "full": SizePlan(datasets=_EMBEDDED, repeats=10, settings=_settings(10_000)),
        },
        metrics=FIDELITY,
        summary="Compares a synthetic table with the real one: columns, pairs of columns, whole rows, and whether its "
        "values and rules are valid.",
        protocol="own",
        protocol_note=_PROTOCOL,
        requires=("pandas", "sklearn"),
    ),
    TaskInfo(
        name="tabular.structure",
        title="Table structure",
        version=1,
        scoring=2,
        entry="bench.tasks.tabular.structure:TabularStructure",
        sizes={
            "tiny": SizePlan(
                datasets=("scm_mix12",),
                repeats=1,
                settings=_settings(200, oracle_rows=2_000, predictors="trees"),
            ),
            "small": SizePlan(
                datasets=("scm_mix12", "bn_rand20", "scm_lingam10"),
                repeats=2,
                settings=_settings(400, oracle_rows=20_000, heavy_repeats=1),
            ),
            "full": SizePlan(
                datasets=(*_TRUE, *_EMBEDDED), repeats=10, settings=_settings(5_000, oracle_rows=200_000)
            ),
        },
        metrics=STRUCTURE,
        summary="Asks whether each column of a synthetic table depends on the others as in the real one, and on data "
        "with a known graph whether its independences and mechanisms hold.",
        protocol="own",
        protocol_note=f"Utilities as in TabStruct; structure skill, effects and mechanisms are ours. {_PROTOCOL}",
        requires=("pandas", "sklearn"),
    ),
    TaskInfo(
        name="tabular.privacy",
        title="Table privacy",
        version=1,
        scoring=1,
        entry="bench.tasks.tabular.privacy:TabularPrivacy",
        sizes={
            "tiny": SizePlan(datasets=("penguins",), repeats=1, settings=_settings(120)),
            "small": SizePlan(
                datasets=("k401ksubs", "breast_cancer"),
                repeats=2,
                settings=_settings(500, heavy_repeats=1),
            ),
            "full": SizePlan(datasets=_EMBEDDED, repeats=10, settings=_settings(10_000)),
        },
        metrics=PRIVACY,
        summary="Attacks a synthetic table: which rows was it learned from, and what does it give away about them?",
        protocol="own",
        protocol_note="Attacks and risks after the cited papers, on Gower distances; distances to closest records are "
        f"diagnostics only. {_PROTOCOL}",
        requires=("pandas", "sklearn"),
    ),
    TaskInfo(
        name="tabular.efficacy",
        title="Table efficacy",
        version=1,
        scoring=2,
        entry="bench.tasks.tabular.efficacy:TabularEfficacy",
        sizes={
            "tiny": SizePlan(datasets=("penguins",), repeats=1, settings=_settings(120, learners="linear")),
            "small": SizePlan(
                datasets=("affairs", "diabetes"),
                repeats=2,
                settings=_settings(500, heavy_repeats=1),
            ),
            "full": SizePlan(datasets=_EMBEDDED, repeats=10, settings=_settings(10_000)),
        },
        metrics=EFFICACY,
        summary="Trains models on synthetic rows and tests them on real ones.",
        protocol="own",
        protocol_note="Train on synthetic, test on real, with settings chosen once on the real rows. "
        + _PROTOCOL,
        requires=("pandas", "sklearn"),
    ),
    TaskInfo(
        name="tabular.tabstruct",
        title="TabStruct",
        version=1,
        scoring=1,
        entry="bench.tasks.tabular.tabstruct:TabularTabStruct",
        sizes={
            "full": SizePlan(
                datasets=(*_TRUE, *_EMBEDDED),
                repeats=10,
                settings={
                    "n": 50_000,
                    "split": "tabstruct",
                    "test_over_train": 5 / 18,
                    "oracle_rows": 200_000,
                },
            ),
        },
        metrics=TABSTRUCT,
        summary="The metrics of TabStruct under its protocol: is every column as predictable from the others as it "
        "really is?",
        protocol="paper",
        protocol_note="72 / 8 / 20 per cent of the rows for training, validation and test, seeds 42 to 51, as many "
        "synthetic as training rows. The predictors are boosted trees, nearest neighbours and linear models. Held-out "
        "rows are too few to stand in for a generator. At size full only.",
        requires=("pandas", "sklearn"),
    ),
)
