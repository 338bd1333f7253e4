"""What repeated looking does to a test, simulated when the site is built: the figure of the methods page."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from markupsafe import Markup

from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.drawing import Drawing, polyline
from bench.stats.validity import FalseAlarms, false_alarms

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 800.0, 260.0, 48.0, 230.0, 12.0, 40.0
CEILING = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class NullSimulation:
    """Two equal models compared again and again: how often each test ever declares a winner."""

    final: FalseAlarms
    figure: Figure

    @property
    def allowed(self) -> float:
        """alpha + 3 standard errors of the simulation."""
        alpha = self.final.alpha
        return alpha + 3 * math.sqrt(alpha * (1 - alpha) / self.final.runs)


@lru_cache(maxsize=1)
def null_simulation() -> NullSimulation:
    """The simulation with its fixed seed: a tenth of a second, the same numbers each time."""
    final = false_alarms()
    rows = tuple((str(n), f"{anytime:.1%}", f"{z_test:.1%}") for n, anytime, z_test in final.curve)
    return NullSimulation(
        final=final,
        figure=Figure(
            id="null-simulation",
            title="False alarms while results keep arriving",
            caption=f"{final.runs} comparisons of two models that are equally good. Share in which a winner was ever "
            f"declared: by the e-process, looked at after every item, and by a z-test at {final.alpha:.0%}, looked at "
            f"every {final.every} items.",
            svg=_draw(final),
            table=DataTable(head=("Items so far", "e-process", "z-test"), rows=rows),
        ),
    )


def _draw(found: FalseAlarms) -> Markup:
    drawing = Drawing(WIDTH, HEIGHT, "False alarms of the e-process and of the repeated z-test over items")
    longest = found.n

    def x(n: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * n / longest

    def y(share: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - share / CEILING)

    for tick in (0.0, 0.1, 0.2, 0.3, 0.4, 0.5):
        drawing.line(LEFT, y(tick), WIDTH - RIGHT, y(tick), "grid")
        drawing.label(LEFT - 8, y(tick) + 4, f"{tick:.0%}", "soft", "end")
    for n in (0, 200, 400, 600, 800, 1_000):
        drawing.label(x(n), HEIGHT - BOTTOM + 18, str(n), "soft", "middle")
    drawing.label(x(longest / 2), HEIGHT - 4, "items", "soft", "middle")
    drawing.line(LEFT, y(found.alpha), WIDTH - RIGHT, y(found.alpha), "target")
    for style, name, shares in (
        ("c2", "z-test, every 10 items", [z for _, _, z in found.curve]),
        ("c1", "e-process, every item", [e for _, e, _ in found.curve]),
    ):
        points = [(x(n), y(min(s, CEILING))) for (n, _, _), s in zip(found.curve, shares, strict=True)]
        drawing.path(polyline([(x(0), y(0.0)), *points]), style)
        drop = 14 if style == "c1" else 4  # below the label of the allowed share
        drawing.label(WIDTH - RIGHT + 10, points[-1][1] + drop, f"{name}: {shares[-1]:.1%}", style)
    drawing.label(WIDTH - RIGHT + 10, y(found.alpha) - 4, f"allowed: {found.alpha:.0%}", "soft")
    return drawing.finish()
