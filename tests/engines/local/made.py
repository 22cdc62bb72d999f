"""Evidence and posts that the tests of the local engine share."""

from __future__ import annotations

from crowdnotes.domain import Evidence, Passage, Source, SourceCategory, Span


def made_evidence(
    text: str,
    evidence_id: str = "E1",
    publisher: str | None = "Example Health Agency",
    title: str = "Vaccines",
    url: str | None = "https://health.example.org/vaccines",
) -> Evidence:
    """A passage that is all of its source."""
    return Evidence(
        id=evidence_id,
        source=Source(
            id=f"S-{evidence_id}", title=title, url=url, publisher=publisher, category=SourceCategory.HEALTH_AUTHORITY
        ),
        passage=Passage(text=text, span=Span(start=0, end=len(text)), similarity=0.5),
        rank=1,
        why="made for a test",
    )


MEASLES = (
    "Measles is a disease that spreads easily. The measles vaccine does not cause autism. "
    "Large studies of more than 650,000 children found no link between the measles vaccine and autism. "
    "The vaccine may cause a mild rash in about 5% of children. Talk with your doctor. Key Points"
)
WATER = (
    "Fluoride in drinking water helps prevent tooth decay. At the levels used in drinking water, fluoride is safe for "
    "most people. Too much fluoride can cause white spots on teeth."
)
AWKWARD_TEXTS = (
    "",
    " \n\t ",
    "😀🔥",
    "https://t.co/abc",
    "@someone #NoVax",
    "اللقاح يسبب السرطان 38٪",
    "החיסון גורם לסרטן.",
    "新冠疫苗导致癌症。",
    "z̷̧̢a̷l̴g̶o̵ v̸a̵c̷c̸i̵n̶e̴ causes cancer",
    "<script>alert(1)</script> vaccines &amp; autism",
    "\u202etxet desrever\u202c",
    "\ud800 half a pair",
    "A" * 25_000,
    "The vaccine causes cancer in 38% of people. " * 45,
    "(" * 3_000,
    "not " * 2_000,
)
