"""What a note is about, and its language."""

from __future__ import annotations

import pytest

from crowdnotes.public_data.topics import label, topic_names


@pytest.mark.parametrize(
    ("text", "language", "topics"),
    [
        ("Measles is a disease, and there is no link to the vaccine.", "en", {0, 1}),
        ("The CDC says that raw milk is not safe.", "en", {2, 3}),
        ("The doctors at the hospital did not say so.", "en", {4}),
        ("The DNA is not changed by it.", "en", {5}),
        ("There is no such thing as turbo cancer, says the study.", "en", {0, 6}),
        ("The image was doctored, and the war is not in it.", "en", set()),
        ("La vacuna no es la causa de la enfermedad de los niños.", "es", set()),
        ("ワクチンは自閉症を引き起こすという証拠はありません", "ja", set()),
        ("이 사진은 작년에 찍은 것입니다", "ko", set()),
        ("https://example.org/the-vaccine-is-not-a-cure", None, set()),
        ("", None, set()),
    ],
)
def test_language_and_topics(text: str, language: str | None, topics: set[int]) -> None:
    found, bits = label(text)
    assert found == language
    assert {place for place in range(len(topic_names())) if bits >> place & 1} == topics


def test_there_are_the_seven_topics_of_the_paper() -> None:
    assert len(topic_names()) == 7
