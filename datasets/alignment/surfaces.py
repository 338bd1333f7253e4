"""`bumpy-surfaces`: rendered bumpy surfaces under natural-like light, matte or glossy, shallow or deep.

A height field of noise (2 to 6 cycles an image) with bumps of height b is lit by ten lights and a gradient of ambient
light, seen from the front. Reflection is Lambertian with albedo 0.35 and specular by Schlick's approximation of
Fresnel's law; a lobe of finite roughness blurs the lights. Exposure is fixed for a scene, not for an image. Scenes
differ in relief, in the strength of their lights and in exposure, so that contrast alone tells gloss from matte badly.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

EDGE, SEED, ALBEDO, ROUGHNESS, GAMMA, LIGHTS = 64, 20260101, 0.35, 0.08, 2.2, 10
MATTE, GLOSSY, BETWEEN = 0.02, 0.30, 0.15  # specular reflectance at normal incidence
LEVELS = (0.15, 0.35, 0.55, 0.75, 0.95, 1.15, 1.35)  # bump heights of the win curves
SHA256 = hashlib.sha256(f"bumpy-surfaces|2|{SEED}|{ALBEDO}|{ROUGHNESS}|{LEVELS}".encode()).hexdigest()
_BLOCK = 50  # images rendered at a time

Float = npt.NDArray[np.float64]
Images = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Renders:
    """Gray images and how they were made."""

    images: Images  # (n, 1, 64, 64)
    reflectance: Float  # (n,)
    bump: Float  # (n,)


class BumpySurfaces:
    """Renders on demand; every image is a function of its place in its set alone."""

    name = "bumpy-surfaces"
    evidence, stimuli = "human_aggregate", "generated"

    def two_kinds(self, n: int, *, train: bool) -> Renders:
        """`n` surfaces, each of a scene of its own, matte and glossy in turn, bumps from 0.1 to 1.4."""
        scenes = [(1 + int(train), i) for i in range(n)]
        bump = np.array([np.random.default_rng((SEED, *s, 1)).uniform(0.1, 1.4) for s in scenes])
        return _rendered(scenes, bump, np.where(np.arange(n) % 2, GLOSSY, MATTE))

    def bump_series(self, scenes: int) -> Renders:
        """`scenes` surfaces at the seven bump levels and one reflectance; images of a scene follow each other."""
        which = [(3, i) for i in range(scenes) for _ in LEVELS]
        return _rendered(which, np.tile(LEVELS, scenes), np.full(len(which), BETWEEN))


def load() -> BumpySurfaces:
    """The generator; nothing is read."""
    return BumpySurfaces()


def _rendered(scenes: list[tuple[int, int]], bump: Float, reflectance: Float) -> Renders:
    parts = [
        _render(scenes[i : i + _BLOCK], bump[i : i + _BLOCK], reflectance[i : i + _BLOCK])
        for i in range(0, len(scenes), _BLOCK)
    ]
    return Renders(images=np.concatenate(parts)[:, None], reflectance=reflectance, bump=bump)


def _render(scenes: list[tuple[int, int]], bump: Float, reflectance: Float) -> Images:
    parts = [_scene(np.random.default_rng((SEED, *scene, 0))) for scene in scenes]
    heights, directions, strengths, sharpness, sky = (np.stack(values) for values in zip(*parts, strict=True))
    lights = _Lights(directions, strengths, sharpness, sky)
    exposure = _brightness(heights, np.full(len(scenes), 0.75), np.full(len(scenes), BETWEEN), lights)
    gain = [np.exp(np.random.default_rng((SEED, *scene, 2)).normal(0, 0.4)) for scene in scenes]
    scale = 0.8 * np.array(gain) / np.quantile(exposure.reshape(len(scenes), -1), 0.95, axis=1)
    light = scale[:, None, None] * _brightness(heights, bump, reflectance, lights)
    return np.asarray((255 * np.clip(light, 0, 1) ** (1 / GAMMA)).round(), dtype=np.uint8)


@dataclass(frozen=True, slots=True)
class _Lights:
    directions: Float  # (n, lights, 3), unit vectors
    strengths: Float  # (n, lights)
    sharpness: Float  # (n, lights), of spherical Gaussians
    sky: Float  # (n, 3): the direction from which ambient light comes, its length its contrast

    def ambient(self, w: Float) -> Float:
        """(n, h, w) ambient radiance from directions (n, h, w, 3)."""
        return np.asarray(0.3 * (1 + np.einsum("nhwc,nc->nhw", w, self.sky)))

    def lobes(self, w: Float, blur: float) -> Float:
        """Radiance of the lights seen in directions `w` through a lobe of variance `blur`."""
        cosine = np.einsum("nhwc,nlc->nhwl", w, self.directions)
        sharp = 1 / (1 / self.sharpness + blur)
        gain = self.strengths * sharp / self.sharpness
        return np.asarray(np.einsum("nhwl,nl->nhw", np.exp(sharp[:, None, None, :] * (cosine - 1)), gain))

    def diffuse(self, normal: Float) -> Float:
        """Irradiance over pi of a surface with these normals."""
        cosine = np.maximum(np.einsum("nhwc,nlc->nhwl", normal, self.directions), 0)
        direct = np.einsum("nhwl,nl->nhw", cosine, 2 * self.strengths / self.sharpness)
        return np.asarray(self.ambient(normal) + direct)


def _brightness(heights: Float, bump: Float, reflectance: Float, lights: _Lights) -> Float:
    dy, dx = np.gradient(bump[:, None, None] * heights, axis=(1, 2))
    normal = np.stack([-dx, -dy, np.ones_like(dx)], axis=-1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    facing = normal[..., 2]
    mirror = 2 * facing[..., None] * normal - np.array([0.0, 0.0, 1.0])
    base = reflectance[:, None, None]
    fresnel = base + (1 - base) * (1 - facing) ** 5
    specular = lights.ambient(mirror) + lights.lobes(mirror, ROUGHNESS**2)
    return np.asarray(ALBEDO * (1 - fresnel) * lights.diffuse(normal) + fresnel * specular)


def _scene(rng: np.random.Generator) -> tuple[Float, Float, Float, Float, Float]:
    """Height field, of slope about 0.5 at bump height 1, and its lights."""
    fy, fx = np.meshgrid(np.fft.fftfreq(EDGE), np.fft.fftfreq(EDGE), indexing="ij")
    cycles = EDGE * np.hypot(fy, fx)
    field = np.fft.ifft2(
        np.fft.fft2(rng.standard_normal((EDGE, EDGE))) * ((cycles >= 2) & (cycles <= 6))
    ).real
    slopes = np.gradient(field)
    relief = 0.5 * np.exp(rng.normal(0, 0.8))
    height = relief * field / np.sqrt((slopes[0] ** 2 + slopes[1] ** 2).mean())
    directions = rng.standard_normal((LIGHTS, 3))
    directions[:, 2] = np.abs(directions[:, 2])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    strengths = np.exp(rng.normal(0.5, 0.7, LIGHTS) + rng.normal(0, 1.0))
    sky = rng.standard_normal(3)
    return (
        height,
        directions,
        strengths,
        np.exp(rng.uniform(2.5, 5.0, LIGHTS)),
        0.8 * sky / np.linalg.norm(sky),
    )
