"""A date that names no day stays unsure, unless the record itself shows when it was there."""

from __future__ import annotations

from datetime import date

import pytest

from crowdnotes.evidence.search.partial_dates import begins_after, month_number, settle


def test_a_full_date_is_itself_and_a_false_one_is_none() -> None:
    assert settle(2020, 2, 29) == date(2020, 2, 29)
    assert settle(2021, 2, 29) is None
    assert settle(None, None, None) is None


def test_a_partial_date_takes_the_first_day_known_within_it() -> None:
    known = [date(2020, 6, 9), date(2020, 6, 5), date(2019, 1, 1)]
    assert settle(2020, 6, None, known) == date(2020, 6, 5)
    assert settle(2020, None, None, known) == date(2020, 6, 5)
    assert settle(2018, None, None, known) is None


def test_a_month_after_the_cutoff_is_known_to_be_too_late() -> None:
    until = date(2020, 6, 15)
    assert begins_after(2021, None, until)
    assert begins_after(2020, 7, until)
    assert not begins_after(2020, 6, until)
    assert not begins_after(2020, None, until)
    assert not begins_after(None, None, until)
    assert not begins_after(2021, None, None)


@pytest.mark.parametrize(
    ("text", "number"), [("Mar", 3), ("03", 3), ("december", 12), ("Spring", None), ("13", None), ("", None)]
)
def test_months_are_read_as_names_and_numbers(text: str, number: int | None) -> None:
    assert month_number(text) == number
