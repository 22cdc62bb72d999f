"""What is known of the notes: from the notes table, from the status history where a note was deleted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from crowdnotes.bridging.columns import HISTORY, NOTES
from crowdnotes.bridging.model import Ids
from crowdnotes.bridging.note_signals import gather_facts
from crowdnotes.errors import InputError
from tests.bridging.made import write_tsv

_BIG = 2**53 + 1  # the first whole number that a float cannot hold
_IDS: Ids = np.array([_BIG, _BIG + 1])


def _parquet(folder: Path, **columns: object) -> Path:
    pd.DataFrame(columns).to_parquet(folder / "notes.parquet")
    return folder


def test_a_deleted_note_has_its_time_and_author_from_the_history_and_counts_as_misleading(tmp_path: Path) -> None:
    write_tsv(
        tmp_path / "notes-00000.tsv",
        NOTES.columns,
        [
            {
                "noteId": _BIG,
                "classification": "NOT_MISLEADING",
                "createdAtMillis": 5,
                "noteAuthorParticipantId": "A",
            }
        ],
    )
    status = {"currentStatus": "CURRENTLY_RATED_HELPFUL", "timestampMillisOfLatestNonNMRStatus": 70}
    write_tsv(
        tmp_path / "noteStatusHistory-00000.tsv",
        HISTORY.columns,
        [
            {"noteId": _BIG, "createdAtMillis": 9, "noteAuthorParticipantId": "Z", "currentStatus": ""},
            {"noteId": _BIG + 1, "createdAtMillis": 6, "noteAuthorParticipantId": "B", **status},
        ],
    )
    facts = gather_facts(tmp_path, _IDS)
    assert facts.misleading is not None
    assert facts.created_at_ms is not None
    assert facts.authors is not None
    assert facts.was_helpful is not None
    assert facts.status_at_ms is not None
    assert facts.misleading.tolist() == [False, True]
    assert facts.created_at_ms.tolist() == [5, 6]
    assert facts.authors.tolist() == ["A", "B"]
    assert facts.was_helpful.tolist()[1] is True
    assert facts.status_at_ms.tolist()[1] == 70


def test_without_tables_nothing_is_known(tmp_path: Path) -> None:
    facts = gather_facts(tmp_path, _IDS)
    assert all(value is None for value in vars(facts).values())


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"noteId": [float(_BIG)], "classification": ["NOT_MISLEADING"]}, "holds double, not 64-bit integers"),
        ({"noteId": [str(_BIG)], "classification": ["NOT_MISLEADING"]}, "holds string, not 64-bit integers"),
        ({"noteId": [_BIG, _BIG], "classification": ["NOT_MISLEADING"] * 2}, "one note twice"),
        ({"noteId": [_BIG]}, "lacks the column classification"),
    ],
)
def test_a_table_that_would_match_wrongly_is_refused(tmp_path: Path, columns: dict[str, object], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        gather_facts(_parquet(tmp_path, **columns), _IDS)


def test_ratings_that_name_notes_by_text_do_not_meet_a_table_of_numbers(tmp_path: Path) -> None:
    _parquet(tmp_path, noteId=[_BIG], classification=["NOT_MISLEADING"])
    with pytest.raises(InputError, match="name notes by text"):
        gather_facts(tmp_path, np.array([str(_BIG)], dtype=object))
