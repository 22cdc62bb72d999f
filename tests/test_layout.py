"""The layout of the code: no file too long to read, and no two files that import each other, not even by way of others.

Layers between packages are held by import-linter (`make check`).
"""

from __future__ import annotations

from graphlib import TopologicalSorter
from pathlib import Path

import grimp

_ROOT = Path(__file__).parents[1]
_MAX_LINES = 600
_PACKAGES = ("crowdnotes", "pages")


def test_no_file_has_more_lines_than_one_reads_at_a_sitting() -> None:
    files = [_ROOT / "app.py", *(file for package in _PACKAGES for file in (_ROOT / package).rglob("*.py"))]
    lines = {str(file.relative_to(_ROOT)): file.read_text(encoding="utf-8").count("\n") for file in files}
    assert {name: count for name, count in lines.items() if count > _MAX_LINES} == {}


def test_fields_are_changed_by_replace_which_checks_them() -> None:
    files = [_ROOT / "app.py", *(file for package in _PACKAGES for file in (_ROOT / package).rglob("*.py"))]
    unchecked = [file.name for file in files if "model_copy(update" in file.read_text(encoding="utf-8")]
    assert unchecked == ["base.py"], "call replace(…)"


def test_no_file_imports_itself_by_way_of_others() -> None:
    graph = grimp.build_graph(*_PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 200
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the circle
