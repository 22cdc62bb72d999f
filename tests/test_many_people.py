"""Many people at once on one app with PostgreSQL, each in a tab of their own: nothing is mixed up, no edit is lost.

CROWDNOTES_PEOPLE says how many (50 is what is asked for), CROWDNOTES_PAUSE the seconds between what each of them does.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles

import pytest

from crowdnotes.cases import actions, intake
from crowdnotes.cases.accounts import proxied
from crowdnotes.domain import Mode, Verdict
from crowdnotes.settings import Settings
from crowdnotes.workspace import Workspace, open_workspace
from tests.fakes import HashingEmbedder, LiveLinks
from tests.journeys.conftest import running_app
from tests.sessions import Session

_ROUNDS = 5


def _begun(workspace: Workspace, words: str, *, shared: bool = False) -> str:
    """A case with a passage in use, so that its note can be written; its id."""
    cases = workspace.cases
    case = intake.create_case(cases, f"They say that {words} is harmful.", mode=Mode.AUGMENTATION)
    intake.add_passage_by_hand(
        cases, case.id, url="https://a.example.org/x", title="T", text="No illness was found in years."
    )
    cases.apply(case.id, actions.open_passage, "E1")
    cases.apply(case.id, actions.judge, "E1", Verdict.USE, "")
    if shared:
        cases.apply(case.id, actions.set_shared, True)
    return case.id


class _Crowd:
    """Two and two share a case, on which they write at once; each has one of their own besides."""

    def __init__(self, workspace: Workspace, url: str, number: int, pause: float) -> None:
        self.url, self.pause, self.names = url, pause, [f"person{one:03d}x" for one in range(number)]
        self.seconds: dict[str, list[float]] = {"open": [], "edit": [], "settle": []}
        self.told: list[str] = []
        self.faults: list[str] = []
        self.workspace = workspace
        self.of: dict[str, Workspace] = {}
        self.own: dict[str, str] = {}
        self.both: dict[str, str] = {}
        for number, name in enumerate(self.names):
            person = proxied(name)
            workspace.people.seen(person, "contributor")
            self.of[name] = workspace.acting_as(workspace.user_of(person))
            self.own[name] = _begun(self.of[name], name)
            first = self.names[number - number % 2]
            self.both[name] = self.both[first] if name != first else _begun(self.of[name], f"both{first}", shared=True)

    def work(self, number: int) -> None:
        """What one of them does; what is wrong of it is kept."""
        name, chance = self.names[number], random.Random(number)

        def pause() -> float:
            return chance.uniform(0, 2 * self.pause)

        try:
            with Session(self.url, name) as tab:
                time.sleep(pause())
                for round_ in range(_ROUNDS):
                    self._on_own(tab, name, f"Text {round_} of {name}.", pause)
                    self._on_both(tab, name, f"Both {round_} of {name}.", pause)
        except Exception as error:  # noqa: BLE001 - told by the test
            self.faults.append(f"{name}: {type(error).__name__} {error}")

    def _on_own(self, tab: Session, name: str, text: str, pause: Callable[[], float]) -> None:
        case_id = self.own[name]
        self._timed("open", tab.open(f"case={case_id}"), pause)
        self._require(name, tab.drawn, name)
        self._timed("edit", tab.type(rf"note-{case_id}-\d+", text), pause)
        self._require(name, tab.drawn, name, text)
        draft = self.of[name].cases.get(case_id).draft
        if draft is None or draft.text != text:
            self.faults.append(f"{name}: {text} is lost")

    def _on_both(self, tab: Session, name: str, text: str, pause: Callable[[], float]) -> None:
        case_id = self.both[name]
        self._timed("open", tab.open(f"case={case_id}"), pause)
        self._timed("edit", tab.type(rf"note-{case_id}-\d+", text), pause)
        was_told = "The note was changed elsewhere meanwhile." in tab.drawn
        self.told.append("told" if was_told else "kept")
        if text not in tab.drawn:
            self.faults.append(f"{name}: {text} is not shown")
        case = self.of[name].cases.get(case_id)
        is_kept = text in {case.draft.text if case.draft else "", *(draft.text for draft in case.revisions)}
        if is_kept == was_told:
            self.faults.append(f"{name}: {text} kept {is_kept}, told {was_told}")
        if was_told:
            self._timed("settle", tab.click("take-theirs"), pause)

    def _timed(self, act: str, seconds: float, pause: Callable[[], float]) -> None:
        self.seconds[act].append(seconds)
        time.sleep(pause())

    def _require(self, name: str, drawn: str, *words: str) -> None:
        others = [other for other in self.names if other != name and other in drawn]
        if others or any(word not in drawn for word in words):
            self.faults.append(f"{name}: sees {others}, and not {[word for word in words if word not in drawn]}")


@pytest.mark.deep
@pytest.mark.postgres
@pytest.mark.timeout(900)
def test_nothing_is_mixed_up_and_no_edit_is_lost(
    tmp_path: Path, postgres_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    number, pause = int(os.environ.get("CROWDNOTES_PEOPLE", "6")), float(os.environ.get("CROWDNOTES_PAUSE", "0.2"))
    variables = {
        "CROWDNOTES_DATABASE_URL": postgres_database_url,
        "CROWDNOTES_SIGN_IN_USER_HEADER": "X-Forwarded-User",
        "CROWDNOTES_WORKERS": "0",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = Settings(data_dir=tmp_path / "data")
    with (
        running_app(tmp_path, variables=variables) as url,
        open_workspace(settings, embedder=HashingEmbedder(), links=LiveLinks()) as workspace,
    ):
        crowd = _Crowd(workspace, url, number, pause)
        with Session(url, "first") as tab:  # what is loaded at the first page is loaded for all
            tab.open("")
        began = time.perf_counter()
        with ThreadPoolExecutor(number) as tabs:
            list(tabs.map(crowd.work, range(number)))
        took = time.perf_counter() - began
        workspace.runner.engine.dispose()
    seconds = [one for every in crowd.seconds.values() for one in every]
    print(
        f"\n{number} people, {len(seconds)} acts in {took:.0f} s ({len(seconds) / took:.1f} a second):"
        f" median {median(seconds):.2f} s, p95 {quantiles(seconds, n=20)[-1]:.2f} s, longest {max(seconds):.2f} s;"
        f" edits of shared notes {dict(Counter(crowd.told))}; load {os.getloadavg()[0]:.1f}"
    )
    assert crowd.faults == []
    assert len(crowd.seconds["edit"]) == 2 * _ROUNDS * number
    assert "told" in crowd.told
