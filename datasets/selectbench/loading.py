"""Loading a case: its receptors verified, its identity a hash of all that scores depend on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial

from bench.datasets.selectbench.cases import CASES, CaseCard
from bench.datasets.selectbench.ligands import clear_preferences, library
from bench.datasets.selectbench.receptors import Receptor, load_receptor
from bench.errors import MissingRequirement


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignCase:
    """A case with its receptors."""

    card: CaseCard
    receptors: Mapping[str, Receptor]


def content_sha256(card: CaseCard, receptors: Mapping[str, Receptor]) -> str:
    """SHA-256 over the assignments, receptors, boxes, known ligands and the reference library."""
    content = {
        "assignments": [asdict(a) for a in card.assignments],
        "receptors": {t: [r.sha256, *r.center, *r.size] for t, r in receptors.items()},
        "known": [asdict(p) for p in clear_preferences(card.targets)],
        "library": library(),
    }
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def load_case(name: str, sha256: str) -> DesignCase:
    """The case `name`; `MissingRequirement` if what is installed is not what its card promises."""
    card = CASES[name]
    receptors = {target: load_receptor(target) for target in card.targets}
    found = content_sha256(card, receptors)
    if found != sha256:
        raise MissingRequirement(
            f"case {name!r} has the content {found}, expected {sha256}: the installed dockstring is another "
            "version (pip install --no-deps dockstring==0.3.4)"
        )
    return DesignCase(card=card, receptors=receptors)


SHA256: dict[str, str] = {
    "jak2_lck": "a2c57af7cff53a0d9b7a0b104268250d761b39033fa9513789214cd191e04af4",
    "egfr_kdr": "512f21f4bb0974e4e9cc1197812e2a0859bd7a751ebff82bd48fb938cc99ed7a",
    "abl1_src": "d8c9edb9a03b11551cc397127c90987d85bae69f88d5cf15cea35466872fb7cc",
    "met_kdr": "58292184d8391816216fb846138330f6298a1eb176d931738381bd9e8bd1d6ff",
    "adrb1_adrb2": "d66216ff0564d278cb478b066869aca129364dede9f152a868861c1f93ee7e63",
    "f10_f2": "963fa8eb66ab66a6661ba26cf81ff52d62b2f2543b191bc1212000b800dc0e0d",
    "ppard_pparg": "8784d440e79cdaa4f23499d988ab9c3000271aa635170048f244c53ff44d8060",
    "esr2_esr1": "4115552d3b7cd2b77aebd26413a7f2ee5ace149eef3facb0cca3063085fee966",
    "panel_f10": "7c48b56ff95868e3350a4592a906522ed6d1ef7a890b4a6385f742d43fdce875",
    "panel_parp1": "4887163d2eb2f9e049be86b35cf6e3be68cbfc01d2ea6dfa3236fbd1fdbc5c79",
    "panel_egfr": "645be893eab48b71ad7f42cb2eb4bc70a682a5be4c5cbfe71b04a3515ff85907",
    "panel_dpp4": "c7b9407becaedd71b2ed8d2b269826ee7aeadcd6de96de1747bfcc20d66aceac",
    "set4": "e751355d1d5704b98484d5591d8a07667555dd2be3f1477a32fc9bfd7f626d09",
    "set5": "8d2ec4d76c4ea5e6881451463185af8aaa8660c48977cb0daebdee36a226012e",
    "set16": "363d0427e1729a41880466baa9673e139a77d1765f4386ca2ff2d199715cbfdf",
    "set58": "40ec005bde5ba81cf9bdaa8c55fdbf9b6f09765ea4882792bcc2ad9ce5b7214b",
}


def _loader(name: str) -> partial[DesignCase]:
    return partial(load_case, name, SHA256[name])


jak2_lck = _loader("jak2_lck")
egfr_kdr = _loader("egfr_kdr")
abl1_src = _loader("abl1_src")
met_kdr = _loader("met_kdr")
adrb1_adrb2 = _loader("adrb1_adrb2")
f10_f2 = _loader("f10_f2")
ppard_pparg = _loader("ppard_pparg")
esr2_esr1 = _loader("esr2_esr1")
panel_f10 = _loader("panel_f10")
panel_parp1 = _loader("panel_parp1")
panel_egfr = _loader("panel_egfr")
panel_dpp4 = _loader("panel_dpp4")
set4 = _loader("set4")
set5 = _loader("set5")
set16 = _loader("set16")
set58 = _loader("set58")
