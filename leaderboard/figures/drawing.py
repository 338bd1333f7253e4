"""Drawings as SVG in the page: no script, crisp in print, colours from the style sheet."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from bench.leaderboard import text

CHAR = 6.6  # assumed width of a character of the labels, in pixels


@dataclass
class Drawing:
    """Collects shapes; `finish` makes the picture. Coordinates are pixels at the drawing's natural width."""

    width: float
    height: float
    title: str  # for people who hear the page
    _parts: list[Markup] = field(default_factory=list)

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str = "") -> None:
        self._add("<line{} x1={} y1={} x2={} y2={} />", style, x1, y1, x2, y2)

    def path(self, d: str, style: str = "") -> None:
        self._parts.append(Markup('<path{} d="{}"/>').format(_class(style), d))

    def rect(self, x: float, y: float, width: float, height: float, style: str = "") -> None:
        self._add("<rect{} x={} y={} width={} height={} />", style, x, y, width, height)

    def dot(self, x: float, y: float, radius: float, style: str = "") -> None:
        self._add("<circle{} cx={} cy={} r={} />", style, x, y, radius)

    def label(self, x: float, y: float, words: str, style: str = "", anchor: str = "start") -> None:
        """Text with its baseline at y; `anchor` is start, middle or end."""
        end = Markup("") if anchor == "start" else Markup(" text-anchor={}").format(anchor)
        shape = Markup("<text{} x={} y={}{}>{}</text>")
        self._parts.append(shape.format(_class(style), _n(x), _n(y), end, words))

    def turned(self, x: float, y: float, words: str, style: str = "") -> None:
        """Text that starts at (x, y) and rises to the right, for heads of narrow columns."""
        shape = Markup('<text{} transform="translate({} {}) rotate(-55)">{}</text>')
        self._parts.append(shape.format(_class(style), _n(x), _n(y), words))

    def finish(self) -> Markup:
        head = Markup('<svg class="drawing" viewBox="0 0 {} {}" width="{}" role="img" aria-label="{}">')
        start = head.format(_n(self.width), _n(self.height), _n(self.width), self.title)
        return Markup("").join([start, *self._parts, Markup("</svg>")])

    def _add(self, shape: str, style: str, *numbers: float) -> None:
        self._parts.append(Markup(shape).format(_class(style), *map(_n, numbers)))


def _class(style: str) -> Markup:
    return Markup(" class={}").format(style) if style else Markup("")


def _n(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")


def shorten(words: str, limit: int = 34) -> str:
    return words if len(words) <= limit else words[: limit - 1] + "…"


def nice_ticks(low: float, high: float, count: int = 6) -> list[float]:
    """Round numbers between `low` and `high`, about `count` of them."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low]
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [i * step for i in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten in [low, high], with 2 and 5 between them where there would be fewer than three."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    whole = [10.0**e for e in powers if low <= 10.0**e <= high]
    if len(whole) >= 3:
        return whole
    return [m * 10.0**e for e in powers for m in (1, 2, 5) if low <= m * 10.0**e <= high]


def tick_text(value: float) -> str:
    return f"{value:.4g}".replace("-", text.MINUS)


def label_width(labels: Iterable[str], most: float = 240.0) -> float:
    return min(most, max((len(label) for label in labels), default=0) * CHAR)


def polyline(points: Sequence[tuple[float, float]]) -> str:
    """Path through `points`."""
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points) if points else ""
