"""The demonstration pack, for the tests of it."""

from __future__ import annotations

import pytest

from crowdnotes import demonstration
from crowdnotes.demonstration import ExamplePage, examples

EXAMPLES = examples()
PAGES = {page.url: page for example in EXAMPLES for page in example.pages}
each_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.id)
each_page = pytest.mark.parametrize("page", PAGES.values(), ids=lambda page: page.file)


def html_of(page: ExamplePage) -> str:
    return (demonstration.ASSETS / "pages" / page.file).read_text(encoding="utf-8")
