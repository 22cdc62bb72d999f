"""Notes under similar posts on the Draft page: the words with how each stands, those that X showed first."""

from __future__ import annotations

from datetime import date

from crowdnotes.domain import EarlierNote, Hit
from tests.pages.conftest import Desk, read, texts, unfolded
from tests.pages.searches import searched


def test_the_notes_by_which_pages_were_found_are_shown_and_the_reader_tells_the_one_of_its_page(desk: Desk) -> None:
    seen = EarlierNote(note=1, text="Seen *words*. https://a.org/x", written=date(2024, 1, 2), shown=date(2024, 1, 3))
    gone = seen.replace(note=2, text="Gone words.", status="NEEDS_MORE_RATINGS")
    never = EarlierNote(note=3, text="Other words.", written=date(2023, 5, 6), status="CURRENTLY_RATED_NOT_HELPFUL")
    hit = Hit(provider="library:x", title="a.org: x", snippet="", query="q", url="https://a.org/x")
    hits = (hit.replace(notes=(never, seen)), hit.replace(url="b", notes=(gone,)))
    item = desk.case().evidence[0]
    source = item.source.replace(notes=(never, seen))
    case = searched(desk, hits=hits, evidence=(item.replace(source=source),))
    at = read(desk.app(case), case)
    assert "cited by a note that X showed under a similar post, 2024" in texts(at)
    assert texts(at).count("Seen") == 1
    shown = texts(unfolded(at, f"notes-{case.id}")).replace("\\", "")
    assert "Notes under similar posts: 3" in [fold.label for fold in at.expander]
    told = [
        "shown by X since 3 January 2024",
        "shown by X from 3 January 2024, but no longer",
        "rated not helpful on X",
    ]
    places = [shown.rindex(words) for words in told]
    assert places == sorted(places)
    assert "Note: “Seen *words*.”" in shown
