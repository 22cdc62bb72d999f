"""Tokens of OAuth 2.0: X ends one after two hours, and gives another for a second token, which it takes only once.

What X gave last therefore lies in a file of the data folder, which its owner alone may read; processes that share the
folder share it. What is set counts until it was used, and again when something else is set.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from filelock import FileLock

from crowdnotes.errors import XError, XFault
from crowdnotes.settings import XSettings


@dataclass(frozen=True, slots=True)
class Pair:
    """One that signs calls, "" before the first, and one that brings the next; `of` is the hash of what was set."""

    access: str = field(repr=False)
    refresh: str = field(repr=False)
    of: str


class Tokens:
    """Those of an account that can be renewed. Safe for threads and processes."""

    def __init__(self, settings: XSettings, folder: Path) -> None:
        given = (settings.oauth2_token, settings.oauth2_refresh_token)
        access, refresh = (one.get_secret_value() if one else "" for one in given)
        self._set = Pair(access, refresh, hashlib.sha256(f"{access}\n{refresh}".encode()).hexdigest())
        self._file = folder / "x-tokens.json"

    @property
    def access(self) -> str:
        """The newest that signs calls. Raises XError where the file cannot be read."""
        return self._newest().access

    def renew(self, used: str, ask: Callable[[str], tuple[str, str]]) -> None:
        """Have another than the one that was `used`; `ask` gets a new pair for the second token.

        Nothing is asked where another process did so meanwhile. Raises XError, the file's faults too.
        """
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self._file.with_suffix(".lock")):
                newest = self._newest()
                if newest.access == used:
                    access, refresh = ask(newest.refresh)
                    self._keep(Pair(access, refresh, newest.of))
        except OSError as error:
            raise XError(XFault.NOT_RENEWED, words=str(error.strerror)) from error

    def _newest(self) -> Pair:
        try:
            kept = Pair(**json.loads(self._file.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return self._set
        except (OSError, ValueError, TypeError):
            raise XError(XFault.NOT_RENEWED, words=self._file.name) from None  # what failed may hold a token
        return kept if kept.of == self._set.of else self._set

    def _keep(self, pair: Pair) -> None:
        """Whole or not at all: without the newest one an account has to be connected anew."""
        new = self._file.with_suffix(".new")
        new.unlink(missing_ok=True)
        with open(new, "x", opener=lambda path, flags: os.open(path, flags, 0o600), encoding="utf-8") as file:
            json.dump(asdict(pair), file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, self._file)
