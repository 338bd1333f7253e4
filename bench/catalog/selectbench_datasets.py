"""The data sets of the family `selectbench`: cases, each with its receptors and literature ligands."""

from __future__ import annotations

from bench.spec import DatasetInfo

_CITATION = (
    "Receptors: M. García-Ortegón et al. (2022), DOCKSTRING, J. Chem. Inf. Model. 62, 3486. Affinities: M. Davis et "
    "al. (2011), Nat. Biotechnol. 29, 1046; J. Baker (2005), Br. J. Pharmacol. 144, 317. Panel: J. Bowes et al. "
    "(2012), Nat. Rev. Drug Discov. 11, 909."
)


def _case(name: str, title: str, summary: str, sha256: str) -> DatasetInfo:
    return DatasetInfo(
        name=name,
        entry=f"bench.datasets.selectbench.loading:{name}",
        locate="bench.datasets.selectbench.receptors:absence",
        title=title,
        summary=summary,
        license="Apache-2.0",
        data="real",
        sha256=sha256,
        url="https://dockstring.github.io",
        citation=_CITATION,
        requires=("dockstring",),
    )


DATASETS: tuple[DatasetInfo, ...] = (
    _case(
        "jak2_lck",
        "JAK2 over LCK",
        "Bind JAK2, not LCK.",
        "a2c57af7cff53a0d9b7a0b104268250d761b39033fa9513789214cd191e04af4",
    ),
    _case(
        "egfr_kdr",
        "EGFR over KDR",
        "Bind EGFR, not KDR.",
        "512f21f4bb0974e4e9cc1197812e2a0859bd7a751ebff82bd48fb938cc99ed7a",
    ),
    _case(
        "abl1_src",
        "ABL1 over SRC",
        "Bind ABL1, not SRC.",
        "d8c9edb9a03b11551cc397127c90987d85bae69f88d5cf15cea35466872fb7cc",
    ),
    _case(
        "met_kdr",
        "MET over KDR",
        "Bind MET, not KDR.",
        "58292184d8391816216fb846138330f6298a1eb176d931738381bd9e8bd1d6ff",
    ),
    _case(
        "adrb1_adrb2",
        "ADRB1 over ADRB2",
        "Bind ADRB1, not ADRB2.",
        "d66216ff0564d278cb478b066869aca129364dede9f152a868861c1f93ee7e63",
    ),
    _case(
        "f10_f2",
        "Factor Xa over thrombin",
        "Bind F10, not F2.",
        "963fa8eb66ab66a6661ba26cf81ff52d62b2f2543b191bc1212000b800dc0e0d",
    ),
    _case(
        "ppard_pparg",
        "PPARD over PPARG and PPARA",
        "Bind PPARD, not PPARG or PPARA.",
        "8784d440e79cdaa4f23499d988ab9c3000271aa635170048f244c53ff44d8060",
    ),
    _case(
        "esr2_esr1",
        "ESR2 over ESR1",
        "Bind ESR2, not ESR1.",
        "4115552d3b7cd2b77aebd26413a7f2ee5ace149eef3facb0cca3063085fee966",
    ),
    _case(
        "panel_f10",
        "Factor Xa and the safety panel",
        "Bind F10 and none of 9 of 44 safety targets.",
        "7c48b56ff95868e3350a4592a906522ed6d1ef7a890b4a6385f742d43fdce875",
    ),
    _case(
        "panel_parp1",
        "PARP1 and the safety panel",
        "Bind PARP1 and none of 9 of 44 safety targets.",
        "4887163d2eb2f9e049be86b35cf6e3be68cbfc01d2ea6dfa3236fbd1fdbc5c79",
    ),
    _case(
        "panel_egfr",
        "EGFR and the safety panel",
        "Bind EGFR and none of 9 of 44 safety targets.",
        "645be893eab48b71ad7f42cb2eb4bc70a682a5be4c5cbfe71b04a3515ff85907",
    ),
    _case(
        "panel_dpp4",
        "DPP4 and the safety panel",
        "Bind DPP4 and none of 9 of 44 safety targets.",
        "c7b9407becaedd71b2ed8d2b269826ee7aeadcd6de96de1747bfcc20d66aceac",
    ),
    _case(
        "set4",
        "4 receptors",
        "Each of 4 receptors in turn, against the others.",
        "e751355d1d5704b98484d5591d8a07667555dd2be3f1477a32fc9bfd7f626d09",
    ),
    _case(
        "set5",
        "5 receptors",
        "Each of 5 receptors in turn, against the others.",
        "8d2ec4d76c4ea5e6881451463185af8aaa8660c48977cb0daebdee36a226012e",
    ),
    _case(
        "set16",
        "16 receptors",
        "Each of 16 receptors in turn, against the others.",
        "363d0427e1729a41880466baa9673e139a77d1765f4386ca2ff2d199715cbfdf",
    ),
    _case(
        "set58",
        "58 receptors",
        "Each of 58 receptors in turn, against the others.",
        "40ec005bde5ba81cf9bdaa8c55fdbf9b6f09765ea4882792bcc2ad9ce5b7214b",
    ),
)
STUDIES = ("jak2_lck", "egfr_kdr", "abl1_src", "met_kdr", "adrb1_adrb2", "f10_f2", "ppard_pparg", "esr2_esr1")
PANELS = ("panel_f10", "panel_parp1", "panel_egfr", "panel_dpp4")
