"""What a person needs at X's own note form. Human contributors have no write API, so they copy."""

from __future__ import annotations

from urllib.parse import urlsplit

from crowdnotes.domain import Case
from crowdnotes.note_form import tags_of

_X_HOSTS = frozenset({"x.com", "www.x.com", "twitter.com", "www.twitter.com", "mobile.twitter.com", "mobile.x.com"})


def form_labels(case: Case) -> list[str]:
    """The labels to tick on X's form, in the form's order."""
    labels = tags_of(case.classification)
    return [label for tag, label in labels.items() if tag in case.tags]


def post_url(case: Case) -> str | None:
    """The post's address when it is on X, to open it there; None otherwise."""
    if case.post.url is None:
        return None
    parts = urlsplit(case.post.url)
    on_x = parts.scheme in {"http", "https"} and (parts.hostname or "").lower() in _X_HOSTS
    return case.post.url if on_x else None
