"""WordPiece without case, as BERT and MiniLM read text."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

_LONGEST = 100  # characters of a word; longer ones are unknown
_CJK = (
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF), (0x2A700, 0x2CEAF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class WordPiece:
    """Encodes text with the vocabulary `tokens` (by id)."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self.tokens = tuple(tokens)
        self._ids = {token: i for i, token in enumerate(tokens)}
        self.unknown, self.start, self.end = (self._ids[t] for t in ("[UNK]", "[CLS]", "[SEP]"))
        self._word = lru_cache(maxsize=1 << 17)(self._pieces)

    def encode(self, text: str) -> list[int]:
        """Token ids of `text`, without special tokens."""
        found: list[int] = []
        for word in _words(text):
            found += self._word(word)
        return found

    def text(self, token: int) -> str:
        """What the token stands for; pieces inside a word without their mark, others with a blank before."""
        piece = self.tokens[token]
        return piece[2:] if piece.startswith("##") else f" {piece}"

    def _pieces(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST:
            return (self.unknown,)
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            end = next((e for e in range(len(word), start, -1) if prefix + word[start:e] in self._ids), start)
            if end == start:
                return (self.unknown,)
            found.append(self._ids[prefix + word[start:end]])
            start = end
        return tuple(found)


def _words(text: str) -> list[str]:
    """Words and single marks, lower case, without accents and control characters."""
    plain = unicodedata.normalize("NFD", "".join(map(_spaced, text)).lower())
    out: list[str] = []
    for char in plain:
        if unicodedata.category(char) != "Mn":
            out.append(f" {char} " if _is_mark(char) else char)
    return "".join(out).split()


@lru_cache(maxsize=1 << 14)
def _spaced(char: str) -> str:
    code = ord(char)
    if code in (0, 0xFFFD):
        return ""
    if char.isspace():
        return " "
    if unicodedata.category(char) in ("Cc", "Cf"):
        return ""
    return f" {char} " if any(a <= code <= b for a, b in _CJK) else char


@lru_cache(maxsize=1 << 14)
def _is_mark(char: str) -> bool:
    """Punctuation of Unicode, and every ASCII sign that is neither letter nor digit."""
    code = ord(char)
    ascii_sign = 33 <= code <= 47 or 58 <= code <= 64 or 91 <= code <= 96 or 123 <= code <= 126
    return ascii_sign or unicodedata.category(char).startswith("P")
