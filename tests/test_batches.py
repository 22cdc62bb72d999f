"""Batches: rows of a file become cases, within a budget, and go on where they were stopped."""

from __future__ import annotations

import json
import os
import re
import stat
import threading
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import update

from crowdnotes.batches import Batch, kept_batches
from crowdnotes.cases.stages import StageRunner
from crowdnotes.domain import INFERRED, Case, Draft, Evidence, Hit, ProviderState, Quotation, Role, Span, Usage
from crowdnotes.engines import Brief, WriterAnswer
from crowdnotes.engines.choice import EngineChoice
from crowdnotes.errors import InputError, JobError, SearchError
from crowdnotes.post_files import preview_of, rows_of
from crowdnotes.settings import load_settings
from crowdnotes.storage.database import writing
from crowdnotes.storage.tables import jobs
from crowdnotes.workspace import Workspace, open_workspace
from tests.cases.walk import TOPICS, TopicEngine, make_library, post_about, small_workspace
from tests.command_line import crowdnotes
from tests.fakes import HashingEmbedder, LiveLinks, actor
from tests.llm_server import LLMServer, honest
from tests.shared import PATIENCE, put_tables

FEW = TOPICS[:5]  # as many rows as show that some are left when others are done
ROWS = [{"id": "a", "text": "One", "links": ["https://e.example/1"]}, {"id": "b", "text": "Two", "links": []}]


@pytest.fixture
def posts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CROWDNOTES_SEARCH_SERVICES", "[]")  # the library alone
    file = tmp_path / "posts.jsonl"
    file.write_text("".join(json.dumps({"id": topic, "text": post_about(topic)}) + "\n" for topic in FEW))
    return file


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_each_kind_of_file_says_the_same(tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"posts.{kind}"
    if kind == "csv":
        file.write_text("id,text,links\na,One,https://e.example/1\nb,Two,\n")
    elif kind == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    else:
        pq.write_table(pa.Table.from_pylist(ROWS), file)
    found = [(row.name, row.text, row.links, row.problem) for row in rows_of(file)]
    assert found == [("a", "One", ("https://e.example/1",), ""), ("b", "Two", (), "")]


def test_a_file_is_told_before_it_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "posts.csv"
    file.write_text("ID;Text;extra\na;One;x\nb;;y\n")
    preview = preview_of(file)
    assert (preview.columns, preview.usable, preview.bad) == (("ID", "Text", "extra"), 1, 1)
    assert [(row.name, row.text) for row in preview.first] == [("a", "One")]
    assert [(row.number, row.problem) for row in preview.broken] == [(2, "No text and no links: fill in one of them.")]
    file.write_text("id,words\na,One\n")
    with pytest.raises(InputError, match="It has: id, words"):
        preview_of(file)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(("column", "chosen"), [("Post", ""), ("tweet", ""), ("words", "words")])
def test_the_column_of_posts_is_known_by_its_name_or_chosen(
    tmp_path: Path, kind: str, column: str, chosen: str
) -> None:
    file = tmp_path / f"posts.{kind}"
    rows = [{"id": "a", column: "One", "note": "x"}, {"id": "b", column: "Two", "note": "x"}]
    if kind == "csv":
        file.write_text(f"id,{column},note\na,One,x\nb,Two,x\n")
    elif kind == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pq.write_table(pa.Table.from_pylist(rows), file)
    preview = preview_of(file, posts=chosen)
    assert ([row.text for row in preview.first], preview.posts) == (["One", "Two"], column)


A, B = "https://a.example/1", "https://b.example/2_(c)"


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("column", "chosen"),
    [
        *((name, "") for name in ("links", "Link", "Sources", "source", "url(s) of sources", "source-url", "Evidence")),
        *((name, "") for name in ("references", "URLs")),
        ("fundstelle", "Fundstelle"),
        ("url", "url"),
    ],
)
def test_the_column_of_links_is_known_by_its_name_or_chosen(
    tmp_path: Path, kind: str, column: str, chosen: str
) -> None:
    file = tmp_path / f"posts.{kind}"
    rows = [{"text": "One", column: f"{A}; {B}"}, {"text": "Two", column: ""}, {"text": "Three", column: f"{A}|{B}"}]
    if kind == "csv":
        file.write_text(f"text,{column}\n" + "".join(f"{row['text']},{row[column]}\n" for row in rows))
    elif kind == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pq.write_table(pa.Table.from_pylist(rows), file)
    preview = preview_of(file, links=chosen)
    assert [(row.links, row.url) for row in preview.first] == [((A, B), ""), ((), ""), ((A, B), "")]
    assert (preview.links, preview.link_columns, preview.unlinked) == (column, (column,), 1)


@pytest.mark.parametrize(
    ("row", "offered"),
    [
        ({"source": "BBC", "1": "", "fundstelle": A, "bild": f"see {B}."}, ("fundstelle", "bild")),  # a name is no link
        ({"source": '<a href="https://mobile.twitter.com">Twitter Web App</a>'}, ()),  # as X's API has it
        ({"url": "https://x.com/a/status/1"}, ()),
        ({"url": A, "2": B}, ("url", "2")),
    ],
)
def test_columns_that_hold_links_by_another_name_are_offered_and_none_is_taken(
    tmp_path: Path, row: dict[str, str], offered: tuple[str, ...]
) -> None:
    file = tmp_path / "posts.jsonl"
    file.write_text(json.dumps({"text": f"One {A}"} | row))
    preview = preview_of(file)
    assert (preview.links, preview.link_columns, preview.unlinked) == ("", offered, 1)
    with pytest.raises(InputError, match="has no column “quelle”"):
        preview_of(file, links="quelle")


def test_rows_without_a_link_fail_with_what_to_do_and_do_not_stop_the_others(
    tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts.write_text("".join(json.dumps({"text": f"Post {n}"}) + "\n" for n in range(7)))
    with small_workspace(tmp_path) as workspace:
        monkeypatch.setattr(type(workspace.libraries), "list", lambda _: [])
        work = Batch(workspace, posts)
        work.run(2)
        assert {(row["state"], row["reason"]) for row in work.results()} == {
            (
                "failed",
                "This row has no link, and no search is set up. Add one to the file and choose it again, or set up a "
                "search and try again.",
            )
        }
        assert work.counts()[0] == {"failed": 7}


def test_by_another_column_a_file_is_another_batch_and_by_the_usual_one_the_same(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("text,reply\nOne,Two\n")
    with small_workspace(tmp_path) as workspace:
        found = {
            posts: Batch(workspace, tmp_path / "posts.csv", posts=posts).some(None, 1, 0)[0]["post"]
            for posts in ("", "Text", "reply")
        }
        assert found == {"": "One", "Text": "One", "reply": "Two"}
        assert len(kept_batches(workspace, 9)) == 2
        (tmp_path / "posts.csv").write_text(f"text,here,there\nOne,{A},{B}\n")
        ids = {links: Batch(workspace, tmp_path / "posts.csv", links=links).id for links in ("", "here", "There")}
        assert len({*ids.values()}) == 3
        assert Batch(workspace, tmp_path / "posts.csv", links="there").id == ids["There"]


def test_repeated_posts_are_counted_before_they_are_kept(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text("text,links\nOne,\nTwo,\nOne,\nOne,https://e.example\nTwo,\nOne,\n,\n,\n")
    preview = preview_of(tmp_path / "posts.csv")
    assert (preview.repeats, preview.repeated) == (3, ((3, 1), (5, 2), (6, 1)))


def test_another_file_is_refused_and_a_broken_one_told(tmp_path: Path) -> None:
    for name in ("posts.txt", "posts.parquet"):
        (tmp_path / name).write_text("no table")
        with pytest.raises(InputError):
            list(rows_of(tmp_path / name))


GERMAN = "Der Impfstoff enthält Mäuse-Zellen – sagt eine Studie aus Köln"
TURKISH = "Aşı fare hücresi içeriyor, diyor Ankaralı bir araştırmacı"
POLISH = "Szczepionka zawiera żywe komórki myszy, mówią naukowcy z Łodzi"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("utf-8", GERMAN),
        ("utf-8-sig", GERMAN),
        ("utf-16", GERMAN),  # "Unicode text" of Excel
        ("cp1252", GERMAN),  # "CSV" of Excel
        ("mac_roman", GERMAN),  # "CSV (Macintosh)"
        ("cp850", GERMAN.replace("–", "-")),  # "CSV (MS-DOS)"
        ("cp1250", POLISH),
        ("iso8859_2", POLISH),
        ("cp1254", TURKISH),
    ],
)
@pytest.mark.parametrize("beginning", ["", "sep=;\r\n"])
def test_a_table_from_a_spreadsheet_keeps_its_letters(tmp_path: Path, encoding: str, text: str, beginning: str) -> None:
    file = tmp_path / "posts.csv"
    file.write_bytes(f'{beginning}id;text\r\na;"{text}"\r\nb;"{text}"\r\n'.encode(encoding))
    assert [(row.name, row.text, row.problem) for row in rows_of(file)] == [("a", text, ""), ("b", text, "")]
    assert ("read as" in preview_of(file, "mine.csv").remark) == (not encoding.startswith("utf"))


@pytest.mark.parametrize("other", ["cp1252", "mac_roman"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("is_first", [True, False], ids=["first", "last"])
def test_two_files_pasted_together_are_each_read_in_their_own_letters(
    tmp_path: Path, other: str, mark: str, is_first: bool
) -> None:
    file, head, half = tmp_path / "posts.csv", f"{mark}id;text\n", f"a;{GERMAN.replace(';', ',')}\n" * 3_000
    codecs = (other, "utf-8") if is_first else ("utf-8", other)
    file.write_bytes(head.encode() + b"".join(half.encode(codec) for codec in codecs))
    assert {row.text for row in rows_of(file)} == {GERMAN.replace(";", ",")}
    assert preview_of(file, "mine.csv").remark.startswith(
        f"mine.csv is only partly in UTF-8, and the rest was read as {other}"
    )


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (b"1,K\xc3\xb6ln \xff,\n" + b"2,K\xc3\xb6ln,\n" * 30, "letters are unreadable"),
        (b"1,Words, and more words,https://e.example\n", "More cells than the heading"),
        (b'1,"Words that never end,\n2,Others,\n', "quotation mark is missing"),
        (b"1,Words,https://x.com/a/status/1.35E+18\n", "it is: 1.35E\\+18"),
        (b'1,Words,"https://x.com/a/status/1,35E+18"\n', "it is: 1,35E"),
        (b"1,Words,https://x.com/a/status/1945335671389830000\n", "it is: 1945335671389830000"),
        (b"1.35E+018,Words,\n", "rounded this number"),
        (b"1945335671389839405.0,Words,\n", "rounded this number"),
        (b"1,#NAME?,\n", "an error instead of the text: #NAME"),
        (b"1,#REF!,\n", "an error instead of the text: #REF"),
        ("1,Mäuse-Zellen,\n".encode().decode("cp1252").encode(), "garbled in another program .“Ã¤”"),
        ("1,The town’s wells,\n".encode().decode("cp1252").encode(), "garbled in another program .“â€™”"),
    ],
)
def test_a_row_that_a_spreadsheet_spoiled_says_so(tmp_path: Path, row: bytes, why: str) -> None:
    file = tmp_path / "posts.csv"
    file.write_bytes(b"id,text,url\n" + row)
    first, *_ = preview_of(file).broken
    assert first.number == 1
    assert re.search(why, first.problem), first.problem


@pytest.mark.parametrize("cell", ["'1945335671389839405", '"=""1945335671389839405"""'])
def test_an_id_that_a_spreadsheet_keeps_as_text_is_the_id(tmp_path: Path, cell: str) -> None:
    file = tmp_path / "posts.csv"
    file.write_text(f"id,text\n{cell},SÃO PAULO and Â words\n")
    assert [(row.name, row.problem) for row in rows_of(file)] == [("1945335671389839405", "")]


_X_POSTS = [
    {"id": "1945335671389839405", "author_id": "1", "text": "Lead &amp; wells", "note_tweet": {"text": "All of it"}},
    {"id": "1945335671389839406", "author_id": "1", "text": "Lead &amp; wells\nhttps://t.co/a"},
]


@pytest.mark.parametrize("name", ["posts.json", "posts.jsonl"])
@pytest.mark.parametrize("told", [_X_POSTS, {"data": _X_POSTS, "meta": {"result_count": 2}}])
def test_a_json_list_of_posts_as_xs_api_gives_it_is_read(tmp_path: Path, name: str, told: object) -> None:
    file = tmp_path / name
    if name == "posts.jsonl" and isinstance(told, dict):
        file.write_text("".join(json.dumps(post) + "\n" for post in _X_POSTS) + "\n")
    else:
        file.write_text(json.dumps(told, indent=1), encoding="utf-8-sig")
    assert [(row.name, row.text, row.problem) for row in rows_of(file)] == [
        ("1945335671389839405", "All of it", ""),
        ("1945335671389839406", "Lead & wells\nhttps://t.co/a", ""),
    ]


_OLD_POST = {"id": 1945335671389839400, "id_str": "1945335671389839405", "user": {"id": 1}, "truncated": False}


@pytest.mark.parametrize(
    ("post", "text", "problem"),
    [
        (_OLD_POST | {"full_text": "Lead &amp; wells"}, "Lead & wells", ""),
        (_OLD_POST | {"text": "Lead …", "extended_tweet": {"full_text": "Lead &lt; wells"}}, "Lead < wells", ""),
        (
            _OLD_POST | {"full_text": "RT @a: Le…", "retweeted_status": {"full_text": "Lead &amp; wells"}},
            "Lead & wells",
            "",
        ),
        (_OLD_POST | {"text": "Lead in w… https://t.co/a", "truncated": True}, "", "cut the text off"),
        ({"tweet": {"id_str": "1945335671389839405", "full_text": "Lead"}}, "Lead", ""),
    ],
    ids=["extended", "streamed", "shared", "cut off", "archive"],
)
@pytest.mark.parametrize("is_search", [False, True], ids=["list", "search"])
def test_posts_of_the_older_api_are_read_whole(
    tmp_path: Path, post: dict[str, object], text: str, problem: str, is_search: bool
) -> None:
    file = tmp_path / "posts.json"
    file.write_text(json.dumps({"statuses": [post], "search_metadata": {}} if is_search else [post]))
    (row,) = rows_of(file)
    assert (row.name, row.text) == ("1945335671389839405", text)
    assert re.search(problem, row.problem)
    assert bool(row.problem) == bool(problem)


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"PK\x03\x04\x00\x00\xff\xfe" * 50, "is not a text file"), (b"text,Text\na,b\n", "two columns “text”")],
)
def test_a_table_that_is_none_or_names_a_column_twice_is_refused(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "posts.csv").write_bytes(content)
    with pytest.raises(InputError, match=why):
        preview_of(tmp_path / "posts.csv")


def test_a_file_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path: Path) -> None:
    links = pa.array(["x" * 1_000_000]).dictionary_encode().take(pa.array([0] * 60))
    rows = pa.ListArray.from_arrays(pa.array([0, 60], pa.int32()), links)
    pq.write_table(pa.table({"text": ["Words"], "links": rows}), tmp_path / "posts.parquet", store_schema=False)
    with pytest.raises(InputError, match="would unpack to more than 50 MB"):
        preview_of(tmp_path / "posts.parquet")


def test_a_row_with_a_time_that_no_calendar_has_says_so(tmp_path: Path) -> None:
    times = pa.array([None, 2**40], pa.timestamp("s"))
    pq.write_table(pa.table({"text": ["Words", None], "links": times}), tmp_path / "posts.parquet")
    _, row = rows_of(tmp_path / "posts.parquet")
    assert row.problem == "A time lies outside the years 1 to 9999."


def test_one_post_as_xs_api_gives_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "posts.json").write_text(json.dumps({"data": _X_POSTS[1]}))
    assert [row.text for row in rows_of(tmp_path / "posts.json")] == ["Lead & wells\nhttps://t.co/a"]


def test_a_list_that_breaks_off_or_holds_something_else_is_told(tmp_path: Path) -> None:
    file = tmp_path / "posts.json"
    file.write_text(json.dumps(_X_POSTS)[:-20])
    assert all(row.problem for row in rows_of(file))
    file.write_text(json.dumps([*_X_POSTS, 7]))
    assert [row.problem for row in rows_of(file)] == ["", "", "Not a JSON object."]


@pytest.mark.parametrize(("name", "form"), [("posts.json", "[{}, {}]"), ("posts.jsonl", "{}\n{}\n")])
def test_an_empty_cell_of_pandas_is_no_text(tmp_path: Path, name: str, form: str) -> None:
    (tmp_path / name).write_text(form.format('{"text": "Garlic cures it.", "links": NaN}', '{"text": NaN}'))
    rows = list(rows_of(tmp_path / name))
    assert [(row.text, bool(row.problem)) for row in rows] == [("Garlic cures it.", False), ("", True)]


def test_the_table_of_results_runs_no_formula_and_is_its_owners(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CROWDNOTES_SEARCH_SERVICES", "[]")
    file, out = tmp_path / "posts.csv", tmp_path / "out.csv"
    file.write_text('id,text\n"=HYPERLINK(""http://evil.example"")",\n')
    out.write_text("an older one, which others may read")
    out.chmod(0o644)
    ended = crowdnotes(tmp_path, "batch", str(file), "--out", str(out))
    assert ended.returncode == 0, ended.stderr
    assert "'=HYPERLINK" in out.read_text()
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


def test_the_results_never_replace_the_posts(tmp_path: Path) -> None:
    file, link = tmp_path / "posts.csv", tmp_path / "link.csv"
    file.write_text("id,text\n1,\n")
    link.symlink_to(file)
    for out in (file, link):
        ended = crowdnotes(tmp_path, "batch", str(file), "--out", str(out))
        assert ended.returncode == 1
        assert "would replace your posts" in ended.stderr
    assert file.read_text() == "id,text\n1,\n"


@pytest.mark.deep
def test_half_of_100_000_rows_are_broken_and_each_has_its_sentence(tmp_path: Path) -> None:
    file = tmp_path / "posts.jsonl"
    broken = ["{", "[1]", '{"text": "  "}', "[" * 5_000, '{"text": "' + "x" * 250_000 + '"}\n']
    with file.open("w") as lines:
        for number in range(50_000):
            bad = broken[-1] if number % 10_000 == 0 else broken[number % 4 if number % 400 else 3]
            lines.write(f'{{"text": "Post {number}"}}\n{bad.rstrip()}\n')
    tracemalloc.start()
    counts: Counter[bool] = Counter(bool(row.problem) for row in rows_of(file))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert counts == {False: 50_000, True: 50_000}
    assert most < 20_000_000
    with small_workspace(tmp_path) as workspace:
        work = Batch(workspace, file)
        assert work.counts()[0] == {"waiting": 50_000, "not usable": 50_000}
        assert work.kept().rows == 100_000
        assert all(row["reason"] for row in work.results() if row["state"] == "not usable")
        assert [row["number"] for row in work.some("not usable", 2, 49_998)] == [99_998, 100_000]


@pytest.mark.timeout(30)
def test_a_pipe_is_no_batch_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.csv")
    with small_workspace(tmp_path) as workspace, pytest.raises(InputError, match=r"a\.csv is not a file"):
        Batch(workspace, tmp_path / "a.csv")


@pytest.mark.parametrize(("name", "content"), [("a.csv", ""), ("a.csv", "id,text\n"), ("a.json", "[]")])
def test_a_file_without_a_post_is_no_batch(tmp_path: Path, name: str, content: str) -> None:
    file = tmp_path / name
    file.write_text(content)
    with small_workspace(tmp_path) as workspace, pytest.raises(InputError, match=f"{name} has no posts"):
        Batch(workspace, file)


def test_a_row_is_a_case_that_nobody_decided_and_a_second_run_does_nothing(tmp_path: Path, posts: Path) -> None:
    posts.write_text(posts.read_text() + "not json\n")
    with small_workspace(tmp_path) as workspace:
        work = Batch(workspace, posts)
        work.run(3)
        counts, dollars = work.counts()
        assert (counts, dollars) == ({"done": len(FEW), "not usable": 1}, 0.0)
        assert [row["post"] for row in work.some("done", 2, 0)] == [post_about(topic) for topic in FEW[:2]]
        cases = [workspace.cases.get(str(row["case_id"])) for row in work.results() if row["case_id"]]
        assert len({case.id for case in cases}) == len(FEW)
        assert all(case.evidence and case.draft and case.decision is None for case in cases)
        assert "not usable" in [row["state"] for row in work.results() if row["reason"]]
        Batch(workspace, posts).run(3)
        assert workspace.cases.count() == len(FEW)


def test_a_row_whose_note_is_only_inferred_says_so(
    tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Draft, "is_inferred", lambda *_: True)
    with small_workspace(tmp_path) as workspace:
        work = Batch(workspace, posts)
        work.run(3)
        assert {(row["state"], row["reason"]) for row in work.results()} == {("done", f"{INFERRED}.")}


def test_rows_that_fail_alike_stop_the_batch_which_goes_on_when_that_is_mended(
    tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts.write_text("".join(json.dumps({"text": f"{post_about('kettle')} {number}"}) + "\n" for number in range(6)))
    with small_workspace(tmp_path) as workspace:
        monkeypatch.setattr(workspace.store, "add", _full)
        why = "5 rows in a row failed for the same reason: The disk is full. Fix that, then try"
        with pytest.raises(JobError, match=why):
            Batch(workspace, posts).run(2)
        monkeypatch.undo()
        work = Batch(workspace, posts)
        assert work.counts()[0] == {"failed": 5, "waiting": 1}
        work.retry_failed()
        work.run(2)
        assert work.counts()[0] == {"done": 6}


class QuotingEngine(TopicEngine):
    """As without a language model: it offers sentences and writes no note."""

    def write(self, brief: Brief, evidence: Sequence[Evidence], *_: object, **__: object) -> WriterAnswer:
        sentence = Quotation(evidence_id=evidence[0].id, span=Span(start=0, end=9))
        return WriterAnswer(abstained="No model is in use.", quotations=(sentence,))


class _Service:
    """A search service that finds nothing, or fails."""

    needs = None
    at_once = 1
    most_queries = 5

    def __init__(self, name: str, *, fails: bool = True) -> None:
        self.name, self.label, self.fails = name, name.title(), fails

    def search(self, *_: object, **__: object) -> list[Hit]:
        if self.fails:
            raise SearchError("It cannot be reached from here.", ProviderState.FAILED)
        return []


def _searching(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, *services: _Service) -> Workspace:
    """The workspace without a library, with these services alone."""
    for library in workspace.libraries.list():
        workspace.libraries.remove(library.name)
    context = replace(workspace.stage_context, providers=lambda _: services)
    monkeypatch.setattr(Workspace, "services_at_first", lambda _: [service.name for service in services])
    return replace(workspace, stage_context=context, stages=StageRunner(workspace.cases, context))


@pytest.mark.parametrize("rows", [1, len(FEW), 9])
def test_without_a_connection_the_batch_pauses_and_its_rows_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    posts = tmp_path / "posts.jsonl"
    posts.write_text("".join(json.dumps({"text": post_about(topic)}) + "\n" for topic in TOPICS[:rows]))
    with small_workspace(tmp_path) as opened:
        services = _Service("near"), _Service("far")
        workspace = _searching(opened, monkeypatch, *services)
        work = Batch(workspace, posts)
        wait = "1 post waits" if rows == 1 else f"{rows} posts wait"
        with pytest.raises(JobError, match=rf"^None of the 2 places to search could be reached\. {wait}\. Check the"):
            work.run(2)
        assert work.counts()[0] == {"waiting": rows}
        for service in services:
            service.fails = False
        work.run(2)
        assert work.counts()[0] == {"no note": rows}
        assert {row["reason"] for row in work.results()} == {"No note: nothing was found."}


def test_a_row_of_which_one_search_was_answered_does_not_hide_that_there_is_no_connection(
    tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_workspace(tmp_path) as opened:
        near, *far = _Service("near"), _Service("far"), _Service("farther")
        workspace = _searching(opened, monkeypatch, near, *far)
        begin = type(workspace).start

        def start(self: Workspace, case_id: str, kind: str) -> object:
            near.fails = workspace.cases.get(case_id).post.text != post_about(FEW[3])
            return begin(self, case_id, kind)

        monkeypatch.setattr(type(workspace), "start", start)
        work = Batch(workspace, posts)
        with pytest.raises(JobError, match=r"^14 of 15 searches failed\. 5 posts wait\."):
            work.run(1)
        assert work.counts()[0] == {"waiting": 5}


def test_a_row_that_found_nothing_as_searches_failed_is_not_done_and_is_tried_again_where_one_searches_now(
    tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts.write_text(posts.read_text().split("\n", 1)[0])
    with small_workspace(tmp_path) as opened:
        answering = _Service("near", fails=False), _Service("nearer", fails=False)
        workspace = _searching(opened, monkeypatch, *answering, _Service("far"))
        work = Batch(workspace, posts)
        work.run(1)
        (row,) = work.results()
        assert (row["state"], row["reason"]) == ("failed", "No note: 1 of 3 searches failed.")
        assert row["post"] == post_about(FEW[0])
        opened.libraries.add(make_library(tmp_path), "topics")
        monkeypatch.undo()
        monkeypatch.setenv("CROWDNOTES_SEARCH_SERVICES", "[]")
        work = Batch(opened, posts)
        work.retry_failed()
        work.run(1)
        (again,) = work.results()
        assert (again["state"], again["case_id"]) == ("done", row["case_id"])
        assert opened.cases.get(again["case_id"]).libraries == ("topics",)


def test_the_same_places_are_searched_again_where_one_did_not_answer(
    tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts.write_text(posts.read_text().split("\n", 1)[0])
    with small_workspace(tmp_path) as opened:
        far = _Service("far")
        workspace = _searching(opened, monkeypatch, _Service("near", fails=False), far)
        work = Batch(workspace, posts)
        work.run(1)
        far.fails = False
        work.retry_failed()
        work.run(1)
        assert work.counts()[0] == {"no note": 1}


def test_a_deleted_case_says_who_deleted_it_and_is_not_made_again(tmp_path: Path, posts: Path) -> None:
    with small_workspace(tmp_path) as workspace:
        work = Batch(workspace, posts)
        work.run(3)
        case_id = str(next(iter(work.results()))["case_id"])
        workspace.cases.delete(case_id)
        work.retry_failed()
        work.run(3)
        assert work.counts()[0] == {"deleted": 1, "done": len(FEW) - 1}
        (row,) = work.some("deleted", 9, 0)
        assert (row["reason"], row["case_id"], row["post"]) == ("You deleted this case.", None, "")
        colleague = workspace.acting_as(lambda: actor("bob", Role.ADMIN))
        (row,) = Batch(colleague, work.id).some("deleted", 9, 0)
        assert row["reason"] == f"{workspace.actor.name} deleted this case."


def test_the_results_have_the_first_words_of_each_post(tmp_path: Path) -> None:
    (tmp_path / "posts.jsonl").write_text(
        "".join(json.dumps({"text": text}) + "\n" for text in ('Say "é" \\ 🎈.', "🎈" * 9_000, "Two\nlines"))
    )
    with small_workspace(tmp_path) as workspace:
        first, second, third = Batch(workspace, tmp_path / "posts.jsonl").results()
        assert (first["post"], third["post"]) == ('Say "é" \\ 🎈.', "Two lines")
        assert set(second["post"]) == {"🎈", "…"}


def test_without_a_language_model_sentences_to_quote_are_what_a_row_can_give(tmp_path: Path, posts: Path) -> None:
    with small_workspace(tmp_path, engine=QuotingEngine()) as workspace:
        work = Batch(workspace, posts)
        work.run(3)
        assert {row["reason"] for row in work.some("done", 9, 0)} == {"Sentences to quote; the note is yours to write."}


def _full(*_: object) -> None:
    raise InputError("The disk is full.")


def _costly(workspace: Workspace, monkeypatch: pytest.MonkeyPatch, each: float) -> None:
    """A model at most a dollar a case, of which each takes some."""
    monkeypatch.setattr(type(workspace.engine), "uses_language_model", True)
    monkeypatch.setattr(Case, "used", property(lambda _: Usage(calls=1, dollars=each)))


@pytest.mark.parametrize(("bounds", "most"), [({"budget": 2.0}, 3), ({"day_budget": 1.0}, 1)])
def test_no_row_begins_that_could_pass_the_budget(
    tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch, bounds: dict[str, Any], most: int
) -> None:
    with small_workspace(tmp_path) as workspace:
        _costly(workspace, monkeypatch, 0.5)
        work = Batch(workspace, posts, **bounds)
        monkeypatch.setattr(type(workspace.engine), "uses_language_model", False)
        with pytest.raises(JobError, match="is not enough for another case"):
            work.run(2)
        counts, dollars = work.counts()
        assert counts["done"] == most
        assert dollars == 0.5 * most
        again = Batch(workspace, posts)
        again.run(2)
        assert again.counts()[0] == {"done": len(FEW)}


@pytest.mark.deep
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # that is the kill
def test_a_kill_behind_the_making_of_a_case_makes_no_second_one(
    tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_workspace(tmp_path) as workspace:
        add = workspace.store.add

        def killed(*args: Any) -> None:
            add(*args)
            raise SystemExit

        with monkeypatch.context() as patch:
            patch.setattr(workspace.store, "add", killed)
            with pytest.raises(JobError, match="stopped"):
                Batch(workspace, posts).run(1)
        assert workspace.cases.count() == 1
        work = Batch(workspace, posts)
        work.run(3)
        assert work.counts()[0] == {"done": len(FEW)}
        assert workspace.cases.count() == len(FEW)


def test_a_file_is_worked_on_once_at_a_time(tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with small_workspace(tmp_path) as workspace:
        begun, add = threading.Semaphore(0), workspace.store.add
        released, failed = threading.Event(), list[str]()

        def add_slowly(*args: Any) -> Case:
            begun.release()
            assert released.wait(PATIENCE)
            return add(*args)

        monkeypatch.setattr(workspace.store, "add", add_slowly)
        first = threading.Thread(target=Batch(workspace, posts).run, args=[2])
        first.start()
        assert begun.acquire(timeout=PATIENCE)
        try:
            Batch(workspace, posts).run(2)
        except JobError as error:
            failed.append(error.message)
        finally:
            released.set()
            first.join(PATIENCE)
        assert failed == ["Another process is working on this file."]
        assert workspace.cases.count() == len(FEW)


def test_whoever_lost_a_batch_begins_no_row_more(tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with small_workspace(tmp_path) as workspace:
        work, add = Batch(workspace, posts), workspace.store.add

        def taken_over(*args: Any) -> Case:
            with writing(workspace.runner.engine) as connection:
                connection.execute(update(jobs).where(jobs.c.case_id == work.id).values(under_way=False))
            return add(*args)

        monkeypatch.setattr(workspace.store, "add", taken_over)
        with pytest.raises(JobError, match="stopped"):
            work.run(4)
        assert workspace.cases.count() == 1


def test_a_budget_without_a_price_is_refused_at_the_start_and_stops_later(
    tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_workspace(tmp_path) as workspace:
        _costly(workspace, monkeypatch, 0.0)
        unheard = replace(workspace, choice=EngineChoice("https://models.example/v1", "unheard-of"))
        with pytest.raises(InputError, match="do not know the model's price"):
            Batch(unheard, posts, budget=2.0)
        work = Batch(workspace, posts, budget=50.0)
        monkeypatch.setattr(type(workspace.engine), "uses_language_model", False)
        monkeypatch.setattr(Case, "used", property(lambda _: Usage(calls=1, unpriced=1)))
        with pytest.raises(JobError, match="do not know the model's price"):
            work.run(1)
        counts, dollars = work.counts()
        assert counts == {"done": 1, "waiting": len(FEW) - 1}
        assert dollars == workspace.settings.llm.budget_dollars


def test_a_budget_that_runs_out_within_a_row_fails_it_with_a_sentence_and_it_goes_on_with_more(
    tmp_path: Path, posts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    posts.write_text(posts.read_text().split("\n", 1)[0])
    server = LLMServer(honest)
    monkeypatch.setenv("CROWDNOTES_LLM_MODEL", "large")
    monkeypatch.setenv("CROWDNOTES_LLM_DOLLARS_PER_MILLION_INPUT", "1000")
    monkeypatch.setenv("CROWDNOTES_LLM_DOLLARS_PER_MILLION_OUTPUT", "1000")
    put_tables(tmp_path / "crowdnotes.sqlite")
    with server.running():
        monkeypatch.setenv("CROWDNOTES_LLM_BASE_URL", server.base_url)
        for dollars, state in (("4", "failed"), ("8", "done")):
            monkeypatch.setenv("CROWDNOTES_LLM_BUDGET_DOLLARS", dollars)
            settings = load_settings().replace(data_dir=tmp_path)
            with open_workspace(settings, embedder=HashingEmbedder(), links=LiveLinks()) as workspace:
                if not workspace.libraries.list():
                    workspace.libraries.add(make_library(tmp_path), "topics")
                work = Batch(workspace, posts, budget=1_000.0)
                work.retry_failed()
                work.run(1)
                (row,) = work.results()
                assert row["state"] == state
                assert 0 < row["dollars"] <= float(dollars)
                assert ("could pass the case's budget" in row["reason"]) == (state == "failed")
