"""Who acts: people, their roles and accounts."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

from crowdnotes.domain.base import FrozenModel, LabelledEnum


class Role(LabelledEnum):
    """What a person may do."""

    VIEWER = "viewer"
    CONTRIBUTOR = "contributor"
    MODERATOR = "moderator"
    ADMIN = "admin"


_IdentityString = Annotated[str, StringConstraints(pattern=r"^\S+$", max_length=255)]
_PersonName = Annotated[
    str,
    AfterValidator(lambda name: " ".join(name.split())),
    StringConstraints(strip_whitespace=True, min_length=1, max_length=80),
]


class Person(FrozenModel):
    """A person, identified by who vouches for them (`issuer`) and their name there (`subject`).

    Never by an e-mail address or display name: both change, and names repeat.
    """

    issuer: _IdentityString
    subject: _IdentityString
    name: _PersonName

    @property
    def key(self) -> str:
        """The identity of a person; neither half has a space in it."""
        return f"{self.issuer} {self.subject}"

    @property
    def person(self) -> Person:
        """The person without the role, as cases keep it: the role may change."""
        return Person(issuer=self.issuer, subject=self.subject, name=self.name)


class Actor(Person):
    """A person with the role that they have now."""

    role: Role


class Account(Actor):
    """A person who signed in once, as the table of people has them."""

    disabled_at: datetime | None
    first_seen: datetime
    last_seen: datetime


CurrentUser = Callable[[], Actor]
"""Asked at every act, so that a role that was changed or taken away holds from then on. Jobs ask from their threads."""

LOCAL_OWNER = ("local", "owner")
"""Issuer and subject of the owner of a machine where nobody signs in."""

PROGRAM = Person(issuer="crowdnotes", subject="program", name="CrowdNotes")
"""Who acts, in the audit trail, where no person does."""
