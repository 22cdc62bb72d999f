from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.evidence.library.search import WINDOW_CHARACTERS, best_window

FILLER = "The weather in the valley stayed mild. "
WEIGHTS = {"heart": 2.0, "vaccin": 3.0}


def test_the_sentence_deep_in_a_text_is_found() -> None:
    for times in (10, 2000):
        text = FILLER * times + "Vaccines spare the heart. " + FILLER * times
        window = best_window(text, WEIGHTS)
        assert "Vaccines spare the heart." in text[window.start : window.end]


def test_without_a_match_it_is_the_beginning() -> None:
    assert best_window(FILLER * 50, WEIGHTS).start == 0


def test_an_empty_text_has_an_empty_window() -> None:
    assert best_window("", WEIGHTS).end == 0


@given(st.text(), st.integers(1, 300), st.dictionaries(st.text(min_size=1, max_size=6), st.floats(0.1, 9), max_size=5))
def test_a_window_is_short_and_lies_in_the_text(text: str, times: int, weights: dict[str, float]) -> None:
    window = best_window(text * times, weights)
    assert 0 <= window.start <= window.end <= len(text) * times
    assert window.end - window.start <= WINDOW_CHARACTERS
