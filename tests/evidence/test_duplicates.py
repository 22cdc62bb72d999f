from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.evidence.duplicates import fingerprint, normalised, shingles, without_near_duplicates

LONG = " ".join(f"word{i}" for i in range(100))


def test_case_punctuation_and_spacing_make_no_difference() -> None:
    assert fingerprint("Heart  attack!") == fingerprint("heart attack")
    assert fingerprint("a", "b") != fingerprint("a b", "")
    assert normalised("ＡＢＣ, def") == "abc def"


def test_a_near_copy_goes_and_the_first_stays() -> None:
    near = LONG.replace("word50", "changed")
    assert without_near_duplicates([LONG, near, "something else entirely here"], str) == [
        LONG,
        "something else entirely here",
    ]


def test_texts_on_the_same_subject_both_stay() -> None:
    texts = ["Measles is caused by a virus that spreads.", "Measles is prevented by a vaccine that is safe."]
    assert without_near_duplicates(texts, str) == texts


def test_it_stops_at_the_limit() -> None:
    assert without_near_duplicates(["one thing", "two things", "three things"], str, 2) == ["one thing", "two things"]


@given(st.lists(st.text()))
def test_no_two_that_stay_are_near_and_a_second_pass_changes_nothing(texts: list[str]) -> None:
    kept = without_near_duplicates(texts, str)
    assert without_near_duplicates(kept, str) == kept
    if texts:
        assert kept[0] == texts[0]


@given(st.text(max_size=200), st.text(max_size=200))
def test_a_near_copy_is_one_whichever_text_comes_first(a: str, b: str) -> None:
    sets = shingles(a), shingles(b)
    near = len(sets[0] & sets[1]) >= 0.8 * len(sets[0] | sets[1])
    assert len(without_near_duplicates([a, b], str)) == len(without_near_duplicates([b, a], str)) == (1 if near else 2)
