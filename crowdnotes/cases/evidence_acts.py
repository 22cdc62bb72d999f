"""What a person may do with the post's images, the sources and the passages of a case, each an atomic step."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime

from crowdnotes.cases import earlier_sets, images, intake, second_look, workflow
from crowdnotes.cases.images import Attachment
from crowdnotes.cases.pasted_links import checked_urls
from crowdnotes.cases.store import Store
from crowdnotes.domain import Case, Look, LookKind, Mode, SourceCategory, Verdict


class EvidenceActs:
    """A part of `CaseService`. Every method raises WorkflowError, InputError or StoreError as named there."""

    def __init__(self, store: Store, clock: Callable[[], datetime], categories: Mapping[str, SourceCategory]) -> None:
        self._store = store
        self._clock = clock
        self._categories = categories

    def attach_image(self, case_id: str, content: bytes, name: str, by: str) -> Case:
        """Add an image to the post, cleaned (see `evidence.pictures`). Raises InputError for what is none."""
        image, clean = images.checked_image(Attachment(content, name))
        self._store.put_image(clean)
        return self._change(case_id, lambda case, at: images.attach(case, image, by, at))

    def remove_image(self, case_id: str, sha256: str, by: str) -> Case:
        """See `images.remove`."""
        return self._change(case_id, lambda case, at: images.remove(case, sha256, by, at))

    def describe_image(self, case_id: str, sha256: str, text: str, shows: str, by: str) -> Case:
        """See `images.describe`."""
        return self._change(case_id, lambda case, at: images.describe(case, sha256, text, shows, by, at))

    def image(self, sha256: str) -> bytes:
        """The bytes of an attached image. Raises StoreError when they are gone."""
        return self._store.image(sha256)

    def set_sources(
        self,
        case_id: str,
        *,
        mode: Mode,
        urls: Sequence[str],
        libraries: Sequence[str],
        services: Sequence[str],
        until: date | None,
        by: str,
    ) -> Case:
        """Say where the next gathering looks, and until which day. Passages that a person opened stay."""
        places = intake.Places(mode, checked_urls(urls), tuple(libraries), tuple(services), until)
        return self._change(case_id, lambda case, at: intake.change_sources(case, places, by, at))

    def add_passage_by_hand(self, case_id: str, *, url: str | None, title: str, text: str, by: str) -> Case:
        """A passage that the person copied from a page which the program could not read."""
        item = intake.passage_by_hand(url, title, text, self._categories)
        self._store.put_text(item.passage.text)
        return self._change(case_id, lambda case, at: intake.add_evidence(case, item, by, at))

    def second_look(
        self,
        case_id: str,
        kind: LookKind,
        by: str,
        *,
        about: str = "",
        libraries: Sequence[str] = (),
        services: Sequence[str] = (),
    ) -> Case:
        """See `second_look.ask`: `second_look_steps` then do it."""
        places = {"libraries": tuple(dict.fromkeys(libraries)), "services": tuple(dict.fromkeys(services))}

        def ask(case: Case, at: datetime) -> Case:
            look = Look(id=uuid.uuid4().hex[:12], kind=kind, asked_at=at, by=by, about=about, **places)
            return second_look.ask(case, look)

        return self._change(case_id, ask)

    def bring_back(self, case_id: str, evidence_id: str, by: str) -> Case:
        """See `earlier_sets.bring_back`."""
        return self._change(case_id, lambda case, at: earlier_sets.bring_back(case, evidence_id, by, at))

    def bring_back_set(self, case_id: str, number: int, by: str) -> Case:
        """See `earlier_sets.bring_back_set`."""
        return self._change(case_id, lambda case, at: earlier_sets.bring_back_set(case, number, by, at))

    def open_passage(self, case_id: str, evidence_id: str, by: str) -> Case:
        """See `workflow.open_passage`."""
        return self._change(case_id, lambda case, at: workflow.open_passage(case, evidence_id, by, at))

    def judge(self, case_id: str, evidence_id: str, verdict: Verdict | None, reason: str, by: str) -> Case:
        """See `workflow.judge`."""
        return self._change(case_id, lambda case, at: workflow.judge(case, evidence_id, verdict, reason, by, at))

    def _change(self, case_id: str, change: Callable[[Case, datetime], Case]) -> Case:
        return self._store.update(case_id, lambda case: change(case, self._clock()))
