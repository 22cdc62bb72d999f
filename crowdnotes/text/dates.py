"""Dates as tables, services and papers write them. Unsure means None: a guessed date would mislead the reader."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from functools import partial

_ISO_DATE_PATTERN = re.compile(r"(\d{4})(-?)(\d{2})\2(\d{2})(?:$|[T\s])")
_ENGLISH_DATE_FORMATS = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%Y/%m/%d")
_MAX_DATE_CHARACTERS = 64  # characters; no date is longer
# Names and usual abbreviations in English, German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish,
# Norwegian, Polish, Russian, Turkish and Arabic.
_MONTH_NAMES = (
    "january jan januar jänner jän janvier janv enero ene gennaio gen genn janeiro januari stycznia января ocak يناير",
    "february feb februar feber février fevrier févr fév fevr febrero febbraio febbr fevereiro fev "
    "februari lutego февраля şubat فبراير",
    "march mar märz maerz mär mrz mars marzo março maart mrt marts marca марта mart مارس",
    "april apr avril avr abril abr aprile kwietnia апреля nisan أبريل ابريل",
    "may mai mayo maggio mag magg maio mei maj maja мая mayıs مايو",
    "june jun juni juin junio giugno giu junho czerwca июня haziran يونيو",
    "july jul juli juillet juil julio luglio lug julho lipca июля temmuz يوليو",
    "august aug août aout agosto ago augustus augusti sierpnia августа ağustos أغسطس اغسطس",
    "september sept sep septembre septiembre setiembre set settembre sett setembro września сентября eylül سبتمبر",
    "october oct oktober okt octobre octubre ottobre ott outubro out października октября ekim أكتوبر اكتوبر",
    "november nov novembre noviembre novembro listopada ноября kasım نوفمبر",
    "december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro grudnia декабря aralık ديسمبر",
)
_NUMBER_BY_MONTH = {name: number for number, names in enumerate(_MONTH_NAMES, start=1) for name in names.split()}


def parse_date(value: object) -> date | None:
    """Return a date from a date, a datetime, ISO 8601, RFC 2822 or an English written date; else None.

    "03/04/2020" is None: it is March to some and April to others.
    """
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    text = value.strip()[:_MAX_DATE_CHARACTERS] if isinstance(value, str) else ""
    iso = _ISO_DATE_PATTERN.match(text)
    readers: list[Callable[[str], date]] = [
        partial(_parse_with_format, pattern=pattern) for pattern in _ENGLISH_DATE_FORMATS
    ]
    readers = [lambda _: date(int(iso[1]), int(iso[3]), int(iso[4]))] if iso else [*readers, _parse_rfc_2822]
    for read in readers:
        with suppress(ValueError, IndexError, OverflowError):
            return read(text)
    return None


def _parse_with_format(text: str, pattern: str) -> date:
    return datetime.strptime(text, pattern).date()  # noqa: DTZ007 - a day alone has no zone


def _parse_rfc_2822(text: str) -> date:
    return parsedate_to_datetime(text).date()


def parse_http_date(header: str) -> datetime | None:
    """Return the moment that a Date or Retry-After header names (RFC 9110, 5.6.7); None where it names none."""
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def month_number(text: str) -> int | None:
    """Return 1 to 12 from "03", "3", "Mar." or "March", in fourteen languages; else None."""
    text = text.strip().lower().removesuffix(".")
    if text.isascii() and text.isdigit():
        return int(text) if len(text) <= 2 and 1 <= int(text) <= 12 else None
    return _NUMBER_BY_MONTH.get(text)


def settle(year: int | None, month: int | None, day: int | None, registered: Iterable[date] = ()) -> date | None:
    """Return the day, where one is named; else the first day on which the record is known to have existed within
    the month or year named; else None, because a guessed day would mislead.
    """
    if year is None:
        return None
    if month is not None and day is not None:
        return _date_or_none(year, month, day)
    within = (known for known in registered if known.year == year and month in (None, known.month))
    return min(within, default=None)


def first_day(year: int | None, month: int | None) -> date | None:
    """Return the first day of the month or year named; None when neither is, or there is no such day."""
    return None if year is None else _date_or_none(year, month or 1, 1)


def _date_or_none(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except (ValueError, OverflowError):
        return None
