"""Sessions of the running app without a browser: what Streamlit's own page sends and gets, over its websocket."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

_SECONDS = 60.0


class Session:
    """One tab at `url`, of whoever the proxy in front says is there. It keeps what the last run drew."""

    def __init__(self, url: str, user: str) -> None:
        self._kept = ExitStack()
        address = f"{url.replace('http', 'ws', 1)}/_stcore/stream"
        told = {"X-Forwarded-User": user}
        self._socket = self._kept.enter_context(connect(address, additional_headers=told, max_size=None))
        self._query = ""
        self._values: dict[str, str] = {}
        self.drawn = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._kept.close()

    def open(self, query: str) -> float:
        """Go to an address; the seconds until the page stood."""
        self._query, self._values = query, {}
        return self._run("")

    def type(self, key: str, text: str) -> float:
        """Put words into the text area of that key, a pattern, and leave it; the seconds until the page stood."""
        self._values[self._id(key)] = text
        return self._run("")

    def click(self, key: str) -> float:
        """Press the button of that key; the seconds until the page stood."""
        return self._run(self._id(key))

    def _id(self, key: str) -> str:
        found = re.search(rf"\$\$ID-[0-9a-f]+-{key}(?![\w-])", self.drawn)
        assert found, f"{key} is not on the page"
        return found[0]

    def _run(self, pressed: str) -> float:
        began = time.perf_counter()
        told = BackMsg()
        state = told.rerun_script
        state.query_string = self._query
        for key, text in self._values.items():
            widget = state.widget_states.widgets.add()
            widget.id, widget.string_value = key, text
        if pressed:
            widget = state.widget_states.widgets.add()
            widget.id, widget.trigger_value = pressed, True
        self._socket.send(told.SerializeToString())
        self.drawn = "".join(self._until_finished())
        return time.perf_counter() - began

    def _until_finished(self) -> Iterator[str]:
        while True:
            got = ForwardMsg.FromString(self._socket.recv(timeout=_SECONDS))
            yield str(got)
            if got.WhichOneof("type") == "script_finished" and got.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                return
