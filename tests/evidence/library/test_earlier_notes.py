"""X's public notes become a library: the pages that earlier notes under other posts cited."""

from __future__ import annotations

import zipfile
from datetime import date
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crowdnotes.domain import EarlierNote, Hit
from crowdnotes.domain.post import FIRST_ID_MS
from crowdnotes.errors import InputError, LibraryError
from crowdnotes.evidence.library import Libraries, search
from crowdnotes.evidence.library.earlier_notes import note_links, pages_of
from crowdnotes.evidence.library.index import open_index
from crowdnotes.public_data.database import reading, writing
from crowdnotes.public_data.loading import load_folder

KIND = "notes"
HELPFUL = "CURRENTLY_RATED_HELPFUL"
PAGE = "https://www.cdc.gov/flu/garlic-and-flu.html"
DAYS = [date(2023, 1, 5), date(2023, 6, 1), date(2024, 2, 3), date(2024, 9, 9)]
TEXTS = [
    f"Garlic does not cure influenza.  {PAGE}",
    f"No cure: garlic &amp; influenza were tested. <b>See</b> {PAGE}?utm_source=x https://x.com/a/status/12",
    "Garlic never cured influenza, says nobody's page https://t.co/abc https://twitter.com/a/status/1",
    "The kettle is safe. https://kettles.example.org/boiled-twice",
]


def written(folder: Path, *, pilot: bool = False, history: bool = True) -> Path:
    """X's files with the notes of `TEXTS`, each on a post of its own: 100, 101 and so on; the second one was shown."""
    folder.mkdir(exist_ok=True)
    author = "participantId" if pilot else "noteAuthorParticipantId"
    rows = [
        {"noteId": note_id(day), author: "A", "createdAtMillis": _ms(day), "tweetId": 100 + n, "classification": "M"}
        | {"summary": text}
        for n, (day, text) in enumerate(zip(DAYS, TEXTS, strict=True))
    ]
    pd.DataFrame(rows).to_csv(folder / "notes-00000.tsv", sep="\t", index=False, quoting=3, escapechar="\\")
    if history:
        told = {
            "noteId": note_id(DAYS[1]),
            "currentStatus": HELPFUL,
            "firstNonNMRStatus": HELPFUL,
            "timestampMillisOfFirstNonNMRStatus": _ms(date(2023, 6, 2)),
        }
        pd.DataFrame([told]).to_csv(folder / "noteStatusHistory-00000.tsv", sep="\t", index=False)
    return folder


def note_id(day: date) -> int:
    return (_ms(day) - FIRST_ID_MS) << 22


def _ms(day: date) -> int:
    return int(pd.Timestamp(day).timestamp() * 1000)


def test_a_hit_is_a_page_with_the_notes_that_cite_it_and_holds_none_of_their_words(
    libraries: Libraries, tmp_path: Path
) -> None:
    info = libraries.add(written(tmp_path / "public"), KIND, kind=KIND)
    assert info.as_text.startswith("3 notes with a source · 1 was shown by X · newest of 2024-09-09 · 1 skipped")
    assert info.skipped_names == (f"note {note_id(DAYS[2])}: it has no link",)
    (hit,) = libraries.search(KIND, "does garlic cure influenza?", k=1)
    assert (hit.title, hit.snippet, hit.library, hit.published) == ("cdc.gov: flu garlic and flu", "", None, None)
    assert hit.url is not None
    assert hit.url.startswith(PAGE)
    shown, other = sorted(hit.notes, key=lambda note: not note.was_shown)
    assert (shown.post, shown.shown, shown.status) == (101, date(2023, 6, 2), HELPFUL)
    assert shown.cited == "cited by a note that X showed under a similar post, 2023"
    assert "garlic & influenza" in shown.text
    assert (other.post, other.was_shown) == (100, False)


def test_notes_after_the_cutoff_and_on_the_very_post_are_left_out_and_what_x_did_later_is_not_known(
    libraries: Libraries, tmp_path: Path
) -> None:
    libraries.add(written(tmp_path / "public"), KIND, kind=KIND)

    def posts(until: date | None, not_on: int = 0) -> list[tuple[int | None, bool]]:
        hits = libraries.search_many(
            KIND, ["does garlic cure influenza"], until=until, leave_out=lambda note: note.post == not_on
        )
        return [(note.post, note.was_shown) for hit in hits for note in hit.notes]

    assert sorted(posts(None)) == [(100, False), (101, True)]
    assert posts(None, not_on=101) == [(100, False)]
    assert posts(date(2023, 5, 31)) == [(100, False)]
    assert sorted(posts(date(2023, 6, 1))) == [(100, False), (101, False)]
    assert posts(date(2020, 1, 1)) == []


def test_of_what_very_common_words_find_the_newest_are_ranked_and_no_more(
    libraries: Libraries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    libraries.add(written(tmp_path / "public"), KIND, kind=KIND)

    def posts(until: date | None = None) -> list[int]:
        hits = libraries.search_many(KIND, ["does garlic cure influenza"], until=until)
        return sorted(note.post for hit in hits for note in hit.notes if note.post)

    assert posts() == [100, 101]
    monkeypatch.setattr(search, "_MAX_RANKED_NOTES", 1)
    assert posts() == [101]
    assert posts(date(2023, 5, 31)) == [100], "of those within the cutoff"
    with open_index(tmp_path / "libraries" / f"{KIND}.sqlite") as index:
        assert len(index.ranked('"garlic"', 9)) > len(index.ranked('"garlic"', 9, most=1)) == 1, "a lone one too"


def test_a_note_that_shares_a_word_alone_is_no_signpost(libraries: Libraries, tmp_path: Path) -> None:
    libraries.add(written(tmp_path / "public"), KIND, kind=KIND)
    assert (
        libraries.search(KIND, "The kettle of our parliament: seven ministers resign over a vote on harbour taxes")
        == []
    )


@pytest.mark.parametrize("made", ["pilot", "file", "zip", "parquet", "table", "index"])
def test_every_form_of_public_notes_gives_the_same_pages(libraries: Libraries, tmp_path: Path, made: str) -> None:
    path = folder = written(tmp_path / "public", pilot=made == "pilot")
    if made == "file":
        path = folder / "notes-00000.tsv"
    elif made == "zip":
        path = folder / "notes-00000.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(folder / "notes-00000.tsv", "notes-00000.tsv")
    elif made == "parquet":
        pd.read_csv(folder / "notes-00000.tsv", sep="\t").to_parquet(folder / "notes.parquet")
        (folder / "notes-00000.tsv").unlink()
    elif made == "table":
        path = tmp_path / "camps.parquet"
        pd.DataFrame({"note_id": [str(note_id(day)) for day in DAYS], "text": TEXTS}).to_parquet(path)
    elif made == "index":
        path = tmp_path / "crowd.duckdb"
        with writing(path) as connection:
            load_folder(connection, folder, _ms(date(2025, 1, 1)))
    info = libraries.add(path, KIND, kind=KIND)
    assert (info.records, info.shown) == (3, 0 if made == "table" else 1)
    (hit,) = libraries.search(KIND, "garlic influenza", k=1)
    assert sorted(note.written for note in hit.notes) == DAYS[:2]


def test_of_broken_files_what_is_whole_is_kept_and_the_rest_told(libraries: Libraries, tmp_path: Path) -> None:
    folder = written(tmp_path / "public", history=False)
    file = folder / "notes-00000.tsv"
    file.write_bytes(file.read_bytes()[:-60])  # within the last note's link
    (folder / "notes-00001.zip").write_bytes(b"PK\x03\x04 half a download")
    (folder / "notes-00002.tsv").write_bytes(file.read_bytes().splitlines()[0] + b"\n12\tA\tyesterday\ncut\n")
    info = libraries.add(folder, KIND, kind=KIND)
    assert info.records == 2
    told = " ".join(info.skipped_names)
    assert "notes-00001.zip" in told
    assert "2 rows" in told
    assert f"note {note_id(DAYS[3])}: it has no link" in told


def test_exact_copies_are_one_record_and_the_one_that_was_shown_stays(libraries: Libraries, tmp_path: Path) -> None:
    folder = tmp_path / "public"
    ids = [note_id(day) for day in DAYS]
    table = pd.DataFrame({"noteId": ids, "tweetId": [1, 2, 3, 4], "summary": [TEXTS[0]] * 4})
    written(folder)
    (folder / "notes-00000.tsv").unlink()
    table.to_parquet(folder / "notes.parquet")
    info = libraries.add(folder, KIND, kind=KIND)
    assert (info.records, info.duplicates, info.shown) == (1, 3, 1)


def test_notes_in_many_languages_are_found(libraries: Libraries, tmp_path: Path) -> None:
    said = {
        "ja": "ワクチンが心臓発作を引き起こすという証拠はありません",
        "ar": "لا يوجد دليل على أن اللقاح يسبب السرطان لدى الأطفال",
        "hi": "टीके से कैंसर होने का कोई प्रमाण नहीं है",
        "ru": "Нет доказательств, что вакцина вызывает бесплодие",
        "th": "ไม่มีหลักฐานว่าวัคซีนทำให้เกิดมะเร็ง",
    }
    path = tmp_path / "notes.parquet"
    ids = [note_id(DAYS[0]) + n for n in range(len(said))]
    texts = [f"{text} https://{code}.example.org/page" for code, text in said.items()]
    pd.DataFrame({"noteId": ids, "summary": texts}).to_parquet(path)
    libraries.add(path, KIND, kind=KIND)
    for code, text in said.items():
        assert libraries.search(KIND, text)[0].url == f"https://{code}.example.org/page"


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("a.pdf", b"%PDF", "not a notes file"),
        ("a.tsv", b"title\ttext\na\tb\n", "noteId"),
        ("a.zip", b"not a zip", "a.zip"),
        ("a.parquet", b"PAR1", "a.parquet"),
        ("a.duckdb", b"no database", "a.duckdb"),
        ("notes.tsv", b"noteId\tclassification\tsummary\n", "has no notes"),
        ("notes.tsv", b"noteId\tclassification\tsummary\n1354870745806086150\tM\tno link\n", "no readable text"),
    ],
)
def test_what_holds_no_notes_is_refused_with_a_sentence(
    libraries: Libraries, tmp_path: Path, name: str, content: bytes, why: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(LibraryError, match=why):
        libraries.add(tmp_path / name, KIND, kind=KIND)
    assert libraries.list() == []


def test_a_page_is_called_by_the_whole_words_of_its_address() -> None:
    links = (
        "https://nature.com/articles/s41467-022-30052-w https://ap.org/article/covid-toll-e2bc856b6ec45563b84ee2e87ae"
    )
    note = EarlierNote(note=1, text=links, written=DAYS[0])
    hit = Hit(provider="library:x", title="", snippet="", query="q", notes=(note,))
    assert [page.title for page in pages_of([hit], None)] == ["nature.com: articles", "ap.org: article covid toll"]


def test_only_links_to_pages_are_sources() -> None:
    text = "See nhs.uk, who.int/flu, https://x.com/a/status/1 http:// javascript:alert(1) (https://a.org/b). a.org/b"
    assert note_links(text) == ("https://who.int/flu", "https://a.org/b")


def test_ids_that_were_taken_for_fractions_are_refused(tmp_path: Path, libraries: Libraries) -> None:
    rows = {"noteId": [float(note_id(day)) for day in DAYS], "summary": TEXTS}
    pd.DataFrame(rows).to_parquet(tmp_path / "notes.parquet")
    with pytest.raises(LibraryError, match="noteId were rounded"):
        libraries.add(tmp_path / "notes.parquet", "notes", kind=KIND)


@pytest.mark.parametrize("kind", ["view", "macro"])
def test_an_index_that_somebody_made_reads_no_other_file(libraries: Libraries, tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("The secret of the machine https://secret.example.org/page")
    path, read = tmp_path / "theirs.duckdb", f"SELECT content FROM read_text('{secret}')"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE history AS SELECT 1::BIGINT AS note, '' AS status, 0::BIGINT AS status_at, "
            "'' AS first_status, 0::BIGINT AS first_at"
        )
        connection.execute(f"CREATE MACRO told() AS ({read})")
        text = f"({read})" if kind == "view" else "told()"
        connection.execute(f"CREATE VIEW notes AS SELECT 1::BIGINT AS note, 1::BIGINT AS written, {text} AS text")
    with pytest.raises(LibraryError, match="lacks the table notes"):
        libraries.add(path, KIND, kind=KIND)
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE form AS SELECT 1 AS form")
    with pytest.raises(InputError, match="no index that this program made"), reading(path):
        pass


def test_a_table_of_notes_that_repeats_one_text_without_end_is_refused(libraries: Libraries, tmp_path: Path) -> None:
    texts = pa.array(["x " * 500_000]).dictionary_encode().take(pa.array([0] * 4_000))
    pq.write_table(pa.table({"noteId": list(range(4_000)), "summary": texts}), tmp_path / "notes.parquet")
    with pytest.raises(LibraryError, match="would unpack to more than 50 MB"):
        libraries.add(tmp_path / "notes.parquet", "notes", kind=KIND)
