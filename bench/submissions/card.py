"""What a model says of itself, read as untrusted data: every fault is named with file and line."""

from __future__ import annotations

import math
import re
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.errors import UsageError
from bench.registry import unknown
from bench.spec import JSONScalar, ModelInfo, Resources, SubmissionKind, check_name

CARD = "submission.toml"
MAX_CARD_BYTES = 8 * 2**20
KINDS: tuple[SubmissionKind, ...] = ("class", "command", "artifacts")
_OWN_KEY = {"entry": "class", "command": "command", "units": "artifacts"}  # keys of one kind only
# Field -> most characters. Beyond that nobody reads it, and pages and terminals get slow.
_TEXTS = {"name": 64, "version": 64, "title": 120, "summary": 1_000, "license": 120, "url": 500, "paper": 500}
_LISTS = {
    "families": 64,
    "requires": 120,
    "programs": 120,
    "training_data": 200,
    "tags": 40,
    "only_tasks": 64,
}
_MOST_ITEMS, _MOST_PARAMS, _MOST_PARAM_TEXT = 50, 100, 1_000
_FIELDS = (*_TEXTS, *_LISTS, *_OWN_KEY, "kind", "params", "n_parameters", "resources")
_MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PROGRAM = re.compile(r"[A-Za-z0-9_+.-]+\Z")
_JOINERS = "\u200c\u200d"  # invisible, but several scripts cannot be written without


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """The data of a card and where it came from; `text` is "" if it is not a file."""

    where: str
    data: Mapping[str, Any]
    text: str = field(default="", repr=False)

    def fault(self, key: str, message: str) -> UsageError:
        """The error for what is wrong at `key`, naming file and line."""
        place = f"{self.where}:{line_of(self.text, key)}" if self.text else self.where
        return UsageError(f"{place}: {message}")

    def get(self, key: str, types: Any, default: Any) -> Any:
        """The value of `key`, if it has one of `types`."""
        value = self.data.get(key, default)
        if isinstance(value, bool) or not isinstance(value, types):
            raise self.fault(key, f"{key!r} has the wrong type, got {str(value)[:80]!r}")
        return value

    @property
    def kind(self) -> SubmissionKind:
        kind = self.get("kind", str, "class")
        if kind not in KINDS:
            raise self.fault("kind", f"kind {kind[:80]!r} is not known; use {', '.join(map(repr, KINDS))}")
        return kind  # type: ignore[no-any-return]


def read_card(path: Path) -> Card:
    """The card in the TOML file `path`, its keys checked."""
    try:
        if path.stat().st_size > MAX_CARD_BYTES:
            raise UsageError(f"{path} is over {MAX_CARD_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 at byte {error.start}") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"{path}: {error}") from error
    except ValueError as error:  # e.g. a number with more digits than Python reads
        raise UsageError(f"{path}: {error}") from error
    card = Card(where=str(path), data=data, text=text)
    for key in data:
        if key not in _FIELDS:
            raise card.fault(key, unknown_key(key, _FIELDS))
        if _OWN_KEY.get(key, card.kind) != card.kind:
            raise card.fault(key, f"{key!r} belongs to kind {_OWN_KEY[key]!r}; this card has {card.kind!r}")
    return card


def model_info(card: Card, entry: str) -> ModelInfo:
    """A checked `ModelInfo` from `card`; `entry` is shown as what runs."""
    fields: dict[str, Any] = {name: _text(card, name, limit) for name, limit in _TEXTS.items()}
    fields |= {name: _list(card, name, limit) for name, limit in _LISTS.items()}
    if not fields["name"] or not fields["version"] or not fields["families"]:
        raise UsageError(f"{card.where}: 'name', 'version' and 'families' are needed")
    try:
        check_name(fields["name"], "model")
        for family in fields["families"]:
            check_name(family, "family")
    except UsageError as error:
        raise UsageError(f"{card.where}: {error}") from None
    _check_items(card, "requires", fields["requires"], _MODULE, "a top-level module, as in `import numpy`")
    _check_items(card, "programs", fields["programs"], _PROGRAM, "a program's name, as typed in a terminal")
    n_parameters = card.get("n_parameters", (int, type(None)), None)
    if n_parameters is not None and not 0 <= n_parameters < 2**63:
        raise card.fault("n_parameters", f"'n_parameters' must be in [0, 2^63), got {str(n_parameters)[:40]}")
    return ModelInfo(
        **fields,
        entry=entry,
        form=card.kind,
        params=_params(card),
        n_parameters=n_parameters,
        resources=_resources(card),
    )


def clean_text(text: str) -> tuple[str, str]:
    """(`text` on one line, "") or ("", what is wrong with it).

    Control characters, marks that turn the direction of writing, and half characters are refused: they
    can make a terminal or page show something else than what is written.
    """
    line = " ".join(text.split())
    for place, c in enumerate(line):
        if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") and c not in _JOINERS:
            name = unicodedata.name(c, "a control character")
            return "", f"has the character U+{ord(c):04X} ({name}) at place {place + 1}; use visible text"
    return line, ""


def _text(card: Card, name: str, limit: int) -> str:
    return _checked(card, name, card.get(name, str, ""), limit)


def _list(card: Card, name: str, limit: int) -> tuple[str, ...]:
    values = card.get(name, (list, tuple), ())
    if len(values) > _MOST_ITEMS:
        raise card.fault(name, f"{name!r} has {len(values)} items; at most {_MOST_ITEMS} are allowed")
    if not all(isinstance(v, str) for v in values):
        raise card.fault(name, f"{name!r} must be a list of strings, got {str(values)[:80]!r}")
    return tuple(_checked(card, name, v, limit) for v in values)


def _checked(card: Card, name: str, text: str, limit: int) -> str:
    line, fault = clean_text(text)
    if fault:
        raise card.fault(name, f"{name!r} {fault}")
    if len(line) > limit:
        raise card.fault(name, f"{name!r} has {len(line)} characters; at most {limit} are allowed")
    return line


def _check_items(card: Card, name: str, values: Sequence[str], pattern: re.Pattern[str], what: str) -> None:
    for value in values:
        if not pattern.match(value):
            raise card.fault(name, f"{name!r} names {value!r}; expected {what}")


def _params(card: Card) -> dict[str, JSONScalar]:
    params = card.get("params", Mapping, {})
    if len(params) > _MOST_PARAMS:
        raise card.fault("params", f"'params' has {len(params)} entries; at most {_MOST_PARAMS} are allowed")
    for name, value in params.items():
        if not isinstance(name, str) or not name.isidentifier() or len(name) > 64:
            raise card.fault(str(name), f"params: {str(name)[:80]!r} is not the name of an argument")
        if not isinstance(value, (str, int, float, bool, type(None))):
            kind = type(value).__name__
            raise card.fault(name, f"params: {name!r} is a {kind}; use a text, number or true/false")
        if isinstance(value, float) and not math.isfinite(value):
            raise card.fault(name, f"params: {name!r} is {value}; use a finite number")
        if isinstance(value, int) and abs(value) >= 2**63:
            raise card.fault(name, f"params: {name!r} is beyond 64 bits")
        if isinstance(value, str):
            _checked(card, name, value, _MOST_PARAM_TEXT)
    return dict(params)


def _resources(card: Card) -> Resources | None:
    given = card.get("resources", (Mapping, type(None)), None)
    if not given:
        return None
    known = tuple(Resources.__dataclass_fields__)
    for name, value in given.items():
        if name not in known:
            raise card.fault(str(name), f"resources: {unknown_key(str(name), known)}")
        number = not isinstance(value, bool) and isinstance(value, (int, float)) and math.isfinite(value)
        if not number or not 0 <= value < 1e9 or (value == 0 and name != "gpus"):
            raise card.fault(name, f"resources: {name!r} must be a number above 0, got {str(value)[:80]!r}")
        if isinstance(value, float) and name in ("cpus", "memory_mb"):
            raise card.fault(name, f"resources: {name!r} must be a whole number, got {value!r}")
    return Resources(**given)


def unknown_key(key: str, known: Sequence[str]) -> str:
    """The message for a key that a TOML file should not have, with the nearest one."""
    return unknown("key", key[:80], known).partition(" (see")[0]


def line_of(text: str, key: str) -> int:
    """The line on which `key` is set in a TOML text (1 if it cannot be found)."""
    pattern = re.compile(rf"\s*\[*\"?{re.escape(key)}(?![\w-])")
    return next((i for i, line in enumerate(text.splitlines(), start=1) if pattern.match(line)), 1)
