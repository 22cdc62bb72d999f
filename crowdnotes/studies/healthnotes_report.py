"""A run on HealthNotes as a whole: what it was run with, its table, and what a reader must know of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from crowdnotes.domain import Mode
from crowdnotes.studies.healthnotes_results import Outcome, PostResult, StudyOptions
from crowdnotes.studies.healthnotes_table import HalfRow, table_rows


@dataclass(frozen=True, slots=True)
class Report:
    """What the command shows: `wanted` is how many posts were asked for, `cautions` are sentences."""

    options: StudyOptions
    wanted: int
    results: tuple[PostResult, ...]
    rows: tuple[HalfRow, HalfRow, HalfRow]
    cautions: tuple[str, ...]


def make_report(options: StudyOptions, wanted: int, results: Sequence[PostResult], trained_on: int) -> Report:
    """The report of what is finished; `trained_on` of the posts were in the training data of the local judge."""
    return Report(options, wanted, tuple(results), table_rows(results), _cautions(options, wanted, results, trained_on))


def switches(options: StudyOptions) -> str:
    """The run in a few words: "automation, without query diversity"."""
    off = {"query diversity": options.query_diversity, "utility judgement": options.utility}
    without = [name for name, is_on in off.items() if not is_on]
    return options.mode.value + (f", without {' and '.join(without)}" if without else "")


def _cautions(options: StudyOptions, wanted: int, results: Sequence[PostResult], trained_on: int) -> tuple[str, ...]:
    found = [
        "Rates are of all posts, as in the paper: one without a note counts as failing every gate.",
        "The published figures were judged by GPT-4.1 and HealthJudge; this run by the engine that is named.",
    ]
    if len(results) < wanted:
        found.insert(0, f"Not finished: {len(results)} of {wanted} posts.")
    if trained_on:
        found.append(
            f"The local helpfulness judge was trained on {trained_on} of these posts, with the contributors' notes, so"
            " its verdicts here may follow the halves more closely than on new posts."
        )
    if options.mode is Mode.AUTOMATION:
        found.append("Evidence is of the day of the contributor's note or before; what has no date is left out.")
    found += [f"Library {name}: its undated records count as of {day}." for name, day in options.library_dates.items()]
    unread: Counter[str] = Counter()
    for result in results:
        unread.update(result.unread)
    if unread:
        counts = ", ".join(f"{count} {how}" for how, count in unread.most_common())
        found.append(f"Sources that were not read: {counts}.")
    silent = sorted({name for result in results for name in result.unanswered})
    if silent:
        posts = sum(bool(result.unanswered) for result in results)
        found.append(f"A search was not answered for {posts} of the posts: {', '.join(silent)}.")
    failed = sum(result.outcome is Outcome.FAILED for result in results)
    if failed:
        found.append(f"Could not be run: {failed} of the posts. The same command tries them again.")
    return tuple(found)
