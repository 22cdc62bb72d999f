"""Public data to Parquet: every schema, zipped or not, many shards, and each loss by its name."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from crowdnotes.bridging.columns import ENROLMENT, HISTORY, NOTES, RATINGS
from crowdnotes.bridging.public_files import TableReport, found_table, passed_over, read_public_data, ready_table
from crowdnotes.errors import InputError
from crowdnotes.notes.note_files import notes_of_post
from tests.bridging.made import rating_row, write_ratings, write_tsv

_BIG = 2**62 + 1  # a float would round it


def _read(data: Path) -> tuple[TableReport, list[dict[str, object]]]:
    (report,) = read_public_data(data, data / "out")
    return report, pq.read_table(report.parquet).to_pylist()


def test_todays_ratings_keep_ids_and_gain_a_number(tmp_path: Path) -> None:
    rows = [
        rating_row(_BIG, "A"),
        rating_row(_BIG, "B", "SOMEWHAT_HELPFUL"),
        rating_row(_BIG, "C", "NOT_HELPFUL", notHelpfulIncorrect=1),
    ]
    write_ratings(tmp_path / "ratings-00000.tsv", rows)
    report, read = _read(tmp_path)
    assert [row["noteId"] for row in read] == [_BIG] * 3
    assert [row["helpfulNum"] for row in read] == [1.0, 0.5, 0.0]
    assert [row["notHelpfulIncorrect"] for row in read] == [False, False, True]
    assert (report.rows, report.dropped, report.missing_columns) == (3, {}, ())


def test_the_pilots_schema_is_read_under_todays_names(tmp_path: Path) -> None:
    header = ["noteId", "participantId", "createdAtMillis", "helpful", "notHelpful"]
    header.append("notHelpfulArgumentativeOrInflammatory")
    rows = [
        {"noteId": 1, "participantId": "A", "createdAtMillis": 5, "helpful": 1, "notHelpful": 0},
        {"noteId": 1, "participantId": "B", "createdAtMillis": 5, "helpful": 0, "notHelpful": 1, header[-1]: 1},
        {"noteId": 1, "participantId": "C", "createdAtMillis": 5, "helpful": 0, "notHelpful": 0},
    ]
    write_tsv(tmp_path / "ratings-00000.tsv", header, rows)
    report, read = _read(tmp_path)
    assert [(row["raterParticipantId"], row["helpfulNum"]) for row in read] == [("A", 1.0), ("B", 0.0)]
    assert read[1]["notHelpfulArgumentativeOrBiased"] is True
    assert report.dropped == {"neither helpful nor not helpful": 1}
    assert "helpfulnessLevel" in report.missing_columns


def test_shards_zipped_and_plain_in_a_folder_become_one_table(tmp_path: Path) -> None:
    write_ratings(tmp_path / "ratings" / "ratings-00000.tsv", [rating_row(1, "A")])
    with zipfile.ZipFile(tmp_path / "ratings" / "ratings-00001.zip", "w") as archive:
        other = write_ratings(tmp_path / "other.tsv", [rating_row(2, "A")])
        archive.write(other, "ratings-00001.tsv")
    report, read = _read(tmp_path)
    assert len(report.files) == 2
    assert sorted(row["noteId"] for row in read) == [1, 2]  # type: ignore[type-var]


def _notes(path: Path, time: int, *ids: object) -> Path:
    rows = [
        {
            "noteId": one,
            "createdAtMillis": time,
            "tweetId": 7,
            "classification": "NOT_MISLEADING",
            "summary": f"At {time}",
        }
        for one in ids or (time,)
    ]
    return write_tsv(path, NOTES.columns, rows)


def _zip(path: Path, *members: tuple[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def test_what_a_mac_adds_to_a_zip_and_to_a_folder_is_passed_over(tmp_path: Path) -> None:
    content = _notes(tmp_path / "elsewhere" / "notes.tsv", 5).read_bytes()
    junk = b"\x00\x05\x16\x07\x00\x02\xff"
    _zip(
        tmp_path / "notes-00000.zip",
        ("__MACOSX/._notes-00000.tsv", junk),
        ("._notes-00000.tsv", junk),
        ("public/notes-00000.tsv", content),
        ("public/.DS_Store", junk),
    )
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "._notes-00001.tsv").write_bytes(junk)
    (tmp_path / "._notes-00000.tsv").write_bytes(junk)
    report, _ = _read(tmp_path)
    assert (report.rows, report.dropped) == (1, {})
    assert passed_over(tmp_path) == []


@pytest.mark.parametrize(
    "second",
    [
        "notes-00000 (1).tsv",
        "notes-00000(1).zip",
        "notes-00000-1.zip",
        "notes-00000 2.tsv",
        "notes-00000 - Copy.tsv",
        "notes-00000 copy.zip",
        "notes-00000.tsv (1).zip",
        "notes.tsv",
        "Notes-00000.ZIP",
        "notes/notes-00000.tsv",
    ],
)
@pytest.mark.parametrize("newer", [True, False])
def test_of_two_downloads_of_a_file_the_newer_is_read_and_the_other_named(
    tmp_path: Path, second: str, newer: bool
) -> None:
    _notes(tmp_path / "notes-00000.tsv", 6)
    (tmp_path / second).parent.mkdir(exist_ok=True)
    content = _notes(tmp_path / "elsewhere" / "notes.tsv", 7 if newer else 5).read_bytes()
    if second.lower().endswith(".zip"):
        _zip(tmp_path / second, ("notes-00000.tsv", content))
    else:
        (tmp_path / second).write_bytes(content)
    names = second, "notes-00000.tsv"
    read, other = names if newer else names[::-1]
    assert passed_over(tmp_path) == [f"We did not read {other}: {read} is newer."]
    report, rows = _read(tmp_path)
    assert report.files == (Path(read).name,)
    assert [row["noteId"] for row in rows] == [7 if newer else 6]


def test_a_second_download_alone_is_read_and_a_damaged_one_is_never_the_newer(tmp_path: Path) -> None:
    _notes(tmp_path / "notes-00000 (1).tsv", 6)
    assert _read(tmp_path)[0].rows == 1
    (tmp_path / "notes-00000 (2).zip").write_bytes(b"PK half")
    [told] = passed_over(tmp_path)
    assert told == "We did not read notes-00000 (2).zip: it cannot be read, notes-00000 (1).tsv was."


def test_files_that_nobody_here_reads_are_named(tmp_path: Path) -> None:
    _notes(tmp_path / "notes-00000.tsv", 6)
    (tmp_path / "batSignals").mkdir()
    for name in (
        "batSignals-00000.zip",
        "noteRequests-00000.tsv",
        "scoredNotes.tsv",
        "tweets.tsv",
        "notes-00001.xlsx",
        "readme.txt",
    ):
        (tmp_path / name).touch()
    told = " ".join(passed_over(tmp_path))
    assert told.count("requests for notes are not used") == 3
    assert "We did not read scoredNotes.tsv: the scorer's results" in told
    assert "We did not read tweets.tsv: it has no table's name" in told
    assert "We did not read notes-00001.xlsx: it is neither .tsv nor .zip" in told
    assert "readme" not in told


def test_a_table_that_was_made_of_an_older_download_is_not_read_in_place_of_a_newer_one(tmp_path: Path) -> None:
    first = _notes(tmp_path / "notes-00000.tsv", 6)
    read_public_data(tmp_path, tmp_path)
    assert ready_table(NOTES, tmp_path) == tmp_path / "notes.parquet"
    _notes(first, 7)
    os.utime(tmp_path / "notes.parquet", (1, 1))
    assert ready_table(NOTES, tmp_path) is None
    assert passed_over(tmp_path) == ["We read notes-00000.tsv: notes.parquet is older."]
    with found_table(NOTES, tmp_path) as found:
        assert found is not None
        assert pq.read_table(found.parquet)["noteId"].to_pylist() == [7]


@pytest.mark.parametrize(
    ("ids", "why"),
    [
        (["1.93294E+18"], "noteId is 1.93294E"),
        ([1, "1,93294E+18"], "noteId is 1,93294E"),
        (["1932941234567890123.0"], "noteId is 1932941234567890123.0"),
        ([1932941234567890000, 1932951234567890000, 1932961234567890000], "all end in zeros"),
    ],
)
def test_ids_that_a_spreadsheet_rounded_are_refused(tmp_path: Path, ids: list[object], why: str) -> None:
    _notes(tmp_path / "notes-00000.tsv", 6, *ids)
    with pytest.raises(InputError, match=why):
        _read(tmp_path)
    with pytest.raises(InputError, match=why):
        notes_of_post(tmp_path, "1932830000000000000")


def test_all_four_tables_are_read(tmp_path: Path) -> None:
    text = "says \"so\" &amp; 'so'"
    note = {"noteId": 1, "classification": "NOT_MISLEADING", "summary": text}
    status = {"noteId": 1, "currentStatus": "NEEDS_MORE_RATINGS", "timestampMillisOfStatusLock": -1}
    write_ratings(tmp_path / "ratings-00000.tsv", [rating_row(1, "A")])
    write_tsv(tmp_path / "notes-00000.tsv", NOTES.columns, [note])
    write_tsv(tmp_path / "noteStatusHistory-00000.tsv", HISTORY.columns, [status])
    member = {"participantId": "A", "modelingGroup": "13.0"}
    write_tsv(tmp_path / "userEnrollment-00000.tsv", ENROLMENT.columns, [member])
    told = [(report.table, report.rows) for report in read_public_data(tmp_path, tmp_path / "out")]
    assert told == [("notes", 1), ("ratings", 1), ("noteStatusHistory", 1), ("userEnrollment", 1)]
    assert pq.read_table(tmp_path / "out" / "notes.parquet")["summary"].to_pylist() == [text]
    assert pq.read_table(tmp_path / "out" / "userEnrollment.parquet")["modelingGroup"].to_pylist() == [13.0]


def test_each_unusable_row_is_dropped_by_name(tmp_path: Path) -> None:
    rows = [
        rating_row(1, "A"),
        rating_row(1, "A", "NOT_HELPFUL"),
        rating_row(1, ""),
        rating_row(1, "B", "MAYBE"),
        rating_row(1, "C", ""),
        rating_row(1, "D") | {"noteId": "1.5"},
        rating_row(1, "E") | {"noteId": ""},
        rating_row(1, "F") | {"noteId": str(2**63)},
        rating_row(1, "G") | {"helpfulClear": "yes"},
    ]
    path = write_ratings(tmp_path / "ratings-00000.tsv", rows)
    path.write_bytes(path.read_bytes() + b"17\tH\t16999")
    report, read = _read(tmp_path)
    assert [row["raterParticipantId"] for row in read] == ["A", "G"]
    assert read[0]["helpfulNum"] == 1.0  # the first of the two stays
    assert report.dropped == {
        "rows cut short or with the wrong number of columns": 1,
        "noteId is not a whole number": 2,
        "(value left out, row kept) helpfulClear is not a 0 or 1": 1,
        "no noteId": 1,
        "no raterParticipantId": 1,
        "neither helpful nor not helpful": 2,
        "repeated noteId and raterParticipantId": 1,
    }


def test_repeats_are_found_across_blocks_and_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crowdnotes.bridging.public_files.BLOCK_BYTES", 700)
    for shard in range(3):
        rows = [rating_row(note, f"R{rater}") for note in range(5) for rater in range(shard, shard + 4)]
        write_ratings(tmp_path / "ratings" / f"ratings-{shard:05d}.tsv", rows)
    report, read = _read(tmp_path)
    assert report.rows == len(read) == len({(row["noteId"], row["raterParticipantId"]) for row in read}) == 30
    assert report.dropped == {"repeated noteId and raterParticipantId": 30}


def test_unknown_columns_are_named_and_left_out(tmp_path: Path) -> None:
    write_tsv(tmp_path / "ratings-00000.tsv", [*RATINGS.columns, "mood"], [rating_row(1, "A", mood="fine")])
    report, read = _read(tmp_path)
    assert report.unknown_columns == ("mood",)
    assert "mood" not in read[0]


@pytest.mark.parametrize(
    ("header", "missing"),
    [
        (["noteId", "helpfulnessLevel"], "raterParticipantId"),
        (["raterParticipantId", "helpfulnessLevel"], "noteId"),
        (["noteId", "raterParticipantId"], "helpfulnessLevel"),
        (["noteId,raterParticipantId,helpfulnessLevel"], "noteId"),
    ],
)
def test_a_missing_column_is_named(tmp_path: Path, header: list[str], missing: str) -> None:
    write_tsv(tmp_path / "ratings-00000.tsv", header, [])
    with pytest.raises(InputError, match=missing):
        _read(tmp_path)


def test_a_zip_that_is_cut_short_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    packed = _zipped(tmp_path, 500)
    packed.write_bytes(packed.read_bytes()[:-200])
    with pytest.raises(InputError, match="cut short or damaged"):
        _read(tmp_path)
    assert not list((tmp_path / "out").glob("*"))


@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe\x00\x01"])
def test_a_file_that_is_empty_or_no_text_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "ratings-00000.tsv").write_bytes(content)
    with pytest.raises(InputError, match=r"empty|not text"):
        _read(tmp_path)


def test_stray_bytes_in_a_text_do_not_lose_the_note(tmp_path: Path) -> None:
    note = {"noteId": 1, "classification": "NOT_MISLEADING", "summary": "q1zx"}
    path = write_tsv(tmp_path / "notes-00000.tsv", NOTES.columns, [note])
    path.write_bytes(path.read_bytes().replace(b"q1zx", b"q1\xffx"))
    report, read = _read(tmp_path)
    assert read[0]["summary"] == "q1�x"
    assert report.dropped == {"(letters lost, row kept) summary is not in UTF-8": 1}


def test_a_header_alone_gives_an_empty_table_and_progress_is_told(tmp_path: Path) -> None:
    write_ratings(tmp_path / "ratings-00000.tsv", [])
    report, read = _read(tmp_path)
    assert (report.rows, read) == (0, [])
    write_ratings(tmp_path / "ratings-00000.tsv", [rating_row(1, "A"), rating_row(1, "B")])
    told: list[tuple[str, int]] = []
    read_public_data(tmp_path, tmp_path / "out", lambda table, rows: told.append((table, rows)))
    assert told == [("ratings", 2)]


def test_a_folder_without_public_data_a_single_file_and_a_place_that_cannot_be_written_are_named(
    tmp_path: Path,
) -> None:
    with pytest.raises(InputError, match="no public data"):
        read_public_data(tmp_path, tmp_path / "out")
    with pytest.raises(InputError, match="no file or folder"):
        read_public_data(tmp_path / "nowhere", tmp_path / "out")
    path = write_ratings(tmp_path / "ratings-00000.tsv", [rating_row(1, "A")])
    with pytest.raises(InputError, match="is a file"):
        read_public_data(path, tmp_path / "out")
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(InputError, match="taken cannot be written"):
        read_public_data(tmp_path, tmp_path / "taken")


def _zipped(folder: Path, rows: int) -> Path:
    whole = write_ratings(folder / "made.tsv", [rating_row(n, f"R{n}") for n in range(rows)])
    with zipfile.ZipFile(folder / "ratings-00000.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(whole, "ratings-00000.tsv")
    return folder / "ratings-00000.zip"


@pytest.mark.parametrize(("place", "value", "sentence"), [(0, 1, "encrypted"), (2, 99, "compression")])
def test_a_zip_that_nobody_here_can_unpack_is_refused(tmp_path: Path, place: int, value: int, sentence: str) -> None:
    packed = _zipped(tmp_path, 1)
    content = bytearray(packed.read_bytes())
    central = content.rfind(b"PK\x01\x02")
    content[6 + place] = content[central + 8 + place] = value  # the flags and the method stand in both headers
    packed.write_bytes(bytes(content))
    with pytest.raises(InputError, match=f"cannot be unpacked .*{sentence}"):
        _read(tmp_path)


def test_a_zip_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "ratings-00000.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ratings-00000.tsv", b"0" * 51_000_000)
    with pytest.raises(InputError, match="would unpack to more than 50 MB"):
        _read(tmp_path)
