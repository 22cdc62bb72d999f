"""A date that names no day stays unsure, unless the record itself shows when it was there."""

from __future__ import annotations

from datetime import date

import pytest

from crowdnotes.evidence.search.partial_dates import first_day, month_number, settle


def test_a_full_date_is_itself_and_a_false_one_is_none() -> None:
    assert settle(2020, 2, 29) == date(2020, 2, 29)
    assert settle(2021, 2, 29) is None
    assert settle(None, None, None) is None


def test_a_partial_date_takes_the_first_day_known_within_it() -> None:
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
    ("text", "number"), [("Mar", 3), ("03", 3), ("december", 12), ("Spring", None), ("13", None), ("", None)]
)
def test_months_are_read_as_names_and_numbers(text: str, number: int | None) -> None:
    assert month_number(text) == number
