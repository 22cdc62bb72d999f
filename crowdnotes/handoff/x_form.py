"""What a person needs at X's own note form. Human contributors have no write API, so they copy."""

from __future__ import annotations

from urllib.parse import urlsplit

from crowdnotes.demonstration import is_demonstration_url
from crowdnotes.domain import X_HOSTS, Case
from crowdnotes.text.note_rules import CLASSIFICATIONS, find_urls, tags_of


def form_labels(case: Case) -> list[str]:
    """The labels to tick on X's form, in the form's order."""
    labels = tags_of(case.classification)
    return [label for tag, label in labels.items() if tag in case.tags]


def class_label(case: Case) -> str:
    """The label of the classification on X's form."""
    return CLASSIFICATIONS[case.classification]


def cited_urls(case: Case) -> tuple[str, ...]:
    """The links in the note, in order; none without a note."""
    return tuple(url.url for url in find_urls(case.draft.text)) if case.draft else ()


def is_demonstration(case: Case) -> bool:
    """Whether the case leans on the demonstration's invented pages, so that its note must not be posted."""
    sources = (item.source.url or "" for item in case.evidence)
    return any(is_demonstration_url(url) for url in (*cited_urls(case), *case.urls, *sources, case.post.url or ""))


def post_url(case: Case) -> str | None:
    """The post's address when it is on X, to open it there; None otherwise."""
    if case.post.url is None:
        return None
    parts = urlsplit(case.post.url)
    on_x = parts.scheme in {"http", "https"} and parts.hostname in X_HOSTS
    return case.post.url if on_x else None
