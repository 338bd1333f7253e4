"""Templates and what they may call. Autoescape is on everywhere; only `island` returns markup."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from bench.leaderboard import text, whisker
from bench.leaderboard.figures import Figure

HERE = Path(__file__).parent
STATIC = HERE / "static"
CSP = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:"
_END_TAGS = re.compile(r"</t[dh]>(?=<t[dh]|</tr>)|</t[dh]></tr>(?=\s*(?:<tr|</tbody>))")
_PROTOCOLS = {
    "paper": "as published",
    "predecessor": "published in earlier work",
    "own": "ours: only an abstract or a principle is public",
}


@lru_cache(maxsize=1)
def environment() -> Environment:
    env = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    env.filters.update(
        bound=text.bound,
        count=text.count,
        island=text.island,
        plot_island=plot_island,
        megabytes=text.megabytes,
        safe_url=text.safe_url,
        seconds=text.seconds,
        slug=text.slug,
        visible=text.visible,
        compact=lambda value: f"{value:.6g}",
    )
    env.globals.update(csp=CSP, protocols=_PROTOCOLS, whisker_height=whisker.HEIGHT)
    return env


def page(template: str, **context: Any) -> str:
    """The page that `template` makes of `context`.

    End tags that HTML lets one leave out are left out in tables: a tenth of the bytes of a large site.
    """
    return _END_TAGS.sub("", environment().get_template(template).render(**context))


def plot_island(figure: Figure) -> Markup:
    """The JSON of a plot; six digits are more than a screen can show."""
    return text.island({"data": _rounded(figure.traces), "layout": _rounded(figure.layout)})


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {name: _rounded(item) for name, item in value.items()}
    return [_rounded(item) for item in value] if isinstance(value, (list, tuple)) else value
