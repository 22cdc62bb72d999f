"""`crowdnotes fetch`: what the program makes of one link, as it would for a case."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from crowdnotes.cli.output import day, print_json, print_text, progress
from crowdnotes.domain import FetchOutcome, ReadAs, Source
from crowdnotes.errors import InputError, UnsafeUrlError

if TYPE_CHECKING:
    from crowdnotes.domain import Passage
    from crowdnotes.workspace import Workspace

_SHOWN = 1_500  # characters of the text for a person; --json gives all
_LEFT_OUT = frozenset({"id", "library", "record"})  # which a link alone has none of


def fetch(
    url: Annotated[str, typer.Argument(help="The page to read.")],
    until: Annotated[str | None, typer.Option(help="Refuse what is later than this day, as YYYY-MM-DD.")] = None,
    post: Annotated[str | None, typer.Option(help="Show the passage that says most about this post or claim.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON, with the whole text.")] = False,
) -> None:
    """Fetch and read one page. Ends well whenever there is a label to show, also for a page that could not be read.

    What is no link, or no day, ends with a sentence and exit code 2.
    """
    from crowdnotes.evidence.guard import check_url
    from crowdnotes.workspace import open_workspace

    try:
        last = day(until)
        url = _as_text(url)
        with suppress(UnsafeUrlError):  # which is a label of its own, given by the reader
            check_url(url)
    except InputError as error:
        progress(f"crowdnotes: {error}")
        raise typer.Exit(2) from error
    post = _as_text(post) if post else None
    with open_workspace() as workspace:
        source, text = workspace.reader.read(url, "url", until=last)
        source = source.timely(last)
        if source.outcome is not FetchOutcome.READ:
            text = None
        passage = _passage(workspace, source, text, post) if text is not None and post else None
    if as_json:
        print_json(
            source.model_dump(mode="json", exclude=set(_LEFT_OUT))
            | {"text": text, "passage": passage.model_dump(mode="json") if passage is not None else None}
        )
    else:
        _show(source, text, passage)


def _as_text(given: str) -> str:
    """With "?" for the lone surrogates that stand for bytes which a terminal passed on and no text holds."""
    return given.encode("utf-8", "replace").decode()


def _passage(workspace: Workspace, source: Source, text: str, post: str) -> Passage:
    from crowdnotes.evidence.passages import best_passage

    settings = workspace.settings.evidence
    return best_passage(
        text,
        post,
        workspace.embedder,
        tokens=settings.passage_tokens,
        overlap=settings.passage_overlap,
        surroundings=settings.surroundings,
        page_starts=source.page_starts,
    )


def _show(source: Source, text: str | None, passage: Passage | None) -> None:
    marks = "".join(f" [{notice}]" for notice in source.notices)
    print_text(f"{source.title}{marks}")
    dated = f"{source.published} (date from {source.date_origin})" if source.published else "undated"
    print_text(" · ".join(filter(None, (source.publisher, source.category.value, dated, source.language))))
    label = source.outcome.value
    if source.outcome is FetchOutcome.READ and source.read_as is not ReadAs.WHOLE:
        label = f"{label}: {source.read_as.value}"
    print_text(f"{label}. {source.outcome_detail}".rstrip())
    for name, address in (("leads to", source.page_url), ("archived copy", source.archived_url)):
        if address:
            print_text(f"{name}: {address}")
    if passage is not None:
        page = f", page {passage.page}" if passage.page else ""
        print_text(f"\nThe passage (similarity {passage.similarity:.2f} of 1{page}):\n{passage.text}")
    elif text is not None:
        rest = f"\n… {len(text) - _SHOWN:,} more characters (--json gives all)" if len(text) > _SHOWN else ""
        print_text(f"\n{text[:_SHOWN]}{rest}")
