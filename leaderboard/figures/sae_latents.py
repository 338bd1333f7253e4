"""Latents in context: the tokens that activate them most, each over a bar as high as its activation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from bench.leaderboard import exhibits, text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.drawing import Drawing
from bench.leaderboard.lines import Line
from bench.leaderboard.task_view import DatasetView

MOST_LATENTS, MOST_CONTEXTS, MOST_TOKENS = 12, 4, 13
WIDTH, ROW, HEAD = 900.0, 21.0, 26.0
_CHAR = 7.3  # width of a character of the class mono
Cards = list[dict[str, Any]]


def latent_figure(dataset: DatasetView) -> Figure | None:
    """Cards of the best contender that left any."""
    ranked = [line for line in dataset.lines if line.role == "contender" and line.limit is None]
    ranked.sort(key=lambda line: dataset.estimate(line, "fvu").mean or float("inf"))
    for line in ranked:
        cards = read_cards(dataset, line)
        if cards:
            return _figure(dataset, line, cards[:: max(1, len(cards) // MOST_LATENTS)][:MOST_LATENTS])
    return None


def read_cards(dataset: DatasetView, line: Line) -> Cards:
    """The cards of the line's first good repeat, whatever a foreign store holds: what is malformed is left out."""
    for job in sorted(dataset.jobs[line.key], key=lambda j: j.repeat):
        for exhibit in job.exhibits if job.ok else ():
            path = exhibits.source_path(job, exhibit) if exhibit.name == "latents" else None
            if path is None:
                continue
            try:
                found = json.loads(path.read_text("utf-8"))
            except (OSError, ValueError, RecursionError):
                continue
            cards = found.get("latents") if isinstance(found, dict) else None
            return [c for c in map(_card, cards if isinstance(cards, list) else []) if c is not None]
    return []


def _card(raw: Any) -> dict[str, Any] | None:
    if (
        not isinstance(raw, dict)
        or not exhibits.is_number(raw.get("latent"))
        or not exhibits.is_number(raw.get("density"))
    ):
        return None
    contexts = raw.get("contexts")
    if not isinstance(contexts, list):
        return None
    read = [
        [t for t in map(_token, c[:MOST_TOKENS]) if t]
        for c in contexts[:MOST_CONTEXTS]
        if isinstance(c, list)
    ]
    sources = raw.get("sources")
    names = [text.visible(str(s), 24) for s in sources][:3] if isinstance(sources, dict) else []
    score = raw.get("ms")
    return {
        "latent": int(raw["latent"]),
        "density": float(raw["density"]),
        "ms": float(score) if score is not None and exhibits.is_number(score) else None,
        "sources": names,
        "contexts": [c for c in read if c],
    }


def _token(raw: Any) -> tuple[str, float] | None:
    if (
        not isinstance(raw, list)
        or len(raw) != 2
        or not isinstance(raw[0], str)
        or not exhibits.is_number(raw[1])
    ):
        return None
    shown = text.visible(raw[0].replace("\n", "\u23ce"), 16)
    lead = " " if raw[0].startswith(" ") and not shown.startswith(" ") else ""
    return lead + shown, min(1.0, max(0.0, float(raw[1])))


def _figure(dataset: DatasetView, line: Line, cards: Cards) -> Figure:
    title = f"Latents of {line.title}, {dataset.title}"
    rows = tuple(
        (str(c["latent"]), f"{c['density']:.4%}", _score(c["ms"]), "".join(token for token, _ in context))
        for c in cards
        for context in c["contexts"]
    )
    return Figure(
        id=f"latents-{dataset.slug}",
        title=title,
        caption="Where latents are strongest, one context of a row of tokens; the bar behind a token is as high as the "
        "activation. Latents are spread evenly over the densities, not picked.",
        svg=_draw(cards, title),
        table=DataTable(head=("Latent", "Density", "MS", "Context"), rows=rows),
    )


def _score(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _draw(cards: Cards, title: str) -> Markup:
    height = sum(HEAD + ROW * len(c["contexts"]) + 12 for c in cards)
    drawing = Drawing(WIDTH, height, title)
    top = 0.0
    for card in cards:
        score = "" if card["ms"] is None else f", MS {card['ms']:.2f}"
        words = f"{card['latent']}: active on {card['density']:.2%} of tokens{score}; {', '.join(card['sources'])}"
        drawing.label(0, top + 16, words, "soft")
        for i, context in enumerate(card["contexts"]):
            _line(drawing, context, top + HEAD + i * ROW)
        top += HEAD + ROW * len(card["contexts"]) + 12
    return drawing.finish()


def _line(drawing: Drawing, context: Sequence[tuple[str, float]], top: float) -> None:
    x = 8.0
    for token, strength in context:
        width = _CHAR * len(token) + 1
        if x + width > WIDTH:
            break
        if strength > 0:
            drawing.rect(x, top + (ROW - 3) * (1 - strength), width, (ROW - 3) * strength, "v-right")
        drawing.label(x + (_CHAR if token.startswith(" ") else 0), top + 14, token.strip(), "mono")
        x += width
