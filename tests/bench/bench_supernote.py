"""Speed of the local supernote: 100 candidates from 8 notes are made, filtered, and heard by the jury with the notes.

python -m tests.bench.bench_supernote
"""

from __future__ import annotations

import json
import statistics
import tempfile
import time
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from crowdnotes.domain import ExistingNote, SupernoteRound
from crowdnotes.engines.embedding import Embedder, make_embedder
from crowdnotes.engines.local.principles import tone_principles
from crowdnotes.jury.jury import Jury, open_jury
from crowdnotes.notes.candidates import merged
from crowdnotes.notes.ranking import filtered, ranked
from crowdnotes.notes.sentence_candidates import whole_sentences
from crowdnotes.settings import Settings
from crowdnotes.settings_sections import JurySettings

_CANDIDATES = 100
_POST = "The city opened the dam at night and flooded the old town in {}."
_NOTES = (
    "The dam was never opened that night. The operator published its gate log.",
    "Rain of 140 mm fell in six hours. The weather service had warned of floods in the afternoon.",
    "The video shows a flood in another country. It was first uploaded in 2019.",
    "Engineers inspected all gates and found them closed. No water was released before noon.",
    "The old town lies on another river. Water from the dam cannot reach its streets.",
    "Police received no reports of an alarm. The sirens are tested in spring alone.",
    "The mayor quoted in the post left office four years ago. His successor denied the claim.",
    "A court rejected the same claim in March. The ruling names three independent experts.",
)


def measure(repeats: int = 5) -> dict[str, object]:
    """Median seconds of each step, warm, and how many candidates reach each; no text is read twice."""
    with tempfile.TemporaryDirectory() as folder:
        embedder = make_embedder(Settings(data_dir=Path(folder)))  # as the app has it: a text's vector is made once
        jury = open_jury(JurySettings(), embedder)
        runs = [_run(number, embedder, jury) for number in range(repeats + 1)][1:]
    return {name: round(statistics.median(run[name] for run in runs), 2) for name in runs[0]}


def _run(number: int, embedder: Embedder, jury: Jury) -> dict[str, float]:
    year = 2000 + number
    notes = tuple(
        ExistingNote(id=f"N{place}", text=f"{words} In {year} too. https://news{place}.example.org/{number}")
        for place, words in enumerate(_NOTES)
    )
    moments = [time.perf_counter()]
    made, _ = merged(whole_sentences(notes, _CANDIDATES, number, embedder=embedder))
    moments.append(time.perf_counter())
    texts = [item.text for item in made]
    told = dict(zip(texts, tone_principles(embedder, texts), strict=True))
    passed = filtered(made, notes, (), (), told.__getitem__)
    moments.append(time.perf_counter())
    done = SupernoteRound(
        number=1, made_at=datetime.now(UTC), notes=notes, wanted=_CANDIDATES, seed=number, candidates=passed
    )
    done = ranked(done, jury, _POST.format(year))
    moments.append(time.perf_counter())
    made_in, filtered_in, ranked_in = (after - before for before, after in pairwise(moments))
    return {
        "candidates": len(made),
        "before_the_jury": len(done.passed) + len(notes),
        "made_seconds": made_in,
        "filtered_seconds": filtered_in,
        "ranked_seconds": ranked_in,
        "seconds": moments[-1] - moments[0],
    }


if __name__ == "__main__":
    print(json.dumps(measure(), indent=2))
