"""Those who signed in: the table that says what each may do, asked at every act."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Engine, and_, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from crowdnotes.cases.access import actor_of, require
from crowdnotes.cases.leaving import leave, records
from crowdnotes.domain import Account, Act, Actor, Person, Role, Who
from crowdnotes.engines.choice import EngineChoice
from crowdnotes.errors import InputError, NotAllowedError
from crowdnotes.storage.database import reading, writing
from crowdnotes.storage.tables import engine_choices, people
from crowdnotes.wording import say

PROXY, VISITOR = "proxy", "visitor"
"""Issuers of those whom a proxy vouches for, and of whoever looks at a demo. A provider's begins with http."""
_LONGEST_NAME = 80  # as `domain.Person` has it


def person_of(claims: Mapping[str, object]) -> Person:
    """Who a provider vouches for, by the claims of its token (OpenID Connect Core, section 2).

    Raises InputError without an issuer that is an address, or a subject.
    """
    issuer, subject = str(claims.get("iss") or ""), str(claims.get("sub") or "")
    if not issuer.startswith(("https://", "http://")):  # other words are the program's own
        issuer = ""
    name = claims.get("name") or claims.get("preferred_username") or claims.get("nickname") or subject
    return actor_of(issuer, subject, " ".join(str(name).split())[:_LONGEST_NAME], Role.VIEWER).person


def proxied(user: str) -> Person:
    """Who an authenticating proxy on this machine says is there. Raises InputError for what is no name."""
    return actor_of(PROXY, user, user[:_LONGEST_NAME], Role.VIEWER).person


def visitor(number: str) -> Person:
    """Whoever looks at a demo, or answers a comparison."""
    return Person(issuer=VISITOR, subject=number, name=say("people.visitor"))


class People:
    """The people in a database opened by `open_database`, as `who` may see and change them. Safe for threads.

    Raises StoreError; NotAllowedError where `who` may not; InputError for somebody who never signed in.
    """

    def __init__(self, engine: Engine, clock: Callable[[], datetime], who: Who) -> None:
        self._engine = engine
        self._clock = clock
        self._who = who

    def acting_as(self, who: Who) -> People:
        """The same for somebody else."""
        return People(self._engine, self._clock, who)

    # --- asked by the program itself ---

    def seen(self, person: Person, first_role: str) -> None:
        """Somebody signed in. Who is new gets that role; with "none" they are kept out until an admin lets them in."""
        at, is_out = self._clock(), first_role == "none"
        account = Account(
            **person.person.model_dump(),
            role=Role.VIEWER if is_out else Role(first_role),
            disabled_at=at if is_out else None,
            first_seen=at,
            last_seen=at,
        )
        known = update(people).where(_is(person)).values(name=person.name, last_seen=at)
        with writing(self._engine) as connection:
            if connection.execute(known).rowcount:
                return
        try:
            with writing(self._engine) as connection:
                connection.execute(insert(people).values(account.model_dump()))
        except IntegrityError:  # in another tab, in the same moment
            return

    def actor(self, person: Person) -> Actor:
        """That person with the role that they have now. NotAllowedError for who is disabled or not known."""
        with reading(self._engine) as connection:
            account = _account(connection, person)
        if account is None:
            raise NotAllowedError("sign-in", say("people.unknown"), say("people.unknown_next"))
        if account.disabled_at is not None:
            if account.disabled_at == account.first_seen:
                raise NotAllowedError("sign-in", say("people.waiting"))
            raise NotAllowedError("sign-in", say("people.disabled"), say("people.disabled_next"))
        return Actor(**account.person.model_dump(), role=account.role)

    def names(self) -> dict[str, str]:
        """What those who signed in are called, by their key."""
        with reading(self._engine) as connection:
            return {account.key: account.name for account in _accounts(connection)}

    def engines(self, key: str, over: str) -> tuple[EngineChoice | None, EngineChoice | None]:
        """The engine chosen for everybody, and the one that the person of this key chose, over that one."""
        of_them = select(engine_choices).where(
            engine_choices.c.person.in_(["", key]), engine_choices.c.chosen_over == over
        )
        with reading(self._engine) as connection:
            found = {row.person: EngineChoice(row.base_url, row.model) for row in connection.execute(of_them)}
        return found.get(""), found.get(key)

    def choose_engine(self, choice: EngineChoice, over: str, *, for_all: bool) -> None:
        """Keep what `who` chose over the engine that is set, `for_all` for everybody as well.

        Without `for_all` each may choose again. Whether they may do so is asked by `SharedWorkspace.use`.
        """
        holders = ["", self._who().key] if for_all else [self._who().key]
        row = {"base_url": choice.base_url, "model": choice.model, "chosen_over": over}
        with writing(self._engine) as connection:
            connection.execute(delete(engine_choices).where(engine_choices.c.person.in_(["", *holders])))
            connection.execute(insert(engine_choices), [{"person": holder, **row} for holder in holders])

    # --- for admins ---

    def everybody(self) -> list[Account]:
        """Who signed in once, by name."""
        require(self._who(), Act.PEOPLE)
        with reading(self._engine) as connection:
            return _accounts(connection)

    def moderators(self) -> list[Person]:
        """Moderators and admins who are let in, by name; whoever may assign cases may know them."""
        require(self._who(), Act.ASSIGN)
        with reading(self._engine) as connection:
            accounts = _accounts(connection)
        return [it.person for it in accounts if it.role in (Role.MODERATOR, Role.ADMIN) and it.disabled_at is None]

    def set_role(self, person: Person, role: Role) -> None:
        """What they may do from their next act on."""
        self._change(person, role=role)

    def set_disabled(self, person: Person, *, disabled: bool) -> None:
        """Keep them out from their next act on, or let them in again."""
        self._change(person, disabled_at=self._clock() if disabled else None)

    def exported(self, person: Person) -> str:
        """All that is on record by and about somebody, as JSON; see `leaving.records`."""
        require(self._who(), Act.PEOPLE)
        with reading(self._engine) as connection:
            return json.dumps(records(connection, person), ensure_ascii=False, indent=2)

    def erase(self, person: Person) -> tuple[int, int]:
        """Take somebody's name and key out of every record; see `leaving.leave`.

        How many cases were removed and how many changed. InputError for the last admin, and where nothing is known.
        """
        actor = self._who()
        require(actor, Act.PEOPLE)
        with writing(self._engine) as connection:
            account = _account(connection, person)
            counts = leave(connection, person, actor.person)
            if account is None and counts == (0, 0):
                raise InputError(say("people.no_such"), say("people.no_such_next"))
            if account is not None:
                _require_admin(connection, account)
        return counts

    def _change(self, person: Person, **values: object) -> None:
        require(self._who(), Act.PEOPLE)
        with writing(self._engine) as connection:
            account = _account(connection, person)
            if account is None:
                raise InputError(say("people.no_such"), say("people.no_such_next"))
            connection.execute(update(people).where(_is(person)).values(values))
            _require_admin(connection, account)


def _is(person: Person) -> ColumnElement[bool]:
    return and_(people.c.issuer == person.issuer, people.c.subject == person.subject)


def _account(connection: Connection, person: Person) -> Account | None:
    row = connection.execute(select(people).where(_is(person)).with_for_update()).mappings().first()
    return Account.model_validate(dict(row)) if row else None


def _accounts(connection: Connection) -> list[Account]:
    rows = connection.execute(select(people).order_by(func.lower(people.c.name), people.c.subject))
    return [Account.model_validate(dict(row)) for row in rows.mappings()]


def _require_admin(connection: Connection, before: Account) -> None:
    """Raise InputError where a change to that account left nobody who may undo it."""
    if _is_admin(before) and not any(map(_is_admin, _accounts(connection))):
        raise InputError(say("people.last_admin", name=before.name), say("people.last_admin_next"))


def _is_admin(account: Account) -> bool:
    return account.role is Role.ADMIN and account.disabled_at is None
