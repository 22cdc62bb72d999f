"""Public data in today's official schema, made up, with answers that are known: to try the program and to test it.

Planted are a surge of posts on one day, how late notes and verdicts come, two camps of raters, raters of groups that
Core leaves out, and ratings that people drawn at random were asked for. Nothing in it is of
a person: ids are numbers in disguise, texts are put together from a few sentences.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv

from crowdnotes.bridging.columns import DAY_MS, ENROLMENT, HISTORY, HOUR_MS, NOTES, RATINGS, ColumnKind, TableSpec
from crowdnotes.bridging.public_scoring import CORE_GROUPS
from crowdnotes.domain import FrozenModel
from crowdnotes.errors import InputError
from crowdnotes.public_data.loading import snowflake

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
_LAST_DAY = date(2025, 6, 30)
_ROWS_PER_CHUNK = 500_000  # rows made at once
_RATER_SHARES = 0.5 ** np.arange(8)  # shares of the raters that a note may come to; the smaller, the busier
_SHARE_OF_FIRST_CAMP = 0.55
_GROUPS = (1, 2, 3, 6, 8, 9, 10, 11, 13, 14, 19, 4)  # of raters, in turn; Core leaves out the last
_SAMPLED_SHARE = 0.15  # of the ratings
_FIRST_NOTE_HOURS, _VERDICT_HOURS = 10.0, 7.0  # medians
_SURGE_FACTOR = 6  # times the usual posts of a day
_TAG_SHARES_BY_LEVEL = {
    2: {"helpfulClear": 0.5, "helpfulGoodSources": 0.6, "helpfulImportantContext": 0.4},
    1: {"helpfulClear": 0.3, "notHelpfulMissingKeyPoints": 0.3},
    0: {
        "notHelpfulIncorrect": 0.3,
        "notHelpfulSourcesMissingOrUnreliable": 0.4,
        "notHelpfulOpinionSpeculation": 0.3,
        "notHelpfulNoteNotNeeded": 0.3,
    },
}
_LEVEL_NAMES = pa.array(["NOT_HELPFUL", "SOMEWHAT_HELPFUL", "HELPFUL"])
# Language, and sentences; the first is the surge's alone.
_SAMPLE_SENTENCES = (
    ("en", "The measles outbreak began before the vaccination campaign, as the health department of the state says."),
    ("en", "The vaccine was tested in a trial with 40,000 people, and its side effects are listed by the FDA."),
    ("en", "This is a photo of a hospital in 2016, and it has nothing to do with the events of this week."),
    ("en", "Raw milk can carry bacteria that make people ill; it is not a cure for any disease, the CDC says."),
    ("en", "The video was made in a game, and it does not show the war. The account that posted it is a parody."),
    ("en", "The quote is not in the speech of the senator, as the full recording of it shows."),
    ("en", "The chart leaves out the years before 2019, so that the rise of prices looks larger than it was."),
    ("es", "La imagen es de una manifestación de otro país y no tiene nada que ver con lo que dice la publicación."),
    ("ja", "この画像は二〇一九年に撮影されたもので、今回の地震とは関係がありません。"),
)


class Planted(FrozenModel):
    """The answers. Delays are hours at 25, 50, 75 and 90 percent, of the posts and notes as they were drawn.

    first_camp: raters 0 to first_camp - 1 are one camp, the rest the other; `rater_id` gives their ids.
    """

    notes: int
    posts: int
    ratings: int
    raters: int
    surge_day: date
    surge_posts: int
    surge_word: str
    first_note_hours: tuple[float, ...]
    verdict_hours: tuple[float, ...]
    never_left_share: float
    first_camp: int


def rater_id(number: int) -> str:
    """Return the id of a rater, in the form of the public data."""
    return f"{(number + 1) * 0x9E3779B97F4A7C15 % 2**64:016X}" * 4


def make_public_data(
    out: Path,
    *,
    notes: int,
    ratings: int,
    days: int = 120,
    shards: int = 1,
    seed: int = 0,
    raters: int | None = None,
    zipped: bool = False,
) -> Planted:
    """Write notes, ratings (in shards), status history and enrolment into a folder; ratings zipped if wished.

    notes: at least 100; ratings: at least as many. days: over which posts come, at least 60. raters: at least 60; None
    for as many as suit the ratings. Raises InputError for less, and for a folder that cannot be written.
    """
    raters = max(60, round(ratings**0.5 * 6)) if raters is None else raters
    if notes < 100 or ratings < notes or days < 60 or raters < 60:
        raise InputError(
            "Too little to plant anything in.", "Take 100 notes, as many ratings, 60 days and 60 raters at least."
        )
    chance = np.random.default_rng(seed)
    world = _make_notes(chance, notes, ratings, raters, days)
    try:
        out.mkdir(parents=True, exist_ok=True)
        _write_table(NOTES, out / "notes-00000.tsv", world["notes"])
        _write_table(HISTORY, out / "noteStatusHistory-00000.tsv", world["history"])
        _write_table(ENROLMENT, out / "userEnrollment-00000.tsv", _make_enrolment(raters))
        _write_ratings(out, world, seed, raters, shards, "zip" if zipped else "tsv")
    except OSError as error:
        raise InputError(f"{out} cannot be written ({error.strerror}).", "Choose another folder.") from error
    planted: Planted = world["planted"]
    return planted


def _make_notes(chance: np.random.Generator, notes: int, ratings: int, raters: int, days: int) -> dict[str, Any]:
    posts = round(notes * 0.8)
    surge = days - 20
    usual = posts / (days + _SURGE_FACTOR - 1)
    extra = round(usual * (_SURGE_FACTOR - 1))
    day = np.concatenate((np.full(extra, surge), chance.integers(0, days, posts - extra)))
    begin = datetime(_LAST_DAY.year, _LAST_DAY.month, _LAST_DAY.day, tzinfo=UTC) - timedelta(days=days - 1)
    posted = int(begin.timestamp() * 1000) + day * DAY_MS + chance.integers(0, DAY_MS, posts)
    post_ids = snowflake(posted) + np.arange(posts) % 4096  # of two in one millisecond the last bits differ
    first_delay = np.exp(chance.normal(np.log(_FIRST_NOTE_HOURS), 1.2, posts))
    first_note = posted + (first_delay * HOUR_MS).astype(np.int64)
    post = np.concatenate((np.arange(posts), chance.integers(0, posts, notes - posts)))
    later = np.concatenate((np.zeros(posts), chance.exponential(6 * HOUR_MS, notes - posts) + 1)).astype(np.int64)
    written = first_note[post] + later
    note_ids = snowflake(written) + np.arange(notes) % 4096
    text = chance.choice(np.arange(1, len(_SAMPLE_SENTENCES)), posts)
    text[:extra] = 0
    worth, side = chance.normal(0.1, 0.25, notes), chance.normal(0, 0.4, notes)
    counts = _draw_rating_counts(chance, notes, ratings, raters)
    many, mild = counts >= 8, np.abs(side) < 0.45
    helpful, not_helpful = many & mild & (worth > 0.3), many & (worth < -0.15)
    decided = helpful | not_helpful
    verdict_delay = np.exp(chance.normal(np.log(_VERDICT_HOURS), 1.0, notes))
    verdict = np.where(decided, written + (verdict_delay * HOUR_MS).astype(np.int64), -1)
    status = np.where(helpful, "CURRENTLY_RATED_HELPFUL", np.where(not_helpful, "CURRENTLY_RATED_NOT_HELPFUL", ""))
    now = np.where(decided, status, "NEEDS_MORE_RATINGS")
    first_verdict = np.full(posts, np.iinfo(np.int64).max)
    np.minimum.at(first_verdict, post[decided], verdict[decided])
    has = first_verdict < np.iinfo(np.int64).max
    author = np.array([rater_id(number) for number in range(min(raters, 1000))], dtype=object)
    who = author[chance.integers(0, len(author), notes)]
    at_percent = (25, 50, 75, 90)
    planted = Planted(
        notes=notes,
        posts=posts,
        ratings=int(counts.sum()),
        raters=raters,
        surge_day=(begin + timedelta(days=surge)).date(),
        surge_posts=int(np.count_nonzero(day == surge)),
        surge_word="measles",
        first_note_hours=tuple(np.percentile((first_note - posted) / HOUR_MS, at_percent).tolist()),
        verdict_hours=tuple(np.percentile((first_verdict - first_note)[has] / HOUR_MS, at_percent).tolist()),
        never_left_share=float(np.mean(~decided)),
        first_camp=round(raters * _SHARE_OF_FIRST_CAMP),
    )
    sentences = np.array([sentence for _, sentence in _SAMPLE_SENTENCES], dtype=object)
    links = np.array([f" https://example.org/{number}" for number in range(500)], dtype=object)
    return {
        "planted": planted,
        "note_ids": note_ids,
        "written": written,
        "post_ids": post_ids[post],
        "counts": counts,
        "worth": worth,
        "side": side,
        "notes": {
            "noteId": note_ids,
            "noteAuthorParticipantId": who,
            "createdAtMillis": written,
            "tweetId": post_ids[post],
            "classification": np.full(notes, "MISINFORMED_OR_POTENTIALLY_MISLEADING", dtype=object),
            "misleadingFactualError": np.ones(notes, dtype=np.int8),
            "trustworthySources": np.ones(notes, dtype=np.int8),
            "summary": sentences[text[post]] + links[chance.integers(0, len(links), notes)],
        },
        "history": {
            "noteId": note_ids,
            "noteAuthorParticipantId": who,
            "createdAtMillis": written,
            "timestampMillisOfFirstNonNMRStatus": verdict,
            "firstNonNMRStatus": status.astype(object),
            "timestampMillisOfCurrentStatus": np.where(decided, verdict, written + HOUR_MS),
            "currentStatus": now.astype(object),
            "timestampMillisOfLatestNonNMRStatus": verdict,
            "mostRecentNonNMRStatus": status.astype(object),
            "currentDecidedBy": np.full(notes, "CoreModel (v1.1)", dtype=object),
        },
    }


def _draw_rating_counts(chance: np.random.Generator, notes: int, ratings: int, raters: int) -> Integers:
    """Return how many ratings each note gets: few many, many few, at least one, and no rater twice."""
    share = np.exp(chance.normal(0, 1.3, notes))
    counts = np.minimum(1 + (share / share.sum() * (ratings - notes)).astype(np.int64), raters)
    return np.asarray(counts, dtype=np.int64)


def _write_ratings(out: Path, world: dict[str, Any], seed: int, raters: int, shards: int, suffix: str) -> None:
    chance = np.random.default_rng((seed, 1))
    counts: Integers = world["counts"]
    viewpoint = chance.uniform(0.3, 0.9, raters)
    viewpoint[: world["planted"].first_camp] *= -1
    kindness = chance.normal(0, 0.1, raters)
    ids = pa.array([rater_id(number) for number in range(raters)])
    order = chance.permutation(raters)  # the first in it are the busiest
    reaches = np.maximum(1, raters * _RATER_SHARES).astype(np.int64)
    steps = chance.integers(1, raters, 4_000)  # long steps: raters who are near in the order meet no more often
    strides = steps[np.all(np.gcd.outer(steps, reaches) == 1, axis=1)]
    for shard, part in enumerate(np.array_split(np.arange(len(counts)), shards)):
        chance = np.random.default_rng((seed, 2, shard))
        with _open_table_writer(RATINGS, out / f"ratings-{shard:05}.{suffix}") as write:
            ends = counts[part].cumsum()
            for few in np.split(part, np.searchsorted(ends, np.arange(_ROWS_PER_CHUNK, ends[-1], _ROWS_PER_CHUNK))):
                if len(few):
                    write(_make_ratings(world, few, chance, (viewpoint, kindness), (ids, order), (reaches, strides)))


def _make_ratings(
    world: dict[str, Any],
    few: Integers,
    chance: np.random.Generator,
    people: tuple[Floats, Floats],
    raters: tuple[pa.Array, Integers],
    rounds: tuple[Integers, Integers],
) -> dict[str, Any]:
    """Return the ratings of a few notes: each goes round the raters from somewhere, by some step, so none comes twice.

    raters: ids, and their order. rounds: how many of the order a note may go round, and the steps.
    """
    (viewpoint, kindness), (ids, order), (reaches, strides) = people, raters, rounds
    counts = world["counts"][few]
    note = np.repeat(few, counts)
    nth = np.arange(len(note)) - np.repeat(counts.cumsum() - counts, counts)
    reach = chance.choice(reaches, len(few))
    reach = np.where(reach < counts, len(order), reach)
    place = np.repeat(chance.integers(0, reach), counts) + nth * np.repeat(chance.choice(strides, len(few)), counts)
    rater = order[place % np.repeat(reach, counts)]
    value = 0.35 + world["worth"][note] + world["side"][note] * viewpoint[rater] + kindness[rater]
    level = np.clip(np.round((value + chance.normal(0, 0.15, len(note))) * 2), 0, 2).astype(np.int64)
    columns: dict[str, Any] = {
        "noteId": world["note_ids"][note],
        "raterParticipantId": ids.take(pa.array(rater)),
        "createdAtMillis": world["written"][note] + chance.exponential(20 * HOUR_MS, len(note)).astype(np.int64) + 1,
        "version": np.full(len(note), 2),
        "helpfulnessLevel": _LEVEL_NAMES.take(pa.array(level)),
        "ratedOnTweetId": world["post_ids"][note],
    }
    luck = chance.random(len(note), dtype=np.float32)
    columns["ratingSourceBucketed"] = np.where((luck * 97) % 1 < _SAMPLED_SHARE, "POPULATION_SAMPLED", "DEFAULT")
    for place, (of_level, tag, share) in enumerate(
        (of_level, tag, share) for of_level, tags in _TAG_SHARES_BY_LEVEL.items() for tag, share in tags.items()
    ):
        ticked = (level == of_level) & ((luck * (7 + place)) % 1 < share)
        columns[tag] = ticked | columns[tag] if tag in columns else ticked
    return columns


def _make_enrolment(raters: int) -> dict[str, Any]:
    group = np.array(_GROUPS)[np.arange(raters) % len(_GROUPS)]
    return {
        "participantId": np.array([rater_id(number) for number in range(raters)], dtype=object),
        "enrollmentState": np.where(np.arange(raters) % 50 == 0, "apiEarnedIn", "earnedIn").astype(object),
        "modelingPopulation": np.where(np.isin(group, CORE_GROUPS), "CORE", "EXPANSION").astype(object),
        "modelingGroup": group,
    }


def _write_table(spec: TableSpec, path: Path, columns: dict[str, Any]) -> None:
    with _open_table_writer(spec, path) as write:
        for first in range(0, len(next(iter(columns.values()))), _ROWS_PER_CHUNK):
            write({name: column[first : first + _ROWS_PER_CHUNK] for name, column in columns.items()})


@contextmanager
def _open_table_writer(spec: TableSpec, path: Path) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Open a TSV of the official columns, or a zip of it; a missing one is 0 for a flag, else empty."""
    options = csv.WriteOptions(include_header=False, delimiter="\t", quoting_style="none")

    def write(columns: dict[str, Any]) -> None:
        rows = len(next(iter(columns.values())))
        empty, no = pa.repeat("", rows), pa.repeat("0", rows)
        table = {}
        for name, kind in spec.columns.items():
            given = pa.array(columns[name]) if name in columns else (no if kind is ColumnKind.FLAG else empty)
            table[name] = given.cast(pa.int8()) if pa.types.is_boolean(given.type) else given
        csv.write_csv(pa.table(table), stream, options)

    with ExitStack() as opened:
        if path.suffix == ".zip":
            archive = opened.enter_context(zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1))
            stream = opened.enter_context(archive.open(f"{path.stem}.tsv", "w", force_zip64=True))
        else:
            stream = opened.enter_context(path.open("wb"))
        stream.write(("\t".join(spec.columns) + "\n").encode())
        yield write
