"""Text that is safe and readable on a page: names, links, numbers, times."""

from __future__ import annotations

import hashlib
import json
import math
import re
from typing import Any
from urllib.parse import quote, urlsplit

from markupsafe import Markup

from bench.errors import UsageError
from bench.spec import check_name

DASH, MINUS, TIMES = "–", "−", "×"

_ISLAND_ESCAPES = {c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
_ISLAND = re.compile("[" + "".join(_ISLAND_ESCAPES) + "]")
# Right-to-left marks and other invisible controls could make a name read as something it is not.
_INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def slug(name: str) -> str:
    """`name` if it is a valid registered name, else a name made of its hash; safe in file names and URLs."""
    try:
        return check_name(name, "page")
    except UsageError:
        return "x-" + hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def island(value: Any) -> Markup:
    """JSON for a `<script type="application/json">` element: cannot end the element, valid JavaScript."""
    raw = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True)
    return Markup(_ISLAND.sub(lambda m: _ISLAND_ESCAPES[m.group()], raw))


def safe_url(url: str) -> str:
    """`url` if it is an absolute http(s) address, else ""."""
    text = url.strip()
    if _INVISIBLE.search(text) or any(c.isspace() for c in text):
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
        return ""
    return quote(text, safe=":/?#[]@!$&'()*+,;=%-._~")


def plotly(text: str) -> str:
    """`text` for a chart: plotly reads a few HTML tags in labels, so none may be left."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def visible(text: str, limit: int = 20_000) -> str:
    """`text` with invisible controls shown as \\uXXXX and overlong input cut with a note."""
    shown = _INVISIBLE.sub(lambda m: f"\\u{ord(m.group()):04x}", text[:limit])
    shown = shown.encode("utf-8", "replace").decode("utf-8")
    return shown if len(text) <= limit else f"{shown} … ({len(text) - limit} more characters)"


def csv_text(text: str) -> str:
    """A text cell that no spreadsheet takes for a formula."""
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def decimals_for(values: list[float]) -> int:
    """Decimals that give most of `values` three significant digits, between 0 and 4."""
    sizes = sorted(abs(v) for v in values if v and math.isfinite(v))
    if not sizes:
        return 3
    typical = sizes[len(sizes) // 4]
    return max(0, min(4, 2 - math.floor(math.log10(typical))))


def number(value: float, decimals: int) -> str:
    """`value` with fixed decimals; scientific where that would hide it or be too wide."""
    if abs(value) >= 1e7:
        return scientific(value, 2)
    text = f"{value:,.{decimals}f}".replace(",", "\u202f")
    if value and not any(c in text for c in "123456789"):
        return scientific(value, 1)
    return text.replace("-", MINUS)


def scientific(value: float, digits: int) -> str:
    mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
    return f"{mantissa}e{int(exponent)}".replace("-", MINUS)


def spread(mean: float, low: float, high: float, decimals: int) -> str:
    """The interval as "±h" where it is symmetric about the mean, else as "low–high"."""
    up, down = high - mean, mean - low
    if max(up, down) < 1e-12 * max(abs(mean), 1e-300):  # equal repeats, but for rounding
        return "±0"
    if math.isclose(up, down, rel_tol=1e-3, abs_tol=1e-12):
        finer = next((d for d in range(decimals, decimals + 3) if round(up, d)), decimals)
        return "±" + number(up, finer)
    return f"{number(low, decimals)}{DASH}{number(high, decimals)}"


def bound(value: float) -> str:
    """An end of a metric's range: infinity and whole numbers are shown as such."""
    if math.isinf(value):
        return "∞" if value > 0 else MINUS + "∞"
    return f"{value:g}".replace("-", MINUS)


def seconds(value: float | None) -> str:
    """A duration for people: 0.42 s, 37 s, 4 min 10 s, 3 h 5 min."""
    if value is None:
        return "unknown"
    if value < 10:
        return f"{value:.2f} s"
    if value < 120:
        return f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 120:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"


def megabytes(value: float | None) -> str:
    if value is None:
        return "unknown"
    return f"{value / 1024:.1f} GiB" if value >= 1024 else f"{value:.0f} MiB"


def count(n: int, one: str, many: str = "") -> str:
    """ "1 model", "3 models"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}".replace(",", "\u202f")
