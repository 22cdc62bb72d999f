"""How a case becomes rows: its document, the columns for listing and searching, its events and texts."""

from __future__ import annotations

import unicodedata

from pydantic_core import PydanticSerializationError

from crowdnotes.domain import Case
from crowdnotes.storage.tables import storable_text

_EXCERPT_CHARACTERS = 160


def case_row(case: Case) -> tuple[Case, dict[str, object]]:
    """The case as it can be kept (see `store`), and its row in the table of cases."""
    try:
        document = case.model_dump_json()
    except PydanticSerializationError:  # a lone surrogate; rare, so only then is the case walked through
        case = Case.model_validate(_without_surrogates(case.model_dump()))
        document = case.model_dump_json()
    return case, {
        "id": case.id,
        "version": case.version,
        "created_at": case.created_at,
        "updated_at": case.updated_at,
        "status": case.status.value,
        "decision": case.decision.kind.value if case.decision else None,
        "mode": case.mode.value,
        "post_excerpt": _excerpt(case.post.text),
        "search": folded(f"{case.post.whole_text}\n{case.draft.text if case.draft else ''}"),
        "document": document,
    }


def event_rows(case: Case, known: int) -> list[dict[str, object]]:
    """Rows of the audit trail for the events after the first `known`."""
    return [
        {
            "case_id": case.id,
            "seq": seq,
            "at": event.at,
            "by": storable_text(event.by),
            "kind": storable_text(event.kind),
            "detail": storable_text(event.detail),
        }
        for seq, event in enumerate(case.events[known:], start=known + 1)
    ]


def text_hashes(case: Case) -> set[str]:
    """The source texts that the case needs, those of replaced evidence included."""
    sets = (case.evidence, *(earlier.evidence for earlier in case.earlier_evidence))
    gathered = [item.source for evidence in sets for item in evidence]
    looked_at = [source for look in case.looks for source in look.sources]
    return {source.text_sha256 for source in (*case.sources, *gathered, *looked_at) if source.text_sha256}


def image_hashes(case: Case) -> set[str]:
    """The images that the case needs."""
    return {image.sha256 for image in case.post.images}


def folded(text: str) -> str:
    """`text` for searching: in one case of letters and one form of each character."""
    return storable_text(unicodedata.normalize("NFKC", text).casefold())


def _excerpt(text: str) -> str:
    beginning = " ".join(text[: 4 * _EXCERPT_CHARACTERS].split())
    if len(beginning) > _EXCERPT_CHARACTERS:
        cut = beginning[: _EXCERPT_CHARACTERS - 1]
        words = cut.rsplit(" ", 1)[0]
        beginning = (words if len(words) > _EXCERPT_CHARACTERS // 2 else cut).rstrip(" ,;:.") + "…"
    return storable_text(beginning)


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {key: _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_without_surrogates(item) for item in value]
    return value
