"""A local library stands among the providers."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from crowdnotes.domain import ProviderState
from crowdnotes.errors import SearchError
from crowdnotes.evidence.fetching import no_check
from crowdnotes.evidence.library import Libraries
from crowdnotes.evidence.search.local_library import LocalLibrary
from crowdnotes.testing import HashingEmbedder

_TABLE = """title,text,url,date
Fluoride,Fluoride in drinking water prevents tooth decay in children.,https://a.org/1,2020-01-01
Chalk,The water holds no chalk but dissolved calcium.,https://a.org/2,2026-01-01
"""


@pytest.fixture
def libraries(tmp_path: Path) -> Libraries:
    (tmp_path / "t.csv").write_text(_TABLE, encoding="utf-8")
    found = Libraries(tmp_path / "libraries", HashingEmbedder())
    found.add(tmp_path / "t.csv", "town")
    return found


def test_its_hits_name_it_and_their_record(libraries: Libraries) -> None:
    provider = LocalLibrary(libraries, "town")
    hits = provider.search_together(["chalk water", "fluoride"], post="chalk!", limit=5, until=None, check=no_check)
    assert {(hit.provider, hit.record) for hit in hits} == {("library:town", 0), ("library:town", 1)}


def test_records_after_the_cutoff_are_left_out(libraries: Libraries) -> None:
    provider = LocalLibrary(libraries, "town")
    hits = provider.search("water", limit=5, until=date(2021, 1, 1), language=None, check=no_check)
    assert [hit.title for hit in hits] == ["Fluoride"]


def test_a_library_that_is_gone_is_a_failed_provider(libraries: Libraries) -> None:
    with pytest.raises(SearchError) as raised:
        LocalLibrary(libraries, "none").search("x", limit=5, until=None, language=None, check=no_check)
    assert raised.value.state is ProviderState.FAILED
