"""Measure whether an engine knows under which posts raters want a note; rivals are n-grams and "always write".

Posts whose words decide are measured separately from those that hang on a picture. A row's label is a language model's,
checked against ratings and sources: differences under 0.05 say nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field

from crowdnotes.domain import GateStatus, NoteWanted, Post, PrincipleName, text_sha256, time_of_id
from crowdnotes.engines import Engine
from crowdnotes.engines.local.queries import uncheckable_words
from crowdnotes.engines.metering import run_parallel
from crowdnotes.errors import EngineError, InputError
from crowdnotes.studies.data_files import read_rows
from crowdnotes.studies.measures import area_under_curve, bootstrap_auc, rounded, rounded_ends, wilson

_FORM = (
    'Each line is an object: {"post": "…", "needs_note": true or false}; "post_id", "no_note_reason", '
    '"depends_on_media" (true where a picture or film decides) and "original_note" are optional.'
)
LABELS = "a language model's reading of ratings and sources, or the maker's of made posts: no ground truth"
_LINE = 0.5  # of n-grams: as likely as not
_FOLDS, _REPEATS = 10, 3
_PENALTIES = (0.1, 1.0, 10.0, 100.0)  # scikit-learn's C, chosen on the other folds

Scores = npt.NDArray[np.float64]


class NeededRow(BaseModel):
    """One post; `no_note_reason` is why it needed none, as the data names it."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)

    post: str = Field(min_length=1)
    needs_note: bool
    post_id: str = ""
    no_note_reason: str = ""
    depends_on_media: bool = False
    original_note: str = ""

    @property
    def as_post(self) -> Post:
        """The post, dated by its number where that holds a date."""
        return Post(text=self.post, posted_at=time_of_id(int(self.post_id)) if self.post_id.isdecimal() else None)


def read_needed_rows(path: Path, *, with_pictures: bool = True, limit: int | None = None) -> list[NeededRow]:
    """Return the rows in an order that does not depend on their labels.

    Raises InputError with the line and what is wrong.
    """
    rows = [row for row in read_rows(path, NeededRow, _FORM) if with_pictures or not row.depends_on_media]
    if not rows:
        raise InputError(f"Every post of {path.name} hangs on a picture.", "Leave out --no-pictures.")
    return sorted(rows, key=lambda row: text_sha256(row.post))[:limit]


@dataclass(frozen=True, slots=True)
class Judged:
    """How likely a note is wanted, in [0, 1], whether the engine advises one, and its reason against one."""

    chance: float
    writes: bool
    named: str = ""


def judge_posts(
    engine: Engine, rows: Sequence[NeededRow], today: date, at_once: int, *, with_notes: bool = False
) -> list[Judged | None]:
    """Return what the engine says of each post before anything is searched; None where it could not be judged.

    A post is judged as on the day it was posted, where that is known. Without a language model the plain words of an
    opinion, a joke or a prediction are looked for. `with_notes`: as before approval, each with the note of its row.
    """
    judge: Callable[[Engine, NeededRow, date], Judged | None] = (
        _ask_about_note if with_notes else _ask_model if engine.uses_language_model else _look_for_words
    )
    found = run_parallel([partial(judge, engine, row, today) for row in rows], at_once)
    return [None if isinstance(item, EngineError) else item for item in found]


def _ask_model(engine: Engine, row: NeededRow, today: date) -> Judged | None:
    post = row.as_post
    plan = engine.plan(post, 0, post.posted_at.date() if post.posted_at else today)
    if plan.wanted is None:
        return None
    return _judged(plan.wanted)


def _judged(wanted: NoteWanted) -> Judged:
    return Judged(wanted.chance, not wanted.is_doubtful, wanted.why_not.value if wanted.why_not else "")


def _ask_about_note(engine: Engine, row: NeededRow, _: date) -> Judged | None:
    results = engine.principles(row.as_post, row.original_note) if row.original_note else ()
    found = next((result for result in results if result.principle is PrincipleName.WANTED), None)
    if found is None or found.status is GateStatus.NOT_RUN:
        return None
    passes = found.status is GateStatus.PASS
    return Judged(float(passes) if found.probability is None else found.probability, passes)


def _look_for_words(_: Engine, row: NeededRow, __: date) -> Judged | None:
    hint = uncheckable_words(row.as_post)
    return Judged(1.0, writes=True) if hint is None else Judged(0.0, writes=False, named=hint[0].value)


def bench_needed(rows: Sequence[NeededRow], judged: Sequence[Judged | None]) -> dict[str, Any]:
    """Return the figures of all posts and of both groups, with the rivals'. Raises InputError when none was judged."""
    if all(item is None for item in judged):
        raise InputError("The engine judged no post.", "See `crowdnotes models`.")
    learned = _learn_n_grams(rows)
    groups = {
        "words_decide": [at for at, row in enumerate(rows) if not row.depends_on_media],
        "hangs_on_picture": [at for at, row in enumerate(rows) if row.depends_on_media],
    }
    figures = {name: _measure([rows[at] for at in part], [judged[at] for at in part], learned, part)
               for name, part in {"all": list(range(len(rows))), **groups}.items() if part}  # fmt: skip
    return {"n": len(rows), "labels": LABELS, "not_run": sum(item is None for item in judged), **figures}


def _measure(
    rows: Sequence[NeededRow], judged: Sequence[Judged | None], learned: Scores | None, places: Sequence[int]
) -> dict[str, Any]:
    """Measure the verdicts; a post that was not judged is half likely and counts as wrong."""
    truth = [row.needs_note for row in rows]
    chances = np.asarray([0.5 if item is None else item.chance for item in judged])
    right = [item is not None and item.writes == needed for item, needed in zip(judged, truth, strict=True)]
    rivals: dict[str, Any] = {"always_write": {"auc": 0.5, **_share_right(truth)}}
    if learned is not None:
        known = learned[list(places)]
        said = [bool(chance >= _LINE) == needed for chance, needed in zip(known, truth, strict=True)]
        rivals["n_grams"] = {**_area(truth, known), **_share_right(said)}
        if len(set(truth)) == 2:
            lead = bootstrap_auc(truth, [chances], np.arange(len(rows)), rival=[known])
            rivals["n_grams"]["lead_interval"] = rounded_ends(lead)
    return {
        "n": len(rows),
        "needed": sum(truth),
        **_area(truth, chances),
        **_share_right(right),
        "by_reason": _count_by_reason(rows, judged),
        "rivals": rivals,
    }


def _area(truth: Sequence[bool], scores: Scores) -> dict[str, Any]:
    found = area_under_curve(truth, scores)
    ends = None if found is None else rounded_ends(bootstrap_auc(truth, [scores], np.arange(len(scores))))
    return {"auc": rounded(found), "interval": ends}


def _share_right(right: Sequence[bool]) -> dict[str, Any]:
    return {"right": rounded(float(np.mean(right))), "right_interval": rounded_ends(wilson(sum(right), len(right)))}


def _count_by_reason(rows: Sequence[NeededRow], judged: Sequence[Judged | None]) -> Mapping[str, Any]:
    """Of the posts that needed a note, and of the others by why not: how many are written, and what is named."""
    found: dict[str, Any] = {}
    names = ["note needed" if row.needs_note else row.no_note_reason or "no reason given" for row in rows]
    for name in sorted(set(names), key=lambda name: (name != "note needed", name)):
        mine = [item for item, said in zip(judged, names, strict=True) if said == name]
        known = [item for item in mine if item is not None]
        named = Counter(item.named or "nothing" for item in known)
        found[name] = {"n": len(mine), "written": sum(item.writes for item in known), "named": dict(named)}
    return found


def _learn_n_grams(rows: Sequence[NeededRow]) -> Scores | None:
    """Chances by words and letters with logistic regression, of rows that it did not learn from; None of too few.

    The penalty is chosen on the other folds; means over repeats, since folds of a hundred rows differ by chance.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_union

    truth = np.asarray([row.needs_note for row in rows])
    if min(truth.sum(), (~truth).sum()) < _FOLDS:
        return None
    grams = make_union(
        TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True),
        TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True),
    )
    # The words are counted once: weights by how rare they are look at no label.
    texts = grams.fit_transform([row.post for row in rows])
    search = GridSearchCV(
        LogisticRegression(solver="liblinear"),  # many times faster than others on few rows
        {"C": list(_PENALTIES)},
        scoring="roc_auc",
        cv=StratifiedKFold(5, shuffle=True, random_state=0),
    )
    folds = (StratifiedKFold(_FOLDS, shuffle=True, random_state=seed) for seed in range(_REPEATS))
    chances = [cross_val_predict(search, texts, truth, cv=fold, method="predict_proba")[:, 1] for fold in folds]
    mean: Scores = np.mean(chances, axis=0)
    return mean
