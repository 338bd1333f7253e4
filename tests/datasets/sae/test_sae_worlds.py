"""Synthetic worlds: frequencies, co-occurrence, dictionaries, streams of randomness, closed forms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bench.catalog.sae_datasets import WORLDS
from bench.datasets.sae import loading
from bench.datasets.sae.dictionary import spread_dictionary
from bench.datasets.sae.recipes import RECIPES
from bench.datasets.sae.structures import pairs
from bench.datasets.sae.toy2 import TOYS
from bench.datasets.sae.world import World
from bench.registry import resolve

CARDS = {card.name: card for card in WORLDS}
DRAWS = 20_000


def quick(name: str) -> World:
    """The world without its dictionary spread, which costs most."""
    return replace(RECIPES[name], dictionary_steps=0).make(1)


def test_cards_and_worlds_belong_together() -> None:
    assert set(CARDS) == set(RECIPES) | set(TOYS)
    for name, card in CARDS.items():
        world = resolve(card.entry)()
        assert world.name == name
        assert world.sha256() == card.sha256
    with pytest.raises(AttributeError, match="there is no world or hook"):
        _ = loading.nowhere


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_factors_are_as_frequent_as_stated(name: str) -> None:
    world = quick(name)
    active = world.factors(DRAWS, "check") > 0
    p = world.prevalence
    assert p.shape == (RECIPES[name].n_factors,)
    error = np.sqrt(p * (1 - p) / DRAWS)
    assert np.abs((active.mean(axis=0) - p) / error).max() < 5.5
    assert active.sum(axis=1).mean() == pytest.approx(world.expected_l0, rel=0.03)


@pytest.mark.parametrize(
    ("name", "c"), [("pairs-03", 0.03), ("pairs-80", 0.8), ("pairs-95", 0.95), ("anti", 0.0)]
)
def test_partners_occur_together(name: str, c: float) -> None:
    active = quick(name).structure.draw(DRAWS, np.random.default_rng(0))
    first, second = active[:, 0::2], active[:, 1::2]
    assert (first & second).sum() / first.sum() == pytest.approx(c, abs=0.02)
    stranger = np.roll(second, 1, axis=1)
    assert (first & stranger).sum() / first.sum() == pytest.approx(0.03, abs=0.01)


def test_children_need_their_parent_and_exclude_their_siblings() -> None:
    for name in ("hier", "zipf"):
        structure = quick(name).structure
        active = structure.draw(5_000, np.random.default_rng(0))
        children = np.flatnonzero(structure.parents >= 0)
        assert not (active[:, children] & ~active[:, structure.parents[children]]).any()
        for parent in range(5):
            siblings = np.flatnonzero(structure.parents == parent)
            assert active[:, siblings].sum(axis=1).max() <= 1


def test_a_copula_correlates_factors() -> None:
    structure = quick("copula").structure
    active = structure.draw(DRAWS, np.random.default_rng(0)).astype(float)
    together = np.corrcoef(active[:, :60].T)
    assert np.abs(together - np.eye(60)).max() > 0.1


def test_the_dictionary_spreads_its_atoms() -> None:
    world = RECIPES["indep"].make(0)
    cosines = np.abs(world.dictionary @ world.dictionary.T) - np.eye(128)
    assert np.linalg.norm(world.dictionary, axis=1) == pytest.approx(np.ones(128), abs=1e-6)
    assert cosines.max(axis=1).mean() == pytest.approx(0.114, abs=0.003)
    loose = spread_dictionary(128, 64, steps=0, rng=np.random.default_rng(0))
    assert np.abs(loose @ loose.T - np.eye(128)).max(axis=1).mean() > 0.25


def test_each_purpose_has_a_stream_of_its_own() -> None:
    recipe = RECIPES["pairs-tiny"]
    world, again, other = recipe.make(3), recipe.make(3), recipe.make(4)
    assert np.array_equal(world.dictionary, again.dictionary)
    assert np.array_equal(world.factors(50, "a"), again.factors(50, "a"))
    assert not np.array_equal(world.factors(50, "a"), world.factors(50, "b"))
    assert not np.array_equal(world.factors(50, "a"), other.factors(50, "a"))
    assert not np.array_equal(world.dictionary, other.dictionary)


def test_interventions_differ_by_one_concept() -> None:
    world = RECIPES["pairs-tiny"].make(0)
    on, off = world.interventions(5, 20)
    assert on - off == pytest.approx(np.tile(world.dictionary[5], (20, 1)), abs=1e-6)
    assert on.shape == (20, 12)


def test_impossible_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="even number of factors"):
        pairs(5, rng=np.random.default_rng(0), p=0.1, c=0.5)


# p1, p2, q -> D*, angle, bits of both exact dictionaries, their L0
TABLE = {
    "toy2-q02": (0.016148, 10.9007, 1.058722, 1.079432, 0.24, 0.22),
    "toy2-q05": (0.029289, 22.5, 1.219681, 1.224388, 0.30, 0.25),
    "toy2-q10": (0.038197, 31.7175, 1.443856, 1.406987, 0.40, 0.30),
    "toy2-q20": (0.043845, 37.9819, 1.762582, 1.659919, 0.60, 0.40),
}


@pytest.mark.parametrize("name", TABLE)
def test_closed_forms(name: str) -> None:
    toy = TOYS[name]
    error, angle, mono, conj, l0_mono, l0_conj = TABLE[name]
    assert toy.least_distortion == pytest.approx(error, abs=1e-6)
    assert toy.angle == pytest.approx(angle, abs=1e-4)
    assert toy.exact_bits == pytest.approx((mono, conj), abs=1e-6)
    assert toy.exact_l0 == pytest.approx((l0_mono, l0_conj))
    assert toy.exact_l0[0] - toy.exact_l0[1] == pytest.approx(toy.q)


def test_the_rarer_concept_turns() -> None:
    toy = TOYS["toy2-skew"]
    assert toy.least_distortion == pytest.approx(0.021922, abs=1e-6)
    assert toy.angle == pytest.approx(37.9819, abs=1e-4)
    assert toy.optimum[0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("name", sorted(TOYS))
def test_the_optimum_has_the_distortion_of_the_closed_form_and_no_angle_has_less(name: str) -> None:
    toy = TOYS[name]

    def error(atoms: np.ndarray) -> float:
        products = toy.rows @ atoms.T
        best = np.abs(products).argmax(axis=1)
        rebuilt = products[np.arange(4), best][:, None] * atoms[best]
        return float(toy.weights @ ((rebuilt - toy.rows) ** 2).sum(axis=1))

    assert error(toy.optimum) == pytest.approx(toy.least_distortion, abs=1e-12)
    angles = np.linspace(0, np.pi, 181)
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    least = min(error(np.stack([a, b])) for a in circle[::3] for b in circle)
    assert least >= toy.least_distortion - 1e-12


def test_rows_come_in_the_exact_proportions() -> None:
    toy = TOYS["toy2-skew"]
    rows = toy.sample(1000, np.random.default_rng(0))
    counts = [int((rows == kind).all(axis=1).sum()) for kind in toy.rows]
    assert counts == [100, 50, 100, 750]
