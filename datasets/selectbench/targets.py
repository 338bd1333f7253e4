"""The 58 receptors: their class and their protein. Plain data."""

from __future__ import annotations

#: Class -> target -> UniProt accession of the human protein. Some structures are of an orthologue.
CLASSES: dict[str, dict[str, str]] = {
    "kinase": {
        "ABL1": "P00519", "AKT1": "P31749", "AKT2": "P31751", "CDK2": "P24941", "CSF1R": "P07333",
        "EGFR": "P00533", "FGFR1": "P11362", "IGF1R": "P08069", "JAK2": "O60674", "KDR": "P35968",
        "KIT": "P10721", "LCK": "P06239", "MAP2K1": "Q02750", "MAPK1": "P28482", "MAPK14": "Q16539",
        "MAPKAPK2": "P49137", "MET": "P08581", "PLK1": "P53350", "PTK2": "Q05397", "ROCK1": "Q13464",
        "SRC": "P12931",
    },
    "nuclear receptor": {
        "AR": "P10275", "ESR1": "P03372", "ESR2": "Q92731", "NR3C1": "P04150", "PGR": "P06401",
        "PPARA": "Q07869", "PPARD": "Q03181", "PPARG": "P37231", "THRB": "P10828",
    },
    "protease": {
        "ADAM17": "P78536", "BACE1": "P56817", "CASP3": "P42574", "DPP4": "P27487", "F2": "P00734",
        "F10": "P00742", "MMP13": "P45452", "REN": "P00797",
    },
    "GPCR": {
        "ADORA2A": "P29274", "ADRB1": "P08588", "ADRB2": "P07550", "DRD2": "P14416", "DRD3": "P35462",
    },
    "cytochrome P450": {"CYP2C9": "P11712", "CYP3A4": "P08684"},
    "other enzyme": {
        "ACHE": "P22303", "CA2": "P00918", "DHFR": "P00374", "GBA": "P04062", "HMGCR": "P04035",
        "HSD11B1": "P28845", "MAOB": "P27338", "NOS1": "P29475", "PARP1": "P09874", "PDE5A": "O76074",
        "PTGS2": "P35354", "PTPN1": "P18031",
    },
    "chaperone": {"HSP90AA1": "P07900"},
}  # fmt: skip
UNIPROT: dict[str, str] = {t: accession for members in CLASSES.values() for t, accession in members.items()}
CLASS_OF: dict[str, str] = {t: name for name, members in CLASSES.items() for t in members}
#: Within these classes two targets are near; "other enzyme" is no family of proteins.
NEAR_CLASSES = frozenset({"kinase", "nuclear receptor", "protease", "GPCR", "cytochrome P450"})


def is_near(first: str, second: str) -> bool:
    """Whether two targets belong to one family of proteins."""
    return CLASS_OF[first] == CLASS_OF[second] and CLASS_OF[first] in NEAR_CLASSES


#: The 44 targets of Bowes et al., Nat. Rev. Drug Discov. 11 (2012) 909, and their UniProt accessions.
BOWES44: dict[str, str] = {
    "ADORA2A": "P29274", "ADRA1A": "P35348", "ADRA2A": "P08913", "ADRB1": "P08588", "ADRB2": "P07550",
    "CNR1": "P21554", "CNR2": "P34972", "CCKAR": "P32238", "DRD1": "P21728", "DRD2": "P14416",
    "EDNRA": "P25101", "HRH1": "P35367", "HRH2": "P25021", "OPRD1": "P41143", "OPRK1": "P41145",
    "OPRM1": "P35372", "CHRM1": "P11229", "CHRM2": "P08172", "CHRM3": "P20309", "HTR1A": "P08908",
    "HTR1B": "P28222", "HTR2A": "P28223", "HTR2B": "P41595", "AVPR1A": "P37288", "ACHE": "P22303",
    "PTGS1": "P23219", "PTGS2": "P35354", "MAOA": "P21397", "PDE3A": "Q14432", "PDE4D": "Q08499",
    "LCK": "P06239", "SLC6A2": "P23975", "SLC6A3": "Q01959", "SLC6A4": "P31645", "AR": "P10275",
    "NR3C1": "P04150", "CACNA1C": "Q13936", "CHRNA4": "P43681", "GABRA1": "P14867", "GRIN1": "Q05586",
    "HTR3A": "P46098", "KCNH2": "Q12809", "KCNQ1": "P51787", "SCN5A": "Q14524",
}  # fmt: skip
BOWES9: tuple[str, ...] = tuple(t for t in sorted(BOWES44) if t in UNIPROT)
CYP2: tuple[str, ...] = ("CYP2C9", "CYP3A4")
