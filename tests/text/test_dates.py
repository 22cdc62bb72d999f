from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.text.dates import first_day, month_number, parse_date, settle


@pytest.mark.parametrize(
    "value",
    [
        date(2020, 3, 12),
        datetime(2020, 3, 12, 8, tzinfo=UTC),
        "2020-03-12",
        "2020-03-12T08:00:00Z",
        "12 March 2020",
        "Mar 12, 2020",
        "2020/03/12",
        "20200312",
        "Thu, 12 Mar 2020 08:00:00 GMT",
    ],
)
def test_a_clear_date_is_read(value: object) -> None:
    assert parse_date(value) == date(2020, 3, 12)


@pytest.mark.parametrize(
    "value", ["03/04/2020", "2020", "202003", "2020-13-40", "yesterday", "", None, 5, "0000-00-00"]
)
def test_an_unclear_date_is_none(value: object) -> None:
    assert parse_date(value) is None


@given(st.text())
def test_any_text_is_a_date_or_none(text: str) -> None:
    assert parse_date(text) is None or isinstance(parse_date(text), date)


def test_a_full_date_is_itself_a_false_one_none_and_a_partial_one_the_first_day_known_within_it() -> None:
    assert settle(2020, 2, 29) == date(2020, 2, 29)
    assert settle(2021, 2, 29) is None
    assert settle(None, None, None) is None
    known = [date(2020, 6, 9), date(2020, 6, 5), date(2019, 1, 1)]
    assert settle(2020, 6, None, known) == date(2020, 6, 5)
    assert settle(2020, None, None, known) == date(2020, 6, 5)
    assert settle(2018, None, None, known) is None


def test_the_first_day_that_a_partial_date_can_mean_is_known() -> None:
    assert first_day(2021, None) == date(2021, 1, 1)
    assert first_day(2020, 7) == date(2020, 7, 1)
    assert first_day(2020, 13) is None
    assert first_day(None, 7) is None


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Mar", 3),
        ("Sept.", 9),
        ("03", 3),
        ("december", 12),
        ("März", 3),
        ("août", 8),
        ("Spring", None),
        ("Marching", None),
        ("Outlook", None),
        ("13", None),
        ("", None),
    ],
)
def test_months_are_read_as_names_and_numbers(text: str, number: int | None) -> None:
    assert month_number(text) == number
