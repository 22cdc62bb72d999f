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

Environment variables, with their defaults in brackets. CrowdNotes reads them at its start; a wrong value stops it, with
the name of the variable. Write lists and tables as JSON. `NAME_FILE` may name a file that holds the value.
"""
_HEADING_BY_GROUP = {"Gate": "Checks", "Llm": "AI", "SignIn": "Signing in"}


def page() -> str:
    """The whole page: a list for each group of settings."""
    groups = [
        field.annotation
        for field in Settings.model_fields.values()
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseSettings)
    ]
    return "\n".join([_HEAD, *_list_settings(Settings), *(line for group in groups for line in _list_settings(group))])


def _list_settings(group: type[BaseSettings]) -> Iterator[str]:
    about = (inspect.getdoc(group) or "").replace("\n\n", " ").replace("\n", " ").strip()
    name = group.__name__.removesuffix("Settings") or "General"
    yield f"## {_HEADING_BY_GROUP.get(name, name)}\n"
    if "](" in about:  # otherwise it says what the heading says
        yield f"{about}\n"
    fields = dict(group.model_fields)
    if fields.pop("of_providers", None):
        every = (*(provider.options for provider in ONLINE), *READING_OPTIONS)
        fields |= {name: field for options in every for name, field in options.model_fields.items()}
    addresses = [name for name, field in fields.items() if name.endswith("_url") and field.default]
    for name, field in fields.items():
        if name in addresses or (isinstance(field.annotation, type) and issubclass(field.annotation, BaseSettings)):
            continue
        variable = f"{group.model_config['env_prefix']}{name}".upper()
        default = _shown(field.default)
        yield f"- `{variable}`{default and f' ({default})'}: {field.description}"
    if addresses:
        names = ", ".join(f"`{name.removesuffix('_url').upper()}`" for name in addresses)
        prefix = group.model_config["env_prefix"]
        yield f"- `{prefix}NAME_URL`: another address of a service; NAME is one of {names}"
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
        compact = json.dumps(dict(default), separators=(",", ":"))
        return f"`{compact}`"
    return f"`{default}`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
