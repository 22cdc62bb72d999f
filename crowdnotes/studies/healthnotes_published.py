"""The published figures that a run on HealthNotes stands beside: CrowdNotes+ Tables 2 and 3."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from crowdnotes.domain import Mode, Noun

Three = tuple[float, float, float]


class PublishedHalves(Noun):
    """Relevance, correctness and helpfulness of each half, in percent, each gate after those before it."""

    helpful: Three
    not_helpful: Three


class PublishedModel(Noun):
    """A row of Table 2; `automation` is None for the contributors' own notes."""

    name: str
    augmentation: PublishedHalves
    automation: PublishedHalves | None = None

    def of(self, mode: Mode) -> PublishedHalves | None:
        """The figures of one mode; of the contributors' notes those that there are, in either."""
        return self.augmentation if mode is Mode.AUGMENTATION or self.automation is None else self.automation


class PublishedAblation(Noun):
    """A row of Table 3: helpfulness in percent, with `without` taken away; "" is nothing."""

    name: str
    without: str
    helpful: float
    not_helpful: float
    overall: float


class Published(Noun):
    """All of it, and where it is from."""

    source: str
    models: tuple[PublishedModel, ...]
    ablations: tuple[PublishedAblation, ...]


@cache
def published() -> Published:
    """The figures as they stand in the table beside this file."""
    table = files("crowdnotes.studies").joinpath("healthnotes_published.toml").read_text(encoding="utf-8")
    return Published.model_validate(tomllib.loads(table))
