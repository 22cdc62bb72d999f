"""The groups of settings: fetching, search, evidence, gates, language model, jury and others.

Each reads its own environment variables; see `settings` for how they are put together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, SecretStr, ValidationError, ValidationInfo, field_validator, model_validator
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
    """Bounds of reading one page."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_FETCH_", frozen=True)

    max_redirects: int = Field(5, ge=0, description="a chain longer than this is a loop or a trap")
    max_bytes: int = Field(10_000_000, gt=0, description="counted after decompression: a bomb stops here")
    total_seconds: float = Field(20.0, gt=0, description="for the whole exchange, so a slow drip ends too")
    connect_seconds: float = Field(6.0, gt=0, description="a host that is up answers sooner")
    user_agent: str = Field(
        f"CrowdNotes/{__version__} ({PROJECT_PAGE}; evidence reader for Community Notes)",
        description="says honestly who reads, and where to ask about it",
    )
    cache_mb: int = Field(
        256, ge=0, description="pages kept on disk for as long as their sites allow, a day at most; 0 keeps none"
    )


class ArchiveSettings(SettingsGroup):
    """Copies in the Wayback Machine of pages that could not be read, and of a note's links that are dead."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_ARCHIVE_", frozen=True)

    ask: bool = Field(
        True,
        description="archive.org is told the public address (none with a query) of a page that could not be read, and "
        "nothing of the post, and its copy is read instead; false tells it nothing, and no copy is known",
    )
    url: str = Field("https://archive.org", description="the Internet Archive, or a mirror of its availability API")
    seconds: float = Field(6.0, gt=0, description="for asking about one page, which has been waited for already")


_HOST_PATTERN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]+(?:/[^\s/]+){0,3}")


def _normalise_host(written: object, *, with_path: bool = False) -> str:
    host = str(written).strip().lower().removeprefix("www.").rstrip("./")
    if not _HOST_PATTERN.fullmatch(host) or ("/" in host and not with_path):
        raise ValueError(f"“{written}” is no host; write it as mysite.org or mysite.org/folder, without https://")
    return host


# What a case looks for by itself: services are asked no more than that for it, registers the same searches.
MOST_QUERIES = 30
SECOND_QUERIES = 4  # of these, for what would settle the claim, where the first sources do not


class EvidenceSettings(SettingsGroup):
    """How passages and sources are chosen."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_EVIDENCE_", frozen=True)

    passage_tokens: int = Field(512, ge=32, description="CrowdNotes+ appendix D.2")
    passage_overlap: int = Field(128, ge=0, description="CrowdNotes+ appendix D.2")
    surroundings: int = Field(700, ge=0, description="characters shown before and after a passage")
    quota: int = Field(6, ge=1, le=20, description="sources chosen: what a person will read in five minutes")
    follow_up_quota: int = Field(
        3, ge=1, le=20, description="sources that a follow-up search adds: each is one more to read"
    )
    hits_per_query: int = Field(10, ge=1, description="more adds little after merging")
    queries: int = Field(
        8,
        ge=1,
        le=MOST_QUERIES - SECOND_QUERIES,
        description="diverse queries (CrowdNotes+ 4.2); more repeat themselves",
    )

    categories: Mapping[str, SourceCategory] = Field(
        default_factory=dict,
        description="hosts of yours and what kind of source each is, before the table that comes with the program",
    )

    @field_validator("categories", mode="before")
    @classmethod
    def _known_kinds(cls, given: object) -> object:
        if not isinstance(given, Mapping):
            raise ValueError(  # noqa: TRY004 - pydantic turns a ValueError into the user's sentence
                'it must be hosts with their kinds, for example {"mysite.org": "research literature"}'
            )
        kinds = [kind.value for kind in SourceCategory]
        found: dict[str, object] = {}
        for written, kind in given.items():
            host = _normalise_host(written, with_path=True)
            if kind not in kinds:
                raise ValueError(f"“{kind}” is no kind of source; use one of: {', '.join(kinds)}")
            found[host] = kind
        return found

    @field_validator("passage_overlap")
    @classmethod
    def _smaller_than_a_passage(cls, overlap: int, info: ValidationInfo) -> int:
        tokens = info.data.get("passage_tokens")
        if tokens is not None and overlap >= tokens:
            raise ValueError(f"{overlap} tokens shared by two passages is not less than a whole passage of {tokens}")
        return overlap


class LinkSettings(SettingsGroup):
    """Bounds of the live check of a note's links."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_LINK_", frozen=True)

    tries: int = Field(3, ge=1, le=5, description="X's evaluator too asks a few times before it calls a link dead")
    request_seconds: float = Field(6.0, gt=0, description="for one try; a page that is slower loses its readers")
    total_seconds: float = Field(15.0, gt=0, description="for all links of a note together, which are asked at once")


class SearchSettings(SettingsGroup):
    """The search providers: keys, addresses, patience."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_SEARCH_", frozen=True)

    services: tuple[str, ...] | None = Field(
        None,
        description="online services ticked at first, by name; without it all that are set up or need no setting up, "
        "and of web searches without a key only one, where none is set up; [] asks none unless you tick it",
    )
    reading_services: tuple[str, ...] = Field(
        (),
        description="reading services ticked at first (tavily-extract, jina-reader): each is told the public address "
        "(none with a query) of a page that could not be read here, and reads it for you",
    )
    leave_out: tuple[str, ...] = Field(
        (), description='hosts of which no online search brings anything, with all below them: ["example.com"]'
    )
    contact_email: str | None = Field(
        None,
        description="told to the search services: Wikimedia, NCBI and Crossref ask for it, and let those who say it "
        "through more often",
    )
    request_seconds: float = Field(8.0, gt=0, description="for one request, so that a slow drip ends too")
    provider_seconds: float = Field(12.0, gt=0, description="for all that one provider is asked in one search")
    patience_seconds: float = Field(
        5.0, gt=0, description="after it, a provider that has answered something is asked nothing more"
    )
    of_providers: dict[str, Any] = Field(default_factory=dict, repr=False)

    @field_validator("leave_out")
    @classmethod
    def _hosts(cls, given: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_normalise_host(written) for written in given)

    def of(self, options: type[_Options]) -> _Options:
        """What is set of one provider, as its own file declares it. Raises ConfigurationError for a bad value."""
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
    """Lines of the local engine's gates, chosen on development data; and who judges helpfulness."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_GATE_", frozen=True)

    relevance: float | None = Field(
        None, description="similarity of post and passage; without it the one that was measured for the embedding model"
    )
    helpfulness: float = Field(
        0.5, description="probability of being rated helpful, calibrated on held-out folds of HealthNotes"
    )
    helpfulness_judge: str = Field(
        "auto",
        description="“trained”: the head that comes with the program; “model”: the engine's language model; “server”: "
        "CROWDNOTES_LLM_JUDGE_*; “auto”: what belongs to the engine at work",
    )
    opinion: float = Field(
        0.5, description="probability of being opinion or hostile from which a note counts as such; 1 in 9 notes is"
    )


class LlmSettings(SettingsGroup):
    """Any server that speaks the OpenAI protocol. Without `base_url` the local engine is in use.

    A key is read from here or from the system's keyring (`crowdnotes models key set`); it is in no
    database, log or error.
    """

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_LLM_", frozen=True)

    base_url: str | None = Field(None, description="the server, as in http://127.0.0.1:11434/v1; none: local engine")
    model: str = Field("", description="the model for every step that has none of its own")
    queries_model: str = Field("", description="for claims, searches and images")
    utility_model: str = Field("", description="for choosing search results; a small one does")
    writing_model: str = Field("", description="for the note")
    judging_model: str = Field("", description="for gates and principles")
    api_key: SecretStr | None = Field(None, description="the server's key; the keyring is asked without it")
    judge_base_url: str | None = Field(None, description="a server of its own for the judge of helpfulness")
    judge_model: str = Field("", description="and the model of that judge, such as HealthJudge")
    judge_api_key: SecretStr | None = Field(None, description="the key of that server")
    judge_form: Literal["json", "final decision"] = Field(
        "json", description="“final decision” for judges trained to end with “Final decision: yes” or “no”"
    )
    sees_images: bool = Field(False, description="whether the model for searches can read pictures")
    effort: Mapping[str, Literal["none", "minimal", "low", "medium", "high"]] = Field(
        {"queries": "low", "utility": "low", "writing": "medium", "judging": "medium"},
        description="how long models that think should think, by step; a step that is left out gets the model's own",
    )
    timeout_seconds: float = Field(
        60.0,
        gt=0,
        description="of silence, then the call fails; each piece of a thought or an answer is a sign of life",
    )
    first_word_seconds: float = Field(
        300.0,
        gt=0,
        description="of silence before the first piece: some think in silence, others fetch the model from the disk, "
        "or take one question after the other",
    )
    connect_seconds: float = Field(5.0, gt=0, description="a server that is up answers sooner")
    total_seconds: float = Field(
        900.0, gt=0, description="for one answer with all its tries: 2,000 tokens of a model that writes three a second"
    )
    max_retries: int = Field(2, ge=0, le=10, description="after 408, 409, 429, 5xx and lost connections, with a pause")
    at_once: int = Field(10, ge=1, le=64, description="calls side by side")
    answer_tokens: int = Field(2000, ge=64, description="of one answer at first; doubled for an answer that was cut")
    max_answer_tokens: int = Field(16_000, ge=64, description="of one answer at most: models that think need as many")
    candidate_temperature: float = Field(0.7, ge=0, le=2, description="of the writer; at 0 its notes differ less")
    supernote_temperature: float = Field(0.95, ge=0, le=2, description="of candidate supernotes, as in the paper")
    supernote_top_p: float = Field(0.8, gt=0, le=1, description="and the share of likely words that they choose among")
    supernote_candidates: int = Field(
        5, ge=1, le=10, description="asked for in one call; with more a model repeats itself, fewer cost more calls"
    )
    choose_one_by_one: bool = Field(
        False, description="choose results in a call each, as the paper does, and not in one"
    )
    votes: int = Field(
        1, ge=1, le=15, description="how often a judge is asked when the server gives no token probabilities; odd"
    )
    budget_dollars: float | None = Field(1.0, ge=0, description="for one case, where the price is known")
    budget_tokens: int | None = Field(600_000, ge=0, description="for one case; holds where the price is not known")
    dollars_per_million_input: float | None = Field(None, ge=0, description="your price, before the built-in table's")
    dollars_per_million_output: float | None = Field(None, ge=0, description="the same for what the model writes")
    cache_mb: int = Field(64, ge=0, description="answers kept on disk for identical calls; 0 keeps none")

    @field_validator("base_url", "judge_base_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        if value is None or not value.strip():
            return None
        parts = urlsplit(value.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("not an http or https address")
        if parts.username or parts.password:
            raise ValueError("a key does not belong in the address; use the keyring or the API_KEY variable")
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


class BridgingSettings(SettingsGroup):
    """Thresholds of the Community Notes algorithm, as the production scorer has them (July 2026).

    Reasons are the scorer's own where it states them. Change them only to study the algorithm.
    """

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_BRIDGING_", frozen=True)

    raters: RatersWanted = Field(
        RatersWanted.CORE,
        description="whose ratings count: `core`, the groups of raters that X's Core model takes, where the data tells "
        "the groups; or `all`",
    )
    core_share: float = Field(0.5, description="share of a note's ratings by Core's raters from which Core decides")
    min_raters_per_note: int = Field(5, ge=1, description="notes with fewer tell too little to be fitted")
    min_ratings_per_rater: int = Field(10, ge=1, description="raters with fewer have no reliable viewpoint")
    min_ratings_for_status: int = Field(5, ge=1, description="no status other than 'needs more ratings' below it")
    helpful_intercept: float = Field(0.40, description="note intercept from which a note is shown")
    inertia: float = Field(
        0.01, ge=0, description="a shown note may lose this much first, so that statuses do not flap"
    )
    not_helpful_base: float = Field(-0.05, description="not helpful at or below this, minus slope times size of factor")
    not_helpful_slope: float = Field(
        0.8, ge=0, description="a one-sided note must be rated worse to be called not helpful"
    )
    not_helpful_upper_bound: float = Field(
        -0.04, description="even one more helpful rating by an extreme rater would not lift it above"
    )
    ratio_min_raters: int = Field(3, ge=1, description="per side, for the rule on mean ratings to say anything")
    ratio_side_mean: float = Field(0.4, description="mean rating on each side at or below which a note is not helpful")
    ratio_mean_of_sides: float = Field(0.3, description="and the average of the two sides")
    not_misleading_intercept: float = Field(-0.15, description="notes that call a post fine fail only far below zero")
    tag_total: float = Field(2.5, description="weighted raters with the same complaint; fewer may be chance")
    tag_percentile: int = Field(95, ge=1, le=99, description="of that complaint's share among helpful notes")
    tag_distance_percentile: int = Field(40, ge=1, le=99, description="a rater at this distance counts half")
    incorrect_tags: int = Field(2, description="'incorrect' tags by like-minded raters that start to count")
    incorrect_raters: int = Field(3, description="like-minded raters with a complaint before the rule looks")
    incorrect_ratio: float = Field(2.5, description="tags against what these raters tag anyway")
    incorrect_interval: float = Field(0.3, description="half width of 'like-minded', in factors clipped to 0.4")
    incorrect_clip: float = Field(0.4, description="beyond it, viewpoints count as equally far out")
    low_diligence_intercept: float = Field(0.263, description="of the diligence model; above it sources are in doubt")
    max_factor: float = Field(0.5, description="size of the factor above which one side carries the note")
    reject_intercept: float = Field(0.3, description="below it no other model may show the note")
    minority_net_helpful: int = Field(4, description="helpful minus not helpful, on each side of the viewpoint")
    balance_free: int = Field(10, description="net helpful on each side from which balance is not asked for")
    balance_share: float = Field(0.05, description="the smaller side's net helpful, as a share of the ratings")
    refit_intercept: float = Field(0.37, description="what a shown note must keep without the busiest or linked raters")
    high_volume_share: float = Field(0.001, gt=0, lt=1, description="the busiest raters, by 7 or 28 days")
    sampled_ratings: int = Field(8, description="ratings that X asked people drawn at random for; fewer may be chance")
    sampled_per_side: int = Field(2, description="of them on each side of the viewpoint")
    sampled_intercept: float = Field(0.30, description="note intercept by these ratings alone that a shown note needs")
    sampled_gap: float = Field(0.15, description="unless it is nearer than this to the intercept by all ratings")
    sampled_ratings_per_note: float = Field(
        10.0, gt=0, description="ratings per note that the price of that intercept supposes, in place of the fit's"
    )
    explanation_tags: int = Field(2, description="different tags that explain a status to readers")
    explanation_raters: int = Field(2, description="raters that must have chosen each")
    rater_helpfulness: float = Field(
        0.66, description="share of a rater's early ratings that the crowd came to agree with"
    )
    author_ratio_difference: float = Field(0.0, description="share of helpful notes minus 5 times that of not helpful")
    author_mean_intercept: float = Field(0.05, description="mean intercept of a rater's own notes")


class JurySettings(SettingsGroup):
    """How many jurors, from which pool, and the constants of the algorithm that the public data do not fix."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_JURY_", frozen=True)

    jurors: int = Field(1_000, ge=1, le=100_000, description="as in Supernotes; its intercept then moves by about 0.02")
    repeats: int = Field(40, ge=10, le=1_000, description="juries behind the interval; fewer make its ends jump")
    seed: int = Field(0, ge=0, description="the same text then gets the same verdict")
    raters: Path | None = Field(
        None, description="a Parquet file of raters (rater_intercept, rater_factor) in place of the shipped pool"
    )
    model: Path | None = Field(
        None, description="a folder written by `crowdnotes train jury` in place of the shipped one"
    )
    global_intercept: float = Field(
        0.17, description="of production fits: 0.172 in the official evaluator's notebook of 2025; the pool brings none"
    )
    ratings_per_note: float = Field(
        37.0, gt=0, description="rho of production: 29.4 million ratings of 0.8 million notes (diligence model's code)"
    )
    like_minded: float = Field(
        2.0, ge=0, description="who would see it: log odds per unit of factor by which a like-minded viewer is likelier"
    )
    familiar_words: float = Field(
        0.69,
        ge=0,
        le=1,
        description="share of known words and pairs below which numbers mean nothing; 1 % of real notes",
    )


class SupernoteSettings(SettingsGroup):
    """One note from many."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_SUPERNOTE_", frozen=True)

    candidates: int = Field(100, ge=1, le=300, description="as in Supernotes 3.1")


def settings_error(error: ValidationError, prefix: str) -> ConfigurationError:
    """What is wrong with the settings of this prefix, and how they are written."""
    found = error.errors(include_url=False, include_input=False)
    problems = "; ".join(
        f"{prefix}{_format_variable_name(e['loc'])}: {e['msg'].removeprefix('Value error, ')}" for e in found
    )
    return ConfigurationError(f"A setting is wrong: {problems}.", "Correct the environment variable.")


def _format_variable_name(place: tuple[int | str, ...]) -> str:
    return "_".join(part for part in place if isinstance(part, str)).upper()
