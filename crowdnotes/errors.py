"""Every error that CrowdNotes raises on purpose.

Each carries a sentence for the user (`message`) and what to do next (`next_step`); the pages and
the command line show both and never a traceback.

    CrowdNotesError
    ├── InputError                what was typed or passed in cannot be used
    ├── ConfigurationError        a setting, or the installation, is wrong
    │   ├── ModelFilesError       the embedding model's files are missing or not the published ones
    │   └── DatabaseNotReadyError the database server does not answer, or has no tables: it may yet
    ├── FetchError                a page could not be had (carries a FetchOutcome)
    │   └── UnsafeUrlError        refused by the guard against private addresses
    ├── SearchError               a search provider did not answer (carries a ProviderState)
    ├── LibraryError              a local library cannot be made, found or read
    ├── EngineError               an engine could not do its step
    │   ├── ModelServerError      the language model's server could not be reached or did not serve
    │   ├── ModelAnswerError      it served, and the answer is of no use
    │   │   ├── ModelRefusedError     the model declined
    │   │   ├── AnswerCutError        the answer ended at the token limit
    │   │   ├── AnswerEmptyError      there is nothing in it
    │   │   └── AnswerUnreadableError it is not in the form asked for, or breaks a rule
    │   └── BudgetError           the next call could pass the budget
    ├── StoreError                the database
    │   ├── CaseNotFoundError
    │   ├── ComparisonNotFoundError
    │   ├── NewerCaseError        saved by a newer program than this one
    │   ├── StoreBusyError        locked by another process
    │   └── StoreFullError        the disk is full or read-only
    ├── JobError                  long work
    │   └── JobCancelled          the user asked for the stop
    ├── XError                    X did not do what it was asked (carries an XFault)
    ├── NotAllowedError           this person may not do that (`act` names it)
    └── WorkflowError             a rule of the workflow refuses (`rule` names it)
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from crowdnotes.wording import duration, fill

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crowdnotes.domain import FetchOutcome, Hit, ProviderState


class CrowdNotesError(Exception):
    """Base of all: `message` says what is the matter, `next_step` what the user can do."""

    default_next_step = ""
    may_be_logged = True  # its sentence, as far as it is ours; False where words of others may begin it

    def __init__(self, message: str, next_step: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.next_step = next_step or self.default_next_step

    def __str__(self) -> str:
        return f"{self.message} {self.next_step}".strip()


class InputError(CrowdNotesError):
    """What was typed or passed in cannot be used as it is."""

    may_be_logged = False


class ConfigurationError(CrowdNotesError):
    """A setting, or the installation itself, is wrong."""


class ModelFilesError(ConfigurationError):
    """The embedding model's files are missing or are not the published ones."""

    default_next_step = "Run `make install` again."


class DatabaseNotReadyError(ConfigurationError):
    """The database's server does not let us in, or has no tables; it may be ready later."""


class FetchError(CrowdNotesError):
    """A page could not be had; `outcome` is the label that the source will carry."""

    default_next_step = "Open the link yourself, or add another source."

    def __init__(self, message: str, outcome: FetchOutcome, next_step: str = "") -> None:
        super().__init__(message, next_step)
        self.outcome = outcome


class UnsafeUrlError(FetchError):
    """The guard refused the address: not http(s), or it leads to a private network."""

    default_next_step = "Use a public http or https address."


class SearchError(CrowdNotesError):
    """A search provider did not answer; `state` is the label that it will carry.

    `of_query`: it may well answer the next query. `found` are the hits of a query that it answered in part. `status`
    is the HTTP status of its refusal.
    """

    def __init__(
        self,
        message: str,
        state: ProviderState,
        next_step: str = "",
        *,
        of_query: bool = False,
        found: Sequence[Hit] = (),
        status: int | None = None,
    ) -> None:
        super().__init__(message, next_step)
        self.state = state
        self.status = status
        self.of_query = of_query
        self.found = found


class LibraryError(CrowdNotesError):
    """A local library cannot be made, found or read."""


class EngineError(CrowdNotesError):
    """An engine could not do its step."""

    default_next_step = "Try again, or continue by hand."


class ModelServerError(EngineError):
    """The language model's server could not be reached, is busy, or refused the call."""

    default_next_step = "Check the server and the model's name with `crowdnotes models`, then try again."


class ModelAnswerError(EngineError):
    """The server answered, and the answer is of no use."""

    may_be_logged = False


class ModelRefusedError(ModelAnswerError):
    """The model, or a filter of its server, declined to answer."""

    default_next_step = "Continue by hand, or choose another model for this step."


class AnswerCutError(ModelAnswerError):
    """The answer ended at the token limit, in the middle."""

    default_next_step = "Raise CROWDNOTES_LLM_MAX_ANSWER_TOKENS, or use a model that thinks less."


class AnswerEmptyError(ModelAnswerError):
    """There is nothing in the answer."""


class AnswerUnreadableError(ModelAnswerError):
    """The answer is not in the form asked for, or breaks a rule that the program checks."""

    default_next_step = "Try again, choose another model for this step, or continue by hand."


class BudgetError(EngineError):
    """The next call could pass the budget, so it was not made."""

    default_next_step = "Raise CROWDNOTES_LLM_BUDGET_DOLLARS or CROWDNOTES_LLM_BUDGET_TOKENS, or continue by hand."


class StoreError(CrowdNotesError):
    """The database could not do what was asked; nothing was half-written."""

    default_next_step = "Try again. Your last saved step is safe."


class CaseNotFoundError(StoreError):
    """No case with that id."""

    default_next_step = "It may have been deleted. Look on the Cases page."


class ComparisonNotFoundError(StoreError):
    """No blind comparison with that id."""

    default_next_step = "It may have been deleted, or part of the link is missing. Ask the person who gave it to you."


class NewerCaseError(StoreError):
    """A case in a form that only a newer program knows; it is left untouched."""

    default_next_step = "Update CrowdNotes to open it. Nothing was changed."


class StoreBusyError(StoreError):
    """Another process holds the database for too long."""

    default_next_step = "Close other programs that use this data folder, then try again."


class StoreFullError(StoreError):
    """The disk is full, or the data folder cannot be written."""

    default_next_step = "Free some disk space or allow writing to the folder, then try again."


class JobError(CrowdNotesError):
    """Long work could not be started or finished."""

    default_next_step = "Try again. Finished steps are kept."


class JobCancelled(JobError):  # noqa: N818 - a state that the user asked for, not a fault
    """The user asked for the stop; finished stages are kept."""

    default_next_step = "Continue at any time. Finished steps are kept."


class XFault(StrEnum):
    """Why X's API did not do what it was asked."""

    KEYS = "keys"
    NOT_RENEWED = "not_renewed"
    CREDITS = "credits"
    NOT_ENROLLED = "not_enrolled"
    FORBIDDEN = "forbidden"
    LIMIT = "limit"
    DAY = "day"
    HAS_NOTE = "has_note"
    REFUSED = "refused"
    NOT_THERE = "not_there"
    NO_JSON = "no_json"
    ADDRESS = "address"
    TOO_MANY = "too_many"
    NO_ANSWER = "no_answer"
    TROUBLE = "trouble"
    UNREADABLE = "unreadable"


X_FAULT_TEXT = {
    XFault.KEYS: (
        "X refused the keys (401).",
        "Check CROWDNOTES_X_…. An OAuth 2.0 token ends after two hours unless you also set the one that renews it.",
    ),
    XFault.NOT_RENEWED: (
        "X did not renew the OAuth 2.0 token: {words}",
        "Nothing was sent. Try again. If X still refuses, connect the account again and set the two new tokens.",
    ),
    XFault.CREDITS: (
        "Your app has no credits left at X (402).",
        "Nothing was sent. Buy credits in X's developer console, then try again.",
    ),
    XFault.NOT_ENROLLED: (
        "X does not know this account as an AI note writer, or the app is not connected (403).",
        "Enrol the account, and connect the app under “Community Notes” in X's developer console.",
    ),
    XFault.FORBIDDEN: (
        "X does not allow it (403): {words}",
        "Nothing was sent. Check that the app may read and write.",
    ),
    XFault.LIMIT: (
        "X accepts no more calls for {wait}.",
        "Nothing was sent. Try again then.",
    ),
    XFault.DAY: (
        "X accepts 250 notes a day, and that many were sent.",
        "This note was not sent. Try again tomorrow.",
    ),
    XFault.HAS_NOTE: (
        "X says you already have a note on this post: {words}",
        "Check with X whether it is this one.",
    ),
    XFault.REFUSED: (
        "X refused it ({status}): {words}",
        "Nothing was sent.",
    ),
    XFault.NOT_THERE: (
        "X cannot find it (404): {words}",
        "It may have been deleted, or CROWDNOTES_X_URL is wrong.",
    ),
    XFault.NO_JSON: (
        "A web page answered instead of X ({status}).",
        "Nothing was sent. Check CROWDNOTES_X_URL and the network.",
    ),
    XFault.ADDRESS: (
        "CROWDNOTES_X_URL is not a usable address.",
        "Correct or remove it.",
    ),
    XFault.TOO_MANY: (
        "The account has too many notes to look through, so we do not know whether this one arrived.",
        "Nothing more was sent. Look on X.",
    ),
    XFault.NO_ANSWER: (
        "X did not answer in time.",
        "We do not know whether the note arrived. Check in a minute.",
    ),
    XFault.TROUBLE: (
        "X has a fault ({status}).",
        "We do not know whether the note arrived. Check in a minute.",
    ),
    XFault.UNREADABLE: (
        "We cannot read X's answer.",
        "We do not know whether the note arrived. Check in a minute.",
    ),
}


class XError(CrowdNotesError):
    """X did not do what it was asked. `surely_not`: it did nothing; else it may have, and has to be asked."""

    may_be_logged = False

    def __init__(self, fault: XFault, *, status: int = 0, words: str = "", minutes: float = 0.0) -> None:
        message, next_step = X_FAULT_TEXT[fault]
        super().__init__(fill(message, status=status, words=words, wait=duration(60 * max(1.0, minutes))), next_step)
        self.fault = fault

    @property
    def surely_not(self) -> bool:
        """Whether nothing was written on X by the call."""
        return self.fault not in {XFault.NO_ANSWER, XFault.TROUBLE, XFault.UNREADABLE, XFault.HAS_NOTE}


class NotAllowedError(CrowdNotesError):
    """The person may not do that. `act` is its stable name, as in `domain.permissions.Act`."""

    def __init__(self, act: str, message: str, next_step: str = "") -> None:
        super().__init__(message, next_step)
        self.act = act


class WorkflowError(CrowdNotesError):
    """A rule of the workflow refuses. `rule` is its stable name, for tests, the page and JSON."""

    def __init__(self, rule: str, message: str, next_step: str = "") -> None:
        super().__init__(message, next_step)
        self.rule = rule
