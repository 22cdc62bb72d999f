"""Who signed in and what each may do; what is on record of a person, and how it is erased.

A person is found by their `Person.key` wherever a document holds one, and by name where only the name was stored. After
an erasure every record says "someone who left". What a person typed is kept as typed, even if it names someone.
"""

from __future__ import annotations

import json
import secrets
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, RowMapping, delete, func, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from crowdnotes.cases.blinding import hide_other_reviews, is_reviewed, is_something_hidden, keep_reviews
from crowdnotes.cases.permissions import actor_of, require
from crowdnotes.cases.review_queue import save_queue_row
from crowdnotes.cases.store import case_row, read_case, remove_case
from crowdnotes.domain import (
    BY_PERSON,
    Account,
    Act,
    Actor,
    Case,
    CurrentUser,
    GateStatus,
    Person,
    PrincipleName,
    Role,
    SuggestionAnswer,
    text_sha256,
)
from crowdnotes.engines.choice import EngineChoice
from crowdnotes.errors import InputError, NotAllowedError, WorkflowError
from crowdnotes.jobs.records import JobState
from crowdnotes.notes.gates import checked_by
from crowdnotes.storage.database import now_of, reading, writing
from crowdnotes.storage.tables import cases, contents, engine_choices, jobs, people, presence, tombstones


def export_person(connection: Connection, person: Person, reader: Actor) -> dict[str, Any]:
    """Return all that is stored by and about them: their cases whole, and their parts of others' cases.

    "not_shown" are the ids of cases of which `reader` may not know yet what moderators found (`hide_other_reviews`).
    """
    found: dict[str, Any] = {"key": person.key, "account": None, "engine": None, "cases": [], "elsewhere": {}}
    found |= {"jobs": [], "deleted": [], "not_shown": []}
    known = _load_account(connection, person)
    person = known.person if known is not None else person
    found["key"] = person.key
    account = connection.execute(select(people).where(_match_person(person))).mappings().first()
    if account is not None:
        found["account"] = {name: str(value) for name, value in account.items() if value is not None}
    engine = connection.execute(select(engine_choices).where(engine_choices.c.person == person.key)).mappings().first()
    if engine is not None:
        found["engine"] = {"base_url": engine["base_url"], "model": engine["model"]}
    for case in _lock_cases_naming(connection, person):
        seen = hide_other_reviews(case, reader)
        if is_something_hidden(seen):
            found["not_shown"].append(case.id)
        document = seen.model_dump(mode="json")
        if case.owner_key == person.key:
            found["cases"].append(document)
        else:
            keyless = {(id(value), field) for value, field in _find_keyless_names(document, person.key)}
            found["elsewhere"][case.id] = list(_find_records_of(document, person.key, keyless, ""))
    for _, job in _lock_jobs_asked_by(connection, person):
        found["jobs"].append({name: job[name] for name in ("id", "case_id", "kind", "state", "started_at", "by")})
    for row in connection.execute(select(tombstones).where(tombstones.c.by_key == person.key)).mappings():
        found["deleted"].append({"case_id": row["case_id"], "at": row["deleted_at"].isoformat(), "by": row["by"]})
    return found


def erase_person(connection: Connection, person: Person, by: Person, at: datetime) -> tuple[int, int]:
    """Remove their name and key from every record, and their own cases that nobody else was shown, except ids.

    Of such a case that moderators reviewed, their part is kept, see `keep_reviews`. Returns how many cases were
    removed, and how many changed.
    """
    # A random number, so that a case can hold several people who left.
    gone = Person(issuer="crowdnotes", subject=f"left-{secrets.token_hex(8)}", name="someone who left")
    account = _load_account(connection, person)
    person = account.person if account is not None else person
    namesakes = {other.name for other in _load_accounts(connection) if other.key != person.key}
    connection.execute(delete(people).where(_match_person(person)))
    if account is not None:
        _save_mark(connection, account, at)
    connection.execute(delete(presence).where(presence.c.person == person.key))
    connection.execute(delete(engine_choices).where(engine_choices.c.person == person.key))
    by = gone if by.key == person.key else by
    removed = changed = 0
    for case in _lock_cases_naming(connection, person):
        if case.owner_key == person.key and not case.shared:
            _require_unclaimed(case, person, now_of(connection))
            if not is_reviewed(case, person.key):
                remove_case(connection, case.id, by)
                removed += 1
                continue
            case = keep_reviews(case, person.key, at)  # noqa: PLW2901 - what is left of it
            connection.execute(delete(contents).where(contents.c.case_id == case.id))
            connection.execute(delete(jobs).where(jobs.c.case_id == case.id))
        document = case.model_dump(mode="json")
        if case.owner_key == person.key:
            document["owner"] = None
        named = account.name if account is not None else ""
        keyless = _find_keyless_names(document, person.key, known=named, namesakes=namesakes)
        _replace_keyless_names(document, keyless, gone.name)
        document = _replace_person(document, person, gone)
        left, row = case_row(Case.model_validate(document | {"version": case.version + 1}))
        connection.execute(update(cases).where(cases.c.id == case.id).values(row))
        save_queue_row(connection, left)
        changed += 1
    for job, record in _lock_jobs_asked_by(connection, person):
        record |= {"by": gone.name, "by_key": gone.key}
        if job["under_way"]:  # the worker that runs it finds that it was taken over
            record |= {"state": JobState.CANCELLED.value}
        values = {"document": json.dumps(record), "under_way": False, "fence": job["fence"] + job["under_way"]}
        connection.execute(update(jobs).where(jobs.c.id == job["id"]).values(values))
    stones = update(tombstones).where(tombstones.c.by_key == person.key)
    connection.execute(stones.values(by=gone.name, by_key=gone.key))
    return removed, changed


def _require_unclaimed(case: Case, person: Person, at: datetime) -> None:
    """Raise WorkflowError while another person reviews the case: it must not be removed then."""
    lease = case.desk.lease
    if lease is not None and lease.holder.key != person.key and lease.holds(at):
        raise WorkflowError(
            "claimed",
            f"Nothing was erased: {lease.holder.name} is working on a case that would be removed.",
            "Wait for them, or share the case first.",
        )


def _match_person(person: Person) -> ColumnElement[bool]:
    return (people.c.issuer == person.issuer) & (people.c.subject == person.subject)


def _lock_jobs_asked_by(connection: Connection, person: Person) -> Iterator[tuple[RowMapping, dict[str, Any]]]:
    """Yield the jobs that they asked for: each row and its stored record."""
    like = select(jobs).where(jobs.c.document.contains(_escape_for_json(person.key), autoescape=True)).with_for_update()
    for row in connection.execute(like).mappings().all():
        record = json.loads(row["document"])
        if record["by_key"] == person.key:
            yield row, record


def _lock_cases_naming(connection: Connection, person: Person) -> Iterator[Case]:
    """Yield the cases that name them, each locked until the transaction ends."""
    of_them = or_(
        cases.c.owner == person.key, cases.c.document.contains(_escape_for_json(person.subject), autoescape=True)
    )
    for case_id in connection.scalars(select(cases.c.id).where(of_them).order_by(cases.c.id)).all():
        case = read_case(connection, case_id)
        if case.owner_key == person.key or _has_mention_of(case.model_dump(mode="json"), person):
            yield case


def _escape_for_json(words: str) -> str:
    """Return the words as a JSON document holds them."""
    return json.dumps(words, ensure_ascii=False)[1:-1]


def _has_mention_of(value: Any, person: Person) -> bool:
    if isinstance(value, dict):
        return _is_record_of(value, person.key) or any(_has_mention_of(item, person) for item in value.values())
    if isinstance(value, list):
        return any(_has_mention_of(item, person) for item in value)
    return bool(value == person.key)


def _is_record_of(value: Any, key: str) -> bool:
    return isinstance(value, dict) and f"{value.get('issuer')} {value.get('subject')}" == key


def _collect_names(value: Any) -> dict[str, set[str]]:
    """Return every name stored with a key, by that key: names change over time."""
    found: dict[str, set[str]] = {}
    if isinstance(value, dict):
        if {"issuer", "subject", "name"} <= value.keys():
            found[f"{value['issuer']} {value['subject']}"] = {value["name"]}
        if value.get("by_key") and "by" in value:
            found[value["by_key"]] = {value["by"]}
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        for key, names in _collect_names(item).items():
            found[key] = found.get(key, set()) | names
    return found


def _find_keyless_names(
    document: dict[str, Any], key: str, *, known: str = "", namesakes: Collection[str] = ()
) -> list[tuple[dict[str, Any], str]]:
    """Return the objects and fields that name that person without their key, but not a namesake.

    Other parts of the case say whose name it is; where none does, it counts if nobody else has that name.
    """
    by_key = _collect_names(document)
    names = by_key.pop(key, set()) | ({known} if known else set())
    others = {name for found in by_key.values() for name in found} | set(namesakes)
    return [
        (value, field)
        for value, field, said, whose in _list_keyless_names(document)
        if said in names and (whose == key or (not whose and said not in others))
    ]


def _list_keyless_names(document: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str, str, str | None]]:
    """Yield each name without a key: the object, the field, the name, and whose key it is, if known."""
    events, checks, work = document["events"], document["sentence_checks"], document["desk"]
    holder: str | None = None
    assigned: dict[str, Any] | None = None
    for event in events:
        if event["kind"] == "taken over":
            yield event, "detail", event["detail"].removeprefix("from "), holder
        if event["kind"] in ("claimed", "taken over"):
            holder = event["by_key"]
        if event["kind"] == "assigned":
            if assigned is not None:
                yield assigned, "detail", assigned["detail"], None
            assigned = event
    if assigned is not None:
        to = work["assigned"] or {}
        yield assigned, "detail", assigned["detail"], f"{to['issuer']} {to['subject']}" if to else None

    def answered_by(*answers: str) -> str | None:
        said = (it for it in reversed(events) if it["kind"] == "suggestion answered")
        return next((it["by_key"] for it in said if not set(answers).isdisjoint(it["detail"].split("; "))), None)

    for item in document["suggestions"]:
        yield item, "by", item["by"], item["owed"] or item["typed_by"]
        said = (item["answer"], SuggestionAnswer(item["answer"]).as_text) if item["answer"] else ()
        # The record had the answer's stored value before it had words.
        yield item, "answered_by", item["answered_by"], answered_by(*(f"{item['id']} {words}" for words in said))
        yield item, "resolved_by", item["resolved_by"], answered_by(f"{item['id']} needs no answer")
    for asked in document["follow_ups"]:
        yield asked, "by", asked["by"], next((it["by_key"] for it in events if it["at"] == asked["asked_at"]), None)
    texts = {text_sha256(it["text"]): it["text"] for it in (*document["revisions"], document["draft"]) if it}
    for assessment in _list_assessments(document):
        note = texts.get(assessment["text_sha256"], "")
        for sentence in assessment["sentences"]:
            place = (note[sentence["span"]["start"] : sentence["span"]["end"]], sentence["evidence_id"], sentence["by"])
            made = (it for it in reversed(checks) if (it["words"], it["evidence_id"], it["by"]) == place)
            yield sentence, "by", sentence["by"], next((it["by_key"] for it in made), None)


def _list_assessments(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [*document["earlier_assessments"], *filter(None, [document["assessment"]])]


def _replace_keyless_names(document: dict[str, Any], found: Sequence[tuple[dict[str, Any], str]], new: str) -> None:
    """Replace these names, also in the sentences that the program made of names."""
    before = [[it["by"] for it in assessment["sentences"]] for assessment in _list_assessments(document)]
    for value, field in found:
        value[field] = f"from {new}" if value.get("kind") == "taken over" else new
    for names, assessment in zip(before, _list_assessments(document), strict=True):
        named = [it["by"] for it in assessment["sentences"]]
        gates = (*assessment["gates"], *assessment["held"])
        passed = [it for it in gates if (it["judge"], it["status"]) == (BY_PERSON, GateStatus.PASS)]
        if named == names or not passed:
            continue
        same = [it for it in assessment["principles"] if it["principle"] == PrincipleName.SOURCES_SUPPORT]
        for result in (*passed, *same):
            result["reason"] = checked_by(named)


def _find_records_of(
    value: Any, key: str, keyless: Collection[tuple[int, str]], place: str
) -> Iterator[dict[str, Any]]:
    """Yield the records in a document that are by or about them, without nested records.

    `keyless` are the objects, by their `id`, and fields that name them without their key.
    """
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from _find_records_of(item, key, keyless, f"{place}/{number}")
    elif isinstance(value, dict):
        own = [name for name in value if _is_record_of(value[name], key) or value[name] == key]
        own += [name for name in value if (id(value), name) in keyless]
        own += ["by"] if value.get("by_key") == key and "by" in value else []
        if own:
            plain = {name: item for name, item in value.items() if name in own or not isinstance(item, dict | list)}
            yield {"where": place, "what": plain}
        for name, item in value.items():
            if not _is_record_of(item, key):
                yield from _find_records_of(item, key, keyless, f"{place}/{name}")


def _replace_person(value: Any, person: Person, gone: Person) -> Any:
    if isinstance(value, list):
        return [_replace_person(item, person, gone) for item in value]
    if value == person.key:
        return gone.key
    if not isinstance(value, dict):
        return value
    if _is_record_of(value, person.key):
        return gone.model_dump(mode="json")
    changed = {name: _replace_person(item, person, gone) for name, item in value.items()}
    return changed | ({"by": gone.name} if value.get("by_key") == person.key and "by" in value else {})


# A mark, which only their key gives, stays of a person who was erased: who was kept out stays out, and a sign-in from
# before the erasure brings nobody back. The table of people has it, under an issuer of the program's own.
_LEFT = "crowdnotes"


def _mark_of(person: Person) -> Person:
    """Return what is kept of a person who left; the same for all spellings that a proxy uses of them."""
    key = f"{person.issuer} {_subject_of(person)}"
    return Person(issuer=_LEFT, subject=f"left-{text_sha256(key)}", name="someone who left")


def _load_mark(connection: Connection, person: Person) -> Account | None:
    exact = Person(issuer=_LEFT, subject=f"left-{text_sha256(person.key)}", name="someone who left")
    return _load_account(connection, _mark_of(person)) or _load_account(connection, exact)


def _save_mark(connection: Connection, account: Account, at: datetime) -> None:
    """Store when they were erased, and whether they were kept out."""
    out_since = at if account.disabled_at is not None else None
    row = {"role": Role.VIEWER, "disabled_at": out_since, "first_seen": at, "last_seen": at}
    connection.execute(delete(people).where(_match_person(_mark_of(account))))
    connection.execute(insert(people).values(_mark_of(account).model_dump() | row))


PROXY, VISITOR = "proxy", "visitor"
"""Issuers of people that a proxy vouches for, and of visitors of a demo. A provider's begins with http."""
_MAX_NAME_CHARACTERS = 80  # as `domain.Person` has it


def person_of(claims: Mapping[str, object]) -> Person:
    """Return the person of a provider's token, by its claims (OpenID Connect Core, section 2).

    Raises InputError without an issuer that is an address, or a subject.
    """
    issuer, subject = str(claims.get("iss") or ""), str(claims.get("sub") or "")
    if not issuer.startswith(("https://", "http://")):  # any other issuer is one of the program's own
        issuer = ""
    name = claims.get("name") or claims.get("preferred_username") or claims.get("nickname") or subject
    return actor_of(issuer, subject, " ".join(str(name).split())[:_MAX_NAME_CHARACTERS], Role.VIEWER).person


def signed_in_at(claims: Mapping[str, object]) -> datetime | None:
    """Return when the provider made the token (`iat`, OpenID Connect Core, section 2); None without it."""
    seconds = claims.get("iat")
    return datetime.fromtimestamp(seconds, UTC) if isinstance(seconds, int) and 0 < seconds < 2**33 else None


def proxied(user: str) -> Person:
    """Return the person that an authenticating proxy on this machine names. Raises InputError for an unusable name."""
    return actor_of(PROXY, user, user[:_MAX_NAME_CHARACTERS], Role.VIEWER).person


def visitor(number: str) -> Person:
    """Return a person who looks at a demo, or answers a comparison."""
    return Person(issuer=VISITOR, subject=number, name="Visitor")


class People:
    """The people in a database opened by `open_database`, as `current_user` may see and change them. Safe for threads.

    Raises StoreError; NotAllowedError where `current_user` may not; InputError for a person who never signed in.
    """

    def __init__(self, engine: Engine, clock: Callable[[], datetime], current_user: CurrentUser) -> None:
        self._engine = engine
        self._clock = clock
        self._current_user = current_user

    def acting_as(self, current_user: CurrentUser) -> People:
        """Return these people as another person may see and change them."""
        return People(self._engine, self._clock, current_user)

    # --- asked by the program itself ---

    def seen(self, person: Person, first_role: str, signed_in_at: datetime | None = None) -> None:
        """Record a sign-in. A new person gets that role; with "none" an admin has to let them in first.

        A person who was erased starts as new by a later sign-in, unless they had been kept out: then nothing is stored.
        """
        at, is_out = self._clock(), first_role == "none"
        account = Account(
            **(person.person.model_dump() | {"subject": _subject_of(person)}),
            role=Role.VIEWER if is_out else Role(first_role),
            disabled_at=at if is_out else None,
            first_seen=at,
            last_seen=at,
        )
        with writing(self._engine) as connection:
            if (known := _load_signed_in(connection, person)) is not None:
                there = update(people).where(_match_person(known))
                connection.execute(there.values(name=person.name, last_seen=at))
                return
            left = _load_mark(connection, person)
            if left is not None:
                is_before = signed_in_at is not None and signed_in_at <= left.first_seen
                if left.disabled_at is not None or is_before:
                    return
                connection.execute(delete(people).where(_match_person(left)))
        try:
            with writing(self._engine) as connection:
                connection.execute(insert(people).values(account.model_dump()))
        except IntegrityError:  # another tab did it at the same moment
            return

    def actor(self, person: Person) -> Actor:
        """Return that person with their current role. NotAllowedError for a disabled or unknown person."""
        with reading(self._engine) as connection:
            account = _load_signed_in(connection, person)
            left = _load_mark(connection, person) if account is None else None
        if left is not None and left.disabled_at is not None:
            raise NotAllowedError("sign-in", "An admin took your access away.", "Ask an admin to give it back.")
        if account is None:
            raise NotAllowedError("sign-in", "You are no longer in the list of people.", "Sign out and sign in again.")
        if account.disabled_at is not None:
            if account.disabled_at == account.first_seen:
                raise NotAllowedError("sign-in", "You are signed in. An admin must let you in now.")
            raise NotAllowedError("sign-in", "An admin took your access away.", "Ask an admin to give it back.")
        return Actor(**account.person.model_dump(), role=account.role)

    def names(self) -> dict[str, str]:
        """Return the names of those who signed in, by their key."""
        with reading(self._engine) as connection:
            return {account.key: account.name for account in _load_accounts(connection)}

    def engines(self, key: str, over: str) -> tuple[EngineChoice | None, EngineChoice | None]:
        """Return the engine chosen for everybody, and the one that the person of this key chose, over that one."""
        of_them = select(engine_choices).where(
            engine_choices.c.person.in_(["", key]), engine_choices.c.chosen_over == over
        )
        with reading(self._engine) as connection:
            found = {row.person: EngineChoice(row.base_url, row.model) for row in connection.execute(of_them)}
        return found.get(""), found.get(key)

    def choose_engine(self, choice: EngineChoice, over: str, *, for_all: bool) -> None:
        """Store the engine that `current_user` chose over the one that is set, `for_all` for everybody as well.

        Without `for_all` each may choose again. `SharedWorkspace.use` checks whether they may.
        """
        holders = ["", self._current_user().key] if for_all else [self._current_user().key]
        row = {"base_url": choice.base_url, "model": choice.model, "chosen_over": over}
        with writing(self._engine) as connection:
            connection.execute(delete(engine_choices).where(engine_choices.c.person.in_(["", *holders])))
            connection.execute(insert(engine_choices), [{"person": holder, **row} for holder in holders])

    # --- for admins ---

    def everybody(self) -> list[Account]:
        """Return all who signed in once, by name."""
        require(self._current_user(), Act.PEOPLE)
        with reading(self._engine) as connection:
            return _load_accounts(connection)

    def moderators(self) -> list[Person]:
        """Return active moderators and admins, by name; anyone who may assign cases may see them."""
        require(self._current_user(), Act.ASSIGN)
        with reading(self._engine) as connection:
            accounts = _load_accounts(connection)
        return [it.person for it in accounts if it.role in (Role.MODERATOR, Role.ADMIN) and it.disabled_at is None]

    def set_role(self, person: Person, role: Role) -> None:
        """Set what they may do from their next act on."""
        self._change(person, role=role)

    def set_disabled(self, person: Person, *, disabled: bool) -> None:
        """Keep them out from their next act on, or let them in again; also a person who was erased, by their key."""
        with reading(self._engine) as connection:
            known = _load_account(connection, person)
            left = _load_mark(connection, person)
        whom = left if known is None and left is not None else person
        self._change(whom, disabled_at=self._clock() if disabled else None)

    def exported(self, person: Person) -> str:
        """Return all that is on record by and about a person, as JSON; see `export_person`."""
        actor = self._current_user()
        require(actor, Act.PEOPLE)
        with reading(self._engine) as connection:
            return json.dumps(export_person(connection, person, actor), ensure_ascii=False, indent=2)

    def erase(self, person: Person) -> tuple[int, int]:
        """Remove a person's name and key from every record; see `erase_person`.

        Returns how many cases were removed and how many changed. InputError for the last admin, and where nothing is
        known.
        """
        actor = self._current_user()
        require(actor, Act.PEOPLE)
        with writing(self._engine) as connection:
            account = _load_account(connection, person)
            counts = erase_person(connection, person, actor.person, self._clock())
            if account is None and counts == (0, 0):
                raise InputError(
                    "Nobody with that issuer and subject has signed in yet.",
                    "They must sign in once first.",
                )
            if account is not None:
                _require_remaining_admin(connection, account)
        return counts

    def _change(self, person: Person, **values: object) -> None:
        require(self._current_user(), Act.PEOPLE)
        with writing(self._engine) as connection:
            account = _load_account(connection, person)
            if account is None:
                raise InputError(
                    "Nobody with that issuer and subject has signed in yet.",
                    "They must sign in once first.",
                )
            connection.execute(update(people).where(_match_person(account)).values(values))
            _require_remaining_admin(connection, account)


def _load_account(connection: Connection, person: Person) -> Account | None:
    row = connection.execute(select(people).where(_match_person(person)).with_for_update()).mappings().first()
    return Account.model_validate(dict(row)) if row else next(iter(_load_same(connection, person)), None)


def _load_signed_in(connection: Connection, person: Person) -> Account | None:
    """Return the account of the person who signed in; of several spellings of one name first one that is kept out."""
    return next(iter(_load_same(connection, person)), None) or _load_account(connection, person)


def _load_same(connection: Connection, person: Person) -> list[Account]:
    """Return the accounts whose proxy name differs only in case or letter forms; none of other issuers."""
    if person.issuer != PROXY:
        return []
    rows = connection.execute(select(people).where(people.c.issuer == PROXY).order_by(people.c.first_seen)).mappings()
    same = [Account.model_validate(dict(row)) for row in rows if _fold(row["subject"]) == _fold(person.subject)]
    return sorted(same, key=lambda account: account.disabled_at is None)


def _subject_of(person: Person) -> str:
    """Return the name that the account is stored under: a proxy's "Ann" and "ann" are one person."""
    return _fold(person.subject) if person.issuer == PROXY else person.subject


def _fold(name: str) -> str:
    # As LDAP compares names (RFC 4518): a proxy may pass on a name as it was typed. A provider's `sub` is never
    # folded: OpenID Connect Core, section 2, makes case part of it.
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _load_accounts(connection: Connection) -> list[Account]:
    """Return all accounts, without the marks of people who were erased."""
    there = select(people).where(people.c.issuer != _LEFT)
    rows = connection.execute(there.order_by(func.lower(people.c.name), people.c.subject))
    return [Account.model_validate(dict(row)) for row in rows.mappings()]


def _require_remaining_admin(connection: Connection, before: Account) -> None:
    """Raise InputError where a change to that account left no admin."""
    if _is_active_admin(before) and not any(map(_is_active_admin, _load_accounts(connection))):
        raise InputError(f"{before.name} is the only admin.", "Make another person an admin first.")


def _is_active_admin(account: Account) -> bool:
    return account.role is Role.ADMIN and account.disabled_at is None
