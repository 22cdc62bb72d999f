import pytest

from crowdnotes.domain import Image, Post

LINK = "what its short link leads to (a picture, a film, another post or a page)"
THREAD = "the other posts of its thread"


@pytest.mark.parametrize(
    ("text", "unseen"),
    [
        ("@acme No, it makes children ill!", ["the post that it answers"]),
        ("Look at this https://t.co/abc", [LINK]),
        ("Look: https://x.com/acme/status/123", ["the post that it links to"]),
        ("What you need to know: (1/12)", [THREAD]),
        ("2/ Then they hid it.", [THREAD]),
        ("1/3 of all children are ill, says @acme.", [THREAD]),
        ("A third (1/3) of all children are ill. Write to me@acme.org", []),
        ("The drink makes children ill. https://example.org/a", []),
    ],
)
def test_what_belongs_to_a_post_and_was_not_put_in_is_named(text: str, unseen: list[str]) -> None:
    assert list(Post(text=text).unseen) == unseen
    assert Post(text=text, context="The post before it.").unseen == ()


def test_a_picture_is_unseen_until_somebody_says_what_it_shows() -> None:
    blank = Image(sha256="0" * 64, media_type="image/png", name="a.png", width=1, height=1)
    read = blank.replace(text="Acme")
    assert Post(text="Look https://t.co/abc", images=(blank, read)).unseen == ("what its picture says and shows",)
    assert Post(text="Look", images=(blank, blank)).unseen == ("what 2 of its pictures say and show",)
    assert Post(text="Look https://t.co/abc", images=(read,)).unseen == ()
