"""The post's address, to be opened on X."""

from __future__ import annotations

import pytest

from crowdnotes.cases.intake import checked_post
from crowdnotes.domain import X_HOSTS
from crowdnotes.handoff import post_url
from crowdnotes.testing import make_case


@pytest.mark.parametrize("host", sorted(X_HOSTS))
def test_every_address_that_is_taken_as_a_posts_is_offered_to_be_opened(host: str) -> None:
    url = f"https://{host}/a/status/1"
    assert post_url(make_case(post=checked_post("A claim.", url, None, 100))) == url


def test_the_short_and_the_phones_addresses_are_of_x() -> None:
    assert {"x.com", "twitter.com", "m.twitter.com", "mobile.x.com", "www.twitter.com"} <= X_HOSTS
