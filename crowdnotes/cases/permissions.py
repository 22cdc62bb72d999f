"""Who may do an act to a case: `require` raises NotAllowedError, and `requires` makes an action of a rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Concatenate, Generic, ParamSpec

from pydantic import ValidationError

from crowdnotes.domain import (
    LOCAL_OWNER,
    Act,
    Actor,
    Case,
    DeskState,
    Owned,
    Person,
    Role,
    may,
    refusal,
)
from crowdnotes.errors import InputError, NotAllowedError, WorkflowError

P = ParamSpec("P")
Rule = Callable[Concatenate[Case, datetime, Person, P], Case]
"""A pure function from the newest version of a case, the time and the person who acts to the next version."""


class Clock(StrEnum):
    """Which clock an action goes by. Machines that share a database use its clock for claims."""

    APP = "app"
    DATABASE = "database"


@dataclass(frozen=True, slots=True)
class Action(Generic[P]):
    """A change of a case with the permission that it needs, for `Cases.apply`; made by `requires` alone.

    `by_reviewers`: moderators make it too while they have the case, see `require_editable`.
    """

    permission: Act
    rule: Rule[P]
    clock: Clock = Clock.APP
    by_reviewers: bool = False

    def __call__(self, case: Case, at: datetime, by: Person, /, *args: P.args, **kwargs: P.kwargs) -> Case:
        """Return the next version by the rule alone, without checking permissions: for other rules and tests."""
        return self.rule(case, at, by, *args, **kwargs)


def requires(
    permission: Act, clock: Clock = Clock.APP, *, by_reviewers: bool = False
) -> Callable[[Rule[P]], Action[P]]:
    """Return a decorator that turns a rule into an action."""
    return lambda rule: Action(permission, rule, clock, by_reviewers)


def actor_of(issuer: str, subject: str, name: str, role: str) -> Actor:
    """Return the actor that a setting or another system names. Raises InputError, with what is wrong."""
    if role not in list(Role):
        raise InputError(f"There is no role “{role}”.", f"Use one of: {', '.join(Role)}.")
    try:
        return Actor(issuer=issuer, subject=subject, name=name, role=Role(role))
    except ValidationError as error:
        is_name = error.errors()[0]["loc"] == ("name",)
        raise InputError(
            "Give a name of 1 to 80 characters."
            if is_name
            else "Give an issuer and a subject, each of 1 to 255 characters without spaces."
        ) from error


def local_owner(name: str) -> Actor:
    """Return the owner of a single-user machine, under any name, with all rights. InputError for no name."""
    return actor_of(*LOCAL_OWNER, name, Role.ADMIN)


def require(actor: Actor, act: Act, case: Owned | None = None, *, four_eyes: bool = False) -> None:
    """Raise NotAllowedError where `may` says no."""
    if not may(actor, act, case, four_eyes=four_eyes):
        raise NotAllowedError(act.value, refusal(act, case, four_eyes=may(actor, act, case)))


def why_read_only(case: Case, by: Person) -> str:
    """Return why that person may not change a note that is with the moderators; "" where they may."""
    try:
        require_editable(case, by)
    except WorkflowError as error:
        return error.message
    return ""


def require_editable(case: Case, by: Person, *, by_reviewers: bool = False) -> None:
    """Refuse changes to a case that is with the moderators, except by its author while nobody has claimed it.

    `by_reviewers`: the moderator who holds the claim may too, and any moderator while nobody does.
    """
    is_moderator = isinstance(by, Actor) and may(by, Act.REVIEW)
    lease, is_reviewer = case.desk.lease, by_reviewers and is_moderator
    if case.desk_state not in (DeskState.SUBMITTED, DeskState.IN_REVIEW):
        return
    if lease is not None and not (is_reviewer and lease.holder.key == by.key):
        if lease.holder.key == by.key:
            raise WorkflowError("claimed", "You are reviewing this case.", "Give it back, then change it.")
        raise WorkflowError("claimed", "A moderator is reviewing this case.", "Wait for the review to end.")
    if by.key != case.owner_key and not is_reviewer:
        raise WorkflowError(
            "submitted",
            "The moderators have this case, so only its author may change it.",
            "Send it back with a comment on what to change."
            if is_moderator
            else "Ask its author, or wait until it comes back.",
        )
