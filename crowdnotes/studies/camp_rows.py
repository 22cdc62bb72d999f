"""Camp notes: real notes on which two camps of raters agreed or not, and what a model said the agreed ones are.

A Parquet table derived from X's public data by Ulu, Shi and Hausladen (2026), CC BY 4.0.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from pandas.api.types import is_string_dtype

from crowdnotes.errors import InputError

_COLUMNS = ("note_id", "text", "kind", "content_label")
_FORM = (
    "The table has the columns note_id, text, kind (polarising or bridging) and content_label "
    "(opinion_or_speculation, hostile_troll_or_derogatory, sourced_factual_information, …)."
)
OPINION_LABELS = ("opinion_or_speculation", "hostile_troll_or_derogatory")
SOURCED_LABEL = "sourced_factual_information"
TRIVIAL_LABEL = "irrelevant_trivial_or_spam"


def read_camp_notes(path: Path) -> pd.DataFrame:
    """The table, oldest note first (ids grow with time). Raises InputError when it is not of that form."""
    try:
        table = pd.read_parquet(path)
    except OSError as error:
        raise InputError(f"{path.name} cannot be read ({error.strerror or 'not a Parquet file'}).", _FORM) from error
    except ValueError as error:  # pyarrow's complaint about what is no Parquet file
        raise InputError(f"{path.name} is not a Parquet file.", _FORM) from error
    missing = [column for column in _COLUMNS if column not in table.columns]
    if missing or not is_string_dtype(table["text"]):
        raise InputError(f"{path.name} lacks {', '.join(missing) or 'text in its column text'}.", _FORM)
    if table["text"].isna().any() or not len(table):
        raise InputError(f"{path.name} has notes without text, or no notes.", _FORM)
    return table.assign(note_id=table["note_id"].astype("int64")).sort_values("note_id").reset_index(drop=True)


def labelled_bridging(table: pd.DataFrame) -> pd.DataFrame:
    """The notes that both camps approve and that have a content label."""
    return table[(table["kind"] == "bridging") & table["content_label"].notna()].reset_index(drop=True)
