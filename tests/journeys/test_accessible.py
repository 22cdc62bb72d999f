"""axe-core finds nothing serious on any page, wide and narrow, and no words are too faint; the Draft page: contrast."""

from __future__ import annotations

import pytest

from tests.journeys.accessible import serious_faults
from tests.journeys.conftest import App, NewPage
from tests.journeys.contrast import faint_on_either
from tests.journeys.walk import Walk

pytestmark = pytest.mark.journey


@pytest.mark.parametrize("path", ["cases", "libraries", "supernote", "compare", "overview", "algorithm", "help"])
def test_the_other_pages_have_no_serious_fault(app: App, new_page: NewPage, path: str) -> None:
    walk = Walk(new_page("light", 1280), app.url)
    walk.open(f"/{path}")
    assert serious_faults(walk.page) == []
    assert faint_on_either(walk.page, ("light", "dark")) == []
    walk.page.set_viewport_size({"width": 390, "height": 844})
    walk.settled()
    assert serious_faults(walk.page) == []
