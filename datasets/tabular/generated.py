"""Data with known truth: rows drawn from structural causal models and Bayesian networks."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from bench.datasets.cache import RemoteFile
from bench.datasets.tabular.dataset import Card, TabularDataset, Truth, make_dataset
from bench.datasets.tabular.files import GROUP, PackageFile, Wheel, fetch, locate

if TYPE_CHECKING:
    from bench.datasets.tabular.networks import BayesianNetwork
    from bench.datasets.tabular.schema import Kind

_PGMPY = Wheel(
    file="pgmpy-1.1.2-py3-none-any.whl",
    sha256="e55c78763a4a45dd644a13b250cea86af0c7e08590cf35de489624f34a4d9a0b",
    package="pgmpy==1.1.2",
)


def _bif(name: str, sha256: str, size: int) -> PackageFile:
    remote = RemoteFile(
        name=f"{name}.bif",
        group=GROUP,
        url=f"https://www.bnlearn.com/bnrepository/{name}/{name}.bif.gz",
        sha256=sha256,
        size=size,
        remedy=f"pip install 'pgmpy<1.3', or pip download --no-deps {_PGMPY.package} into that folder",
    )
    path = f"utils/example_models/{name}.bif"
    return PackageFile(module="pgmpy", path=path, package="pgmpy<1.3", remote=remote, wheel=_PGMPY)


NETWORKS = {
    file.path.rpartition("/")[2].removesuffix(".bif"): file
    for file in (
        _bif("asia", "9f770c96940dc4d860b581602120790ac538983b30b28d38631b8184dc7b5f89", 1_074),
        _bif("sachs", "b7bd3931192f9e529f0f88bba15fca6cc61ba3c805d5c8ae57eba57ed3b332ec", 5_734),
        _bif("child", "432c22e661cd0e8235c8d95599ac22ccc261002459f5c4e6e7235b057908fe6e", 5_863),
        _bif("insurance", "39f9e706e9208e720a55a98b6811188b33a7292335a53373a9343a0c7065dab4", 22_719),
        _bif("alarm", "701e6c561f71b55669070c29614f0724b761289aa2c4a35bcc97b638ee881fa2", 13_376),
    )
}


def absence(name: str) -> str | None:
    """None if the truth of `name` is here, else the reason and the remedy."""
    return locate(NETWORKS[name]) if name in NETWORKS else None


def load(card: Card) -> TabularDataset:
    """The first rows that `default_rng(0)` draws, as many as the card says, with the truth to draw more."""
    import numpy as np

    model = truth(card.name)
    frame = model.sample(card.rows, np.random.default_rng(0))
    return make_dataset(card, frame, kinds=_KINDS.get(card.name), truth=model)


def truth(name: str) -> Truth:
    """The model behind the generated data set `name`."""
    return network(name) if name in NETWORKS else _MODELS[name]()


def network(name: str) -> BayesianNetwork:
    """A published Bayesian network."""
    from bench.datasets.tabular.networks import BayesianNetwork

    path = fetch(NETWORKS[name])
    return BayesianNetwork.from_bif(path.read_text(encoding="utf-8"), str(path))


def _lin10() -> Truth:
    from bench.datasets.tabular import scm

    return scm.lin10()


def _lingam10() -> Truth:
    from bench.datasets.tabular import scm

    return scm.lingam10()


def _anm10() -> Truth:
    from bench.datasets.tabular import scm

    return scm.anm10()


def _mix12() -> Truth:
    from bench.datasets.tabular.mixed_scm import MixedModel

    return MixedModel()


def _rand20() -> Truth:
    from bench.datasets.tabular.networks import random_network

    return random_network()


_MODELS: dict[str, Callable[[], Truth]] = {
    "scm_lin10": _lin10,
    "scm_lingam10": _lingam10,
    "scm_anm10": _anm10,
    "scm_mix12": _mix12,
    "bn_rand20": _rand20,
}
_KINDS: dict[str, dict[Hashable, Kind]] = {"scm_mix12": {"visits": "integer", "claims": "integer"}}
NAMES = (*_MODELS, *NETWORKS)
