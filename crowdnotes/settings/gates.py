"""Lines of the gates."""

from __future__ import annotations

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class GateSettings(BaseSettings):
    """Lines of the local engine's gates. Chosen on development data."""

    model_config = SettingsConfigDict(env_prefix="CROWDNOTES_GATE_", frozen=True)

    relevance: float = Field(
        0.42, description="similarity of post and passage; 9 in 10 passages found for another health post lie below"
    )
    supported: float = Field(0.62, description="sentence support from which a sentence counts as carried")
    partly: float = Field(0.45, description="and from which it counts as partly carried")
    helpfulness: float = Field(
        0.5, description="probability of being rated helpful, calibrated on held-out folds of HealthNotes"
    )
    opinion: float = Field(
        0.5, description="probability of being opinion or hostile from which a note counts as such; 1 in 9 notes is"
    )
