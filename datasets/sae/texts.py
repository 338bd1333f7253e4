"""Labelled texts from the package sae-probes. They are read where they lie; results quote a few words."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from bench.datasets.sae import packages

if TYPE_CHECKING:
    import pandas as pd

CORPUS = (
    "161_agnews_0", "56_wikidatasex_or_gender", "111_yelp_data", "97_news_class", "90_glue_qnli", "158_code_C",
    "159_code_Python", "160_code_HTML", "101_disease_class", "94_ai_gen",
)  # fmt: skip
PROBES = (
    "92_glue_sst2", "22_headline_isobama", "96_spam_is", "76_trial-court", "105_click_bait", "113_movie_sent",
    "21_headline_istrump", "87_glue_cola",
)  # fmt: skip


@lru_cache(maxsize=4)
def table(name: str) -> pd.DataFrame:
    """Columns `prompt` (text) and `target` of one set."""
    import pandas as pd
    import pyarrow as pa

    path = packages.PROBES.file(f"data/cleaned_data/{name}.csv.zst")
    with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
        frame = pd.read_csv(stream, usecols=["prompt", "target"])
    return frame.dropna()
