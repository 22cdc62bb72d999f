"""The hand-written knowledge of who stands where."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.errors import ConfigurationError
from crowdnotes.jury.leanings import Match, Phrases, shipped_leanings, tokens_of

_WORDS = st.lists(st.sampled_from(["open", "border", "borders", "closed", "a"]), max_size=12)


def _found(phrases: dict[str, list[str]], text: str) -> list[Match]:
    return Phrases(phrases).find(tokens_of(text))


def test_the_longest_phrase_of_a_group_is_one_match() -> None:
    assert _found({"people": ["kennedy", "john kennedy"]}, "john kennedy spoke") == [Match("people", 0, 1)]


def test_two_groups_may_share_a_word() -> None:
    found = _found({"people": ["kennedy"], "places": ["kennedy airport"]}, "kennedy airport")
    assert set(found) == {Match("people", 0, 0), Match("places", 0, 1)}


def test_a_star_stands_for_any_ending() -> None:
    found = _found({"words": ["racis*"]}, "racist racism race")
    assert [match.first for match in found] == [0, 1]


def test_a_possessive_is_the_name() -> None:
    assert _found({"people": ["kennedy"]}, "kennedy's plan") == [Match("people", 0, 0)]
    assert _found({"words": ["women's sports"]}, "women's sports") == [Match("words", 0, 1)]


def test_a_stem_of_two_letters_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="too short"):
        Phrases({"words": ["ab*"]})


@given(_WORDS)
def test_single_words_are_found_as_often_as_they_stand_there(words: list[str]) -> None:
    found = _found({"words": ["border"], "stems": ["border*"]}, " ".join(words))
    assert sum(match.group == "words" for match in found) == words.count("border")
    assert sum(match.group == "stems" for match in found) == words.count("border") + words.count("borders")


@given(_WORDS)
def test_matches_of_one_group_never_overlap(words: list[str]) -> None:
    found = _found({"words": ["open border", "border", "open", "border open"]}, " ".join(words))
    assert all(one.last < other.first for one, other in pairwise(found))


def test_a_part_of_a_listed_host_leans_as_it_does() -> None:
    known = shipped_leanings()
    assert known.of_host("video.foxnews.com") == known.of_host("foxnews.com") == 2
    assert known.of_host("example.org") == 0


def test_no_name_is_on_both_sides_and_no_host_leans_twice() -> None:
    known = shipped_leanings()
    assert set(known.sides.values()) == {-1, 1}
    assert set(known.hosts.values()) == {-2, -1, 1, 2}
    assert not [name for name in known.accounts if name != name.lower() or " " in name]
