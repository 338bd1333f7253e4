"""SHA-256 of the shipped weights, as scripts/train_alignment_models.py wrote them."""

from __future__ import annotations

SHA256 = {
    "jem-000-0": "7c8aa868404fac96c1fbbad7fd3e527f83c11033320213a34d0eb121ebcf5549",
    "jem-000-1": "6babc3ee51d498a79fb962f5c5136ed1c564de8ae3dfdc5949deaa6615d9b766",
    "jem-010-0": "78be585f195a19aa5904c92b386566ae638dfd6bb38a466da63b5e9657475064",
    "jem-025-0": "93015d1ddf6da7954b555999a41d97a299686fdaa74242f052ffb3d3a4449b33",
    "jem-050-0": "5f5bc299dfcc4f8ac6e29812a6bf5983e9b5da4fb8a9796e5e835fe6000bc3ad",
    "jem-075-0": "3badc351e9648fb5aebd351105d43f3a5ff57de84e2f07423e47dbfac3785c43",
    "jem-090-0": "6f4cf7352378b2261fa1bf4ef1e4d0942c20e9e3ff73ef0476807bf7a1273273",
    "jem-100-0": "b19bb725df65ccf1a9a417286a8c347216ab39cbc11a764a3cbb4053b505b9b1",
}
