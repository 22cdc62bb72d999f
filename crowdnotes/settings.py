"""One Settings object, read once at the start and passed in; nothing below reads the environment.

Every value has a name, a default and a reason, and can be set by an environment variable with the
prefix CROWDNOTES_ (a list as JSON: CROWDNOTES_ALLOWED_PRIVATE_HOSTS='["wiki.local"]').
"""

from __future__ import annotations

import logging
import os
import re
import stat
from enum import StrEnum
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Literal, Self
from urllib.parse import quote, urlsplit

from platformdirs import user_data_path
from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    SettingsConfigDict,
    SettingsError,
)

from crowdnotes.errors import ConfigurationError
from crowdnotes.settings_sections import (
    ArchiveSettings,
    EvidenceSettings,
    FetchSettings,
    GateSettings,
    JurySettings,
    LlmSettings,
    RatersWanted,
    SearchSettings,
    SettingsGroup,
    SupernoteSettings,
    settings_error,
)


class SignIn(StrEnum):
    """How the program knows who is at the screen."""

    NOBODY = "own machine"
    OPENID = "openid connect"
    PROXY = "proxy"
    DEMO = "demo"


class SignInSettings(SettingsGroup):
    """Who may use CrowdNotes: see [people](people.md). Without these: the person at this machine."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_SIGN_IN_", frozen=True)

    metadata_url: str | None = Field(
        None, description="the OpenID Connect provider's; ends in /.well-known/openid-configuration"
    )
    client_id: str | None = Field(None, min_length=1, description="the provider's name for this program")
    client_secret: SecretStr | None = Field(None, min_length=1, description="as the provider gave it")
    cookie_secret: SecretStr | None = Field(
        None, min_length=32, description="signs the sign-in cookie; the same on each server"
    )
    public_url: str | None = Field(
        None,
        description="CrowdNotes' https address; the provider knows it with /oauth2callback added",
    )
    user_header: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9-]+$",
        description="instead of a provider: a proxy names the person in this header",
    )
    first_role: Literal["viewer", "contributor", "moderator", "none"] = Field(
        "contributor", description="of a new person; with “none” an admin lets them in"
    )
    demo: bool = Field(False, description="no accounts: visitors see only the demonstrations")
    demo_hours: int = Field(24, ge=1, description="until a visitor's work is deleted")

    @field_validator("metadata_url", "public_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        return _require_safe_address(value) if value and value.strip() else None

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        openid = {name: getattr(self, name) for name in _OPENID_FIELDS}
        missing = [f"{self.model_config['env_prefix']}{name}".upper() for name, value in openid.items() if not value]
        if 0 < len(missing) < len(_OPENID_FIELDS):
            raise ValueError(f"signing in with a provider also needs: {', '.join(missing)}")
        if (not missing) + bool(self.user_header) + self.demo > 1:
            raise ValueError("set only one of a provider, a proxy's header and the demo")
        return self

    @property
    def way(self) -> SignIn:
        """How it is known who is at the screen."""
        if self.metadata_url:
            return SignIn.OPENID
        return SignIn.PROXY if self.user_header else SignIn.DEMO if self.demo else SignIn.NOBODY


_OPENID_FIELDS = ("metadata_url", "client_id", "client_secret", "cookie_secret", "public_url")


def is_loopback(host: str | None) -> bool:
    """Return whether only this machine reaches a server at that address; None and "" mean every address it has."""
    if host == "localhost":
        return True
    try:
        return ip_address(host or "").is_loopback
    except ValueError:
        return False


def _require_safe_address(value: str) -> str:
    """Return the address of a service that is sent secrets: https, but for this machine. Raises ValueError."""
    parts = urlsplit(value.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
        raise ValueError("not an http or https address")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise ValueError("not https; only an address on this machine may be http")
    return parts.geturl().rstrip("/")


class XSettings(SettingsGroup):
    """X's API, for accounts that X enrolled as AI note writers: see [to X](x.md)."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_X_", frozen=True)

    api_key: SecretStr | None = Field(None, min_length=1, description="the app's, for OAuth 1.0a; set all four")
    api_secret: SecretStr | None = Field(None, min_length=1, description="of the app")
    access_token: SecretStr | None = Field(None, min_length=1, description="of the account that writes")
    access_secret: SecretStr | None = Field(None, min_length=1, description="of the account that writes")
    oauth2_token: SecretStr | None = Field(
        None,
        min_length=1,
        description="instead of the four: an OAuth 2.0 access token; ends after two hours",
    )
    oauth2_refresh_token: SecretStr | None = Field(None, min_length=1, description="renews it (scope offline.access)")
    oauth2_client_id: str | None = Field(None, min_length=1, description="the app's, for renewing")
    oauth2_client_secret: SecretStr | None = Field(None, min_length=1, description="the app's, if it has one")
    test_mode: bool = Field(
        True, description="X scores notes and shows them to nobody; false once X admits the account"
    )
    url: str = Field("https://api.x.com", description="X's API, or a test server on this machine")
    seconds: float = Field(20.0, gt=0, le=300, description="for one call")

    @field_validator("url")
    @classmethod
    def _is_address(cls, value: str) -> str:
        return _require_safe_address(value)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        prefix = str(self.model_config.get("env_prefix"))
        missing = [f"{prefix}{name}".upper() for name in _OAUTH1_FIELDS if getattr(self, name) is None]
        if 0 < len(missing) < len(_OAUTH1_FIELDS):
            raise ValueError(f"OAuth 1.0a needs all four keys; {', '.join(missing)} is missing")
        if not missing and (self.oauth2_token or self.oauth2_refresh_token):
            raise ValueError("set the OAuth 1.0a keys or an OAuth 2.0 token, not both")
        if self.oauth2_refresh_token and self.oauth2_client_id is None:
            missing_name = f"{prefix}oauth2_client_id".upper()
            raise ValueError(f"renewing needs the app; {missing_name} is missing")
        return self

    @property
    def is_set(self) -> bool:
        """Whether there are keys to ask with."""
        return any((self.access_secret, self.oauth2_token, self.oauth2_refresh_token))


_OAUTH1_FIELDS = ("api_key", "api_secret", "access_token", "access_secret")


def _find_data_dir() -> Path:
    """Return the system's place for user data. Raises ConfigurationError for a user without a home."""
    try:
        return user_data_path("crowdnotes", appauthor=False)
    except RuntimeError as error:
        raise ConfigurationError(
            "The user that runs CrowdNotes has no home folder for its data.",
            "Set CROWDNOTES_DATA_DIR to a writable folder.",
        ) from error


class Settings(SettingsGroup):
    """All settings."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_", frozen=True, extra="ignore")

    data_dir: Path = Field(
        default_factory=_find_data_dir,
        description="folder of cases and libraries, by default the system's for user data",
    )
    database_url: SecretStr | None = Field(None, description="PostgreSQL's URL; by default SQLite in the data folder")
    allowed_private_hosts: tuple[str, ...] = Field((), description="hosts on a private network that may be read")
    author: str = Field("you", min_length=1, max_length=80, description="your name, where nobody signs in")
    four_eyes: bool = Field(False, description="nobody decides a case that they began")
    queue: bool = Field(False, description="show the moderators' queue even where nobody signs in")
    two_readers: bool = Field(False, description="two moderators read each submitted case independently")
    participants_only: bool = Field(False, description="this server shows only blind comparisons, by link")
    workers: int = Field(4, ge=0, description="jobs at once; 0 leaves all to `crowdnotes worker` (with PostgreSQL)")
    embedder: Path | None = Field(
        None, description="folder of another [embedding model](extending.md#an-embedding-model)"
    )
    reader: Path | None = Field(
        None,
        description="[reading model](extending.md#a-reading-model): a folder, or a name from "
        "`crowdnotes models get reader`",
    )
    retention_days: int | None = Field(None, ge=1, description="remove cases [decided longer ago](running.md)")
    log_json: bool = Field(False, description="[log](running.md) lines of JSON")
    torch_threads: int = Field(2, ge=1, description="threads of the embedding model")
    bridging_raters: RatersWanted = Field(
        RatersWanted.CORE,
        description="whose public ratings [count](bridging.md): those of X's Core model or `all`",
    )
    fetch: FetchSettings = Field(default_factory=FetchSettings)
    archive: ArchiveSettings = Field(default_factory=ArchiveSettings)
    evidence: EvidenceSettings = Field(default_factory=EvidenceSettings)
    search: SearchSettings = Field(default_factory=SearchSettings)
    gates: GateSettings = Field(default_factory=GateSettings)
    llm: LlmSettings = Field(default_factory=LlmSettings)
    jury: JurySettings = Field(default_factory=JurySettings)
    supernote: SupernoteSettings = Field(default_factory=SupernoteSettings)
    sign_in: SignInSettings = Field(default_factory=SignInSettings)
    x: XSettings = Field(default_factory=XSettings)

    @field_validator("allowed_private_hosts")
    @classmethod
    def _lower(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(host.strip().lower().rstrip(".") for host in hosts)

    def require_safe_address(self, address: str | None) -> None:
        """Raise ConfigurationError where others than those who may would reach the program at that address."""
        way = self.sign_in.way
        if is_loopback(address) or self.participants_only or way in (SignIn.OPENID, SignIn.DEMO):
            return
        where = address or "every address of this machine"
        if way is SignIn.PROXY:
            raise ConfigurationError(
                "CROWDNOTES_SIGN_IN_USER_HEADER trusts everyone who can reach CrowdNotes, so nobody may reach it "
                f"at {where}.",
                "Start it with --server.address localhost and the proxy on the same machine.",
            )
        raise ConfigurationError(
            f"Without sign-in CrowdNotes is for one person on one machine, but others could reach it at {where}.",
            "Start it with --server.address localhost, set up sign-in (docs/people.md), or set "
            "CROWDNOTES_SIGN_IN_DEMO=true.",
        )

    @property
    def resolved_database_url(self) -> str:
        """What SQLAlchemy connects to. Holds the password: never show or log it."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        # Quoted, because "%", "?" and "#" in a folder's name mean something else in a URL.
        return f"sqlite:///{quote(str(self.data_dir / 'crowdnotes.sqlite'), safe='/:')}"

    @property
    def has_desk(self) -> bool:
        """Whether several people work here, so that cases go through the moderators' queue."""
        return self.queue or self.sign_in.way in (SignIn.OPENID, SignIn.PROXY)

    @property
    def libraries_dir(self) -> Path:
        """One SQLite file a library."""
        return self.data_dir / "libraries"

    def make_data_dir(self) -> None:
        """Make the data folder, which its owner alone may enter, also where an earlier version made it. Raises OSError.

        Another user's folder, one that is shared by its own bits, and one with other things are left as they are.
        """
        folder = self.data_dir
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
        is_mine = not hasattr(os, "geteuid") or found.st_uid == os.geteuid()
        is_open = found.st_mode & 0o077 and not found.st_mode & (stat.S_ISVTX | stat.S_ISGID)
        if is_mine and is_open and ((folder / "crowdnotes.sqlite").exists() or not any(folder.iterdir())):
            folder.chmod(0o700)


_REMOVED = re.compile(
    r"CROWDNOTES_(BRIDGING_(?!RATERS)\w+|ARCHIVE_SECONDS|EMBEDDING_CACHE_MB|MAX_POST_CHARACTERS"
    r"|EVIDENCE_(HITS_PER_QUERY|PASSAGE_\w+|SURROUNDINGS)|FETCH_(CONNECT_SECONDS|MAX_REDIRECTS)"
    r"|GATE_(HELPFULNESS|OPINION|RELEVANCE)|LINK_\w+|LLM_(ANSWER_TOKENS|CANDIDATE_TEMPERATURE|CHOOSE_ONE_BY_ONE)"
    r"|LLM_SUPERNOTE_\w+|JURY_(FAMILIAR_WORDS|GLOBAL_INTERCEPT|LIKE_MINDED|MAX_\w+|RATINGS_PER_NOTE|REPEATS|SHORT_\w+)"
    r"|SEARCH_PATIENCE_SECONDS|SUPERNOTE_(?!CANDIDATES)\w+)"
)


_RENAMED = {"CROWDNOTES_EVIDENCE_LOOK_QUOTA": "CROWDNOTES_EVIDENCE_FOLLOW_UP_QUOTA"}


@cache
def _warn_of_unread_variable(name: str) -> None:
    log = logging.getLogger(__name__)
    if new_name := _RENAMED.get(name.removesuffix("_FILE")):
        log.warning("Rename the variable %s: the setting is now called %s.", name, new_name)
    else:
        log.warning("Remove the variable %s: its value is now fixed.", name)


def load_settings() -> Settings:
    """Read settings from the environment; a bad value gives one clear sentence.

    Of a variable that is not set, `<NAME>_FILE` may name a file that holds the value, as containers keep their secrets.
    """
    for name, file in list(os.environ.items()):
        wanted = name.removesuffix("_FILE")
        if wanted in _RENAMED or _REMOVED.fullmatch(wanted):
            _warn_of_unread_variable(name)
            continue
        if name.startswith("CROWDNOTES_") and wanted != name and wanted not in os.environ:
            try:
                os.environ[wanted] = Path(file).read_text(encoding="utf-8").strip()
            except (OSError, ValueError) as error:
                raise ConfigurationError(
                    f"CrowdNotes cannot read the file that {name} names.",
                    "Check that it exists and may be read.",
                ) from error
    try:
        return Settings()
    except ValidationError as error:
        raise settings_error(error, _list_variable_prefixes()[error.title]) from error
    except SettingsError as error:  # a list that is not JSON
        raise ConfigurationError(
            f"A setting is wrong: {error}.", "Write lists as JSON, for example '[\"a\"]'."
        ) from error


def _list_variable_prefixes() -> dict[str, str]:
    """Return what a variable's name begins with, by the group of settings that it belongs to."""
    prefixes = {Settings.__name__: str(Settings.model_config.get("env_prefix"))}
    for field in Settings.model_fields.values():
        group = field.annotation
        if isinstance(group, type) and issubclass(group, BaseSettings):
            prefixes[group.__name__] = str(group.model_config.get("env_prefix"))
    return prefixes
