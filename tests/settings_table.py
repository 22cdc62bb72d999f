"""Writes docs/settings.md from the settings themselves: `python -m tests.settings_table`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from pydantic_core import PydanticUndefined
from pydantic_settings import BaseSettings

from crowdnotes.evidence.reading.reading_services import READING_OPTIONS
from crowdnotes.evidence.search import ONLINE
from crowdnotes.settings import Settings

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"
_HEAD = """# Settings

Each is an environment variable, read once at the start. Lists and tables are written as JSON. A wrong value stops the
start with a sentence that names the variable. This page is made by `python -m tests.settings_table`.
"""


def page() -> str:
    """The whole page: a table for each group of settings."""
    groups = [
        field.annotation
        for field in Settings.model_fields.values()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseSettings)
    ]
    return "\n".join([_HEAD, *_table(Settings), *(line for group in groups for line in _table(group))])


def _table(group: type[BaseSettings]) -> Iterator[str]:
    about = (inspect.getdoc(group) or "").replace("\n", " ").strip()
    yield f"## {group.__name__.removesuffix('Settings') or 'General'}\n\n{about}\n"
    yield "| variable | default | what for |\n|---|---|---|"
    fields = dict(group.model_fields)
    if fields.pop("of_providers", None):
        every = (*(provider.options for provider in ONLINE), *READING_OPTIONS)
        fields |= {name: field for options in every for name, field in options.model_fields.items()}
    for name, field in fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseSettings):
            continue
        variable = f"{group.model_config['env_prefix']}{name}".upper()
        yield f"| `{variable}` | {_shown(field.default)} | {(field.description or '').replace('|', '/')} |"
    yield ""


def _shown(default: object) -> str:
    if default is None or default is PydanticUndefined or default == "":
        return ""
    if isinstance(default, bool):
        return str(default).lower()
    if isinstance(default, int | float):
        return f"{default:,}"
    if isinstance(default, tuple | list):
        return f"`{json.dumps(list(default))}`"
    if isinstance(default, Mapping):
        return f"`{json.dumps(dict(default))}`"
    return f"`{default}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
