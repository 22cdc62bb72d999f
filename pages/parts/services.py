"""Which online services a search asks: what can be ticked, and what is not set up yet."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from crowdnotes.evidence.search import SearchProvider, make_providers
from crowdnotes.settings import SearchSettings
from pages.parts.connections import connections
from pages.parts.session import workspace
from pages.parts.text import plain

_WITHOUT_KEY = frozenset(SearchSettings.model_fields["services"].get_default())


def ticked_at_first() -> list[str]:
    """The services that the setting names, and those that somebody set up with a key or an address."""
    wanted = workspace().settings.search.services
    return [item.name for item in _ready(_online()) if item.name in wanted or item.name not in _WITHOUT_KEY]


def service_choice(*, key: str, default: Sequence[str], disabled: bool = False) -> list[str]:
    """Let the person choose among the services that can be asked; tells of all, and checks their connections."""
    chosen = service_pills(key=key, default=default, disabled=disabled)
    _about(key)
    return chosen


def service_pills(*, key: str, default: Sequence[str], disabled: bool = False) -> list[str]:
    """Let the person choose among the services that can be asked."""
    online = _online()
    labels = {item.name: item.label for item in _ready(online)}
    chosen = st.pills(
        "Online services",
        list(labels),
        selection_mode="multi",
        default=[name for name in default if name in labels],
        format_func=labels.__getitem__,
        key=key,
        disabled=disabled,
    )
    st.caption("The words of the searches go to the services that are ticked.")
    return chosen


def _online() -> list[SearchProvider]:
    return make_providers(workspace().settings, workspace().libraries)


def _ready(online: Sequence[SearchProvider]) -> list[SearchProvider]:
    return [item for item in online if item.needs is None]


def _about(key: str) -> None:
    """All services, folded away: what each still needs, and whether it answers from here."""
    online = _online()
    names = {item.name for item in online}
    unknown = [name for name in workspace().settings.search.services if name not in names]
    if unknown:
        st.warning(f"CROWDNOTES_SEARCH_SERVICES names no service of ours: {plain(', '.join(unknown))}.")
    waiting = len(online) - len(_ready(online))
    label = "About the services" + (f" ({waiting} not set up)" if waiting else "")
    about = st.popover(label, key=f"about-{key}", icon=":material/network_check:", type="tertiary", on_change="rerun")
    if about.open:
        with about:
            connections(online)
