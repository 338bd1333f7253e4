"""Verbs that only look: list, describe, status, env."""

from __future__ import annotations

import dataclasses
from collections import Counter
from enum import StrEnum
from typing import Annotated, Any

import typer

from bench.cli.common import (
    DEFAULT_RESULTS,
    DEFAULT_SUBMISSIONS,
    AsJson,
    ResultsDir,
    SubmissionsDir,
    full_registry,
    show_json,
    show_table,
    warn,
)
from bench.errors import UsageError


class Kind(StrEnum):
    models = "models"
    tasks = "tasks"
    datasets = "datasets"
    suites = "suites"


def register(app: typer.Typer) -> None:
    app.command("list")(list_names)
    app.command()(describe)
    app.command()(status)
    app.command()(env)


def list_names(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    as_json: AsJson = False,
    submissions: SubmissionsDir = DEFAULT_SUBMISSIONS,
) -> None:
    """List models, tasks, datasets or suites by name."""
    registry = full_registry(submissions)
    warn(registry)
    if kind is Kind.suites:
        rows = [_suite_row(registry, family) for family in ("all", *registry.families())]
        head = ["suite", "tasks", "models"]
    else:
        items = getattr(registry, kind.value)
        shown = {n: r.info for n, r in sorted(items.items()) if not _internal(r.info)}
        head, rows = _HEADS[kind], [_row(kind, info) for info in shown.values()]
    if as_json:
        show_json([dict(zip(head, row, strict=True)) for row in rows])
    else:
        show_table(head, rows)


_HEADS = {
    Kind.models: ["model", "families", "version", "summary"],
    Kind.tasks: ["task", "version", "datasets", "primary metric", "summary"],
    Kind.datasets: ["dataset", "data", "license", "summary"],
}


def _row(kind: Kind, info: Any) -> list[Any]:
    if kind is Kind.models:
        return [info.name, ",".join(info.families), info.version, info.summary or info.title]
    if kind is Kind.datasets:
        return [info.name, info.data, info.license, info.summary]
    datasets = dict.fromkeys(d for size in info.sizes.values() for d in size.datasets)
    return [info.name, f"{info.version}.{info.scoring}", ",".join(datasets), info.primary.name, info.summary]


def _suite_row(registry: Any, suite: str) -> list[Any]:
    families = set(registry.families()) if suite == "all" else {suite}
    tasks = [n for n, t in sorted(registry.tasks.items()) if t.info.family in families]
    models = [n for n, m in registry.models.items() if families & set(m.info.families)]
    return [suite, ",".join(tasks), len(models)]


def _internal(info: Any) -> bool:
    """The self-test family exists to test the bench and is not shown."""
    families = getattr(info, "families", None) or (getattr(info, "family", ""),)
    return "selftest" in families or info.name.startswith("selftest")


def describe(
    name: Annotated[str, typer.Argument(help="A model, task, dataset or suite.")],
    as_json: AsJson = False,
    submissions: SubmissionsDir = DEFAULT_SUBMISSIONS,
) -> None:
    """Tell everything that is declared about one name."""
    registry = full_registry(submissions, [name])
    found = [
        (kind, item)
        for kind in ("task", "model", "dataset")
        for item in [getattr(registry, kind + "s").get(name)]
        if item is not None
    ]
    if not found:
        raise UsageError(_nowhere(registry, name))
    cards = [{"kind": kind, "origin": item.origin, **dataclasses.asdict(item.info)} for kind, item in found]
    if as_json:
        show_json(cards if len(cards) > 1 else cards[0])
        return
    for card in cards:
        _show_card(card)


def _nowhere(registry: Any, name: str) -> str:
    from bench.registry import unknown

    return unknown("name", name, [*registry.tasks, *registry.models, *registry.datasets]).partition(" (see")[
        0
    ]


def _show_card(card: dict[str, Any]) -> None:
    metrics, sizes = card.pop("metrics", ()), card.pop("sizes", {})
    fields = {k: v for k, v in card.items() if v not in ("", None, (), {}, [])}
    show_table(["field", "value"], [[k, _flat(v)] for k, v in fields.items()])
    if sizes:
        typer.echo()
        rows = [[s, ",".join(p["datasets"]), p["repeats"], _flat(p["settings"])] for s, p in sizes.items()]
        show_table(["size", "datasets", "repeats", "settings"], rows)
    if metrics:
        typer.echo()
        arrows = {"max": "higher", "min": "lower", "none": "-"}
        rows = [
            [m["name"] + (" *" if m["primary"] else ""), arrows[m["direction"]], m["unit"], m["definition"]]
            for m in metrics
        ]
        show_table(["metric (* primary)", "better", "unit", "definition"], rows)


def _flat(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}={v}" for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value))
    return str(value)


def status(
    results: ResultsDir = DEFAULT_RESULTS,
    as_json: AsJson = False,
) -> None:
    """Tell what the results store holds: jobs by task, size and status, and the latest runs."""
    from bench.store import Store

    store = Store.open(results)
    rows = store.current().select(["task", "size", "status"]).to_pylist()
    counts = Counter((r["task"], r["size"], r["status"]) for r in rows)
    table = [[*key, n] for key, n in sorted(counts.items())]
    if as_json:
        show_json([dict(zip(("task", "size", "status", "jobs"), row, strict=True)) for row in table])
    elif table:
        show_table(["task", "size", "status", "jobs"], table)
    else:
        typer.echo(f"{results} holds no results yet; `bench run --suite all` makes some")


def env(as_json: AsJson = False) -> None:
    """Tell what this machine and installation are: versions, devices, optional extras."""
    from bench.provenance import environment

    facts = environment()
    if as_json:
        show_json(facts)
    else:
        show_table(["fact", "value"], [[k, _flat(v)] for k, v in facts.items()])
