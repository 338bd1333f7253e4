"""Templates and what they may call. Autoescape is on everywhere; only `island` returns markup."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bench.leaderboard import text, whisker

HERE = Path(__file__).parent
STATIC = HERE / "static"
CSP = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:"
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
    """The page that `template` makes of `context`."""
    return environment().get_template(template).render(**context)
