"""The groups of settings: fetching, search, evidence, gates, language model, jury and others.

Each reads its own environment variables; see `settings` for how they are put together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from crowdnotes import PROJECT_PAGE, __version__
from crowdnotes.domain import SourceCategory
from crowdnotes.domain.base import Replaceable
from crowdnotes.errors import ConfigurationError

_Options = TypeVar("_Options", bound=BaseModel)


class SettingsGroup(BaseSettings, Replaceable):
    """Settings that are read from the environment alone: pydantic's other sources take two thirds of the time."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read what is passed in, then the environment."""
        return init_settings, env_settings


class FetchSettings(SettingsGroup):
    """Reading one page."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_FETCH_", frozen=True)

    # Constants; the environment does not change them.
    max_redirects: ClassVar[int] = 5  # a longer chain is a loop or a trap
    connect_seconds: ClassVar[float] = 6.0

    max_bytes: int = Field(10_000_000, gt=0, description="of one page, decompressed")
    total_seconds: float = Field(20.0, gt=0, description="for one page")
    user_agent: str = Field(
        f"CrowdNotes/{__version__} ({PROJECT_PAGE}; evidence reader for Community Notes)",
        description="CrowdNotes' name for websites",
    )
    cache_mb: int = Field(256, ge=0, description="pages kept on disk, for a day; 0 keeps none")


class ArchiveSettings(SettingsGroup):
    """Copies of pages in the Internet Archive."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_ARCHIVE_", frozen=True)

    # Constants; the environment does not change them.
    seconds: ClassVar[float] = 6.0  # for asking about one page, which has been waited for already

    ask: bool = Field(
        True,
        description="ask archive.org for copies of unreadable pages; it gets only public addresses without a query",
    )
    url: str = Field("https://archive.org", description="a mirror of its API")


_HOST_PATTERN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]+(?:/[^\s/]+){0,3}")


def _normalise_host(written: object, *, with_path: bool = False) -> str:
    host = str(written).strip().lower().removeprefix("www.").rstrip("./")
    if not _HOST_PATTERN.fullmatch(host) or ("/" in host and not with_path):
        raise ValueError(f"“{written}” is not a host; write mysite.org or mysite.org/folder, without https://")
    return host


# What a case looks for by itself: services are asked no more than that for it, registers the same searches.
MOST_QUERIES = 30
SECOND_QUERIES = 4  # of these, for what would settle the claim, where the first sources do not


class EvidenceSettings(SettingsGroup):
    """How sources are chosen."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_EVIDENCE_", frozen=True)

    # Constants; the environment does not change them.
    hits_per_query: ClassVar[int] = 10  # more adds little after merging

    quota: int | None = Field(
        None, ge=1, le=20, description="sources to read in a case. Without it: 4 that an AI chose, or 6"
    )
    follow_up_quota: int = Field(3, ge=1, le=20, description="sources that a further search adds")
    queries: int = Field(
        8, ge=1, le=MOST_QUERIES - SECOND_QUERIES, description="first searches of a case (CrowdNotes+ 4.2)"
    )

    categories: Mapping[str, SourceCategory] = Field(
        default_factory=dict, description='kinds of your own sources: {"mysite.org": "research literature"}'
    )

    @field_validator("categories", mode="before")
    @classmethod
    def _known_kinds(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            raise ValueError(  # noqa: TRY004 - pydantic turns a ValueError into the user's sentence
                'write hosts with kinds, as {"mysite.org": "research literature"}'
            )
        kinds = [kind.value for kind in SourceCategory]
        found: dict[str, object] = {}
        for written, kind in given.items():
            host = _normalise_host(written, with_path=True)
            if kind not in kinds:
                raise ValueError(f"“{kind}” is not a kind of source; use one of: {', '.join(kinds)}")
            found[host] = kind
        return found

    def sources_to_read(self, *, model_chooses: bool) -> int:
        """Return how many sources to read in a case, fewer where a model chooses: each costs tokens."""
        # Of 35 posts the passage with the deciding sentence was the model's first or second choice in 34, and none of
        # 34 first notes cited a choice after the third. The program alone chooses less well.
        return self.quota or (4 if model_chooses else 6)


class SearchSettings(SettingsGroup):
    """The search services."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_SEARCH_", frozen=True)

    # Constants; the environment does not change them.
    patience_seconds: ClassVar[float] = 5.0  # after it, a provider that has answered something is asked nothing more

    services: tuple[str, ...] | None = Field(
        None,
        description="online services ticked at first, [] for none. By default all that are set up or need no key; a "
        "web search without a key only if no other is set up",
    )
    reading_services: tuple[str, ...] = Field(
        (),
        description="reading services ticked at first (tavily-extract, jina-reader); they get only public addresses, "
        "without a query, of pages that we could not read",
    )
    leave_out: tuple[str, ...] = Field((), description='hosts that online searches leave out: ["example.com"]')
    contact_email: str | None = Field(
        None, description="sent to search services: Wikimedia, NCBI and Crossref then allow more"
    )
    request_seconds: float = Field(8.0, gt=0, description="for one request")
    provider_seconds: float = Field(12.0, gt=0, description="for one service in a search")
    of_providers: dict[str, Any] = Field(default_factory=dict, repr=False)

    @field_validator("leave_out")
    @classmethod
    def _hosts(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_normalise_host(written) for written in given)

    def of(self, options: type[_Options]) -> _Options:
        """Return what is set of one provider, as its own file declares it.

        Raises ConfigurationError for a bad value.
        """
        try:
            return options.model_validate(self.of_providers)
        except ValidationError as error:
            raise settings_error(error, str(self.model_config["env_prefix"])) from None  # the error may hold a key

    @model_validator(mode="before")
    @classmethod
    def _keep_what_providers_declare(cls, given: dict[str, Any]) -> dict[str, Any]:
        others = {name: value for name, value in given.items() if name not in cls.model_fields}
        own = {name: value for name, value in given.items() if name in cls.model_fields}
        return own | {"of_providers": {**own.get("of_providers", {}), **others}}

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Variables with the prefix that are no field here are kept too: a provider declares them."""
        return init_settings, env_settings, _ClosedSettingsGroups(settings_cls)


class _ClosedSettingsGroups(EnvSettingsSource):
    def __call__(self) -> dict[str, Any]:
        prefix, fields = self.env_prefix.lower(), self.settings_cls.model_fields
        named = {
            name.removeprefix(prefix): value
            for name, value in self.env_vars.items()
            if name.startswith(prefix) and value is not None
        }
        return {"of_providers": {name: value for name, value in named.items() if name not in fields}}


class GateSettings(SettingsGroup):
    """Who judges helpfulness."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_GATE_", frozen=True)

    helpfulness_judge: str = Field(
        "auto",
        description="“trained”: the shipped model; “model”: the AI; “server”: CROWDNOTES_LLM_JUDGE_*; “auto”: the one "
        "that suits",
    )


class LlmSettings(SettingsGroup):
    """An AI on any server with OpenAI's protocol: see [models](models.md).

    Keys come from here or from the system's keyring, and are in no database, log or error.
    """

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_LLM_", frozen=True)

    # Constants; the environment does not change them.
    answer_tokens: ClassVar[int] = 2000  # of one answer at first; doubled for an answer that was cut
    candidate_temperature: ClassVar[float] = 0.7  # at 0 the writer's notes differ less
    supernote_temperature: ClassVar[float] = 0.95  # Supernotes, as in the paper
    supernote_top_p: ClassVar[float] = 0.8
    supernote_candidates: ClassVar[int] = 5  # in one call: with more a model repeats itself, fewer cost more calls

    base_url: str | None = Field(None, description="the server, as http://127.0.0.1:11434/v1")
    model: str = Field("", description="the model for every other step")
    queries_model: str = Field("", description="for claims, searches and images")
    utility_model: str = Field("", description="for choosing search results")
    writing_model: str = Field("", description="for the note")
    judging_model: str = Field("", description="for checks")
    api_key: SecretStr | None = Field(None, description="the server's key; else the keyring's")
    judge_base_url: str | None = Field(None, description="another server that judges helpfulness")
    judge_model: str = Field("", description="its model, such as HealthJudge")
    judge_api_key: SecretStr | None = Field(None, description="its key")
    judge_form: Literal["json", "final decision"] = Field(
        "json", description="“final decision” if it ends with “Final decision: yes” or “no”"
    )
    sees_images: bool = Field(False, description="the model for searches can read pictures")
    effort: Mapping[str, Literal["none", "minimal", "low", "medium", "high"]] = Field(
        {"queries": "low", "utility": "low", "writing": "medium", "judging": "medium"},
        description="how long a thinking model thinks; it decides at steps left out",
    )
    timeout_seconds: float = Field(60.0, gt=0, description="of silence within an answer")
    first_word_seconds: float = Field(300.0, gt=0, description="of silence before the first word")
    connect_seconds: float = Field(5.0, gt=0, description="to connect to the server")
    total_seconds: float = Field(900.0, gt=0, description="for one answer, retries included")
    max_retries: int = Field(2, ge=0, le=10, description="after 408, 409, 429, 5xx and lost connections")
    at_once: int = Field(10, ge=1, le=64, description="calls at the same time")
    max_answer_tokens: int = Field(16_000, ge=64, description="of one answer; thinking needs many")
    votes: int = Field(1, ge=1, le=15, description="how often to ask a judge without token probabilities; odd")
    budget_dollars: float | None = Field(1.0, ge=0, description="for one case, if the price is known")
    budget_tokens: int | None = Field(600_000, ge=0, description="for one case")
    dollars_per_million_input: float | None = Field(None, ge=0, description="your own price")
    dollars_per_million_output: float | None = Field(None, ge=0, description="the same for the answers")
    cache_mb: int = Field(64, ge=0, description="answers kept on disk; 0 keeps none")

    @field_validator("base_url", "judge_base_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        if value is None or not value.strip():
            return None
        parts = urlsplit(value.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("not an http or https address")
        if parts.username or parts.password:
            raise ValueError("take the key out of the address; use the keyring or the API_KEY variable")
        return value.strip().rstrip("/")

    @field_validator("votes")
    @classmethod
    def _odd(cls, value: int) -> int:
        if value % 2 == 0:
            raise ValueError("an even number of votes can tie")
        return value


class RatersWanted(StrEnum):
    """Whose ratings the statuses should rest on."""

    CORE = "core"
    ALL = "all"


class JurySettings(SettingsGroup):
    """The simulated jury."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_JURY_", frozen=True)

    # Constants; the environment does not change them.
    repeats: ClassVar[int] = 40  # juries behind the interval; fewer make its ends jump
    global_intercept: ClassVar[float] = 0.17  # 0.172 in the official evaluator's notebook of 2025; the pool has none
    ratings_per_note: ClassVar[float] = 37.0  # 29.4 million ratings of 0.8 million notes (diligence model's code)
    like_minded: ClassVar[float] = 2.0  # log odds per unit of factor by which a like-minded viewer is likelier
    familiar_words: ClassVar[float] = (
        0.69  # share of known words and pairs below which numbers mean nothing; 1 % of real notes
    )

    jurors: int = Field(1_000, ge=1, le=100_000, description="simulated readers")
    seed: int = Field(0, ge=0, description="the same number gives the same verdict")
    raters: Path | None = Field(None, description="a Parquet file of other raters (rater_intercept, rater_factor)")
    model: Path | None = Field(None, description="another model, a folder from `crowdnotes train jury`")


class SupernoteSettings(SettingsGroup):
    """One note from many."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_SUPERNOTE_", frozen=True)

    candidates: int = Field(100, ge=1, le=300, description="drafts for a supernote (Supernotes 3.1)")


def settings_error(error: ValidationError, prefix: str) -> ConfigurationError:
    """Return what is wrong with the settings of this prefix, and how they are written."""
    found = error.errors(include_url=False, include_input=False)
    problems = "; ".join(
        f"{prefix}{_format_variable_name(e['loc'])}: {e['msg'].removeprefix('Value error, ')}" for e in found
    )
    return ConfigurationError(f"A setting is wrong: {problems}.", "Correct the environment variable.")


def _format_variable_name(place: tuple[int | str, ...]) -> str:
    return "_".join(part for part in place if isinstance(part, str)).upper()
