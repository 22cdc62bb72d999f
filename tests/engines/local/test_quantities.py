"""Numbers and what they count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdnotes.engines.local.quantities import quantities


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,000 mg", (1000.0, "mg")),
        ("1 000 mg", (1000.0, "mg")),
        ("one thousand milligrams", (1000.0, "mg")),
        ("38 percent", (38.0, "%")),
        ("38%", (38.0, "%")),
        ("thirty-eight per cent", (38.0, "%")),
        ("two hundred and fifty-one mg", (251.0, "mg")),
        ("three hundred thousand mg", (300_000.0, "mg")),
        ("two and a half years", (2.5, "year")),
        ("1.5 million", (1_500_000.0, "")),
        ("half", (0.5, "")),
        ("25 years", (25.0, "year")),
        ("10^6 people", (1_000_000.0, "people")),
        ("3.5 × 10^−2 mg", (0.035, "mg")),
        ("£3m", (3_000_000.0, "pound")),
        ("US$3 million", (3_000_000.0, "dollar")),
        ("3tn €", (3e12, "euro")),
        ("5 m^3", (5.0, "metre")),
        ("98.6 ° F", (98.6, "°f")),
        ("37 degrees Celsius", (37.0, "°c")),
        ("2 sq. miles", (2.0, "sq mile")),
        ("2 km²", (2.0, "km²")),
        ("two inches", (2.0, "inch")),
    ],
)
def test_ways_of_writing_a_number_are_one(text: str, expected: tuple[float, str]) -> None:
    (found,) = quantities(text)
    assert (found.value, found.unit) == expected


def test_two_spelled_numbers_are_two() -> None:
    assert [found.value for found in quantities("from two hundred and three hundred")] == [200.0, 300.0]


@pytest.mark.parametrize("text", ["COVID-19", "B12", "one of the causes", "no number"])
def test_names_and_pronouns_are_not_numbers(text: str) -> None:
    assert quantities(text) == []


@given(st.integers(0, 999_999_999))
def test_digit_groups_do_not_change_a_value(value: int) -> None:
    (plain,), (grouped,) = quantities(f"{value} people"), quantities(f"{value:,} people")
    assert plain.agrees_with(grouped)


@given(st.text(max_size=200))
def test_a_quantity_starts_where_it_stands(text: str) -> None:
    for found in quantities(text):
        assert text[found.start : found.end] == found.text


def test_a_measure_must_agree() -> None:
    (dose,), (other,), (people,) = quantities("5 mg"), quantities("5 %"), quantities("5 people")
    assert not dose.agrees_with(other)
    assert not people.agrees_with(other)
