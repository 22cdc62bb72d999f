"""The language model: which server, which model for which step, how patient, how dear."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class LlmSettings(BaseSettings):
    """Any server that speaks the OpenAI protocol. Without `base_url` the local engine is at work.

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
    judge_base_url: str | None = Field(None, description="another server for the helpfulness gate alone")
    judge_model: str = Field("", description="another model for it, such as HealthJudge")
    judge_api_key: SecretStr | None = Field(None, description="the key of that server")
    judge_form: Literal["json", "final decision"] = Field(
        "json", description="“final decision” for judges trained to end with “Final decision: yes” or “no”"
    )
    sees_images: bool = Field(False, description="whether the model for searches can read pictures")
    timeout_seconds: float = Field(60.0, gt=0, description="without a word from the server, then the call fails")
    connect_seconds: float = Field(5.0, gt=0, description="a server that is up answers sooner")
    total_seconds: float = Field(180.0, gt=0, description="for one streamed answer, so that a slow drip ends too")
    max_retries: int = Field(2, ge=0, le=10, description="after 408, 409, 429, 5xx and lost connections, with a pause")
    at_once: int = Field(8, ge=1, le=64, description="calls side by side")
    max_answer_tokens: int = Field(2000, ge=64, description="of one answer; models that think first need more")
    candidate_temperature: float = Field(0.7, ge=0, le=2, description="0 would write the same candidate three times")
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
