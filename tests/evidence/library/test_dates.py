from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.evidence.library.dates import parse_date


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


@pytest.mark.parametrize("value", ["03/04/2020", "2020", "2020-13-40", "yesterday", "", None, 5, "0000-00-00"])
def test_an_unclear_date_is_none(value: object) -> None:
    assert parse_date(value) is None


@given(st.text())
def test_any_text_is_a_date_or_none(text: str) -> None:
    assert parse_date(text) is None or isinstance(parse_date(text), date)
