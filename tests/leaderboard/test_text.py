from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.leaderboard import text

HOSTILE = "</script><img src=x onerror=alert(1)>&\u2028\u2029"


def test_island_cannot_end_its_element_and_keeps_the_value() -> None:
    raw = text.island({"name": HOSTILE})
    assert not set("<>&\u2028\u2029") & set(raw)
    assert json.loads(raw) == {"name": HOSTILE}


@given(st.text())
def test_island_round_trips_any_text(value: str) -> None:
    raw = text.island(value)
    assert json.loads(raw) == value
    assert not set("<>&\u2028\u2029") & set(raw)


def test_island_refuses_nan() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        text.island(math.nan)


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://example.org/a?b=c#d", "https://example.org/a?b=c#d"),
        ("HTTP://example.org", "HTTP://example.org"),
        ("javascript:alert(1)", ""),
        ("java\nscript:alert(1)", ""),
        (" data:text/html,x", ""),
        ("//example.org", ""),
        ("http://", ""),
        ("https://exa mple.org", ""),
        ("https://example.org/\u202egpj", ""),
        ("http://[::1", ""),
        ('https://example.org/"onclick="x', "https://example.org/%22onclick=%22x"),
        ("not a link", ""),
    ],
)
def test_only_web_addresses_become_links(url: str, safe: str) -> None:
    assert text.safe_url(url) == safe


@given(st.text(max_size=80))
def test_slugs_are_safe_in_files_and_addresses(name: str) -> None:
    assert set(text.slug(name)) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    assert not text.slug(name).startswith(".")


def test_slug_keeps_valid_names_and_tells_others_apart() -> None:
    assert text.slug("flow-matching") == "flow-matching"
    assert text.slug("A") != text.slug("a")
    assert text.slug("../../x") != text.slug("../../y")


def test_invisible_marks_are_shown() -> None:
    assert text.visible("a\u202eb\x00") == "a\\u202eb\\u0000"
    assert text.visible("tab\tand\nline") == "tab\tand\nline"
    assert text.visible("x" * 12, 10) == "x" * 10 + " … (2 more characters)"
    assert text.visible("\ud800") == "?"


@pytest.mark.parametrize(
    ("cell", "written"),
    [("=1+1", "'=1+1"), ("-x", "'-x"), ("@a", "'@a"), ("+a", "'+a"), ("a=", "a="), ("", "")],
)
def test_csv_texts_are_no_formulas(cell: str, written: str) -> None:
    assert text.csv_text(cell) == written


@pytest.mark.parametrize(
    ("value", "decimals", "shown"),
    [
        (0.7321, 3, "0.732"),
        (-0.5, 2, "−0.50"),
        (0.0, 3, "0.000"),
        (0.00012, 3, "1.2e−4"),
        (12345.6, 1, "12\u202f345.6"),
        (3.2e9, 0, "3.20e9"),
    ],
)
def test_numbers(value: float, decimals: int, shown: str) -> None:
    assert text.number(value, decimals) == shown


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 4))
def test_only_zero_is_shown_as_zero(value: float, decimals: int) -> None:
    digits = set(text.number(value, decimals).split("e")[0]) & set("123456789")
    assert bool(digits) == (value != 0)


def test_decimals_suit_most_of_a_column() -> None:
    assert text.decimals_for([0.732, 0.71]) == 3
    assert text.decimals_for([120.0, 340.0]) == 0
    assert text.decimals_for([0.0, 0.0]) == 3
    assert text.decimals_for([1e-9]) == 4


def test_spread_is_symmetric_or_both_ends() -> None:
    assert text.spread(0.732, 0.693329, 0.770671, 3) == "±0.039"
    assert text.spread(1.21, 1.2078, 1.2122, 2) == "±0.002"
    assert text.spread(0.5, 0.2, 0.6, 2) == "0.20–0.60"
    assert text.spread(3.3, 3.3 - 1e-16, 3.3 + 5e-16, 3) == "±0"


def test_durations_and_sizes() -> None:
    shown = [text.seconds(v) for v in (None, 0.421, 37.2, 250, 11_100)]
    assert shown == ["unknown", "0.42 s", "37 s", "4 min 10 s", "3 h 5 min"]
    assert [text.megabytes(v) for v in (None, 700.4, 2048)] == ["unknown", "700 MiB", "2.0 GiB"]
    assert text.bound(math.inf) == "∞"
    assert text.bound(-1.0) == "−1"
