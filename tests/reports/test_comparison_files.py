"""Pairs of notes from files of every kind; what cannot be used is told with its line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.errors import InputError
from crowdnotes.reports.comparison_files import MOST_PAIRS, read_pairs
from crowdnotes.studies.bench.notes import pair_id, pairs
from tests.studies.test_notes import ROWS

HEAD = "Post;Supernote;Existing note\n"


FRENCH = "Café, déjà vu à Genève;Ça n’est pas vrai.;„Falsch“."
RUSSIAN = "Прививки вызывают болезнь;Нет, исследования этого не находят.;Это не так."


@pytest.mark.parametrize(
    ("encoding", "line"),
    [("utf-8", FRENCH), ("utf-8-sig", FRENCH), ("utf-16", FRENCH), ("cp1252", FRENCH), ("cp1251", RUSSIAN)],
)
def test_a_table_is_read_in_whatever_encoding(encoding: str, line: str) -> None:
    found = read_pairs("pairs.CSV", f"{HEAD}{line}\n".encode(encoding))
    assert found.names == ("Supernote", "Existing note")
    assert [[pair.post, pair.first, pair.second] for pair in found.pairs] == [line.split(";")]


def test_what_xs_files_escape_is_undone_in_both_notes_and_the_post() -> None:
    row = {"post": "A &amp; B  stay", "first": "“A” &lt; B", "second": "&quot;A&quot;"}
    (pair,) = read_pairs("x.json", json.dumps([row]).encode()).pairs
    assert (pair.post, pair.first, pair.second) == ("A & B  stay", "“A” < B", '"A"')


def test_the_pairs_of_bench_compare_are_read_and_nobody_knows_whose_is_whose() -> None:
    shown = pairs(ROWS)
    found = read_pairs("pairs.jsonl", "\n".join(pair.model_dump_json() for pair in shown).encode())
    assert found.sides_unknown
    assert [(pair.id, pair.first) for pair in found.pairs] == [(pair.pair, pair.left) for pair in shown]


def test_the_notes_of_a_bench_run_are_its_pairs_with_the_programs_note_first() -> None:
    silent = ROWS[0].replace(gates={})
    found = read_pairs("notes.jsonl", "\n".join(row.model_dump_json() for row in [silent, *ROWS[1:]]).encode())
    assert not found.sides_unknown
    assert {pair.first for pair in found.pairs} == {"No study found it. [link]"}
    assert [pair.id for pair in found.pairs] == [pair_id(row.note_id) for row in ROWS[1:]]


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("x.csv", "", "holds no pairs"),
        ("x.csv", HEAD, "holds no pairs"),
        ("x.xlsx", "PK", "is no table"),
        ("x.csv", "text,note\na,b\n", "no column with the post"),
        ("x.csv", "post,note\na,b\n", "no column with the notes"),
        ("x.csv", HEAD + "a;b\n", "Line 2 has 2 fields where the header has 3"),
        ("x.csv", HEAD + 'a;"b;c\n', "Line 2 is broken"),
        ("x.csv", HEAD + "a;b; \n", "Line 2 has nothing under “existing_note”"),
        ("x.csv", HEAD + "a;b;b\n", "Line 2 has the same note twice"),
        ("x.csv", HEAD + "a;b;c\na;b;c\n", "Line 3 repeats an earlier pair"),
        ("x.csv", HEAD + "a;b;" + "c" * 5_001, "Line 2 has 5,001 characters"),
        ("x.csv", HEAD + "".join(f"{n};b;c\n" for n in range(MOST_PAIRS + 1)), "1,001 pairs"),
        ("x.csv", HEAD + "a" * 5_000_001, "5,000,030 bytes"),
        ("x.jsonl", '{"post": "a"}\n{"post', "Line 2 is not whole JSON"),
        ("x.jsonl", "[]", "Line 1 is no object"),
        ("x.json", "{}", "holds no list"),
        ("x.json", "[" * 100_000, "Line 1 is not whole JSON"),
        ("x.jsonl", '{"note_id": "1", "post": "a", "human": "b", "outcome": "?"}', "Line 1 is no row that"),
    ],
)
def test_a_fault_is_a_sentence_with_its_line(name: str, text: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        read_pairs(name, text.encode())
    assert sentence in str(caught.value)


@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: (HEAD + text).encode(errors="replace")))
def test_whatever_a_file_holds_it_is_read_or_refused_in_words(content: bytes) -> None:
    for name in ("x.csv", "x.jsonl", "x.json"):
        try:
            found = read_pairs(name, content)
        except InputError:
            continue
        assert all(pair.post and pair.first != pair.second for pair in found.pairs)
