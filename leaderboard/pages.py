"""The pages of an edition, one after the other, and where they lead."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bench.leaderboard import failures, render
from bench.leaderboard.edition import Edition


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The editions of the site; the first lies at its root."""

    sizes: tuple[str, ...]
    pages: frozenset[str]  # of all editions, below the site's root

    def prefix(self, size: str) -> str:
        return "" if size == self.sizes[0] else f"{size}/"

    def elsewhere(self, size: str, name: str) -> str:
        """The page `name` in the edition `size`, below the site's root; "" if that edition has none."""
        path = self.prefix(size) + name
        return path if path in self.pages else ""


def links_of(editions: Sequence[Edition]) -> Links:
    pages = {
        edition.prefix + name
        for edition in editions
        for name in (
            "index.html",
            "failures.html",
            "compare.html",
            *(f"rank/{f.slug}.html" for f in edition.families if f.ranking is not None),
            *(f"task/{t.slug}.html" for t in edition.tasks),
            *(f"model/{m.slug}.html" for m in edition.models),
        )
    }
    return Links(sizes=tuple(e.size for e in editions), pages=frozenset(pages))


def edition_pages(edition: Edition, links: Links) -> Iterable[tuple[str, str]]:
    """Yield (path below the site's root, content)."""
    counts = failures.counts(edition.failures)
    yield _page(edition, links, "index.html", "index.html")
    yield _page(edition, links, "failures.html", "failures.html", counts=counts)
    yield _page(edition, links, "compare.html", "compare.html", data=edition.versus)
    for family in edition.families:
        if family.ranking is not None:
            figures = edition.rank_figures[family.slug]
            yield _page(
                edition, links, f"rank/{family.slug}.html", "rank.html", family=family, figures=figures
            )
    for task in edition.tasks:
        views: dict[str, Any] = {
            "task": task,
            "figures": edition.figures[task.info.name],
            "decided": edition.decided[task.info.name],
        }
        yield _page(edition, links, f"task/{task.slug}.html", "task.html", **views)
    for model in edition.models:
        yield _page(edition, links, f"model/{model.slug}.html", "model.html", model=model)


def _page(edition: Edition, links: Links, name: str, template: str, **context: Any) -> tuple[str, str]:
    path = edition.prefix + name
    base = "../" * name.count("/")
    root = "../" * path.count("/")
    return path, render.page(
        template, name=name, base=base, root=root, edition=edition, links=links, **context
    )
