"""Every service's word for a retraction is one mark; the notice itself is not called retracted."""

from __future__ import annotations

import pytest

from crowdnotes.evidence.search.answers import notice_of


@pytest.mark.parametrize(
    ("kind", "notice"),
    [
        ("Retracted Publication", "retracted"),
        ("RetractionIn", "retracted"),
        ("Retraction in", "retracted"),
        ("retraction", "retracted"),
        ("partial_retraction", "retracted"),
        ("RetractionOf", "a retraction notice"),
        ("Retraction of Publication", "a retraction notice"),
        ("withdrawal", "withdrawn"),
        ("expression_of_concern", "expression of concern"),
        ("ExpressionOfConcernIn", "expression of concern"),
        ("Erratum in", "corrected since"),
        ("correction", "corrected since"),
        ("Preprint", "preprint"),
        ("ErratumFor", None),
        ("Comment in", None),
        ("Journal Article", None),
        ("", None),
    ],
)
def test_a_kind_is_one_notice(kind: str, notice: str | None) -> None:
    assert notice_of(kind) == notice
