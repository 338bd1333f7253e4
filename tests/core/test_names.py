"""Names are refused at registration, with the offending character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.errors import UsageError
from bench.registry import Registered, Registry
from bench.spec import MetricInfo, ModelInfo, SizePlan, TaskInfo, check_name
from bench.work import Source


def model(name: str = "m", **kwargs: object) -> Registered[ModelInfo]:
    info = ModelInfo(name=name, version="1", families=("images",), **kwargs)  # type: ignore[arg-type]
    return Registered(info=info, origin=f"origin of {name}", source=Source(entry="x:Y"))


def task(metrics: tuple[MetricInfo, ...], name: str = "images.t") -> Registered[TaskInfo]:
    info = TaskInfo(
        name=name, title="", version=1, scoring=1, entry="x:Y", metrics=metrics, summary="", protocol="own",
        sizes={"tiny": SizePlan(datasets=("d",), repeats=1)},
    )  # fmt: skip
    return Registered(info=info, origin="here", source=Source(entry="x:Y"))


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("a/b", "'/'"), ("a:b", "':'"), ("a b", "' '"), ("Abc", "'A'"), ("aBc", "'B'"), ("-a", "'-'"),
        ("..", "'.'"), ("ä", "'ä'"), ("a\n", r"'\n'"), ("", "empty"), ("x" * 65, "65 characters"),
    ],
)  # fmt: skip
def test_bad_names_are_refused_naming_the_fault(name: str, fault: str) -> None:
    with pytest.raises(UsageError) as caught:
        Registry().add(model(name))
    assert fault in str(caught.value)


@given(st.from_regex(r"[a-z0-9][a-z0-9._-]{0,63}", fullmatch=True))
def test_good_names_pass(name: str) -> None:
    assert check_name(name, "model") == name


def test_two_registrations_of_a_name_are_refused_with_both_origins() -> None:
    registry = Registry()
    registry.add(model())
    second = Registered(info=model().info, origin="elsewhere", source=Source(entry="x:Y"))
    with pytest.raises(UsageError, match=r"origin of m and elsewhere"):
        registry.add(second)


def test_a_task_declares_each_metric_once_and_one_primary() -> None:
    a, b = MetricInfo(name="a", direction="max", primary=True), MetricInfo(name="b", direction="min")
    Registry().add(task((a, b)))
    with pytest.raises(UsageError, match="declares a metric twice"):
        Registry().add(task((a, b, b)))
    with pytest.raises(UsageError, match="exactly one primary metric, has none"):
        Registry().add(task((b,)))
    with pytest.raises(UsageError, match=r"must be 'family\.task'"):
        Registry().add(task((a,), name="images"))


def test_an_unknown_name_brings_the_three_nearest() -> None:
    registry = Registry()
    for name in ("vae-16", "vae-32", "flow", "gmm-50"):
        registry.add(model(name))
    with pytest.raises(UsageError, match=r"model 'vae16' is unknown; did you mean vae-16, vae-32, \w"):
        registry.match("model", ["vae16"])
    with pytest.raises(UsageError, match="matches nothing"):
        registry.match("model", ["xyz*"])
    assert registry.match("model", ["vae*", "vae-16"]) == ["vae-16", "vae-32"]
