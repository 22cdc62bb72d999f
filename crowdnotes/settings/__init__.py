"""One Settings object, read once at the start and passed in; nothing below reads the environment.

Every value has a name, a default and a reason, and can be set by an environment variable with the
prefix CROWDNOTES_ (a list as JSON: CROWDNOTES_ALLOWED_PRIVATE_HOSTS='["wiki.local"]').
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from platformdirs import user_data_path
from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict, SettingsError

from crowdnotes.errors import ConfigurationError
from crowdnotes.settings.archive import ArchiveSettings
from crowdnotes.settings.bridging import BridgingSettings
from crowdnotes.settings.evidence import EvidenceSettings
from crowdnotes.settings.fetch import FetchSettings
from crowdnotes.settings.gates import GateSettings
from crowdnotes.settings.jury import JurySettings
from crowdnotes.settings.links import LinkSettings
from crowdnotes.settings.llm import LlmSettings
from crowdnotes.settings.search import SearchSettings

__all__ = [
    "ArchiveSettings",
    "BridgingSettings",
    "EvidenceSettings",
    "FetchSettings",
    "GateSettings",
    "JurySettings",
    "LinkSettings",
    "LlmSettings",
    "SearchSettings",
    "Settings",
    "load_settings",
]


class Settings(BaseSettings):
    """Everything that can be set."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_", frozen=True, extra="ignore")

    data_dir: Path = Field(
        default_factory=lambda: user_data_path("crowdnotes", appauthor=False),
        description="where cases and libraries lie; the system's place for user data without it",
    )
    database_url: SecretStr | None = Field(None, description="PostgreSQL by URL; SQLite in data_dir without it")
    allowed_private_hosts: tuple[str, ...] = Field(
        (), description="hosts on a private network that may be read; empty, so that a pasted URL reaches none"
    )
    author: str = Field(
        "you", min_length=1, max_length=80, description="the name in the audit trail on a machine of one's own"
    )
    max_post_characters: int = Field(25_000, gt=0, description="the longest post that X allows")
    workers: int = Field(4, ge=1, description="jobs at once in the app")
    torch_threads: int = Field(2, ge=1, description="threads of the embedding model")
    embedding_cache_mb: int = Field(256, ge=1, description="vectors kept on disk; those longest unused go first")
    fetch: FetchSettings = Field(default_factory=FetchSettings)
    archive: ArchiveSettings = Field(default_factory=ArchiveSettings)
    evidence: EvidenceSettings = Field(default_factory=EvidenceSettings)
    links: LinkSettings = Field(default_factory=LinkSettings)
    search: SearchSettings = Field(default_factory=SearchSettings)
    gates: GateSettings = Field(default_factory=GateSettings)
    llm: LlmSettings = Field(default_factory=LlmSettings)
    bridging: BridgingSettings = Field(default_factory=BridgingSettings)
    jury: JurySettings = Field(default_factory=JurySettings)

    @field_validator("allowed_private_hosts")
    @classmethod
    def _lower(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(host.strip().lower().rstrip(".") for host in hosts)

    @property
    def resolved_database_url(self) -> str:
        """What SQLAlchemy connects to. Holds the password: never show or log it."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        # Quoted, because "%", "?" and "#" in a folder's name mean something else in a URL.
        return f"sqlite:///{quote(str(self.data_dir / 'crowdnotes.sqlite'), safe='/:')}"

    @property
    def libraries_dir(self) -> Path:
        """One SQLite file a library."""
        return self.data_dir / "libraries"


def load_settings() -> Settings:
    """Settings from the environment; a bad value gives one clear sentence."""
    try:
        return Settings()
    except ValidationError as error:
        prefix = _prefixes()[error.title]
        found = error.errors(include_url=False, include_input=False)
        problems = "; ".join(f"{prefix}{_name(e['loc'])}: {e['msg'].removeprefix('Value error, ')}" for e in found)
        raise ConfigurationError(f"A setting is wrong: {problems}.", "Correct the environment variable.") from error
    except SettingsError as error:  # a list that is not JSON
        raise ConfigurationError(
            f"A setting is wrong: {error}.", "Write lists as JSON, for example '[\"a\"]'."
        ) from error


def _name(place: tuple[int | str, ...]) -> str:
    return "_".join(part for part in place if isinstance(part, str)).upper()


def _prefixes() -> dict[str, str]:
    """What a variable's name begins with, by the group of settings that it belongs to."""
    prefixes = {Settings.__name__: str(Settings.model_config.get("env_prefix"))}
    for field in Settings.model_fields.values():
        group = field.annotation
        if isinstance(group, type) and issubclass(group, BaseSettings):
            prefixes[group.__name__] = str(group.model_config.get("env_prefix"))
    return prefixes
