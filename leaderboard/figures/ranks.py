"""Figures of a ranking: critical differences, who wins against whom, what a rank costs."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from bench.leaderboard import text
from bench.leaderboard.figures import DataTable, Figure
from bench.leaderboard.figures.drawing import Drawing, label_width, shorten
from bench.leaderboard.figures.pareto import pareto_front
from bench.leaderboard.lines import LineKey
from bench.leaderboard.rankings import Ranking, Standing
from bench.leaderboard.tables import Cost

WIDTH, ROW = 760.0, 22.0
MANY = 24  # beyond, labels of a critical-difference diagram cannot be told apart


def figures(ranking: Ranking, costs: Mapping[LineKey, Cost]) -> list[Figure]:
    """The figures of one family's ranking."""
    found = [_critical_differences(ranking), _cost(ranking, costs)]
    return [figure for figure in found if figure is not None]


def _critical_differences(ranking: Ranking) -> Figure | None:
    cd = ranking.critical_difference
    if cd is None or len(ranking.standings) > MANY:
        return None
    names = ", ".join(f"{s.line.title} {s.mean_rank:.2f}" for s in ranking.standings)
    rows = tuple((s.line.title, f"{s.mean_rank:.4f}") for s in ranking.standings)
    return Figure(
        id="critical-difference",
        title="Mean ranks and critical difference",
        caption=f"A bar joins models whose mean ranks differ by less than the critical difference {cd:.3f} "
        "(Nemenyi, α = 0.05): they are not separable over these tasks.",
        svg=_cd_drawing(ranking, cd, f"Mean ranks: {names}"),
        table=DataTable(head=("Model", "Mean rank"), rows=rows),
    )


def _cd_drawing(ranking: Ranking, cd: float, title: str) -> Markup:
    found = ranking.standings
    k = len(found)
    side = max(150.0, label_width([shorten(s.line.title, 28) for s in found]) + 14)
    half = (k + 1) // 2
    bars = cliques([s.mean_rank for s in found], cd)
    top = 64.0
    first = top + 14 + 9 * len(bars) + 10
    drawing = Drawing(WIDTH, first + half * ROW + 10, title)

    def x(rank: float) -> float:
        return side + (WIDTH - 2 * side) * (rank - 1) / max(1, k - 1)

    drawing.line(x(1), top, x(k), top, "axis")
    for rank in range(1, k + 1):
        drawing.line(x(rank), top - 5, x(rank), top, "axis")
        drawing.label(x(rank), top - 10, str(rank), "soft", "middle")
    reach = min(cd, float(k - 1))
    drawing.path(f"M{x(1):.1f} 18v8M{x(1):.1f} 22H{x(1 + reach):.1f}m0 -4v8", "axis")
    drawing.label(
        x(1 + reach) + 8, 26, f"CD {cd:.3f}" + ("" if reach == cd else " (wider than the axis)"), "soft"
    )
    for i, (start, end) in enumerate(bars):
        y = top + 12 + 9 * i
        drawing.line(x(found[start].mean_rank) - 4, y, x(found[end].mean_rank) + 4, y, "bar")
    for i, standing in enumerate(found):
        _cd_label(
            drawing,
            standing,
            x(standing.mean_rank),
            top,
            first + (i if i < half else k - 1 - i) * ROW,
            i < half,
            side,
        )
    return drawing.finish()


def _cd_label(
    drawing: Drawing, s: Standing, at: float, top: float, y: float, left: bool, side: float
) -> None:
    end = side - 12 if left else WIDTH - side + 12
    drawing.path(f"M{at:.1f} {top:g}V{y:.1f}H{end:.1f}", "lead")
    words = f"{shorten(s.line.title, 28)}"
    drawing.label(end - 6 if left else end + 6, y + 4, words, "", "end" if left else "start")


def cliques(mean_ranks: list[float], cd: float) -> list[tuple[int, int]]:
    """Maximal runs (first, last) of sorted mean ranks that span at most `cd`; runs of one are left out."""
    found: list[tuple[int, int]] = []
    for start in range(len(mean_ranks)):
        end = max(i for i in range(start, len(mean_ranks)) if mean_ranks[i] - mean_ranks[start] <= cd)
        if end > start and not (found and found[-1][1] >= end):
            found.append((start, end))
    return found


def _cost(ranking: Ranking, costs: Mapping[LineKey, Cost]) -> Figure | None:
    """Win rate against time: the front of what can be had for the money."""
    points = [
        (s, cost.seconds)
        for s in ranking.standings
        if (cost := costs.get(s.line.key)) is not None and cost.seconds is not None and cost.seconds > 0
    ]
    if len(points) < 3 or len({seconds for _, seconds in points}) < 2:
        return None
    front = pareto_front([(seconds, s.win_rate) for s, seconds in points])
    times = [seconds for _, seconds in points]
    wide = max(times) / min(times) > 100
    return Figure(
        id="pareto-time",
        title="Win rate against time",
        caption="On the line: no model is both cheaper and more often better.",
        traces=[
            {
                "type": "scatter",
                "mode": "lines",
                "name": "Pareto front",
                "x": [points[i][1] for i in front],
                "y": [points[i][0].win_rate for i in front],
                "line": {"color": "--accent", "width": 2, "shape": "hv", "dash": "dot"},
                "hoverinfo": "skip",
            },
            {
                "type": "scatter",
                "mode": "markers+text",
                "name": "models",
                "x": times,
                "y": [s.win_rate for s, _ in points],
                "text": [
                    text.plotly(shorten(s.line.title, 28)) if i in front else ""
                    for i, (s, _) in enumerate(points)
                ],
                "textposition": "top center",
                "hovertext": [text.plotly(s.line.title) for s, _ in points],
                "hoverinfo": "text",
                "marker": {
                    "color": "--series-1",
                    "size": [11 if i in front else 7 for i in range(len(points))],
                },
            },
        ],
        layout={
            "xaxis": {
                "title": {"text": "mean time of a job, s" + (" (log)" if wide else "")},
                "type": "log" if wide else "linear",
            },
            "yaxis": {"title": {"text": "win rate"}, "range": [-0.05, 1.1]},
        },
        table=DataTable(
            head=("Model", "Win rate", "Time", "On the front"),
            rows=tuple(
                (s.line.title, f"{s.win_rate:.3f}", text.seconds(seconds), "yes" if i in front else "no")
                for i, (s, seconds) in enumerate(points)
            ),
        ),
    )
