"""The readers of real models, checked on what is known of these models."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from bench.catalog.sae_datasets import DATASETS
from bench.datasets.sae import packages
from bench.datasets.sae.bytepair import words
from bench.datasets.sae.corpus import is_evaluation, tokens_of
from bench.datasets.sae.gguf import GgufFile
from bench.datasets.sae.hooks import HOOKS
from bench.datasets.sae.packages import Package
from bench.datasets.sae.texts import table
from bench.errors import MissingRequirement
from bench.registry import resolve

TEXTS = packages.PROBES.absence()
needs_minilm = pytest.mark.skipif(
    bool(packages.MINILM.absence() or TEXTS), reason="MiniLM or the texts are not here"
)
needs_smollm2 = pytest.mark.skipif(
    bool(packages.SMOLLM2.absence() or TEXTS), reason="SmolLM2 or the texts are not here"
)


@needs_smollm2
def test_smollm2_predicts_as_it_should() -> None:
    model = HOOKS["smollm2-l9"].load()
    text = " ".join(table("161_agnews_0")["prompt"][:200])
    tokens = torch.tensor(model.tokenizer.encode(text)[:1024]).view(8, 128)
    losses, _ = model.losses(model.hidden(tokens, 9), tokens, 9)
    assert float(losses.mean()) == pytest.approx(2.93308, abs=5e-5)
    pieces = [model.tokenizer.tokens[i] for i in model.tokenizer.encode(" ver  0x")]
    assert pieces == ["Ġver", "ĠĠ", "0", "x"]


@needs_minilm
def test_minilm_compares_sentences_as_it_should() -> None:
    model = HOOKS["minilm-l3"].load()
    sentences = ("A man is eating food.", "A man eats something.", "The stock market fell sharply.")
    eating, also, stocks = (model.sentence(text) for text in sentences)
    assert float(torch.cosine_similarity(eating, also, dim=0)) == pytest.approx(0.8749, abs=1e-3)
    assert float(torch.cosine_similarity(eating, stocks, dim=0)) == pytest.approx(-0.0044, abs=1e-3)


@needs_minilm
def test_rows_of_tokens() -> None:
    hook = HOOKS["minilm-l3"]
    tokens = tokens_of(hook, 8)
    assert tokens.shape == (80, 128)
    assert (tokens[:, 0] == hook.first_token).all()
    assert (tokens[:, 1:] != hook.first_token).all()
    assert np.array_equal(tokens, tokens_of(hook, 8))
    assert is_evaluation(8).sum() == 10


def test_words_end_at_digits_and_blanks_belong_to_the_next_word() -> None:
    assert words("I'm 42 years") == ["I", "'m", " ", "4", "2", " years"]
    assert words("a  b\n\nc ") == ["a", " ", " b", "\n", "\n", "c", " "]
    assert words("don't!? ¿día_1") == ["don", "'t", "!?", " ¿", "día", "_", "1"]
    assert words("") == []
    text = "  x=3.14;\t// naïve 你好 0x1F\n"
    assert "".join(words(text)) == text


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGML" + bytes(20))
    with pytest.raises(ValueError, match="not a GGUF file"):
        GgufFile(path)
    path.write_bytes(b"GGUF" + (2).to_bytes(4, "little") + bytes(16))
    with pytest.raises(NotImplementedError, match="version 2"):
        GgufFile(path)


def test_quantised_tensors(tmp_path: Path) -> None:
    """A file with one tensor of each type, written by hand."""
    half = np.float16
    q4 = half(0.5).tobytes() + half(-1).tobytes() + bytes([0x21] * 16)  # low nibbles 1, high ones 2
    q8 = half(0.25).tobytes() + np.arange(-16, 16, dtype=np.int8).tobytes()
    plain = np.arange(6, dtype="<f4").tobytes()
    data = q4 + bytes(12) + q8 + bytes(30) + plain
    head = b"GGUF" + np.array([3], "<u4").tobytes() + np.array([3, 1], "<u8").tobytes()
    head += _text("general.architecture") + np.array([8], "<u4").tobytes() + _text("llama")
    for name, shape, kind, offset in (("a", (32,), 3, 0), ("b", (32,), 8, 32), ("c", (3, 2), 0, 96)):
        head += _text(name) + np.array([len(shape)], "<u4").tobytes() + np.array(shape, "<u8").tobytes()
        head += np.array([kind], "<u4").tobytes() + np.array([offset], "<u8").tobytes()
    path = tmp_path / "x.gguf"
    path.write_bytes(head + bytes(-len(head) % 32) + data)
    file = GgufFile(path)
    assert file.metadata == {"general.architecture": "llama"}
    assert file.tensor("a").tolist() == [-0.5] * 16 + [0.0] * 16
    assert file.tensor("b").tolist() == [0.25 * v for v in range(-16, 16)]
    assert file.tensor("c").tolist() == [[0, 1, 2], [3, 4, 5]]


def _text(text: str) -> bytes:
    return np.array([len(text)], "<u8").tobytes() + text.encode()


def test_a_package_that_is_nowhere_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_CACHE", str(tmp_path))
    monkeypatch.delenv("BENCH_MIRROR", raising=False)
    package = Package(
        requirement="nowhere==1", module="nowhere_to_be_found", wheel="nowhere-1.whl", sha256="0" * 64
    )
    assert "pip download --no-deps" in (package.absence() or "")
    with pytest.raises(MissingRequirement, match="nowhere==1 is not installed"):
        package.file("x")
    folder = tmp_path / "sae"
    folder.mkdir()
    (folder / "nowhere-1.whl").write_bytes(os.urandom(10))
    assert package.absence() is None
    with pytest.raises(MissingRequirement, match=r"has SHA-256 .*, expected 0000"):
        package.file("x")


def test_cards_of_hooks_state_what_they_are() -> None:
    cards = {card.name: card for card in DATASETS if card.name in HOOKS}
    assert set(cards) == set(HOOKS)
    for name, card in cards.items():
        assert resolve(card.entry)().sha256() == card.sha256
        assert resolve(card.locate)() == HOOKS[name].absence()
