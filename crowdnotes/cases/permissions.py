"""Whether somebody may do an act to a case (`require` raises NotAllowedError), and who somebody is."""

from __future__ import annotations

from pydantic import ValidationError

from crowdnotes.domain import (
    LOCAL_OWNER,
    Act,
    Actor,
    Owned,
    Role,
    may,
    refusal,
)
from crowdnotes.errors import InputError, NotAllowedError


def actor_of(issuer: str, subject: str, name: str, role: str) -> Actor:
    """Somebody as a setting or another system names them. Raises InputError, with what is wrong of it."""
    if role not in list(Role):
        raise InputError(f"There is no role “{role}”.", f"Use one of: {', '.join(Role)}.")
    try:
        return Actor(issuer=issuer, subject=subject, name=name, role=Role(role))
    except ValidationError as error:
        is_name = error.errors()[0]["loc"] == ("name",)
        raise InputError(
            "A person needs a name of 1 to 80 characters."
            if is_name
            else "A person needs an issuer and a subject, each of 1 to 255 characters without spaces."
        ) from error


def local_owner(name: str) -> Actor:
    """Whoever has the machine to themselves: all is theirs, whatever they call themselves. InputError for no name."""
    return actor_of(*LOCAL_OWNER, name, Role.ADMIN)


def require(actor: Actor, act: Act, case: Owned | None = None, *, four_eyes: bool = False) -> None:
    """Raise NotAllowedError where `may` says no."""
    if not may(actor, act, case, four_eyes=four_eyes):
        raise NotAllowedError(act.value, refusal(act, case, four_eyes=may(actor, act, case)))
