"""The index of the public data: what is new is added, what is wrong is said, the rest works."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import duckdb
import pytest

from crowdnotes.bridging.columns import ENROLMENT, NOTES
from crowdnotes.errors import InputError, JobCancelled
from crowdnotes.public_data import database
from crowdnotes.public_data.database import reading, writing
from crowdnotes.public_data.loading import FileReport
from tests.bridging.made import rating_row, write_ratings, write_tsv
from tests.public_data.made import HOUR, NOW, POST, WRITTEN, indexed, note_row, write_history, write_notes


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / "data" / "crowd.duckdb"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two notes, and three ratings in a shard."""
    folder = tmp_path / "public"
    write_notes(folder / "notes-00000.tsv", note_row(1), note_row(2, summary="Das ist nicht die ganze Geschichte."))
    write_ratings(
        folder / "ratings-00000.tsv", [_rating(1, "A"), _rating(1, "B", "NOT_HELPFUL"), _rating(2, "A", "HELPFUL")]
    )
    return folder


def _rating(note: int, rater: str, level: str = "HELPFUL", **more: object) -> dict[str, object]:
    return rating_row(note, rater, level, **{"createdAtMillis": WRITTEN + HOUR, **more})


def _rows(index: Path, question: str) -> list[tuple[object, ...]]:
    with reading(index) as connection:
        return connection.execute(question).fetchall()


def _told(files: tuple[FileReport, ...]) -> list[tuple[str, int, bool]]:
    return [(file.file, file.rows, file.grown) for file in files]


def test_a_folder_is_indexed_with_language_topics_and_the_posts_time(data: Path, index: Path) -> None:
    report = indexed(data, index)
    assert (report.totals["notes"], report.totals["posts"], report.totals["ratings"]) == (2, 1, 3)
    ((language, topics, posted),) = _rows(index, "SELECT language, topics, posted FROM notes WHERE note = 1")
    assert language == "en"
    assert topics == 0b110  # vaccine; health department
    assert posted == (POST >> 22) + 1_288_834_974_657
    assert _rows(index, "SELECT language, topics FROM notes WHERE note = 2") == [("de", 0)]
    assert len(report.loaded.problems) == 2  # no status history, no enrolment: each its sentence


def test_what_was_read_before_is_not_read_again_whatever_its_folder(data: Path, index: Path, tmp_path: Path) -> None:
    indexed(data, index)
    elsewhere = shutil.copytree(data, tmp_path / "next day")
    for folder in (data, elsewhere):
        report = indexed(folder, index)
        assert report.loaded.files == ()
        assert report.loaded.unchanged == ("notes-00000.tsv", "ratings-00000.tsv")
        assert report.totals["ratings"] == 3


@pytest.mark.parametrize("zipped", [False, True])
def test_of_a_file_that_grew_only_the_end_is_read_and_a_new_shard_is_added(
    data: Path, index: Path, tmp_path: Path, zipped: bool
) -> None:
    def pack(name: str) -> None:
        if zipped:
            with zipfile.ZipFile(data / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                archive.write(tmp_path / "plain.tsv", f"{name}.tsv")
        else:
            shutil.copy(tmp_path / "plain.tsv", data / f"{name}.tsv")

    (data / "ratings-00000.tsv").unlink()
    rows = [_rating(note, f"R{number}") for number in range(900) for note in (1, 2)]
    write_ratings(tmp_path / "plain.tsv", rows)
    pack("ratings-00000")
    indexed(data, index)
    assert indexed(data, index).loaded.files == ()
    write_ratings(tmp_path / "plain.tsv", [*rows, _rating(1, "late")])
    pack("ratings-00000")
    write_ratings(tmp_path / "plain.tsv", [_rating(2, "later")])
    pack("ratings-00001")
    report = indexed(data, index)
    suffix = "zip" if zipped else "tsv"
    expected = [(f"ratings-00000.{suffix}", 1, True), (f"ratings-00001.{suffix}", 1, False)]
    assert _told(report.loaded.files) == expected
    assert report.totals["ratings"] == 1802


def test_a_damaged_file_is_told_and_the_rest_works(data: Path, index: Path) -> None:
    whole = data / "ratings-00001.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        archive.write(data / "ratings-00000.tsv", "ratings-00001.tsv")
    whole.write_bytes(whole.read_bytes()[:-100])
    report = indexed(data, index)
    assert report.totals["ratings"] == 3
    assert any("ratings-00001.zip is cut short or damaged" in sentence for sentence in report.loaded.problems)


def test_a_download_that_ends_within_a_line_is_told_and_completed_later(data: Path, index: Path) -> None:
    path = data / "ratings-00000.tsv"
    whole = path.read_bytes()
    path.write_bytes(whole[:-90])
    report = indexed(data, index)
    assert any("ends in the middle of a line" in sentence for sentence in report.loaded.problems)
    assert report.totals["ratings"] == 2
    path.write_bytes(whole)
    report = indexed(data, index)
    assert _told(report.loaded.files) == [("ratings-00000.tsv", 1, True)]


def test_a_file_that_is_packed_otherwise_or_half_downloaded_is_named(data: Path, index: Path, tmp_path: Path) -> None:
    for name in ("ratings-00001.tsv.gz", "ratings-00002.zip.crdownload", "notes.txt"):
        (data / name).write_bytes(b"half")
    report = indexed(data, index)
    named = [sentence for sentence in report.loaded.problems if "neither .tsv nor .zip" in sentence]
    assert [sentence.split()[4].removesuffix(":") for sentence in named] == [
        "ratings-00001.tsv.gz",
        "ratings-00002.zip.crdownload",
    ]
    assert report.totals["ratings"] == 3
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "ratings-00000.tsv.gz").write_bytes(b"half")
    with pytest.raises(InputError, match=r"We did not read ratings-00000\.tsv\.gz"):
        indexed(alone, index)


def test_an_older_status_never_takes_the_place_of_a_newer_one(data: Path, index: Path) -> None:
    def history(name: str, status: str, at: int) -> None:
        row = {"noteId": 1, "currentStatus": status, "timestampMillisOfCurrentStatus": WRITTEN + at}
        write_history(data / name, {**row, "noteAuthorParticipantId": "A", "createdAtMillis": WRITTEN})

    history("noteStatusHistory-00000.tsv", "NEEDS_MORE_RATINGS", HOUR)
    history("noteStatusHistory-00000 (1).tsv", "CURRENTLY_RATED_HELPFUL", 2 * HOUR)
    report = indexed(data, index)
    assert "We did not read noteStatusHistory-00000.tsv" in " ".join(report.loaded.problems)
    assert _rows(index, "SELECT status FROM history") == [("CURRENTLY_RATED_HELPFUL",)]
    (data / "noteStatusHistory-00000 (1).tsv").unlink()  # the older one is left, and is new to the index
    report = indexed(data, index)
    assert report.loaded.files[0].dropped == {"older than what the index has": 1}
    assert _rows(index, "SELECT status FROM history") == [("CURRENTLY_RATED_HELPFUL",)]


def test_an_older_enrolment_and_an_older_note_never_take_the_place_of_newer_ones(
    data: Path, index: Path, tmp_path: Path
) -> None:
    def enrol(folder: Path, changed: int, **groups: int) -> None:
        rows = [
            {"participantId": name, "modelingGroup": group, "timestampOfLastStateChange": WRITTEN + changed}
            for name, group in groups.items()
        ]
        rows[0]["timestampOfLastStateChange"] = WRITTEN  # of this one the time is the same in all files
        write_tsv(folder / "userEnrollment-00000.tsv", ENROLMENT.columns, rows)

    groups = "SELECT modeling_group FROM people ORDER BY modeling_group"
    enrol(data, 2 * HOUR, A=2, B=2, C=2)
    write_notes(data / "notes-00001.tsv", note_row(3, createdAtMillis=WRITTEN + 100 * HOUR))
    indexed(data, index)
    older = tmp_path / "older"
    enrol(older, HOUR, A=1, B=1, D=1)
    write_notes(older / "notes-00000.tsv", note_row(1, summary="The vaccine wasn?t tested."), note_row(2))
    told = indexed(older, index).loaded.files
    assert {report.table: report.dropped["older than what the index has"] for report in told} == {
        "notes": 2,
        "userEnrollment": 2,
    }
    assert _rows(index, groups) == [(1.0,), (2.0,), (2.0,), (2.0,)]
    assert "Geschichte" in str(_rows(index, "SELECT text FROM notes WHERE note = 2"))
    newer = tmp_path / "newer"
    enrol(newer, 3 * HOUR, A=3, B=3)
    assert not indexed(newer, index).loaded.files[0].dropped
    assert _rows(index, groups) == [(1.0,), (2.0,), (3.0,), (3.0,)]


def test_an_index_from_before_takes_the_time_of_a_state_too(data: Path, index: Path) -> None:
    indexed(data, index)
    with duckdb.connect(str(index)) as connection:
        connection.execute("ALTER TABLE people DROP COLUMN changed_at; INSERT INTO people VALUES (1, 'x', 1)")
    write_tsv(data / "userEnrollment-00000.tsv", ENROLMENT.columns, [{"participantId": "A", "modelingGroup": 2}])
    assert indexed(data, index).loaded.files[0].rows == 1


def test_requests_for_notes_are_named_and_a_rounded_file_is_refused(data: Path, index: Path) -> None:
    (data / "batSignals-00000.zip").write_bytes(b"not read")
    write_notes(data / "notes-00001.tsv", note_row(1) | {"noteId": "1.93294E+18"})
    told = " ".join(indexed(data, index).loaded.problems)
    assert "We did not read batSignals-00000.zip: requests for notes are not used." in told
    assert "noteId is 1.93294E+18. Nothing of it was added." in told


def test_years_of_schema_mix_and_a_person_s_latest_rating_counts(data: Path, index: Path) -> None:
    pilot = ["noteId", "participantId", "createdAtMillis", "helpful", "notHelpful"]
    early = {"noteId": 1, "participantId": "A", "createdAtMillis": WRITTEN, "helpful": 0, "notHelpful": 1}
    write_tsv(data / "ratings-00001.tsv", pilot, [early, {**early, "participantId": "C"}])
    write_ratings(data / "ratings-00002.tsv", [_rating(1, "B", "HELPFUL", createdAtMillis=WRITTEN + 2 * HOUR)])
    report = indexed(data, index)
    levels = _rows(index, "SELECT level FROM ratings WHERE note = 1 ORDER BY rated, level")
    assert levels == [(0,), (2,), (2,)]  # C's of the pilot; A's of today; B's second
    assert report.totals["ratings"] == 4


def test_ids_that_are_no_snowflakes_and_impossible_clocks_keep_their_rows(data: Path, index: Path) -> None:
    write_notes(
        data / "notes-00001.tsv", note_row(3, tweetId=12, createdAtMillis=1_500_000_000_000), note_row(4, tweetId=-1)
    )
    ahead = int(NOW.timestamp() * 1000) + 100 * 24 * HOUR
    write_ratings(data / "ratings-00001.tsv", [_rating(3, "A", createdAtMillis=ahead)])
    report = indexed(data, index)
    assert _rows(index, "SELECT posted, written FROM notes WHERE note = 3") == [(None, None)]
    assert _rows(index, "SELECT rated FROM ratings WHERE note = 3") == [(None,)]
    reasons = {reason: number for file in report.loaded.files for reason, number in file.dropped.items()}
    assert sum(number for reason, number in reasons.items() if "no snowflake" in reason) == 2
    assert sum("before 2021 or still to come" in reason for reason in reasons) == 1  # the same words for both tables


def test_a_next_day_makes_the_posts_anew_that_it_touches_and_no_others(index: Path, tmp_path: Path) -> None:
    first, both = tmp_path / "first", tmp_path / "both"
    for folder in (first, both):
        write_notes(folder / "notes-00000.tsv", *(note_row(note, tweetId=POST + note % 40) for note in range(90)))
        write_history(
            folder / "noteStatusHistory-00000.tsv",
            *({"noteId": note, "currentStatus": "NEEDS_MORE_RATINGS"} for note in range(0, 90, 30)),
        )
    indexed(first, index)
    later = WRITTEN + 20 * 24 * HOUR  # by then nobody is young
    for folder in (tmp_path / "next", both):
        write_notes(
            folder / "notes-00001.tsv",
            note_row(5, tweetId=POST + 99),
            note_row(90, tweetId=POST + 1, createdAtMillis=later),
        )
        write_history(
            folder / "noteStatusHistory-00001.tsv",
            {
                "noteId": 33,
                "currentStatus": "CURRENTLY_RATED_HELPFUL",
                "firstNonNMRStatus": "CURRENTLY_RATED_HELPFUL",
                "timestampMillisOfFirstNonNMRStatus": WRITTEN + HOUR,
            },
        )
    indexed(tmp_path / "next", index)
    indexed(both, tmp_path / "both.duckdb")
    posts = "SELECT * FROM posts ORDER BY post"
    assert _rows(index, posts) == _rows(tmp_path / "both.duckdb", posts)


def test_a_newer_status_history_takes_the_place_of_the_older(data: Path, index: Path, tmp_path: Path) -> None:
    status = {"noteId": 1, "currentStatus": "NEEDS_MORE_RATINGS", "timestampMillisOfStatusLock": -1}
    write_history(data / "noteStatusHistory-00000.tsv", status)
    indexed(data, index)
    newer = tmp_path / "newer"
    write_history(newer / "noteStatusHistory-00000.tsv", {**status, "currentStatus": "CURRENTLY_RATED_HELPFUL"})
    indexed(newer, index)
    assert _rows(index, "SELECT status, locked_at FROM history") == [("CURRENTLY_RATED_HELPFUL", None)]


@pytest.mark.parametrize("stopped", [JobCancelled("cancelled"), KeyboardInterrupt()])
def test_a_stop_leaves_what_was_finished_and_the_same_command_goes_on(
    data: Path, index: Path, stopped: BaseException
) -> None:
    write_ratings(data / "ratings-00001.tsv", [_rating(2, "B"), _rating(2, "C")])

    def stop_in_the_second_shard(table: str, rows: int) -> None:
        if (table, rows) == ("ratings", 2):
            raise stopped

    with pytest.raises(type(stopped)):
        indexed(data, index, stop_in_the_second_shard)
    assert _rows(index, "SELECT (SELECT count(*) FROM notes), (SELECT count(*) FROM ratings)") == [(2, 3)]
    report = indexed(data, index)
    assert _told(report.loaded.files) == [("ratings-00001.tsv", 2, False)]
    assert report.totals["ratings"] == 5


@pytest.mark.parametrize("stopped", [JobCancelled("cancelled"), KeyboardInterrupt()])
def test_no_index_is_left_that_nothing_was_read_into(data: Path, index: Path, stopped: BaseException) -> None:
    def stop_in_the_first_file(_table: str, _rows: int) -> None:
        raise stopped

    with writing(index):
        pass  # as an earlier program left it
    with pytest.raises(type(stopped)):
        indexed(data, index, stop_in_the_first_file)
    assert not index.exists()
    indexed(data, index)
    with pytest.raises(InputError, match="holds no public data"):
        indexed(index.parent, index)
    assert _rows(index, "SELECT count(*) FROM notes") == [(2,)]


def test_what_cannot_be_indexed_or_asked_is_said(data: Path, index: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not indexed yet"), reading(index):
        pass
    with pytest.raises(InputError, match="holds no public data"):
        indexed(tmp_path, index)
    with pytest.raises(InputError, match="is a file"):
        indexed(data / "notes-00000.tsv", index)
    (tmp_path / "text.duckdb").write_text("no index", encoding="utf-8")
    with pytest.raises(InputError, match="no index, or is damaged"):
        indexed(data, tmp_path / "text.duckdb")
    with duckdb.connect(str(tmp_path / "other.duckdb")) as other:
        other.execute("CREATE TABLE a (b INTEGER)")
    with pytest.raises(InputError, match="no index of public data"), reading(tmp_path / "other.duckdb"):
        pass
    with writing(tmp_path / "old.duckdb") as connection:
        connection.execute("UPDATE form SET form = 0")
    with pytest.raises(InputError, match="another version"), reading(tmp_path / "old.duckdb"):
        pass


def test_a_folder_of_nothing_but_damaged_files_is_refused_with_the_reason(tmp_path: Path, index: Path) -> None:
    write_tsv(tmp_path / "public" / "notes-00000.tsv", ["noteId", "text"], [{"noteId": 1}])
    with pytest.raises(InputError, match="lack the column classification"):
        indexed(tmp_path / "public", index)
    assert "classification" in NOTES.required


def test_an_index_that_is_in_use_to_write_is_waited_for_and_then_refused(
    index: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "_LOCK_WAIT_SECONDS", 0.02)
    indexed(data, index)
    holds = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print(1, flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", holds, str(index)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(InputError, match="in use elsewhere"), reading(index):
            pass
    with writing(index), pytest.raises(InputError, match="in use elsewhere"), reading(index):
        pass
    assert _rows(index, "SELECT count(*) FROM notes") == [(2,)]
