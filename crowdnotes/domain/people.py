"""Who acts, and who may do what to which case: one table, asked by `crowdnotes.cases.access` at every act."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Protocol

from pydantic import AfterValidator, StringConstraints

from crowdnotes.domain.base import Kind, Noun
from crowdnotes.wording import say


class Role(Kind):
    """What a person is here for."""

    VIEWER = "viewer"
    CONTRIBUTOR = "contributor"
    MODERATOR = "moderator"
    ADMIN = "admin"


def _one_line(name: str) -> str:
    return " ".join(name.split())


_Id = Annotated[str, StringConstraints(pattern=r"^\S+$", max_length=255)]
_Name = Annotated[str, AfterValidator(_one_line), StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]


class Person(Noun):
    """Somebody, known by who vouches for them (`issuer`) and by what they are called there (`subject`).

    Never by an e-mail address or by the name: both change, and names are alike.
    """

    issuer: _Id
    subject: _Id
    name: _Name

    @property
    def key(self) -> str:
        """What tells people apart; neither half has a space in it."""
        return f"{self.issuer} {self.subject}"

    @property
    def person(self) -> Person:
        """Without a role, as it is kept with a case: the role may be another tomorrow."""
        return Person(issuer=self.issuer, subject=self.subject, name=self.name)


class Actor(Person):
    """A person with the role that they have now."""

    role: Role


class Account(Actor):
    """Somebody who signed in once, as the table of people has them."""

    disabled_at: datetime | None
    first_seen: datetime
    last_seen: datetime


Who = Callable[[], Actor]
"""Asked at every act, so that a role that was changed or taken away holds from then on. Jobs ask from their threads."""

LOCAL_OWNER = ("local", "owner")
"""Issuer and subject of whoever has a machine to themselves, where nobody signs in."""

PROGRAM = Person(issuer="crowdnotes", subject="program", name="CrowdNotes")
"""Who acts, in the audit trail, where no person does."""


class Act(StrEnum):
    """What can be done, as far as rights to it may differ."""

    BEGIN = "begin"
    PRACTISE = "practise"
    READ = "read"
    EDIT = "edit"
    WORK = "work"
    JUDGE = "judge"
    SUGGEST = "suggest"
    DECIDE = "decide"
    REOPEN = "reopen"
    SUBMIT = "submit"
    REVIEW = "review"
    ASSIGN = "assign"
    SHARE = "share"
    DELETE = "delete"
    COMPARE = "compare"
    BATCH = "batch"
    SET_UP = "set up"
    PEOPLE = "people"
    SEND_TO_X = "send to x"


_IN_WORDS = {
    Act.BEGIN: "people.begin",
    Act.PRACTISE: "people.practise",
    Act.READ: "people.read",
    Act.EDIT: "people.edit",
    Act.WORK: "people.work",
    Act.JUDGE: "people.judge",
    Act.SUGGEST: "people.suggest",
    Act.DECIDE: "people.decide",
    Act.REOPEN: "people.reopen",
    Act.SUBMIT: "people.submit",
    Act.REVIEW: "people.review",
    Act.ASSIGN: "people.assign",
    Act.SHARE: "people.share",
    Act.DELETE: "people.delete",
    Act.COMPARE: "people.compare",
    Act.BATCH: "people.batch",
    Act.SET_UP: "people.set_up",
    Act.PEOPLE: "people.people",
    Act.SEND_TO_X: "people.send_to_x",
}


class Standing(StrEnum):
    """How somebody stands to a case: they began it, or its owner shared it with everybody, or neither.

    What they practise on is a demonstration that they began, with recorded answers: it asks nobody's model.
    """

    PRACTICE = "practice"
    OWN = "own"
    SHARED = "shared"
    OTHER = "other"


class Owned(Protocol):
    """What of a case rights depend on; `owner_key` is None where the person was erased."""

    @property
    def owner_key(self) -> str | None:
        """The `Person.key` of who began it."""
        ...

    @property
    def shared(self) -> bool:
        """With everybody who may see any case."""
        ...

    @property
    def recorded_answers(self) -> bool:
        """A demonstration that goes by answers recorded for it."""
        ...


_NONE: frozenset[Standing] = frozenset()
_PRACTICE = frozenset({Standing.PRACTICE})
_OWN = _PRACTICE | {Standing.OWN}
_SHARED = frozenset({Standing.SHARED})
_ALL = frozenset(Standing)


def _row(
    viewer: frozenset[Standing],
    contributor: frozenset[Standing],
    moderator: frozenset[Standing],
    admin: frozenset[Standing],
) -> Mapping[Role, frozenset[Standing]]:
    return {Role.VIEWER: viewer, Role.CONTRIBUTOR: contributor, Role.MODERATOR: moderator, Role.ADMIN: admin}


# docs/people.md says the same in words; a test holds it to this. What is done to no case counts as one's own.
ALLOWED: Mapping[Act, Mapping[Role, frozenset[Standing]]] = {
    Act.READ: _row(_OWN | _SHARED, _OWN | _SHARED, _ALL, _ALL),
    Act.BEGIN: _row(_NONE, _ALL, _ALL, _ALL),
    Act.PRACTISE: _row(_ALL, _ALL, _ALL, _ALL),
    Act.EDIT: _row(_PRACTICE, _OWN | _SHARED, _ALL, _ALL),
    Act.WORK: _row(_PRACTICE, _OWN | _SHARED, _ALL, _ALL),
    Act.JUDGE: _row(_PRACTICE, _OWN | _SHARED, _ALL, _ALL),
    Act.SUGGEST: _row(_PRACTICE, _OWN | _SHARED, _ALL, _ALL),
    Act.DECIDE: _row(_PRACTICE, _PRACTICE, _ALL, _ALL),
    Act.REOPEN: _row(_PRACTICE, _PRACTICE, _ALL, _ALL),
    Act.SUBMIT: _row(_NONE, _OWN, _OWN, _ALL),
    Act.REVIEW: _row(_NONE, _NONE, _ALL, _ALL),
    Act.ASSIGN: _row(_NONE, _NONE, _ALL, _ALL),
    Act.SHARE: _row(_NONE, _OWN, _OWN, _ALL),
    Act.DELETE: _row(_NONE, _OWN, _OWN, _ALL),
    Act.COMPARE: _row(_NONE, _NONE, _ALL, _ALL),
    Act.BATCH: _row(_NONE, _NONE, _ALL, _ALL),
    Act.SET_UP: _row(_NONE, _NONE, _NONE, _ALL),
    Act.PEOPLE: _row(_NONE, _NONE, _NONE, _ALL),
    Act.SEND_TO_X: _row(_NONE, _NONE, _ALL, _ALL),
}


_BY_OTHERS = frozenset({Act.REVIEW, Act.DECIDE})


def standing(actor: Actor, case: Owned | None) -> Standing:
    """How the actor stands to the case."""
    if case is None:
        return Standing.OWN
    if case.owner_key == actor.key:
        return Standing.PRACTICE if case.recorded_answers else Standing.OWN
    return Standing.SHARED if case.shared else Standing.OTHER


def may(actor: Actor, act: Act, case: Owned | None = None, *, four_eyes: bool = False) -> bool:
    """Whether the actor may do that, to a case or, as for beginning one, to none.

    With `four_eyes` nobody reviews or decides a case that they began, whatever their role.
    """
    how = standing(actor, case)
    if four_eyes and case is not None and act in _BY_OTHERS and how is Standing.OWN:
        return False
    return how in ALLOWED[act][actor.role]


def refusal(act: Act, case: Owned | None = None, *, four_eyes: bool = False) -> str:
    """A sentence for somebody who may not do that: what, and who may. `four_eyes`: that alone refuses it."""
    if four_eyes:
        return say("people.four_eyes")
    how = Standing.OWN if case is None else Standing.SHARED if case.shared else Standing.OTHER
    owner = [say("people.owner")] if case is not None and ALLOWED[act][Role.CONTRIBUTOR] >= _OWN else []
    *names, last = [*owner, *(say(_MANY[role]) for role in Role if how in ALLOWED[act][role])]
    who = f"{', '.join(names)}{say('people.and')}{last}" if names else last
    return say("people.only", who=who, what=say(_IN_WORDS[act]))


_MANY = {
    Role.VIEWER: "people.viewers",
    Role.CONTRIBUTOR: "people.contributors",
    Role.MODERATOR: "people.moderators",
    Role.ADMIN: "people.admins",
}
