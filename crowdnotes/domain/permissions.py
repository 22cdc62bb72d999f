"""Who may do what to which case: one table (`ALLOWED`), checked for every act.

`crowdnotes.cases.permissions.require` checks it and raises; docs/people.md explains it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from crowdnotes.domain.people import Actor, Role


class Act(StrEnum):
    """What can be done, as far as permissions differ."""

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


_PHRASE_BY_ACT = {
    Act.BEGIN: "begin a case",
    Act.PRACTISE: "begin a demonstration",
    Act.READ: "open this case",
    Act.EDIT: "change this case",
    Act.WORK: "search, write and score for this case",
    Act.JUDGE: "judge the sources of this case",
    Act.SUGGEST: "comment on this note",
    Act.DECIDE: "decide this case",
    Act.REOPEN: "reopen this case",
    Act.SUBMIT: "send this case to the moderators",
    Act.REVIEW: "review cases sent to the moderators",
    Act.ASSIGN: "assign cases and change their order",
    Act.SHARE: "share this case",
    Act.DELETE: "delete this case",
    Act.COMPARE: "make comparisons and see their results",
    Act.BATCH: "make cases from a file of posts",
    Act.SET_UP: "change the libraries, search services and AI that everybody uses",
    Act.PEOPLE: "see who signed in and change their rights",
    Act.SEND_TO_X: "send notes to X",
}


class Relationship(StrEnum):
    """What a case is to an actor: their own, shared with everybody by its owner, or neither.

    A PRACTICE case is a demonstration that they began, with recorded answers: no model is asked.
    """

    PRACTICE = "practice"
    OWN = "own"
    SHARED = "shared"
    OTHER = "other"


class Owned(Protocol):
    """The fields of a case that permissions depend on; `owner_key` is None where the person was erased."""

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


_NO_CASES: frozenset[Relationship] = frozenset()
_PRACTICE_CASES = frozenset({Relationship.PRACTICE})
_OWN_CASES = _PRACTICE_CASES | {Relationship.OWN}
_SHARED_CASES = frozenset({Relationship.SHARED})
_ALL_CASES = frozenset(Relationship)


def _permit(
    viewer: frozenset[Relationship],
    contributor: frozenset[Relationship],
    moderator: frozenset[Relationship],
    admin: frozenset[Relationship],
) -> Mapping[Role, frozenset[Relationship]]:
    return {Role.VIEWER: viewer, Role.CONTRIBUTOR: contributor, Role.MODERATOR: moderator, Role.ADMIN: admin}


# A test compares docs/people.md with this. An act without a case counts as one's own.
ALLOWED: Mapping[Act, Mapping[Role, frozenset[Relationship]]] = {
    Act.READ: _permit(_OWN_CASES | _SHARED_CASES, _OWN_CASES | _SHARED_CASES, _ALL_CASES, _ALL_CASES),
    Act.BEGIN: _permit(_NO_CASES, _ALL_CASES, _ALL_CASES, _ALL_CASES),
    Act.PRACTISE: _permit(_ALL_CASES, _ALL_CASES, _ALL_CASES, _ALL_CASES),
    Act.EDIT: _permit(_PRACTICE_CASES, _OWN_CASES | _SHARED_CASES, _ALL_CASES, _ALL_CASES),
    Act.WORK: _permit(_PRACTICE_CASES, _OWN_CASES | _SHARED_CASES, _ALL_CASES, _ALL_CASES),
    Act.JUDGE: _permit(_PRACTICE_CASES, _OWN_CASES | _SHARED_CASES, _ALL_CASES, _ALL_CASES),
    Act.SUGGEST: _permit(_PRACTICE_CASES, _OWN_CASES | _SHARED_CASES, _ALL_CASES, _ALL_CASES),
    Act.DECIDE: _permit(_PRACTICE_CASES, _PRACTICE_CASES, _ALL_CASES, _ALL_CASES),
    Act.REOPEN: _permit(_PRACTICE_CASES, _PRACTICE_CASES, _ALL_CASES, _ALL_CASES),
    Act.SUBMIT: _permit(_NO_CASES, _OWN_CASES, _OWN_CASES, _ALL_CASES),
    Act.REVIEW: _permit(_NO_CASES, _NO_CASES, _ALL_CASES, _ALL_CASES),
    Act.ASSIGN: _permit(_NO_CASES, _NO_CASES, _ALL_CASES, _ALL_CASES),
    Act.SHARE: _permit(_NO_CASES, _OWN_CASES, _OWN_CASES, _ALL_CASES),
    Act.DELETE: _permit(_NO_CASES, _OWN_CASES, _OWN_CASES, _ALL_CASES),
    Act.COMPARE: _permit(_NO_CASES, _NO_CASES, _ALL_CASES, _ALL_CASES),
    Act.BATCH: _permit(_NO_CASES, _NO_CASES, _ALL_CASES, _ALL_CASES),
    Act.SET_UP: _permit(_NO_CASES, _NO_CASES, _NO_CASES, _ALL_CASES),
    Act.PEOPLE: _permit(_NO_CASES, _NO_CASES, _NO_CASES, _ALL_CASES),
    Act.SEND_TO_X: _permit(_NO_CASES, _NO_CASES, _ALL_CASES, _ALL_CASES),
}


_ACTS_UNDER_FOUR_EYES = frozenset({Act.REVIEW, Act.DECIDE})


def relationship(actor: Actor, case: Owned | None) -> Relationship:
    """Return what the case is to the actor."""
    if case is None:
        return Relationship.OWN
    if case.owner_key == actor.key:
        return Relationship.PRACTICE if case.recorded_answers else Relationship.OWN
    return Relationship.SHARED if case.shared else Relationship.OTHER


def may(actor: Actor, act: Act, case: Owned | None = None, *, four_eyes: bool = False) -> bool:
    """Return whether the actor may do that, to a case or, as for beginning one, to none.

    With `four_eyes` nobody reviews or decides a case that they began, whatever their role.
    """
    how = relationship(actor, case)
    if four_eyes and case is not None and act in _ACTS_UNDER_FOUR_EYES and how is Relationship.OWN:
        return False
    return how in ALLOWED[act][actor.role]


def refusal(act: Act, case: Owned | None = None, *, four_eyes: bool = False) -> str:
    """Say that a person may not do that, and who may. `four_eyes`: only that rule refuses it."""
    if four_eyes:
        return "You began this case. Another moderator or admin must decide it."
    how = Relationship.OWN if case is None else Relationship.SHARED if case.shared else Relationship.OTHER
    owner = ["the person who began it"] if case is not None and ALLOWED[act][Role.CONTRIBUTOR] >= _OWN_CASES else []
    *names, last = [*owner, *(_PLURAL_BY_ROLE[role] for role in Role if how in ALLOWED[act][role])]
    who = f"{', '.join(names)} and {last}" if names else last
    return f"Only {who} may {_PHRASE_BY_ACT[act]}."


_PLURAL_BY_ROLE = {
    Role.VIEWER: "viewers",
    Role.CONTRIBUTOR: "contributors",
    Role.MODERATOR: "moderators",
    Role.ADMIN: "admins",
}
