"""Who signed in and what each may do; what is on record of a person, and how it is erased.

A person is found by their `Person.key` wherever a document holds one, and by a name where only that was kept beside
their acts. After an erasure every record says "someone who left". What somebody typed stays as typed, whoever it names.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, RowMapping, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from crowdnotes.cases.permissions import actor_of, require
from crowdnotes.cases.review_queue import save_queue_row
from crowdnotes.cases.store import case_row, read_case, remove_case
from crowdnotes.domain import Account, Act, Actor, Case, CurrentUser, Person, Role
from crowdnotes.engines.choice import EngineChoice
from crowdnotes.errors import InputError, NotAllowedError
from crowdnotes.jobs.records import JobState
from crowdnotes.storage.database import reading, writing
from crowdnotes.storage.tables import cases, engine_choices, jobs, people, presence, tombstones

# Fields of documents that hold a name; some have a key beside it, some not.
_NAME_FIELDS = frozenset({"by", "answered_by", "resolved_by"})
_EVENTS_NAMING_PERSON = frozenset({"assigned", "taken over"})  # events whose detail the program made of somebody's name


def export_person(connection: Connection, person: Person) -> dict[str, Any]:
    """All that is kept by and about them: their cases whole, and of others' cases what is theirs."""
    found: dict[str, Any] = {"key": person.key, "account": None, "engine": None, "cases": [], "elsewhere": {}}
    found |= {"jobs": [], "deleted": []}
    account = connection.execute(select(people).where(_match_person(person))).mappings().first()
    if account is not None:
        found["account"] = {name: str(value) for name, value in account.items() if value is not None}
    engine = connection.execute(select(engine_choices).where(engine_choices.c.person == person.key)).mappings().first()
    if engine is not None:
        found["engine"] = {"base_url": engine["base_url"], "model": engine["model"]}
    for case in _lock_cases_naming(connection, person):
        document = case.model_dump(mode="json")
        if case.owner_key == person.key:
            found["cases"].append(document)
        else:
            names = _collect_names(document, person.key)
            found["elsewhere"][case.id] = list(_find_records_of(document, person.key, names, ""))
    for _, job in _lock_jobs_asked_by(connection, person):
        found["jobs"].append({name: job[name] for name in ("id", "case_id", "kind", "state", "started_at", "by")})
    for row in connection.execute(select(tombstones).where(tombstones.c.by_key == person.key)).mappings():
        found["deleted"].append({"case_id": row["case_id"], "at": row["deleted_at"].isoformat(), "by": row["by"]})
    return found


def erase_person(connection: Connection, person: Person, by: Person) -> tuple[int, int]:
    """Their name and key go from every record, and so do their own cases that nobody else was shown, but for their ids.

    How many cases were removed, and how many changed.
    """
    # A number of chance tells people who left apart within a case, and says nothing of them.
    gone = Person(issuer="crowdnotes", subject=f"left-{secrets.token_hex(8)}", name="someone who left")
    known = connection.scalar(select(people.c.name).where(_match_person(person)))
    connection.execute(delete(people).where(_match_person(person)))
    connection.execute(delete(presence).where(presence.c.person == person.key))
    connection.execute(delete(engine_choices).where(engine_choices.c.person == person.key))
    by = gone if by.key == person.key else by
    removed = changed = 0
    for case in _lock_cases_naming(connection, person):
        if case.owner_key == person.key and not case.shared:
            remove_case(connection, case.id, by)
            removed += 1
            continue
        document = case.model_dump(mode="json")
        if case.owner_key == person.key:
            document["owner"] = None
        document = _replace_person(
            document, person, gone, _collect_names(document, person.key) | ({known} if known else set())
        )
        left, row = case_row(Case.model_validate(document | {"version": case.version + 1}))
        connection.execute(update(cases).where(cases.c.id == case.id).values(row))
        save_queue_row(connection, left)
        changed += 1
    for job, record in _lock_jobs_asked_by(connection, person):
        record |= {"by": gone.name, "by_key": gone.key}
        if job["under_way"]:  # nobody may do it any more; whoever is at it finds it taken over
            record |= {"state": JobState.CANCELLED.value}
        values = {"document": json.dumps(record), "under_way": False, "fence": job["fence"] + job["under_way"]}
        connection.execute(update(jobs).where(jobs.c.id == job["id"]).values(values))
    stones = update(tombstones).where(tombstones.c.by_key == person.key)
    connection.execute(stones.values(by=gone.name, by_key=gone.key))
    return removed, changed


def _match_person(person: Person) -> ColumnElement[bool]:
    return (people.c.issuer == person.issuer) & (people.c.subject == person.subject)


def _lock_jobs_asked_by(connection: Connection, person: Person) -> Iterator[tuple[RowMapping, dict[str, Any]]]:
    """Those that they asked for, as rows and as what is on record of them."""
    like = select(jobs).where(jobs.c.document.contains(_escape_for_json(person.key), autoescape=True)).with_for_update()
    for row in connection.execute(like).mappings().all():
        record = json.loads(row["document"])
        if record["by_key"] == person.key:
            yield row, record


def _lock_cases_naming(connection: Connection, person: Person) -> Iterator[Case]:
    """Those that name them, each locked until the transaction ends."""
    of_them = or_(
        cases.c.owner == person.key, cases.c.document.contains(_escape_for_json(person.subject), autoescape=True)
    )
    for case_id in connection.scalars(select(cases.c.id).where(of_them).order_by(cases.c.id)).all():
        case = read_case(connection, case_id)
        if case.owner_key == person.key or _has_mention_of(case.model_dump(mode="json"), person):
            yield case


def _escape_for_json(words: str) -> str:
    """As it stands within a document."""
    return json.dumps(words, ensure_ascii=False)[1:-1]


def _has_mention_of(value: Any, person: Person) -> bool:
    if isinstance(value, dict):
        return _is_record_of(value, person.key) or any(_has_mention_of(item, person) for item in value.values())
    if isinstance(value, list):
        return any(_has_mention_of(item, person) for item in value)
    return bool(value == person.key)


def _is_record_of(value: Any, key: str) -> bool:
    return isinstance(value, dict) and f"{value.get('issuer')} {value.get('subject')}" == key


def _collect_names(value: Any, key: str) -> set[str]:
    """What they are called beside their key: it may have changed since."""
    if isinstance(value, list):
        return set().union(*(_collect_names(item, key) for item in value))
    if not isinstance(value, dict):
        return set()
    own = {value["name"]} if _is_record_of(value, key) else {value["by"]} if value.get("by_key") == key else set()
    return own.union(*(_collect_names(item, key) for item in value.values()))


def _is_name_of_person(value: dict[str, Any], field: str, key: str, names: set[str]) -> bool:
    """Whether that field says their name: known by the key beside it, or where none is kept by the name alone."""
    said = value[field]
    return field in _NAME_FIELDS and isinstance(said, str) and said in names and value.get("by_key", key) in (key, "")


def _find_records_of(value: Any, key: str, names: set[str], place: str) -> Iterator[dict[str, Any]]:
    """The records in a document that are by or about them, without what lies deeper in them."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _find_records_of(item, key, names, f"{place}/{number}")
    elif isinstance(value, dict):
        own = [name for name in value if _is_record_of(value[name], key) or value[name] == key]
        own += [name for name in value if _is_name_of_person(value, name, key, names)]
        if own:
            plain = {name: item for name, item in value.items() if name in own or not isinstance(item, dict | list)}
            yield {"where": place, "what": plain}
        for name, item in value.items():
            if not _is_record_of(item, key):
                yield from _find_records_of(item, key, names, f"{place}/{name}")


def _replace_person(value: Any, person: Person, gone: Person, names: set[str]) -> Any:
    if isinstance(value, list):
        return [_replace_person(item, person, gone, names) for item in value]
    if value == person.key:
        return gone.key
    if not isinstance(value, dict):
        return value
    if _is_record_of(value, person.key):
        return gone.model_dump(mode="json")
    changed = {name: _replace_person(item, person, gone, names) for name, item in value.items()}
    changed |= {name: gone.name for name in value if _is_name_of_person(value, name, person.key, names)}
    if value.get("kind") in _EVENTS_NAMING_PERSON and "detail" in value:
        told = {told: new for name in names for told, new in _list_detail_replacements(name, gone.name)}
        changed["detail"] = told.get(value["detail"], value["detail"])
    return changed


def _list_detail_replacements(name: str, new: str) -> Iterator[tuple[str, str]]:
    yield name, new
    yield f"from {name}", f"from {new}"


PROXY, VISITOR = "proxy", "visitor"
"""Issuers of those whom a proxy vouches for, and of whoever looks at a demo. A provider's begins with http."""
_MAX_NAME_CHARACTERS = 80  # as `domain.Person` has it


def person_of(claims: Mapping[str, object]) -> Person:
    """Who a provider vouches for, by the claims of its token (OpenID Connect Core, section 2).

    Raises InputError without an issuer that is an address, or a subject.
    """
    issuer, subject = str(claims.get("iss") or ""), str(claims.get("sub") or "")
    if not issuer.startswith(("https://", "http://")):  # other words are the program's own
        issuer = ""
    name = claims.get("name") or claims.get("preferred_username") or claims.get("nickname") or subject
    return actor_of(issuer, subject, " ".join(str(name).split())[:_MAX_NAME_CHARACTERS], Role.VIEWER).person


def proxied(user: str) -> Person:
    """Who an authenticating proxy on this machine says is there. Raises InputError for what is no name."""
    return actor_of(PROXY, user, user[:_MAX_NAME_CHARACTERS], Role.VIEWER).person


def visitor(number: str) -> Person:
    """Whoever looks at a demo, or answers a comparison."""
    return Person(issuer=VISITOR, subject=number, name="Visitor")


class People:
    """The people in a database opened by `open_database`, as `who` may see and change them. Safe for threads.

    Raises StoreError; NotAllowedError where `who` may not; InputError for somebody who never signed in.
    """

    def __init__(self, engine: Engine, clock: Callable[[], datetime], who: CurrentUser) -> None:
        self._engine = engine
        self._clock = clock
        self._who = who

    def acting_as(self, who: CurrentUser) -> People:
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
        known = update(people).where(_match_person(person)).values(name=person.name, last_seen=at)
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
            account = _load_account(connection, person)
        if account is None:
            raise NotAllowedError(
                "sign-in", "You are not in the list of people any more.", "Sign out and sign in again."
            )
        if account.disabled_at is not None:
            if account.disabled_at == account.first_seen:
                raise NotAllowedError("sign-in", "You are signed in, and wait until an admin lets you in.")
            raise NotAllowedError("sign-in", "Your access was taken away.", "Ask an admin to give it back.")
        return Actor(**account.person.model_dump(), role=account.role)

    def names(self) -> dict[str, str]:
        """What those who signed in are called, by their key."""
        with reading(self._engine) as connection:
            return {account.key: account.name for account in _load_accounts(connection)}

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
            return _load_accounts(connection)

    def moderators(self) -> list[Person]:
        """Moderators and admins who are let in, by name; whoever may assign cases may know them."""
        require(self._who(), Act.ASSIGN)
        with reading(self._engine) as connection:
            accounts = _load_accounts(connection)
        return [it.person for it in accounts if it.role in (Role.MODERATOR, Role.ADMIN) and it.disabled_at is None]

    def set_role(self, person: Person, role: Role) -> None:
        """What they may do from their next act on."""
        self._change(person, role=role)

    def set_disabled(self, person: Person, *, disabled: bool) -> None:
        """Keep them out from their next act on, or let them in again."""
        self._change(person, disabled_at=self._clock() if disabled else None)

    def exported(self, person: Person) -> str:
        """All that is on record by and about somebody, as JSON; see `export_person`."""
        require(self._who(), Act.PEOPLE)
        with reading(self._engine) as connection:
            return json.dumps(export_person(connection, person), ensure_ascii=False, indent=2)

    def erase(self, person: Person) -> tuple[int, int]:
        """Take somebody's name and key out of every record; see `erase_person`.

        How many cases were removed and how many changed. InputError for the last admin, and where nothing is known.
        """
        actor = self._who()
        require(actor, Act.PEOPLE)
        with writing(self._engine) as connection:
            account = _load_account(connection, person)
            counts = erase_person(connection, person, actor.person)
            if account is None and counts == (0, 0):
                raise InputError(
                    "Nobody with that issuer and subject has signed in.",
                    "They have to sign in once; then they are in the list.",
                )
            if account is not None:
                _require_remaining_admin(connection, account)
        return counts

    def _change(self, person: Person, **values: object) -> None:
        require(self._who(), Act.PEOPLE)
        with writing(self._engine) as connection:
            account = _load_account(connection, person)
            if account is None:
                raise InputError(
                    "Nobody with that issuer and subject has signed in.",
                    "They have to sign in once; then they are in the list.",
                )
            connection.execute(update(people).where(_match_person(person)).values(values))
            _require_remaining_admin(connection, account)


def _load_account(connection: Connection, person: Person) -> Account | None:
    row = connection.execute(select(people).where(_match_person(person)).with_for_update()).mappings().first()
    return Account.model_validate(dict(row)) if row else None


def _load_accounts(connection: Connection) -> list[Account]:
    rows = connection.execute(select(people).order_by(func.lower(people.c.name), people.c.subject))
    return [Account.model_validate(dict(row)) for row in rows.mappings()]


def _require_remaining_admin(connection: Connection, before: Account) -> None:
    """Raise InputError where a change to that account left nobody who may undo it."""
    if _is_active_admin(before) and not any(map(_is_active_admin, _load_accounts(connection))):
        raise InputError(f"{before.name} is the only admin.", "Make somebody else an admin first.")


def _is_active_admin(account: Account) -> bool:
    return account.role is Role.ADMIN and account.disabled_at is None
