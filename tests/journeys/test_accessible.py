"""axe-core finds nothing serious on any page: wide and narrow, light and dark. The Draft page: test_contrast.py."""

from __future__ import annotations

import pytest

from tests.journeys.accessible import serious_faults
from tests.journeys.conftest import App, NewPage
from tests.journeys.contrast import turned_to
from tests.journeys.walk import Walk

pytestmark = pytest.mark.journey


@pytest.mark.parametrize(
    "path",
    [
        "cases",
        *(
            pytest.param(path, marks=pytest.mark.deep)
            for path in ("batches", "libraries", "supernote", "compare", "overview", "algorithm", "help")
        ),
    ],
)
def test_the_other_pages_have_no_serious_fault(app: App, new_page: NewPage, path: str) -> None:
    walk = Walk(new_page("light", 1280), app.url)
    walk.open(f"/{path}")
    assert serious_faults(walk.page) == []
    turned_to(walk.page, "dark")
    walk.page.set_viewport_size({"width": 390, "height": 844})
    walk.settled()
    assert serious_faults(walk.page) == []
