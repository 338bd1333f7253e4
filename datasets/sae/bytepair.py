"""Byte-level byte-pair encoding with single digits, as SmolLM2 reads text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise


class _Classes(dict[int, str]):
    """Character -> its class: a letter, 0 (number), blank, line break (other white space), full stop (the rest).

    The letters of English contractions and the apostrophe stand for themselves.
    """

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if category[0] == "L":
            found = char if char in "delmrstv" else "a"
        elif category[0] == "N":
            found = "0"
        elif char.isspace():
            found = " " if char == " " else "\n"
        else:
            found = "'" if char == "'" else "."
        self[code] = found
        return found


_CLASSES = _Classes()
_WORDS = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[adelmrstv]+| ?0+| ?[.']+|[ \n]+(?![adelmrstv0.'])|[ \n]+")


def words(text: str) -> list[str]:
    """Pieces of `text` that no merge crosses: every digit for itself first, then the pattern of GPT-2."""
    shape = text.translate(_CLASSES)
    found = []
    start = 0
    for end in (*(i for i, c in enumerate(shape) if c == "0"), len(shape)):
        found += [text[start + m.start() : start + m.end()] for m in _WORDS.finditer(shape[start:end])]
        if end < len(shape):
            found.append(text[end])
        start = end + 1
    return found


def _visible_bytes() -> dict[int, str]:
    """The printable character that stands for each byte in the vocabulary."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = [b for b in range(256) if b not in set(kept)]
    return {**{b: chr(b) for b in kept}, **{b: chr(256 + i) for i, b in enumerate(rest)}}


class BytePairs:
    """Encodes text with `tokens` (by id) and `merges` ("left right", best first)."""

    def __init__(self, tokens: Sequence[str], merges: Sequence[str]) -> None:
        self.tokens = tuple(tokens)
        self._ids = {token: i for i, token in enumerate(tokens)}
        self._ranks = {tuple(merge.split(" ")): rank for rank, merge in enumerate(merges)}
        self._bytes = _visible_bytes()
        self._backward = {char: byte for byte, char in self._bytes.items()}
        self._word = lru_cache(maxsize=1 << 17)(self._merge)

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`, without special tokens."""
        found: list[int] = []
        for word in words(text):
            found += self._word(word)
        return found

    def text(self, token: int) -> str:
        """What the token `token` stands for, bytes that are no whole character replaced."""
        raw = bytes(self._backward.get(char, 32) for char in self.tokens[token])
        return raw.decode("utf-8", errors="replace")

    def _merge(self, word: str) -> tuple[int, ...]:
        parts = [self._bytes[b] for b in word.encode("utf-8", errors="replace")]
        while len(parts) > 1:
            ranked = [(self._ranks.get(pair, -1), pair) for pair in pairwise(parts)]
            known = [item for item in ranked if item[0] >= 0]
            if not known:
                break
            left, right = min(known)[1]
            parts = _joined(parts, left, right)
        return tuple(self._ids[part] for part in parts)


def _joined(parts: list[str], left: str, right: str) -> list[str]:
    """Every neighbouring `left`, `right` made one."""
    out: list[str] = []
    i = 0
    while i < len(parts):
        if i + 1 < len(parts) and parts[i] == left and parts[i + 1] == right:
            out.append(left + right)
            i += 2
        else:
            out.append(parts[i])
            i += 1
    return out
